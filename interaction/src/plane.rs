//! What all services of one host share.

use crate::agent::{Agent, LiveAgents};
use crate::internal::{InternalError, InternalErrors, Said, Site, TracedOnly};
use crate::profile::Profile;
use gatelog_engine::backend::{AppendError, Refusal, Stored};
use gatelog_engine::store::{Gate, Observer, Session};
use std::error::Error;
use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio_util::task::TaskTracker;

struct Shared {
    runtime: Handle,
    profile: Profile,
    internal: Arc<dyn InternalErrors>,
    agents: Option<Arc<dyn LiveAgents>>,
    /// Listeners, handlers and their cleanups that run on behind what they no longer decide.
    drivers: TaskTracker,
}

/// The runtime, the profile, the sink and the agents, for every service of a host. Copies are the
/// same.
#[derive(Clone)]
pub struct Plane(Arc<Shared>);

/// Why an agent may not ask, run a command or use a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("approval.request() needs the exact live agent of its session")]
pub struct StaleAgent;

impl Plane {
    /// Makes a plane whose tasks run on a runtime. Without [`Plane::with_agents`] no agent can be
    /// attested, and whatever needs one is refused.
    pub fn new(runtime: Handle, profile: Profile) -> Self {
        Self(Arc::new(Shared {
            runtime,
            profile,
            internal: Arc::new(TracedOnly),
            agents: None,
            drivers: TaskTracker::new(),
        }))
    }

    /// Says who hears of contained failures.
    #[must_use]
    pub fn with_internal(self, internal: Arc<dyn InternalErrors>) -> Self {
        self.rebuilt(|shared| shared.internal = internal)
    }

    /// Says who knows the live agents.
    #[must_use]
    pub fn with_agents(self, agents: Arc<dyn LiveAgents>) -> Self {
        self.rebuilt(|shared| shared.agents = Some(agents))
    }

    fn rebuilt(self, change: impl FnOnce(&mut Shared)) -> Self {
        let Shared { runtime, profile, internal, agents, drivers } = &*self.0;
        let mut shared = Shared {
            runtime: runtime.clone(),
            profile: *profile,
            internal: Arc::clone(internal),
            agents: agents.clone(),
            drivers: drivers.clone(),
        };
        change(&mut shared);
        Self(Arc::new(shared))
    }

    /// Returns the profile.
    pub fn profile(&self) -> &Profile {
        &self.0.profile
    }

    /// Returns who knows the live agents, if somebody does.
    pub fn agents(&self) -> Option<&dyn LiveAgents> {
        self.0.agents.as_deref()
    }

    /// Returns how many listeners and handlers still run although nobody waits for them, and those
    /// that somebody waits for.
    pub fn undrained(&self) -> usize {
        self.0.drivers.len()
    }

    /// Waits until no listener and no handler runs.
    pub async fn drained(&self) {
        // A closed tracker still takes tasks; closing it only lets `wait` return.
        self.0.drivers.close();
        self.0.drivers.wait().await;
    }

    /// Looks whether an agent is the exact live one of its session, and its owner, if it has one,
    /// is live as well.
    ///
    /// # Errors
    ///
    /// [`StaleAgent`]; also when nobody knows the live agents.
    pub fn check_entry(&self, agent: &Agent, session: &Session) -> Result<(), StaleAgent> {
        let agents = self.agents().ok_or(StaleAgent)?;
        let owner_is_live = || agents.owner(agent).is_none_or(|owner| agents.is_live(&owner));
        let fits = agent.session() == session && agents.is_live(agent) && owner_is_live();
        if fits { Ok(()) } else { Err(StaleAgent) }
    }

    /// Tells the sink, and `tracing`, of a failure that was contained.
    pub fn report(
        &self,
        site: Site,
        session: Option<&str>,
        subject: Option<&str>,
        error: Arc<dyn Error + Send + Sync>,
    ) {
        let (session, subject) = (session.map(str::to_owned), subject.map(str::to_owned));
        let error = InternalError { site, session, subject, error };
        tracing::warn!(target: "gatelog_interaction", "{error}");
        drop(catch_unwind(AssertUnwindSafe(|| self.0.internal.report(&error))));
    }

    /// Registers an observer of a session whose panics are reported.
    pub fn observe(&self, session: &Session, observer: Arc<dyn Observer>) {
        session.observe(Arc::new(Reported { plane: self.clone(), observer }));
    }

    /// Runs a task of a service, which nobody's dropped future ends.
    pub(crate) fn spawn<T: Send + 'static>(
        &self,
        task: impl Future<Output = T> + Send + 'static,
    ) -> JoinHandle<T> {
        self.0.runtime.spawn(task)
    }

    /// Runs what belongs to somebody else, and is counted until it returns.
    pub(crate) fn drive(&self, task: impl Future<Output = ()> + Send + 'static) {
        drop(self.0.runtime.spawn(self.0.drivers.track_future(task)));
    }

    /// Does a piece of work under a session's gate, on a thread that may block. Once begun it is
    /// carried through, whatever becomes of the future. It must call nothing foreign but the gate.
    pub(crate) async fn under_gate<T: Send + 'static>(
        &self,
        session: &Session,
        work: impl FnOnce(&mut Gate) -> Result<T, AppendError> + Send + 'static,
    ) -> Result<T, AppendError> {
        let session = session.clone();
        let task = self.0.runtime.spawn_blocking(move || {
            let mut gate = session.gate()?;
            work(&mut gate)
        });
        match task.await {
            Ok(done) => done,
            Err(failed) => {
                let what = format!("the work under the gate did not end: {failed}");
                Err(AppendError::Refused(Refusal::Internal { what }))
            }
        }
    }
}

/// An observer whose panics are reported.
struct Reported {
    plane: Plane,
    observer: Arc<dyn Observer>,
}

impl Reported {
    fn call(&self, id: &str, call: impl FnOnce()) {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(call)) {
            let text = panic.downcast_ref::<&str>().copied().map(str::to_owned);
            let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
            let text = text.unwrap_or_else(|| "for no reason that can be shown".to_owned());
            self.plane.report(Site::Observer, Some(id), None, said(format!("panicked: {text}")));
        }
    }
}

impl Observer for Reported {
    fn committed(&self, id: &str, event: &Stored<'_>) {
        self.call(id, || self.observer.committed(id, event));
    }

    fn rewound(&self, id: &str, next_seq: u64) {
        self.call(id, || self.observer.rewound(id, next_seq));
    }
}

impl fmt::Debug for Plane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plane")
            .field("profile", &self.0.profile)
            .field("undrained", &self.undrained())
            .finish_non_exhaustive()
    }
}

/// Makes an error of words.
pub(crate) fn said(text: impl Into<String>) -> Arc<dyn Error + Send + Sync> {
    Arc::new(Said(text.into()))
}
