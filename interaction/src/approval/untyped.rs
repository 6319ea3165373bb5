//! Approvals for listeners of another language: JSON in, JSON out.

use super::outcome::{ApprovalOutcome, RawOutcome};
use super::request::Approval;
use crate::agent::BoxError;
use crate::chain::{Listener, ListenerError, Next, SharedNext};
use async_trait::async_trait;
use serde_json::{Map, Value};
use std::sync::Arc;

/// A listener that no types keep in order. [`Untyped`] puts it into a chain.
///
/// It may return anything: outer listeners see that as it is, and what is none of the four words is
/// `unavailable` if it leaves the outermost. It may try to delegate twice: the second time it is
/// told that the way is closed.
#[async_trait]
pub trait UntypedListener: Send + Sync + 'static {
    /// Answers a request, or hands it on. The request has `kind`, `sessionId`, `requestId` and
    /// `toolName`, and `callId` and `reason` where there is one.
    ///
    /// # Errors
    ///
    /// Whatever the listener makes of it; an outer listener sees it from `next`.
    async fn call(&self, request: Value, next: UntypedNext) -> Result<Value, BoxError>;
}

/// An [`UntypedListener`] in a chain of approvals.
#[derive(Clone, Copy, Debug)]
pub struct Untyped<T>(pub T);

#[async_trait]
impl<T: UntypedListener> Listener<Approval> for Untyped<T> {
    async fn call(
        &self,
        ask: Arc<Approval>,
        next: Next<Approval>,
    ) -> Result<RawOutcome, ListenerError> {
        let next = UntypedNext(SharedNext::new(next));
        let said = self.0.call(ask.to_json(), next).await;
        said.map(RawOutcome::of).map_err(ListenerError::Failed)
    }
}

/// The way on for an [`UntypedListener`]. Copies are the same way.
#[derive(Clone, Debug)]
pub struct UntypedNext(SharedNext<Approval>);

impl UntypedNext {
    /// Asks the next listener, the first time, and returns the word that it said, or whatever else.
    ///
    /// # Errors
    ///
    /// As [`SharedNext::run`].
    pub async fn run(&self) -> Result<Value, ListenerError> {
        self.0.run().await.map(Value::from)
    }
}

impl From<RawOutcome> for Value {
    fn from(outcome: RawOutcome) -> Self {
        match outcome {
            RawOutcome::Known(outcome) => outcome.word().into(),
            RawOutcome::Other(value) => value,
        }
    }
}

impl From<ApprovalOutcome> for Value {
    fn from(outcome: ApprovalOutcome) -> Self {
        outcome.word().into()
    }
}

impl Approval {
    /// Returns the request as front ends of another language are shown it.
    pub fn to_json(&self) -> Value {
        let request = &self.request;
        let members = [
            ("kind", Some("approval")),
            ("sessionId", Some(request.agent.session().id())),
            ("requestId", Some(self.id.as_str())),
            ("toolName", Some(request.tool_name())),
            ("callId", request.call_id()),
            ("reason", request.reason()),
        ];
        let said = members.into_iter().filter_map(|(key, value)| Some((key.into(), value?.into())));
        Value::Object(said.collect::<Map<_, _>>())
    }
}
