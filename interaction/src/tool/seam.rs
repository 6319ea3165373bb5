//! What stands between a model's call and a tool's body.
//!
//! | | what is looked at | what it may end in |
//! |---|---|---|
//! | 1 | is the name hidden | refused, before anybody sees it |
//! | 2 | are the arguments JSON | refused |
//! | 3 | did the caller take it back | aborted, and nothing looks at it behind |
//! | 4 | the listeners before a tool: allow, deny, ask | denied; a failure |
//! | 5 | for an ask: a person, through the port | denied, unavailable, aborted, a failure |
//! | 6 | did the caller take it back | aborted |
//! | 7 | guards, and whether the mode can be had | denied |
//! | 8 | did the caller take it back | aborted |
//! | 9 | is there such a tool | unknown |

use super::call::{PreDecision, ToolCall};
use super::guards::{Guard, GuardRegistration, Guards};
use super::verdict::{RefusalCode, Refused, Verdict, refusal};
use crate::approval::{ApprovalError, ApprovalOutcome, ApprovalPort, ApprovalRequest, Explained};
use crate::chain::{Answer, Chain, Listener, ListenerError, Names, Place, Registrar, Registration};
use crate::flight::{Ending, Flight};
use crate::plane::{Plane, StaleAgent};
use crate::scope::{Authority, Lease, RegisterError, Scope};
use std::fmt;
use std::sync::Arc;

/// Which tools there are, and which of them a model may see.
pub trait Tools: Send + Sync {
    /// Returns whether a tool is hidden from this call.
    fn is_hidden(&self, call: &ToolCall) -> bool;

    /// Returns whether there is such a tool.
    fn is_known(&self, call: &ToolCall) -> bool;
}

/// Looks whether what confines a call can be had; says why not.
pub type Confinement = dyn Fn(&ToolCall) -> Result<(), String> + Send + Sync;

/// Is told when an approval refused a call. It changes nothing.
pub type OnRefusal = dyn Fn(&ToolCall, Explained) + Send + Sync;

struct Inner {
    plane: Plane,
    chain: Chain<ToolCall>,
    guards: Guards,
    port: Option<Arc<dyn ApprovalPort>>,
    tools: Option<Arc<dyn Tools>>,
    confinement: Option<Arc<Confinement>>,
    on_refusal: Option<Arc<OnRefusal>>,
}

/// The seam before a tool's body. Copies are the same.
#[derive(Clone)]
pub struct ToolSeam(Arc<Inner>);

impl ToolSeam {
    /// Makes the seam. Without a port every ask is refused.
    pub fn new(plane: &Plane, port: Option<Arc<dyn ApprovalPort>>) -> Self {
        Self(Arc::new(Inner {
            plane: plane.clone(),
            chain: Chain::new(plane.clone()),
            guards: Guards::default(),
            port,
            tools: None,
            confinement: None,
            on_refusal: None,
        }))
    }

    fn rebuilt(self, change: impl FnOnce(&mut Inner)) -> Self {
        let Inner { plane, chain, guards, port, tools, confinement, on_refusal } = &*self.0;
        let mut inner = Inner {
            plane: plane.clone(),
            chain: chain.clone(),
            guards: guards.clone(),
            port: port.clone(),
            tools: tools.clone(),
            confinement: confinement.clone(),
            on_refusal: on_refusal.clone(),
        };
        change(&mut inner);
        Self(Arc::new(inner))
    }

    /// Says which tools there are; without it every name is known and none is hidden.
    #[must_use]
    pub fn with_tools(self, tools: Arc<dyn Tools>) -> Self {
        self.rebuilt(|inner| inner.tools = Some(tools))
    }

    /// Says who looks whether what confines a call can be had.
    #[must_use]
    pub fn with_confinement(self, confinement: Arc<Confinement>) -> Self {
        self.rebuilt(|inner| inner.confinement = Some(confinement))
    }

    /// Says who is told of calls that an approval refused.
    #[must_use]
    pub fn with_on_refusal(self, on_refusal: Arc<OnRefusal>) -> Self {
        self.rebuilt(|inner| inner.on_refusal = Some(on_refusal))
    }

    /// Returns the right to register listeners before a tool, as far as an authority goes.
    pub fn registrar(&self, authority: Authority) -> Registrar<ToolCall> {
        self.0.chain.registrar(authority)
    }

    /// Registers a listener before a tool, globally or in a scope.
    ///
    /// # Errors
    ///
    /// [`RegisterError`] where the authority does not go so far.
    pub fn register_pre_execute(
        &self,
        authority: Authority,
        scope: Option<&Scope>,
        place: Place,
        listener: impl Listener<ToolCall>,
    ) -> Result<Registration, RegisterError> {
        let registrar = self.registrar(authority);
        match scope {
            None => registrar.global(place, listener),
            Some(scope) => registrar.scoped(scope, place, listener),
        }
    }

    /// Registers a guard, globally or in a scope.
    ///
    /// # Errors
    ///
    /// [`RegisterError`] where the authority does not go so far.
    pub fn register_guard(
        &self,
        authority: &Authority,
        scope: Option<&Scope>,
        guard: impl Guard,
    ) -> Result<GuardRegistration, RegisterError> {
        self.0.guards.register(authority, scope, guard)
    }

    /// Decides about a call, up to its body.
    pub async fn decide(&self, call: ToolCall) -> Verdict {
        let inner = &self.0;
        let refused = |reason: String, code| {
            Verdict::Refused(Refused { code, reason, runs_post_execute: false })
        };
        let (name, unknown) = (call.name.clone(), Some(RefusalCode::UnknownTool));
        if inner.tools.as_ref().is_some_and(|tools| tools.is_hidden(&call)) {
            return refused(format!("unknown tool \"{name}\""), unknown);
        }
        if !call.has_json() {
            return refused(format!("the arguments of tool \"{name}\" are no JSON"), None);
        }
        if call.is_cancelled() {
            return Verdict::Refused(Refused { runs_post_execute: false, ..Refused::aborted() });
        }
        let lease = call.agent().map(|agent| Arc::new(agent.scope().lease()));
        let call = Arc::new(call);
        match inner.pre_execute(&call, lease.clone()).await {
            Err(error) => return Verdict::Failed(error.into()),
            Ok(None) => return Verdict::Refused(Refused::aborted()),
            Ok(Some(PreDecision::Deny { reason })) => {
                return Verdict::Refused(Refused::denied(reason, inner.plane.profile()));
            }
            Ok(Some(PreDecision::Allow)) => {}
            Ok(Some(PreDecision::Ask { reason })) => {
                match inner.ask(&call, lease.clone(), reason).await {
                    Ok(None) => {}
                    Ok(Some(refused)) => return Verdict::Refused(refused),
                    Err(error) => return Verdict::Failed(error.into()),
                }
                if inner.plane.profile().abort_before_guards && call.is_cancelled() {
                    return Verdict::Refused(Refused::aborted());
                }
            }
        }
        inner.behind_permission(&call, lease.as_deref())
    }
}

impl Inner {
    /// Asks the listeners before a tool; nothing if the caller took the call back meanwhile.
    async fn pre_execute(
        &self,
        call: &Arc<ToolCall>,
        lease: Option<Arc<Lease>>,
    ) -> Result<Option<PreDecision>, ListenerError> {
        let flight: Arc<Flight<Answer<ToolCall>>> = Flight::new(None);
        let names = Names {
            session: Some(call.session().id().to_owned()),
            subject: Some(call.id().to_owned()),
        };
        let cancel = call.cancel().cloned().unwrap_or_default();
        let giver = Arc::clone(&flight);
        let subscription = cancel.subscribe(move || {
            giver.cancel();
        });
        let route = Arc::clone(&flight);
        let dispatched = self.chain.dispatch(Arc::clone(call), route, lease, names);
        let ending = flight.ending().await;
        drop((subscription, dispatched));
        match ending {
            Ending::Answered(answer) => answer.map(Some),
            Ending::Cancelled => Ok(None),
            Ending::Withdrawn | Ending::Closed => Err(ListenerError::Closed),
        }
    }

    /// Puts a call to a person; nothing if it was granted.
    async fn ask(
        &self,
        call: &ToolCall,
        lease: Option<Arc<Lease>>,
        reason: Option<String>,
    ) -> Result<Option<Refused>, ApprovalError> {
        let (name, profile) = (call.name(), self.plane.profile());
        let Some(port) = &self.port else {
            let reason = reason.unwrap_or_else(|| {
                format!("tool \"{name}\" requires approval (not yet supported)")
            });
            return Ok(Some(Refused::unavailable(reason, profile)));
        };
        let Some(agent) = call.agent() else {
            let reason = format!(
                "tool \"{name}\" requires approval, but the call has no agent to route it through"
            );
            return Ok(Some(Refused::unavailable(reason, profile)));
        };
        if let Err(stale @ StaleAgent) = self.plane.check_entry(agent, call.session()) {
            let refused = Refused::unavailable(stale.to_string(), profile);
            let code = Some(RefusalCode::Unavailable);
            return Ok(Some(Refused { code, runs_post_execute: false, ..refused }));
        }
        let mut wish = ApprovalRequest::new(agent, Arc::clone(&call.name))
            .for_call(Arc::clone(&call.id))
            .in_session(call.session().clone());
        if let Some(reason) = reason {
            wish = wish.because(reason);
        }
        if let Some(cancel) = call.cancel() {
            wish = wish.until(cancel.clone());
        }
        if let Some(lease) = lease {
            wish = wish.with_lease(lease);
        }
        let explained = port.request_explained(wish).await?;
        if explained.outcome == ApprovalOutcome::Cancelled && call.is_cancelled() {
            return Ok(Some(Refused::aborted()));
        }
        let refused = refusal(name, explained, profile);
        if let (Some(_), Some(told)) = (&refused, &self.on_refusal) {
            drop(crate::chain::contained(|| told(call, explained)));
        }
        Ok(refused)
    }

    fn behind_permission(&self, call: &ToolCall, lease: Option<&Lease>) -> Verdict {
        let profile = self.plane.profile();
        if let Some(reason) = self.guards.first_denial(call, lease, &self.plane) {
            return Verdict::Refused(Refused::denied(reason, profile));
        }
        if call.is_cancelled() {
            return Verdict::Refused(Refused::aborted());
        }
        if let Some(confinement) = &self.confinement {
            let confined = crate::chain::contained(|| confinement(call));
            let confined = confined.unwrap_or_else(|panicked| Err(panicked.to_string()));
            if let Err(reason) = confined {
                let code = Some(RefusalCode::SandboxUnavailable);
                return Verdict::Refused(Refused { code, reason, runs_post_execute: true });
            }
        }
        if self.tools.as_ref().is_some_and(|tools| !tools.is_known(call)) {
            let reason = format!("unknown tool \"{}\"", call.name());
            let code = Some(RefusalCode::UnknownTool);
            return Verdict::Refused(Refused { code, reason, runs_post_execute: true });
        }
        Verdict::Dispatch
    }
}

impl fmt::Debug for ToolSeam {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolSeam").field("asks", &self.0.port.is_some()).finish_non_exhaustive()
    }
}
