//! Holds the scanner, the push validator and the cursor against the naive twin, on one text.
//!
//! The tests and the fuzz target include this file by its path, next to `mod.rs`.

#![allow(dead_code, unreachable_pub, reason = "each of those who include it uses a part")]

use gatelog_engine::json::{Defect, DigestKeys, Document, Json, Kind, Push, Skeleton, display};

use super::naive::{self, Value};

/// Values up to this long are also looked at by themselves; for longer ones, and they may be
/// nested, that would take long.
const ALONE_BYTES_MAX: usize = 256;

/// Judges a text in all ways, the push validator with pieces that end at `cuts`; panics when two
/// of them disagree. Returns what it holds, if it is JSON.
pub fn check(text: &[u8], cuts: &[usize]) -> Option<(Document, Value)> {
    let value = naive::parse(text);
    let scanned = Document::parse(text);
    let pushed = push(text, cuts);
    assert_eq!(pushed, push(text, &[]), "in pieces and whole");
    let (document, skeleton) = match (&scanned, &pushed) {
        (Ok(document), Ok(skeleton)) => (document, skeleton),
        (Err(scanned), Err(pushed)) => {
            assert_eq!(scanned, pushed, "the two defects");
            assert!(value.is_none(), "the twin takes what is refused: {scanned}");
            check_defect(text, scanned);
            return None;
        }
        _ => panic!("scanned: {:?}, pushed: {:?}", scanned.err(), pushed.err()),
    };
    let value = value.expect("the twin refuses what is taken");
    check_value(document.root(), &value);
    check_printed(document.root());
    check_skeleton(skeleton, document.root(), text.len());
    Some((scanned.expect("just looked at"), value))
}

/// Pushes a text in pieces.
pub fn push(text: &[u8], cuts: &[usize]) -> Result<Skeleton, Defect> {
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (text.len() + 1)).collect();
    cuts.push(text.len());
    cuts.sort_unstable();
    let (mut push, mut start) = (Push::new(), 0);
    for cut in cuts {
        push.push(&text[start..cut]);
        start = cut;
    }
    push.finish()
}

/// A defect names the first byte that is wrong: what comes before is not.
fn check_defect(text: &[u8], defect: &Defect) {
    let mut push = Push::new();
    push.push(&text[..defect.offset]);
    assert_eq!(push.defect(), None, "before the defect");
    if let Some(byte) = text.get(defect.offset) {
        push.push(&[*byte]);
        assert_eq!(push.defect().as_ref(), Some(defect), "at the defect");
    }
}

/// Holds a cursor against the twin's value, and all that is below.
pub fn check_value(json: Json<'_>, value: &Value) {
    assert_eq!(json.to_json(), value.to_json(display), "as JSON");
    check_below(json, value);
}

/// What is printed is the same value, but for infinities, which print as null.
fn check_printed(root: Json<'_>) {
    let printed = Document::parse(root.to_json()).expect("what is printed is a text");
    let keys = DigestKeys::new();
    let same = printed.root().same(&root);
    assert_eq!(printed.root().digest(&keys, None) == root.digest(&keys, None), same);
    let text = String::from_utf8_lossy(root.raw());
    assert!(same || text.contains(['e', 'E']) || text.len() > 300, "what is printed is the same");
}

fn check_below(json: Json<'_>, value: &Value) {
    if json.raw().len() <= ALONE_BYTES_MAX {
        assert_eq!(json.to_js_string(), value.to_js_string(display), "as a string");
        let alone = Document::parse(json.raw()).expect("a value's bytes are a text");
        assert!(alone.root().same(&json) && json.same(&alone.root()), "the same as its bytes");
    }
    match value {
        Value::Null => assert!(json.is_null() && json.kind() == Kind::Null),
        Value::Bool(value) => assert_eq!((json.is_bool(), json.as_bool()), (true, Some(*value))),
        Value::Number(value) => {
            let number = json.as_number().expect("a number");
            assert_eq!(number.to_bits(), value.to_bits(), "{number} and {value}");
        }
        Value::String(units) => check_text(json, units),
        Value::Array(elements) => check_array(json, elements),
        Value::Object(members) => check_object(json, members),
    }
    let has_kind = [
        json.is_null(),
        json.is_bool(),
        json.is_number(),
        json.is_string(),
        json.is_array(),
        json.is_object(),
    ];
    assert_eq!(has_kind.iter().filter(|is| **is).count(), 1, "one kind");
}

fn check_text(json: Json<'_>, units: &[u16]) {
    let text = json.as_text().expect("a string");
    assert_eq!(*text.to_wtf8(), naive::wtf8(units));
    assert_eq!(text.to_lossy(), String::from_utf16_lossy(units));
    assert_eq!(text.utf16_len(), units.len());
    assert_eq!(text.quoted(), naive::quoted(units));
    assert_eq!(text.is_empty(), units.is_empty());
    assert_eq!(json.is_nonempty_string(), !units.is_empty());
    assert_eq!(text.is_trimmed(), naive::trim(units) == units);
    if let Ok(string) = String::from_utf16(units) {
        assert!(json.is_str(&string));
        assert!(!json.is_str(&format!("{string}x")));
    } else {
        assert!(!json.is_str(&String::from_utf16_lossy(units)));
    }
}

fn check_array(json: Json<'_>, elements: &[Value]) {
    assert!(json.is_array());
    assert_eq!((json.len(), json.is_empty()), (elements.len(), elements.is_empty()));
    assert_eq!(json.elements().len(), elements.len());
    assert_eq!(json.elements().count(), elements.len());
    let kinds = elements.iter().fold(0, |kinds, element| kinds | kind(element).bit());
    assert_eq!(json.element_kinds(), kinds, "kinds of elements");
    let numbers: Option<Vec<f64>> = elements.iter().map(number).collect();
    let numbers = numbers.filter(|numbers| !numbers.is_empty());
    assert_eq!(json.numbers().map(Iterator::collect), numbers, "as numbers");
    for (index, (element, value)) in json.elements().zip(elements).enumerate() {
        check_below(element, value);
        assert_eq!(json.at(index).map(|at| at.start()), Some(element.start()));
    }
    assert!(json.at(elements.len()).is_none() && json.get("0").is_none());
    assert_eq!(json.members().count(), 0);
}

fn check_object(json: Json<'_>, members: &[(Vec<u16>, Value)]) {
    assert!(json.is_object());
    assert_eq!((json.len(), json.is_empty()), (members.len(), members.is_empty()));
    assert_eq!(json.members().len(), members.len());
    assert_eq!(json.members().count(), members.len());
    let mut names = Vec::new();
    for ((key, element), (units, value)) in json.members().zip(members) {
        assert_eq!(*key.to_wtf8(), naive::wtf8(units));
        check_below(element, value);
        if let Ok(name) = String::from_utf16(units) {
            assert_eq!(json.get(&name).map(|own| own.start()), Some(element.start()));
            names.push(name);
        }
    }
    assert!(json.get("no such key").is_none() && json.at(0).is_none());
    check_exactly(json, &names, members.len());
}

fn check_exactly(json: Json<'_>, names: &[String], count: usize) {
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let complete = names.len() == count;
    let (some, others) = names.split_at(names.len() / 2);
    assert_eq!(json.has_exactly(&names, &[]), complete);
    assert_eq!(json.has_exactly(some, others), complete);
    assert_eq!(json.has_exactly(&[], &names), complete);
    let one_more: Vec<&str> = names.iter().copied().chain(["no such key"]).collect();
    assert!(!json.has_exactly(&one_more, &[]));
    assert_eq!(json.has_exactly(&names, &["no such key"]), complete);
    if let Some((_, others)) = names.split_first() {
        assert!(!json.has_exactly(others, &[]));
    }
}

fn number(value: &Value) -> Option<f64> {
    if let Value::Number(number) = value { Some(*number) } else { None }
}

fn kind(value: &Value) -> Kind {
    match value {
        Value::Null => Kind::Null,
        Value::Bool(false) => Kind::False,
        Value::Bool(true) => Kind::True,
        Value::Number(_) => Kind::Number,
        Value::String(_) => Kind::String,
        Value::Array(_) => Kind::Array,
        Value::Object(_) => Kind::Object,
    }
}

/// Holds what was kept of a text in pieces against the whole.
fn check_skeleton(skeleton: &Skeleton, root: Json<'_>, bytes: usize) {
    assert_eq!((skeleton.kind(), skeleton.bytes()), (root.kind(), bytes as u64));
    let Some(envelope) = skeleton.envelope() else {
        assert!(!root.is_object() && skeleton.data().is_none() && skeleton.keys().count() == 0);
        return;
    };
    assert_eq!(skeleton.data(), root.get("data").map(|data| data.kind()));
    if skeleton.overflow() {
        return;
    }
    assert_eq!(skeleton.keys().count(), root.len());
    let envelope = Document::parse(envelope).expect("an envelope is a text");
    for ((key, value), (same_key, kept)) in root.members().zip(envelope.root().members()) {
        assert_eq!(key, same_key);
        if key.eq_str("data") {
            assert_eq!(value.kind(), kept.kind());
        } else {
            assert_eq!(value.raw(), kept.raw(), "the last value as it was written");
            if let Ok(name) = String::from_utf8(key.to_wtf8().into_owned()) {
                assert_eq!(skeleton.get(&name), Some(value.raw()));
            }
        }
    }
}
