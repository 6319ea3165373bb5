//! Clock readings that the time-context plugin puts before a request: each is where it says, and
//! says what the turn's messages and the clock allow.
//!
//! One rule of the host needs a time-zone database, and this family leaves it out: that the
//! timestamp reads the same when it is printed again in the one browser zone of the turn. For the
//! same reason a zone is only asked to look like one, not to exist and to be canonical.
//!
//! # Source
//! `docs/dsh-format.md`, section 15.14, TIM-1 to TIM-8.

use std::collections::BTreeSet;

use gatelog_engine::companion::{Companion, End, Listens, RuleId, Violation};
use gatelog_engine::event::Event;
use gatelog_engine::json::{Json, is_safe_integer};

use super::instant;
use super::reading::Reading;
use super::script::{self, Held, Value};
use super::shape::bytes;
use crate::rule::Rule;

const NOT_ONE_TEXT: RuleId = "time/not-one-text";
const INVALID_READING: RuleId = "time/invalid-reading";
const WRONG_PLACE: RuleId = "time/wrong-place";
const INVALID_SOURCE: RuleId = "time/invalid-source";
const INVALID_ZONE: RuleId = "time/invalid-zone";
const ZONE_DIFFERS: RuleId = "time/zone-differs";
const WRONG_BASELINE: RuleId = "time/wrong-baseline";
const LATE_READING: RuleId = "time/late-reading";

/// The name of the plugin, and of the one section of its messages.
const PLUGIN: &str = "time-context";

/// The rules of the family.
pub(super) const RULES: &[Rule] = &[
    Rule::error(
        NOT_ONE_TEXT,
        "a clock reading is one text block and nothing else",
        optional!("The message was changed after the host wrote it."),
    ),
    Rule::error(
        INVALID_READING,
        "a clock reading has the form that the host writes, with a turn and a step from 1",
        optional!("Another release of the host wrote the message, or it was changed."),
    ),
    Rule::error(
        WRONG_PLACE,
        "a clock reading lies in the turn and step that it names, before the request header",
        optional!("Records are missing around the reading, or two programs wrote to one session."),
    ),
    Rule::error(
        INVALID_SOURCE,
        "the source of a clock reading carries exactly the snapshot of its text",
        optional!("The message claims more than a clock reading may; it was changed."),
    ),
    Rule::error(
        INVALID_ZONE,
        "the browser zones of a turn's messages are UTC or of the form Area/Location",
        optional!("A client sent a time zone that is none."),
    ),
    Rule::error(
        ZONE_DIFFERS,
        "a clock reading names the browser zones of the turn's messages",
        optional!("A user message of the turn is missing, or the reading was changed."),
    ),
    Rule::error(
        WRONG_BASELINE,
        "the reading of step 1 counts from a model-visible message, any other from a step context",
        optional!("Another release of the host wrote the message, or it was changed."),
    ),
    Rule::error(
        LATE_READING,
        "a clock reading is a real time that is not later than its event",
        optional!(
            "A clock was set back between the reading and the record, or one of them \
            was changed."
        ),
    ),
];

/// What the open turn says of time.
#[derive(Clone)]
pub(super) struct TimeContext {
    /// The open turn; nothing when it ended or named no turn.
    turn: Held,
    /// The open step.
    step: Held,
    /// A request header followed the start of the step.
    requested: bool,
    /// The browser zones of the user messages since the turn started.
    zones: BTreeSet<String>,
    /// The first zone of the turn that is none, quoted.
    bad_zone: Option<String>,
}

impl Default for TimeContext {
    fn default() -> Self {
        Self {
            turn: Held::Undefined,
            step: Held::Undefined,
            requested: false,
            zones: BTreeSet::new(),
            bad_zone: None,
        }
    }
}

impl TimeContext {
    fn judge(&self, event: &Event<'_>, source: Json<'_>) -> Result<(), Violation> {
        let text = only_text(event.field("content"))?;
        let Some(reading) = Reading::of(&text) else {
            let text = "time-context message does not match the durable reading format";
            return refuse(INVALID_READING, text);
        };
        let (turn, step) = (reading.turn(), reading.step());
        if [turn, step].iter().any(|number| !is_safe_integer(*number) || *number < 1.0) {
            let text = "time-context turn and step must be positive safe integers";
            return refuse(INVALID_READING, text);
        }
        self.judge_place(&reading)?;
        if !is_snapshot(source, event.field("content")) {
            let text = "time-context source must carry only the exact snapshot text, \
                        not request authority";
            return refuse(INVALID_SOURCE, text);
        }
        if let Some(zone) = &self.bad_zone {
            let text =
                format!("browser time zone must be canonical UTC or IANA Area/Location: {zone}");
            return refuse(INVALID_ZONE, text);
        }
        if reading.browser_line != self.browser_line().as_bytes() {
            let text = "time-context browser-zone text does not match current-turn user messages";
            return refuse(ZONE_DIFFERS, text);
        }
        if (step == 1.0) != (reading.baseline == Reading::FIRST_BASELINE) {
            let (step, baseline) = (reading.step_shown(), reading.baseline);
            let text = format!(
                "time-context step {step} uses the wrong elapsed-time baseline \"{baseline}\""
            );
            return refuse(WRONG_BASELINE, text);
        }
        let read_ms = instant::zoned(reading.instant);
        let in_time = is_safe_integer(event.time_ms)
            && read_ms.is_some_and(|read_ms| event.time_ms >= read_ms as f64);
        if !in_time {
            let text =
                "time-context rendered timestamp must parse and not postdate its durable event";
            return refuse(LATE_READING, text);
        }
        Ok(())
    }

    fn judge_place(&self, reading: &Reading<'_>) -> Result<(), Violation> {
        let text = if matches!(self.turn, Held::Undefined) {
            "time-context reading must be appended inside an open turn"
        } else if matches!(self.step, Held::Undefined) {
            "time-context reading must follow step/start"
        } else if self.requested {
            "time-context reading must precede request/header"
        } else if self.turn == Held::Number(reading.turn())
            && self.step == Held::Number(reading.step())
        {
            return Ok(());
        } else {
            let (turn, step) = (reading.turn_shown(), reading.step_shown());
            let (open_turn, open_step) = (self.turn.shown(), self.step.shown());
            let text = format!(
                "time-context reading names turn {turn}/step {step}, \
                 expected turn {open_turn}/step {open_step}"
            );
            return refuse(WRONG_PLACE, text);
        };
        refuse(WRONG_PLACE, text)
    }

    /// Returns the line that tells the model of the browser zones of the turn.
    fn browser_line(&self) -> String {
        let zones = match self.zones.len() {
            0 => "unavailable".to_owned(),
            1 => self.zones.iter().map(String::as_str).collect(),
            _ => {
                let zones: Vec<_> = self.zones.iter().map(|zone| format!("\"{zone}\"")).collect();
                format!("mixed [{}]", zones.join(","))
            }
        };
        let advice = if self.zones.len() == 1 {
            "Interpret otherwise-unqualified dates and times in this zone."
        } else {
            "Ask the user to clarify otherwise-unqualified dates and times."
        };
        format!("Browser time zone for this request: {zones}. {advice}")
    }

    fn take_zone(&mut self, source: Json<'_>) {
        let from_browser = script::is_str(source.get("kind"), "user")
            && source.get("rpcId").is_some_and(|id| id.is_string());
        let Some(zone) = source.get("clientTimeZone").filter(|_| from_browser) else { return };
        let Some(text) = bytes(Some(zone)) else { return };
        if is_zone(&text) {
            self.zones.insert(String::from_utf8_lossy(&text).into_owned());
        } else {
            self.bad_zone.get_or_insert_with(|| script::quoted(Some(zone)));
        }
    }
}

impl Companion for TimeContext {
    fn name(&self) -> &'static str {
        "time"
    }

    fn listens(&self) -> Listens {
        Listens::Kinds(&[
            "turn/start",
            "turn/end",
            "step/start",
            "step/end",
            "request/header",
            "user/message",
        ])
    }

    fn plan(&self, event: &Event<'_>) -> Result<(), Violation> {
        if event.kind != "user/message" {
            return Ok(());
        }
        let own = event.field("source").filter(|source| {
            script::is_str(source.get("kind"), "plugin")
                && script::is_str(source.get("plugin"), PLUGIN)
        });
        own.map_or(Ok(()), |source| self.judge(event, source))
    }

    fn apply(&mut self, event: &Event<'_>) {
        match event.kind {
            "turn/start" => {
                self.turn = Held::of(event.field("turn"));
                self.step = Held::Undefined;
                self.requested = false;
                self.zones.clear();
                self.bad_zone = None;
            }
            "turn/end" => {
                self.turn = Held::Undefined;
                self.step = Held::Undefined;
                self.requested = false;
            }
            "step/start" => {
                self.step = Held::of(event.field("step"));
                self.requested = false;
            }
            "step/end" => {
                self.step = Held::Undefined;
                self.requested = false;
            }
            "request/header" => self.requested = true,
            "user/message" => {
                if let Some(source) = event.field("source") {
                    self.take_zone(source);
                }
            }
            _ => {}
        }
    }

    fn finish(&self, _end: &End, _report: &mut dyn FnMut(Violation)) {}
}

/// Returns the text of a content that is one text block.
fn only_text(content: Value<'_>) -> Result<Box<[u8]>, Violation> {
    let block = content.filter(|content| content.len() == 1).and_then(|content| content.at(0));
    let block = block.filter(|block| {
        block.has_exactly(&["type", "text"], &[]) && script::is_str(block.get("type"), "text")
    });
    let text = block.and_then(|block| bytes(block.get("text")));
    text.ok_or_else(|| {
        let text = "time-context messages must contain exactly one text block";
        Violation::new(NOT_ONE_TEXT, text)
    })
}

/// Returns whether a source is the snapshot of a content and nothing more.
fn is_snapshot(source: Json<'_>, content: Value<'_>) -> bool {
    let text = content.and_then(|content| content.at(0)).and_then(|block| block.get("text"));
    let section = source.get("sections").filter(Json::is_array);
    let section = section.filter(|sections| sections.len() == 1).and_then(|all| all.at(0));
    source.has_exactly(&["kind", "plugin", "form", "sections"], &[])
        && script::is_str(source.get("form"), "snapshot")
        && section.is_some_and(|section| {
            section.has_exactly(&["name", "text"], &[])
                && script::is_str(section.get("name"), PLUGIN)
                && bytes(section.get("text")) == bytes(text)
        })
}

/// Returns whether a text is `UTC` or looks like a name of the zone database.
fn is_zone(text: &[u8]) -> bool {
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_+.-".contains(byte);
    let parts = text.split(|byte| *byte == b'/');
    text == b"UTC"
        || (text.contains(&b'/') && text.first().is_some_and(u8::is_ascii_alphabetic) && { parts }
            .all(|part| !part.is_empty() && part.iter().all(is_name)))
}

fn refuse<T>(rule: RuleId, message: impl Into<String>) -> Result<T, Violation> {
    Err(Violation::new(rule, message))
}

#[cfg(test)]
mod tests;
