//! JSON as the host reads it, case by case: what is taken and what is refused, objects, arrays,
//! depth and limits.
//!
//! The answers were taken from Node 24.22 (`JSON.parse` of `Buffer.toString("utf8")`).

use gatelog_engine::json::{DefectKind, DigestKeys, Document, Kind, Push, Scanner, Tape};

fn parse(text: &str) -> Document {
    Document::parse(text).unwrap_or_else(|defect| panic!("{text}: {defect}"))
}

#[test]
fn texts_are_taken_as_the_host_takes_them() {
    let taken: [&[u8]; 22] = [
        b"0",
        b" \t\r\n0 \t\r\n",
        b"\r[\r]\r",
        b"-0.0e-0",
        b"1E400",
        b"\"\"",
        b"\"\\u0000\"",
        b"\"\\ud800\"",
        b"\"\xE2\x80\xA8\xE2\x80\xA9\"",
        b"\"\xEF\xBB\xBF\"",
        b"\"\x7F\"",
        b"\"\xFF\xC0\x80\xED\xA0\x80\"",
        b"\"\xE2\x80\"",
        b"\"\\/\"",
        b"[]",
        b"{}",
        b"[[],{},[{}]]",
        b"{\"a\":1,\"a\":2}",
        b"{\"\":{\"__proto__\":null}}",
        b"null",
        b"true",
        b"false",
    ];
    for text in taken {
        assert!(Document::parse(text).is_ok(), "{:?}", String::from_utf8_lossy(text));
    }
}

#[test]
fn a_defect_is_the_first_byte_that_is_wrong_and_says_why() {
    let refused: [(&[u8], usize, &str); 42] = [
        (b"", 0, "the text ends too early"),
        (b" \r\n", 3, "the text ends too early"),
        (b"\xEF\xBB\xBF{}", 0, "a byte order mark or another foreign byte"),
        (b" \xC2\xA0 1", 1, "a value is expected"),
        (b"1\xE2\x80\xA8", 1, "something follows the value"),
        (b"1\x0B", 1, "something follows the value"),
        (b"1\0", 1, "something follows the value"),
        (b"nul", 3, "the text ends too early"),
        (b"nulx", 3, "a literal is misspelled"),
        (b"nullx", 4, "something follows the value"),
        (b"True", 0, "a value is expected"),
        (b"NaN", 0, "a value is expected"),
        (b"Infinity", 0, "a value is expected"),
        (b"-Infinity", 1, "a digit is expected"),
        (b"-", 1, "the text ends too early"),
        (b"+1", 0, "a value is expected"),
        (b"01", 1, "a number begins with a zero too many"),
        (b"-00", 2, "a number begins with a zero too many"),
        (b"[1,02,3]", 4, "a number begins with a zero too many"),
        (b"1.", 2, "the text ends too early"),
        (b"[1.]", 3, "a digit is expected"),
        (b".5", 0, "a value is expected"),
        (b"1e", 2, "the text ends too early"),
        (b"[1e+]", 4, "a digit is expected"),
        (b"0x10", 1, "something follows the value"),
        (b"'a'", 0, "a value is expected"),
        (b"\"a", 2, "the text ends too early"),
        (b"\"a\nb\"", 2, "a control character in a string"),
        (b"\"\t\"", 1, "a control character in a string"),
        (b"\"\\x\"", 2, "no escape begins like this"),
        (b"\"\\u12g4\"", 5, "a hexadecimal digit is expected"),
        (b"\"\\\xC3\xA9\"", 2, "no escape begins like this"),
        (b"[1,]", 3, "a value is expected"),
        (b"[,1]", 1, "a value is expected"),
        (b"[1 2]", 3, "a comma or a closing bracket is expected"),
        (b"[1}", 2, "a comma or a closing bracket is expected"),
        (b"{\"a\"}", 4, "a colon is expected"),
        (b"{\"a\":1,}", 7, "a key is expected"),
        (b"{a:1}", 1, "a key or a closing brace is expected"),
        (b"{\"a\":1]", 6, "a comma or a closing brace is expected"),
        (b"{}{}", 2, "something follows the value"),
        (b"[1]/**/", 3, "something follows the value"),
    ];
    for (text, offset, what) in refused {
        let shown = String::from_utf8_lossy(text);
        let defect = Document::parse(text).expect_err(&shown);
        assert_eq!((defect.offset, defect.what), (offset, what), "{shown:?}");
        assert_eq!(defect.kind, DefectKind::Malformed);
        assert_eq!(defect.to_string(), format!("byte {offset}: {what}"));
        let mut push = Push::new();
        push.push(text);
        assert_eq!(push.finish().expect_err(&shown), defect);
    }
}

#[test]
fn the_last_duplicate_wins_and_keeps_the_first_place() {
    let document = parse(r#"{"a":1,"b":2,"\u0061":[3],"c":4,"b":null}"#);
    let root = document.root();
    let members: Vec<_> =
        root.members().map(|(k, v)| (k.to_lossy().into_owned(), v.to_json())).collect();
    let expected = [("a", "[3]"), ("b", "null"), ("c", "4")];
    assert!(members.iter().map(|(k, v)| (&k[..], &v[..])).eq(expected), "{members:?}");
    assert_eq!((root.len(), root.members().len()), (3, 3));
    assert_eq!(root.get("a").map(|a| a.to_json()).as_deref(), Some("[3]"));
    assert!(root.get("b").is_some_and(|b| b.is_null()), "present with null is not absent");
    assert!(root.get("d").is_none());
    assert!(root.has_exactly(&["a", "b", "c"], &[]) && !root.has_exactly(&["a", "b"], &[]));
}

#[test]
fn many_duplicates_are_resolved_like_few() {
    // Beyond sixteen members another way is taken.
    for count in [15, 16, 17, 1_000] {
        let members: Vec<_> = (0..count).map(|i| format!("\"k{}\":{i}", i % 10)).collect();
        let document = parse(&format!("{{{}}}", members.join(",")));
        let found: Vec<_> = document
            .root()
            .members()
            .map(|(k, v)| (k.to_lossy().into_owned(), v.as_number()))
            .collect();
        let last = |key: usize| (0..count).rev().find(|i| i % 10 == key).map(|i| i as f64);
        let expected: Vec<_> = (0..10).map(|key| (format!("k{key}"), last(key))).collect();
        assert_eq!(found, expected, "{count} members");
        assert_eq!(document.root().len(), 10);
    }
}

#[test]
fn proto_is_a_key_like_another() {
    let document = parse(r#"{"__proto__":1,"a":{"__proto__":{}}}"#);
    let root = document.root();
    assert_eq!(root.len(), 2);
    assert_eq!(root.get("__proto__").and_then(|value| value.as_number()), Some(1.0));
    assert!(!root.has_exactly(&["a"], &[]) && root.has_exactly(&["a"], &["__proto__"]));
    assert!(root.get("toString").is_none(), "nothing is inherited");
}

#[test]
fn exact_keys_are_all_of_the_required_and_none_but_the_optional() {
    let document = parse(r#"{"type":1,"seq":2,"t\u0069me":3}"#);
    let root = document.root();
    assert!(root.has_exactly(&["type", "seq", "time"], &[]));
    assert!(root.has_exactly(&["type"], &["seq", "time", "data"]));
    assert!(!root.has_exactly(&["type", "seq", "time", "data"], &[]));
    assert!(!root.has_exactly(&["type", "seq"], &["data"]));
    assert!(!parse("[]").root().has_exactly(&[], &[]), "an array is no record");
    let many: Vec<String> = (0..200).map(|i| format!("k{i}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let members: Vec<_> = many.iter().map(|key| format!("\"{key}\":0")).collect();
    let document = parse(&format!("{{{}}}", members.join(",")));
    assert!(document.root().has_exactly(&many, &[]));
    assert!(!document.root().has_exactly(&many[1..], &[]));
    assert!(!parse(r#"{"k0":0}"#).root().has_exactly(&many, &[]));
}

#[test]
fn values_are_the_same_by_meaning() {
    let same = [
        ("0", "-0.0"),
        ("1e400", "2e400"),
        ("100", "1e2"),
        (r#""é""#, r#""\u00e9""#),
        (r#"{"a":1,"b":2}"#, r#" { "b" : 2 , "a" : 1 } "#),
        (r#"{"a":0,"a":1}"#, r#"{"\u0061":1}"#),
        (r#"[[],[{"x":[1,{}]}]]"#, r#"[ [ ] ,[{"x":[1.0,{}]}]]"#),
    ];
    let different = [
        ("0", "1"),
        ("1e400", "-1e400"),
        ("0", "null"),
        ("0", "\"0\""),
        ("[]", "{}"),
        ("[1,2]", "[2,1]"),
        ("[1]", "[1,1]"),
        ("[[1],[]]", "[[],[1]]"),
        (r#"{"a":1}"#, r#"{"a":1,"b":1}"#),
        (r#"{"a":1}"#, r#"{"b":1}"#),
        (r#"{"a":1,"a":2}"#, r#"{"a":1}"#),
        (r#""\ud800""#, r#""\ufffd""#),
        ("true", "false"),
    ];
    let keys = DigestKeys::new();
    for (pairs, expected) in [(&same[..], true), (&different[..], false)] {
        for (a, b) in pairs {
            let (one, other) = (parse(a), parse(b));
            assert_eq!(one.root().same(&other.root()), expected, "{a} {b}");
            assert_eq!(other.root().same(&one.root()), expected, "{b} {a}");
            let equal = one.root().digest(&keys, None) == other.root().digest(&keys, None);
            assert_eq!(equal, expected, "digests of {a} {b}");
        }
    }
}

#[test]
fn digests_of_other_keys_are_others() {
    let document = parse("{}");
    let one = document.root().digest(&DigestKeys::new(), None);
    assert_ne!(one, document.root().digest(&DigestKeys::new(), None));
}

#[test]
fn depth_costs_no_stack() {
    // On a small stack: recursion of any kind would not get far.
    let on_small_stack = std::thread::Builder::new().stack_size(128 << 10);
    let thread = on_small_stack.spawn(|| {
        let nests = [("[", "]"), (r#"{"a":"#, "}"), (r#"[1,{"b":"#, "}]")];
        for (open, close) in nests {
            check_depth(100_000, open, close);
        }
        // The third one has more values than the default limit.
        for (open, close) in &nests[..2] {
            check_depth(2_000_000, open, close);
        }
    });
    thread.expect("a thread").join().expect("no overflow");
}

fn check_depth(depth: usize, open: &str, close: &str) {
    let text = [&open.repeat(depth), "0", &close.repeat(depth)].concat();
    let mut push = Push::new();
    push.push(text.as_bytes());
    assert!(push.finish().is_ok());
    let cut = &text.as_bytes()[..text.len() - 1];
    assert_eq!(Document::parse(cut).expect_err("too early").offset, cut.len());
    let document = parse(&text);
    let root = document.root();
    assert!(root.same(&root) && root.same(&parse(&text.replace('0', "0.0")).root()));
    assert!(!root.same(&parse(&text.replace('0', "2")).root()));
    let keys = DigestKeys::new();
    assert_eq!(root.digest(&keys, None), root.digest(&keys, None));
    if depth <= 100_000 {
        assert_eq!(root.to_json(), text);
        assert!(!root.to_js_string().is_empty());
    }
}

#[test]
fn containers_close_in_the_order_in_which_they_opened() {
    // Objects and arrays by the bits of a number without a period, beyond a word of any width.
    let is_object = |level: u64| (level * level * 0x9E37_79B9) >> 7 & 1 == 1;
    let levels = 300;
    let open: String =
        (0..levels).map(|level| if is_object(level) { "{\"a\":" } else { "[" }).collect();
    let close: Vec<u8> =
        (0..levels).rev().map(|level| if is_object(level) { b'}' } else { b']' }).collect();
    let text = [open.as_bytes(), b"0", &close].concat();
    assert!(Document::parse(&text[..]).is_ok());
    for place in open.len() + 1..text.len() {
        let mut wrong = text.clone();
        wrong[place] ^= b']' ^ b'}';
        let defect = Document::parse(&wrong[..]).expect_err("closed wrongly");
        assert_eq!(defect.offset, place);
        let mut push = Push::new();
        push.push(&wrong);
        assert_eq!(push.defect(), Some(defect));
    }
}

#[test]
fn a_limit_of_nodes_is_no_defect_of_the_text() {
    // Five nodes: the object, two keys, two values; a flat array is one.
    let text = br#"{"a":[1,2,3],"b":{}}"#;
    let mut roomy = Tape::new();
    let many = format!("[{}]", vec!["[]"; 1_000].join(","));
    Scanner::new().scan(many.as_bytes(), &mut roomy).expect("a text");
    roomy.clear();
    for mut tape in [Tape::new(), roomy] {
        assert!(Scanner::new().node_limit(5).scan(text, &mut tape).is_ok());
        for limit in 0..5 {
            let defect = Scanner::new().node_limit(limit).scan(text, &mut tape);
            let defect = defect.expect_err("over the limit");
            assert_eq!((defect.kind, defect.is_limit()), (DefectKind::TooManyNodes, true));
        }
        assert_eq!(tape.len(), 5);
        let defect = Scanner::new().node_limit(5).scan(b"[[],[],[],[],?", &mut tape);
        assert_eq!(defect.expect_err("malformed").kind, DefectKind::Malformed);
        let defect = Scanner::new().node_limit(4).scan(b"[[],[],[],[],?", &mut tape);
        assert_eq!(defect.expect_err("over the limit").kind, DefectKind::TooManyNodes);
    }
}

#[test]
fn a_tape_holds_many_texts_and_none_that_failed() {
    let (mut scanner, mut tape) = (Scanner::new(), Tape::new());
    let (first, second): (&[u8], &[u8]) = (br#"{"a":[1,{}]}"#, b"[true]");
    assert!(tape.is_empty());
    let one = scanner.scan(first, &mut tape).expect("a text");
    let nodes = tape.len();
    assert!(scanner.scan(br#"{"a":[1,{},]}"#, &mut tape).is_err());
    assert_eq!(tape.len(), nodes, "what failed left nothing");
    let two = scanner.scan(second, &mut tape).expect("a text");
    assert_eq!(tape.json(first, one).to_json(), r#"{"a":[1,{}]}"#);
    assert_eq!(tape.json(second, two).to_json(), "[true]");
    tape.clear();
    assert_eq!(scanner.scan(second, &mut tape), Ok(0));
}

#[test]
fn arrays_tell_the_kinds_of_their_elements() {
    let bits = |kinds: &[Kind]| kinds.iter().fold(0, |bits, kind| bits | kind.bit());
    let cases: [(&str, &[Kind]); 6] = [
        ("[]", &[]),
        ("[1,2.5,-3e1]", &[Kind::Number]),
        (r#"["a",null,true,false]"#, &[Kind::String, Kind::Null, Kind::True, Kind::False]),
        ("[[],1]", &[Kind::Array, Kind::Number]),
        ("[1,[]]", &[Kind::Array, Kind::Number]),
        (r#"[{},"x",[]]"#, &[Kind::Object, Kind::String, Kind::Array]),
    ];
    for (text, kinds) in cases {
        assert_eq!(parse(text).root().element_kinds(), bits(kinds), "{text}");
    }
    assert_eq!(parse("{\"a\":1}").root().element_kinds(), 0);
}

#[test]
fn a_value_knows_its_bytes() {
    let document = parse(" { \"a\" : [ 1 , \"x\" ] , \"b\" : {} } ");
    let root = document.root();
    assert_eq!((root.start(), root.end()), (1, document.text().len() - 1));
    let array = root.get("a").expect("a member");
    assert_eq!((array.raw(), array.start()), (&b"[ 1 , \"x\" ]"[..], 9));
    let raw: Vec<_> = array.elements().map(|e| (e.raw(), e.start())).collect();
    assert_eq!(raw, [(&b"1"[..], 11), (&b"\"x\""[..], 15)]);
    assert_eq!(root.get("b").map(|b| b.raw()), Some(&b"{}"[..]));
}
