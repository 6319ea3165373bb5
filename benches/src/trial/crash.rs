//! Every state that a crash may leave, opened; and recovery crashed while it opens them.

use super::agreement::Expected;
use super::flips::Slice;
use super::ledger::Ledger;
use super::machine::FixedMachine;
use super::workload::{self, Run, Workload};
use gatelog_engine::backend::{Backend, Durability};
use gatelog_engine::log::Log;
use gatelog_engine::storage::Sim;
use std::ops::ControlFlow;
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
    /// Where the choices begin.
    pub seed: u64,
}

/// What was tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Moments at which a crash was tried.
    pub moments: u64,
    /// States that were opened after a power cut.
    pub power_cuts: u64,
    /// States that a power cut left, opened or not.
    pub power_cuts_seen: u64,
    /// States that were opened after the death of the process.
    pub kills: u64,
    /// States that were opened after recovery itself had crashed, however often.
    pub recoveries: u64,
    /// Those of them before which the recovery of a crashed recovery had crashed as well.
    pub recoveries_twice: u64,
    /// States that a crashed recovery left, opened or not.
    pub recoveries_seen: u64,
    /// States of a second generation: opened, written, crashed, and opened again.
    pub generations: u64,
}

impl Tally {
    /// Adds another tally.
    pub fn add(&mut self, other: Tally) {
        self.moments += other.moments;
        self.power_cuts += other.power_cuts;
        self.power_cuts_seen += other.power_cuts_seen;
        self.kills += other.kills;
        self.recoveries += other.recoveries;
        self.recoveries_twice += other.recoveries_twice;
        self.recoveries_seen += other.recoveries_seen;
        self.generations += other.generations;
    }
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
        let mut tally = Tally::default();
        let first = moments.len().saturating_sub(1) % one_in;
        for moment in moments.iter().skip(first).step_by(one_in) {
            tally.moments += 1;
            let at = moment.operations();
            let told = |what: String| format!("{}, moment {at}: {what}", workload.name);
            let case = Case { ledger: &ledger, at, workload, seed: self.seed, progress };
            let killed = moment.clone();
            killed.heal();
            killed.kill();
            tally.kills += 1;
            case.judge(&killed, Durability::Written)
                .map_err(|what| told(format!("kill: {what}")))?;
            let mut states = moment.crash_states(self.drawn, self.seed ^ at);
            while let Some(choice) = states.next_choice() {
                tally.power_cuts_seen += 1;
                if !self.picks(tally.power_cuts_seen, self.stride) {
                    continue;
                }
                tally.power_cuts += 1;
                let disk = states.state(&choice);
                disk.heal();
                let told = |what| told(format!("power cut {choice}: {what}"));
                self.state(&case, &disk, self.depth, &mut tally).map_err(told)?;
            }
        }
        Ok(tally)
    }

    /// Whether the state of a number is opened; another seed picks others. They are not evenly
    /// spaced: the recoveries of a state that was picked would all lie before the next one.
    fn picks(&self, number: u64, one_in: u64) -> bool {
        Slice { one_in, seed: self.seed }.has(number)
    }

    /// Opens a state; crashes that opening at every moment, so deep; crashes what follows it.
    fn state(
        &self,
        case: &Case<'_>,
        disk: &Sim,
        depth: usize,
        tally: &mut Tally,
    ) -> Result<(), String> {
        let opened = disk.clone();
        opened.record_moments();
        let log = case.judge(&opened, Durability::Synced)?;
        let recovery = opened.take_moments();
        if depth > 0 {
            for moment in &recovery {
                let mut states = moment.crash_states(0, self.seed);
                while let Some(choice) = states.next_choice() {
                    tally.recoveries_seen += 1;
                    if !self.picks(tally.recoveries_seen, self.recovery_stride) {
                        continue;
                    }
                    tally.recoveries += 1;
                    tally.recoveries_twice += u64::from(depth < self.depth);
                    let state = states.state(&choice);
                    state.heal();
                    self.state(case, &state, depth - 1, tally)
                        .map_err(|what| format!("recovery crashed {choice}: {what}"))?;
                }
            }
        }
        if depth == self.depth {
            tally.generations += 1;
            second_generation(case, &opened, &log)?;
        }
        Ok(())
    }
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
        let machine = Arc::new(FixedMachine::new(self.seed ^ 0x5EED));
        workload::open(disk.disk(), machine, &self.workload.config, self.workload.sloppiness)
            .map_err(|error| format!("refused ({:?} {:?}): {error}", error.kind, error.rule))
    }

    /// Opens a state and compares what it holds with the ledger.
    fn judge(&self, disk: &Sim, survives: Durability) -> Result<Log, String> {
        self.progress.fetch_add(1, Ordering::Relaxed);
        let expected = Expected::of(disk)?;
        let log = self.open(disk)?;
        expected.compare(&log, disk)?;
        for session in self.ledger.sessions() {
            let found = log.find(session).map_err(|error| error.to_string())?;
            let recovered = found.map(|_| events(&log, session)).transpose()?;
            self.ledger.judge(session, recovered.as_deref(), self.at, survives)?;
        }
        Ok(log)
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
