//! Verification of a native store: every frame of every segment, and what they say of each other.
//!
//! Who drives: [`check`] reads a store's directory through a [`Storage`], which cannot write, and
//! hands the events of each session, in order, to the sink that [`Sinks`] makes for it. It shares
//! the codecs of single structures with the log, and no code that finds the end of one: where the
//! two disagree, one of them has a bug.
//!
//! An open of a store looks at what it needs. Here everything is looked at: each checksum, place,
//! padding and link, the chain of digests, each statement of a header about the segment before,
//! each session table, each witness. Where the log ends, W alone decides (`docs/format.md`,
//! section 7).
//!
//! It is safe on a store that is being written: the durable end is read first, nothing above it is
//! called damaged, and what looks damaged below is read afresh before it is a finding.
//!
//! | module | does |
//! |---|---|
//! | `finding` | what is said, and how grave it is |
//! | `disk` | patient reads of whole extents |
//! | `layout` | what lies in the directory, read once |
//! | `names` | judges it: ids, versions, who names whom |
//! | `header` | whether a segment's header belongs to its file |
//! | `batch` | frames of a few megabytes, decoded in parallel |
//! | `place` | what stands where no frame follows; W behind it |
//! | `sheet` | the sessions of one segment, and its table |
//! | `hand` | the events of a frame, to the sink of their session |
//! | `rounds` | which sessions are judged in which way over the log |
//! | `sessions` | every session, and its sink |
//! | `walk` | how far the frames of one segment follow |
//! | `pass` | one way over all segments |
//! | `closed` | segments with a successor |
//! | `end` | where the log ends |

mod finding;
mod disk;
mod layout;
mod names;
mod header;
mod batch;
mod place;
mod sheet;
mod hand;
mod rounds;
mod sessions;
mod walk;
mod pass;
mod closed;
mod end;

#[cfg(test)]
mod tests;

use crate::backend::{Error, ErrorKind, RecordedRules, Stored};
use crate::event::Place;
use crate::log::crc::self_test;
use crate::rules::SessionHeader;
use crate::storage::Storage;
pub use finding::{Finding, Weight};
use layout::Layout;
use pass::Pass;
use rounds::Round;
use sessions::Sessions;
use std::path::Path;

/// How often a store that changes under our eyes is looked at again.
const LOOKS: usize = 8;

/// How a store is verified.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Waits before an end that looks torn is looked at once more, where nobody can say whether a
    /// writer is at work. Default: not at all.
    pub wait: fn(),
    /// How many bytes the states of all sinks together may take, as they say themselves. What is
    /// beyond is judged when the log is read once more. It is exceeded at most twofold, and by the
    /// state of one session. Default: 512 MiB.
    pub states_bytes_max: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self { wait: || (), states_bytes_max: 512 << 20 }
    }
}

/// Takes what one session holds, in order.
pub trait SessionSink: Send {
    /// Takes an event, with where it lies and the rules that the log had recorded before it.
    /// `confirmed` is what is known so far.
    fn event(&mut self, stored: &Stored<'_>, place: Place, rules: Option<&RecordedRules>);

    /// Is told of a record that is no event.
    fn malformed(&mut self, what: &str, place: Place);

    /// Is told that nothing comes any more: the session has so many events, and, if it is at rest,
    /// they are all that it has. It lets go of what it does not need for its report.
    fn end(&mut self, events: u64, is_at_rest: bool);

    /// Returns about how many bytes its state takes.
    fn state_bytes(&self) -> usize;
}

/// Makes the sinks.
pub trait Sinks: Sync {
    /// What takes one session.
    type Sink: SessionSink;

    /// Makes the sink of a session when its first frame was read; anew, if there was no room for
    /// it, when the log is read once more.
    fn session(&self, id: &str, header: &SessionHeader) -> Self::Sink;
}

/// What was found of one session.
#[derive(Debug)]
pub struct SessionCheck<S> {
    /// Its id.
    pub id: String,
    /// The host format of its events.
    pub dialect: u32,
    /// How many events its frames hold.
    pub events: u64,
    /// Bytes of its frames.
    pub bytes: u64,
    /// What is wrong with how its frames follow each other.
    pub findings: Vec<Finding>,
    /// How many of these were not kept.
    pub dropped: u64,
    /// What took its events, after their end.
    pub sink: S,
}

/// What was found of a store.
#[derive(Debug)]
pub struct StoreCheck<S> {
    /// What concerns log, segments, frames and witnesses, in the order in which it was met.
    pub findings: Vec<Finding>,
    /// How many findings were not kept.
    pub dropped: u64,
    /// Something lies behind the end of the log that no witness vouches for, and no writer is at
    /// work.
    pub is_torn: bool,
    /// A writer is at work.
    pub is_live: bool,
    /// The log was read up to its end: no damage keeps anything from being judged.
    pub is_whole: bool,
    /// How many segments there are.
    pub segments: u64,
    /// W: what witnesses vouch for.
    pub durable_lsn: u64,
    /// Lsn of the last frame that follows; 0 for none.
    pub last_lsn: u64,
    /// Frames up to there that no witness vouches for.
    pub unconfirmed: u64,
    /// Bytes of the segments and the witnesses.
    pub bytes: u64,
    /// The sessions that were not deleted, in the order of their ids.
    pub sessions: Vec<SessionCheck<S>>,
}

/// Returns whether a directory looks like a native store: it holds `STORE`, or a segment that
/// begins like one.
pub fn is_store(storage: &dyn Storage, dir: &Path) -> bool {
    layout::is_store(storage, dir)
}

/// Verifies the store in a directory. What is wrong with it is in the answer and no error. Frames
/// are decoded, and sessions folded, on the threads of the rayon pool in force; in memory are, of
/// the log, a few megabytes or one frame, and of the sinks as many states as the settings allow.
/// Where more sessions are open at once the log is read again for those that had no room.
///
/// `progress` is told of bytes as they are read for the first time.
///
/// # Errors
///
/// [`ErrorKind::Io`] where something cannot be read: undecided. [`ErrorKind::NotAStore`].
/// [`ErrorKind::Busy`] where files changed under us eight times. [`ErrorKind::Config`] where this
/// machine does not compute checksums rightly.
pub fn check<S: Sinks>(
    storage: &dyn Storage,
    dir: &Path,
    sinks: &S,
    settings: Settings,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<StoreCheck<S::Sink>, Error> {
    if !self_test() {
        let message = "this machine computes checksums wrongly; nothing was checked";
        return Err(Error::new(ErrorKind::Config, message));
    }
    let mut before: Option<Vec<Finding>> = None;
    for _ in 0..LOOKS {
        let looked = Layout::look(storage, dir).and_then(|layout| {
            let named = names::judge(&layout);
            // What the directory says is provisional, too, until it was seen twice.
            let is_new = named.findings.iter().any(|finding| finding.weight.is_damage())
                && before.as_ref() != Some(&named.findings);
            if is_new {
                before = Some(named.findings);
                return Ok(None);
            }
            let over = |named, round| {
                let progress: &(dyn Fn(u64) + Sync) =
                    if let Round::First = round { progress } else { &|_| () };
                Pass::over(storage, &layout, named, Sessions::new(sinks, settings, round), progress)
            };
            rounds::all(&named, over).map(Some)
        });
        match looked {
            Ok(Some(check)) => return Ok(check),
            Ok(None) => {}
            Err(error) if error.kind == ErrorKind::Busy => {}
            Err(error) => return Err(error),
        }
    }
    let message = format!("files of the store changed {LOOKS} times while it was read; try again");
    Err(Error::new(ErrorKind::Busy, message).at(dir, None))
}
