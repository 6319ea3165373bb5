//! A projection that follows a live session.

use super::lock::lock;
use super::observer::Observer;
use super::sheet::Reader;
use crate::backend::{Backend, Error, Stored};
use crate::companion::Projection;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

/// A projection of one session, folded from its log and then along its commits, as an observer is
/// told of them. After a rewind, or a panic of its own, it is made anew and folded from the log.
///
/// No rule ever asks it. Clones show the same one.
pub struct Projected<P: Projection>(Arc<Follower<P>>);

/// Where a projection stands.
struct Folded<P> {
    /// None if it is to be folded again.
    projection: Option<P>,
    /// How many events are in it, or should be.
    next_seq: u64,
}

pub(crate) struct Follower<P> {
    make: Box<dyn Fn() -> P + Send + Sync>,
    backend: Arc<dyn Backend>,
    id: String,
    /// Locked while events are folded: who asks for a view waits until it is one of a commit.
    folded: Mutex<Folded<P>>,
}

impl<P: Projection + Send + 'static> Projected<P> {
    /// Makes a projection of the first `next_seq` events. Called under the gate.
    pub(crate) fn new(
        backend: Arc<dyn Backend>,
        id: &str,
        next_seq: u64,
        make: impl Fn() -> P + Send + Sync + 'static,
    ) -> (Self, Arc<dyn Observer>) {
        let folded = Mutex::new(Folded { projection: None, next_seq });
        let (make, id) = (Box::new(make), id.to_owned());
        let follower = Arc::new(Follower { make, backend, id, folded });
        (Self(Arc::clone(&follower)), follower)
    }

    /// Returns the view, and the seq of the next event, which is not in it.
    ///
    /// # Errors
    ///
    /// What cannot be read, when it has to be folded from the log.
    pub fn view(&self) -> Result<(P::View, u64), Error> {
        let mut folded = lock(&self.0.folded);
        let next_seq = folded.next_seq;
        let projection = match folded.projection.take() {
            Some(projection) => projection,
            None => self.0.fold(next_seq)?,
        };
        let view = projection.view();
        folded.projection = Some(projection);
        Ok((view, next_seq))
    }
}

impl<P: Projection> Follower<P> {
    fn fold(&self, next_seq: u64) -> Result<P, Error> {
        let (mut projection, mut reader) = ((self.make)(), Reader::default());
        self.backend.read(&self.id, 0, &mut |stored| {
            if stored.seq >= next_seq {
                return ControlFlow::Break(());
            }
            // The gate let nothing in that is no JSON.
            let _ = reader.show(stored, |event| projection.fold(event));
            ControlFlow::Continue(())
        })?;
        Ok(projection)
    }
}

impl<P: Projection + Send> Observer for Follower<P> {
    fn committed(&self, _: &str, stored: &Stored<'_>) {
        let mut folded = lock(&self.folded);
        folded.next_seq = stored.seq + 1;
        // Out of its place while it folds, so that a panic leaves none that is half done.
        if let Some(mut projection) = folded.projection.take() {
            let shown = Reader::default().show(stored, |event| projection.fold(event));
            folded.projection = shown.is_ok().then_some(projection);
        }
    }

    fn rewound(&self, _: &str, next_seq: u64) {
        *lock(&self.folded) = Folded { projection: None, next_seq };
    }
}

impl<P: Projection> Clone for Projected<P> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<P: Projection> std::fmt::Debug for Projected<P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Projected").field("session", &self.0.id).finish_non_exhaustive()
    }
}
