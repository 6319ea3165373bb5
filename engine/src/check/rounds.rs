//! Rounds: a log whose sessions have no room in memory at once is read more than once.
//!
//! The first way over the log judges as many sessions as have room, and learns where each of the
//! others ends. Each further one judges some of those, and lets go of each at its last frame. The
//! log may grow meanwhile: no round looks behind the end that the first one saw.

use super::names::Named;
use super::{SessionCheck, StoreCheck};
use crate::backend::{Error, ErrorKind};
use crate::log::chain::SessionKey;
use std::collections::HashMap;

/// Which sessions a way over the log judges.
#[derive(Clone, Debug)]
pub(super) enum Round {
    /// All that have room.
    First,
    /// Those that had none before.
    Further(Due),
}

/// Sessions that are still to be judged.
#[derive(Clone, Debug, Default)]
pub(super) struct Due {
    /// The lsn of the last frame of each.
    pub(super) ends: HashMap<SessionKey, u64>,
    /// Nothing above it is looked at.
    pub(super) last_lsn: u64,
    /// What they hold is all that they have.
    pub(super) is_at_rest: bool,
}

/// What one way over the log found, and what it left for the next.
pub(super) type Found<S> = (StoreCheck<S>, Due);

/// Goes over a log until every session is judged.
pub(super) fn all<S>(
    named: &Named,
    over: impl Fn(Named, Round) -> Result<Found<S>, Error>,
) -> Result<StoreCheck<S>, Error> {
    let (mut check, mut due) = over(named.clone(), Round::First)?;
    while !due.ends.is_empty() {
        let before = due.ends.len();
        let (found, left) = over(named.clone(), Round::Further(due))?;
        if found.last_lsn < check.last_lsn || left.ends.len() >= before {
            let message = "the log changed while it was read";
            return Err(Error::new(ErrorKind::Busy, message));
        }
        let judged: Vec<SessionCheck<S>> = found.sessions;
        check.sessions.extend(judged);
        due = left;
    }
    check.sessions.sort_unstable_by(|a, b| a.id.cmp(&b.id));
    Ok(check)
}
