//! Plain logs that no editor keeps as they are: bad UTF-8, NUL bytes, byte order marks, long lines.

use crate::Fixture;
use crate::log::{HEADER, Log, turns, whole};

const BOM: &[u8] = b"\xef\xbb\xbf";

/// Returns the plain cases.
pub(crate) fn fixtures() -> Vec<Fixture> {
    let case = |name: &str, bytes: Vec<u8>| (format!("dsh/v0/{name}.jsonl"), bytes);
    let header = format!("{HEADER}\n").into_bytes();
    let first = turns(1);
    let lines: Vec<_> = first.lines().collect();
    let mut next = Log::new();
    let second = next.at(6).turn(2).text();
    let broken = |line: &[u8]| [&header[..], first.as_bytes(), line, second.as_bytes()].concat();
    vec![
        case("line/bom", [BOM, whole(1).as_bytes()].concat()),
        case("line/bom-before-a-row", broken(&[BOM, b"{}\n"].concat())),
        case("line/nul-run", broken(&[&[0; 64][..], b"\n"].concat())),
        case("tail/nul-run", [whole(1).as_bytes(), &[0; 64], b"\n"].concat()),
        case("json/invalid-utf-8", replaced(&whole(1), "hello", b"he\xff\xc3llo")),
        case("json/nested-1000", nested(1000)),
        case("container/not-a-session-file", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec()),
        case("plain/a-line-of-64-kib", long_line(&lines)),
    ]
}

/// Returns a text with one word replaced by bytes.
pub(crate) fn replaced(text: &str, word: &str, bytes: &[u8]) -> Vec<u8> {
    let (before, after) = text.split_once(word).expect("the word is there");
    [before.as_bytes(), bytes, after.as_bytes()].concat()
}

/// Returns a log with a payload of lists in lists.
pub(crate) fn nested(depth: usize) -> Vec<u8> {
    let lists = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let mut log = Log::new();
    log.turn(1).event("feedback/record", &lists);
    format!("{HEADER}\n{}", log.text()).into_bytes()
}

fn long_line(lines: &[&str]) -> Vec<u8> {
    let long = lines[2].replace("hello", &"hello ".repeat(11_000));
    format!("{HEADER}\n{}\n{}\n{long}\n{}\n", lines[0], lines[1], lines[3..].join("\n"))
        .into_bytes()
}
