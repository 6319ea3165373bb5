//! Rows of formats 1 to 4, which a codec decodes before anybody looks at their order.

use super::LogScan;
use crate::dsh::codec;
use crate::dsh::damage::Defective;
use crate::dsh::line::LineView;
use crate::dsh::row::Row;
use crate::dsh::strict;
use crate::event::Place;
use crate::json::is_seq;

/// Returns the seq that a row states for itself, where it is one.
fn own_seq(line: &LineView<'_>) -> Option<u64> {
    let seq = match line.row {
        Row::Event(envelope) => envelope.seq(line.text, line.tape)?.as_number()?,
        Row::Packed(packed) => packed.seq0,
        Row::BadPacked(bad) => bad.root(line.text, line.tape).get("seq0")?.as_number()?,
        _ => return None,
    };
    is_seq(seq).then_some(seq as u64)
}

impl LogScan<'_> {
    /// Returns the host's words for a row that does not decode.
    pub(super) fn invalid_text(&self, detail: &str) -> String {
        let number = self.row_number();
        format!("corrupt session log: invalid committed event at line {number}: {detail}")
    }

    /// A row of format 1.
    pub(super) fn decoded(&mut self, line: &LineView<'_>, place: Place) {
        let (text, tape) = (line.text, line.tape);
        let row = self.row_number() - 1;
        let decoded = match line.row {
            Row::Malformed(_) => return self.unparsable(line, place),
            Row::Event(envelope) => codec::event(envelope, line, row),
            Row::Packed(packed) => codec::packed(packed.root(text, tape), row),
            Row::BadPacked(bad) => {
                codec::packed(bad.root(text, tape), row).and_then(|()| Err(bad.why.to_owned()))
            }
            Row::Scalar | Row::Null => Err(codec::no_object(row)),
        };
        if let Err(detail) = decoded {
            self.damage.lines += 1;
            let host = self.invalid_text(&detail);
            let why = match line.row {
                Row::Packed(_) | Row::BadPacked(_) => Defective::Packed(detail.into()),
                Row::Event(_) => Defective::Invalid(detail),
                _ => Defective::Seq(None),
            };
            return self.set_issue(why, host, Place { seq: own_seq(line), ..place });
        }
        match line.row {
            Row::Event(envelope) => self.event(envelope, line, place),
            Row::Packed(packed) => self.packed(packed, line, place),
            _ => {}
        }
    }

    /// A row of formats 2 to 4, whose decoder is strict.
    pub(super) fn exact(&mut self, line: &LineView<'_>, place: Place) {
        let envelope = match line.row {
            Row::Malformed(_) => return self.unparsable(line, place),
            Row::Event(envelope) => Some(envelope),
            _ => None,
        };
        let is_turn_end =
            envelope.is_some_and(|envelope| envelope.known_name() == Some("turn/end"));
        if self.issue.is_none() {
            let flaw = match envelope {
                None => Some(strict::Flaw::new("must be an object")),
                Some(envelope) => strict::judge(envelope, line, self.format, self.events),
            };
            let Some(flaw) = flaw else {
                let envelope = envelope.expect("a row without a flaw is an object");
                return self.keep_event(envelope, line, place);
            };
            let detail = flaw.host(self.events);
            let host = self.invalid_text(&detail);
            let why = match flaw.seq.filter(|got| *got != self.events as f64) {
                Some(got) => Defective::Seq(Some(got)),
                None if envelope.is_none() => Defective::Seq(None),
                None => Defective::Invalid(detail),
            };
            self.set_issue(why, host, Place { seq: own_seq(line), ..place });
        }
        match envelope {
            Some(envelope) => self.after_issue(envelope, line, place),
            None => self.damage.lines += 1,
        }
        if is_turn_end {
            self.refuse_issue();
        }
    }
}
