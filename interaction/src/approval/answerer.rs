//! An answerer that says yes, no, or nothing.

use super::outcome::{ApprovalOutcome, RawOutcome};
use super::request::Approval;
use crate::chain::{Listener, ListenerError, Next};
use async_trait::async_trait;
use serde_json::Value;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

/// Makes a listener of a function: an outcome claims the request, and nothing delegates it.
pub fn answerer<F, Answering>(answer: F) -> impl Listener<Approval>
where
    F: Fn(Arc<Approval>) -> Answering + Send + Sync + 'static,
    Answering: Future<Output = Option<ApprovalOutcome>> + Send + 'static,
{
    Answerer(answer)
}

struct Answerer<F>(F);

#[async_trait]
impl<F, Answering> Listener<Approval> for Answerer<F>
where
    F: Fn(Arc<Approval>) -> Answering + Send + Sync + 'static,
    Answering: Future<Output = Option<ApprovalOutcome>> + Send + 'static,
{
    async fn call(
        &self,
        ask: Arc<Approval>,
        next: Next<Approval>,
    ) -> Result<RawOutcome, ListenerError> {
        match (self.0)(ask).await {
            Some(outcome) => Ok(outcome.into()),
            None => next.run().await,
        }
    }
}

/// The way on, for a listener that is written in another language: it may be called any number of
/// times, and leads on once.
#[derive(Clone)]
pub struct ScriptedNext(Arc<Mutex<Option<Next<Approval>>>>);

impl ScriptedNext {
    /// Asks the next listener and returns what it said, as JSON.
    ///
    /// # Errors
    ///
    /// [`ListenerError::Closed`] for a second call, and when the request has ended.
    pub async fn run(&self) -> Result<Value, ListenerError> {
        let next = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        match next.ok_or(ListenerError::Closed)?.run().await? {
            RawOutcome::Known(outcome) => Ok(outcome.word().into()),
            RawOutcome::Other(value) => Ok(value),
        }
    }
}

/// Makes a listener of a function that knows no outcomes but JSON: a word of the closed set is that
/// outcome, and all else is foreign.
pub fn scripted<F, Answering>(answer: F) -> impl Listener<Approval>
where
    F: Fn(Arc<Approval>, ScriptedNext) -> Answering + Send + Sync + 'static,
    Answering: Future<Output = Result<Value, ListenerError>> + Send + 'static,
{
    Scripted(answer)
}

struct Scripted<F>(F);

#[async_trait]
impl<F, Answering> Listener<Approval> for Scripted<F>
where
    F: Fn(Arc<Approval>, ScriptedNext) -> Answering + Send + Sync + 'static,
    Answering: Future<Output = Result<Value, ListenerError>> + Send + 'static,
{
    async fn call(
        &self,
        ask: Arc<Approval>,
        next: Next<Approval>,
    ) -> Result<RawOutcome, ListenerError> {
        let next = ScriptedNext(Arc::new(Mutex::new(Some(next))));
        Ok(RawOutcome::of((self.0)(ask, next).await?))
    }
}
