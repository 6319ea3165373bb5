//! The exact event rows of formats 2 to 4, as far as the envelope goes.
//!
//! A row is valid if and only if its keys are `type`, `seq`, `time`, `data` and perhaps
//! `ignorable`, `sourceEventSeqs` and `surfaceOp`; `type` is a string; `time` a safe integer and
//! not -0; `ignorable` `true` where present; `sourceEventSeqs` decodes; and `seq` is the next one.
//! They are judged in this order.
//!
//! `sourceEventSeqs` is a list of seqs and of pairs `[first, last]`, all earlier than the row's
//! own, unique, and strictly increasing where it holds a pair.
//!
//! # Source
//!
//! `docs/dsh-format.md`, sections 3.4, 6.1 and 7.3.

use crate::dsh::fault::clip;
use crate::dsh::line::LineView;
use crate::dsh::row::{Envelope, KEYS};
use crate::json::{Json, is_count, is_safe_integer, is_seq};

/// What the host says of a range that ends too late, or before its start.
const EXCEEDS: &str = "sourceEventSeqs range exceeds its event seq";

/// What is wrong with a row.
#[derive(Clone, Debug, PartialEq)]
pub struct Flaw {
    what: String,
    /// The text already names its subject.
    whole: bool,
    /// The seq it has, when that is what is wrong.
    pub seq: Option<f64>,
}

impl Flaw {
    /// Makes a flaw of the row as a whole.
    pub fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), whole: false, seq: None }
    }

    fn sources(what: &str) -> Self {
        Self { what: what.into(), whole: true, seq: None }
    }

    /// Returns the host's words, given the number of rows before this one.
    pub fn host(&self, row: u64) -> String {
        if self.whole { self.what.clone() } else { format!("released v2 row {row} {}", self.what) }
    }
}

/// Judges a row whose seq should be `expected`.
pub fn judge(envelope: &Envelope, line: &LineView<'_>, format: u64, expected: u64) -> Option<Flaw> {
    let (text, tape) = (line.text, line.tape);
    let kind = envelope.kind(text, tape);
    let seq = envelope.seq(text, tape);
    let time = envelope.time(text, tape);
    let present = [
        ("type", kind.is_some()),
        ("seq", seq.is_some()),
        ("time", time.is_some()),
        ("data", envelope.data(text, tape).is_some()),
    ];
    if let Some((key, _)) = present.into_iter().find(|(_, present)| !present) {
        return Some(Flaw::new(format!("lacks required field {key}")));
    }
    if envelope.extra_key {
        let key = unexpected_key(envelope.root(text, tape));
        return Some(Flaw::new(format!("has unexpected field {key}")));
    }
    if !kind.is_some_and(|kind| kind.is_string()) {
        return Some(Flaw::new("type must be a string"));
    }
    let is_whole = |n: f64| is_safe_integer(n) && !(n == 0.0 && n.is_sign_negative());
    if !time.and_then(|time| time.as_number()).is_some_and(is_whole) {
        return Some(Flaw::new("time must be a safe integer"));
    }
    if envelope.ignorable(text, tape).is_some_and(|value| value.as_bool() != Some(true)) {
        return Some(Flaw::new("ignorable must be true when present"));
    }
    let number = seq.and_then(|seq| seq.as_number());
    if let Some(sources) = envelope.sources(text, tape) {
        let Some(own) = number.filter(|n| is_count(*n)) else {
            return Some(Flaw::new("seq must be a non-negative safe integer"));
        };
        if let Some(flaw) = judge_sources(sources, own) {
            return Some(flaw);
        }
    }
    let fits = |n: f64| n == expected as f64 && (format != 3 || is_count(n));
    if number.is_some_and(fits) {
        return None;
    }
    let got = seq.map_or_else(|| "undefined".into(), |seq| seq.to_js_string());
    let what = format!("has seq gap (expected {expected}, got {got})");
    Some(Flaw { what, whole: false, seq: number.filter(|n| is_seq(*n)) })
}

/// Returns the first key, in the order of an object's properties, that no envelope has.
fn unexpected_key(row: Json<'_>) -> String {
    let properties = row.properties();
    let mut keys = properties.iter().map(|(key, _)| key.to_lossy());
    let key = keys.find(|key| !KEYS.contains(&&**key)).unwrap_or_default();
    clip(key.into_owned())
}

/// Judges the stored form of `sourceEventSeqs` of a row whose seq is `own`.
fn judge_sources(sources: Json<'_>, own: f64) -> Option<Flaw> {
    if !sources.is_array() {
        return Some(Flaw::sources("sourceEventSeqs must be an array"));
    }
    let mut ranges: Vec<(f64, f64)> = Vec::with_capacity(sources.len());
    let mut has_pair = false;
    for member in sources.elements() {
        let range = if member.is_array() {
            has_pair = true;
            match pair(member) {
                Ok(range) => range,
                Err(flaw) => return Some(flaw),
            }
        } else {
            let Some(n) = member.as_number().filter(|n| is_count(*n)) else {
                let what = "sourceEventSeqs member must be a non-negative safe integer";
                return Some(Flaw::sources(what));
            };
            (n, n)
        };
        if range.1 >= own && member.is_array() {
            return Some(Flaw::sources(EXCEEDS));
        }
        ranges.push(range);
    }
    let is_increasing = ranges.windows(2).all(|pair| pair[0].1 < pair[1].0);
    if has_pair && !is_increasing {
        return Some(Flaw::sources("sourceEventSeqs ranges must be strictly increasing"));
    }
    ranges.sort_by(|a, b| a.0.total_cmp(&b.0));
    let is_unique = ranges.windows(2).all(|pair| pair[0].1 < pair[1].0);
    if !is_unique || ranges.last().is_some_and(|range| range.1 >= own) {
        return Some(Flaw::sources("sourceEventSeqs ranges must contain unique earlier seqs"));
    }
    None
}

fn pair(member: Json<'_>) -> Result<(f64, f64), Flaw> {
    let mut ends = [0.0; 2];
    if member.len() != 2 {
        return Err(Flaw::sources("sourceEventSeqs range must be a [start, end] pair"));
    }
    for (end, value) in ends.iter_mut().zip(member.elements()) {
        *end = value.as_number().filter(|n| is_count(*n)).ok_or_else(|| {
            Flaw::sources("sourceEventSeqs range must be a non-negative safe integer")
        })?;
    }
    if ends[1] < ends[0] {
        return Err(Flaw::sources(EXCEEDS));
    }
    Ok((ends[0], ends[1]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Document;

    fn fault(sources: &str, own: f64) -> Option<String> {
        let document = Document::parse(sources).expect("the case is JSON");
        judge_sources(document.root(), own).map(|flaw| flaw.what)
    }

    #[test]
    fn the_first_property_that_no_envelope_has_is_named() {
        for (row, key) in [
            (r#"{"type":"a","zz":1,"_":2}"#, "zz"),
            (r#"{"zz":1,"10":1,"9":1}"#, "9"),
            (r#"{"seq":0,"__proto__":null}"#, "__proto__"),
            (r#"{"seq":0,"":null}"#, ""),
        ] {
            let document = Document::parse(row).expect("the case is JSON");
            assert_eq!(unexpected_key(document.root()), key, "{row}");
        }
    }

    #[test]
    fn a_reversed_range_is_called_what_the_host_calls_it() {
        assert_eq!(fault("[[1,0]]", 2.0).as_deref(), Some(EXCEEDS));
        assert_eq!(fault("[[0,2]]", 2.0).as_deref(), Some(EXCEEDS));
    }

    #[test]
    fn seqs_and_pairs_decode() {
        for lawful in ["[]", "[3,1,2]", "[[5,5]]", "[1,[3,6],8]", "[[5,6]]", "[1.0,2e0]"] {
            assert_eq!(fault(lawful, 9.0), None, "{lawful}");
        }
    }

    #[test]
    fn a_source_that_is_late_repeated_unordered_or_no_seq_is_a_flaw() {
        for broken in [
            "null",
            "[9]",
            "[1,1]",
            "[-1]",
            "[-0]",
            "[[3,9]]",
            "[5,[1,2]]",
            "[[1]]",
            "[[2,1]]",
            "[\"1\"]",
        ] {
            assert!(fault(broken, 9.0).is_some(), "{broken}");
        }
    }
}
