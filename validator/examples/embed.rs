//! A front end of its own: a store with the standard rules, one type of event and one rule more.
//!
//! `cargo run -p gatelog-validator --example embed -- DIR` makes a store in `DIR`, which must not
//! be there yet; says what the gate refuses and why; finds the same breach cold when a writer
//! without rules forces it in; and folds the session with a projection of its own.

use gatelog_engine::backend::{AppendError, Backend, Batch, Durability, Refusal, Row};
use gatelog_engine::companion::{Companion, End, Fold, Listens, Violation};
use gatelog_engine::event::Event;
use gatelog_engine::log::{Log, LogConfig};
use gatelog_engine::machine::ThisMachine;
use gatelog_engine::replay::{EventSource, Projected, Replay, SessionSink, replay};
use gatelog_engine::rules::{Draft, Judge, Placement, RuleSet, SessionHeader, TypeEntry};
use gatelog_engine::storage::Disk;
use gatelog_engine::store::Store;
use gatelog_validator::rule::Profile;
use gatelog_validator::standard::Standard;
use std::error::Error;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

/// What a session may spend, in cents.
const BUDGET_CENTS: f64 = 100.0;

/// A rule of our own: a session does not spend more than it may.
#[derive(Clone, Default)]
struct Budget {
    spent_cents: f64,
}

fn cents(event: &Event<'_>) -> f64 {
    event.field("cents").and_then(|cents| cents.as_number()).unwrap_or(0.0)
}

impl Companion for Budget {
    fn name(&self) -> &'static str {
        "budget"
    }

    fn listens(&self) -> Listens {
        Listens::Kinds(&["acme/spend"])
    }

    fn plan(&self, event: &Event<'_>) -> Result<(), Violation> {
        let after = self.spent_cents + cents(event);
        if after <= BUDGET_CENTS {
            return Ok(());
        }
        let text = format!("{after} cents would be spent, and {BUDGET_CENTS} is what there is");
        Err(Violation::new("acme/over-budget", text))
    }

    fn apply(&mut self, event: &Event<'_>) {
        self.spent_cents += cents(event);
    }

    fn finish(&self, _: &End, _: &mut dyn FnMut(Violation)) {}
}

/// A view of our own: what was spent.
impl Fold for Budget {
    fn fold(&mut self, event: &Event<'_>) {
        if event.kind == "acme/spend" {
            self.apply(event);
        }
    }
}

impl Projected for Budget {
    fn name(&self) -> &'static str {
        "acme/spent"
    }

    fn version(&self) -> u32 {
        1
    }

    fn json(&self) -> String {
        format!("{{\"cents\":{}}}", self.spent_cents)
    }

    fn save(&self) -> Vec<u8> {
        self.spent_cents.to_le_bytes().to_vec()
    }

    fn load(&mut self, state: &[u8]) -> bool {
        let Ok(bytes) = state.try_into() else { return false };
        self.spent_cents = f64::from_le_bytes(bytes);
        true
    }
}

fn rules() -> Result<Arc<Standard>, Box<dyn Error>> {
    let spend = TypeEntry { owner: "acme".into(), placement: Placement::LogOnly, check: None };
    let rules = Standard::new(Profile::Strict)
        .with_type("acme/spend", spend)
        .map_err(|taken| format!("{taken}"))?
        .with_companion(|_| Box::new(Budget::default()));
    Ok(Arc::new(rules))
}

fn spend(cents: u32) -> Draft {
    Draft::new("acme/spend", format!("{{\"cents\":{cents}}}"))
}

/// A turn in which a person is asked, and allows it.
fn turn_with_approval() -> Vec<Draft> {
    let draft = |kind: &str, data: &str| Draft::new(kind, data);
    vec![
        draft("turn/start", r#"{"turn":1}"#),
        draft("approval/asked", r#"{"id":"a1","toolName":"shell"}"#),
        draft("approval/decided", r#"{"id":"a1","outcome":"allowed-once"}"#),
        spend(60),
        draft("turn/end", r#"{"turn":1,"reason":{"kind":"completed"}}"#),
    ]
}

/// Runs the rules over a stored session.
struct Cold {
    rules: Arc<Standard>,
    judge: Option<Box<dyn Judge>>,
    found: Vec<String>,
}

impl SessionSink for Cold {
    fn header(&mut self, header: &SessionHeader) {
        self.judge = self.rules.judge("s1", header).ok();
    }

    fn event(&mut self, event: &Event<'_>) -> ControlFlow<()> {
        if let Some(judge) = &mut self.judge {
            let found = &mut self.found;
            judge.adopt(event, &mut |violation| {
                found.push(format!(
                    "{} at seq {}: {}",
                    violation.rule, event.seq, violation.message
                ));
            });
        }
        ControlFlow::Continue(())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let Some(dir) = std::env::args_os().nth(1) else {
        return Err("name a directory for the store; it must not be there yet".into());
    };
    let dir = Path::new(&dir);
    let header = SessionHeader {
        dialect: 0,
        json: br#"{"type":"session","version":0,"id":"s1","createdAt":1,"delegationDepth":0}"#
            .to_vec(),
    };

    // Live: the gate lets nothing in that a rule speaks against.
    let store = Store::open(dir, rules()?)?;
    let session = store.create("s1", &header, |_| Ok(())).map_err(|error| format!("{error:?}"))?;
    let commit = session
        .append(turn_with_approval(), Durability::Synced)
        .map_err(|error| format!("{error:?}"))?;
    println!("committed: {} events from seq {}", commit.events, commit.first_seq);
    match session.append(vec![spend(50)], Durability::Synced) {
        Err(AppendError::Refused(Refusal::Violation(violation))) => {
            println!("refused: {}: {}", violation.rule, violation.message);
        }
        other => return Err(format!("the gate let it in: {other:?}").into()),
    }
    store.close()?;

    // Cold: a writer without rules forces it in, and the same rule finds it.
    let log = Log::open(Arc::new(Disk), dir, Arc::new(ThisMachine), LogConfig::default())?;
    let next = log.find("s1")?.map_or(0, |session| session.next_seq);
    let row = Row { time_ms: 2, draft: spend(50) };
    let batch = Batch { first_seq: next, key: None, rows: vec![row] };
    log.append("s1", batch, Durability::Synced).map_err(|error| format!("{error:?}"))?;
    let source: &dyn Backend = &log;
    let mut cold = Cold { rules: rules()?, judge: None, found: Vec::new() };
    EventSource::read(&source, "s1", &mut cold)?;
    for finding in &cold.found {
        println!("found: {finding}");
    }
    if cold.found.len() != 1 {
        return Err(format!("one finding was to be expected: {:?}", cold.found).into());
    }

    // Replayed: what the session adds up to.
    let make = |_: &SessionHeader| vec![Box::new(Budget::default()) as Box<dyn Projected>];
    replay(&source, &make, Replay::default(), &mut |name, folded| {
        let views = folded.map(|folded| folded.views).unwrap_or_default();
        for view in views {
            println!("{name}: {} {}", view.name, view.json);
        }
        ControlFlow::Continue(())
    })?;
    log.close()?;
    Ok(())
}
