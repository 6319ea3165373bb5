//! The seam before a tool runs.

mod asked;
mod guarded;
mod scenarios;
mod seam;
mod stepped;

use crate::support::{Kind, World};
use async_trait::async_trait;
use gatelog_interaction::agent::LiveAgent;
use gatelog_interaction::approval::{
    ApprovalOutcome, ApprovalPolicy, ApprovalPort, ApprovalService, KnobSource, answerer,
};
use gatelog_interaction::chain::{Listener, ListenerError, Next, Place, Registration};
use gatelog_interaction::profile::Profile;
use gatelog_interaction::scope::Authority;
use gatelog_interaction::tool::{PreDecision, RefusalCode, Refused, ToolCall, ToolSeam, Verdict};
use gatelog_validator::rule::Profile as Rules;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A world with approvals, a seam over them, and the agent `a` in its turn 1.
pub(super) struct Stage {
    pub(super) world: World,
    pub(super) approvals: ApprovalService,
    pub(super) seam: ToolSeam,
    pub(super) live: LiveAgent,
}

impl Stage {
    pub(super) fn new() -> Self {
        Self::of(Profile::STRICT)
    }

    pub(super) fn of(profile: Profile) -> Self {
        let world = World::of(Kind::Native, Rules::Strict, profile);
        let approvals = ApprovalService::new(&world.plane, None);
        let seam = ToolSeam::new(&world.plane, Some(Arc::new(approvals.clone())));
        let live = world.in_turn("a");
        Self { world, approvals, seam, live }
    }

    pub(super) fn call(&self) -> ToolCall {
        self.named("shell")
    }

    pub(super) fn named(&self, name: &str) -> ToolCall {
        ToolCall::new(self.live.agent().session(), name, "c1", "{}").by(self.live.agent())
    }

    /// Registers a listener before tools that always says the same.
    pub(super) fn says(&self, decision: PreDecision) -> Registration {
        let listener = Says(decision);
        let register = self.seam.register_pre_execute(Authority::Root, None, Place::Last, listener);
        register.expect("root may")
    }

    pub(super) fn asks(&self) -> Registration {
        self.says(PreDecision::Ask { reason: None })
    }

    /// Registers an answerer of approvals that always says the same; counts how often.
    pub(super) fn answers(&self, outcome: ApprovalOutcome) -> (Registration, Arc<AtomicUsize>) {
        let count = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&count);
        let listener = answerer(move |_| {
            counted.fetch_add(1, Ordering::SeqCst);
            async move { Some(outcome) }
        });
        let registrar = self.approvals.registrar(Authority::Root);
        (registrar.global(Place::Last, listener).expect("root may"), count)
    }

    pub(super) async fn never(&self) {
        let session = self.live.agent().session();
        let set =
            self.approvals.set_session_policy(session, ApprovalPolicy::Never, KnobSource::User);
        set.await.expect("the log takes it");
    }

    /// The outcomes in the log of `a`.
    pub(super) fn outcomes(&self) -> Vec<String> {
        let decided = self.world.events_of("a", "approval/decided").into_iter();
        decided.map(|seen| seen.data["outcome"].as_str().expect("a word").to_owned()).collect()
    }

    pub(super) fn is_sound(&self) {
        crate::support::end_turn(self.live.agent().session(), 1);
        assert_eq!(self.world.errors(Rules::Strict), Vec::<String>::new());
    }
}

/// A listener that always says the same.
pub(super) struct Says(pub(super) PreDecision);

#[async_trait]
impl Listener<ToolCall> for Says {
    async fn call(
        &self,
        _: Arc<ToolCall>,
        _: Next<ToolCall>,
    ) -> Result<PreDecision, ListenerError> {
        Ok(self.0.clone())
    }
}

pub(super) fn refused(verdict: Verdict) -> Refused {
    match verdict {
        Verdict::Refused(refused) => refused,
        other => panic!("it should be refused: {other:?}"),
    }
}

pub(super) fn is_dispatched(verdict: &Verdict) {
    assert!(matches!(verdict, Verdict::Dispatch), "{verdict:?}");
}

pub(super) const ABORTED: Option<RefusalCode> = Some(RefusalCode::AbortedBeforeDispatch);

pub(super) fn port(stage: &Stage) -> Arc<dyn ApprovalPort> {
    Arc::new(stage.approvals.clone())
}
