//! What a cache may do to what is read: save time, and nothing else.

use super::ladder::{change, cold, read, told};
use super::{board, mode, one, permissions, policy, registry, switches, whole_turn};
use crate::support::header;
use gatelog_engine::backend::Durability;
use gatelog_engine::rules::Draft;
use gatelog_engine::storage::Sim;
use gatelog_validator::board::ladder::{self, Rung};
use gatelog_validator::board::{Keeper, MemoryRecords, Pace, Record, RecordDir, Records};
use std::io;
use std::sync::{Arc, Mutex};

#[tokio::test]
async fn pc_01_a_record_of_another_log_is_left_aside_whole() {
    let (world, _session, registry, records) = told();
    change(&records, |record| record.identity.cwd = "\"/elsewhere\"".to_owned());
    assert_eq!(ladder::list(&registry, &records, "a", &header("a")).views, []);
    assert_eq!(read(&registry, &records, &world).rung, Rung::Full);
    assert_eq!(read(&registry, &records, &world).rung, Rung::Tail, "it was kept anew");
}

#[tokio::test]
async fn s_184_another_cwd_or_another_time_of_creation_discards_the_record() {
    for part in 0..2 {
        let (world, _session, registry, records) = told();
        change(&records, |record| match part {
            0 => record.identity.created = "2".to_owned(),
            _ => record.identity.cwd = "\"/other\"".to_owned(),
        });
        assert_eq!(ladder::list(&registry, &records, "a", &header("a")).views, []);
        let read = read(&registry, &records, &world);
        assert_eq!((read.rung, read.events_read), (Rung::Full, 5));
    }
}

#[tokio::test]
async fn s_181_a_row_of_version_1_is_ignored_and_the_log_is_folded() {
    let (world, _session, registry, records) = told();
    change(&records, |record| {
        record.rows[1].version = 1;
        record.rows[1].state = br#"{"preset":"wrong"}"#.to_vec();
    });
    let read = read(&registry, &records, &world);
    assert_eq!(read.rung, Rung::Full);
    assert!(read.views[1].1.contains(r#""approval":"never""#), "{}", read.views[1].1);
}

#[tokio::test]
async fn s_183_a_state_that_does_not_fit_is_absent_from_a_listing_and_folded_anew() {
    let (world, _session, registry, records) = told();
    change(&records, |record| record.rows[0].state = vec![1, 2, 3]);
    let keys: Vec<_> = ladder::list(&registry, &records, "a", &header("a")).views;
    assert_eq!(keys.iter().map(|(key, _)| *key).collect::<Vec<_>>(), ["permissions"]);
    let read = read(&registry, &records, &world);
    assert_eq!(read.views[0], ("switches", "3".to_owned()));
}

/// Records that cannot be kept.
struct Full;

impl Records for Full {
    fn load(&self, _: &str) -> Option<Record> {
        None
    }

    fn save(&self, _: &str, _: &Record) -> io::Result<()> {
        Err(io::ErrorKind::StorageFull.into())
    }
}

#[tokio::test]
async fn pc_09_a_record_that_cannot_be_kept_fails_no_read() {
    let (world, _session, registry, _) = told();
    let read = read(&registry, &Full, &world);
    assert_eq!(read.views[0], ("switches", "3".to_owned()));
    assert!(read.not_kept.is_some());
}

#[tokio::test]
async fn s_094_a_cache_that_cannot_be_written_is_reported_and_the_value_returned() {
    let (world, _session, registry, _) = told();
    let read = ladder::read(&registry, &Full, &*cold(&world), "a").expect("it is there");
    assert_eq!(read.views.len(), 2);
    let said = read.not_kept.expect("it could not be kept");
    assert!(!said.is_empty());
}

/// Remembers which seq each record was kept at.
#[derive(Default)]
struct Kept(Mutex<Vec<u64>>);

impl Kept {
    fn seqs(&self) -> Vec<u64> {
        self.0.lock().expect("sound").clone()
    }
}

impl Records for Kept {
    fn load(&self, _: &str) -> Option<Record> {
        None
    }

    fn save(&self, _: &str, record: &Record) -> io::Result<()> {
        self.0.lock().expect("sound").push(record.rows[0].seq);
        Ok(())
    }
}

#[tokio::test]
async fn pc_11_records_are_kept_at_turn_ends_by_count_by_interval_and_at_the_end() {
    let (_world, session) = one("a");
    let (registry, _guards) = registry([switches(1)]);
    let board = board(&registry, &session);
    let kept = Arc::new(Kept::default());
    let pace = Pace { events: 4, interval_ms: 1_000 };
    let keeper = Keeper::attach(&board, kept.clone(), pace, |_| {});
    whole_turn(&session, 1);
    assert_eq!(kept.seqs(), [2], "the end of a turn");
    (0..5).for_each(|_| mode(&session, "read-only"));
    assert_eq!(kept.seqs(), [2, 6], "four events later");
    let at = |time_ms| Draft {
        time_ms: Some(time_ms),
        ..Draft::new("approval/policy", r#"{"policy":"ask"}"#)
    };
    let now = u64::try_from(
        std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .expect("it is later than 1970")
            .as_millis(),
    )
    .expect("it fits");
    session.append([at(now + 5_000)], Durability::Synced).expect("it is lawful");
    assert_eq!(kept.seqs(), [2, 6, 8], "long after the last");
    policy(&session, "ask");
    keeper.detach();
    assert_eq!(kept.seqs(), [2, 6, 8, 9], "and where it is detached");
}

#[tokio::test]
async fn pc_12_a_record_never_leads_the_log() {
    let (world, session) = one("a");
    let (registry, _guards) = registry([switches(1)]);
    let board = board(&registry, &session);
    let kept = Arc::new(Kept::default());
    let keeper = Keeper::attach(&board, kept.clone(), Pace::default(), |_| {});
    crate::support::start_turn(&session, 1);
    let end = crate::support::turn_end(1);
    session.append([end], Durability::Buffered).expect("nothing is open in it");
    assert_eq!(kept.seqs(), Vec::<u64>::new(), "the turn's end is not durable yet");
    keeper.detach();
    assert_eq!(kept.seqs(), [2]);
    let cut = world.sim.power_cut(|_| false);
    let events = crate::support::open(
        world.kind,
        &cut,
        gatelog_validator::standard::Standard::new(world.rules),
        &crate::support::Faults::default(),
    );
    let found = events.list().expect("it is sound");
    assert_eq!(found[0].next_seq, 2, "what the record says is durable");
}

#[tokio::test]
async fn pc_13_a_stale_or_broken_cache_costs_time_and_never_a_value() {
    let (world, session, registry, records) = told();
    let right = read(&registry, &MemoryRecords::default(), &world).views;
    let record = records.load("a").expect("it was kept").encode();
    for at in 0..record.len() {
        let mut broken = record.clone();
        broken[at] ^= 0x10;
        assert_eq!(Record::decode(&broken), None, "byte {at} is covered");
        assert_eq!(Record::decode(&record[..at]), None, "cut at {at}");
    }
    mode(&session, "workspace-write");
    let fresh = read(&registry, &records, &world);
    assert_eq!(fresh.rung, Rung::Tail);
    let whole = read(&registry, &MemoryRecords::default(), &world);
    assert_eq!(fresh.views, whole.views);
    assert_ne!(fresh.views, right);
}

#[tokio::test]
async fn pc_14_nothing_is_folded_across_a_seq_that_is_missing() {
    let (world, _session, registry, _) = told();
    let records = MemoryRecords::default();
    let gappy = super::gappy::Gappy(cold(&world));
    let error = ladder::read(&registry, &records, &gappy, "a");
    assert!(error.is_err(), "a view over a log with a gap would be wrong");
}

#[tokio::test]
async fn a_directory_of_records_keeps_the_last_one_and_survives_rot() {
    let sim = Sim::new(1);
    let dir = RecordDir::new(Arc::new(sim.disk()), "/cache");
    let (_world, _session, _registry, records) = told();
    let record = records.load("a").expect("it was kept");
    assert_eq!(dir.load("../../etc/passwd"), None);
    dir.save("../../etc/passwd", &record).expect("there is room");
    dir.save("../../etc/passwd", &record).expect("there is room");
    assert_eq!(dir.load("../../etc/passwd"), Some(record));
    let files = sim.files();
    let inside = files.iter().all(|path| path.starts_with("/cache"));
    assert!(inside && files.len() == 1, "{files:?}");
    sim.flip(&files[0], 20, 3).expect("it is there");
    assert_eq!(dir.load("../../etc/passwd"), None);
}

#[test]
fn permissions_are_one_of_the_units() {
    assert_eq!(permissions().key(), "permissions");
}
