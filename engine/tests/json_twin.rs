//! The scanner, the push validator and the cursor are held equal to a naive twin, on documents of
//! every spelling, on damaged ones, and on soups of tokens and bytes.

#[path = "json_naive/agree.rs"]
mod agree;
#[path = "json_naive/mod.rs"]
mod naive;

use gatelog_engine::json::{DigestKeys, Document, Json};
use naive::Value;
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// White space, mostly none.
fn space() -> impl Strategy<Value = String> {
    prop_oneof![6 => Just(String::new()), 1 => "[ \t\n\r]{1,3}", 1 => " {14,18}"]
}

/// Characters of all lengths, and bytes that are none.
const FOREIGN: &[&[u8]] = &[
    b"\xC3\xA9",
    b"\xF0\x9F\x98\x80",
    b"\xE2\x80\xA8",
    b"\xEF\xBB\xBF",
    b"\xC2\xA0",
    b"\x7F",
    b"\xFF",
    b"\xC3",
    b"\xE2\x80",
    b"\xF0\x9F\x98",
    b"\xED\xA0\xBD",
    b"\xED\xB8\x80",
    b"\xC0\x80",
    b"\x80\x80",
    b"\xF5\x80\x80\x80",
    b"\xE0\x80\x80",
    b"\xF4\x90\x80\x80",
    b"\xEF\xBF\xBD",
];

/// A piece of the body of a string.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    let escapes = select(
        &[
            r#"\""#,
            r"\\",
            r"\/",
            r"\b",
            r"\f",
            r"\n",
            r"\r",
            r"\t",
            r"\u0000",
            r"\u0061",
            r"\u00e9",
            r"\ud83d",
            r"\ude00",
            r"\uD83D\uDE00",
            r"\ud83d\ud83d\ude00",
            r"\uFEFF",
            r"\u2028",
            r"\u00A0",
            r"\uFFFD",
            r"\uffff",
            r"\u000B",
        ][..],
    );
    let foreign = select(FOREIGN);
    prop_oneof![
        4 => "[ -!#-\\[\\]-~]{0,9}".prop_map(String::into_bytes),
        1 => "[a-z]{12,70}".prop_map(String::into_bytes),
        2 => escapes.prop_map(|escape| escape.as_bytes().to_vec()),
        1 => foreign.prop_map(<[u8]>::to_vec),
    ]
}

/// A string as written, with its quotes.
fn string() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(piece(), 0..4).prop_map(|pieces| {
        let mut text = vec![b'"'];
        text.extend(pieces.concat());
        text.push(b'"');
        text
    })
}

/// A key: often one of a few, in several spellings, so that duplicates are common.
fn key() -> impl Strategy<Value = Vec<u8>> {
    let common = select(
        &[
            r#""type""#,
            r#""typ\u0065""#,
            r#""data""#,
            r#""d\u0061ta""#,
            r#""seq""#,
            r#""__proto__""#,
            r#""""#,
            r#""0""#,
            r#""10""#,
            r#""2""#,
            r#""02""#,
            r#""4294967294""#,
            r#""4294967295""#,
            r#""toString""#,
            r#""a""#,
            r#""\u0061""#,
            "\"\u{e9}\"",
            r#""\u00e9""#,
            r#""\ud83d\ude00""#,
            "\"\u{1f600}\"",
        ][..],
    );
    prop_oneof![4 => common.prop_map(|key| key.as_bytes().to_vec()), 1 => string()]
}

/// A number as written.
fn number() -> impl Strategy<Value = String> {
    let odd = select(
        &[
            "0",
            "-0",
            "-0.0",
            "0e0",
            "-0e-5",
            "1e400",
            "-1e400",
            "1e-400",
            "-1e-400",
            "5e-324",
            "1.0",
            "1e0",
            "9007199254740991",
            "9007199254740992",
            "9007199254740993",
            "9007199254740991.2",
            "123456789012345678901234567890",
            "0.1",
            "1E+2",
            "1e-7",
            "1e21",
            "1e20",
            "123456789012345",
            "1234567890123456",
            "12345678901234567",
            "1.7976931348623157e308",
            "2.2250738585072011e-308",
        ][..],
    );
    prop_oneof![
        2 => (0u32..100).prop_map(|n| n.to_string()),
        1 => any::<i64>().prop_map(|n| n.to_string()),
        1 => "-?(0|[1-9][0-9]{0,20})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?",
        1 => odd.prop_map(str::to_owned),
    ]
}

fn scalar() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        3 => string(),
        3 => number().prop_map(String::into_bytes),
        1 => select(&["null", "true", "false"][..]).prop_map(|word| word.as_bytes().to_vec()),
    ]
}

/// An item of a container, with the white space around it.
type Item = (String, Vec<u8>, String);

/// Puts items between brackets; a compact container has no white space.
fn enclose(open: u8, close: u8, compact: bool, items: &[Item]) -> Vec<u8> {
    let mut text = vec![open];
    for (index, (before, item, after)) in items.iter().enumerate() {
        if index > 0 {
            text.push(b',');
        }
        if compact {
            text.extend(item);
        } else {
            text.extend([before.as_bytes(), item, after.as_bytes()].concat());
        }
    }
    text.push(close);
    text
}

/// A container of at most `max` of these items; most are compact.
fn container(
    brackets: &'static [u8; 2],
    max: usize,
    item: BoxedStrategy<Vec<u8>>,
) -> impl Strategy<Value = Vec<u8>> {
    let items = prop::collection::vec((space(), item, space()), 0..max);
    (items, prop::bool::weighted(0.7))
        .prop_map(|(items, compact)| enclose(brackets[0], brackets[1], compact, &items))
}

/// A member; most are compact.
fn member(value: BoxedStrategy<Vec<u8>>) -> impl Strategy<Value = Vec<u8>> {
    (key(), space(), space(), value, prop::bool::weighted(0.7)).prop_map(
        |(key, before, after, value, compact)| {
            let (before, after) = if compact { ("", "") } else { (&before[..], &after[..]) };
            [&key, before.as_bytes(), b":", after.as_bytes(), &value].concat()
        },
    )
}

/// A whole number that is small, as most are in a log.
fn small() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        60 => (0u32..2_000).prop_map(|n| n.to_string().into_bytes()),
        1 => number().prop_map(String::into_bytes),
    ]
}

/// A whole value as written.
fn document() -> impl Strategy<Value = Vec<u8>> {
    scalar().prop_recursive(5, 80, 6, |inner| {
        let members = member(inner.clone().boxed()).boxed();
        let scalars = member(scalar().boxed()).boxed();
        prop_oneof![
            4 => container(b"[]", 6, inner.boxed()),
            1 => container(b"[]", 30, scalar().boxed()),
            1 => container(b"[]", 90, small().boxed()),
            1 => container(b"[]", 40, string().boxed()),
            6 => container(b"{}", 6, members),
            1 => container(b"{}", 40, scalars),
        ]
    })
}

/// A value with white space around it.
fn text() -> impl Strategy<Value = Vec<u8>> {
    (space(), document(), space())
        .prop_map(|(before, value, after)| [before.as_bytes(), &value, after.as_bytes()].concat())
}

/// One change to a text.
#[derive(Clone, Debug)]
enum Change {
    Put(Index, u8),
    Insert(Index, u8),
    Remove(Index),
    Cut(Index),
    Repeat(Index, Index),
}

fn change() -> impl Strategy<Value = Change> {
    let byte = prop_oneof![
        3 => select(&b"\"\\{}[],:0123456789+-.eEtrufalsn \t\n\r/bx\0\x1f\x7f\x80\xef\xbb\xbf"[..]),
        1 => any::<u8>(),
    ];
    prop_oneof![
        3 => (any::<Index>(), byte.clone()).prop_map(|(at, byte)| Change::Put(at, byte)),
        3 => (any::<Index>(), byte).prop_map(|(at, byte)| Change::Insert(at, byte)),
        3 => any::<Index>().prop_map(Change::Remove),
        1 => any::<Index>().prop_map(Change::Cut),
        1 => (any::<Index>(), any::<Index>()).prop_map(|(from, to)| Change::Repeat(from, to)),
    ]
}

fn apply(text: &mut Vec<u8>, change: &Change) {
    let place = |index: &Index| index.index(text.len() + 1);
    match change {
        Change::Put(at, byte) => {
            let at = place(at);
            text.splice(at..text.len().min(at + 1), [*byte]);
        }
        Change::Insert(at, byte) => text.insert(place(at), *byte),
        Change::Remove(at) => {
            let at = place(at);
            text.drain(at..text.len().min(at + 1));
        }
        Change::Cut(at) => text.truncate(place(at)),
        Change::Repeat(from, to) => {
            let (from, to) = (place(from), place(to));
            text.extend_from_within(from.min(to)..from.max(to));
        }
    }
}

/// Tokens and near-tokens in any order.
fn soup() -> impl Strategy<Value = Vec<u8>> {
    let token = select(
        &[
            "{", "}", "[", "]", ",", ":", "\"", "\"a\"", "\"data\"", "\"type\"", "0", "-", "1",
            "12", ".", "e", "+", "null", "true", "false", "nul", "\\", "\\u12", " ", "\n", "[]",
            "{}", "{\"a\":", "[[", "]]", "\u{feff}",
        ][..],
    );
    prop::collection::vec(token, 0..24).prop_map(|tokens| tokens.concat().into_bytes())
}

fn cuts() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(any::<usize>(), 0..5)
}

/// Whether serde_json has the host's opinions on a text: beyond these it is stricter, or laxer
/// about nothing.
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
            assert_eq!(a.encode_utf16().collect::<Vec<_>>(), *b)
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
        let escaped = || units.iter().map(|unit| format!("\\u{unit:04X}")).collect::<String>();
        if odd { format!("\"{}\"", escaped()) } else { naive::quoted(units) }
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
fn within<'a>(root: Json<'a>) -> Vec<Json<'a>> {
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
