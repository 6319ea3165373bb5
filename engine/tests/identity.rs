//! Whether a log lies where its header says, with the host's words.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use gatelog_engine::dsh::identity::{
    Claim, Cwd, Placed, RefusalKind, check, check_listed, check_lookup, is_posix_absolute,
    is_windows_path,
};
use gatelog_engine::dsh::name::Encoding;
use gatelog_engine::json::Document;
use gatelog_engine::storage::{Memory, Operation};

fn placed(project: &str, session: &str) -> Placed {
    Placed {
        root: PathBuf::from("/r"),
        project: project.into(),
        session: session.into(),
        file: "session.jsonl".into(),
    }
}

fn claim<'a>(id: &'a [u8], cwd: Cwd<'a>) -> Claim<'a> {
    Claim { id, cwd, version: 0, encoding: Encoding::Plain }
}

fn text(cwd: &str) -> Cwd<'_> {
    Cwd::Text(Cow::Borrowed(cwd.as_bytes()))
}

/// What a header is called here, its id and directory, and how it is refused.
type Row<'a> = (&'a str, &'a [u8], Cwd<'a>, Option<(RefusalKind, &'a str)>);

#[test]
fn a_log_lies_where_its_header_says_or_is_refused_in_the_hosts_words() {
    let storage = Memory::new().file("/r/--w--/a/session.jsonl", "");
    let at = "corrupt session log \"/r/--w--/a/session.jsonl\": ";
    let cases: [Row<'_>; 9] = [
        ("the place derived", b"a", text("/w"), None),
        // The key of a project is lossy: another directory of the same key passes.
        ("another cwd, same key", b"a", text("\\w"), None),
        (
            "another id",
            b"b",
            text("/w"),
            Some((RefusalKind::OtherId, "requested id \"a\" does not match header id \"b\"")),
        ),
        (
            "another cwd",
            b"a",
            text("/v"),
            Some((
                RefusalKind::Elsewhere,
                "header id \"a\" and cwd identify \"/r/--v--/a/session.jsonl\"",
            )),
        ),
        (
            "no cwd",
            b"a",
            Cwd::Absent,
            Some((
                RefusalKind::Elsewhere,
                "header id \"a\" and cwd identify \"/r/_no-cwd/a/session.jsonl\"",
            )),
        ),
        (
            "a number for cwd",
            b"a",
            Cwd::Lengthless,
            Some((
                RefusalKind::Elsewhere,
                "header id \"a\" and cwd identify \"/r/--root--/a/session.jsonl\"",
            )),
        ),
        (
            "null for cwd",
            b"a",
            Cwd::Unnameable,
            Some((RefusalKind::CannotName, "header id cannot name a storage path")),
        ),
        (
            "an empty cwd",
            b"a",
            text(""),
            Some((RefusalKind::CannotName, "header id cannot name a storage path")),
        ),
        (
            "a lone surrogate",
            b"\xED\xA0\x80",
            text("/w"),
            Some((
                RefusalKind::OtherId,
                "requested id \"a\" does not match header id \"\u{FFFD}\"",
            )),
        ),
    ];
    for (name, id, cwd, wanted) in cases {
        let refusal = check(&storage, &placed("--w--", "a"), &claim(id, cwd)).err();
        let refusal = refusal.map(|refusal| (refusal.kind, refusal.message));
        let wanted = wanted.map(|(kind, words)| (kind, format!("{at}{words}")));
        assert_eq!(refusal, wanted, "{name}");
    }
}

#[test]
fn a_listing_asks_for_no_id_and_names_the_place_instead() {
    let storage = Memory::new().file("/r/--w--/b/session.jsonl", "");
    let refusal = check_listed(&storage, &placed("--w--", "b"), &claim(b"a\"", text("/w")))
        .expect_err("another place");
    // As measured on the host: the id stands as it is, quotes and all.
    let wanted = "corrupt session log \"/r/--w--/b/session.jsonl\": header id \"a\"\" and cwd \
                  identify \"/r/--w--/a~0022/session.jsonl\"";
    assert_eq!(refusal.message, wanted);
    assert_eq!(refusal.expected.as_deref(), Some(Path::new("/r/--w--/a~0022/session.jsonl")));
    let refusal = check_listed(&storage, &placed("--w--", "b"), &claim(b"", text("/w")));
    assert_eq!(refusal.expect_err("no name").kind, RefusalKind::CannotName);
}

#[test]
fn the_name_of_a_later_format_is_part_of_the_place() {
    let storage = Memory::new();
    let mut place = placed("--w--", "a");
    place.file = "session.v3.jsonl.zstd".into();
    let claim = |version| Claim { version, encoding: Encoding::Zstd, ..claim(b"a", text("/w")) };
    assert_eq!(check(&storage, &place, &claim(3)), Ok(()));
    let refusal = check(&storage, &place, &claim(4)).expect_err("another name");
    let expected = Path::new("/r/--w--/a/session.v4.jsonl.zstd");
    assert_eq!(refusal.expected.as_deref(), Some(expected));
}

#[test]
fn two_spellings_of_one_file_are_one_place() {
    let storage = Memory::new().file("/r/--W--/a/session.jsonl", "").symlink("/r/--w--", "--W--");
    assert_eq!(check(&storage, &placed("--W--", "a"), &claim(b"a", text("/w"))), Ok(()));
    assert!(check(&storage, &placed("--W--", "a"), &claim(b"a", text("/v"))).is_err());
}

#[test]
fn a_place_that_cannot_be_looked_at_is_said_as_node_says_it() {
    let denied = std::io::ErrorKind::PermissionDenied;
    let storage = Memory::new().file("/r/--w--/a/session.jsonl", "").fail(
        "/r/--v--/a/session.jsonl",
        Operation::Canonical,
        denied,
    );
    let refusal = check(&storage, &placed("--w--", "a"), &claim(b"a", text("/v")))
        .expect_err("it cannot be looked at");
    assert_eq!(refusal.kind, RefusalKind::Unresolved);
    assert_eq!(refusal.message, "EACCES: permission denied, realpath '/r/--v--/a/session.jsonl'");
}

#[test]
fn an_id_of_more_than_244_bytes_is_never_found_again() {
    let long = "a".repeat(244);
    assert_eq!(check_lookup(&placed("--w--", &long)), Ok(()));
    let refusal = check_lookup(&placed("--w--", &format!("{long}a"))).expect_err("too long");
    let wanted = format!("ENAMETOOLONG: name too long, open '/r/--w--/{long}a.jsonl.zstd'");
    assert_eq!((refusal.kind, refusal.message), (RefusalKind::TooLong, wanted));
}

#[test]
fn a_huge_id_does_not_make_a_huge_message() {
    let storage = Memory::new().file("/r/--w--/a/session.jsonl", "");
    let id = b"/".repeat(1 << 20);
    let refusal = check(&storage, &placed("--w--", "a"), &claim(&id, text("/w")));
    let refusal = refusal.expect_err("another id");
    assert!(refusal.message.len() < 100_000 && refusal.message.contains('…'));
}

#[test]
fn a_cwd_of_any_json_is_what_the_hosts_formula_makes_of_it() {
    let cases = [
        ("{}", "absent"),
        (r#"{"cwd":"/w"}"#, "text"),
        (r#"{"cwd":""}"#, "text"),
        (r#"{"cwd":null}"#, "unnameable"),
        (r#"{"cwd":5}"#, "lengthless"),
        (r#"{"cwd":true}"#, "lengthless"),
        (r#"{"cwd":{}}"#, "lengthless"),
        (r#"{"cwd":[]}"#, "unnameable"),
        (r#"{"cwd":["x"]}"#, "unnameable"),
        (r#"{"cwd":{"length":0}}"#, "unnameable"),
        (r#"{"cwd":{"length":-0}}"#, "unnameable"),
        (r#"{"cwd":{"length":0.5}}"#, "unnameable"),
        (r#"{"cwd":{"length":-1}}"#, "lengthless"),
        (r#"{"cwd":{"length":null}}"#, "lengthless"),
        (r#"{"cwd":{"length":true}}"#, "unnameable"),
        (r#"{"cwd":{"length":false}}"#, "lengthless"),
        (r#"{"cwd":{"length":"x"}}"#, "lengthless"),
        (r#"{"cwd":{"length":"0"}}"#, "lengthless"),
        (r#"{"cwd":{"length":" 2 "}}"#, "unnameable"),
        (r#"{"cwd":{"length":[3]}}"#, "unnameable"),
        (r#"{"cwd":{"length":{}}}"#, "lengthless"),
        (r#"{"cwd":{"length":{"toString":1}}}"#, "unnameable"),
        (r#"{"cwd":{"length":{"valueOf":1}}}"#, "lengthless"),
    ];
    for (header, wanted) in cases {
        let header_text = Document::parse(header).expect("lawful");
        let judged = match Cwd::of(header_text.root().get("cwd")) {
            Cwd::Absent => "absent",
            Cwd::Text(_) => "text",
            Cwd::Lengthless => "lengthless",
            Cwd::Unnameable => "unnameable",
        };
        assert_eq!(judged, wanted, "{header}");
    }
}

#[test]
fn a_path_of_windows_is_told_from_one_of_posix() {
    for path in ["/", "/w", "/C:\\w"] {
        assert!(is_posix_absolute(path.as_bytes()) && !is_windows_path(path.as_bytes()), "{path}");
    }
    for path in ["C:\\w", "c:/w", "\\\\server\\share", "\\w"] {
        assert!(!is_posix_absolute(path.as_bytes()) && is_windows_path(path.as_bytes()), "{path}");
    }
    for path in ["", "w", "./w", "C:w", "C:", "1:\\w", "~/w"] {
        assert!(!is_posix_absolute(path.as_bytes()) && !is_windows_path(path.as_bytes()), "{path}");
    }
}
