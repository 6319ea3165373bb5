//! What one input of the fuzz target `dsh_read` is, and all that must hold of it.
//!
//! The first byte says what the rest is: bytes of a plain or of a compressed log, rows behind a
//! header, or a tape that tells a log; and which format the file's name would state.

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

/// Judges one input; panics where something does not hold. What is thorough also asks whether
/// threads and the profile change nothing, which takes three times as long.
pub fn check(input: &[u8], is_thorough: bool, on: On<'_>) {
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
    let log = Log { bytes: &log, zstd, number };
    let report = log.report(1, Profile::Host, on);
    log.check(&report);
    if is_thorough {
        log.check_again(&report, on);
    }
}

/// A log and what its name would say.
struct Log<'a> {
    bytes: &'a [u8],
    zstd: bool,
    number: Option<u64>,
}

impl Log<'_> {
    fn report(&self, threads: usize, profile: Profile, on: On<'_>) -> Report {
        let storage = Memory::new().file("/log", self.bytes);
        let options = Options { profile, max_frame_bytes: FRAME_BYTES_MAX, ..Options::default() };
        on(threads, &|| report_on(&storage, self.number, self.zstd, &options))
    }

    fn check(&self, report: &Report) {
        check_consistent(report);
        let is_limited = report.verdict == Verdict::Unreadable;
        let depth = self.bytes.iter().filter(|byte| matches!(byte, b'[' | b'{')).count();
        if self.number != Some(0) || is_limited || depth > DEPTH_MAX {
            return;
        }
        let expected =
            if self.zstd { container::judge(self.bytes) } else { Some(twin::judge(self.bytes)) };
        if let Some(expected) = expected {
            assert_eq!(answer(report), expected, "{report:?}");
        }
    }

    fn check_again(&self, report: &Report, on: On<'_>) {
        let three = self.report(3, Profile::Host, on);
        assert_eq!(format!("{report:?}"), format!("{three:?}"), "one thread and three");
        let careful = self.report(1, Profile::Strict, on);
        check_consistent(&careful);
        assert_eq!(answer(&careful), answer(report), "a profile changes nothing of this");
    }
}
