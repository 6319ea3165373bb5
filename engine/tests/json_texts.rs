//! Strings and messages as the host has them: UTF-16, `JSON.stringify`, `String` and `trim`.
//!
//! The answers were taken from Node 24.22 (on what `Buffer.toString("utf8")` makes of the bytes).

use std::collections::HashSet;

use gatelog_engine::json::Document;

fn parse(text: &str) -> Document {
    Document::parse(text).unwrap_or_else(|defect| panic!("{text}: {defect}"))
}

#[test]
fn values_print_as_json_stringify_prints_them() {
    let printed = [
        ("null", "null"),
        (" [ true , false ] ", "[true,false]"),
        ("[1.0,1e21,1e-7,-0,1e400,-1e400]", "[1,1e+21,1e-7,0,null,null]"),
        (r#"{"b":1,"a":{"c":[]}}"#, r#"{"b":1,"a":{"c":[]}}"#),
        (r#"{"a":1,"b":2,"a":3}"#, r#"{"a":3,"b":2}"#),
        (r#"{"b":1,"10":2,"9":3,"01":4,"-1":5}"#, r#"{"9":3,"10":2,"b":1,"01":4,"-1":5}"#),
        (
            r#"{"4294967295":1,"a":2,"4294967294":3,"1e3":4,"0":5}"#,
            r#"{"0":5,"4294967294":3,"4294967295":1,"a":2,"1e3":4}"#,
        ),
        (r#"{"__proto__":{"x":1},"a":2}"#, r#"{"__proto__":{"x":1},"a":2}"#),
        (r#""\/\b\f\n\r\t\"\\""#, r#""/\b\f\n\r\t\"\\""#),
        (r#""\u0000\u001F\u000b\u007f""#, "\"\\u0000\\u001f\\u000b\u{7f}\""),
        (r#""\ud83d\ude00 \ud83d \ude00\ud83d""#, "\"\u{1f600} \\ud83d \\ude00\\ud83d\""),
        (r#""\u2028é\uFEFF""#, "\"\u{2028}é\u{feff}\""),
    ];
    for (text, expected) in printed {
        assert_eq!(parse(text).root().to_json(), expected, "{text}");
    }
}

#[test]
fn values_print_as_string_of_them_prints() {
    let printed = [
        ("null", "null"),
        ("true", "true"),
        ("-0", "0"),
        ("1e400", "Infinity"),
        (r#""a\nb""#, "a\nb"),
        (r#""\ud800""#, "\u{fffd}"),
        ("{}", "[object Object]"),
        ("[]", ""),
        ("[null]", ""),
        ("[null,null]", ","),
        (r#"[1,[2,[3,"x"]],{},null,true]"#, "1,2,3,x,[object Object],,true"),
        ("[[],[[]],[null,[]]]", ",,,"),
    ];
    for (text, expected) in printed {
        assert_eq!(parse(text).root().to_js_string(), expected, "{text}");
    }
}

#[test]
fn trimmed_texts_are_those_that_trim_leaves_alone() {
    let cases = [
        ("", true),
        ("a", true),
        ("a b", true),
        (" a", false),
        ("a ", false),
        (" ", false),
        ("a\\t", false),
        ("\\u000ba", false),
        ("\\fa", false),
        ("a\\r\\n", false),
        ("\\u00a0a", false),
        ("a\u{a0}", false),
        ("\u{1680}a", false),
        ("a\u{2000}", false),
        ("a\u{200a}", false),
        ("a\u{200b}", true),
        ("a\u{2028}", false),
        ("\\u2029a", false),
        ("\u{202f}a", false),
        ("a\u{205f}", false),
        ("a\u{2060}", true),
        ("a\u{3000}", false),
        ("\u{feff}a", false),
        ("\u{85}a", true),
        ("\u{180e}a", true),
        ("\\u001ca", true),
        ("\\u0000a", true),
        ("é ", false),
        ("é", true),
    ];
    for (body, trimmed) in cases {
        let document = parse(&format!("\"{body}\""));
        assert_eq!(document.root().as_text().expect("text").is_trimmed(), trimmed, "{body:?}");
    }
}

#[test]
fn texts_are_wtf8_with_bad_bytes_replaced() {
    let cases: [(&[u8], &[u8], usize); 18] = [
        (b"abc", b"abc", 3),
        (b"\xC3\xA9", "é".as_bytes(), 1),
        (b"\\u00e9", "é".as_bytes(), 1),
        (b"\xF0\x9F\x98\x80", "\u{1f600}".as_bytes(), 2),
        (b"\\ud83d\\ude00", "\u{1f600}".as_bytes(), 2),
        (b"\\ud800\\udc00", "\u{10000}".as_bytes(), 2),
        (b"\\udbff\\udfff", "\u{10ffff}".as_bytes(), 2),
        (b"\\udc00\\ud800", b"\xED\xB0\x80\xED\xA0\x80", 2),
        (b"\\ud800\\ue000", b"\xED\xA0\x80\xEE\x80\x80", 2),
        (b"\\uD83D", b"\xED\xA0\xBD", 1),
        (b"\\uDE00\\uD83D", b"\xED\xB8\x80\xED\xA0\xBD", 2),
        (b"\\ud83d\\u0061", b"\xED\xA0\xBDa", 2),
        (b"\\ud83d\\ud83d\\ude00", b"\xED\xA0\xBD\xF0\x9F\x98\x80", 3),
        // What is no UTF-8: a replacement for each maximal part of a character.
        (b"\xFF", "\u{fffd}".as_bytes(), 1),
        (b"\xE2\x80a", "\u{fffd}a".as_bytes(), 2),
        (b"\xF0\x9F\x98", "\u{fffd}".as_bytes(), 1),
        (b"\xED\xA0\xBD", "\u{fffd}\u{fffd}\u{fffd}".as_bytes(), 3),
        (b"\\ud83d\xED\xB8\x80", b"\xED\xA0\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD", 4),
    ];
    for (body, wtf8, units) in cases {
        let document = Document::parse([b"\"", body, b"\""].concat()).expect("a string");
        let text = document.root().as_text().expect("text");
        assert_eq!(&*text.to_wtf8(), wtf8, "{:?}", String::from_utf8_lossy(body));
        assert_eq!(text.utf16_len(), units, "{:?}", String::from_utf8_lossy(body));
    }
}

#[test]
fn texts_are_equal_and_hash_alike_however_they_are_written() {
    let document = parse(r#"["é","\u00e9","e","\u0065","\ud83d\ude00","😀","\ud83d","\ude00"]"#);
    let texts: Vec<_> = document.root().elements().filter_map(|e| e.as_text()).collect();
    assert_eq!(texts.iter().collect::<HashSet<_>>().len(), 5);
    for pair in texts.chunks(2).take(3) {
        assert!(pair[0] == pair[1] && pair[0].cmp(&pair[1]).is_eq());
    }
    assert!(texts[6] != texts[7] && texts[0] != texts[2]);
    assert!(texts[1].eq_str("é") && texts[4].eq_str("😀") && !texts[6].eq_str("\u{fffd}"));
}
