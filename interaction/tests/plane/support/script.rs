//! A listener whose entry, delegation and settlement a test drives step by step.

use async_trait::async_trait;
use gatelog_interaction::chain::{Ask, Listener, ListenerError, Next};
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};

/// A listener that was entered and waits for what the test makes of it.
pub(crate) struct Called<A: Ask> {
    pub(crate) ask: Arc<A>,
    /// The way on; the test may run it, keep it or drop it.
    pub(crate) next: Next<A>,
    reply: oneshot::Sender<Result<A::Reply, ListenerError>>,
}

impl<A: Ask> Called<A> {
    /// Has the listener return.
    pub(crate) fn reply(self, reply: Result<A::Reply, ListenerError>) {
        // The listener may be gone with its request's runtime; then nobody hears it.
        let _ = self.reply.send(reply);
    }

    /// Has the listener delegate and pass the result on.
    pub(crate) async fn delegate(self) {
        let reply = self.next.run().await;
        let _ = self.reply.send(reply);
    }

    /// Takes the way on apart from the right to reply.
    pub(crate) fn split(self) -> (Next<A>, oneshot::Sender<Result<A::Reply, ListenerError>>) {
        (self.next, self.reply)
    }
}

/// The test's end of a scripted listener.
pub(crate) struct Script<A: Ask>(mpsc::UnboundedReceiver<Called<A>>);

impl<A: Ask> Script<A> {
    /// Waits until the listener is entered.
    pub(crate) async fn called(&mut self) -> Called<A> {
        self.0.recv().await.expect("the listener is registered")
    }

    /// Returns the listener's next entry if it was entered already.
    pub(crate) fn try_called(&mut self) -> Option<Called<A>> {
        self.0.try_recv().ok()
    }
}

struct Scripted<A: Ask>(mpsc::UnboundedSender<Called<A>>);

#[async_trait]
impl<A: Ask> Listener<A> for Scripted<A> {
    async fn call(&self, ask: Arc<A>, next: Next<A>) -> Result<A::Reply, ListenerError> {
        let (reply, replied) = oneshot::channel();
        if self.0.send(Called { ask, next, reply }).is_err() {
            return Err(ListenerError::failed("the test is over"));
        }
        replied.await.unwrap_or_else(|_| Err(ListenerError::failed("the test dropped the call")))
    }
}

/// Makes a scripted listener.
pub(crate) fn script<A: Ask>() -> (impl Listener<A>, Script<A>) {
    let (calls, called) = mpsc::unbounded_channel();
    (Scripted(calls), Script(called))
}
