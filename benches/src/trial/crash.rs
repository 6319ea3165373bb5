//! Every state that a crash may leave, opened; and recovery crashed while it opens them.

use super::agreement::Expected;
use super::explored::{self, Explored, Key};
use super::flips::Slice;
use super::ledger::Ledger;
use super::machine::FixedMachine;
use super::recorded::Recorded;
use super::tally::Tally;
use super::workload::{self, DIR, Run, Workload};
use gatelog_engine::backend::{Backend, Durability};
use gatelog_engine::log::Log;
use gatelog_engine::storage::{Sim, Storage, Volume};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How much of what is possible is tried.
#[derive(Clone, Copy, Debug)]
pub struct Enumeration {
    /// States drawn where a moment has too many units for all subsets.
    pub drawn: usize,
    /// One state in so many is opened; 1 for all.
    pub stride: u64,
    /// How deep recovery itself is crashed.
    pub depth: usize,
    /// One state in so many of a crashed recovery is opened.
    pub recovery_stride: u64,
    /// One class of recoveries in so many is crashed wholly, if any is.
    pub classes_one_in: Option<u64>,
    /// Where the choices begin.
    pub seed: u64,
}

impl Enumeration {
    /// Tries a workload; `progress` counts the states as they are opened.
    ///
    /// # Errors
    ///
    /// The first state that does not open, or that lost what was promised, in words.
    pub fn of(&self, workload: &Workload, progress: &AtomicU64) -> Result<Tally, String> {
        self.of_some(workload, 1, progress)
    }

    /// Tries a workload at one moment in so many, the last one among them.
    ///
    /// # Errors
    ///
    /// As [`Enumeration::of`].
    pub fn of_some(
        &self,
        workload: &Workload,
        one_in: usize,
        progress: &AtomicU64,
    ) -> Result<Tally, String> {
        let Run { moments, ledger } = workload.run(self.seed);
        let mut walk = Walk { tally: Tally::default(), explored: Explored::default() };
        let first = moments.len().saturating_sub(1) % one_in;
        for moment in moments.iter().skip(first).step_by(one_in) {
            walk.tally.moments += 1;
            let at = moment.operations();
            let told = |what: String| format!("{}, moment {at}: {what}", workload.name);
            let case = Case { ledger: &ledger, at, workload, seed: self.seed, progress };
            let killed = moment.clone();
            killed.heal();
            killed.kill();
            walk.tally.kills += 1;
            case.judge(&killed, Durability::Written)
                .map_err(|what| told(format!("kill: {what}")))?;
            let mut states = moment.crash_states(self.drawn, self.seed ^ at);
            while let Some(choice) = states.next_choice() {
                walk.tally.power_cuts_seen += 1;
                if !self.picks(walk.tally.power_cuts_seen, self.stride) {
                    continue;
                }
                let disk = states.state(&choice);
                disk.heal();
                let told = |what| told(format!("power cut {choice}: {what}"));
                self.state(&case, &disk, self.depth, &mut walk).map_err(told)?;
            }
        }
        walk.tally.images = walk.explored.images();
        walk.tally.classes = walk.explored.classes();
        Ok(walk.tally)
    }

    /// Whether the state of a number is opened; another seed picks others. They are not evenly
    /// spaced: the recoveries of a state that was picked would all lie before the next one.
    fn picks(&self, number: u64, one_in: u64) -> bool {
        Slice { one_in, seed: self.seed }.has(number)
    }

    /// Whether the recoveries of a class are crashed wholly.
    fn is_explored(&self, class: Key) -> bool {
        let number = class.iter().fold(0, |sum: u64, byte| sum << 8 ^ u64::from(*byte));
        self.classes_one_in.is_some_and(|one_in| self.picks(number, one_in))
    }

    /// Opens a state, unless one like it was opened; crashes that opening at every moment, so deep;
    /// crashes what follows it.
    fn state(
        &self,
        case: &Case<'_>,
        disk: &Sim,
        depth: usize,
        walk: &mut Walk,
    ) -> Result<(), String> {
        let cuts = self.depth - depth;
        walk.tally.states[cuts] += 1;
        if !walk.explored.enter_image(case.image(disk), depth) {
            return Ok(());
        }
        walk.tally.opened[cuts] += 1;
        let opened = disk.clone();
        opened.record_moments();
        let (log, class) = case.judge(&opened, Durability::Synced)?;
        let recovery = opened.take_moments();
        if depth > 0 {
            let is_new = walk.explored.enter_class(class, depth);
            let is_whole = is_new && self.is_explored(class);
            walk.tally.classes_at[cuts] += u64::from(is_whole);
            for moment in &recovery {
                let mut states = moment.crash_states(0, self.seed);
                while let Some(choice) = states.next_choice() {
                    walk.tally.recoveries_seen += 1;
                    let number = walk.tally.recoveries_seen;
                    if !is_whole && !self.picks(number, self.recovery_stride) {
                        continue;
                    }
                    let state = states.state(&choice);
                    state.heal();
                    self.state(case, &state, depth - 1, walk)
                        .map_err(|what| format!("recovery crashed {choice}: {what}"))?;
                }
            }
        }
        if depth == self.depth {
            walk.tally.generations += 1;
            second_generation(case, &opened, &log)?;
        }
        Ok(())
    }
}

/// A walk on its way.
struct Walk {
    tally: Tally,
    explored: Explored,
}

/// What was recovered is now promised: appends to every session, crashes, and opens again.
fn second_generation(case: &Case<'_>, disk: &Sim, log: &Log) -> Result<(), String> {
    let mut known = Vec::new();
    for session in case.ledger.sessions() {
        let Ok(Some(info)) = log.find(session) else { continue };
        let batch = workload::batch(session, info.next_seq, 1, 0, 1_000_000);
        log.append(session, batch, Durability::Synced)
            .map_err(|error| format!("second generation: {session}: {error:?}"))?;
        known.push((session.to_owned(), events(log, session)?));
    }
    // Everything that is durable now must be there after a cut that keeps nothing else, and
    // after one that keeps all.
    for keep in [false, true] {
        let state = disk.power_cut(|unit| keep && !unit.is_torn());
        let log = case.open(&state)?;
        for (session, events_before) in &known {
            let now = events(&log, session)?;
            if now != *events_before {
                return Err(format!(
                    "second generation: {session} had {} events, and has {}",
                    events_before.len(),
                    now.len()
                ));
            }
        }
    }
    Ok(())
}

struct Case<'a> {
    ledger: &'a Ledger,
    at: u64,
    workload: &'a Workload,
    seed: u64,
    progress: &'a AtomicU64,
}

impl Case<'_> {
    fn open(&self, disk: &Sim) -> Result<Log, String> {
        self.open_on(Arc::new(disk.disk()))
    }

    fn open_on(&self, volume: Arc<dyn Volume>) -> Result<Log, String> {
        let machine = Arc::new(FixedMachine::new(self.seed ^ 0x5EED));
        workload::open_on(volume, machine, &self.workload.config, self.workload.sloppiness)
            .map_err(|error| format!("refused ({:?} {:?}): {error}", error.kind, error.rule))
    }

    /// The key of all that decides what becomes of a disk after a power cut: names and bytes, and
    /// what is owed.
    fn image(&self, disk: &Sim) -> Key {
        let store = disk.stat(&Path::new(DIR).join("STORE")).map_or(0, |stat| stat.identity.inode);
        explored::key(&[&disk.digest(), &store.to_le_bytes(), &self.owed(Durability::Synced)])
    }

    fn owed(&self, survives: Durability) -> Key {
        self.ledger.owed(self.at, survives)
    }

    /// Opens a state and compares what it holds with the ledger; returns the class of its recovery.
    fn judge(&self, disk: &Sim, survives: Durability) -> Result<(Log, Key), String> {
        self.progress.fetch_add(1, Ordering::Relaxed);
        let expected = Expected::of(disk)?;
        let recorded = Recorded::new(Arc::new(disk.disk()));
        let log = self.open_on(Arc::new(recorded.clone()))?;
        let reading = explored::key_of_reading(expected.reading());
        let class = explored::key(&[&recorded.digest(), &reading, &self.owed(survives)]);
        expected.compare(&log, disk)?;
        for session in self.ledger.sessions() {
            let found = log.find(session).map_err(|error| error.to_string())?;
            let recovered = found.map(|_| events(&log, session)).transpose()?;
            self.ledger.judge(session, recovered.as_deref(), self.at, survives)?;
        }
        Ok((log, class))
    }
}

fn events(log: &Log, session: &str) -> Result<Vec<Vec<u8>>, String> {
    let mut events = Vec::new();
    log.read(session, 0, &mut |stored| {
        events.push(stored.data.to_vec());
        ControlFlow::Continue(())
    })
    .map_err(|error| format!("{session} cannot be read: {error}"))?;
    Ok(events)
}
