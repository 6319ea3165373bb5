//! Who is told of what was committed, and who is asked when a session is made.

use super::init::Init;
use crate::backend::{Refusal, Stored};

/// Is told what was committed, when the session's gate is free, in the session's commit order.
///
/// Who calls: the thread that committed, after its append has reached its class; if another thread
/// is telling observers of the same session already, that one tells of this commit too. So an
/// append may return before its observers were told. The thread that tells is refused an append to
/// that session ([`Refusal::Reentrant`]); any other thread is not, so an observer may wait for one
/// that appends. A panic is contained, and the observer is called again for the next event.
///
/// An observer sees what is committed after it was registered. It sees `Buffered` commits when they
/// are accepted, and is told if they are taken back. [`Stored::confirmed`] says whether the commit
/// was synced when it was acknowledged.
pub trait Observer: Send + Sync {
    /// Is told of one event of the session `id`.
    fn committed(&self, id: &str, event: &Stored<'_>);

    /// Is told that the session's events from `next_seq` on, of which it was told, are gone: they
    /// were acknowledged short of `Synced`, and their group failed.
    fn rewound(&self, id: &str, next_seq: u64);
}

/// Is asked, under the gate, when a session is created, and may add to its first batch.
pub trait Creation: Send + Sync {
    /// Looks at what the new session begins with, and adds drafts behind it. What it appends to the
    /// session by any other way is refused as [`Refusal::Reentrant`].
    ///
    /// # Errors
    ///
    /// Whatever speaks against the session: then it is not created.
    fn created(&self, init: &mut Init<'_>) -> Result<(), Refusal>;
}
