//! The text of a log in blocks of scanned lines.
//!
//! A source yields jobs: a stretch of text, or a run of frames to decode. Doing a job gives blocks,
//! whatever becomes of the other jobs; [`pipe`](crate::dsh::pipe) does them on all cores.
//!
//! Lines end at the byte 0x0A wherever it stands, so a block's lines do not depend on what came
//! before it: only its first line can be the rest of one that an earlier block began. Joining
//! those is the work of [`mod@crate::dsh::line`].

use crate::dsh::decode::{DecodeError, Decoder};
use crate::dsh::fault::{Fault, FaultKind};
use crate::dsh::frame::Frame;
use crate::dsh::row::{self, Row};
use crate::event::Place;
use crate::json::{Node, Scanner, Tape};
use std::cell::RefCell;
use std::io;
use std::sync::Mutex;

/// How much text a source puts into one job, as far as it can tell.
pub const JOB_BYTES: usize = 1 << 17;

/// What the lines and nodes of a block may cost beyond twice its text, in bytes.
const LAID_BYTES_MIN: usize = 1 << 16;

/// How much more text than bytes a frame is taken to hold, where nothing better is known.
const EXPANSION: u64 = 6;

/// A frame that may decode to more than this is streamed, not decoded in one job.
pub const LARGE_FRAME_BYTES: u32 = 4 << 20;

/// A mark: from `at` in the block's text on, the text is that of a frame.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    /// Offset in the block's text.
    pub at: usize,
    /// The frame, counted from 0; nothing in plain text.
    pub frame: Option<u64>,
    /// Where on disk: of the frame, or of this very byte in plain text.
    pub byte: u64,
}

impl Mark {
    /// Returns the place of the text at `offset`, which this mark covers.
    fn place(&self, offset: usize) -> Place {
        let byte = match self.frame {
            Some(_) => self.byte,
            None => self.byte + (offset - self.at) as u64,
        };
        Place { frame: self.frame, byte: Some(byte), ..Place::default() }
    }
}

/// One complete line of a block, without its line feed, and what it holds.
#[derive(Debug)]
pub struct Line {
    /// Its first byte in the block's text.
    pub start: usize,
    /// One past its last byte, where its line feed stands.
    pub end: usize,
    /// What it holds.
    pub row: Row,
}

/// A stretch of text and its scanned lines.
#[derive(Debug, Default)]
pub struct Block {
    /// The text.
    pub text: Vec<u8>,
    /// Where the text comes from; the first mark is at 0.
    pub marks: Vec<Mark>,
    /// The lines that end in this block. The first may have begun in an earlier one.
    pub lines: Vec<Line>,
    /// How far the text was scanned: lines that end behind it are not in `lines`. A block of very
    /// short or very intricate lines is not scanned to its end, so that it stays about as large as
    /// its text.
    pub scanned: usize,
    /// The nodes of all lines.
    pub tape: Tape,
    /// After this text the source is broken, and how.
    pub fault: Option<Fault>,
}

impl Block {
    /// Returns where the text at `offset` lies.
    pub fn place(&self, offset: usize) -> Place {
        let index = self.marks.partition_point(|mark| mark.at <= offset);
        index.checked_sub(1).map_or_else(Place::default, |at| self.marks[at].place(offset))
    }

    /// Returns where the text after the last complete line begins.
    ///
    /// Only what was scanned counts.
    pub fn tail_start(&self) -> usize {
        self.scanned
    }
}

/// A unit of work that yields blocks.
pub enum Job {
    /// Text that is already there.
    Text(Block),
    /// Complete frames to decode, the first being number `index` at `byte`.
    Frames {
        /// Their bytes.
        input: Vec<u8>,
        /// Their lengths and bounds.
        frames: Vec<Frame>,
        /// Number of the first.
        index: u64,
        /// Offset of the first.
        byte: u64,
        /// The longest text of a frame that is judged, in bytes.
        frame_bytes_max: u64,
    },
}

impl Job {
    /// Returns about how much text the job is about, in bytes.
    pub(super) fn weight(&self) -> usize {
        match self {
            Self::Text(block) => block.text.len(),
            Self::Frames { frames, .. } => {
                frames.iter().map(|frame| likely_bytes(*frame) as usize).sum()
            }
        }
    }

    /// Returns the most text that the job can be about, in bytes.
    pub(super) fn bound(&self) -> u64 {
        match self {
            Self::Text(block) => block.text.len() as u64,
            Self::Frames { frames, .. } => frames.iter().map(|frame| u64::from(frame.bound)).sum(),
        }
    }
}

/// Returns about how much text a frame holds, in bytes.
pub(super) fn likely_bytes(frame: Frame) -> u64 {
    (u64::from(frame.bytes) * EXPANSION).min(u64::from(frame.bound))
}

/// Where jobs come from, in the order of the log.
pub trait Source: Send {
    /// Returns the next job, or nothing at the end.
    ///
    /// # Errors
    ///
    /// Any error of reading the file.
    fn next_job(&mut self) -> io::Result<Option<Job>>;
}

/// Takes the blocks of a source in order.
pub trait Consumer: Send {
    /// Takes one block; its buffers are used again.
    fn block(&mut self, block: &Block);
}

/// Buffers of blocks that were consumed, to be used again: fresh memory costs more than a scan.
#[derive(Default)]
pub(super) struct Spares(Mutex<Vec<Block>>);

impl Spares {
    fn take(&self) -> Block {
        self.0.lock().ok().and_then(|mut spares| spares.pop()).unwrap_or_default()
    }

    pub(super) fn give(&self, mut block: Block) {
        block.text.clear();
        block.marks.clear();
        block.lines.clear();
        block.scanned = 0;
        block.tape.clear();
        block.fault = None;
        // A block that one huge line has blown up is not worth keeping.
        if block.text.capacity() <= 2 * LARGE_FRAME_BYTES as usize
            && let Ok(mut spares) = self.0.lock()
        {
            spares.push(block);
        }
    }
}

thread_local! {
    static TOOLS: RefCell<(Decoder, Scanner)> = RefCell::new((Decoder::new(), Scanner::new()));
}

/// Does one job.
pub(super) fn work(job: Job, packs: bool, spares: &Spares) -> Vec<Block> {
    TOOLS.with_borrow_mut(|(decoder, scanner)| {
        let mut blocks = match job {
            Job::Text(mut block) => {
                let spare = spares.take();
                (block.lines, block.tape) = (spare.lines, spare.tape);
                vec![block]
            }
            Job::Frames { input, frames, index, byte, frame_bytes_max } => {
                let run = FrameRun { input: &input, frames: &frames, index, byte, frame_bytes_max };
                decode(decoder, &run, spares)
            }
        };
        for block in &mut blocks {
            scan(scanner, block, packs);
        }
        blocks
    })
}

/// Complete frames that lie one behind the other.
struct FrameRun<'a> {
    input: &'a [u8],
    frames: &'a [Frame],
    index: u64,
    byte: u64,
    frame_bytes_max: u64,
}

fn decode(decoder: &mut Decoder, run: &FrameRun<'_>, spares: &Spares) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut block = spares.take();
    let mut at = 0;
    for (number, frame) in (run.index..).zip(run.frames) {
        let start = run.byte + at as u64;
        block.marks.push(Mark { at: block.text.len(), frame: Some(number), byte: start });
        let bytes = &run.input[at..at + frame.bytes as usize];
        at += frame.bytes as usize;
        let before = block.text.len();
        let text_bytes_max = u64::from(frame.bound).min(run.frame_bytes_max);
        if let Err(error) = decoder.frame(bytes, &mut block.text, text_bytes_max as usize) {
            // The host decodes a frame whole before it looks at a line of it.
            block.text.truncate(before);
            block.fault = Some(frame_fault(error, number, start, run.frame_bytes_max));
            blocks.push(std::mem::replace(&mut block, spares.take()));
        }
    }
    blocks.push(block);
    blocks
}

/// Returns the fault of a frame that did not decode.
///
/// `text_bytes_max` is the limit that a frame over a limit is over.
pub fn frame_fault(error: DecodeError, frame: u64, byte: u64, text_bytes_max: u64) -> Fault {
    let place = Place { frame: Some(frame), byte: Some(byte), ..Place::default() };
    match error {
        DecodeError::Invalid => {
            let host =
                format!("corrupt Zstandard session log: frame at byte {byte} failed validation");
            Fault::corrupt("container/frame-invalid", host, place)
        }
        DecodeError::TooLarge => {
            let message = format!(
                "frame {frame} is not checked: its text is larger than {text_bytes_max} bytes \
                 (--max-frame-bytes)"
            );
            Fault::new(FaultKind::Limit, "limit/frame", message, None, place)
        }
    }
}

/// Finds and scans the lines of a block, as long as what that lays down stays in proportion.
fn scan(scanner: &mut Scanner, block: &mut Block, packs: bool) {
    let bytes_max = 2 * block.text.len() + LAID_BYTES_MIN;
    let mut start = 0;
    for end in memchr::memchr_iter(b'\n', &block.text) {
        let laid = size_of_val(block.lines.as_slice()) + block.tape.len() * size_of::<Node>();
        if laid > bytes_max {
            break;
        }
        let row = row::read(scanner, &block.text[start..end], &mut block.tape, packs);
        block.lines.push(Line { start, end, row });
        start = end + 1;
    }
    block.scanned = start;
}
