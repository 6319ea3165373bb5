//! Compressed logs: the container as section 20.2 of the format's description walks it.

use crate::Fixture;
use crate::frame::{
    Block, Head, by_hand, cut, frame, frame_around, miswritten, skippable, unchecked_frame,
};
use crate::log::{HEADER, Log, turns, whole};
use crate::plain::nested;

/// Returns the cases of the container.
pub(crate) fn fixtures() -> Vec<Fixture> {
    let cases = [lawful(), first_frames(), strangers(), rows(), broken_frames(), torn(), limits()];
    let named = |(name, bytes)| (format!("dsh/v0/{name}.jsonl.zstd"), bytes);
    cases.into_iter().flatten().map(named).collect()
}

type Case = (&'static str, Vec<u8>);

/// The header in a frame of its own.
pub(crate) fn header() -> Vec<u8> {
    frame(format!("{HEADER}\n"))
}

/// A log with the header frame and what follows it.
pub(crate) fn log(rest: &[Vec<u8>]) -> Vec<u8> {
    [header(), rest.concat()].concat()
}

/// The last events: a turn that begins at a seq.
fn turn_at(seq: u64, turn: u64) -> String {
    Log::new().at(seq).turn(turn).text()
}

fn lawful() -> Vec<Case> {
    let text = turns(1);
    let head = Head::default();
    let (first, second) = text.split_at(120);
    let third = text.split_inclusive('\n').collect::<Vec<_>>();
    let runs = format!("{HEADER}{}\n", " ".repeat(300));
    vec![
        ("container/lawful", log(&[frame(&text), frame(turn_at(6, 2))])),
        ("container/no-checksums", {
            let header = unchecked_frame(format!("{HEADER}\n"));
            [header, unchecked_frame(&text)].concat()
        }),
        ("container/raw-blocks", log(&[by_hand(&head, &[Block::raw(first), Block::raw(second)])])),
        ("container/run-block-in-the-header", {
            let blocks = [Block::raw(HEADER), Block::run(b' ', 300), Block::raw("\n")];
            assert_eq!(runs.len(), HEADER.len() + 301);
            [by_hand(&head, &blocks), frame(&text)].concat()
        }),
        ("container/record-over-two-frames", log(&[frame(first), frame(second)])),
        (
            "container/empty-frame-between",
            log(&[frame(third[..3].concat()), frame(""), { frame(third[3..].concat()) }]),
        ),
        ("container/dictionary-id-zero", {
            let head = Head { dictionary: vec![0; 4], ..Head::default() };
            log(&[by_hand(&head, &[Block::raw(&text)])])
        }),
        ("container/window-31-with-a-size", {
            let content_bytes = u32::try_from(text.len()).ok();
            let head = Head { window: 0xa8, content_bytes, ..Head::default() };
            log(&[by_hand(&head, &[Block::raw(&text)])])
        }),
        ("json/nested-100000", {
            let text = nested(100_000);
            log(&[frame(&text[HEADER.len() + 1..])])
        }),
    ]
}

fn first_frames() -> Vec<Case> {
    let text = turns(1);
    vec![
        ("container/first-frame-empty", [frame(""), log(&[frame(&text)])].concat()),
        ("container/first-frame-merged", frame(whole(1))),
        ("container/first-frame-open", [frame(HEADER), frame(format!("\n{text}"))].concat()),
        ("container/first-frame-two-line-feeds", {
            [frame(format!("{HEADER}\n\n")), frame(&text)].concat()
        }),
        ("container/first-frame-crlf", [frame(format!("{HEADER}\r\n")), frame(&text)].concat()),
        ("header/missing-first-frame-cut", cut(header(), 6)),
        ("header/missing-three-bytes", header()[..3].to_vec()),
        ("header/missing-empty-file", Vec::new()),
    ]
}

fn strangers() -> Vec<Case> {
    let text = frame(turns(1));
    vec![
        (
            "container/frame-magic-skippable-first",
            [skippable(b"tool"), log(std::slice::from_ref(&text))].concat(),
        ),
        ("container/frame-magic-skippable-between", {
            log(&[text.clone(), skippable(b"tool"), frame(turn_at(6, 2))])
        }),
        ("container/frame-magic-four-bytes-behind", log(&[text.clone(), b"oops".to_vec()])),
        ("container/frame-magic-plain-text", whole(1).into_bytes()),
        ("tail/stray-bytes-one", log(&[text.clone(), b"x".to_vec()])),
        ("tail/stray-bytes-three", log(&[text, b"xyz".to_vec()])),
    ]
}

/// Rows that plain text would cut and that are fatal inside complete frames.
fn rows() -> Vec<Case> {
    let text = turns(1);
    let lines = text.split_inclusive('\n').collect::<Vec<_>>();
    let chunk = |seq| {
        let data = "{\"turn\":1,\"step\":1,\"chunk\":{\"type\":\"text-delta\",\"index\":0,\
            \"text\":\"x\"}}";
        Log::new().at(seq).event("assistant/chunk", data).text()
    };
    let open = lines[..4].concat();
    vec![
        ("container/gap-without-a-turn-end", log(&[frame(format!("{open}{}", chunk(9)))])),
        ("container/bad-row-without-a-turn-end", log(&[frame(format!("{open}oops\n"))])),
        ("container/blank-line", log(&[frame(format!("{open}\n")), frame(chunk(4))])),
        ("container/split-record", log(&[frame(&open), frame("{\"type\":\"assistant/ch")])),
        ("container/split-record-in-front-of-a-torn-frame", {
            log(&[frame(&open), frame("{\"type\":\"assi"), cut(frame(chunk(4)), 9)])
        }),
        ("container/null-row", log(&[frame(format!("{open}null\n"))])),
    ]
}

fn broken_frames() -> Vec<Case> {
    let text = turns(1);
    let block = || [Block::raw(turns(1))];
    let with = |head: Head| log(&[by_hand(&head, &block()), frame(turn_at(6, 2))]);
    vec![
        ("container/reserved-bit", with(Head { bits: 0x08, ..Head::default() })),
        ("container/unused-bit", with(Head { bits: 0x10, ..Head::default() })),
        ("container/block-type", {
            log(&[by_hand(&Head::default(), &[Block::raw(&text), Block::reserved()])])
        }),
        ("container/frame-invalid-dictionary", {
            with(Head { dictionary: vec![7], ..Head::default() })
        }),
        ("container/frame-invalid-window-31", with(Head { window: 0xa8, ..Head::default() })),
        ("container/frame-invalid-content-size", {
            with(Head { content_bytes: Some(9), ..Head::default() })
        }),
        ("container/frame-invalid-checksum", {
            log(&[frame(&text), miswritten(frame(turn_at(6, 2))), frame(turn_at(12, 3))])
        }),
        ("container/frame-invalid-header", [miswritten(header()), frame(&text)].concat()),
    ]
}

fn torn() -> Vec<Case> {
    let text = turns(1);
    let lines = text.split_inclusive('\n').collect::<Vec<_>>();
    let raw = by_hand(&Head::default(), &[Block::raw(&text)]);
    let behind = raw.len() - text.len();
    let gapped = format!("{}{}", lines[0], Log::new().at(3).turn(1).text());
    let gapped = by_hand(&Head::default(), &[Block::raw(gapped), Block::raw("")]);
    vec![
        ("tail/torn-frame-in-a-compressed-block", {
            let whole = frame(&text);
            let half = whole.len() / 2;
            log(&[cut(whole, half)])
        }),
        ("tail/torn-frame-two-bytes-before-the-end", log(&[cut(frame(&text), 2)])),
        ("tail/torn-frame-without-its-checksum", log(&[cut(frame(&text), 4)])),
        ("tail/torn-frame-after-one-row-of-a-raw-block", {
            log(&[raw[..behind + lines[0].len() + 10].to_vec()])
        }),
        ("tail/torn-frame-magic-only", log(&[frame(&text), raw[..4].to_vec()])),
        ("tail/torn-frame-gap-then-a-turn-end", log(&[cut(gapped, 3)])),
        ("tail/torn-frame-with-a-bad-row", {
            let bad = format!("{}oops\n{}", lines[..3].concat(), lines[3]);
            log(&[cut(by_hand(&Head::default(), &[Block::raw(bad), Block::raw("")]), 3)])
        }),
    ]
}

fn limits() -> Vec<Case> {
    let long = |count: usize| {
        let data = format!("{{\"text\":\"{}\"}}", "lorem ipsum ".repeat(count));
        Log::new().event("feedback/record", &data).text()
    };
    vec![
        ("limit/frame", log(&[frame(long(20_000))])),
        ("limit/line", {
            let start = "{\"type\":\"feedback/record\",\"seq\":0,\"time\":1,\"data\":{\"text\":\"";
            log(&[frame_around(start, b'a', 513 << 20, "\"}}\n")])
        }),
        ("limit/lawful", {
            let mut log_of_many = Log::new();
            let data = format!("{{\"text\":\"{}\"}}", "lorem ipsum ".repeat(5000));
            let frames: Vec<_> = (0..8)
                .map(|seq| {
                    frame(log_of_many.clone().at(seq).event("feedback/record", &data).text())
                })
                .collect();
            log_of_many.at(8);
            log(&frames)
        }),
    ]
}
