//! What is done to a store before it crashes.

use super::ledger::{Entry, Ledger, Promise};
use super::machine::FixedMachine;
use super::sloppy::{Sloppiness, Sloppy};
use gatelog_engine::backend::{AppendError, Backend, Batch, Durability, Row};
use gatelog_engine::log::{Log, LogConfig};
use gatelog_engine::rules::{Draft, SessionHeader};
use gatelog_engine::storage::sim::Fault;
use gatelog_engine::storage::{Sim, SimDisk, Volume};
use std::path::Path;
use std::sync::Arc;

/// Where the store of a trial lies.
pub const DIR: &str = "/store";

/// One step of a workload.
#[derive(Clone, Debug)]
pub enum Step {
    /// Creates a session, with one event.
    Create(&'static str, Durability),
    /// Appends a batch: so many events of so many bytes each.
    Append(&'static str, usize, usize, Durability),
    /// Lets the housekeeper have a turn.
    Tick,
    /// Closes the store and opens it again.
    Restart,
    /// The process dies, and another opens the store.
    Kill,
    /// Opens the store anew under the same lock, after it was poisoned.
    Reopen,
    /// From now on the disk fails.
    Fail(Fault),
    /// The disk is well again.
    Heal,
}

/// Steps, and the store that they are done to.
#[derive(Clone, Debug)]
pub struct Workload {
    /// A word for reports.
    pub name: &'static str,
    /// The steps.
    pub steps: Vec<Step>,
    /// How the store is opened.
    pub config: LogConfig,
    /// What the disk leaves undone.
    pub sloppiness: Option<Sloppiness>,
    /// A torn write spoils the physical sector of so many bytes; 0 for none.
    pub physical_sector: u64,
}

/// What a workload left: the disk at every moment, and the ledger.
pub struct Run {
    /// The state behind every operation of the disk.
    pub moments: Vec<Sim>,
    /// What was issued and promised.
    pub ledger: Ledger,
}

impl Workload {
    /// Makes a workload on the smallest segments.
    pub fn new(name: &'static str, steps: Vec<Step>) -> Self {
        let config =
            LogConfig { segment_bytes: 16 * 1024, has_housekeeper: false, ..LogConfig::default() };
        Self { name, steps, config, sloppiness: None, physical_sector: 0 }
    }

    /// Does the steps on a fresh disk.
    pub fn run(&self, seed: u64) -> Run {
        let sim = Sim::new(seed);
        if self.physical_sector > 0 {
            sim.torn_write_spoils_physical_sector(self.physical_sector);
        }
        self.run_on(&sim, seed, Ledger::default())
    }

    /// Does the steps on a disk; a session that is there is continued.
    pub fn run_on(&self, sim: &Sim, seed: u64, ledger: Ledger) -> Run {
        sim.record_moments();
        let mut at_work = AtWork {
            sim,
            machine: Arc::new(FixedMachine::new(seed)),
            config: self.config.clone(),
            sloppiness: self.sloppiness,
            ledger,
            number: 0,
        };
        let mut log = at_work.open();
        for step in &self.steps {
            let before = sim.trace().len();
            log = at_work.step(step, log);
            at_work.ledger.forgive(sim, before);
        }
        // The store is closed while the disk still records: a clean stop ends every workload. A
        // sync that fails then is known to nobody else.
        let before = sim.trace().len();
        close(log);
        at_work.ledger.forgive(sim, before);
        Run { moments: sim.take_moments(), ledger: at_work.ledger }
    }
}

struct AtWork<'a> {
    sim: &'a Sim,
    machine: Arc<FixedMachine>,
    config: LogConfig,
    sloppiness: Option<Sloppiness>,
    ledger: Ledger,
    number: u64,
}

/// Opens the store of a trial.
///
/// # Errors
///
/// As [`Log::open`].
pub fn open(
    disk: SimDisk,
    machine: Arc<FixedMachine>,
    config: &LogConfig,
    sloppiness: Option<Sloppiness>,
) -> Result<Log, gatelog_engine::backend::Error> {
    let mut volume: Arc<dyn Volume> = Arc::new(disk);
    if let Some(sloppiness) = sloppiness {
        volume = Arc::new(Sloppy::new(volume, Path::new(DIR), sloppiness));
    }
    Log::open(volume, Path::new(DIR), machine, config.clone())
}

/// Returns a batch whose payloads say whose they are.
pub fn batch(session: &str, first_seq: u64, events: usize, bytes: usize, number: u64) -> Batch {
    let payload = |seq: u64| {
        let mut text = format!("\"{session} {seq} {number} ");
        while text.len() + 1 < bytes {
            text.push(char::from(b'a' + (text.len() % 23) as u8));
        }
        text.push('"');
        text.into_bytes()
    };
    let row = |seq| Row { time_ms: 1_000 + number, draft: Draft::new("trial/event", payload(seq)) };
    Batch { first_seq, key: None, rows: (first_seq..).take(events).map(row).collect() }
}

/// Returns the header of a session of a trial.
pub fn header(session: &str) -> SessionHeader {
    SessionHeader { dialect: 0, json: format!("{{\"id\":\"{session}\"}}").into_bytes() }
}

/// Closes the store; what fails then is found at the next open, as after a crash.
fn close(log: Option<Log>) {
    drop(log.map(|log| log.close()));
}

impl AtWork<'_> {
    fn open(&self) -> Option<Log> {
        open(self.sim.disk(), self.machine.clone(), &self.config, self.sloppiness).ok()
    }

    fn step(&mut self, step: &Step, log: Option<Log>) -> Option<Log> {
        match step {
            Step::Fail(fault) => self.sim.fail(fault.clone()),
            Step::Heal => self.sim.heal(),
            Step::Kill => {
                self.sim.kill();
                drop(log);
                return self.open();
            }
            Step::Restart => {
                close(log);
                return self.open();
            }
            Step::Tick => log.iter().for_each(Log::tick),
            // A disk that still fails lets nobody in; the workload goes on without.
            Step::Reopen => log.iter().for_each(|log| drop(log.reopen())),
            Step::Create(session, class) => {
                if let Some(log) = &log {
                    self.create(log, session, *class);
                }
            }
            Step::Append(session, events, bytes, class) => {
                if let Some(log) = &log {
                    self.append(log, session, *events, *bytes, *class);
                }
            }
        }
        log
    }

    fn create(&mut self, log: &Log, session: &str, class: Durability) {
        self.number += 1;
        let batch = batch(session, 0, 1, 0, self.number);
        let issued_at = self.sim.operations();
        let made = log.create(session, &header(session), batch.clone(), class);
        self.enter(session, &batch, issued_at, &made.map(|_| class));
    }

    fn append(&mut self, log: &Log, session: &str, events: usize, bytes: usize, class: Durability) {
        // A rewind is told once; the append that is told did nothing.
        let _ = log.take_rewound(session);
        let Ok(Some(info)) = log.find(session) else { return };
        self.number += 1;
        let batch = batch(session, info.next_seq, events, bytes, self.number);
        let issued_at = self.sim.operations();
        let made = log.append(session, batch.clone(), class);
        self.enter(session, &batch, issued_at, &made.map(|_| class));
    }

    fn enter(
        &mut self,
        session: &str,
        batch: &Batch,
        issued_at: u64,
        made: &Result<Durability, AppendError>,
    ) {
        let promise = match made {
            Ok(class) => Promise::Reached(*class),
            Err(AppendError::Unknown(_)) => Promise::Open,
            Err(_) => Promise::Never,
        };
        self.ledger.enter(
            session,
            Entry {
                first_seq: batch.first_seq,
                payloads: batch.rows.iter().map(|row| row.draft.data.clone()).collect(),
                issued_at,
                answered_at: self.sim.operations(),
                promise,
                revoked_at: None,
            },
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gatelog_engine::storage::sim::{Call, Cause, Failure};

    /// Whether a written batch may be missing after the death of the process, once a call failed
    /// while the store was opened.
    fn is_forgiven(call: Call, name: &str) -> bool {
        let fault = Fault::new(call, Failure::Error(Cause::Eio)).on(name);
        let steps = vec![
            Step::Create("a", Durability::Synced),
            Step::Append("a", 1, 0, Durability::Written),
            Step::Fail(fault),
            Step::Reopen,
        ];
        let Run { moments, ledger } = Workload::new("an open fails", steps).run(1);
        let last = moments.last().expect("there are moments").operations();
        let created = batch("a", 0, 1, 0, 1).rows.remove(0).draft.data;
        ledger.judge("a", Some(&[created]), last, Durability::Written).is_ok()
    }

    #[test]
    fn only_a_failed_sync_of_a_segment_takes_a_promise_back() {
        assert!(is_forgiven(Call::Sync, "*.log"));
        for (call, name) in [
            (Call::Write, "spare-*"),
            (Call::Sync, "spare-*"),
            (Call::Rename, "spare-*"),
            (Call::SyncDir, DIR),
            (Call::Write, "STORE"),
            (Call::Sync, "STORE"),
        ] {
            assert!(!is_forgiven(call, name), "{call:?} {name}");
        }
    }
}
