//! The rules of the suite, and its clock: turns begin and end, notes stand anywhere.
//!
//! The types are of the host's vocabulary, so that both stores have a place for them; one is not.

use gatelog_engine::companion::{End, Violation};
use gatelog_engine::event::Event;
use gatelog_engine::machine::{Holder, Machine};
use gatelog_engine::rules::{
    Catalogue, Closers, Draft, Judge, Placement, RuleSet, SessionHeader, TypeEntry,
};
use std::any::Any;
use std::sync::atomic::{AtomicU64, Ordering};

/// When the clock of a test starts, in milliseconds since 1970.
pub(crate) const T0: u64 = 1_750_000_000_000;

/// A clock that is set by hand; chance that is counted.
pub(crate) struct Clock {
    now_ms: AtomicU64,
    chance: AtomicU64,
}

impl Clock {
    pub(crate) fn new() -> Self {
        Self { now_ms: AtomicU64::new(T0), chance: AtomicU64::new(1) }
    }

    pub(crate) fn set(&self, now_ms: u64) {
        self.now_ms.store(now_ms, Ordering::SeqCst);
    }
}

impl Machine for Clock {
    fn now_ms(&self) -> u64 {
        self.now_ms.load(Ordering::SeqCst)
    }

    fn random(&self, buffer: &mut [u8]) {
        // Ids must differ, and need not surprise.
        for byte in buffer {
            let n = self.chance.fetch_add(1, Ordering::SeqCst);
            *byte = (n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8;
        }
    }

    fn holder(&self) -> Holder {
        Holder { pid: 1, ..Holder::default() }
    }
}

pub(crate) struct Rules(Catalogue);

impl Rules {
    pub(crate) fn new() -> Self {
        let mut catalogue = Catalogue::default();
        let types = [
            ("turn/start", Placement::LogOnly, "host"),
            ("turn/end", Placement::LogOnly, "host"),
            ("plan/mode", Placement::LogOnly, "host"),
            ("user/message", Placement::Surface, "host"),
            ("acme/note", Placement::LogOnly, "acme"),
        ];
        for (kind, placement, owner) in types {
            let entry = TypeEntry { owner: owner.to_owned(), placement, check: None };
            catalogue.register(kind, entry).expect("each stands there once");
        }
        Self(catalogue)
    }
}

impl RuleSet for Rules {
    fn profile(&self) -> &'static str {
        "suite"
    }

    fn version(&self) -> u32 {
        1
    }

    fn catalogue(&self) -> &Catalogue {
        &self.0
    }

    fn judge(&self, _: &str, _: &SessionHeader) -> Result<Box<dyn Judge>, Violation> {
        Ok(Box::new(Turns(false)))
    }
}

/// Whether a turn is open.
struct Turns(bool);

impl Turns {
    fn plan(&self, event: &Event<'_>) -> Result<(), Violation> {
        match (event.kind, self.0) {
            ("turn/start", true) => Err(Violation::new("turn/open", "a turn is open")),
            ("turn/end", false) => Err(Violation::new("turn/none", "no turn is open")),
            _ => Ok(()),
        }
    }

    fn apply(&mut self, event: &Event<'_>) {
        match event.kind {
            "turn/start" => self.0 = true,
            "turn/end" => self.0 = false,
            _ => {}
        }
    }
}

impl Closers for Turns {
    fn closers(&self) -> Vec<Draft> {
        if self.0 { vec![note(0), start_or_end("turn/end")] } else { Vec::new() }
    }
}

impl Judge for Turns {
    fn admit(&mut self, event: &Event<'_>) -> Result<(), Violation> {
        self.plan(event)?;
        self.apply(event);
        Ok(())
    }

    fn adopt(&mut self, event: &Event<'_>, report: &mut dyn FnMut(Violation)) {
        if let Err(violation) = self.plan(event) {
            report(violation);
        }
        self.apply(event);
    }

    fn finish(&self, _: &End, _: &mut dyn FnMut(Violation)) {}

    fn fork(&self) -> Box<dyn Judge> {
        Box::new(Self(self.0))
    }

    fn facts(&self) -> &dyn Any {
        &self.0
    }

    fn state_bytes(&self) -> usize {
        size_of::<Self>()
    }
}

/// A draft that any session takes at any time, told apart by its number.
pub(crate) fn note(n: u64) -> Draft {
    Draft::new("plan/mode", format!("{{\"n\":{n}}}"))
}

/// A draft with a payload of so many bytes.
pub(crate) fn sized(bytes: usize) -> Draft {
    assert!(bytes >= 2, "two bytes are quotes");
    Draft::new("plan/mode", format!("\"{}\"", "x".repeat(bytes - 2)))
}

pub(crate) fn start_or_end(kind: &str) -> Draft {
    Draft::new(kind, "{}")
}

/// A header that both stores take.
pub(crate) fn header(id: &str) -> SessionHeader {
    let id = serde_json::to_string(id).expect("a string");
    let json = format!(
        "{{\"type\":\"session\",\"version\":0,\"id\":{id},\"createdAt\":{T0},\
         \"delegationDepth\":0}}"
    );
    SessionHeader { dialect: 0, json: json.into_bytes() }
}
