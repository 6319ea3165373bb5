//! Puts batches of questions to people. Nothing of it stands in the log: what is durable is the
//! call of the tool that asks, and its result.

use super::ask::QuestionAsk;
use super::batch::{Answer, check_answers, check_ids, check_intents};
use super::error::{AskError, QuestionCode, QuestionError};
use super::provider::{ProviderGuard, QuestionProvider, Slot, Terminal};
use crate::agent::Agent;
use crate::cancel::Cancel;
use crate::chain::{Answer as Reply, Chain, ListenerError, Names, Place, Registrar};
use crate::flight::{Ending, Flight};
use crate::plane::Plane;
use crate::scope::{Authority, RegisterError};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

type AskFlight = Flight<Reply<QuestionAsk>>;

#[derive(Default)]
struct Open {
    next: u64,
    flights: Vec<(u64, Arc<AskFlight>)>,
    is_shut: bool,
}

struct Inner {
    plane: Plane,
    chain: Chain<QuestionAsk>,
    slot: Arc<Slot>,
    open: Mutex<Open>,
}

/// Questions to people. Copies are the same service.
#[derive(Clone)]
pub struct Questions(Arc<Inner>);

/// Why a provider was not registered.
#[derive(Debug, thiserror::Error)]
pub enum ProviderError {
    /// There is one, and the profile has room for one.
    #[error(transparent)]
    Duplicate(QuestionError),
    /// The composition may not register it.
    #[error(transparent)]
    Register(#[from] RegisterError),
}

impl Questions {
    /// Makes the service.
    pub fn new(plane: &Plane) -> Self {
        let (chain, slot, open) = (Chain::new(plane.clone()), Arc::default(), Mutex::default());
        Self(Arc::new(Inner { plane: plane.clone(), chain, slot, open }))
    }

    /// Returns the right to register listeners, as far as an authority goes.
    pub fn registrar(&self, authority: Authority) -> Registrar<QuestionAsk> {
        self.0.chain.registrar(authority)
    }

    /// Registers one who answers everything that no listener before it claims.
    ///
    /// # Errors
    ///
    /// [`ProviderError::Duplicate`] where the profile has room for one;
    /// [`RegisterError::NotGlobal`] for a scoped composition.
    pub fn provider(
        &self,
        authority: Authority,
        provider: impl QuestionProvider,
    ) -> Result<ProviderGuard, ProviderError> {
        let slot = if self.0.plane.profile().one_provider {
            Some((Arc::clone(&self.0.slot), self.0.slot.take().ok_or_else(duplicate)?))
        } else {
            None
        };
        // Freed again if the registration is refused.
        let mut guard = ProviderGuard { registration: None, slot };
        let lifetime = Cancel::new();
        let terminal = Box::new(Terminal { provider, lifetime: lifetime.clone() });
        let registrar = self.registrar(authority);
        guard.registration = Some(registrar.register(None, Place::Last, terminal, lifetime)?);
        Ok(guard)
    }

    /// Asks, and waits for the answers. Dropping the future takes the questions back.
    ///
    /// # Errors
    ///
    /// [`AskError`]; looked at in this order: the caller's signal, the batch, the agent, its
    /// intents, and whether anybody answers.
    pub async fn ask(&self, mut ask: QuestionAsk) -> Result<Vec<Answer>, AskError> {
        ask.profile = *self.0.plane.profile();
        self.0.check(&ask)?;
        let flight = Flight::new(ask.cancel.clone());
        let open = self.0.enter(&flight)?;
        let cancel = ask.cancel.clone().unwrap_or_default();
        let giver = Arc::clone(&flight);
        let subscription = cancel.subscribe(move || {
            giver.cancel();
        });
        let lease = match (&ask.lease, &ask.agent) {
            (Some(lease), _) => Some(Arc::clone(lease)),
            (None, Some(agent)) => Some(Arc::new(agent.scope().lease())),
            (None, None) => None,
        };
        let session = ask.agent.as_ref().map(|agent| agent.session().id().to_owned());
        let names = Names { session, subject: None };
        let ask = Arc::new(ask);
        let route = Arc::clone(&flight);
        let dispatched = self.0.chain.dispatch(Arc::clone(&ask), route, lease, names);
        let ending = flight.ending().await;
        drop((subscription, dispatched, open));
        self.0.judge(ending, &ask)
    }

    /// Returns how many batches wait for an answer.
    pub fn pending(&self) -> usize {
        self.0.lock().flights.len()
    }

    /// Closes every batch that waits, as `NO_PROVIDER`, and refuses all that come later. It waits
    /// for nobody.
    pub fn shutdown(&self) {
        let mut open = self.0.lock();
        open.is_shut = true;
        let flights: Vec<_> = open.flights.iter().map(|(_, flight)| Arc::clone(flight)).collect();
        drop(open);
        for flight in flights {
            flight.close();
        }
    }
}

fn duplicate() -> ProviderError {
    let text = "a user-questions provider is already registered";
    ProviderError::Duplicate(QuestionError::new(QuestionCode::DuplicateProvider, text))
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn check(&self, ask: &QuestionAsk) -> Result<(), QuestionError> {
        if ask.cancel.as_ref().is_some_and(Cancel::is_cancelled) {
            return Err(QuestionError::aborted());
        }
        if ask.questions.is_empty() {
            let text = "ask_user_question requires at least one question";
            return Err(QuestionError::new(QuestionCode::EmptyQuestions, text));
        }
        if let Some(agent) = &ask.agent {
            self.check_agent(agent)?;
            if ask.lease.as_ref().is_some_and(|lease| !lease.is_of(agent.scope())) {
                return Err(not_live());
            }
        } else if ask.lease.is_some() {
            return Err(not_live());
        }
        if self.plane.profile().validates_answers {
            check_ids(&ask.questions)?;
        }
        check_intents(&ask.questions)
    }

    fn check_agent(&self, agent: &Agent) -> Result<(), QuestionError> {
        let agents = self.plane.agents().ok_or_else(not_live)?;
        if !agents.is_live(agent) {
            return Err(not_live());
        }
        match agents.owner(agent) {
            Some(owner) if agents.is_live(&owner) => Err(QuestionError::new(
                QuestionCode::DelegatedCaller,
                "human interaction is unavailable while the calling agent is owned by another live \
                 agent; include the unresolved question or decision in the child agent's final \
                 result",
            )),
            _ => Ok(()),
        }
    }

    fn enter(self: &Arc<Self>, flight: &Arc<AskFlight>) -> Result<Entered, QuestionError> {
        let mut open = self.lock();
        if open.is_shut {
            return Err(QuestionError::no_provider(self.plane.profile()));
        }
        open.next += 1;
        let number = open.next;
        open.flights.push((number, Arc::clone(flight)));
        Ok(Entered { inner: Arc::clone(self), number })
    }

    fn judge(
        &self,
        ending: Ending<Reply<QuestionAsk>>,
        ask: &QuestionAsk,
    ) -> Result<Vec<Answer>, AskError> {
        let profile = self.plane.profile();
        match ending {
            Ending::Answered(Ok(answers)) => {
                if profile.validates_answers {
                    check_answers(&ask.questions, &answers)?;
                }
                Ok(answers)
            }
            Ending::Answered(Err(ListenerError::Failed(error))) => {
                Err(match error.downcast::<QuestionError>() {
                    Ok(error) => AskError::Domain(*error),
                    Err(error) => AskError::Provider(error),
                })
            }
            Ending::Answered(Err(error)) => Err(AskError::Provider(error.into())),
            Ending::Cancelled => Err(QuestionError::aborted().into()),
            Ending::Withdrawn | Ending::Closed => Err(QuestionError::no_provider(profile).into()),
        }
    }
}

fn not_live() -> QuestionError {
    QuestionError::new(
        QuestionCode::CallerNotLive,
        "human interaction requires the exact live calling agent when an agent is supplied",
    )
}

/// A batch that waits. Dropping it before its end takes it back.
struct Entered {
    inner: Arc<Inner>,
    number: u64,
}

impl Drop for Entered {
    fn drop(&mut self) {
        let mut open = self.inner.lock();
        let at = open.flights.iter().position(|(number, _)| *number == self.number);
        let flight = at.map(|at| open.flights.remove(at).1);
        drop(open);
        if let Some(flight) = flight {
            flight.cancel();
        }
    }
}

impl fmt::Debug for Questions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Questions").field("pending", &self.pending()).finish_non_exhaustive()
    }
}
