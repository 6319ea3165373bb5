//! On the machine's own disk.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use gatelog_engine::backend::{Backend, Durability, ErrorKind, Refusal};
use gatelog_engine::machine::ThisMachine;
use gatelog_engine::session_files::{Encoding, SessionFiles};
use gatelog_engine::storage::Disk;

use crate::common::{append, append_bytes, batch, config, header, notes, refusal, title};

/// A directory that goes when the test does.
struct Dir(PathBuf);

impl Dir {
    fn new(name: &str) -> Self {
        let path =
            std::env::temp_dir().join(format!("gatelog-files-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        Self(path)
    }

    fn open(&self) -> SessionFiles {
        let (volume, machine) = (Arc::new(Disk), Arc::new(ThisMachine));
        SessionFiles::open(volume, &self.0, machine, config(Encoding::Zstd)).expect("it opens")
    }

    fn log(&self) -> PathBuf {
        self.0.join("--srv-proj--/a/session.jsonl.zstd")
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(unix)]
fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).expect("it is there").permissions().mode() & 0o777
}

#[test]
fn a_session_is_made_continued_and_read() {
    let dir = Dir::new("made");
    let store = dir.open();
    assert_eq!(store.sessions().expect("no root, no sessions"), []);
    let made = store.create("a", &header("a"), batch(0, vec![title("0")]), Durability::Synced);
    made.expect("there is room");
    append(&store, "a", 1, &["1"]).expect("there is room");
    drop(store);
    let store = dir.open();
    append(&store, "a", 2, &["2", "3"]).expect("there is room");
    assert_eq!(notes(&store, "a"), ["0", "1", "2", "3"]);
    let infos = store.sessions().expect("readable");
    assert_eq!((infos.len(), infos[0].next_seq), (1, 4));
    #[cfg(unix)]
    {
        let log = dir.log();
        assert_eq!(mode(&log), 0o600);
        for folder in log.ancestors().skip(1).take(3) {
            assert_eq!(mode(folder), 0o700, "{}", folder.display());
        }
    }
}

#[test]
fn a_foreign_write_and_a_second_store_are_found() {
    let dir = Dir::new("foreign");
    let store = dir.open();
    let made = store.create("a", &header("a"), batch(0, vec![title("0")]), Durability::Synced);
    made.expect("there is room");
    let second = dir.open();
    match append(&second, "a", 1, &["x"]) {
        Err(gatelog_engine::backend::AppendError::NotWritten(error)) => {
            assert_eq!(error.kind, ErrorKind::Locked);
        }
        other => panic!("{other:?}"),
    }
    // Our own writes are none, however often.
    for seq in 1..50 {
        append(&store, "a", seq, &["x"]).expect("nobody else writes");
    }
    append_bytes(&Disk, &dir.log(), b"x");
    assert!(matches!(refusal(append(&store, "a", 50, &["x"])), Refusal::ForeignWrite { .. }));
}
