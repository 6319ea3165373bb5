//! System calls of a real process fail, by `strace`: no child hangs, and none was told what is not
//! so.
//!
//! `strace` skips a call that it lets fail, so a failed sync leaves its pages dirty: what lies on
//! the disk after one is the simulated disk's to show.

use super::book::Book;
use super::child::{self, Child};
use super::found;
use super::kills::{PATIENCE, child_arguments, enter, listen, spawn};
use super::word::Word;
use gatelog_engine::backend::Durability;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The calls that fail, and how.
const INJECTIONS: [(&str, &str); 6] = [
    ("fdatasync", "EIO"),
    ("fdatasync", "ENOSPC"),
    ("fsync", "EIO"),
    ("pwrite64", "EIO"),
    ("pwrite64", "ENOSPC"),
    ("rename,renameat,renameat2", "EIO"),
];

/// Which of these calls fails, counted from 1; of each thread by itself.
const WHEN: [u64; 7] = [1, 2, 3, 5, 8, 13, 34];

/// Children under `strace`.
#[derive(Clone, Debug)]
pub struct Traced {
    /// The program that plays the child.
    pub program: PathBuf,
    /// Where the stores lie.
    pub dir: PathBuf,
    /// Where the choices begin.
    pub seed: u64,
}

/// What was seen.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    /// Children.
    pub runs: u64,
    /// Those in which a call failed.
    pub struck: u64,
    /// Those that were poisoned, and opened the store anew.
    pub poisoned: u64,
}

/// Returns whether `strace` is there and may trace.
pub fn is_possible() -> bool {
    let mut command = Command::new("strace");
    command.args(["-f", "-o", "/dev/null", "true"]).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

impl Traced {
    /// Runs every child.
    ///
    /// # Errors
    ///
    /// That there is no `strace`; or the first thing that is wrong, in words.
    pub fn run(&self) -> Result<Seen, String> {
        let mut seen = Seen::default();
        for (call, error) in INJECTIONS {
            for when in WHEN {
                self.one(call, error, when, &mut seen)
                    .map_err(|what| format!("{call} fails with {error} at {when}: {what}"))?;
            }
        }
        Ok(seen)
    }

    /// Runs one child.
    ///
    /// # Errors
    ///
    /// As [`Traced::run`].
    pub fn one(&self, call: &str, error: &str, when: u64, seen: &mut Seen) -> Result<(), String> {
        if !is_possible() {
            return Err("strace is not there, or may not trace; install it".to_owned());
        }
        std::fs::create_dir_all(&self.dir).map_err(|error| error.to_string())?;
        let (dir, log) = (self.dir.join("traced"), self.dir.join("strace.txt"));
        let _ = std::fs::remove_dir_all(&dir);
        let child = Child {
            dir: dir.clone(),
            seed: self.seed ^ when << 8,
            first: 1,
            batches: 400,
            is_alone: true,
        };
        let mut under = vec!["strace".to_owned(), "-f".to_owned(), "-qq".to_owned()];
        under.extend(["-o".to_owned(), log.display().to_string()]);
        under.extend(["-e".to_owned(), format!("trace={call}")]);
        under.extend(["-e".to_owned(), format!("inject={call}:error={error}:when={when}")]);
        let mut process = spawn(&self.program, &child_arguments(&child), &under)?;
        let (_, reader) = listen(&mut process)?;
        let begun = Instant::now();
        loop {
            if process.try_wait().map_err(|error| error.to_string())?.is_some() {
                break;
            }
            if begun.elapsed() > PATIENCE {
                let _ = process.kill();
                return Err("it hangs".to_owned());
            }
            thread::sleep(Duration::from_millis(10));
        }
        let words = reader.join().map_err(|_| "the reader of the pipe panicked")?;
        seen.runs += 1;
        seen.poisoned += u64::from(words.contains(&Word::Poisoned));
        seen.struck += u64::from(std::fs::read(&log).is_ok_and(|log| has_injected(&log)));
        judge(&dir, &words)?;
        std::fs::remove_dir_all(&dir).map_err(|error| error.to_string())
    }
}

fn has_injected(log: &[u8]) -> bool {
    log.windows(10).any(|some| some == b"(INJECTED)")
}

/// Enters what a child said, opens its store and compares.
fn judge(dir: &Path, words: &[Word]) -> Result<(), String> {
    // An open, reopen or close that the failed call made fail is lawful; what it leaves is judged.
    let said = |word: &&Word| !matches!(word, Word::Wrong(what) if is_lawful(what));
    let words: Vec<Word> = words.iter().filter(said).cloned().collect();
    let mut book = Book::default();
    enter(&mut book, &words, Durability::Written)?;
    let is_poisoned = words.contains(&Word::Poisoned);
    let survives = if is_poisoned { Durability::Synced } else { Durability::Written };
    let store = child::open(dir)
        .map_err(|error| format!("refused ({:?} {:?}): {error}", error.kind, error.rule))?;
    let found = found::read(&store)?;
    book.judge(&found, survives, true)?;
    store.close().map_err(|error| error.to_string())
}

fn is_lawful(what: &str) -> bool {
    ["refused (Io", "refused (NoSpace", "reopen:", "close:"].iter().any(|it| what.starts_with(it))
}
