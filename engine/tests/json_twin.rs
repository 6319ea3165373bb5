//! The scanner, the push validator and the cursor are held equal to a naive twin, on documents of
//! every spelling, on damaged ones, and on soups of tokens and bytes.

#[path = "json_naive/agree.rs"]
mod agree;
#[path = "json_naive/documents.rs"]
mod documents;
#[path = "json_naive/mod.rs"]
mod naive;

use documents::{apply, change, cuts, document, soup, text};
use gatelog_engine::json::{DigestKeys, Document, Json};
use naive::Value;
use proptest::prelude::*;
use proptest::sample::Index;

/// Whether `serde_json` has the host's opinions on a text: of the others it refuses some.
fn serde_agrees(text: &[u8]) -> bool {
    str::from_utf8(text).is_ok_and(|text| {
        let deep = text.bytes().filter(|byte| matches!(byte, b'[' | b'{')).count() >= 100;
        !deep && !text.contains("\\u") && !text.contains(['e', 'E'])
    })
}

fn check_serde(text: &[u8], value: Option<&Value>) {
    if serde_agrees(text) {
        let serde: Result<serde_json::Value, _> = serde_json::from_slice(text);
        assert_eq!(serde.is_ok(), value.is_some(), "serde_json disagrees: {serde:?}");
        if let (Ok(serde), Some(value)) = (serde, value) {
            check_serde_value(&serde, value);
        }
    }
}

fn check_serde_value(serde: &serde_json::Value, value: &Value) {
    use serde_json::Value as Serde;
    match (serde, value) {
        (Serde::Null, Value::Null) => {}
        (Serde::Bool(a), Value::Bool(b)) => assert_eq!(a, b),
        (Serde::Number(a), Value::Number(b)) => {
            // serde_json is the less exact one where it is asked for speed: one step off is fine.
            let a = a.as_f64().expect("a number");
            assert!(a == *b || a.to_bits().abs_diff(b.to_bits()) == 1, "{a} and {b}");
        }
        (Serde::String(a), Value::String(b)) => {
            assert_eq!(a.encode_utf16().collect::<Vec<_>>(), *b);
        }
        (Serde::Array(a), Value::Array(b)) => {
            assert_eq!(a.len(), b.len());
            a.iter().zip(b).for_each(|(a, b)| check_serde_value(a, b));
        }
        (Serde::Object(a), Value::Object(b)) => {
            assert_eq!(a.len(), b.len());
            for ((key, a), (units, b)) in a.iter().zip(b) {
                assert_eq!(key.encode_utf16().collect::<Vec<_>>(), *units);
                check_serde_value(a, b);
            }
        }
        _ => panic!("{serde} and {value:?}"),
    }
}

/// Writes a value again in another spelling: keys turned around, every unit escaped or not by the
/// bits of `style`, a duplicate before some keys.
fn respell(value: &Value, style: &mut u64) -> String {
    *style = style.rotate_left(7) ^ 0x9E37_79B9_7F4A_7C15;
    let odd = *style & 1 == 1;
    let string = |units: &[u16]| {
        let escaped = || units.iter().map(|unit| format!("\\u{unit:04X}")).collect::<Vec<_>>();
        if odd { format!("\"{}\"", escaped().concat()) } else { naive::quoted(units) }
    };
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(n) if n.is_infinite() => if *n < 0.0 { "-1e999" } else { "1e999" }.to_owned(),
        Value::Number(0.0) => if odd { "-0" } else { "0.0" }.to_owned(),
        Value::Number(n) if odd => format!("{n:e}"),
        Value::Number(n) => format!("{n}"),
        Value::String(units) => string(units),
        Value::Array(elements) => {
            let elements: Vec<_> = elements.iter().map(|element| respell(element, style)).collect();
            format!("[{}]", elements.join(" ,"))
        }
        Value::Object(members) => {
            let spelled: Vec<_> = members
                .iter()
                .rev()
                .map(|(key, value)| {
                    let key = string(key);
                    let duplicate = if odd { format!("{key}:[{{}}],") } else { String::new() };
                    format!("{duplicate}{key}: {}", respell(value, style))
                })
                .collect();
            format!("{{{}}}", spelled.join(","))
        }
    }
}

/// All values within one, itself included, each once.
fn within(root: Json<'_>) -> Vec<Json<'_>> {
    let mut all = vec![root];
    let mut next = 0;
    while let Some(value) = all.get(next).copied() {
        all.extend(value.elements());
        all.extend(value.members().map(|(_, value)| value));
        next += 1;
    }
    all
}

/// As many cases as are asked for by `PROPTEST_CASES`, but not few; what fails is kept under
/// `fuzz/regressions` by hand, not in a file of seeds.
fn config() -> ProptestConfig {
    let asked = ProptestConfig::default();
    ProptestConfig { cases: asked.cases.max(2_000), failure_persistence: None, ..asked }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn every_document_is_read_as_the_twin_reads_it(text in text(), cuts in cuts()) {
        let (_, value) = agree::check(&text, &cuts).expect("a document of the generator is one");
        check_serde(&text, Some(&value));
    }

    #[test]
    fn damaged_documents_are_judged_as_the_twin_judges_them(
        mut text in text(),
        changes in prop::collection::vec(change(), 1..4),
        cuts in cuts(),
    ) {
        for change in &changes {
            apply(&mut text, change);
        }
        let found = agree::check(&text, &cuts);
        check_serde(&text, found.as_ref().map(|(_, value)| value));
    }

    #[test]
    fn soups_of_tokens_are_judged_as_the_twin_judges_them(text in soup(), cuts in cuts()) {
        let found = agree::check(&text, &cuts);
        check_serde(&text, found.as_ref().map(|(_, value)| value));
    }

    #[test]
    fn soups_of_bytes_are_judged_as_the_twin_judges_them(
        text in prop::collection::vec(any::<u8>(), 0..40),
        cuts in cuts(),
    ) {
        agree::check(&text, &cuts);
    }

    #[test]
    fn a_value_is_the_same_in_every_spelling(text in text(), mut style in any::<u64>()) {
        let value = naive::parse(&text).expect("a document");
        let document = Document::parse(text).expect("a document");
        let respelled = respell(&value, &mut style);
        let other = Document::parse(respelled).expect("a document");
        prop_assert!(document.root().same(&other.root()) && other.root().same(&document.root()));
        let keys = DigestKeys::new();
        prop_assert_eq!(document.root().digest(&keys, None), other.root().digest(&keys, None));
    }

    #[test]
    fn two_values_are_the_same_when_the_twins_are(a in document(), b in document()) {
        // Values within one document are often alike, and those of two seldom.
        let both = [&b"["[..], &a, b",", &b, b",", &a, b"]"].concat();
        let document = Document::parse(both).expect("a document");
        let keys = DigestKeys::new();
        let all: Vec<_> = within(document.root())
            .into_iter()
            .take(40)
            .map(|json| (json, naive::parse(json.raw()).expect("a \
                value"), json.digest(&keys, None)))
            .collect();
        for (json, value, digest) in &all {
            for (other, other_value, other_digest) in &all {
                let same = value.same(other_value);
                prop_assert_eq!(json.same(other), same);
                prop_assert_eq!(digest == other_digest, same);
            }
        }
    }

    #[test]
    fn a_blank_value_counts_for_nothing_in_a_digest(
        text in text(),
        place: Index,
        other in document(),
    ) {
        let document = Document::parse(text).expect("a document");
        let all = within(document.root());
        let blank = all[place.index(all.len())];
        let (before, after) =
            (&document.text()[..blank.start()], &document.text()[blank.end()..]);
        let replaced = Document::parse([before, &other, after].concat()).expect("a document");
        let start = blank.start();
        let blank_there = within(replaced.root()).into_iter().find(|value| value.start() == start);
        let keys = DigestKeys::new();
        prop_assert_eq!(
            document.root().digest(&keys, Some(blank)),
            replaced.root().digest(&keys, blank_there)
        );
        let same = document.root().same(&replaced.root());
        prop_assert_eq!(
            document.root().digest(&keys, None) == replaced.root().digest(&keys, None),
            same
        );
    }
}
