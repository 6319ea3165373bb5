//! A ladder over one session: listing, tail, whole log.

use super::{Registry, append, mode, one, permissions, policy, registry, switches, title};
use crate::support::{Kind, World, header};
use gatelog_engine::backend::Backend;
use gatelog_engine::log::{Log, LogConfig};
use gatelog_engine::machine::ThisMachine;
use gatelog_engine::store::Session;
use gatelog_validator::board::ladder::{self, Cold, ColdError, Rung};
use gatelog_validator::board::{MemoryRecords, Record, Records};
use std::path::Path;
use std::sync::Arc;

/// What is on a world's disk, as a store that nobody has open.
pub(super) fn cold(world: &World) -> Arc<dyn Backend> {
    assert_eq!(world.kind, Kind::Native);
    let disk = Arc::new(world.sim.clone().disk());
    let config = LogConfig { has_housekeeper: false, ..LogConfig::default() };
    // A copy of the disk, as after the death of the process: its lock is free.
    let log = Log::open(disk, Path::new("/s"), Arc::new(ThisMachine), config);
    Arc::new(log.expect("a sound store opens"))
}

pub(super) fn read(registry: &Registry, records: &dyn Records, world: &World) -> Cold {
    ladder::read(registry, records, &*cold(world), "a").expect("it is there")
}

/// A session of five events, and the record of a read behind the fifth.
pub(super) fn told() -> (World, Session, Registry, MemoryRecords) {
    let (world, session) = one("a");
    for word in ["read-only", "workspace-write", "read-only"] {
        mode(&session, word);
    }
    policy(&session, "never");
    append(&session, "session/title", r#"{"title":"t","source":"user"}"#);
    let (registry, guards) = registry([switches(1), permissions()]);
    std::mem::forget(guards);
    let records = MemoryRecords::default();
    let first = read(&registry, &records, &world);
    assert_eq!((first.rung, first.events_read), (Rung::Full, 5));
    (world, session, registry, records)
}

pub(super) fn change(records: &MemoryRecords, act: impl FnOnce(&mut Record)) {
    let mut record = records.load("a").expect("it was kept");
    act(&mut record);
    records.save("a", &record).expect("memory takes all");
}

#[tokio::test]
async fn pc_02_a_listing_reads_no_log_and_leaves_out_what_does_not_fit() {
    let (_world, _session, registry, records) = told();
    let listing = ladder::list(&registry, &records, "a", &header("a"));
    let keys: Vec<_> = listing.views.iter().map(|(key, _)| *key).collect();
    assert_eq!(keys, ["switches", "permissions"]);
    change(&records, |record| record.rows[0].version = 9);
    let listing = ladder::list(&registry, &records, "a", &header("a"));
    let keys: Vec<_> = listing.views.iter().map(|(key, _)| *key).collect();
    assert_eq!(keys, ["permissions"], "a row of another version is absent");
    change(&records, |record| record.rows[1].state = b"{".to_vec());
    let listing = ladder::list(&registry, &records, "a", &header("a"));
    assert_eq!(listing.views, [], "a state that is none is absent");
}

#[tokio::test]
async fn pc_03_a_listing_is_dated_by_the_lowest_row_that_it_shows() {
    let (_world, _session, registry, records) = told();
    change(&records, |record| record.rows[1].seq = 3);
    let listing = ladder::list(&registry, &records, "a", &header("a"));
    assert_eq!(listing.last_seq, Some(2));
    change(&records, |record| record.rows[1].version = 9);
    let listing = ladder::list(&registry, &records, "a", &header("a"));
    assert_eq!(listing.last_seq, Some(4), "a row that is not shown dates nothing");
}

#[tokio::test]
async fn s_185_rows_of_two_dates_are_dated_by_the_earlier() {
    let (_world, _session, registry, records) = told();
    change(&records, |record| {
        record.rows[0].seq = 5;
        record.rows[1].seq = 10;
    });
    let listing = ladder::list(&registry, &records, "a", &header("a"));
    assert_eq!(listing.last_seq, Some(4), "watermarks 4 and 9");
}

#[tokio::test]
async fn pc_04_a_cold_read_reads_from_one_event_below_the_lowest_row() {
    let (world, session, registry, records) = told();
    mode(&session, "workspace-write");
    mode(&session, "read-only");
    let read = read(&registry, &records, &world);
    assert_eq!((read.rung, read.events_read), (Rung::Tail, 3), "the anchor and two more");
    assert_eq!(read.last_seq, Some(6));
    assert_eq!(read.views[0], ("switches", "5".to_owned()));
}

#[tokio::test]
async fn pc_05_a_log_that_was_cut_is_noticed_by_the_anchor() {
    let (world, _session, registry, records) = told();
    change(&records, |record| {
        for row in &mut record.rows {
            row.seq = 4;
        }
    });
    // The event below seq 4 is there, and it is not the one that the row was made behind.
    let read = read(&registry, &records, &world);
    assert_eq!((read.rung, read.events_read), (Rung::Full, 5));
    assert_eq!(read.views[0], ("switches", "3".to_owned()));
}

#[tokio::test]
async fn s_182_a_log_shorter_than_its_rows_is_read_whole() {
    let (world, _session, registry, records) = told();
    change(&records, |record| {
        for row in &mut record.rows {
            row.seq = 50;
            row.state = if row.key == "switches" { vec![99] } else { row.state.clone() };
        }
    });
    let read = read(&registry, &records, &world);
    assert_eq!(read.rung, Rung::Full);
    assert_eq!(read.views[0], ("switches", "3".to_owned()), "and never the stale value");
}

#[tokio::test]
async fn pc_06_a_row_is_usable_at_its_version_between_base_and_end() {
    let (_world, _session, registry, records) = told();
    let rows = records.load("a").expect("it was kept").rows;
    let restore = |base, end| ladder::restore(&registry, &header("a"), &rows, base, end);
    assert_eq!(restore(5, 5), Ok(()), "the row ends where the tail begins");
    assert_eq!(restore(1, 9), Ok(()));
    assert!(restore(6, 9).is_err(), "the tail begins behind the row");
    assert!(restore(1, 4).is_err(), "the log ends before the row");
}

#[tokio::test]
async fn pc_07_a_row_that_cannot_be_used_sends_a_tail_back_to_the_start() {
    let (world, _session, registry, records) = told();
    let mut rows = records.load("a").expect("it was kept").rows;
    rows[1].version = 1;
    let unusable = ladder::restore(&registry, &header("a"), &rows, 5, 5).expect_err("it is");
    assert_eq!(
        unusable.to_string(),
        "session projection \"permissions\" cannot restore from seq 5: its checkpoint row is \
         missing, version-mismatched, or beyond the supplied log end; re-read from seq 0"
    );
    assert_eq!(
        ladder::restore(&registry, &header("a"), &rows, 0, 5),
        Ok(()),
        "at 0 it begins anew"
    );
    change(&records, |record| record.rows[1].version = 1);
    assert_eq!(read(&registry, &records, &world).rung, Rung::Full);
}

#[tokio::test]
async fn pc_08_the_last_rung_folds_the_whole_log_from_nothing() {
    let (world, _session, registry, _) = told();
    let read = read(&registry, &MemoryRecords::default(), &world);
    assert_eq!((read.rung, read.events_read, read.last_seq), (Rung::Full, 5, Some(4)));
    assert_eq!(read.views[0], ("switches", "3".to_owned()));
}

#[tokio::test]
async fn pc_10_a_session_without_a_log_is_an_error_with_or_without_units() {
    let (world, _session, registry, records) = told();
    for registry in [&registry, &Registry::new()] {
        let error =
            ladder::read(registry, &records, &*cold(&world), "b").expect_err("it is not there");
        assert!(matches!(error, ColdError::NotFound { session } if session == "b"));
    }
}

#[tokio::test]
async fn s_186_an_unknown_session_is_not_found_even_without_units() {
    let (world, _session) = one("a");
    let error = ladder::read(&Registry::new(), &MemoryRecords::default(), &*cold(&world), "nobody");
    assert!(matches!(error, Err(ColdError::NotFound { .. })));
}

#[tokio::test]
async fn a_unit_that_is_new_is_folded_from_the_start() {
    let (world, _session, registry, records) = told();
    let _late = registry.register(title()).expect("it is new");
    let read = read(&registry, &records, &world);
    assert_eq!(read.rung, Rung::Full, "it has no row");
    assert!(read.views[2].1.contains("\"t\""));
}
