//! A write fails after so many of its bytes, the same bytes are appended again at once, and the
//! machine crashes: what was said not to be written never appears.

use super::ledger::{Entry, Ledger, Promise};
use super::workload::{DIR, batch, header};
use gatelog_engine::backend::{AppendError, Backend, Batch, Durability};
use gatelog_engine::log::{Log, LogConfig};
use gatelog_engine::machine::{Holder, Machine};
use gatelog_engine::storage::Sim;
use gatelog_engine::storage::sim::{Call, Cause, Failure, Fault};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A machine whose clock stands.
#[derive(Debug, Default)]
struct Frozen(AtomicU64);

impl Machine for Frozen {
    fn now_ms(&self) -> u64 {
        1_000
    }

    fn random(&self, buffer: &mut [u8]) {
        for byte in buffer {
            let n = self.0.fetch_add(0x9E37_79B9_7F4A_7C15, Ordering::Relaxed);
            *byte = (n.wrapping_mul(n | 1) >> 47) as u8;
        }
    }

    fn holder(&self) -> Holder {
        Holder::default()
    }
}

/// One write that fails.
#[derive(Clone, Copy, Debug)]
pub struct Repeated {
    /// Which write, counted from 1 when the store and its session are there.
    pub nth: u64,
    /// How many of its bytes the disk takes.
    pub bytes: usize,
    /// Why the rest is not taken.
    pub cause: Cause,
    /// What the appends ask for.
    pub class: Durability,
    /// States drawn for each moment.
    pub drawn: usize,
    /// Of the states that a power cut may leave one in so many is opened, others each time.
    pub one_in: usize,
}

/// What was tried.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tried {
    /// Workloads.
    pub runs: u64,
    /// Those in which an append failed.
    pub failed: u64,
    /// Appends that were not written.
    pub not_written: u64,
    /// Appends of which nobody knows.
    pub unknown: u64,
    /// States that were opened.
    pub states: u64,
}

/// Batches that are appended behind the failure: enough for a sync of each class and a rotation.
const BATCHES_AFTER: usize = 3;

impl Tried {
    /// Adds another.
    pub fn add(&mut self, other: Tried) {
        self.runs += other.runs;
        self.failed += other.failed;
        self.not_written += other.not_written;
        self.unknown += other.unknown;
        self.states += other.states;
    }
}

impl Repeated {
    /// Runs one workload and opens what a crash leaves at every moment since the failure.
    ///
    /// # Errors
    ///
    /// What was there and was not to be, or the other way about, in words.
    pub fn run(&self, tried: &mut Tried) -> Result<(), String> {
        let told = |what: String| format!("{self:?}: {what}");
        self.case(tried).map_err(told)
    }

    fn case(&self, tried: &mut Tried) -> Result<(), String> {
        let sim = Sim::new(self.nth);
        let log = open(&sim).map_err(|error| error.to_string())?;
        let mut book = Written { sim: &sim, ledger: Ledger::default() };
        let first = batch("a", 0, 1, 0, 0);
        let issued_at = sim.operations();
        let made = log.create("a", &header("a"), first.clone(), Durability::Synced);
        book.enter(&first, issued_at, &made.map(|commit| commit.durability));
        tried.runs += 1;
        let failure = Failure::ShortError(self.bytes, self.cause);
        // `DURABLE` is a witness more: that it cannot be written fails nothing.
        sim.fail(Fault::new(Call::Write, failure).on("*.log").after(self.nth - 1));
        let mut failed_at = None;
        let mut left = BATCHES_AFTER;
        // An append is a write of the log, or more where it rotates.
        for number in 1..=self.nth + BATCHES_AFTER as u64 {
            // What was recorded before this append is forgotten: it did not fail.
            if failed_at.is_none() {
                sim.record_moments();
            } else if left == 0 {
                break;
            } else {
                left -= 1;
            }
            let info = log.find("a").map_err(|error| error.to_string())?;
            let next_seq = info.ok_or("the session is not there")?.next_seq;
            let batch = batch("a", next_seq, 3, 1_250, number);
            for _ in 0..2 {
                let issued_at = sim.operations();
                let ended = log.append("a", batch.clone(), self.class);
                let is_done = ended.is_ok();
                match &ended {
                    Err(AppendError::NotWritten(_)) => tried.not_written += 1,
                    Err(AppendError::Unknown(_)) => tried.unknown += 1,
                    _ => {}
                }
                book.enter(&batch, issued_at, &ended.map(|commit| commit.durability));
                if is_done {
                    break;
                }
                // The same bytes, again, at once.
                failed_at = failed_at.or(Some(issued_at));
            }
        }
        let moments = sim.take_moments();
        let Some(failed_at) = failed_at else { return Ok(()) };
        tried.failed += 1;
        for moment in moments.iter().filter(|moment| moment.operations() >= failed_at) {
            let at = moment.operations();
            let killed = moment.clone();
            killed.heal();
            killed.kill();
            let after = |what: String| format!("moment {at}: {what}");
            book.judge(&killed, at, Durability::Written).map_err(after)?;
            tried.states += 1;
            let states = moment.crash_states(self.drawn, at);
            let first = at as usize % self.one_in;
            for (choice, state) in states.skip(first).step_by(self.one_in) {
                state.heal();
                let after = |what: String| format!("moment {at}, {choice}: {what}");
                book.judge(&state, at, Durability::Synced).map_err(after)?;
                tried.states += 1;
            }
        }
        Ok(())
    }
}

fn open(sim: &Sim) -> Result<Log, gatelog_engine::backend::Error> {
    let config =
        LogConfig { segment_bytes: 64 * 1024, has_housekeeper: false, ..LogConfig::default() };
    Log::open(Arc::new(sim.disk()), Path::new(DIR), Arc::new(Frozen::default()), config)
}

struct Written<'a> {
    sim: &'a Sim,
    ledger: Ledger,
}

impl Written<'_> {
    fn enter(&mut self, batch: &Batch, issued_at: u64, ended: &Result<Durability, AppendError>) {
        let promise = match ended {
            Ok(class) => Promise::Reached(*class),
            Err(AppendError::Unknown(_)) => Promise::Open,
            Err(_) => Promise::Never,
        };
        self.ledger.enter(
            "a",
            Entry {
                first_seq: batch.first_seq,
                payloads: batch.rows.iter().map(|row| row.draft.data.clone()).collect(),
                // Before its first operation it can have left nothing.
                issued_at: issued_at + 1,
                answered_at: self.sim.operations(),
                promise,
                revoked_at: None,
            },
        );
    }

    fn judge(&self, disk: &Sim, at: u64, survives: Durability) -> Result<(), String> {
        let log = open(disk).map_err(|error| format!("refused ({:?}): {error}", error.rule))?;
        let mut events = Vec::new();
        let read = log.read("a", 0, &mut |stored| {
            events.push(stored.data.to_vec());
            ControlFlow::Continue(())
        });
        read.map_err(|error| error.to_string())?;
        self.ledger.judge("a", Some(&events), at, survives)
    }
}
