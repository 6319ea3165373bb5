//! Does one run on a store and in the model, and compares after each step.

use super::ended::Ended;
use super::look::number;
use super::model::{Owed, Session};
use super::{Op, fault};
use crate::bench::{BUFFERED, Bench, Kind, Opened, SYNCED, Setup, WRITTEN};
use crate::ground::{Ground, Which};
use crate::world::{header, start_or_end};
use gatelog_engine::backend::{AppendError, Commit, Durability, Key, Refusal};
use gatelog_engine::rules::Draft;
use gatelog_engine::storage::Sim;

pub(super) const IDS: [&str; 3] = ["a", "b", "c"];

/// The last append of a session with a key.
struct Keyed {
    first_seq: u64,
    key: Key,
    drafts: Vec<Draft>,
}

pub(crate) struct Run {
    pub(super) bench: Bench,
    /// None only while it is being opened anew.
    pub(super) opened: Option<Opened>,
    pub(super) model: [Session; 3],
    keyed: [Option<Keyed>; 3],
    pub(super) next_n: u64,
    /// Faults that have not struck when last looked, and whether one that may take what was
    /// written is among those that were ordered.
    pub(super) faults: usize,
    pub(super) takes_written: bool,
}

impl Run {
    pub(crate) fn new(kind: Kind) -> Self {
        let bench = Bench::new(kind, Which::Simulated);
        let opened = Some(bench.open_as(&setup()));
        let (model, keyed) = ([0; 3].map(|_| Session::new()), [0; 3].map(|_| None));
        Self { bench, opened, model, keyed, next_n: 1, faults: 0, takes_written: false }
    }

    pub(crate) fn all(&mut self, ops: &[Op]) {
        for op in ops {
            self.step(op);
        }
        for op in [Op::Kill, Op::Cut { seed: 1 }, Op::Cut { seed: 0 }] {
            self.step(&op);
            for session in 0..3 {
                self.step(&Op::Append { session, durability: SYNCED, notes: 1, bytes: 0 });
            }
        }
    }

    pub(super) fn opened(&self) -> &Opened {
        self.opened.as_ref().expect("it is open")
    }

    pub(super) fn sim(&self) -> &Sim {
        match &self.bench.ground {
            Ground::Simulated(sim) => sim,
            Ground::Real(..) => unreachable!("runs are on the simulated disk"),
        }
    }

    pub(super) fn is_native(&self) -> bool {
        self.bench.kind == Kind::Native
    }

    fn step(&mut self, op: &Op) {
        match op {
            Op::Append { session, durability, notes, bytes } => {
                self.append(*session, *durability, *notes, *bytes);
            }
            Op::Expect { session, durability, notes } => {
                self.expect(*session, *durability, *notes);
            }
            Op::Repeat { session, durability, is_same } => {
                self.repeat(*session, *durability, *is_same);
            }
            Op::Refuse { session, durability } => self.refuse(*session, *durability),
            Op::Raise { session, durability } => self.raise(*session, *durability),
            Op::Tick => {
                if let Some(log) = &self.opened().log {
                    log.tick();
                }
                self.compare();
            }
            Op::Fail { failure, after } => {
                let (fault, takes_written) = fault(*failure, *after, self.is_native());
                self.sim().fail(fault);
                self.takes_written |= takes_written;
                self.faults = self.sim().faults_left();
            }
            Op::Heal => self.heal(),
            Op::Release { session } => {
                self.opened().release(IDS[*session]).expect("the gate is free");
                let session = &mut self.model[*session];
                if session.owed == Owed::Yes {
                    session.owed = Owed::Perhaps;
                }
            }
            Op::Reopen => self.reopen(),
            Op::Close => self.close(),
            Op::Kill => {
                // A sync that failed may have taken what was written.
                let is_poisoned = self.opened().poisoned().is_some();
                self.sim().kill();
                self.opened = None;
                self.open(if is_poisoned { SYNCED } else { WRITTEN });
            }
            Op::Cut { seed } => {
                let (mut chance, is_native) = (*seed, self.is_native());
                let cut = self.sim().power_cut(|unit| {
                    chance = chance.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(*seed | 1);
                    // Session files have no mark of what was acknowledged: a part of what was not
                    // synced is damage there, as it is for the host.
                    let is_drawn = if is_native { chance >> 63 == 1 } else { !unit.is_torn() };
                    *seed > 0 && is_drawn
                });
                self.bench.ground = Ground::Simulated(cut);
                self.opened = None;
                self.open(SYNCED);
            }
        }
    }

    fn heal(&mut self) {
        self.sim().heal();
        (self.faults, self.takes_written) = (0, false);
    }

    fn drafts(&mut self, count: usize, bytes: usize) -> (Vec<u64>, Vec<Draft>) {
        let numbers: Vec<u64> = (self.next_n..).take(count).collect();
        self.next_n += count as u64;
        let draft = |n: &u64| {
            let filler = "x".repeat(bytes);
            Draft::new("plan/mode", format!("{{\"n\":{n},\"x\":\"{filler}\"}}"))
        };
        let drafts = numbers.iter().map(draft).collect();
        (numbers, drafts)
    }

    fn create(&mut self, s: usize, count: usize, bytes: usize) {
        let (numbers, drafts) = self.drafts(count, bytes);
        let made = self.opened().create(IDS[s], &header(IDS[s]), |init| {
            for draft in drafts {
                init.append(draft);
            }
            Ok(())
        });
        let (ended, _) = Ended::of(made);
        match ended {
            Ended::Done => {
                self.model[s].is_there = true;
                self.committed(s, &numbers, SYNCED);
            }
            Ended::Unknown => {
                self.model[s].is_unknown = true;
                self.model[s].unknown = numbers;
            }
            _ => {}
        }
        self.settle(s, &ended);
    }

    fn append(&mut self, s: usize, durability: Durability, count: usize, bytes: usize) {
        if !self.model[s].is_there {
            return self.create(s, count, bytes);
        }
        let (numbers, drafts) = self.drafts(count, bytes);
        let session = self.opened().session(IDS[s]);
        let ended = session.and_then(|session| session.append(drafts, durability));
        self.appended(s, &numbers, durability, ended);
    }

    fn expect(&mut self, s: usize, durability: Durability, count: usize) {
        if !self.model[s].is_there {
            return;
        }
        let (numbers, drafts) = self.drafts(count, 0);
        let first_seq = self.model[s].next_seq();
        let key = u128::from(numbers[0]).to_le_bytes();
        let session = self.opened().session(IDS[s]);
        let ended = session.and_then(|session| {
            session.append_expecting(first_seq, key, drafts.clone(), durability)
        });
        self.keyed[s] = Some(Keyed { first_seq, key, drafts });
        self.appended(s, &numbers, durability, ended);
    }

    fn appended(
        &mut self,
        s: usize,
        numbers: &[u64],
        durability: Durability,
        ended: Result<Commit, AppendError>,
    ) {
        let (ended, commit) = Ended::of(ended);
        if let Some(commit) = commit {
            assert_eq!(commit.first_seq, self.model[s].next_seq());
            assert_eq!(commit.events, numbers.len() as u64);
            assert_eq!(commit.durability, durability);
            assert_ne!(self.model[s].owed, Owed::Yes, "a rewind was not told");
            self.committed(s, numbers, durability);
        }
        if let Ended::Unknown = ended {
            self.model[s].unknown = numbers.to_vec();
        }
        self.settle(s, &ended);
    }

    fn committed(&mut self, s: usize, numbers: &[u64], durability: Durability) {
        self.model[s].push(numbers, durability);
        self.model[s].owed = Owed::No;
        self.reached(s, durability);
    }

    /// What an acknowledgement says of everything before.
    fn reached(&mut self, s: usize, durability: Durability) {
        if durability == BUFFERED {
            return;
        }
        self.model[s].raise(durability);
        if self.is_native() {
            // One log: what comes before is written before, and one sync covers all of it.
            self.model.iter_mut().for_each(|session| session.raise(durability));
        }
    }

    fn repeat(&mut self, s: usize, durability: Durability, is_same: bool) {
        let Some(Keyed { first_seq, key, drafts }) = &self.keyed[s] else { return };
        if !self.model[s].is_there {
            return;
        }
        let (first_seq, key) = (*first_seq, *key);
        let mut drafts = drafts.clone();
        if !is_same {
            drafts[0] = Draft::new("plan/mode", "{\"n\":0}");
        }
        let was = self.stands_at(s, first_seq);
        let next_seq = self.model[s].next_seq();
        let session = self.opened().session(IDS[s]);
        let count = drafts.len();
        let numbers: Vec<u64> = drafts.iter().filter_map(|draft| number(&draft.data)).collect();
        let is_there = was.len() >= count && was[..count] == numbers[..];
        let ended = session
            .and_then(|session| session.append_expecting(first_seq, key, drafts, durability));
        let (ended, commit) = Ended::of(ended);
        if let Some(commit) = commit {
            assert_eq!((commit.first_seq, commit.events), (first_seq, count as u64));
            if next_seq > first_seq {
                assert!(is_there, "{was:?} is not {numbers:?}");
                self.model[s].raise(durability);
                self.model[s].owed = Owed::No;
            } else {
                assert_eq!(next_seq, first_seq);
                self.committed(s, &numbers, durability);
            }
        }
        match &ended {
            Ended::Unknown if next_seq == first_seq => self.model[s].unknown = numbers,
            Ended::Refused(Refusal::KeyReused) => {
                assert!(self.is_native() && !is_there, "{was:?} is {numbers:?}");
            }
            Ended::Refused(Refusal::WrongSeq { expected, actual }) => {
                assert_eq!((*expected, *actual), (first_seq, next_seq));
                assert!(!is_there, "{was:?} is {numbers:?}");
            }
            _ => {}
        }
        self.settle(s, &ended);
    }

    /// A turn ends that nobody began: the note before it is refused with it.
    fn refuse(&mut self, s: usize, durability: Durability) {
        if !self.model[s].is_there {
            return;
        }
        let (_, mut drafts) = self.drafts(1, 0);
        drafts.push(start_or_end("turn/end"));
        let session = self.opened().session(IDS[s]);
        match Ended::of(session.and_then(|it| it.append(drafts, durability))).0 {
            Ended::Done => panic!("a rule speaks against it"),
            Ended::Refused(Refusal::Violation(it)) if it.rule == "turn/none" => self.compare(),
            ended => self.settle(s, &ended),
        }
    }

    fn stands_at(&self, s: usize, first_seq: u64) -> Vec<u64> {
        self.model[s].notes.iter().skip(first_seq as usize).map(|note| note.n).collect()
    }

    fn raise(&mut self, s: usize, durability: Durability) {
        if !self.model[s].is_there {
            return;
        }
        let session = self.opened().session(IDS[s]);
        let (ended, raised) = Ended::of(session.and_then(|session| session.raise(durability)));
        if raised.is_some() && durability > BUFFERED {
            self.model[s].raise(durability);
        }
        self.settle(s, &ended);
    }

    /// Compares what is read with the model, and how a step ended with both.
    fn settle(&mut self, s: usize, ended: &Ended) {
        let struck = self.sim().faults_left() < self.faults;
        let is_poisoned = self.opened().poisoned().is_some();
        match ended {
            Ended::NotWritten | Ended::Unknown => assert!(struck, "nothing failed"),
            Ended::Refused(Refusal::Poisoned) => assert!(is_poisoned),
            Ended::Refused(Refusal::WrongSeq { .. } | Refusal::KeyReused)
            | Ended::Done
            | Ended::Rewound(_) => {}
            Ended::Refused(refusal) => panic!("{refusal:?}"),
        }
        if let Ended::Unknown = ended {
            assert!(is_poisoned, "unknown, and the store goes on");
        }
        self.compare();
        if let Ended::Rewound(next_seq) = ended {
            let session = &mut self.model[s];
            assert_ne!(session.owed, Owed::No, "nothing was lost");
            assert_eq!(*next_seq, session.next_seq());
            session.owed = Owed::No;
        }
    }

    fn reopen(&mut self) {
        let old = [0, 1, 2].map(|s| {
            let is_there = self.model[s].is_there && self.opened().poisoned().is_none();
            is_there.then(|| self.opened().session(IDS[s]).ok()).flatten()
        });
        // What a failed sync took is gone with it, the sync of the recovery too.
        let is_taken = self.opened().poisoned().is_some() || self.takes_written;
        let spared = if is_taken { SYNCED } else { WRITTEN };
        if self.opened().reopen().is_err() {
            self.heal();
            self.opened().reopen().expect("the disk is well");
        }
        for handle in old.into_iter().flatten() {
            let ended = handle.append([crate::world::note(0)], SYNCED);
            assert!(matches!(ended, Err(AppendError::Refused(Refusal::Poisoned))), "{ended:?}");
        }
        self.recovered(spared);
        for session in &mut self.model {
            session.owed = Owed::Perhaps;
        }
    }

    fn close(&mut self) {
        let was_well = self.opened().poisoned().is_none();
        let closed = self.opened().close();
        self.opened = None;
        let struck = self.sim().faults_left() < self.faults;
        let spared = match (was_well && closed.is_ok(), struck && self.takes_written) {
            // A close that says so kept everything.
            (true, false) => BUFFERED,
            (false, false) if was_well => WRITTEN,
            _ => SYNCED,
        };
        self.open(spared);
    }

    /// Opens the store in a new process, after something that spares a class.
    fn open(&mut self, mut spared: Durability) {
        let opened = match self.bench.try_open(&setup()) {
            Ok(opened) => opened,
            Err(error) => {
                assert!(self.sim().faults_left() < self.faults, "nothing failed: {error}");
                spared = if self.takes_written { SYNCED } else { spared };
                self.heal();
                self.bench.try_open(&setup()).expect("the disk is well")
            }
        };
        self.opened = Some(opened);
        self.recovered(spared);
        for session in &mut self.model {
            session.owed = Owed::No;
        }
    }
}

fn setup() -> Setup {
    // Small, so that a run fills several.
    Setup { segment_bytes: 16 << 10, ..Setup::default() }
}
