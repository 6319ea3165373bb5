//! What people reported, where it takes bytes that no editor writes; each case is named for its
//! report.

use crate::Fixture;
use crate::frame::{cut, frame, miswritten, unchecked_frame};
use crate::log::{HEADER, Log, assistant, say, turns, whole};
use crate::plain::replaced;
use crate::zstd::log;

/// Returns the cases, plain ones and compressed ones.
pub(crate) fn fixtures() -> Vec<Fixture> {
    let named = |end: &'static str| {
        move |(name, bytes): Case| (format!("dsh/v0/field-reports/{name}.{end}"), bytes)
    };
    let zstd = [frames(), first_frames(), checksums(), long()].into_iter().flatten();
    let plain = [nuls(), unicode()].into_iter().flatten();
    zstd.map(named("jsonl.zstd")).chain(plain.map(named("jsonl"))).collect()
}

type Case = (&'static str, Vec<u8>);

fn turn_at(seq: u64, turn: u64) -> String {
    Log::new().at(seq).turn(turn).text()
}

fn frames() -> Vec<Case> {
    let text = turns(1);
    let (first, rest) = text.split_at(20);
    let glued = turns(1).replacen('\n', "", 1);
    let chunk = |seq: u64| {
        let data = "{\"turn\":1,\"step\":1,\"chunk\":{\"type\":\"text-delta\",\"index\":0,\
            \"text\":\"x\"}}";
        Log::new().at(seq).event("assistant/chunk", data).text()
    };
    let sparse = (4..300).map(|seq| frame(chunk(seq))).collect::<Vec<_>>().concat();
    let open = text.lines().take(4).collect::<Vec<_>>().join("\n") + "\n";
    let close = Log::new().at(300).close_turn(1).text();
    vec![
        ("FR-001-one-frame", frame(whole(2))),
        ("FR-001-twin-header-apart", log(&[frame(turns(1)), frame(turn_at(6, 2))])),
        ("FR-004-frames-lost-by-a-move", log(&[frame(turn_at(12, 3)), frame(turn_at(18, 4))])),
        ("FR-005-two-frames", log(&[frame(turns(1))])),
        ("FR-005-header-and-more-in-frame-0", {
            let end = "{\"type\":\"turn/end\",\"seq\":0,\"time\":1,\
                \"data\":{\"turn\":1,\"reason\":{\"kind\":\"completed\"}}}";
            let mut next = Log::new();
            next.at(1).message("assistant/message", &assistant("a1", 1, 1, &say("x")));
            [frame(format!("{HEADER}\n{end}\n")), frame(next.text())].concat()
        }),
        ("FR-009-record-over-two-frames", log(&[frame(first), frame(rest)])),
        ("FR-013-two-values-on-a-line", log(&[frame(glued)])),
        ("FR-064-one-event-a-frame", log(&[frame(open), sparse, frame(close)])),
    ]
}

/// FR-003: a log whose first frame is wrong from the start, in five ways.
fn first_frames() -> Vec<Case> {
    let text = turns(1);
    let lines = text.split_inclusive('\n').collect::<Vec<_>>();
    let (left, right) = HEADER.split_at(30);
    vec![
        ("FR-003-a-first-event-in-frame-0", {
            [frame(format!("{HEADER}\n{}", lines[0])), frame(lines[1..].concat())].concat()
        }),
        ("FR-003-b-header-without-line-feed", {
            [frame(HEADER), frame(format!("\n{text}"))].concat()
        }),
        ("FR-003-c-header-over-two-frames", {
            [frame(left), frame(format!("{right}\n")), frame(&text)].concat()
        }),
        ("FR-003-d-empty-frame-first", [frame(""), log(&[frame(&text)])].concat()),
        ("FR-003-e-header-ends-with-crlf", {
            [frame(format!("{HEADER}\r\n")), frame(&text)].concat()
        }),
    ]
}

fn checksums() -> Vec<Case> {
    // One record of 478 bytes: a declared size of two bytes would read 222.
    let bare = "{\"type\":\"feedback/record\",\"seq\":0,\"time\":1,\"data\":{\"text\":\"\"}}\n";
    let pad = noise(478 - bare.len());
    let record = bare.replace("\"\"}", &format!("\"{pad}\"}}"));
    assert_eq!(record.len(), 478);
    let last = |count| log(&[cut(frame(&record), count)]);
    let middle = || vec![frame(turns(1)), miswritten(frame(turn_at(6, 2))), frame(turn_at(12, 3))];
    vec![
        ("FR-007-whole", log(&[frame(&record)])),
        ("FR-007-cut-1", last(1)),
        ("FR-007-cut-4", last(4)),
        ("FR-007-cut-5", last(5)),
        ("FR-007-cut-200", last(200)),
        ("FR-008-checksum-of-a-middle-frame", log(&middle())),
        ("FR-008-twin-with-a-torn-frame-behind", {
            let mut frames = middle();
            frames.push(cut(frame(turn_at(18, 4)), 9));
            log(&frames)
        }),
        ("FR-011-frames-without-checksums", {
            [unchecked_frame(format!("{HEADER}\n")), unchecked_frame(turns(1))].concat()
        }),
        ("FR-053-nuls-between-frames", {
            log(&[frame(turns(1)), vec![0; 512], frame(turn_at(6, 2))])
        }),
        ("FR-053-nuls-behind-the-last-frame", log(&[frame(turns(1)), vec![0; 512]])),
    ]
}

/// Returns letters that do not compress well, the same ones each time.
fn noise(count: usize) -> String {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut letter = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        char::from(b'0' + (state >> 33) as u8 % 75)
    };
    (0..count).map(|_| letter()).map(|letter| if letter == '\\' { '-' } else { letter }).collect()
}

fn long() -> Vec<Case> {
    let data = format!("{{\"text\":\"{}\"}}", "lorem ipsum ".repeat(5000));
    let cases = (0..40).map(|seq| frame(Log::new().at(seq).event("feedback/record", &data).text()));
    let many = (0..2000).fold(Log::new(), |mut log, _| {
        log.event("feedback/record", "{\"text\":\"x\"}");
        log
    });
    let nested = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    let line = format!("{{\"text\":\"{}\"}}", "diff --git ".repeat(300_000));
    let mut chunks = Log::new();
    chunks.open_turn(1);
    for _ in 0..100 {
        chunks.packed("text-chunks", 1, 1, &["lorem "; 20]);
    }
    let chunks = chunks.close_turn(1).text();
    let segments = (1..=60).fold(Log::new(), |mut log, turn| {
        log.turn(turn);
        if turn % 20 == 0 {
            log.event("session/end-seed", "{}");
        }
        log
    });
    vec![
        ("FR-063-each-frame-below-the-limit", log(&cases.collect::<Vec<_>>())),
        ("FR-063-twin-one-frame-of-zeros", log(&[frame(vec![0; 1 << 20])])),
        ("FR-065-rows-that-expand", log(&[frame(chunks)])),
        ("FR-067-a-line-of-three-megabytes", {
            log(&[frame(Log::new().event("feedback/record", &line).text())])
        }),
        ("FR-068-three-segments", log(&[frame(segments.text())])),
        ("FR-069-many-small-events", log(&[frame(many.text())])),
        ("FR-069-nested-10000", {
            log(&[frame(Log::new().event("feedback/record", &nested).text())])
        }),
    ]
}

fn nuls() -> Vec<Case> {
    let text = whole(1);
    let next = turn_at(6, 2);
    let glued = |count: usize| [text.as_bytes(), &vec![0; count][..], b"\n"].concat();
    let mut holed = [text.as_bytes(), &[0; 4096]].concat();
    holed.extend(&next.as_bytes()[33..]);
    holed.extend([0; 4096]);
    holed.extend(turn_at(12, 3).as_bytes());
    vec![
        ("FR-053-nuls-in-the-middle", [&glued(9000)[..], next.as_bytes()].concat()),
        ("FR-053-nuls-at-the-end", [text.as_bytes(), &[0; 14_300]].concat()),
        ("FR-055-nuls-at-the-end", [text.as_bytes(), &[0; 1728]].concat()),
        ("FR-055-twin-nuls-then-a-turn", [&glued(1728)[..], next.as_bytes()].concat()),
        ("FR-056-two-holes", holed),
        ("FR-057-nothing-but-nuls", vec![0; 413]),
    ]
}

fn unicode() -> Vec<Case> {
    let text = whole(1);
    vec![
        ("FR-039-raw-separators", {
            let raw = "he\u{2028}l\u{2029}l\u{85}o".as_bytes();
            replaced(&text, "hello", raw)
        }),
        ("FR-043-raw-surrogate-bytes", replaced(&text, "hello", b"he\xed\xa0\xbdllo")),
        ("FR-047-tail-inside-a-character", [text.as_bytes(), b"\xe2\x82"].concat()),
    ]
}
