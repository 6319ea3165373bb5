//! Stores of the log itself, and stores that a raw writer forged, before the verifier.

mod forge;
mod forged;
mod lawful;
mod spoilt;

use super::{Finding, SessionCheck, SessionSink, Settings, Sinks, StoreCheck, check};
use crate::backend::{Backend as _, Batch, Durability, Error, RecordedRules, Row, Stored};
use crate::event::Place;
use crate::log::{Log, LogConfig};
use crate::machine::{Holder, Machine};
use crate::rules::{Draft, SessionHeader};
use crate::storage::{Sim, Storage, Volume};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Where the stores lie.
const DIR: &str = "/s";
/// The name of the first segment.
const FIRST: &str = "/s/00000000000000000001.log";

/// A machine whose clock and chance repeat.
#[derive(Default)]
struct Fixed(AtomicU64);

impl Machine for Fixed {
    fn now_ms(&self) -> u64 {
        1_000
    }

    fn random(&self, buffer: &mut [u8]) {
        for byte in buffer {
            let step = self.0.fetch_add(1, Ordering::Relaxed) + 1;
            *byte = (step.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as u8;
        }
    }

    fn holder(&self) -> Holder {
        Holder::default()
    }
}

/// Keeps what a session holds.
#[derive(Debug, Default, PartialEq, Eq)]
struct Kept {
    /// Seq, type, payload.
    events: Vec<(u64, String, Vec<u8>)>,
    /// The profile recorded before the last event.
    profile: Option<String>,
    malformed: usize,
    /// How many events it was told that it has at its end, once.
    ended: Option<u64>,
}

impl SessionSink for Kept {
    fn event(&mut self, stored: &Stored<'_>, place: Place, rules: Option<&RecordedRules>) {
        assert_eq!((place.seq, place.frame), (Some(stored.seq), stored.lsn));
        self.events.push((stored.seq, stored.kind.to_owned(), stored.data.to_vec()));
        self.profile = rules.map(|rules| rules.profile.clone());
    }

    fn malformed(&mut self, _: &str, _: Place) {
        self.malformed += 1;
    }

    fn end(&mut self, events: u64, _: bool) {
        assert_eq!(self.ended.replace(events), None, "it ends once");
    }

    fn state_bytes(&self) -> usize {
        if self.ended.is_some() { 0 } else { 1_000 + 10 * self.events.len() }
    }
}

struct Keep;

impl Sinks for Keep {
    type Sink = Kept;

    fn session(&self, _: &str, _: &SessionHeader) -> Kept {
        Kept::default()
    }
}

fn verify(storage: &dyn Storage, dir: &Path) -> Result<StoreCheck<Kept>, Error> {
    check(storage, dir, &Keep, Settings::default(), &|_| {})
}

/// Verifies the store of a disk; nothing on the disk may change.
fn checked(sim: &Sim) -> StoreCheck<Kept> {
    let before = sim.digest();
    let check = verify(&sim.disk(), Path::new(DIR)).expect("it can be read");
    assert_eq!(sim.digest(), before, "a reader changed the disk");
    check
}

fn rules(check: &StoreCheck<Kept>) -> Vec<&'static str> {
    check.findings.iter().map(|finding: &Finding| finding.rule).collect()
}

fn open_on(volume: Arc<dyn Volume>, dir: &Path) -> Result<Log, Error> {
    let config =
        LogConfig { segment_bytes: 16 << 10, has_housekeeper: false, ..LogConfig::default() };
    Log::open(volume, dir, Arc::new(Fixed::default()), config)
}

fn open(sim: &Sim) -> Log {
    open_on(Arc::new(sim.disk()), Path::new(DIR)).expect("the store opens")
}

fn batch(first_seq: u64, count: u64) -> Batch {
    let row = |seq| Row { time_ms: 1_000 + seq, draft: Draft::new("a/b", format!("{seq}")) };
    Batch { first_seq, key: None, rows: (first_seq..first_seq + count).map(row).collect() }
}

fn create(log: &Log, id: &str) {
    let header = SessionHeader { dialect: 0, json: b"{}".to_vec() };
    log.create(id, &header, batch(0, 1), Durability::Synced).expect("it is created");
}

fn append(log: &Log, id: &str, first_seq: u64, count: u64) {
    log.append(id, batch(first_seq, count), Durability::Synced).expect("it is appended");
}

/// Writes a store of two sessions and several segments, and leaves it as a kill does.
fn crashed() -> Sim {
    let sim = Sim::new(7);
    let log = open(&sim);
    let (profile, version) = ("strict".to_owned(), 1);
    let types = vec![("a/b".to_owned(), "acme".to_owned(), false)];
    log.record_rules(&RecordedRules { profile, version, types }).expect("they are recorded");
    create(&log, "one");
    create(&log, "two");
    for seq in 0..6 {
        append(&log, "one", 1 + 2 * seq, 2);
        append(&log, "two", 1 + seq, 1);
    }
    sim.kill();
    drop(log);
    sim
}

/// The same, closed.
fn closed() -> Sim {
    let sim = crashed();
    let log = open(&sim);
    append(&log, "one", 13, 1);
    log.close().expect("it closes");
    sim
}

/// Returns the paths of the segments.
fn segments(sim: &Sim) -> Vec<std::path::PathBuf> {
    let mut paths = sim.files();
    paths.retain(|path| path.extension() == Some("log".as_ref()));
    paths.sort();
    paths
}
