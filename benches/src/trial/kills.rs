//! A child is killed at random times, and its store is opened again and compared with a ledger.

use super::book::{Answer, Book, Tally};
use super::child::{self, Child};
use super::found::{self, Sessions};
use super::verified::{said, verify};
use super::word::Word;
use crate::Random;
use gatelog_engine::backend::{Durability, ErrorKind};
use gatelog_engine::log::{LookedEnd, look};
use gatelog_engine::storage::Disk;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

/// How long a child may say nothing where it ought to.
pub(super) const PATIENCE: Duration = Duration::from_secs(120);

/// How many children are killed, and how.
#[derive(Clone, Debug)]
pub struct Kills {
    /// The program that plays the child.
    pub program: PathBuf,
    /// An empty directory, or none, for the stores.
    pub dir: PathBuf,
    /// How many.
    pub count: u64,
    /// Where the choices begin.
    pub seed: u64,
    /// After so many kills the next store begins.
    pub lives: u64,
}

/// What was seen.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    /// Children that were killed.
    pub kills: u64,
    /// Those that were killed before they had opened the store for write.
    pub in_recovery: u64,
    /// Stores that were read whole after a kill and judged.
    pub judged: u64,
    /// Looks beside a writer.
    pub looks: u64,
    /// Stores that were verified beside a writer.
    pub checks: u64,
    /// Looks and verifications that files vanished under, eight times.
    pub busy: u64,
    /// Looks at a store after a kill.
    pub looks_after: u64,
    /// Those that saw a torn end.
    pub torn: u64,
    /// Looks at a store that was opened again, all its sessions too, and closed.
    pub looks_closed: u64,
    /// What became of the batches.
    pub batches: Tally,
}

impl Kills {
    /// Kills, opens and judges.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong, in words; the store stays where it is.
    pub fn run(&self, told: &mut dyn FnMut(&Seen)) -> Result<Seen, String> {
        let mut random = Random::new(self.seed);
        random.below(2);
        let (mut seen, mut book, mut first) = (Seen::default(), Book::default(), 1);
        let mut dir = self.dir.join("store-0");
        std::fs::create_dir_all(&self.dir).map_err(|error| error.to_string())?;
        for kill in 1..=self.count {
            let told_at = |what: String| format!("kill {kill}, {}: {what}", dir.display());
            let child = Child {
                dir: dir.clone(),
                seed: random.below(u64::MAX),
                first,
                batches: 0,
                is_alone: false,
            };
            first += 1_000_000;
            self.life(&child, &mut random, &mut seen, &mut book).map_err(told_at)?;
            seen.kills += 1;
            if kill % 10 == 0 {
                look_after(&dir, &mut seen).map_err(told_at)?;
                Self::open_again(&dir, &mut book, &mut seen).map_err(told_at)?;
            }
            seen.batches = book.tally;
            told(&seen);
            if kill % self.lives == 0 {
                std::fs::remove_dir_all(&dir).map_err(|error| error.to_string())?;
                dir = self.dir.join(format!("store-{kill}"));
                book.renew();
            }
        }
        let _ = std::fs::remove_dir_all(&dir);
        Ok(seen)
    }

    /// One child, from its start to its end.
    fn life(
        &self,
        child: &Child,
        random: &mut Random,
        seen: &mut Seen,
        book: &mut Book,
    ) -> Result<(), String> {
        let mut process = spawn(&self.program, &child_arguments(child), &[])?;
        let (words, reader) = listen(&mut process)?;
        let is_over = AtomicBool::new(false);
        let (killed, beside) = thread::scope(|scope| {
            let looker = scope.spawn(|| look_beside(&child.dir, &is_over));
            if random.below(6) == 0 {
                thread::sleep(Duration::from_micros(random.below(30_000)));
            } else {
                let opened = words.recv_timeout(PATIENCE).is_ok();
                if opened {
                    thread::sleep(Duration::from_micros(random.below(40_000)));
                }
            }
            let killed = process.kill().and_then(|()| process.wait().map(drop));
            is_over.store(true, Ordering::Relaxed);
            (killed, looker.join())
        });
        killed.map_err(|error| format!("the child cannot be killed: {error}"))?;
        let lines = reader.join().map_err(|_| "the reader of the pipe panicked")?;
        let beside = beside.map_err(|_| "the look beside the writer panicked")?;
        seen.looks += beside.looks;
        seen.busy += beside.busy;
        seen.checks += beside.checks;
        if let Some(what) = beside.wrong {
            return Err(format!("beside the writer: {what}"));
        }
        let entered = enter(book, &lines, Durability::Written)?;
        seen.in_recovery += u64::from(!entered.is_opened);
        seen.judged += entered.reads;
        Ok(())
    }

    /// Opens the store here, and every session for write; closes it, and looks at it.
    fn open_again(dir: &Path, book: &mut Book, seen: &mut Seen) -> Result<(), String> {
        let store = child::open(dir)
            .map_err(|error| format!("refused ({:?} {:?}): {error}", error.kind, error.rule))?;
        let found = found::read(&store)?;
        book.judge(&found, Durability::Written, true)?;
        for id in found.keys() {
            store.session(id).map_err(|error| format!("{id} cannot be opened: {error:?}"))?;
        }
        book.settle(found);
        let found = found::read(&store)?;
        book.judge(&found, Durability::Written, true)?;
        book.settle(found);
        seen.judged += 1;
        store.close().map_err(|error| format!("close: {error}"))?;
        let look = look(Arc::new(Disk), dir).map_err(|error| format!("closed: {error}"))?;
        seen.looks_closed += 1;
        let is_bare = look.end == LookedEnd::Clean && look.refused.is_none();
        if !is_bare || !look.notes.is_empty() || look.unconfirmed > 0 {
            return Err(format!("a closed store is not clean: {look:?}"));
        }
        let checked = verify(dir).map_err(|error| format!("closed: check: {error}"))?;
        let found = said(&checked, false);
        if !found.is_empty() || checked.is_torn || checked.unconfirmed > 0 {
            return Err(format!("a closed store is not sound: {found:?}"));
        }
        Ok(())
    }
}

/// Returns the arguments that make a process a child.
pub(super) fn child_arguments(child: &Child) -> Vec<String> {
    let mut arguments = vec![
        "--child".to_owned(),
        child.dir.display().to_string(),
        child.seed.to_string(),
        child.first.to_string(),
        child.batches.to_string(),
    ];
    if child.is_alone {
        arguments.push("alone".to_owned());
    }
    arguments
}

/// Starts a process with its output in a pipe, perhaps under another program.
pub(super) fn spawn(
    program: &Path,
    arguments: &[String],
    under: &[String],
) -> Result<std::process::Child, String> {
    let mut command = match under {
        [] => Command::new(program),
        [outer, rest @ ..] => {
            let mut command = Command::new(outer);
            command.args(rest).arg(program);
            command
        }
    };
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
    command.spawn().map_err(|error| format!("{} cannot be started: {error}", program.display()))
}

type Listening = (Receiver<()>, thread::JoinHandle<Vec<Word>>);

/// Reads what a process says, to its end; says when it has opened the store for write.
pub(super) fn listen(process: &mut std::process::Child) -> Result<Listening, String> {
    let out = process.stdout.take().ok_or("the child has no output")?;
    let (sender, opened) = mpsc::channel();
    let reader = thread::spawn(move || {
        let mut out = BufReader::new(out);
        let (mut words, mut line) = (Vec::new(), Vec::new());
        while out.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
            if line.last() == Some(&b'\n') {
                let text = String::from_utf8_lossy(&line[..line.len() - 1]).into_owned();
                let wrong = || Word::Wrong(format!("a strange line: {text}"));
                let word = Word::parse(&text).unwrap_or_else(wrong);
                if matches!(word, Word::Opened | Word::Wrong(_)) {
                    // Nobody may be waiting.
                    let _ = sender.send(());
                }
                words.push(word);
            }
            line.clear();
        }
        words
    });
    Ok((opened, reader))
}

/// What a child's words amounted to.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Entered {
    pub(super) is_opened: bool,
    pub(super) is_closed: bool,
    /// How often everything that was there was said, and judged.
    pub(super) reads: u64,
}

/// Enters the words of a child, and judges what it found. `survives` is what is promised at its
/// start.
pub(super) fn enter(
    book: &mut Book,
    words: &[Word],
    survives: Durability,
) -> Result<Entered, String> {
    let (mut there, mut entered, mut survives) = (Sessions::new(), Entered::default(), survives);
    for word in words {
        match word {
            Word::There(session, batch) => {
                there.entry(session.clone()).or_default().push(*batch);
            }
            Word::Read => {
                let found = std::mem::take(&mut there);
                book.judge(&found, survives, true)?;
                book.settle(found);
                entered.reads += 1;
                survives = Durability::Written;
            }
            Word::Opened => entered.is_opened = true,
            Word::Issue(number, session, events, class) => {
                book.issue(*number, session, *events, *class);
            }
            Word::Acked(number, first_seq, lsn) => {
                book.answer(*number, Answer::Acked(*first_seq, *lsn));
            }
            Word::Never(number) => book.answer(*number, Answer::Never),
            Word::Rewound(session, next_seq) => drop(book.rewound(session, *next_seq)),
            Word::Again(..) | Word::Expects(..) | Word::Dropped(_) => {}
            Word::Poisoned => survives = Durability::Synced,
            Word::Closed => entered.is_closed = true,
            Word::Wrong(what) => return Err(format!("the child says: {what}")),
        }
    }
    Ok(entered)
}

#[derive(Default)]
struct Beside {
    looks: u64,
    checks: u64,
    busy: u64,
    wrong: Option<String>,
}

/// Looks at a store again and again while it is written.
fn look_beside(dir: &Path, is_over: &AtomicBool) -> Beside {
    let mut beside = Beside::default();
    while !is_over.load(Ordering::Relaxed) && beside.wrong.is_none() {
        match look(Arc::new(Disk), dir) {
            Ok(look) => {
                beside.looks += 1;
                beside.wrong = look.refused.map(|error| format!("{:?} {error}", error.rule));
            }
            Err(error) if error.kind == ErrorKind::NotAStore => {}
            Err(error) if error.kind == ErrorKind::Busy => beside.busy += 1,
            // The directory is not there yet.
            Err(_) if !dir.exists() => {}
            Err(error) => beside.wrong = Some(error.to_string()),
        }
        if beside.wrong.is_none() && beside.looks % 4 == 1 {
            match verify(dir) {
                Ok(checked) => {
                    beside.checks += 1;
                    let found = said(&checked, true);
                    beside.wrong = (!found.is_empty()).then(|| format!("check: {found:?}"));
                }
                Err(error) if error.kind == ErrorKind::Busy => beside.busy += 1,
                Err(error) => beside.wrong = Some(format!("check: {error}")),
            }
        }
        thread::sleep(Duration::from_millis(3));
    }
    beside
}

/// Looks at what a kill left, before anybody opens it.
fn look_after(dir: &Path, seen: &mut Seen) -> Result<(), String> {
    let look = match look(Arc::new(Disk), dir) {
        Err(error) if error.kind == ErrorKind::NotAStore => return Ok(()),
        look => look.map_err(|error| format!("after the kill: {error}"))?,
    };
    seen.looks_after += 1;
    seen.torn += u64::from(look.end == LookedEnd::Torn);
    match look.refused {
        Some(error) => Err(format!("after the kill: {:?} {error}", error.rule)),
        None if look.end == LookedEnd::InProgress => {
            Err(format!("after the kill somebody seems to write: {look:?}"))
        }
        None => {
            let checked = verify(dir).map_err(|error| format!("after the kill: check: {error}"))?;
            let found = said(&checked, true);
            if found.is_empty() { Ok(()) } else { Err(format!("after the kill: {found:?}")) }
        }
    }
}
