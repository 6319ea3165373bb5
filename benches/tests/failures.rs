//! One call of the disk fails: a slice of every kind, and each case that was found.

use gatelog_benches::trial::failing::{self, Failing, Outcome};
use gatelog_benches::trial::repeated::{Repeated, Tried};
use gatelog_benches::trial::traced::{self, Traced};
use gatelog_benches::trial::{FixedMachine, found, workload};
use gatelog_engine::backend::{AppendError, Backend, Durability, ErrorKind, Refusal};
use gatelog_engine::log::{Log, LogConfig, look};
use gatelog_engine::storage::sim::{Call, Cause, Failure, Fault};
use gatelog_engine::storage::{Entry, File, FileId, Sim, SimDisk, Stat, Storage, Volume};
use gatelog_engine::store::Store;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

#[test]
fn no_failed_call_makes_anybody_wait_or_says_what_is_not_so() {
    let mut sum = Outcome::default();
    for (at, (call, failure)) in failing::kinds().into_iter().enumerate() {
        for nth in (1 + at as u64 % 7..100).step_by(33) {
            let failing = Failing { call, failure, nth, seed: nth * 31, steps: 25 };
            sum.add(failing.run().unwrap_or_else(|what| panic!("{what}")));
        }
    }
    println!("{sum:?}");
    assert!(sum.struck > sum.runs / 2, "{sum:?}");
    let some = [sum.poisoned, sum.not_written, sum.unknown, sum.rewound, sum.refused_opens];
    assert!(some.iter().all(|count| *count > 0), "{sum:?}");
}

#[test]
fn what_was_not_written_never_appears_even_if_the_same_bytes_are_appended_again() {
    let mut tried = Tried::default();
    for nth in [1, 2, 5] {
        for page in 0..=2 {
            for (cause, class) in
                [(Cause::Eio, Durability::Synced), (Cause::NoSpace, Durability::Written)]
            {
                let (bytes, drawn, one_in) = (page * 4096, 2, 1);
                let repeated = Repeated { nth, bytes, cause, class, drawn, one_in };
                repeated.run(&mut tried).unwrap_or_else(|what| panic!("{what}"));
            }
        }
    }
    println!("{tried:?}");
    assert!(tried.failed > 0 && tried.not_written > 0 && tried.states > 1_000, "{tried:?}");
}

#[test]
fn a_real_process_whose_system_calls_fail_neither_hangs_nor_lies() {
    if !traced::is_possible() {
        eprintln!("NOT RUN: strace is not there, or may not trace; install it");
        return;
    }
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("traced-short");
    let program = PathBuf::from(env!("CARGO_BIN_EXE_kill-store"));
    let traced = Traced { program, dir, seed: 3 };
    let mut seen = traced::Seen::default();
    for (call, error, when) in [("fdatasync", "EIO", 4), ("pwrite64", "ENOSPC", 6)] {
        traced.one(call, error, when, &mut seen).unwrap_or_else(|what| panic!("{call}: {what}"));
    }
    assert_eq!((seen.runs, seen.struck), (2, 2), "{seen:?}");
}

fn store(sim: &Sim) -> Store {
    let config =
        LogConfig { has_housekeeper: false, segment_bytes: 16 * 1024, ..LogConfig::default() };
    failing::open(sim, 1, config).expect("a new store")
}

fn create(store: &Store, id: &str, class: Durability) {
    let made = store.create_with(id, &workload::header(id), class, |init| {
        for draft in found::drafts(1, 1, 20) {
            init.append(draft);
        }
        Ok(())
    });
    made.expect("a session");
}

fn fail_the_next_write(sim: &Sim) {
    sim.fail(Fault::new(Call::Write, Failure::Error(Cause::NoSpace)).on("*.log"));
}

#[test]
fn a_session_whose_creation_was_taken_back_can_be_created_again() {
    let sim = Sim::new(1);
    let store = store(&sim);
    create(&store, "other", Durability::Synced);
    create(&store, "a", Durability::Buffered);
    let session = store.session("a").expect("it is there");
    fail_the_next_write(&sim);
    let other = store.session("other").expect("it is there");
    let failed = other.append(found::drafts(2, 1, 20), Durability::Synced);
    assert!(matches!(failed, Err(AppendError::NotWritten(_))), "{failed:?}");
    let told = session.append(found::drafts(3, 1, 20), Durability::Synced);
    assert!(matches!(told, Err(AppendError::Rewound { next_seq: 0 })), "{told:?}");
    let gone = session.append(found::drafts(3, 1, 20), Durability::Synced);
    assert!(matches!(gone, Err(AppendError::Refused(Refusal::NoSession))), "{gone:?}");
    create(&store, "a", Durability::Synced);
    let session = store.session("a").expect("it is there again");
    let commit = session.append(found::drafts(4, 1, 20), Durability::Synced).expect("it goes on");
    assert_eq!(commit.first_seq, 1);
}

/// A reopen that came while the housekeeper made a spare took that for its own as well: one file
/// became two segments, and the second header fell on acknowledged frames.
#[test]
fn a_reopen_waits_for_a_spare_that_is_being_made() {
    let sim = Sim::new(1);
    let config =
        LogConfig { has_housekeeper: false, segment_bytes: 16 * 1024, ..LogConfig::default() };
    let machine = Arc::new(FixedMachine::new(1));
    let log = Log::open(Arc::new(sim.disk()), Path::new(workload::DIR), machine, config);
    let log = log.expect("a new store");
    let first = workload::batch("a", 0, 1, 0, 0);
    log.create("a", &workload::header("a"), first, Durability::Synced).expect("a session");
    let append = |seq| {
        let batch = workload::batch("a", seq, 1, 3_000, seq);
        log.append("a", batch, Durability::Synced).expect("it is well");
    };
    (1..4).for_each(append);
    sim.hold_syncs();
    thread::scope(|scope| {
        scope.spawn(|| log.tick());
        assert!(sim.wait_for_held_syncs(1, Duration::from_secs(60)), "no spare is being made");
        let reopens = scope.spawn(|| log.reopen());
        // Time enough for a reopen that does not wait.
        thread::sleep(Duration::from_millis(100));
        sim.release_syncs();
        reopens.join().expect("no panic").expect("it opens");
    });
    (4..20).for_each(append);
    drop(log);
    let config = LogConfig { has_housekeeper: false, ..LogConfig::default() };
    let store = failing::open(&sim, 2, config).expect("nothing is damaged");
    let infos = store.list().expect("it can be read");
    assert_eq!(infos[0].next_seq, 20);
}

#[test]
fn a_directory_that_is_not_there_is_no_store_and_not_a_busy_one() {
    let looked = look(Arc::new(Sim::new(1).disk()), Path::new("/nowhere"));
    assert_eq!(looked.expect_err("there is nothing").kind, ErrorKind::NotAStore);
}

/// A sync of the directory failed, and left nothing that the next sync would have to do: the name
/// of the segment was never durable, and that of the one behind it was.
#[test]
fn a_segment_whose_name_was_not_synced_gets_it_anew() {
    for nth in [1, 4, 13, 18] {
        let call = Call::SyncDir;
        for failure in [Failure::Error(Cause::Eio), Failure::ErrorDirty(Cause::Eio)] {
            let failing = Failing { call, failure, nth, seed: 558, steps: 25 };
            failing.run().unwrap_or_else(|what| panic!("{what}"));
        }
    }
}

#[test]
fn the_name_of_a_stores_directory_is_durable_if_whoever_made_it_died() {
    let sim = Sim::new(1);
    sim.fail(Fault::new(Call::SyncDir, Failure::Error(Cause::Killed)));
    let config = LogConfig { has_housekeeper: false, ..LogConfig::default() };
    failing::open(&sim, 1, config.clone()).expect_err("it was killed");
    sim.kill();
    let store = failing::open(&sim, 2, config.clone()).expect("a new store");
    create(&store, "a", Durability::Synced);
    let cut = sim.power_cut(|_| false);
    let store = failing::open(&cut, 3, config).expect("it is there");
    assert_eq!(store.list().expect("it can be read").len(), 1);
}

#[test]
fn a_batch_that_was_planned_on_what_fell_is_rewound() {
    let sim = Sim::new(1);
    let config = LogConfig { has_housekeeper: false, ..LogConfig::default() };
    let machine = Arc::new(FixedMachine::new(1));
    let log = Log::open(Arc::new(sim.disk()), Path::new(workload::DIR), machine, config);
    let log = log.expect("a new store");
    for id in ["a", "b"] {
        let first = workload::batch(id, 0, 1, 0, 0);
        log.create(id, &workload::header(id), first, Durability::Synced).expect("a session");
    }
    let append = |id, seq, class| log.append(id, workload::batch(id, seq, 1, 0, seq), class);
    append("a", 1, Durability::Buffered).expect("it is accepted");
    fail_the_next_write(&sim);
    let failed = append("b", 1, Durability::Synced);
    assert!(matches!(failed, Err(AppendError::NotWritten(_))), "{failed:?}");
    // Planned before the failure, it comes after it.
    let late = append("a", 2, Durability::Synced);
    assert!(matches!(late, Err(AppendError::Rewound { next_seq: 1 })), "{late:?}");
    assert_eq!(log.take_rewound("a"), Some(1));
    let wrong = append("a", 2, Durability::Synced);
    assert!(matches!(wrong, Err(AppendError::Refused(Refusal::WrongSeq { .. }))), "{wrong:?}");
    append("a", 1, Durability::Synced).expect("it goes on");
    append("b", 1, Durability::Synced).expect("it goes on");
}

/// A raise looked at what was left of the session, found it synced and said so: of a batch that had
/// been accepted and was gone.
#[test]
fn a_raise_of_what_fell_is_no_success() {
    let sim = Sim::new(1);
    let store = store(&sim);
    for id in ["a", "b"] {
        create(&store, id, Durability::Synced);
    }
    let [a, b] = ["a", "b"].map(|id| store.session(id).expect("it is there"));
    for class in [Durability::Buffered, Durability::Written, Durability::Synced] {
        a.append(found::drafts(2, 1, 20), Durability::Buffered).expect("it is accepted");
        fail_the_next_write(&sim);
        let failed = b.append(found::drafts(3, 1, 20), Durability::Synced);
        assert!(matches!(failed, Err(AppendError::NotWritten(_))), "{failed:?}");
        // The lsn of what fell is that of another batch now, and synced.
        b.append(found::drafts(4, 1, 20), Durability::Synced).expect("it goes on");
        let raised = a.raise(class);
        assert!(matches!(raised, Err(AppendError::Rewound { next_seq: 1 })), "{raised:?}");
        a.raise(class).expect("it was told once");
    }
    let commit = a.append(found::drafts(5, 1, 20), Durability::Synced).expect("it was told");
    assert_eq!(commit.first_seq, 1);
}

#[test]
fn the_log_raises_nothing_of_a_session_that_was_not_told_of_its_rewind() {
    let sim = Sim::new(1);
    let config = LogConfig { has_housekeeper: false, ..LogConfig::default() };
    let machine = Arc::new(FixedMachine::new(1));
    let log = Log::open(Arc::new(sim.disk()), Path::new(workload::DIR), machine, config);
    let log = log.expect("a new store");
    for id in ["a", "b"] {
        let first = workload::batch(id, 0, 1, 0, 0);
        log.create(id, &workload::header(id), first, Durability::Synced).expect("a session");
    }
    let append = |id, seq, class| log.append(id, workload::batch(id, seq, 1, 0, seq), class);
    append("a", 1, Durability::Buffered).expect("it is accepted");
    fail_the_next_write(&sim);
    append("b", 1, Durability::Synced).expect_err("it was not written");
    append("b", 1, Durability::Synced).expect("it goes on");
    let raised = log.raise("a", Durability::Synced);
    assert!(matches!(raised, Err(AppendError::Rewound { next_seq: 1 })), "{raised:?}");
    assert_eq!(log.take_rewound("a"), Some(1));
    log.raise("a", Durability::Synced).expect("it was told");
}

/// A disk on which a spare gets its segment's name just before it is opened so often.
struct Renaming {
    disk: SimDisk,
    before: AtomicU64,
    from: PathBuf,
    to: PathBuf,
}

impl Storage for Renaming {
    fn open(&self, path: &Path) -> io::Result<Box<dyn File>> {
        if path == self.from && self.before.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.disk.rename(&self.from, &self.to)?;
        }
        self.disk.open(path)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<Entry>> {
        self.disk.list(dir)
    }

    fn stat(&self, path: &Path) -> io::Result<Stat> {
        self.disk.stat(path)
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        self.disk.canonical(path)
    }

    fn lock_holders(&self, file: FileId) -> Option<bool> {
        self.disk.lock_holders(file)
    }
}

#[test]
fn a_reader_finds_a_segment_that_gets_its_name_under_its_eyes() {
    let sim = Sim::new(1);
    let config =
        LogConfig { has_housekeeper: false, segment_bytes: 16 * 1024, ..LogConfig::default() };
    let store = failing::open(&sim, 1, config).expect("a new store");
    create(&store, "a", Durability::Synced);
    let session = store.session("a").expect("it is there");
    sim.fail(Fault::new(Call::Rename, Failure::Error(Cause::Killed)));
    let append = |number| session.append(found::drafts(number, 1, 1_000), Durability::Written);
    assert!((2..20).any(|number| append(number).is_err()) && sim.faults_left() == 0);
    let names = sim.list(Path::new(workload::DIR)).expect("it can be listed");
    let names = names.into_iter().map(|entry| entry.name.to_string_lossy().into_owned());
    let spare = names.into_iter().find(|name| name.starts_with("spare-")).expect("a lost rename");
    let looked = look(Arc::new(sim.clone().disk()), Path::new(workload::DIR));
    let frames = looked.expect("it can be read").frames;
    assert!(frames > 2, "{frames}");
    for before in 1..=6 {
        let disk = sim.clone().disk();
        let from = Path::new(workload::DIR).join(&spare);
        // The first lsn of the segment, as its header says.
        let mut header = [0; 56];
        disk.open(&from).and_then(|file| file.read_at(0, &mut header)).expect("a header");
        let first_lsn = u64::from_le_bytes(header[48..].try_into().expect("eight bytes"));
        let to = from.with_file_name(format!("{first_lsn:020}.log"));
        let renaming = Renaming { disk, before: AtomicU64::new(before), from, to };
        let looked = look(Arc::new(renaming), Path::new(workload::DIR));
        let looked = looked.unwrap_or_else(|error| panic!("before open {before}: {error}"));
        assert!(looked.refused.is_none(), "before open {before}: {looked:?}");
        assert_eq!(looked.frames, frames, "before open {before}");
    }
}
