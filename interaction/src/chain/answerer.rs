//! A listener out of a function that answers or does not.

use super::ask::{Ask, Listener, ListenerError};
use super::next::Next;
use async_trait::async_trait;
use std::future::Future;
use std::sync::Arc;

struct Answerer<F>(F);

#[async_trait]
impl<A, F, Answered, Reply> Listener<A> for Answerer<F>
where
    A: Ask,
    F: Fn(Arc<A>) -> Answered + Send + Sync + 'static,
    Answered: Future<Output = Result<Option<Reply>, ListenerError>> + Send,
    Reply: Into<A::Reply> + Send,
{
    async fn call(&self, ask: Arc<A>, next: Next<A>) -> Result<A::Reply, ListenerError> {
        match (self.0)(ask).await? {
            Some(reply) => Ok(reply.into()),
            None => next.run().await,
        }
    }
}

/// Makes a listener of a function: what it returns is the reply, and with `None`, and only then,
/// the next listener is asked.
pub fn answerer<A, F, Answered, Reply>(answer: F) -> impl Listener<A>
where
    A: Ask,
    F: Fn(Arc<A>) -> Answered + Send + Sync + 'static,
    Answered: Future<Output = Result<Option<Reply>, ListenerError>> + Send,
    Reply: Into<A::Reply> + Send,
{
    Answerer(answer)
}
