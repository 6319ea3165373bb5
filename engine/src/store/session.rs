//! A handle of a session.

use super::append::Append;
use super::gate::Gate;
use super::held::Held;
use super::live::Live;
use super::observer::Observer;
use super::projected::Projected;
use super::request::Request;
use crate::backend::{AppendError, Commit, Durability, Error, Key, Take};
use crate::companion::Projection;
use crate::rules::Draft;
use std::sync::Arc;

/// A handle of a live session; all of them share one gate, and compare by it.
///
/// It belongs to one generation of the store. After [`Store::reopen`](super::Store::reopen) it
/// answers [`Refusal::Poisoned`](crate::backend::Refusal::Poisoned), after
/// [`Store::close`](super::Store::close) or [`Store::release`](super::Store::release)
/// [`Refusal::Stale`](crate::backend::Refusal::Stale).
#[derive(Clone)]
pub struct Session(pub(crate) Arc<Live>);

impl Session {
    /// Returns the id.
    pub fn id(&self) -> &str {
        &self.0.id
    }

    /// Appends drafts as one batch and returns when it has reached its class.
    ///
    /// Under the gate the drafts are checked, stamped with seq and time, judged by the store's
    /// rules one after another, and handed to the backend. If anything speaks against one of them,
    /// none is written.
    ///
    /// # Errors
    ///
    /// How it ended otherwise; see [`AppendError`].
    pub fn append(
        &self,
        drafts: impl IntoIterator<Item = Draft>,
        durability: Durability,
    ) -> Result<Commit, AppendError> {
        self.run(Request::new(drafts, durability))
    }

    /// As [`Session::append`], once for each key: if one of the last 1,024 keys of the session is
    /// this one, the drafts are compared with its batch, which is raised to the class asked for.
    ///
    /// # Errors
    ///
    /// As [`Session::append`]; `KeyReused` if the drafts are others, `Unsupported` if the store
    /// has no place for keys.
    pub fn append_keyed(
        &self,
        key: Key,
        drafts: impl IntoIterator<Item = Draft>,
        durability: Durability,
    ) -> Result<Commit, AppendError> {
        self.run(Request::new(drafts, durability).keyed(Some(key)))
    }

    /// As [`Session::append`], if `next_seq` is the seq of the next event. If the session is past
    /// it and the batch that begins there has this key and these drafts, its receipt is returned,
    /// after it was raised to the class asked for. This needs no memory and holds for ever.
    ///
    /// Without a key it is a compare-and-swap that cannot be repeated.
    ///
    /// # Errors
    ///
    /// As [`Session::append`]; `KeyReused` if the key is the same and the drafts are others,
    /// `WrongSeq` if the key is another.
    pub fn append_expecting(
        &self,
        next_seq: u64,
        key: impl Into<Option<Key>>,
        drafts: impl IntoIterator<Item = Draft>,
        durability: Durability,
    ) -> Result<Commit, AppendError> {
        self.run(Request::new(drafts, durability).keyed(key.into()).expecting(next_seq))
    }

    /// As [`Session::append`], without a thread that waits. Nothing is written or synced inside
    /// `poll`; from the first poll on the append is carried through even if the future is dropped.
    pub fn append_async(
        &self,
        drafts: impl IntoIterator<Item = Draft>,
        durability: Durability,
    ) -> Append {
        Append::new(&self.0, Request::new(drafts, durability))
    }

    /// As [`Session::append_keyed`], in the manner of [`Session::append_async`].
    pub fn append_keyed_async(
        &self,
        key: Key,
        drafts: impl IntoIterator<Item = Draft>,
        durability: Durability,
    ) -> Append {
        Append::new(&self.0, Request::new(drafts, durability).keyed(Some(key)))
    }

    /// As [`Session::append_expecting`], in the manner of [`Session::append_async`].
    pub fn append_expecting_async(
        &self,
        next_seq: u64,
        key: impl Into<Option<Key>>,
        drafts: impl IntoIterator<Item = Draft>,
        durability: Durability,
    ) -> Append {
        let request = Request::new(drafts, durability).keyed(key.into()).expecting(next_seq);
        Append::new(&self.0, request)
    }

    /// Waits for the gate and takes it: until it is dropped, nobody else appends.
    ///
    /// # Errors
    ///
    /// [`AppendError::Refused`] as `Reentrant`, `Busy`, `Poisoned`, `Stale` or `ReadOnly`.
    pub fn gate(&self) -> Result<Gate, AppendError> {
        self.0.check().map_err(AppendError::Refused)?;
        Gate::wait(&self.0)
    }

    /// Raises everything that was committed so far to a class.
    ///
    /// # Errors
    ///
    /// A refusal as of [`Session::gate`]; [`AppendError::Unknown`] if the sync failed;
    /// [`AppendError::Rewound`] if some of it is gone, which the next append is not told again.
    pub fn raise(&self, durability: Durability) -> Result<(), AppendError> {
        self.under_gate(|held| {
            held.hear()?;
            held.raise(durability)
        })
    }

    /// Hands the events from a seq on to `take`, in order, until it breaks off.
    ///
    /// # Errors
    ///
    /// What cannot be read, or that the session is gone.
    pub fn read(&self, from: u64, take: &mut Take<'_>) -> Result<(), Error> {
        self.0.shared.backend.read(&self.0.id, from, take)
    }

    /// Registers an observer of this session, for as long as it is live.
    pub fn observe(&self, observer: Arc<dyn Observer>) {
        self.0.observe(observer);
    }

    /// Makes a projection that follows the session for as long as it is live: folded from the log
    /// up to now, and then along its commits, as observers are told of them. `make` makes an empty
    /// one, and is called again after a rewind.
    ///
    /// # Errors
    ///
    /// As [`Gate::next_seq`], `Reentrant` and `Busy`.
    pub fn project<P: Projection + Send + 'static>(
        &self,
        make: impl Fn() -> P + Send + Sync + 'static,
    ) -> Result<Projected<P>, AppendError> {
        self.under_gate(|held| {
            held.look().map_err(AppendError::Refused)?;
            let next_seq = held.state()?.next_seq;
            let backend = Arc::clone(&self.0.shared.backend);
            let (projected, follower) = Projected::new(backend, self.id(), next_seq, make);
            // Under the gate, so that no commit comes between.
            self.observe(follower);
            Ok(projected)
        })
    }

    /// Returns why the session can only be read, if so: its rules panicked over its log.
    pub fn fault(&self) -> Option<String> {
        self.0.fault().map(str::to_owned)
    }

    fn run(&self, request: Request) -> Result<Commit, AppendError> {
        self.under_gate(|held| held.append(request))
    }

    fn under_gate<T>(
        &self,
        act: impl FnOnce(&mut Held) -> Result<T, AppendError>,
    ) -> Result<T, AppendError> {
        // Asked before the wait too: who holds the gate of a dead generation may never free it.
        self.0.check().map_err(AppendError::Refused)?;
        let mut held = Held::wait(&self.0)?;
        let result = act(&mut held);
        held.release();
        result
    }
}

impl PartialEq for Session {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Session {}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("id", &self.0.id).finish_non_exhaustive()
    }
}
