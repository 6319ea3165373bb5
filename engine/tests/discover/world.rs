//! Small worlds, on a disk and in memory.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use gatelog_engine::dsh::discover::Options;
use gatelog_engine::storage::{Entry, File, FileId, Memory, Stat, Storage};

pub(crate) fn options(base: &Path) -> Options {
    Options { base: base.to_owned() }
}

/// A temporary directory that is gone when the test is.
pub(crate) struct Temporary(pub(crate) PathBuf);

impl Temporary {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("gatelog-discover-{}-{number}", std::process::id());
        let path = fs::canonicalize(std::env::temp_dir()).expect("a directory").join(name);
        fs::create_dir(&path).expect("a new directory");
        Self(path)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(unix)]
pub(crate) fn put_on_disk(base: &Path, line: &str) {
    let (kind, rest) = line.split_at(2);
    let (name, target) = rest.split_once(" -> ").unwrap_or((rest, ""));
    let path = base.join(name);
    fs::create_dir_all(path.parent().expect("below the base")).expect("writable");
    match kind {
        "f " => fs::write(path, "").expect("writable"),
        "d " => fs::create_dir_all(path).expect("writable"),
        "l " => std::os::unix::fs::symlink(target, path).expect("writable"),
        // A socket stands for all that is neither file nor directory: it stays when it is closed.
        "o " => drop(std::os::unix::net::UnixListener::bind(path).expect("a short path")),
        _ => panic!("a test's own mistake: {line}"),
    }
}

pub(crate) fn put_in_memory(memory: Memory, base: &Path, line: &str) -> Memory {
    let (kind, rest) = line.split_at(2);
    let (name, target) = rest.split_once(" -> ").unwrap_or((rest, ""));
    let path = base.join(name);
    match kind {
        "f " => memory.file(path, ""),
        "d " => memory.directory(path),
        "l " => memory.symlink(path, target),
        "o " => memory.other(path),
        _ => panic!("a test's own mistake: {line}"),
    }
}

/// A storage whose process works in a directory.
pub(crate) struct Relative<'a>(pub(crate) &'a Memory, pub(crate) &'a Path);

impl Storage for Relative<'_> {
    fn open(&self, path: &Path) -> io::Result<Box<dyn File>> {
        self.0.open(&self.1.join(path))
    }
    fn list(&self, path: &Path) -> io::Result<Vec<Entry>> {
        self.0.list(&self.1.join(path))
    }
    fn stat(&self, path: &Path) -> io::Result<Stat> {
        self.0.stat(&self.1.join(path))
    }
    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        self.0.canonical(&self.1.join(path))
    }
    fn lock_holders(&self, file: FileId) -> Option<bool> {
        self.0.lock_holders(file)
    }
}
