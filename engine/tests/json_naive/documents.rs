//! Documents of every spelling, changes to them, and soups: what the properties are tried on.

#![allow(unreachable_pub, reason = "a part of the tests that include it")]

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
    brackets: [u8; 2],
    max: usize,
    item: BoxedStrategy<Vec<u8>>,
) -> impl Strategy<Value = Vec<u8>> {
    let items = prop::collection::vec((space(), item, space()), 0..max);
    (items, prop::bool::weighted(0.7))
        .prop_map(move |(items, compact)| enclose(brackets[0], brackets[1], compact, &items))
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
pub fn small() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        60 => (0u32..2_000).prop_map(|n| n.to_string().into_bytes()),
        1 => number().prop_map(String::into_bytes),
    ]
}

/// A whole value as written.
pub fn document() -> impl Strategy<Value = Vec<u8>> {
    scalar().prop_recursive(5, 80, 6, |inner| {
        let members = member(inner.clone().boxed()).boxed();
        let scalars = member(scalar().boxed()).boxed();
        prop_oneof![
            4 => container(*b"[]", 6, inner.boxed()),
            1 => container(*b"[]", 30, scalar().boxed()),
            1 => container(*b"[]", 90, small().boxed()),
            1 => container(*b"[]", 40, string().boxed()),
            6 => container(*b"{}", 6, members),
            1 => container(*b"{}", 40, scalars),
        ]
    })
}

/// A value with white space around it.
pub fn text() -> impl Strategy<Value = Vec<u8>> {
    (space(), document(), space())
        .prop_map(|(before, value, after)| [before.as_bytes(), &value, after.as_bytes()].concat())
}

/// One change to a text.
#[derive(Clone, Debug)]
pub enum Change {
    Put(Index, u8),
    Insert(Index, u8),
    Remove(Index),
    Cut(Index),
    Repeat(Index, Index),
}

pub fn change() -> impl Strategy<Value = Change> {
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

pub fn apply(text: &mut Vec<u8>, change: &Change) {
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
pub fn soup() -> impl Strategy<Value = Vec<u8>> {
    let token = select(
        &[
            "{", "}", "[", "]", ",", ":", "\"", "\"a\"", "\"data\"", "\"type\"", "0", "-", "1",
            "12", ".", "e", "+", "null", "true", "false", "nul", "\\", "\\u12", " ", "\n", "[]",
            "{}", "{\"a\":", "[[", "]]", "\u{feff}",
        ][..],
    );
    prop::collection::vec(token, 0..24).prop_map(|tokens| tokens.concat().into_bytes())
}

pub fn cuts() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(any::<usize>(), 0..5)
}
