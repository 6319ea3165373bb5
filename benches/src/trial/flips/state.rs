//! The stores that are damaged, and what is asked of them then.

use super::change::Change;
use super::outcome::Outcome;
use crate::trial::agreement::{events, files};
use crate::trial::ledger::Ledger;
use crate::trial::machine::FixedMachine;
use crate::trial::reference::{self, Depth, Event, Files, Reading, Verdict};
use crate::trial::workload::{self, DIR, Step, Workload, batch};
use gatelog_engine::backend::Durability::{Buffered, Synced};
use gatelog_engine::backend::{Backend, Durability, ErrorKind};
use gatelog_engine::log::{Log, LogConfig};
use gatelog_engine::storage::Sim;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// A store at rest, and what it holds.
pub struct State {
    /// What it is called in the table.
    pub name: &'static str,
    /// Its files.
    pub files: Files,
    /// What its files were at every moment before.
    pub older: Vec<Files>,
    /// The files of another store that went the same way.
    pub foreign: Files,
    /// What the reference reader says of it.
    pub reading: Reading,
    config: LogConfig,
    next: Next,
    sessions: BTreeMap<String, Vec<Event>>,
}

/// Seq and lsn of the next append to each session.
type Next = Vec<(u64, Option<u64>)>;

impl State {
    /// Returns the three states: crashed with no witness beside the segments that covers the last
    /// group, crashed with `DURABLE`, and closed.
    ///
    /// # Errors
    ///
    /// What could not be made, in words.
    pub fn all(seed: u64) -> Result<Vec<State>, String> {
        Ok(vec![
            State::make("crashed", seed, |moments| {
                let mut files = crashed(moments)?;
                files.remove("DURABLE");
                Ok(files)
            })?,
            State::make("crashed, DURABLE", seed, crashed)?,
            State::make("closed", seed, |moments| {
                files(moments.last().ok_or("nothing was recorded")?)
            })?,
        ])
    }

    fn make(
        name: &'static str,
        seed: u64,
        pick: impl Fn(&[Sim]) -> Result<Files, String>,
    ) -> Result<State, String> {
        let (ours, theirs) = (story(seed)?, story(seed ^ 0xF0E1)?);
        let config = grown();
        let all = pick(&ours)?;
        let older = ours.iter().map(files).collect::<Result<_, _>>()?;
        let reading = reference::read(&all, Depth::Whole);
        let log = open(&all, &config).map_err(|error| format!("{name}: {error}"))?;
        let found = log.sessions().map_err(|error| error.to_string())?;
        let mut sessions = BTreeMap::new();
        for info in found {
            sessions.insert(info.id.clone(), events(&log, &info.id)?);
        }
        let next = next(&log, &sessions)?;
        let foreign = pick(&theirs)?;
        Ok(State { name, files: all, older, foreign, reading, config, next, sessions })
    }

    /// Returns every bit of the frames that no witness vouches for: file, and number of the bit.
    pub fn unconfirmed_bits(&self) -> impl Iterator<Item = (String, usize)> + '_ {
        let frames = self.reading.frames.iter();
        let above = frames.filter(|frame| self.reading.is_unconfirmed(frame.lsn));
        above.flat_map(|frame| {
            let from = frame.offset as usize * 8;
            let bits = from..from + frame.bytes as usize * 8;
            bits.map(|bit| (segment_name(frame.segment), bit))
        })
    }

    /// Damages the store, opens it, and says what became of it.
    pub fn attempt(&self, change: &Change) -> Outcome {
        let files = change.apply(&self.files);
        let reading = reference::read(&files, Depth::Open);
        let opened = open(&files, &self.config);
        let said = (reading.verdict, reading.row);
        let log = match (opened, reading.verdict) {
            (Ok(log), Verdict::New | Verdict::Clean | Verdict::Torn) => log,
            (Err(error), Verdict::Corrupt(rule)) if error.rule == Some(rule) => {
                return Outcome::Refused(rule);
            }
            (Err(error), Verdict::Unsupported) if error.kind == ErrorKind::Unsupported => {
                return Outcome::Refused("format/unsupported");
            }
            (Err(error), _) => return Outcome::Disagreed(format!("{said:?}, and: {error}")),
            (Ok(_), _) => return Outcome::Disagreed(format!("{said:?}, and it was opened")),
        };
        let last_lsn = reading.end.map_or(0, |end| end.lsn);
        if log.progress().1 != last_lsn {
            let progress = log.progress();
            return Outcome::Disagreed(format!("{said:?}, lsn {last_lsn}, and: {progress:?}"));
        }
        self.compare(&log, &files, &reading)
    }

    fn compare(&self, log: &Log, files: &Files, reading: &Reading) -> Outcome {
        let cut = self.reading.frames.iter().filter(|frame| {
            let damaged = |file: &Vec<u8>| {
                let (from, to) = (frame.offset as usize, (frame.offset + frame.bytes) as usize);
                file.get(from..to).map(<[u8]>::to_vec)
            };
            let name = segment_name(frame.segment);
            files.get(&name).and_then(damaged) != self.files.get(&name).and_then(damaged)
        });
        // What the reference reader computes: a damaged frame that no witness vouches for.
        let is_undecidable = cut.clone().any(|frame| reading.is_unconfirmed(frame.lsn));
        let mut is_less = false;
        for (id, before) in &self.sessions {
            let now = match events(log, id) {
                Ok(now) => now,
                Err(_) if log.find(id).is_ok_and(|found| found.is_none()) => Vec::new(),
                Err(_) if reference::read(files, Depth::Whole).verdict != reading.verdict => {
                    return Outcome::RefusedAtRead;
                }
                Err(error) => return Outcome::Disagreed(error),
            };
            if !before.starts_with(&now) {
                return Outcome::Lost(format!("session {id} has other events"));
            }
            is_less |= now.len() < before.len();
        }
        let last_lsn = reading.end.map_or(0, |end| end.lsn);
        let lost = self.reading.frames.iter().map(|frame| frame.lsn).filter(|lsn| *lsn > last_lsn);
        if let Some(lsn) = lost.clone().find(|lsn| !reading.is_unconfirmed(*lsn)) {
            return Outcome::Lost(format!("frame {lsn} is gone; W = {}", reading.w));
        }
        let is_cut = lost.count() > 0;
        if is_less && !is_cut {
            return Outcome::Lost("events are gone and no frame is".into());
        }
        if is_cut != is_undecidable {
            let said = reading.row;
            return Outcome::Disagreed(format!("by {said}: cut is {is_cut}, and is not computed"));
        }
        if is_cut {
            return Outcome::Undecidable;
        }
        match next(log, &self.sessions) {
            Ok(next) if next == self.next => Outcome::Harmless,
            Ok(next) => Outcome::Lost(format!("next appends are {next:?}, not {:?}", self.next)),
            Err(error) => Outcome::Lost(format!("no next append: {error}")),
        }
    }
}

fn segment_name(first_lsn: u64) -> String {
    format!("{first_lsn:020}.log")
}

/// The disk at every moment of two generations, of which the first is killed.
///
/// The first segment ends with a rotation, the second is what the kill left and has no table, the
/// third is rotated again; the last one has several groups, of one frame and of several.
fn story(seed: u64) -> Result<Vec<Sim>, String> {
    let first = vec![
        Step::Create("a", Synced),
        Step::Create("b", Buffered),
        Step::Append("a", 1, 1500, Synced),
    ];
    let second = vec![
        Step::Append("b", 2, 300, Synced),
        Step::Append("a", 1, 0, Synced),
        Step::Append("b", 1, 0, Synced),
        Step::Append("a", 1, 0, Buffered),
        Step::Append("b", 1, 500, Buffered),
        Step::Append("a", 3, 200, Synced),
    ];
    let mut moments = Workload::new("first generation", first).run(seed).moments;
    while !is_crashed(moments.last().ok_or("no moment has a whole last group")?)? {
        moments.pop();
    }
    let sim = moments[moments.len() - 1].clone();
    sim.kill();
    let second = Workload { config: grown(), ..Workload::new("second generation", second) };
    moments.extend(second.run_on(&sim, seed ^ 0x2ECD, Ledger::default()).moments);
    Ok(moments)
}

/// The last segment is twice as large as those before it, so that it has room for groups.
fn grown() -> LogConfig {
    LogConfig { segment_bytes: 32 << 10, ..Workload::new("", Vec::new()).config }
}

/// Whether the last group was just synced, and `DURABLE` says so.
fn is_crashed(moment: &Sim) -> Result<bool, String> {
    let reading = reference::read(&files(moment)?, Depth::Whole);
    let has_stopped = reading.frames.iter().any(|frame| matches!(frame.kind, 3 | 4));
    Ok(!has_stopped && reading.witness == "DURABLE")
}

/// The files of the last moment at which the last group was synced, and `DURABLE` said so.
fn crashed(moments: &[Sim]) -> Result<Files, String> {
    for moment in moments.iter().rev() {
        if is_crashed(moment)? {
            return files(moment);
        }
    }
    Err("no moment has a whole last group".into())
}

fn open(files: &Files, config: &LogConfig) -> Result<Log, gatelog_engine::backend::Error> {
    let placed = files.iter().map(|(name, bytes)| (Path::new(DIR).join(name), bytes.clone()));
    let sim = Sim::with_files(1, placed).expect("files in one directory can be put");
    workload::open(sim.disk(), Arc::new(FixedMachine::new(7)), config, None)
}

/// Appends to every session, and returns where that came.
fn next(log: &Log, sessions: &BTreeMap<String, Vec<Event>>) -> Result<Next, String> {
    let appended = sessions.iter().map(|(id, events)| {
        let batch = batch(id, events.len() as u64, 1, 0, 1_000_000);
        let commit = log.append(id, batch, Durability::Synced);
        let commit = commit.map_err(|error| format!("{id}: {error:?}"))?;
        Ok((commit.first_seq, commit.lsn))
    });
    appended.collect()
}
