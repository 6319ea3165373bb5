//! Clients that repeat what they were not told of: a process is killed, the next one repeats every
//! append of it with the same key, and of each there is one copy.

use super::book::{Answer, Book};
use super::child;
use super::found::{self, Sessions, drafts};
use super::kills::{PATIENCE, listen, spawn};
use super::word::{self, Word};
use super::workload::header;
use crate::Random;
use gatelog_engine::backend::{Durability, Key};
use gatelog_engine::store::{Session, Store};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

const SESSIONS: u64 = 8;

/// After so many kills the next store begins.
const LIVES: u64 = 40;

/// How often is repeated.
#[derive(Clone, Debug)]
pub struct Retries {
    /// The program that plays the client.
    pub program: PathBuf,
    /// Where the stores lie.
    pub dir: PathBuf,
    /// How many appends are repeated of which the client had no receipt.
    pub count: u64,
    /// Where the choices begin.
    pub seed: u64,
}

/// What was seen.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    /// Clients that were killed.
    pub kills: u64,
    /// Repeated appends that were in flight when their client was killed.
    pub in_flight: u64,
    /// Repeated appends that had ended, and whose receipt was dropped.
    pub dropped: u64,
    /// Repeated appends whose receipt had been seen.
    pub receipted: u64,
    /// Those that were not there any more: never acknowledged, or `Buffered`.
    pub anew: u64,
}

impl Seen {
    /// Returns how many appends were repeated of which there was no receipt.
    pub fn retried(&self) -> u64 {
        self.in_flight + self.dropped
    }
}

fn key(number: u64) -> Key {
    (u128::from(number) << 64 | 0x5EED).to_le_bytes()
}

/// How many events a batch has, and of how many bytes, follows from its number.
fn shape(number: u64) -> (u64, usize) {
    (1 + number % 4, 30 + (number * 37 % 400) as usize)
}

/// Plays the client: repeats what it is told to on its standard input, and goes on.
pub fn client(dir: &Path, seed: u64, first: u64) {
    let worked = child::open(dir).map_err(|error| error.to_string()).and_then(|store| {
        repeat(&store, seed)?;
        for (session, batches) in found::read(&store)? {
            for batch in batches {
                Word::There(session.clone(), batch).say();
            }
        }
        Word::Read.say();
        let sessions = (0..SESSIONS).map(|n| store.session(&format!("r{n}")));
        let sessions: Vec<Session> = sessions
            .collect::<Result<_, _>>()
            .map_err(|error| format!("a session cannot be opened: {error:?}"))?;
        Word::Opened.say();
        let number = AtomicU64::new(first);
        thread::scope(|scope| {
            for (n, session) in sessions.iter().enumerate() {
                let number = &number;
                scope.spawn(move || go_on(session, number, seed ^ (n as u64) << 32));
            }
        });
        Ok(())
    });
    if let Err(what) = worked {
        Word::Wrong(what).say();
    }
}

/// Does again what an earlier client did, in order.
fn repeat(store: &Store, seed: u64) -> Result<(), String> {
    let mut random = Random::new(seed);
    random.below(2);
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(|error| error.to_string())?;
        let words: Vec<&str> = line.split(' ').collect();
        let [id, number, seq] = words[..] else { return Err(format!("a strange order: {line}")) };
        let (Ok(number), Ok(seq)) = (number.parse(), seq.parse::<u64>()) else {
            return Err(format!("a strange order: {line}"));
        };
        let session = store.session(id).map_err(|error| format!("{id}: {error:?}"))?;
        let (events, bytes) = shape(number);
        let class = word::class(random.below(3)).unwrap_or_default();
        let again =
            session.append_expecting(seq, key(number), drafts(number, events, bytes), class);
        let it = again.map_err(|error| format!("{id}: {number} at {seq}: {error:?}"))?;
        Word::Again(number, it.first_seq, it.lsn.unwrap_or_default(), it.events, class).say();
    }
    Ok(())
}

/// Appends to one session until it is killed, and now and then loses the receipt.
fn go_on(session: &Session, number: &AtomicU64, seed: u64) {
    let mut random = Random::new(seed ^ 0xC11E);
    random.below(2);
    let next = session.gate().and_then(|mut gate| gate.next_seq());
    let mut next = match next {
        Ok(next) => next,
        Err(error) => return Word::Wrong(format!("{}: {error:?}", session.id())).say(),
    };
    loop {
        let number = number.fetch_add(1, Ordering::Relaxed);
        let ((events, bytes), class) = (shape(number), word::class(random.below(3)));
        let class = class.unwrap_or_default();
        Word::Expects(number, next).say();
        Word::Issue(number, session.id().to_owned(), events, class).say();
        let batch = drafts(number, events, bytes);
        match session.append_expecting(next, key(number), batch, class) {
            Ok(commit) => {
                let lsn = commit.lsn.unwrap_or_default();
                // A lost receipt is not an append in flight: the parent is told, and does not look.
                let word = match random.below(2) {
                    0 => Word::Acked(number, commit.first_seq, lsn),
                    _ => Word::Dropped(number),
                };
                word.say();
                next = commit.first_seq + commit.events;
            }
            Err(error) => {
                return Word::Wrong(format!("{}: {number}: {error:?}", session.id())).say();
            }
        }
        if random.below(8) == 0 {
            thread::sleep(Duration::from_millis(random.below(8)));
        }
    }
}

impl Retries {
    /// Kills and repeats.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong, in words.
    pub fn run(&self) -> Result<Seen, String> {
        let mut random = Random::new(self.seed);
        random.below(2);
        let (mut seen, mut first) = (Seen::default(), 1);
        std::fs::create_dir_all(&self.dir).map_err(|error| error.to_string())?;
        let mut book = Book::default();
        let mut orders = Orders::default();
        let mut dir = PathBuf::new();
        while seen.retried() < self.count {
            if seen.kills % LIVES == 0 {
                let _ = std::fs::remove_dir_all(&dir);
                dir = self.dir.join(format!("clients-{}", seen.kills));
                book.renew();
                orders = Orders::default();
                first = Self::begin(&dir, &mut book, first)?;
            }
            let told = |what: String| format!("kill {}, {}: {what}", seen.kills, dir.display());
            let words = self.life(&dir, &mut random, first, &orders).map_err(told)?;
            let told = |what: String| format!("kill {}, {}: {what}", seen.kills, dir.display());
            let taken = orders.take(&words, &mut book).map_err(told)?;
            seen.in_flight += taken.in_flight;
            seen.dropped += taken.dropped;
            seen.receipted += taken.receipted;
            seen.anew += taken.anew;
            seen.kills += 1;
            first += 1_000_000;
        }
        let _ = std::fs::remove_dir_all(&dir);
        Ok(seen)
    }

    /// Makes a store with its sessions, and returns the next number.
    fn begin(dir: &Path, book: &mut Book, first: u64) -> Result<u64, String> {
        let store = child::open(dir).map_err(|error| error.to_string())?;
        for n in 0..SESSIONS {
            let id = format!("r{n}");
            let made = store.create(&id, &header(&id), |init| {
                for draft in drafts(first + n, 1, 20) {
                    init.append(draft);
                }
                Ok(())
            });
            made.map_err(|error| format!("{id}: {error:?}"))?;
            book.issue(first + n, &id, 1, Durability::Synced);
        }
        let found = found::read(&store)?;
        book.settle(found);
        store.close().map_err(|error| error.to_string())?;
        Ok(first + 1_000_000)
    }

    fn life(
        &self,
        dir: &Path,
        random: &mut Random,
        first: u64,
        orders: &Orders,
    ) -> Result<Vec<Word>, String> {
        let seed = random.below(u64::MAX);
        let arguments = ["--client".to_owned(), dir.display().to_string(), seed.to_string()];
        let arguments: Vec<String> = arguments.into_iter().chain([first.to_string()]).collect();
        let mut process = spawn(&self.program, &arguments, &[])?;
        let (opened, reader) = listen(&mut process)?;
        let mut input = process.stdin.take().ok_or("the client has no input")?;
        let text = orders.text();
        let writer = thread::spawn(move || drop(input.write_all(text.as_bytes())));
        if random.below(3) == 0 {
            thread::sleep(Duration::from_micros(random.below(60_000)));
        } else if opened.recv_timeout(PATIENCE).is_ok() {
            thread::sleep(Duration::from_micros(random.below(25_000)));
        }
        let killed = process.kill().and_then(|()| process.wait().map(drop));
        killed.map_err(|error| format!("the client cannot be killed: {error}"))?;
        // The client is dead, so nothing holds the other ends of its pipes.
        let _ = writer.join();
        reader.join().map_err(|_| "the reader of the pipe panicked".to_owned())
    }
}

/// What is still to be repeated.
#[derive(Default)]
struct Orders {
    /// Session and expected seq of each batch that was issued since the store was last read whole.
    expected: BTreeMap<u64, (String, u64)>,
    /// Those that had ended, and whose receipt is lost.
    dropped: BTreeSet<u64>,
    /// The receipts that were seen: lsn and class.
    receipts: BTreeMap<u64, (u64, Durability)>,
}

#[derive(Default)]
struct Taken {
    in_flight: u64,
    dropped: u64,
    receipted: u64,
    anew: u64,
}

impl Orders {
    /// Each session's appends in the order in which they were made.
    fn text(&self) -> String {
        let mut all: Vec<_> = self.expected.iter().collect();
        all.sort_by_key(|(_, (session, seq))| (session.clone(), *seq));
        let line = |(number, (session, seq)): (&u64, &(String, u64))| {
            format!("{session} {number} {seq}\n")
        };
        all.into_iter().map(line).collect()
    }

    fn take(&mut self, words: &[Word], book: &mut Book) -> Result<Taken, String> {
        let (mut taken, mut there) = (Taken::default(), Sessions::new());
        let mut seqs = BTreeMap::new();
        let mut again = Taken::default();
        for word in words {
            match word {
                Word::Again(number, first_seq, lsn, events, class) => {
                    let Some((_, seq)) = self.expected.get(number) else {
                        return Err(format!("{number} was repeated and never issued"));
                    };
                    if seq != first_seq || *events != shape(*number).0 {
                        return Err(format!("{number} expected {seq}: {word:?}"));
                    }
                    match self.receipts.get(number) {
                        Some(receipt) => {
                            again.receipted += 1;
                            if receipt.1 > Durability::Buffered && receipt.0 != *lsn {
                                return Err(format!("{number} had {receipt:?}: {word:?}"));
                            }
                            again.anew += u64::from(receipt.0 != *lsn);
                        }
                        None if self.dropped.contains(number) => again.dropped += 1,
                        None => again.in_flight += 1,
                    }
                    self.receipts.insert(*number, (*lsn, *class));
                    book.answer(*number, Answer::Acked(*first_seq, *lsn));
                }
                Word::There(session, batch) => {
                    there.entry(session.clone()).or_default().push(*batch);
                }
                Word::Read => {
                    let found = std::mem::take(&mut there);
                    // Everything was repeated, so everything is there, once.
                    book.judge(&found, Durability::Buffered, true)?;
                    if let Some((number, _)) =
                        book.issued().iter().find(|(_, it)| it.answer == Answer::Open)
                    {
                        return Err(format!("{number} was not repeated"));
                    }
                    book.settle(found);
                    self.expected.clear();
                    self.dropped.clear();
                    self.receipts.clear();
                    std::mem::swap(&mut taken, &mut again);
                }
                Word::Expects(number, seq) => drop(seqs.insert(*number, *seq)),
                Word::Issue(number, session, events, class) => {
                    book.issue(*number, session, *events, *class);
                    let seq = seqs.get(number).copied().ok_or("an append expects nothing")?;
                    self.expected.insert(*number, (session.clone(), seq));
                }
                Word::Acked(number, first_seq, lsn) => {
                    let class = book.issued().get(number).ok_or("not in the ledger")?.class;
                    self.receipts.insert(*number, (*lsn, class));
                    book.answer(*number, Answer::Acked(*first_seq, *lsn));
                }
                Word::Dropped(number) => drop(self.dropped.insert(*number)),
                Word::Wrong(what) => return Err(format!("the client says: {what}")),
                Word::Opened => {}
                other => return Err(format!("the client says {other:?}")),
            }
        }
        Ok(taken)
    }
}
