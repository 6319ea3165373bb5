//! The projections of one live session.

use super::record::{Identity, Record, Row, anchor};
use super::registry::Registry;
use super::unit::{Unit, ViewError};
use gatelog_engine::backend::{AppendError, Stored};
use gatelog_engine::replay::{Projected, with_event};
use gatelog_engine::rules::SessionHeader;
use gatelog_engine::store::{Observer, Session};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A view that an event changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The key of the projection.
    pub key: &'static str,
    /// Seq of the event.
    pub seq: u64,
    /// The view, one JSON value, or why it is not served.
    pub view: Result<String, ViewError>,
}

/// All views at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// Seq of the last event that is in them; nothing for an empty log.
    pub last_seq: Option<u64>,
    /// Key and view, in the order of registration; only what clients may see.
    pub views: Vec<(&'static str, String)>,
}

impl Snapshot {
    /// Returns the watermark as clients read it: -1 for an empty log.
    pub fn watermark(&self) -> i64 {
        self.last_seq.map_or(-1, |seq| i64::try_from(seq).unwrap_or(i64::MAX))
    }

    /// Returns one view; absence means that the capability is not composed.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.views.iter().find(|(known, _)| *known == key).map(|(_, view)| view.as_str())
    }
}

type Subscriber = Arc<dyn Fn(&Change) + Send + Sync>;

struct Cell {
    unit: Unit,
    projection: Box<dyn Projected>,
    /// The state behind the last event that was listened to.
    state: Vec<u8>,
}

struct State {
    cells: Vec<Cell>,
    next_seq: u64,
    /// Digest of the last event.
    anchor: [u8; 32],
    subscribers: Vec<Subscriber>,
}

/// The projections of one live session, driven by its commits. Cells are folded from the log when
/// they are first needed, so that who registers late misses nothing. Copies are the same board.
#[derive(Clone)]
pub struct Board(Arc<Inner>);

struct Inner {
    registry: Registry,
    session: Session,
    header: SessionHeader,
    state: Mutex<State>,
}

impl Board {
    /// Follows a session from here on. Its header is that of the store.
    ///
    /// # Errors
    ///
    /// As [`Session::gate`].
    pub fn follow(
        registry: &Registry,
        session: &Session,
        header: SessionHeader,
    ) -> Result<Self, AppendError> {
        // Under the gate, so that no commit comes between the count and the observer.
        let mut gate = session.gate()?;
        let next_seq = gate.next_seq()?;
        let state = State { cells: Vec::new(), next_seq, anchor: [0; 32], subscribers: Vec::new() };
        let board = Arc::new(Inner {
            registry: registry.clone(),
            session: session.clone(),
            header,
            state: Mutex::new(state),
        });
        session.observe(board.clone());
        drop(gate);
        Ok(Self(board))
    }

    /// Calls somebody for every view that an event changes, on the thread that committed. A panic
    /// ends there.
    pub fn subscribe(&self, call: impl Fn(&Change) + Send + Sync + 'static) {
        self.0.lock().subscribers.push(Arc::new(call));
    }

    /// Returns all views that clients may see, at one moment.
    ///
    /// # Errors
    ///
    /// A view that must not be shown; a log that cannot be read.
    pub fn snapshot(&self) -> Result<Snapshot, ViewError> {
        let mut state = self.0.lock();
        self.0.catch_up(&mut state)?;
        let shown = state.cells.iter().filter(|cell| cell.unit.is_shown);
        let view = |cell: &Cell| Ok((cell.unit.key, cell.unit.view(&*cell.projection)?));
        let views = shown.map(view).collect::<Result<_, ViewError>>()?;
        Ok(Snapshot { last_seq: state.next_seq.checked_sub(1), views })
    }

    /// Returns one view, also one that clients do not see.
    ///
    /// # Errors
    ///
    /// [`ViewError::Unregistered`]; as [`Board::snapshot`].
    pub fn view(&self, key: &str) -> Result<String, ViewError> {
        let mut state = self.0.lock();
        self.0.catch_up(&mut state)?;
        match state.cells.iter().find(|cell| cell.unit.key == key) {
            Some(cell) => cell.unit.view(&*cell.projection),
            None => Err(ViewError::Unregistered { key: key.to_owned() }),
        }
    }

    /// Returns every state at one moment, for a cache: those that clients do not see included.
    ///
    /// # Errors
    ///
    /// A log that cannot be read.
    pub fn record(&self) -> Result<Record, ViewError> {
        let mut state = self.0.lock();
        self.0.catch_up(&mut state)?;
        if state.anchor == [0; 32] && state.next_seq > 0 {
            state.anchor = self.0.read_anchor(state.next_seq - 1)?;
        }
        let row = |cell: &Cell| Row {
            key: cell.unit.key.to_owned(),
            version: cell.unit.version,
            seq: state.next_seq,
            anchor: state.anchor,
            state: cell.state.clone(),
        };
        let rows = state.cells.iter().map(row).collect();
        Ok(Record { identity: Identity::of(&self.0.header), rows })
    }

    /// Returns the session.
    pub fn session(&self) -> &Session {
        &self.0.session
    }
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read_anchor(&self, seq: u64) -> Result<[u8; 32], ViewError> {
        let mut found = [0; 32];
        let read = self.session.read(seq, &mut |stored| {
            found = anchor(stored);
            ControlFlow::Break(())
        });
        read.map_err(|error| ViewError::Unread { what: error.to_string() })?;
        Ok(found)
    }

    /// Makes the cells of units that have none, and drops those whose unit is gone.
    fn catch_up(&self, state: &mut State) -> Result<(), ViewError> {
        let units = self.registry.units();
        let there = |cell: &Cell| {
            let same = |unit: &&Unit| unit.key == cell.unit.key;
            units.iter().find(same).is_some_and(|unit| unit.version == cell.unit.version)
        };
        state.cells.retain(there);
        let mut late: Vec<Cell> = Vec::new();
        for unit in &units {
            if state.cells.iter().all(|cell| cell.unit.key != unit.key) {
                let projection = unit.make(&self.header);
                late.push(Cell { unit: unit.clone(), projection, state: Vec::new() });
            }
        }
        if late.is_empty() {
            return Ok(());
        }
        let (next_seq, mut unread) = (state.next_seq, None);
        let read = self.session.read(0, &mut |stored| {
            if stored.seq >= next_seq {
                return ControlFlow::Break(());
            }
            let folded = with_event(stored, |event| {
                for cell in &mut late {
                    cell.projection.fold(event);
                }
            });
            match folded {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    unread = Some(error);
                    ControlFlow::Break(())
                }
            }
        });
        if let Some(error) = read.err().or(unread) {
            return Err(ViewError::Unread { what: error.to_string() });
        }
        for mut cell in late {
            cell.state = cell.projection.save();
            state.cells.push(cell);
        }
        let place = |cell: &Cell| units.iter().position(|unit| unit.key == cell.unit.key);
        state.cells.sort_by_key(place);
        Ok(())
    }

    fn drive(&self, stored: &Stored<'_>) -> Vec<Change> {
        let mut state = self.lock();
        // A log that cannot be read now is read when somebody asks.
        let caught_up = self.catch_up(&mut state).is_ok();
        let mut changes = Vec::new();
        for cell in &mut state.cells {
            if !caught_up || !cell.projection.listens().hears(stored.kind) {
                continue;
            }
            if with_event(stored, |event| cell.projection.fold(event)).is_err() {
                continue;
            }
            let after = cell.projection.save();
            if after == cell.state {
                continue;
            }
            cell.state = after;
            if cell.unit.is_shown {
                let view = cell.unit.view(&*cell.projection);
                changes.push(Change { key: cell.unit.key, seq: stored.seq, view });
            }
        }
        if !caught_up {
            state.cells.clear();
        }
        state.next_seq = stored.seq + 1;
        state.anchor = anchor(stored);
        changes
    }
}

impl Observer for Inner {
    fn committed(&self, _: &str, stored: &Stored<'_>) {
        let changes = self.drive(stored);
        let subscribers = self.lock().subscribers.clone();
        for change in &changes {
            for subscriber in &subscribers {
                let call = std::panic::AssertUnwindSafe(|| subscriber(change));
                drop(std::panic::catch_unwind(call));
            }
        }
    }

    fn rewound(&self, _: &str, next_seq: u64) {
        let mut state = self.lock();
        state.cells.clear();
        (state.next_seq, state.anchor) = (next_seq, [0; 32]);
    }
}

impl std::fmt::Debug for Board {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Board").field("session", &self.0.session).finish_non_exhaustive()
    }
}
