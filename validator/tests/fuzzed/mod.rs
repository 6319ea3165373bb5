//! What one input of the fuzz target `dsh_read` is, and all that must hold of it.
//!
//! The first byte says what the rest is: bytes of a plain or of a compressed log, rows behind a header,
//! or a tape that tells a log; and which format the file's name would state.

#![allow(dead_code, unreachable_pub, reason = "each of those who include it uses a part")]

use crate::support::{answer, check_consistent, report_on};
use crate::twin::story::{Choices, framed, tell};
use crate::twin::{self, container};
use gatelog_engine::storage::Memory;
use gatelog_validator::report::{Report, Verdict};
use gatelog_validator::rule::Profile;
use gatelog_validator::verify::Options;

/// Frames with more text than this are not judged.
const FRAME_BYTES_MAX: u64 = 1 << 16;

/// The twin recurses; deeper texts than this would overflow its stack and not ours.
const DEPTH_MAX: usize = 2_000;

const HEADER: &[u8] = b"{\"type\":\"session\",\"version\":0,\"id\":\"s\",\"createdAt\":1,\
    \"delegationDepth\":0}\n";

/// What the first byte says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Plain = 0,
    Zstd = 1,
    /// Rows of a plain log, behind a header.
    Rows = 2,
    /// A tape that tells a plain log.
    Story = 3,
    /// A tape that tells a log and then its frames.
    Framed = 4,
}

/// Returns the first byte for a form and the format of a name.
pub fn first(form: Form, number: u8) -> u8 {
    form as u8 | number << 3
}

/// Runs something on so many threads.
pub type On<'a> = &'a dyn Fn(usize, &(dyn Fn() -> Report + Sync)) -> Report;

/// Judges one input; panics where something does not hold.
pub fn check(input: &[u8], on: On<'_>) {
    let Some((first, rest)) = input.split_first() else { return };
    let number = Some(u64::from(first >> 3)).filter(|number| *number <= 4);
    let (log, zstd) = match first & 7 {
        0 => (rest.to_vec(), false),
        1 => (rest.to_vec(), true),
        2 => ([HEADER, rest].concat(), false),
        3 => (tell(&mut Choices::new(rest)), false),
        4 => {
            let (frames, tape) = rest.split_at(rest.len() / 8);
            (framed(&tell(&mut Choices::new(tape)), &mut Choices::new(frames)), true)
        }
        _ => return,
    };
    check_log(&log, zstd, number, on);
}

fn check_log(log: &[u8], zstd: bool, number: Option<u64>, on: On<'_>) {
    let storage = Memory::new().file("/log", log);
    let host = Options { max_frame_bytes: FRAME_BYTES_MAX, ..Options::default() };
    let strict = Options { profile: Profile::Strict, ..host.clone() };
    let run = |threads, options: &Options| {
        on(threads, &|| report_on(&storage, number, zstd, options))
    };
    let report = run(1, &host);
    check_consistent(&report);
    assert_eq!(format!("{report:?}"), format!("{:?}", run(3, &host)), "one thread and three");
    let careful = run(1, &strict);
    check_consistent(&careful);
    assert_eq!(answer(&careful), answer(&report), "a profile changes nothing of this");
    let is_limited = report.verdict == Verdict::Unreadable;
    let depth = log.iter().filter(|byte| matches!(byte, b'[' | b'{')).count();
    if number != Some(0) || is_limited || depth > DEPTH_MAX {
        return;
    }
    let expected = if zstd { container::judge(log) } else { Some(twin::judge(log)) };
    if let Some(expected) = expected {
        assert_eq!(answer(&report), expected, "{report:?}");
    }
}
