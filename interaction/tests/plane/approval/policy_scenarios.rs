//! S-022 to S-033.

use super::{Stage, count};
use crate::support::World;
use gatelog_engine::backend::{AppendError, Durability, Refusal, Stored};
use gatelog_engine::rules::Draft;
use gatelog_engine::store::{Observer, Session};
use gatelog_interaction::agent::{Agent, BoxError, Notice, NoticeQueue, Notices};
use gatelog_interaction::approval::{
    ApprovalOutcome, ApprovalPolicy, ApprovalPort, ApprovalRequest, KnobSource, PolicyError,
};
use gatelog_interaction::chain::Place;
use gatelog_validator::rule::Profile as Rules;
use std::sync::{Arc, Mutex};

const GRANTED: ApprovalOutcome = ApprovalOutcome::AllowedOnce;

async fn set(stage: &Stage, policy: ApprovalPolicy) {
    let set = stage.service.set_session_policy(stage.session(), policy, KnobSource::User);
    set.await.expect("the log takes it");
}

#[tokio::test]
async fn s_022_with_nothing_said_the_policy_is_ask_and_no_override() {
    let stage = Stage::new();
    let effective = stage.service.effective_policy(stage.session()).await.expect("read");
    assert_eq!(effective, ApprovalPolicy::Ask);
    assert_eq!(stage.service.override_of(stage.session()).await.expect("read"), None);
}

#[tokio::test]
async fn s_023_a_logged_ask_beats_the_default_never() {
    let stage = Stage::at(World::new(), Some(ApprovalPolicy::Never));
    set(&stage, ApprovalPolicy::Ask).await;
    let (_guard, asked) = stage.always(GRANTED);
    assert_eq!(stage.ask().await.expect("decided"), GRANTED);
    assert_eq!(count(&asked), 1);
}

#[tokio::test]
async fn s_024_a_logged_never_beats_a_prepended_listener() {
    let stage = Stage::new();
    set(&stage, ApprovalPolicy::Never).await;
    let (_guard, asked) = stage.placed(Place::First, GRANTED);
    assert_eq!(stage.ask().await.expect("decided"), ApprovalOutcome::Rejected);
    assert_eq!(count(&asked), 0);
    assert_eq!(stage.pairs(), (vec![ApprovalOutcome::Rejected], 0));
    stage.is_sound();
}

#[tokio::test]
async fn s_026_a_switch_spares_the_ask_that_waits_and_takes_the_next() {
    let stage = Stage::new();
    let (_guard, mut script) = stage.scripted();
    let asking = stage.asking(stage.wish());
    let called = script.called().await;
    set(&stage, ApprovalPolicy::Never).await;
    assert_eq!(stage.ask().await.expect("decided"), ApprovalOutcome::Rejected);
    assert!(script.try_called().is_none(), "no listener is entered for it");
    called.reply(Ok(GRANTED.into()));
    assert_eq!(asking.await.expect("no panic").expect("decided"), GRANTED);
    stage.is_sound();
}

/// Tries to set the policy from inside the news of a question, and remembers how that ended.
struct Eager {
    session: Session,
    ended: Arc<Mutex<Vec<bool>>>,
}

impl Observer for Eager {
    fn committed(&self, _: &str, event: &Stored<'_>) {
        if event.kind == "approval/asked" {
            let draft = Draft::new("approval/policy", r#"{"policy":"never"}"#);
            let ended = self.session.append([draft], Durability::Synced);
            let refused = matches!(ended, Err(AppendError::Refused(Refusal::Reentrant)));
            self.ended.lock().expect("sound").push(refused);
        }
    }

    fn rewound(&self, _: &str, _: u64) {}
}

#[tokio::test]
async fn s_027_an_observer_cannot_switch_under_the_ask_that_it_hears_of() {
    let stage = Stage::new();
    let ended = Arc::new(Mutex::new(Vec::new()));
    let eager = Eager { session: stage.session().clone(), ended: ended.clone() };
    stage.session().observe(Arc::new(eager));
    let (_guard, asked) = stage.always(GRANTED);
    assert_eq!(stage.ask().await.expect("decided"), GRANTED, "it is dispatched under ask");
    assert_eq!(*ended.lock().expect("sound"), [true], "the append inside it is refused");
    // What the observer does later is for the next one.
    set(&stage, ApprovalPolicy::Never).await;
    assert_eq!(stage.ask().await.expect("decided"), ApprovalOutcome::Rejected);
    assert_eq!(count(&asked), 1);
    stage.is_sound();
}

#[tokio::test]
async fn s_028_a_foreign_word_fails_before_the_log() {
    let stage = Stage::new();
    let before = stage.world.events("a");
    for word in ["", "ASK", "always", "allow"] {
        let session = stage.session();
        let set = stage.service.set_session_policy_word(session, word, KnobSource::User).await;
        let text = set.expect_err("it is no policy").to_string();
        assert_eq!(text, r#"approval policy must be one of "ask" or "never""#);
    }
    assert_eq!(stage.world.events("a"), before);
}

#[tokio::test]
async fn s_029_the_low_level_writer_writes_what_is_in_force() {
    let stage = Stage::new();
    set(&stage, ApprovalPolicy::Ask).await;
    assert_eq!(stage.world.events_of("a", "approval/policy").len(), 1);
    stage.is_sound();
}

/// The agent `n` over the session of a stage, with somewhere to put notices.
fn agent_with(stage: &Stage, notices: Arc<dyn Notices>) -> gatelog_interaction::agent::LiveAgent {
    let scope = stage.world.root.child("n").expect("two deep");
    let agent = Agent::new("n", stage.session().clone(), scope, notices);
    stage.world.agents.enter(agent, None)
}

#[tokio::test]
async fn s_030_setting_the_same_policy_live_is_no_event_and_no_notice() {
    let stage = Stage::new();
    let notices = Arc::new(NoticeQueue::default());
    let live = agent_with(&stage, notices.clone());
    stage.service.set_policy(live.agent(), ApprovalPolicy::Ask).await.expect("set");
    assert_eq!(stage.world.events_of("a", "approval/policy").len(), 0);
    assert_eq!(notices.take(), vec![]);
}

/// Remembers how many policy events the log had when each notice came.
struct Dated {
    session: Session,
    notices: Mutex<Vec<(Notice, usize)>>,
}

impl Notices for Dated {
    fn queue(&self, notice: Notice) -> Result<(), BoxError> {
        let mut policies = 0;
        self.session.read(0, &mut |event| {
            policies += usize::from(event.kind == "approval/policy");
            std::ops::ControlFlow::Continue(())
        })?;
        self.notices.lock().expect("sound").push((notice, policies));
        Ok(())
    }
}

#[tokio::test]
async fn s_031_a_live_switch_is_first_an_event_then_exactly_one_notice() {
    let stage = Stage::new();
    let notices = Arc::new(Dated { session: stage.session().clone(), notices: Mutex::default() });
    let live = agent_with(&stage, notices.clone());
    stage.service.set_policy(live.agent(), ApprovalPolicy::Never).await.expect("set");
    let queued = notices.notices.lock().expect("sound");
    let [(notice, policies)] = queued.as_slice() else { panic!("one notice: {queued:?}") };
    assert_eq!(*policies, 1, "the event was there when the notice came");
    assert!(notice.text.contains("\"ask\"") && notice.text.contains("\"never\""));
    drop(queued);
    stage.is_sound();
}

/// Takes no notice.
struct Deaf;

impl Notices for Deaf {
    fn queue(&self, _: Notice) -> Result<(), BoxError> {
        Err("nobody listens".into())
    }
}

#[tokio::test]
async fn s_032_a_switch_whose_notice_fails_is_a_failure_and_in_force() {
    let stage = Stage::new();
    let live = agent_with(&stage, Arc::new(Deaf));
    let failed = stage.service.set_policy(live.agent(), ApprovalPolicy::Never).await;
    assert!(matches!(failed, Err(PolicyError::Notice { .. })), "{failed:?}");
    assert_eq!(stage.world.events_of("a", "approval/policy").len(), 1);
    let effective = stage.service.effective_policy(stage.session()).await.expect("read");
    assert_eq!(effective, ApprovalPolicy::Never);
    stage.is_sound();
}

#[tokio::test]
async fn s_033_a_delegated_child_is_never_asked_for_although_its_parent_may_ask() {
    let stage = Stage::new();
    set(&stage, ApprovalPolicy::Ask).await;
    let (_guard, asked) = stage.always(GRANTED);
    // The child inherits the parent's words.
    let child = stage.world.store.create("child", &crate::support::header("child"), |init| {
        init.append(Draft::new("approval/policy", r#"{"policy":"ask"}"#));
        Ok(())
    });
    let child = child.expect("the session is new");
    stage.service.pin_child(&child).await.expect("the log takes it");
    let scope = stage.agent().scope().child("child").expect("three deep");
    let agent = Agent::new("child", child.clone(), scope, Arc::new(NoticeQueue::default()));
    let live = stage.world.agents.enter(agent, Some(stage.agent().clone()));
    crate::support::start_turn(&child, 1);
    let outcome = stage.service.request(ApprovalRequest::new(live.agent(), "shell")).await;
    assert_eq!(outcome.expect("decided"), ApprovalOutcome::Rejected);
    assert_eq!(count(&asked), 0);
    let policies = stage.world.events_of("child", "approval/policy");
    let last = policies.last().expect("it was pinned");
    assert_eq!(last.data, serde_json::json!({"policy": "never", "source": "delegation"}));
    crate::support::end_turn(&child, 1);
    crate::support::end_turn(stage.session(), 1);
    assert_eq!(stage.world.errors(Rules::Strict), Vec::<String>::new());
}
