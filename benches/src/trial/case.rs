//! Several threads at work on a store whose disk fails once, and what is asked of it afterwards.

use super::book::{ANY_LSN, Answer, Book};
use super::failing::{Failing, Outcome, config, open};
use super::found::{self, drafts};
use super::lenient::Facts;
use super::word;
use super::workload::header;
use crate::Random;
use gatelog_engine::backend::{AppendError, Durability, Error, Refusal};
use gatelog_engine::rules::SessionHeader;
use gatelog_engine::storage::Sim;
use gatelog_engine::storage::sim::Fault;
use gatelog_engine::store::{Session, Store};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

const THREADS: u64 = 3;
const PATIENCE: Duration = Duration::from_secs(120);

impl Failing {
    /// Runs on a thread of its own, and waits for it so long as anybody would.
    ///
    /// # Errors
    ///
    /// What is wrong, in words; a run that does not end, too.
    pub fn run(self) -> Result<Outcome, String> {
        let told = |what: String| format!("{self:?}: {what}");
        let (sender, ended) = mpsc::channel();
        thread::spawn(move || sender.send(self.case()));
        match ended.recv_timeout(PATIENCE) {
            Ok(result) => result.map_err(told),
            Err(_) => Err(told("it hangs, or panicked".to_owned())),
        }
    }

    fn case(self) -> Result<Outcome, String> {
        let sim = Sim::new(self.seed);
        sim.fail(Fault::new(self.call, self.failure).after(self.nth - 1));
        let mut outcome = Outcome { runs: 1, ..Outcome::default() };
        let again = |error: Error| match sim.faults_left() {
            0 => open(&sim, self.seed, config(true)).map_err(|error| error.to_string()),
            _ => Err(format!("refused without a fault: {error}")),
        };
        let store = match open(&sim, self.seed, config(true)) {
            Ok(store) => store,
            Err(error) => {
                outcome.refused_opens += 1;
                again(error)?
            }
        };
        let case = Case {
            failing: self,
            sim: &sim,
            store: &store,
            book: Mutex::default(),
            told: Mutex::default(),
            outcome: Mutex::new(outcome),
            number: AtomicU64::new(1),
        };
        case.work()?;
        if store.poisoned().is_some() {
            case.outcome().poisoned += 1;
            case.poisoned()?;
            case.work()?;
        }
        // A call that was not struck until now is not to be one of those that judge.
        let struck = u64::from(sim.faults_left() == 0);
        sim.heal();
        if store.poisoned().is_none() {
            case.rewinds()?;
            case.live()?;
            case.crashed(Durability::Written, "at the end")?;
        }
        let mut outcome = *case.outcome();
        outcome.struck += struck;
        // A close that fails is found at the next open.
        let _ = store.close();
        case.crashed(Durability::Synced, "closed")?;
        Ok(outcome)
    }
}

struct Case<'a> {
    failing: Failing,
    sim: &'a Sim,
    store: &'a Store,
    book: Mutex<Book>,
    /// How often each session was told that it was rewound.
    told: Mutex<BTreeMap<String, u64>>,
    outcome: Mutex<Outcome>,
    number: AtomicU64,
}

impl Case<'_> {
    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn outcome(&self) -> MutexGuard<'_, Outcome> {
        self.outcome.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Every thread appends to two sessions of its own and to one of all.
    fn work(&self) -> Result<(), String> {
        thread::scope(|scope| {
            let threads: Vec<_> =
                (0..THREADS).map(|thread| scope.spawn(move || self.steps(thread))).collect();
            let ended = threads.into_iter().map(|thread| {
                thread.join().unwrap_or_else(|_| Err("a thread panicked".to_owned()))
            });
            ended.collect::<Vec<_>>().into_iter().collect()
        })
    }

    fn steps(&self, thread: u64) -> Result<(), String> {
        let mut random = Random::new(self.failing.seed ^ (thread << 32) ^ self.failing.nth);
        random.below(2);
        let mut handles: BTreeMap<String, Session> = BTreeMap::new();
        for _ in 0..self.failing.steps {
            let id = match random.below(5) {
                0 => "all".to_owned(),
                n => format!("t{thread}-{}", n % 2),
            };
            let class = word::class(random.below(3)).unwrap_or_default();
            let bytes = [20, 60, 300, 1_900][random.below(4) as usize];
            let (number, events) =
                (self.number.fetch_add(1, Ordering::Relaxed), 1 + random.below(2));
            if !handles.contains_key(&id) {
                match self.store.session(&id) {
                    Ok(session) => drop(handles.insert(id.clone(), session)),
                    Err(AppendError::Refused(Refusal::NoSession)) => {
                        self.issue(number, &id, events, class, || {
                            self.create(&id, &header(&id), class, (number, events, bytes))
                        })?;
                        continue;
                    }
                    Err(AppendError::Refused(Refusal::Poisoned)) => return Ok(()),
                    Err(AppendError::NotWritten(_) | AppendError::Unknown(_)) => continue,
                    Err(error) => return Err(format!("{id} cannot be opened: {error:?}")),
                }
            }
            let session = &handles[&id];
            let batch = drafts(number, events, bytes);
            let mut is_gone = false;
            self.issue(number, &id, events, class, || {
                let appended = session.append(batch, class);
                // A session whose creation was taken back: it can be created again.
                is_gone = matches!(appended, Err(AppendError::Refused(Refusal::NoSession)));
                let commit = appended?;
                Ok((commit.first_seq, commit.lsn.unwrap_or_default()))
            })?;
            if is_gone {
                handles.remove(&id);
            }
            if self.store.poisoned().is_some() {
                return Ok(());
            }
            if random.below(6) == 0 {
                thread::sleep(Duration::from_millis(random.below(4)));
            }
        }
        Ok(())
    }

    fn create(
        &self,
        id: &str,
        header: &SessionHeader,
        class: Durability,
        (number, events, bytes): (u64, u64, usize),
    ) -> Result<(u64, u64), AppendError> {
        let session = self.store.create_with(id, header, class, |init| {
            for draft in drafts(number, events, bytes) {
                init.append(draft);
            }
            Ok(())
        })?;
        let mut lsn = ANY_LSN;
        // It may be gone already: a failure between the two took it back.
        let _ = session.read(0, &mut |stored| {
            lsn = stored.lsn.unwrap_or(ANY_LSN);
            ControlFlow::Break(())
        });
        Ok((0, lsn))
    }

    fn issue(
        &self,
        number: u64,
        id: &str,
        events: u64,
        class: Durability,
        append: impl FnOnce() -> Result<(u64, u64), AppendError>,
    ) -> Result<(), String> {
        self.book().issue(number, id, events, class);
        let appended = append();
        let mut book = self.book();
        match appended {
            Ok((first_seq, lsn)) => book.answer(number, Answer::Acked(first_seq, lsn)),
            Err(AppendError::NotWritten(_)) => {
                book.answer(number, Answer::Never);
                self.outcome().not_written += 1;
            }
            Err(AppendError::Rewound { next_seq }) => {
                book.answer(number, Answer::Never);
                // In the session of all another thread may have gone on from there already, or its
                // answer may not be in the book yet: see `Book::forgive`.
                if id != "all" && book.rewound(id, next_seq) == 0 {
                    return Err(format!("{id} was rewound to {next_seq}, and nothing was lost"));
                }
                let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
                *told.entry(id.to_owned()).or_default() += 1;
                self.outcome().rewound += 1;
            }
            Err(AppendError::Unknown(_)) => self.outcome().unknown += 1,
            Err(AppendError::Refused(refusal)) => {
                book.answer(number, Answer::Never);
                let is_due = matches!(refusal, Refusal::Poisoned | Refusal::NoSession)
                    || id == "all" && matches!(refusal, Refusal::Exists);
                if !is_due {
                    return Err(format!("{id}: {number} was refused: {refusal:?}"));
                }
            }
        }
        Ok(())
    }

    /// A poisoned store: what is on the disk now, and after it was opened anew.
    fn poisoned(&self) -> Result<(), String> {
        self.crashed(Durability::Synced, "poisoned")?;
        let reopened = self.store.reopen().or_else(|_| self.store.reopen());
        reopened.map_err(|error| format!("reopen: {error}"))?;
        let found = found::read(self.store)?;
        let mut book = self.book();
        book.judge(&found, Durability::Synced, false)
            .map_err(|what| format!("reopened: {what}"))?;
        book.settle(found);
        self.told.lock().unwrap_or_else(PoisonError::into_inner).clear();
        Ok(())
    }

    /// Every session that lost something was told so once, and none else was.
    fn rewinds(&self) -> Result<(), String> {
        // The failure may strike what this very call has written; the next finds it taken back.
        let infos = self.store.list().or_else(|_| self.store.list());
        let infos = infos.map_err(|error| error.to_string())?;
        for info in infos {
            for last in [false, true] {
                let session = match self.store.session(&info.id) {
                    Ok(session) => session,
                    Err(error) => return Err(format!("{}: {error:?}", info.id)),
                };
                let number = self.number.fetch_add(1, Ordering::Relaxed);
                let before = self.outcome().rewound;
                self.issue(number, &info.id, 1, Durability::Synced, || {
                    let commit = session.append(drafts(number, 1, 20), Durability::Synced)?;
                    Ok((commit.first_seq, commit.lsn.unwrap_or_default()))
                })?;
                if last && self.outcome().rewound > before {
                    return Err(format!("{} was told twice that it was rewound", info.id));
                }
            }
        }
        if self.store.poisoned().is_some() {
            return Ok(());
        }
        let told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        match told.iter().find(|(_, times)| **times > 1) {
            Some((id, times)) => Err(format!("{id} was told {times} times that it was rewound")),
            None => Ok(()),
        }
    }

    /// What the living store shows: everything that was acknowledged and not taken back, and in
    /// each gate the fold of its log.
    fn live(&self) -> Result<(), String> {
        if self.store.poisoned().is_some() {
            return Ok(());
        }
        let found = found::read(self.store)?;
        let least = Durability::Buffered;
        let mut strict = self.book().clone();
        // An answer in the session of all may have come after the news that took it back.
        if self.outcome().rewound > 0 {
            strict.forgive("all");
        }
        strict.judge(&found, least, true).map_err(|what| format!("alive: {what}"))?;
        for id in found.keys() {
            let mut folded = Facts::default();
            let read = self.store.read(id, 0, &mut |stored| {
                folded.take(stored.seq, stored.kind, stored.data);
                ControlFlow::Continue(())
            });
            read.map_err(|error| error.to_string())?;
            let session = self.store.session(id).map_err(|error| format!("{id}: {error:?}"))?;
            let mut gate = session.gate().map_err(|error| format!("{id}: {error:?}"))?;
            let facts = gate.facts::<Facts>().map_err(|error| format!("{id}: {error:?}"))?;
            if *facts != folded {
                return Err(format!("{id}: the gate shows {facts:?}, its log gives {folded:?}"));
            }
        }
        Ok(())
    }

    /// What the next process finds if this one dies now, and after a power cut that keeps nothing
    /// unsynced, everything, or something.
    fn crashed(&self, after_death: Durability, when: &str) -> Result<(), String> {
        let image = self.sim.clone();
        image.heal();
        let mut random = Random::new(self.failing.seed ^ self.failing.nth);
        random.below(2);
        let mut states = vec![
            ("a power cut that keeps nothing", image.power_cut(|_| false), Durability::Synced),
            ("a power cut that keeps all", image.power_cut(|u| !u.is_torn()), Durability::Synced),
        ];
        for _ in 0..2 {
            let state = image.power_cut(|_| random.below(2) == 0);
            states.push(("a power cut", state, Durability::Synced));
        }
        image.kill();
        states.push(("the death of the process", image, after_death));
        let mut book = self.book().clone();
        if self.outcome().rewound > 0 {
            book.forgive("all");
        }
        for (what, state, survives) in states {
            let told = |said: String| format!("{when}, {what}: {said}");
            state.heal();
            let store = open(&state, self.failing.seed ^ 7, config(false)).map_err(|error| {
                told(format!("refused ({:?} {:?}): {error}", error.kind, error.rule))
            })?;
            let found = found::read(&store).map_err(told)?;
            // Without a dense end: what was written in a poisoned store may be gone in part.
            book.judge(&found, survives, false).map_err(told)?;
        }
        Ok(())
    }
}
