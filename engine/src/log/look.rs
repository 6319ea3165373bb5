//! A look at a store as a reader sees it: how it ends, and what a writer's open would say.

use super::reader::{LogReader, Tail};
use crate::backend::Error;
use crate::storage::Storage;
use std::path::Path;
use std::sync::Arc;

/// How a log ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LookedEnd {
    /// Where it was ended.
    Clean,
    /// Before bytes that no witness vouches for.
    Torn,
    /// A writer is at work behind the durable end: not checked.
    InProgress,
    /// What is stored contradicts what was synced.
    Refused,
}

/// What a look at a store saw.
#[derive(Debug)]
pub struct Look {
    /// How the log ends.
    pub end: LookedEnd,
    /// Why a writer's open would be refused, if it would.
    pub refused: Option<Error>,
    /// What is remarkable and no damage: rule and words.
    pub notes: Vec<(&'static str, String)>,
    /// Frames that a writer's open would keep.
    pub frames: u64,
    /// Those of them that no witness vouches for.
    pub unconfirmed: u64,
}

/// Looks at the store in a directory and changes nothing.
///
/// # Errors
///
/// [`ErrorKind::NotAStore`](crate::backend::ErrorKind::NotAStore) where there is none, and
/// [`ErrorKind::Io`](crate::backend::ErrorKind::Io) and
/// [`ErrorKind::Busy`](crate::backend::ErrorKind::Busy) where it cannot be read.
pub fn look(storage: Arc<dyn Storage>, dir: &Path) -> Result<Look, Error> {
    let reader = LogReader::open(storage, dir)?;
    let (mut frames, mut unconfirmed) = (0, 0);
    reader.frames(&mut |_, _, is_confirmed| {
        frames += 1;
        unconfirmed += u64::from(!is_confirmed);
    })?;
    let notes = reader.judgement().notes.iter();
    Ok(Look {
        end: match reader.tail() {
            Tail::Clean => LookedEnd::Clean,
            Tail::Torn => LookedEnd::Torn,
            Tail::InProgress => LookedEnd::InProgress,
            Tail::Refused => LookedEnd::Refused,
        },
        refused: reader.error(),
        notes: notes.map(|note| (note.rule, note.message.clone())).collect(),
        frames,
        unconfirmed,
    })
}
