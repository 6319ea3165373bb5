//! A toy world: things are opened and closed in turn, and a clock that is set by hand.

use crate::vault::{Submitting, Vault};
use gatelog_engine::backend::{AppendError, Durability, Refusal, Stored};
use gatelog_engine::companion::{End, Violation};
use gatelog_engine::event::Event;
use gatelog_engine::json::Json;
use gatelog_engine::machine::{Holder, Machine};
use gatelog_engine::rules::{
    Catalogue, Closers, Draft, Judge, Placement, RuleSet, SessionHeader, TypeEntry,
};
use gatelog_engine::store::{Observer, Session, Store, StoreConfig};
use std::any::Any;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

pub(crate) const BUFFERED: Durability = Durability::Buffered;
pub(crate) const WRITTEN: Durability = Durability::Written;
pub(crate) const SYNCED: Durability = Durability::Synced;

/// Counts calls, and panics at one of them.
#[derive(Default)]
pub(crate) struct Trap {
    calls: AtomicU64,
    /// The call that panics, counted from 1; 0 for none.
    at: AtomicU64,
    /// So many calls from there on panic.
    times: AtomicU64,
}

impl Trap {
    pub(crate) fn calls(&self) -> u64 {
        self.calls.load(Ordering::SeqCst)
    }

    /// Sets the trap for the nth call from now on, counted from 1.
    pub(crate) fn set(&self, nth: u64, times: u64) {
        self.times.store(times, Ordering::SeqCst);
        self.at.store(self.calls() + nth, Ordering::SeqCst);
    }

    fn step(&self) {
        let call = self.calls.fetch_add(1, Ordering::SeqCst) + 1;
        let (at, times) = (self.at.load(Ordering::SeqCst), self.times.load(Ordering::SeqCst));
        assert!(at == 0 || call < at || call >= at + times, "the trap of call {call}");
    }
}

/// A door that is shut until somebody opens it.
#[derive(Default)]
pub(crate) struct Door(Mutex<(bool, usize)>, Condvar);

impl Door {
    pub(crate) fn pass(&self) {
        let mut door = self.0.lock().expect("no panic");
        door.1 += 1;
        self.1.notify_all();
        drop(self.1.wait_while(door, |door| !door.0).expect("no panic"));
    }

    pub(crate) fn open(&self) {
        self.0.lock().expect("no panic").0 = true;
        self.1.notify_all();
    }

    /// Waits until somebody stands before it.
    pub(crate) fn await_knock(&self) {
        let door = self.0.lock().expect("no panic");
        drop(self.1.wait_while(door, |door| door.1 == 0).expect("no panic"));
    }
}

/// Things that the tests turn.
#[derive(Default)]
pub(crate) struct Levers {
    pub(crate) admits: Trap,
    pub(crate) adopts: Trap,
    pub(crate) forks: Trap,
    pub(crate) now_ms: AtomicU64,
    /// Events of type `wait` stop here while they are planned.
    pub(crate) door: Door,
}

/// The rules: `open` and `close` in turn; `note` anywhere; `say` on the surface.
pub(crate) struct Toy {
    levers: Arc<Levers>,
    catalogue: Catalogue,
}

fn no_lies(data: Json<'_>) -> Result<(), String> {
    assert!(data.get("panic").is_none(), "a check panics");
    if data.get("lie").is_some() { Err("it lies".to_owned()) } else { Ok(()) }
}

impl Toy {
    pub(crate) fn new(levers: &Arc<Levers>) -> Self {
        let mut catalogue = Catalogue::default();
        let types = [
            ("open", Placement::LogOnly),
            ("close", Placement::LogOnly),
            ("note", Placement::Either),
            ("wait", Placement::LogOnly),
            ("say", Placement::Surface),
        ];
        for (kind, placement) in types {
            let check = (kind == "note").then_some(no_lies as fn(Json<'_>) -> Result<(), String>);
            let entry = TypeEntry { owner: "toy".to_owned(), placement, check };
            catalogue.register(kind, entry).expect("each stands there once");
        }
        Self { levers: Arc::clone(levers), catalogue }
    }
}

impl RuleSet for Toy {
    fn profile(&self) -> &'static str {
        "toy"
    }

    fn version(&self) -> u32 {
        1
    }

    fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    fn judge(&self, _: &str, header: &SessionHeader) -> Result<Box<dyn Judge>, Violation> {
        if header.dialect == 9 {
            return Err(Violation::new("toy/dialect", "there is no dialect 9"));
        }
        let levers = Arc::clone(&self.levers);
        Ok(Box::new(ToyJudge { levers, facts: Facts::default() }))
    }
}

/// What the rules show.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    pub(crate) is_open: bool,
    pub(crate) events: u64,
}

struct ToyJudge {
    levers: Arc<Levers>,
    facts: Facts,
}

impl ToyJudge {
    fn plan(&self, event: &Event<'_>) -> Result<(), Violation> {
        match (event.kind, self.facts.is_open) {
            ("open", true) => Err(Violation::new("toy/open", "it is open already")),
            ("close", false) => Err(Violation::new("toy/close", "it is not open")),
            _ if event.seq != self.facts.events => Err(Violation::new("toy/seq", "a gap")),
            _ => Ok(()),
        }
    }

    fn apply(&mut self, event: &Event<'_>) {
        self.facts.events += 1;
        match event.kind {
            "open" => self.facts.is_open = true,
            "close" => self.facts.is_open = false,
            _ => {}
        }
    }
}

impl Closers for ToyJudge {
    fn closers(&self) -> Vec<Draft> {
        let mut close = Draft::new("close", "{}");
        close.time_ms = Some(77);
        let drafts = [close, note(0)];
        if self.facts.is_open { drafts.to_vec() } else { Vec::new() }
    }
}

impl Judge for ToyJudge {
    fn admit(&mut self, event: &Event<'_>) -> Result<(), Violation> {
        self.levers.admits.step();
        if event.kind == "wait" {
            self.levers.door.pass();
        }
        self.plan(event)?;
        self.apply(event);
        Ok(())
    }

    fn adopt(&mut self, event: &Event<'_>, report: &mut dyn FnMut(Violation)) {
        self.levers.adopts.step();
        if let Err(violation) = self.plan(event) {
            report(violation);
        }
        self.apply(event);
    }

    fn finish(&self, _: &End, _: &mut dyn FnMut(Violation)) {}

    fn fork(&self) -> Box<dyn Judge> {
        self.levers.forks.step();
        Box::new(Self { levers: Arc::clone(&self.levers), facts: self.facts.clone() })
    }

    fn facts(&self) -> &dyn Any {
        &self.facts
    }

    fn state_bytes(&self) -> usize {
        size_of::<Self>()
    }
}

impl Machine for Levers {
    fn now_ms(&self) -> u64 {
        self.now_ms.load(Ordering::SeqCst)
    }

    fn random(&self, buffer: &mut [u8]) {
        buffer.fill(4);
    }

    fn holder(&self) -> Holder {
        Holder::default()
    }
}

/// A store with its vault and its levers.
pub(crate) struct World {
    pub(crate) vault: Arc<Vault>,
    pub(crate) levers: Arc<Levers>,
    pub(crate) store: Store,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::of(Vault::new())
    }

    pub(crate) fn of(vault: Arc<Vault>) -> Self {
        Self::patient(vault, 30_000)
    }

    pub(crate) fn patient(vault: Arc<Vault>, gate_wait_ms_max: u64) -> Self {
        let levers: Arc<Levers> = Arc::default();
        levers.now_ms.store(1_000_000, Ordering::SeqCst);
        let backend = Arc::new(Submitting(Arc::clone(&vault)));
        let config = StoreConfig { gate_wait_ms_max, ..StoreConfig::default() };
        let (rules, machine) = (Arc::new(Toy::new(&levers)), Arc::clone(&levers));
        let store = Store::new(backend, rules, machine, config);
        Self { vault, levers, store }
    }

    /// Makes a session without an event.
    pub(crate) fn session(&self, id: &str) -> Session {
        self.store.create(id, &header(), |_| Ok(())).expect("it is created")
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            assert_eq!(self.vault.faults(), Vec::<String>::new());
        }
    }
}

pub(crate) fn header() -> SessionHeader {
    SessionHeader { dialect: 0, json: b"{}".to_vec() }
}

pub(crate) fn draft(kind: &str) -> Draft {
    Draft::new(kind, "{}")
}

pub(crate) fn note(n: u64) -> Draft {
    Draft::new("note", format!("{{\"n\":{n}}}"))
}

/// Everything that a session's gate shows.
pub(crate) fn facts(session: &Session) -> Facts {
    let mut gate = session.gate().expect("the gate is free");
    gate.facts::<Facts>().expect("the state is folded").clone()
}

/// The number in each note of a session, in order.
pub(crate) fn numbers(session: &Session) -> Vec<u64> {
    let (mut numbers, mut next) = (Vec::new(), 0);
    let read = session.read(0, &mut |stored| {
        assert_eq!(stored.seq, next, "seqs are dense");
        next += 1;
        numbers.extend(number(stored.data));
        std::ops::ControlFlow::Continue(())
    });
    read.expect("it can be read");
    numbers
}

/// The number in a note.
pub(crate) fn number(data: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(data).expect("it is text");
    text.strip_prefix("{\"n\":")?.strip_suffix('}')?.parse().ok()
}

/// Returns why something was refused.
#[track_caller]
pub(crate) fn refusal<T>(result: Result<T, AppendError>) -> Refusal {
    match result {
        Err(AppendError::Refused(refusal)) => refusal,
        Err(other) => panic!("it was not refused but ended as {other:?}"),
        Ok(_) => panic!("it was not refused"),
    }
}

/// Notes what it is told: `+seq` and `<seq`.
#[derive(Default)]
pub(crate) struct Notes(pub(crate) Mutex<Vec<String>>);

impl Notes {
    pub(crate) fn all(&self) -> Vec<String> {
        self.0.lock().expect("no panic").clone()
    }

    /// Waits until so many things were noted.
    pub(crate) fn await_count(&self, count: usize) -> Vec<String> {
        for _ in 0..2_000 {
            if self.all().len() >= count {
                break;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        self.all()
    }
}

impl Observer for Notes {
    fn committed(&self, id: &str, event: &Stored<'_>) {
        self.0.lock().expect("no panic").push(format!("{id}+{}", event.seq));
    }

    fn rewound(&self, id: &str, next_seq: u64) {
        self.0.lock().expect("no panic").push(format!("{id}<{next_seq}"));
    }
}
