//! Compaction: a start, one summary, an end, all of one turn or all between two turns.
//!
//! A transaction that a crash left open is closed by the next `session/end-seed`. Crash recovery
//! may by then have closed its turn, so the host, which sees the whole log before it judges, lets
//! the turn boundary pass if and only if the transaction is still open at a later
//! `session/end-seed`. A fold cannot look ahead: it keeps the place of the boundary and speaks when
//! the next start or end of a compaction proves that no `session/end-seed` came first. At the end
//! of the log it says nothing, because every load of the host adds a `session/end-seed` there. A
//! live gate, whose host judges the boundary at once, is told so with [`Compaction::live`].
//!
//! # Source
//! `docs/dsh-format.md`, section 15.6; `@deepseek-ai/dsh-compaction/invariant`.

mod rules;
#[cfg(test)]
mod tests;

use super::script::{self, Held, Value, is_nonempty_string, is_str, member, shown};
use crate::rule::Profile;
use gatelog_engine::companion::{Companion, End, Listens, RuleId, Violation};
use gatelog_engine::event::Event;
use gatelog_engine::json::{self, Json};
pub(super) use rules::RULES;
use rules::{
    COMMAND_ID_MISMATCH, EMPTY_SUMMARY, END_OWNER, END_WITHOUT_SUMMARY, ID_MISMATCH,
    INVALID_COMMAND_ID, INVALID_ID, NEVER_ENDED, OUTSIDE_ITS_TURN, RANGE_MISMATCH,
    REPEATED_SUMMARY, START_OWNER, START_WHILE_OPEN, TOKEN_COUNT, TURN_BOUNDARY, WITHOUT_START,
};

/// A transaction that is open.
#[derive(Clone, Debug)]
struct Transaction {
    id: Held,
    command_id: Held,
    turn: Held,
    start_seq: u64,
    summarized: bool,
    /// No start was seen: a summary that was faulted stands for it.
    assumed: bool,
    /// The first turn boundary inside it, with the sentence that is due unless it is an orphan.
    crossed: Option<(u64, String)>,
}

impl Transaction {
    /// Begins what a record claims.
    fn of(event: &Event<'_>) -> Self {
        Self {
            id: Held::of(event.field("compactionId")),
            command_id: Held::of(event.field("sourceCommandId")),
            turn: Held::of(event.field("turn")),
            start_seq: event.seq,
            summarized: false,
            assumed: false,
            crossed: None,
        }
    }
}

/// The state of the compaction that is open, and of the turn around it.
#[derive(Clone, Debug)]
pub(super) struct Compaction {
    profile: Profile,
    live: bool,
    turn: Held,
    /// A start that names another turn was faulted: which one is open is not known until it ends.
    turn_doubted: bool,
    open: Option<Transaction>,
}

impl Compaction {
    /// Makes the companion for a log that is read.
    pub(super) fn new(profile: Profile) -> Self {
        Self { profile, live: false, turn: Held::Null, turn_doubted: false, open: None }
    }

    /// Makes it judge a turn boundary at once, as the host does when it appends.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "the gate that calls it comes with its issue")
    )]
    pub(super) fn live(mut self) -> Self {
        self.live = true;
        self
    }

    fn plan_boundary(&self, event: &Event<'_>) -> Result<(), Violation> {
        match &self.open {
            Some(open) if self.live => {
                Err(Violation::new(TURN_BOUNDARY, boundary_text(event.kind, open)))
            }
            _ => Ok(()),
        }
    }

    /// Speaks of a boundary that an earlier event crossed, now that the transaction is no orphan.
    fn plan_crossed(&self) -> Result<(), Violation> {
        match self.open.as_ref().and_then(|open| open.crossed.as_ref()) {
            Some((seq, text)) => Err(Violation::at(TURN_BOUNDARY, text.clone(), *seq)),
            None => Ok(()),
        }
    }

    fn plan_start(&self, event: &Event<'_>) -> Result<(), Violation> {
        self.plan_crossed()?;
        plan_ids(Some(event.data), "compaction/start")?;
        if let Some(open) = &self.open {
            let owner = match &open.turn {
                Held::Null => "standalone compaction".to_owned(),
                turn => format!("turn {}", turn.shown()),
            };
            let text = format!("compaction/start while {owner} is still compacting");
            return Err(Violation::new(START_WHILE_OPEN, text));
        }
        let turn = event.field("turn");
        self.plan_owner(self.turn.is(turn), &Held::of(turn), event.kind, START_OWNER)
    }

    fn plan_summary(&self, event: &Event<'_>) -> Result<(), Violation> {
        let open = self.plan_member(Some(event.data), "compaction/summary")?;
        self.plan_owner(open.turn.is_held(&self.turn), &open.turn, event.kind, OUTSIDE_ITS_TURN)?;
        if open.summarized {
            let text = "compaction/summary repeated within one compaction";
            return Err(Violation::new(REPEATED_SUMMARY, text));
        }
        plan_shadowed(event)?;
        let count = script::number(event.field("shadowedTokenCount"));
        if !count.is_some_and(json::is_seq) {
            let text = "compaction/summary shadowedTokenCount must be a non-negative safe integer";
            return Err(Violation::new(TOKEN_COUNT, text));
        }
        Ok(())
    }

    fn plan_end(&self, event: &Event<'_>) -> Result<(), Violation> {
        self.plan_crossed()?;
        let open = self.plan_member(Some(event.data), "compaction/end")?;
        let turn = event.field("turn");
        if !open.turn.is(turn) && !self.turn_doubted {
            let (turn, started) = (shown(turn), open.turn.shown());
            let text = format!(
                "compaction/end owner {turn} does not match compaction/start owner {started}"
            );
            return Err(Violation::new(END_OWNER, text));
        }
        self.plan_owner(open.turn.is_held(&self.turn), &open.turn, event.kind, OUTSIDE_ITS_TURN)?;
        if event.field("error").is_none() && !open.summarized {
            let text = "successful compaction/end requires one compaction/summary";
            return Err(Violation::new(END_WITHOUT_SUMMARY, text));
        }
        Ok(())
    }

    /// Requires that a record belongs to the open transaction.
    fn plan_member(&self, record: Value<'_>, what: &str) -> Result<&Transaction, Violation> {
        plan_ids(record, what)?;
        let Some(open) = &self.open else {
            let text = format!("{what} has no matching compaction/start");
            return Err(Violation::new(WITHOUT_START, text));
        };
        let id = record.and_then(|record| record.get("compactionId"));
        if !open.id.is(id) {
            let (id, started) = (shown(id), open.id.shown());
            let text = format!("{what} id {id} does not match compaction/start id {started}");
            return Err(Violation::new(ID_MISMATCH, text));
        }
        let command_id = record.and_then(|record| record.get("sourceCommandId"));
        if !open.command_id.is(command_id) {
            let text = format!(
                "{what} sourceCommandId {} does not match compaction/start sourceCommandId {}",
                shown(command_id),
                open.command_id.shown()
            );
            return Err(Violation::new(COMMAND_ID_MISMATCH, text));
        }
        Ok(open)
    }

    /// Words the three ways in which an owner is not the turn that is open.
    fn plan_owner(
        &self,
        inside: bool,
        owner: &Held,
        kind: &str,
        rule: RuleId,
    ) -> Result<(), Violation> {
        if inside || self.turn_doubted {
            return Ok(());
        }
        let (turn, owner_text) = (self.turn.shown(), owner.shown());
        Err(Violation::new(
            rule,
            match (owner, &self.turn) {
                (Held::Null, _) => format!("{kind} is standalone but turn {turn} is open"),
                (_, Held::Null) => {
                    format!("{kind} for turn {owner_text} appended outside any open turn")
                }
                _ => format!("{kind} names turn {owner_text} but open turn is {turn}"),
            },
        ))
    }

    fn apply_boundary(&mut self, event: &Event<'_>) {
        if let Some(open) = &mut self.open
            && !open.assumed
            && open.crossed.is_none()
        {
            open.crossed = Some((event.seq, boundary_text(event.kind, open)));
        }
        self.turn_doubted = false;
        self.turn = match event.kind {
            "turn/start" => Held::of(event.field("turn")),
            _ => Held::Null,
        };
    }

    fn apply_start(&mut self, event: &Event<'_>) {
        self.turn_doubted |= !self.turn.is(event.field("turn"));
        self.open = Some(Transaction::of(event));
    }

    fn apply_summary(&mut self, event: &Event<'_>) {
        // A summary without a start was faulted, and is not faulted again in what follows it.
        let open = self.open.get_or_insert_with(|| Transaction {
            turn: self.turn.clone(),
            assumed: true,
            ..Transaction::of(event)
        });
        open.summarized = true;
    }
}

/// Requires ids of a record in the form that the host writes.
fn plan_ids(record: Value<'_>, what: &str) -> Result<(), Violation> {
    if !is_nonempty_string(member(record, "compactionId", INVALID_ID)?) {
        let text = format!("{what} compactionId must be a non-empty string");
        return Err(Violation::new(INVALID_ID, text));
    }
    let command_id = member(record, "sourceCommandId", INVALID_COMMAND_ID)?;
    if command_id.is_some() && !is_nonempty_string(command_id) {
        let text = format!("{what} sourceCommandId must be a non-empty string");
        return Err(Violation::new(INVALID_COMMAND_ID, text));
    }
    Ok(())
}

/// Requires that a summary says what it replaces: some seqs, and a range from first to last.
fn plan_shadowed(event: &Event<'_>) -> Result<(), Violation> {
    let seqs = event.field("shadowedSeqs");
    if script::length(seqs, EMPTY_SUMMARY)? == Some(0.0) {
        let text = "compaction/summary shadowedSeqs must be non-empty";
        return Err(Violation::new(EMPTY_SUMMARY, text));
    }
    let range = event.field("shadowedRange");
    let start = member(range, "start", RANGE_MISMATCH)?;
    let end = member(range, "end", RANGE_MISMATCH)?;
    // Of a string the host compares single characters; no log has one here, and it fails.
    let seqs = seqs.filter(Json::is_array);
    let last = seqs.and_then(|seqs| seqs.at(seqs.len().saturating_sub(1)));
    let matches = seqs.is_some_and(|seqs| Held::of(seqs.at(0)).is(start)) && Held::of(last).is(end);
    if matches {
        return Ok(());
    }
    let text = "compaction/summary shadowedRange must match the first and last shadowedSeqs";
    Err(Violation::new(RANGE_MISMATCH, text))
}

/// Returns the source of a message that replaces others as the outcome of a compaction.
fn checkpoint<'a>(event: &Event<'a>) -> Value<'a> {
    let source = event.field("source").filter(|_| event.surface.is_some() && !event.is_append())?;
    let plugin = is_str(source.get("kind"), "plugin") && is_str(source.get("plugin"), "compact");
    plugin.then_some(source)
}

fn boundary_text(kind: &str, open: &Transaction) -> String {
    let owner = match &open.turn {
        Held::Null => "standalone compaction".to_owned(),
        turn => format!("compaction for turn {}", turn.shown()),
    };
    format!("{kind} cannot cross an open {owner}")
}

impl Companion for Compaction {
    fn name(&self) -> &'static str {
        "compaction"
    }

    fn listens(&self) -> Listens {
        Listens::Kinds(&[
            "turn/start",
            "turn/end",
            "compaction/start",
            "compaction/summary",
            "compaction/end",
            "user/message",
            "session/end-seed",
        ])
    }

    fn plan(&self, event: &Event<'_>) -> Result<(), Violation> {
        match event.kind {
            "turn/start" | "turn/end" => self.plan_boundary(event),
            "compaction/start" => self.plan_start(event),
            "compaction/summary" => self.plan_summary(event),
            "compaction/end" => self.plan_end(event),
            "user/message" => match checkpoint(event) {
                Some(source) => self.plan_member(Some(source), "compaction checkpoint").map(|_| ()),
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }

    fn apply(&mut self, event: &Event<'_>) {
        match event.kind {
            "turn/start" | "turn/end" => self.apply_boundary(event),
            "compaction/start" => self.apply_start(event),
            "compaction/summary" => self.apply_summary(event),
            "compaction/end" | "session/end-seed" => self.open = None,
            _ => {}
        }
    }

    fn finish(&self, _: &End, report: &mut dyn FnMut(Violation)) {
        if self.profile == Profile::Strict
            && let Some(open) = &self.open
            && !open.assumed
        {
            let id = open.id.shown();
            let text = format!("compaction \"{id}\" was started and never ended");
            report(Violation::at(NEVER_ENDED, text, open.start_seq));
        }
    }
}
