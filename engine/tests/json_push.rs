//! Texts in pieces: what is kept of a record that is too large to keep.

use gatelog_engine::json::{Document, Kind, Push, Skeleton};

/// Pushes a text byte by byte, so that every place is the end of a piece.
fn push(text: &str) -> Skeleton {
    let mut push = Push::new();
    for byte in text.as_bytes() {
        push.push(&[*byte]);
    }
    push.finish().unwrap_or_else(|defect| panic!("{text}: {defect}"))
}

#[test]
fn the_envelope_is_kept_and_the_payload_is_not() {
    let skeleton = push(
        " {\"type\":\"tool/result\" , \"seq\": 9,\"data\":{\"type\":\"x\",\"seq\":[1,\
         {\"data\":2}]},\"t\\u0069me\":-1.5e3 }",
    );
    assert_eq!((skeleton.kind(), skeleton.data()), (Kind::Object, Some(Kind::Object)));
    let raw = ["type", "seq", "time", "data", "x"].map(|key| skeleton.get(key));
    let kept: [Option<&[u8]>; 5] =
        [Some(b"\"tool/result\""), Some(b"9"), Some(b"-1.5e3"), None, None];
    assert_eq!(raw, kept);
    let keys: Vec<_> = skeleton.keys().map(|key| key.to_lossy().into_owned()).collect();
    assert_eq!(keys, ["type", "seq", "data", "time"]);
    assert!(!skeleton.overflow() && !skeleton.retyped());
    let envelope = skeleton.envelope().expect("an object");
    let expected = r#"{"type":"tool/result","seq":9,"data":{},"t\u0069me":-1.5e3}"#;
    assert_eq!(String::from_utf8_lossy(&envelope), expected);
}

#[test]
fn every_kind_of_payload_is_emptied_to_its_own_kind() {
    let payloads = [
        ("null", "null", Kind::Null),
        ("true", "true", Kind::True),
        ("false", "false", Kind::False),
        ("-1e5", "0", Kind::Number),
        (r#""x\"y""#, r#""""#, Kind::String),
        ("[1,[2]]", "[]", Kind::Array),
        (r#"{"a":1}"#, "{}", Kind::Object),
    ];
    for (payload, emptied, kind) in payloads {
        let skeleton = push(&format!(r#"{{"data":{payload}}}"#));
        assert_eq!(skeleton.data(), Some(kind));
        let expected = format!(r#"{{"data":{emptied}}}"#).into_bytes();
        assert_eq!(skeleton.envelope(), Some(expected));
    }
}

#[test]
fn what_is_no_object_has_no_envelope() {
    for (text, kind) in
        [("0", Kind::Number), (r#"["data",{"type":1}]"#, Kind::Array), ("null", Kind::Null)]
    {
        let skeleton = push(text);
        assert_eq!(skeleton.kind(), kind);
        assert_eq!(
            (skeleton.envelope(), skeleton.data(), skeleton.keys().count()),
            (None, None, 0)
        );
    }
}

#[test]
fn the_type_is_known_as_soon_as_it_is_complete_and_the_payload_while_it_passes() {
    let text = r#"{"seq":1,"type":"a/b","data":[{"type":"c"}],"time":2}"#;
    let typed = text.find(r#","data""#).expect("there");
    let (payload, after) =
        (text.find(":[").expect("there"), text.find(r#","time""#).expect("there"));
    let mut push = Push::new();
    for (place, byte) in text.bytes().enumerate() {
        push.push(&[byte]);
        let known = (place + 1 >= typed).then_some(&br#""a/b""#[..]);
        assert_eq!(push.kind_so_far(), known, "behind {}", &text[..=place]);
        assert_eq!(
            push.in_data(),
            (payload - 1..after - 1).contains(&place),
            "behind {}",
            &text[..=place]
        );
    }
}

#[test]
fn the_last_duplicate_is_kept_in_the_first_place() {
    let skeleton = push(r#"{"seq":1,"data":[],"s\u0065q":2,"data":null,"x":{},"seq":[3]}"#);
    assert_eq!(skeleton.get("seq"), Some(&b"[3]"[..]));
    assert_eq!(skeleton.data(), Some(Kind::Null));
    let envelope = skeleton.envelope().expect("an object");
    assert_eq!(String::from_utf8_lossy(&envelope), r#"{"seq":[3],"data":null,"x":{}}"#);
}

#[test]
fn a_type_that_comes_again_behind_the_payload_is_noted() {
    let cases = [
        (r#"{"type":"a","data":{},"type":"b"}"#, true),
        (r#"{"type":"a","data":{},"t\u0079pe":"a"}"#, true),
        (r#"{"type":"a","type":"b","data":{}}"#, false),
        (r#"{"data":{},"type":"a"}"#, false),
        (r#"{"data":{},"type":"a","type":"b"}"#, true),
        (r#"{"type":"a","data":{"type":"b","data":1,"type":"c"}}"#, false),
    ];
    for (text, retyped) in cases {
        assert_eq!(push(text).retyped(), retyped, "{text}");
    }
    let last = push(cases[0].0);
    assert_eq!(last.get("type"), Some(&br#""b""#[..]));
}

#[test]
fn too_much_is_not_kept_and_that_is_said() {
    let mebibyte = "x".repeat((1 << 20) - 2);
    let fits = push(&format!(r#"{{"id":"{mebibyte}","seq":1}}"#));
    assert!(!fits.overflow() && fits.get("id").is_some_and(|id| id.len() == 1 << 20));
    let too_long = push(&format!(r#"{{"id":"{mebibyte}x","seq":1}}"#));
    assert!(too_long.overflow());
    assert_eq!((too_long.get("id"), too_long.data()), (None, None));
    let envelope = Document::parse(too_long.envelope().expect("an object")).expect("a text");
    assert_eq!(envelope.root().to_json(), r#"{"id":"","seq":1}"#);
    assert_eq!(too_long.get("seq"), Some(&b"1"[..]), "what comes behind is kept");
    assert!(push(&format!(r#"{{"{mebibyte}x":1}}"#)).overflow(), "a key that is too long");
    let keys = |count| (0..count).map(|i| format!("\"k{i}\":{i}")).collect::<Vec<_>>().join(",");
    assert!(!push(&format!("{{{}}}", keys(64))).overflow());
    assert!(push(&format!("{{{}}}", keys(65))).overflow());
    let again = format!("{{{},{}}}", keys(64), keys(64));
    assert!(!push(&again).overflow(), "sixty-four distinct keys");
}

#[test]
fn a_payload_of_any_size_costs_nothing() {
    // Pieces that are pushed over and over: 256 MiB of payload without a text that holds it.
    let mut push = Push::new();
    push.push(br#"{"type":"user/message","seq":1,"data":{"text":""#);
    let piece = "plain text, \\n escaped \\u00e9 and é; ".repeat(28_000);
    let mut bytes = 0u64;
    while bytes < 256 << 20 {
        push.push(piece.as_bytes());
        bytes += piece.len() as u64;
        assert!(push.in_data());
    }
    push.push(br#""},"time":3}"#);
    let skeleton = push.finish().expect("a text");
    assert_eq!(skeleton.get("time"), Some(&b"3"[..]));
    assert!(skeleton.bytes() > bytes);
}

#[test]
fn a_defect_stays_and_has_its_place_in_the_whole_text() {
    let mut push = Push::new();
    push.push(b"{\"a\":");
    assert_eq!(push.defect(), None);
    push.push(b" \n]");
    let defect = push.defect().expect("malformed");
    assert_eq!(defect.offset, 7);
    push.push(b"}");
    assert_eq!(push.finish().map(|_| ()), Err(defect));
    assert_eq!(Document::parse(&b"{\"a\": \n]}"[..]).map(|_| ()), Err(defect));
}

#[test]
fn keys_that_nobody_asks_for_are_one() {
    let skeleton = |text: &str| {
        let mut push = Push::new().asking(&["type", "data"]);
        text.as_bytes().chunks(3).for_each(|piece| push.push(piece));
        push.finish().expect("the case is JSON")
    };
    let many: Vec<String> = (0..100).map(|at| format!("\"k{at}\":[{at}],")).collect();
    let many = many.concat();
    let long = format!("\"{}\":1,", "k".repeat(2 << 20));
    let value = format!("\"x\":\"{}\",", "v".repeat(2 << 20));
    for (others, kept) in [
        (many.as_str(), "\"k0\":null"),
        (&long, "\"\":null"),
        (&value, "\"x\":null"),
        ("\"x\":{\"data\":1,\"type\":2},", "\"x\":null"),
    ] {
        let skeleton =
            skeleton(&format!("{{\"type\":\"a\",{others}\"data\":[1],\"typ\\u0065\":\"b\"}}"));
        let envelope = skeleton.envelope().expect("an object");
        let expected = format!("{{\"type\":\"b\",{kept},\"data\":[]}}");
        assert_eq!(String::from_utf8_lossy(&envelope), expected);
        assert!(!skeleton.overflow() && skeleton.retyped());
    }
    assert!(!skeleton("{\"data\":[1],\"x\":{},\"y\":1}").retyped());
}
