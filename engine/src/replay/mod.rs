//! Replay: projections folded over many sessions, in parallel.
//!
//! Who drives: [`replay`] reads each session of an [`EventSource`] from its start, on one of its
//! threads, and folds the projections that [`Make`] makes for it. Results come in the order of the
//! source's names, whatever the number of threads; each is a function of the session alone. What is
//! in memory at one time is, for each thread, a frame or a few and the states of one session's
//! projections, and the views of the sessions that wait for their turn. Of a native store one large
//! frame is there at a time, whatever the number of threads.

pub mod projected;
pub mod prefix;
pub mod checkpoint;
pub mod folding;
pub mod source;
pub mod log_files;
pub mod stored_sessions;

use crate::backend::{Error, ErrorKind};
use crate::event::Event;
use crate::rules::SessionHeader;
pub use checkpoint::Checkpoint;
pub use folding::{Folding, Unfit, View};
pub use log_files::LogFiles;
pub use projected::{Make, Projected};
use rayon::prelude::*;
pub use source::{EventSource, SessionSink, with_event};
use std::ops::ControlFlow;
pub use stored_sessions::StoredSessions;

/// So many sessions a thread are folded before their results are handed on.
const SESSIONS_AHEAD: usize = 8;

/// One session, folded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folded {
    /// Its header.
    pub header: SessionHeader,
    /// Seq that comes next.
    pub next_seq: u64,
    /// What the projections show, in their order.
    pub views: Vec<View>,
    /// The checkpoints that were given and do not fit.
    pub unfit: Vec<&'static str>,
}

/// How sessions are replayed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Replay {
    /// How many threads work; 0, the default, for as many as there are cores.
    pub threads: usize,
    /// The last event that is folded; all without it.
    pub at: Option<u64>,
}

/// Takes the result of each session, with its name.
pub type Each<'a> = dyn FnMut(&str, Result<Folded, Error>) -> ControlFlow<()> + Send + 'a;

/// Folds all sessions of a source and hands each result, with the session's name, to `each`, in the
/// order of the names, until it breaks.
///
/// # Errors
///
/// What keeps the names from being read or threads from being started. What keeps one session from
/// being read is its result.
pub fn replay(
    source: &dyn EventSource,
    make: &Make<'_>,
    options: Replay,
    each: &mut Each<'_>,
) -> Result<(), Error> {
    let names = source.names()?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(options.threads).build();
    let pool = pool.map_err(|error| {
        Error::new(ErrorKind::Config, format!("no threads to work with: {error}"))
    })?;
    for chunk in names.chunks(pool.current_num_threads() * SESSIONS_AHEAD) {
        let folded: Vec<_> = pool.install(|| {
            chunk.par_iter().map(|name| fold(source, name, make, options.at, &[])).collect()
        });
        for (name, folded) in chunk.iter().zip(folded) {
            if each(name, folded) == ControlFlow::Break(()) {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// Folds one session, from checkpoints where they fit; what does not fit is folded from the start.
///
/// # Errors
///
/// What keeps it from being read.
pub fn fold(
    source: &dyn EventSource,
    name: &str,
    make: &Make<'_>,
    at: Option<u64>,
    checkpoints: &[Checkpoint],
) -> Result<Folded, Error> {
    let mut pass = Pass { make, at, checkpoints, begun: None };
    source.read(name, &mut pass)?;
    let Some((header, mut folding)) = pass.begun else { return Err(headless(name)) };
    let unfit = match folding.finish() {
        Ok(()) => Vec::new(),
        Err(unfit) => {
            let mut anew = Pass { make, at, checkpoints: &[], begun: None };
            source.read(name, &mut anew)?;
            folding = anew.begun.ok_or_else(|| headless(name))?.1;
            unfit.names
        }
    };
    Ok(Folded { header, next_seq: folding.next_seq(), views: folding.views(), unfit })
}

fn headless(name: &str) -> Error {
    Error::new(ErrorKind::Corrupt, format!("session \"{name}\" has no header"))
}

/// One pass over a session.
struct Pass<'a> {
    make: &'a Make<'a>,
    at: Option<u64>,
    checkpoints: &'a [Checkpoint],
    begun: Option<(SessionHeader, Folding)>,
}

impl SessionSink for Pass<'_> {
    fn header(&mut self, header: &SessionHeader) {
        let folding = Folding::resume(header, (self.make)(header), self.checkpoints);
        self.begun = Some((header.clone(), folding));
    }

    fn event(&mut self, event: &Event<'_>) -> ControlFlow<()> {
        if self.at.is_some_and(|at| event.seq > at) {
            return ControlFlow::Break(());
        }
        if let Some((_, folding)) = &mut self.begun {
            folding.take(event);
        }
        ControlFlow::Continue(())
    }
}
