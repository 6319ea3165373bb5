//! Rules for trials: everything is lawful but what says that it is not.

use gatelog_engine::companion::{End, Violation};
use gatelog_engine::event::Event;
use gatelog_engine::rules::{
    Catalogue, Closers, Draft, Judge, Placement, RuleSet, SessionHeader, TypeEntry,
};
use std::any::Any;

/// Opens a turn.
pub const OPEN: &str = "trial/open";
/// Stands anywhere.
pub const EVENT: &str = "trial/event";
/// Closes a turn.
pub const CLOSE: &str = "trial/close";
/// Is refused, always.
pub const BAD: &str = "trial/bad";

/// The payload of the event by which recovery closes a turn.
pub const CLOSER: &str = "\"closer\"";

/// The rules: four types, one of which is never lawful; a turn that a dead writer left open is
/// closed by one event.
pub struct Lenient(Catalogue);

impl Default for Lenient {
    fn default() -> Self {
        let mut catalogue = Catalogue::default();
        for kind in [OPEN, EVENT, CLOSE, BAD] {
            let placement = Placement::LogOnly;
            let entry = TypeEntry { owner: "trial".to_owned(), placement, check: None };
            catalogue.register(kind, entry).expect("each stands there once");
        }
        Self(catalogue)
    }
}

impl RuleSet for Lenient {
    fn profile(&self) -> &'static str {
        "trial"
    }

    fn version(&self) -> u32 {
        1
    }

    fn catalogue(&self) -> &Catalogue {
        &self.0
    }

    fn judge(&self, _: &str, _: &SessionHeader) -> Result<Box<dyn Judge>, Violation> {
        Ok(Box::new(LenientJudge::default()))
    }
}

/// What the rules show of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// How many events there are.
    pub events: u64,
    /// A turn is open.
    pub is_open: bool,
    /// A number that depends on every byte of every event, and on their order.
    pub sum: u64,
}

impl Facts {
    /// Takes one event in.
    pub fn take(&mut self, seq: u64, kind: &str, data: &[u8]) {
        self.events += 1;
        match kind {
            OPEN => self.is_open = true,
            CLOSE => self.is_open = false,
            _ => {}
        }
        for byte in kind.bytes().chain(data.iter().copied()).chain(seq.to_le_bytes()) {
            self.sum = (self.sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3).rotate_left(9);
        }
    }
}

#[derive(Clone, Default)]
struct LenientJudge(Facts);

impl LenientJudge {
    fn plan(&self, event: &Event<'_>) -> Result<(), Violation> {
        if event.kind == BAD {
            return Err(Violation::new("trial/bad", "it says so"));
        }
        if event.seq != self.0.events {
            return Err(Violation::new("trial/seq", "a gap"));
        }
        Ok(())
    }

    fn apply(&mut self, event: &Event<'_>) {
        self.0.take(event.seq, event.kind, event.data.raw());
    }
}

impl Closers for LenientJudge {
    fn closers(&self) -> Vec<Draft> {
        let closer = || Draft::new(CLOSE, CLOSER);
        if self.0.is_open { vec![closer()] } else { Vec::new() }
    }
}

impl Judge for LenientJudge {
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

    fn finish(&self, _: &End, report: &mut dyn FnMut(Violation)) {
        if self.0.is_open {
            report(Violation::new("trial/open-turn", "a turn is open at the end"));
        }
    }

    fn fork(&self) -> Box<dyn Judge> {
        Box::new(self.clone())
    }

    fn facts(&self) -> &dyn Any {
        &self.0
    }

    fn state_bytes(&self) -> usize {
        size_of::<Self>()
    }
}
