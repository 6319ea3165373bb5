//! Views of a session that nobody has open, with as little reading as may be.
//!
//! | rung | reads | shows |
//! |---|---|---|
//! | listing | the record alone | the rows whose version and state fit, dated by the lowest |
//! | tail | from one event below the lowest row that fits | all units, folded on from their rows |
//! | full | the log from its start | all units |
//!
//! The event below a row is its anchor: the row has its digest, so that a log that was cut, or is
//! another one, is noticed and read whole. A wrong record costs time and is never a wrong view.

use super::record::{Identity, Record, Row, anchor};
use super::records::Records;
use super::registry::Registry;
use super::unit::{Unit, ViewError};
use gatelog_engine::backend::{Backend, Error, ErrorKind, Stored};
use gatelog_engine::replay::{Projected, with_event};
use gatelog_engine::rules::SessionHeader;
use std::fmt;
use std::io;
use std::ops::ControlFlow;

/// How far down the ladder a read had to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rung {
    /// The end of the log, from one event below the lowest row.
    Tail,
    /// The whole log.
    Full,
}

/// What a listing shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// Seq of the last event that is surely in all of them; nothing if there is none, or no view.
    pub last_seq: Option<u64>,
    /// Key and view of the rows that fit; a key that does not is absent.
    pub views: Vec<(&'static str, String)>,
}

/// What a cold read shows.
#[derive(Clone, Debug)]
pub struct Cold {
    /// Seq of the last event; nothing for an empty log.
    pub last_seq: Option<u64>,
    /// Key and view, in the order of registration; only what clients may see.
    pub views: Vec<(&'static str, String)>,
    /// How far down the read had to go.
    pub rung: Rung,
    /// How many events were read.
    pub events_read: u64,
    /// Why the refreshed record could not be kept, if it could not. The views are right all the
    /// same.
    pub not_kept: Option<String>,
}

/// Why a session cannot be shown.
#[derive(Debug)]
pub enum ColdError {
    /// There is no such session.
    NotFound {
        /// Its id.
        session: String,
    },
    /// The log could not be read.
    Log(Error),
    /// A view must not be shown.
    View(ViewError),
}

impl fmt::Display for ColdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound { session } => write!(f, "there is no session \"{session}\""),
            Self::Log(error) => error.fmt(f),
            Self::View(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ColdError {}

/// Rows from which a fold cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unrestorable {
    /// The key of the first.
    pub key: String,
    /// Where the fold was to go on.
    pub seq: u64,
}

impl fmt::Display for Unrestorable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "session projection \"{}\" cannot restore from seq {}: its checkpoint row is missing, \
             version-mismatched, or beyond the supplied log end; re-read from seq 0",
            self.key, self.seq
        )
    }
}

impl std::error::Error for Unrestorable {}

/// A projection on its way along a log.
struct Runner {
    unit: Unit,
    projection: Box<dyn Projected>,
    /// Seq from which on it is folded.
    from: u64,
    /// Digest that the event before that must have.
    anchor: Option<[u8; 32]>,
}

/// Finds the rows from which a fold can go on at `base`, one for each unit: a row of its version,
/// whose seq lies between `base` and `end`. At 0 a unit without one begins anew.
fn runners(
    units: &[Unit],
    header: &SessionHeader,
    rows: &[Row],
    base: u64,
    end: u64,
) -> Result<Vec<Runner>, Unrestorable> {
    let runner = |unit: &Unit| {
        let mut projection = unit.make(header);
        let row = rows.iter().find(|row| is_usable(row, unit, base, end));
        if let Some(row) = row
            && projection.load(&row.state)
        {
            let anchor = (row.seq > 0).then_some(row.anchor);
            return Ok(Runner { unit: unit.clone(), projection, from: row.seq, anchor });
        }
        if base > 0 {
            return Err(Unrestorable { key: unit.key.to_owned(), seq: base });
        }
        Ok(Runner { unit: unit.clone(), projection: unit.make(header), from: 0, anchor: None })
    };
    units.iter().map(runner).collect()
}

fn is_usable(row: &Row, unit: &Unit, base: u64, end: u64) -> bool {
    row.key == unit.key && row.version == unit.version && (base..=end).contains(&row.seq)
}

/// Looks whether rows can be gone on from at a seq, without reading a log.
///
/// # Errors
///
/// [`Unrestorable`] names the first unit that cannot.
pub fn restore(
    registry: &Registry,
    header: &SessionHeader,
    rows: &[Row],
    base: u64,
    end: u64,
) -> Result<(), Unrestorable> {
    runners(&registry.units(), header, rows, base, end).map(drop)
}

/// Shows the rows of a record that fit, without reading the log. A record of another log shows
/// nothing.
pub fn list(
    registry: &Registry,
    records: &dyn Records,
    session: &str,
    header: &SessionHeader,
) -> Listing {
    let record = records.load(session);
    let record = record.filter(|record| record.identity == Identity::of(header));
    let rows = record.map(|record| record.rows).unwrap_or_default();
    let (mut views, mut lowest) = (Vec::new(), None);
    for unit in registry.units().iter().filter(|unit| unit.is_shown) {
        let fits = |row: &&Row| is_usable(row, unit, 0, u64::MAX);
        let Some(row) = rows.iter().find(fits) else { continue };
        let mut projection = unit.make(header);
        if !projection.load(&row.state) {
            continue;
        }
        if let Ok(view) = unit.view(&*projection) {
            views.push((unit.key, view));
            lowest = Some(lowest.map_or(row.seq, |lowest: u64| lowest.min(row.seq)));
        }
    }
    Listing { last_seq: lowest.and_then(|seq| seq.checked_sub(1)), views }
}

/// Shows all units over a session, from its rows where they fit, and keeps the refreshed record.
///
/// # Errors
///
/// [`ColdError::NotFound`], with or without units; a log that cannot be read; a view that must not
/// be shown.
pub fn read(
    registry: &Registry,
    records: &dyn Records,
    backend: &dyn Backend,
    session: &str,
) -> Result<Cold, ColdError> {
    let info = backend.find(session).map_err(|error| log(session, error))?;
    let info = info.ok_or_else(|| ColdError::NotFound { session: session.to_owned() })?;
    let (units, identity) = (registry.units(), Identity::of(&info.header));
    let record = records.load(session).filter(|record| record.identity == identity);
    let rows = record.map(|record| record.rows).unwrap_or_default();
    let end = info.next_seq;
    let usable = rows.iter().filter(|row| {
        let fits = |unit: &Unit| is_usable(row, unit, 0, end);
        units.iter().any(fits)
    });
    let base = usable.map(|row| row.seq).min().unwrap_or(0);
    let mut pass = None;
    if base > 0
        && let Ok(runners) = runners(&units, &info.header, &rows, base, end)
    {
        let tail = Pass::new(runners, base - 1);
        pass = tail.run(backend, session).map_err(|error| log(session, error))?;
    }
    let (rung, pass) = if let Some(pass) = pass {
        (Rung::Tail, pass)
    } else {
        let runners = runners(&units, &info.header, &[], 0, end);
        let whole = Pass::new(runners.unwrap_or_default(), 0);
        let read = whole.run(backend, session).map_err(|error| log(session, error))?;
        (Rung::Full, read.ok_or_else(|| log(session, gap(session)))?)
    };
    let shown = pass.runners.iter().filter(|runner| runner.unit.is_shown);
    let view = |runner: &Runner| Ok((runner.unit.key, runner.unit.view(&*runner.projection)?));
    let views = shown.map(view).collect::<Result<_, _>>().map_err(ColdError::View)?;
    let kept = records.save(session, &pass.record(identity));
    Ok(Cold {
        last_seq: pass.next_seq.checked_sub(1),
        views,
        rung,
        events_read: pass.events_read,
        not_kept: kept.err().map(|error: io::Error| error.to_string()),
    })
}

fn log(session: &str, error: Error) -> ColdError {
    match error.kind {
        ErrorKind::NoSession | ErrorKind::Deleted => {
            ColdError::NotFound { session: session.to_owned() }
        }
        _ => ColdError::Log(error),
    }
}

fn gap(session: &str) -> Error {
    let message = format!("the log of session \"{session}\" leaves a seq out");
    Error::corrupt("seq/gap", message)
}

/// One pass over a log, or over its end.
struct Pass {
    runners: Vec<Runner>,
    from: u64,
    next_seq: u64,
    anchor: [u8; 32],
    events_read: u64,
    /// A row does not have the digest of its anchor, or a seq is missing.
    is_unfit: bool,
    unread: Option<Error>,
}

impl Pass {
    fn new(runners: Vec<Runner>, from: u64) -> Self {
        Self {
            runners,
            from,
            next_seq: from,
            anchor: [0; 32],
            events_read: 0,
            is_unfit: false,
            unread: None,
        }
    }

    /// Reads and folds; nothing if a row does not fit the log, or the log leaves a seq out.
    fn run(mut self, backend: &dyn Backend, session: &str) -> Result<Option<Self>, Error> {
        backend.read(session, self.from, &mut |stored| self.take(stored))?;
        if let Some(error) = self.unread.take() {
            return Err(error);
        }
        let reaches = self.runners.iter().all(|runner| runner.from <= self.next_seq);
        Ok((!self.is_unfit && reaches).then_some(self))
    }

    fn take(&mut self, stored: &Stored<'_>) -> ControlFlow<()> {
        self.events_read += 1;
        let is_next = stored.seq == self.next_seq;
        self.anchor = anchor(stored);
        let below = stored.seq + 1;
        let holds = |runner: &Runner| {
            runner.from != below || runner.anchor.is_none_or(|anchor| anchor == self.anchor)
        };
        if !is_next || !self.runners.iter().all(holds) {
            self.is_unfit = true;
            return ControlFlow::Break(());
        }
        let folded = with_event(stored, |event| {
            for runner in self.runners.iter_mut().filter(|runner| runner.from <= event.seq) {
                runner.projection.fold(event);
            }
        });
        self.next_seq = below;
        match folded {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.unread = Some(error);
                ControlFlow::Break(())
            }
        }
    }

    fn record(&self, identity: Identity) -> Record {
        let row = |runner: &Runner| Row {
            key: runner.unit.key.to_owned(),
            version: runner.unit.version,
            seq: self.next_seq,
            anchor: self.anchor,
            state: runner.projection.save(),
        };
        Record { identity, rows: self.runners.iter().map(row).collect() }
    }
}
