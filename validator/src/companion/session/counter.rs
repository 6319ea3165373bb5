//! What is numbered 1, 2, 3 and never overlaps: the turns of a log, the steps of a turn.
//!
//! While a log is lawful this is the host's own bookkeeping: the number that is open, if one is,
//! and the number that comes next. A fault leaves two readings, what was known and what the record
//! claims, and later records tell which was right. Both are kept until then, so that one wrong or
//! missing record is one finding.

use crate::companion::script::{self, Value};
use gatelog_engine::json;
use std::fmt;

/// The number that is open, and the one that comes next.
#[derive(Clone, Debug)]
pub(super) struct Counter {
    open: Option<f64>,
    next: f64,
    /// The other reading of `open`, after a fault.
    also_open: Option<f64>,
    /// The other reading of `next`, after a fault.
    also_next: Option<f64>,
}

impl Default for Counter {
    fn default() -> Self {
        Self { open: None, next: 1.0, also_open: None, also_next: None }
    }
}

impl Counter {
    /// Returns whether one was started and not ended.
    pub(super) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Returns whether none is open by any reading.
    pub(super) fn is_closed(&self) -> bool {
        self.open.is_none() && self.also_open.is_none()
    }

    /// Returns whether a value names the one that is open; `null` names it when none is.
    pub(super) fn is_named_by(&self, value: Value<'_>) -> bool {
        self.is_exactly(value)
            || (self.also_open.is_some() && script::number(value) == self.also_open)
    }

    /// Returns whether a value is the number that comes next.
    pub(super) fn expects(&self, value: Value<'_>) -> bool {
        let number = script::number(value);
        number.is_some() && (number == Some(self.next) || number == self.also_next)
    }

    /// Returns the number that comes next, as the host prints it.
    pub(super) fn next(&self) -> String {
        json::display(self.next)
    }

    /// Opens the one that a start claims.
    pub(super) fn start(&mut self, claimed: Value<'_>) {
        let number = ordinal(claimed).unwrap_or(self.next);
        let expected = number == self.next || Some(number) == self.also_next;
        self.also_open = (!expected).then_some(self.next);
        self.open = Some(number);
        (self.next, self.also_next) = (number, None);
    }

    /// Closes the one that an end claims.
    pub(super) fn end(&mut self, claimed: Value<'_>) {
        let number = ordinal(claimed);
        (self.next, self.also_next) = if self.is_exactly(claimed) {
            (self.next + 1.0, None)
        } else if let Some(number) = number.filter(|number| Some(*number) == self.also_open) {
            (number + 1.0, Some(self.open.map_or(self.next, |open| open + 1.0)))
        } else {
            let known = if self.is_open() { self.next + 1.0 } else { self.next };
            (number.map_or(known, |number| number + 1.0), Some(known))
        };
        self.close();
    }

    /// Closes what is open, by any reading.
    pub(super) fn close(&mut self) {
        (self.open, self.also_open) = (None, None);
    }

    /// Starts to count from 1, and leaves open what is.
    pub(super) fn count_anew(&mut self) {
        (self.next, self.also_next) = (1.0, None);
    }

    /// Takes the one for open, too, that an event names.
    pub(super) fn adopt(&mut self, named: Value<'_>) {
        let named = script::number(named);
        if let Some(number) = named
            && self.open != named
            && self.also_open != named
        {
            self.also_open = Some(number);
            if self.open.is_none() {
                self.also_next = Some(number + 1.0);
            }
        }
    }

    /// Takes the next one for open, when an event lies in one and none is open.
    pub(super) fn adopt_next(&mut self) {
        if self.is_closed() {
            self.also_open = Some(self.next);
            self.also_next = Some(self.next + 1.0);
        }
    }

    /// Returns whether a value names the one that is open as the host sees it.
    fn is_exactly(&self, value: Value<'_>) -> bool {
        match self.open {
            Some(number) => script::number(value) == Some(number),
            None => script::is_null(value),
        }
    }
}

impl fmt::Display for Counter {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.open.map_or_else(|| "null".to_owned(), json::display))
    }
}

/// Returns the number that a start or an end claims, if anything could be counted by it.
fn ordinal(claimed: Value<'_>) -> Option<f64> {
    script::number(claimed).filter(|number| json::is_count(*number))
}
