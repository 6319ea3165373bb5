//! The text of a log in blocks of scanned lines, made on all cores and handed over in order.
//!
//! A source yields jobs: a stretch of text, or a run of frames to decode. Jobs are done in
//! parallel, a batch at a time; while one batch is consumed in order, the next one is prepared.
//! Memory is bounded by two batches, whatever the size of the log.
//!
//! Lines end at the byte 0x0A wherever it stands, so a block's lines do not depend on what came
//! before it: only its first line can be the rest of one that an earlier block began. [`Lines`]
//! joins those, and feeds a line that outgrows [`GIANT_BYTES`] to a push validator, so that its
//! payload need not be kept where no rule reads it.

use crate::dsh::bytes::read_full;
use crate::dsh::decode::{DecodeError, Decoder, Pace};
use crate::dsh::fault::{Fault, FaultKind};
use crate::dsh::frame::Frame;
use crate::dsh::row::{self, Row};
use crate::event::Place;
use crate::json::{Scanner, Tape};
use crate::storage::File;
use rayon::prelude::*;
use std::cell::RefCell;
use std::io;
use std::sync::Mutex;

/// How much text a source puts into one job.
pub const JOB_BYTES: usize = 1 << 20;

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
    pub fn tail_start(&self) -> usize {
        self.lines.last().map_or(0, |line| line.end + 1)
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
struct Spares(Mutex<Vec<Block>>);

impl Spares {
    fn take(&self) -> Block {
        self.0.lock().ok().and_then(|mut spares| spares.pop()).unwrap_or_default()
    }

    fn give(&self, mut block: Block) {
        block.text.clear();
        block.marks.clear();
        block.lines.clear();
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

/// Runs a source to its end: jobs in parallel, blocks in order.
///
/// # Errors
///
/// Any error of the source; the blocks before it were consumed.
pub fn run(source: &mut dyn Source, packs: bool, consumer: &mut dyn Consumer) -> io::Result<()> {
    let batch_jobs = 2 * rayon::current_num_threads();
    let spares = Spares::default();
    let mut ready = Vec::new();
    let mut result = Ok(false);
    loop {
        let (next, ()) = rayon::join(
            || match result {
                Ok(true) | Err(_) => (Vec::new(), None),
                Ok(false) => {
                    let (blocks, outcome) = prepare(source, packs, batch_jobs, &spares);
                    (blocks, Some(outcome))
                }
            },
            || {
                for block in ready.drain(..) {
                    consumer.block(&block);
                    spares.give(block);
                }
            },
        );
        let (blocks, outcome) = next;
        match outcome {
            Some(outcome) => result = outcome,
            None => return result.map(|_| ()),
        }
        ready = blocks;
    }
}

/// Makes the blocks of one batch; the outcome says whether the source is at its end.
fn prepare(
    source: &mut dyn Source,
    packs: bool,
    jobs: usize,
    spares: &Spares,
) -> (Vec<Block>, io::Result<bool>) {
    let mut batch = Vec::with_capacity(jobs);
    let mut outcome = Ok(false);
    while batch.len() < jobs {
        match source.next_job() {
            Ok(Some(job)) => batch.push(job),
            Ok(None) => {
                outcome = Ok(true);
                break;
            }
            Err(error) => {
                outcome = Err(error);
                break;
            }
        }
    }
    let blocks: Vec<Vec<Block>> =
        batch.into_par_iter().map(|job| work(job, packs, spares)).collect();
    (blocks.into_iter().flatten().collect(), outcome)
}

thread_local! {
    static TOOLS: RefCell<(Decoder, Scanner)> = RefCell::new((Decoder::new(), Scanner::new()));
}

/// Does one job.
fn work(job: Job, packs: bool, spares: &Spares) -> Vec<Block> {
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

/// Finds and scans the lines of a block.
fn scan(scanner: &mut Scanner, block: &mut Block, packs: bool) {
    let mut start = 0;
    for end in memchr::memchr_iter(b'\n', &block.text) {
        let row = row::read(scanner, &block.text[start..end], &mut block.tape, packs);
        block.lines.push(Line { start, end, row });
        start = end + 1;
    }
}

/// The text of a plain log.
pub struct Plain<'a> {
    file: &'a dyn File,
    offset: u64,
    end: u64,
    /// What was read of a line that did not end yet.
    rest: Vec<u8>,
}

impl<'a> Plain<'a> {
    /// Reads the first `bytes` bytes of a file.
    pub fn new(file: &'a dyn File, bytes: u64) -> Self {
        Self { file, offset: 0, end: bytes, rest: Vec::new() }
    }
}

impl Source for Plain<'_> {
    fn next_job(&mut self) -> io::Result<Option<Job>> {
        let byte = self.offset - self.rest.len() as u64;
        let wanted = (self.end - self.offset).min(JOB_BYTES as u64) as usize;
        if wanted == 0 && self.rest.is_empty() {
            return Ok(None);
        }
        let mut text = std::mem::take(&mut self.rest);
        let before = text.len();
        text.resize(before + wanted, 0);
        let got = read_full(self.file, self.offset, &mut text[before..])?;
        text.truncate(before + got);
        self.offset += got as u64;
        if got < wanted {
            // The file became shorter while we read; what is there is all there is.
            self.end = self.offset;
        }
        if self.offset < self.end {
            self.rest = split_after_last_line(&mut text);
        }
        let marks = vec![Mark { at: 0, frame: None, byte }];
        Ok(Some(Job::Text(Block { text, marks, ..Block::default() })))
    }
}

/// Cuts a text after its last line feed and returns the rest; a text without one is left whole.
fn split_after_last_line(text: &mut Vec<u8>) -> Vec<u8> {
    match memchr::memrchr(b'\n', text) {
        Some(at) => text.split_off(at + 1),
        None => Vec::new(),
    }
}

/// The text of complete frames, small ones decoded in jobs and large ones streamed.
pub struct Framed<'a> {
    file: &'a dyn File,
    frames: &'a [Frame],
    frame_bytes_max: u64,
    /// The next frame.
    index: usize,
    /// Where it starts.
    byte: u64,
    large: Option<Stream<'a>>,
}

impl<'a> Framed<'a> {
    /// Reads frames that start at offset 0, one after the other.
    ///
    /// A frame whose text is longer than `frame_bytes_max` is left off, with a fault.
    pub fn new(file: &'a dyn File, frames: &'a [Frame], frame_bytes_max: u64) -> Self {
        Self { file, frames, frame_bytes_max, index: 0, byte: 0, large: None }
    }

    fn small_frames(&mut self) -> io::Result<Job> {
        let (index, byte) = (self.index as u64, self.byte);
        let (mut bound, mut bytes) = (0u64, 0usize);
        let first = self.index;
        while let Some(frame) = self.frames.get(self.index) {
            bound += u64::from(frame.bound);
            let full = bound > u64::from(LARGE_FRAME_BYTES) && self.index > first;
            if frame.bound > LARGE_FRAME_BYTES || full {
                break;
            }
            bytes += frame.bytes as usize;
            self.index += 1;
        }
        let mut input = vec![0; bytes];
        if read_full(self.file, byte, &mut input)? < bytes {
            return Err(changed());
        }
        self.byte += bytes as u64;
        let frames = self.frames[first..self.index].to_vec();
        let frame_bytes_max = self.frame_bytes_max;
        Ok(Job::Frames { input, frames, index, byte, frame_bytes_max })
    }
}

fn changed() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "the file became shorter while it was read")
}

impl Source for Framed<'_> {
    fn next_job(&mut self) -> io::Result<Option<Job>> {
        loop {
            if let Some(stream) = &mut self.large {
                if let Some(block) = stream.next_block()? {
                    return Ok(Some(Job::Text(block)));
                }
                self.large = None;
            }
            let Some(frame) = self.frames.get(self.index) else { return Ok(None) };
            if frame.bound <= LARGE_FRAME_BYTES {
                return self.small_frames().map(Some);
            }
            let bytes = u64::from(frame.bytes);
            let number = Some(self.index as u64);
            let stream = Stream::new(self.file, self.byte, bytes, number, self.frame_bytes_max);
            self.large = Some(stream);
            self.index += 1;
            self.byte += bytes;
        }
    }
}

/// One frame streamed: bounded memory, whatever it decodes to.
pub struct Stream<'a> {
    file: &'a dyn File,
    decoder: Decoder,
    start: u64,
    offset: u64,
    end: u64,
    frame: Option<u64>,
    input: Vec<u8>,
    at: usize,
    text_bytes: u64,
    text_bytes_max: u64,
    rest: Vec<u8>,
    done: bool,
    pace: Pace,
    /// The frame is the torn last one: its input ends before it does.
    torn: bool,
}

impl<'a> Stream<'a> {
    /// Streams the frame of `bytes` bytes at `start`.
    pub fn new(
        file: &'a dyn File,
        start: u64,
        bytes: u64,
        frame: Option<u64>,
        text_bytes_max: u64,
    ) -> Self {
        Self {
            file,
            decoder: Decoder::new(),
            start,
            offset: start,
            end: start + bytes,
            frame,
            input: Vec::new(),
            at: 0,
            text_bytes: 0,
            text_bytes_max,
            rest: Vec::new(),
            done: false,
            pace: Pace::Free,
            torn: false,
        }
    }

    /// Streams the text that an incomplete frame still gives.
    pub fn torn(
        file: &'a dyn File,
        start: u64,
        bytes: u64,
        frame: u64,
        text_bytes_max: u64,
    ) -> Self {
        Self { torn: true, ..Self::new(file, start, bytes, Some(frame), text_bytes_max) }
    }

    /// Returns how many bytes of text the stream gave so far.
    pub fn text_bytes(&self) -> u64 {
        self.text_bytes
    }

    /// Returns the next block of text, or nothing at the frame's end.
    ///
    /// # Errors
    ///
    /// Any error of reading the file. A frame that does not decode is a fault of the block.
    pub fn next_block(&mut self) -> io::Result<Option<Block>> {
        if self.done {
            return Ok(None);
        }
        let mut text = std::mem::take(&mut self.rest);
        let mark = Mark { at: 0, frame: self.frame, byte: self.start };
        let mut block = Block { marks: vec![mark], ..Block::default() };
        let target = text.len() + JOB_BYTES;
        while text.len() < target && !self.done {
            if let Err(error) = self.step(&mut text)? {
                let (frame, max) = (self.frame.unwrap_or(0), self.text_bytes_max);
                block.fault = Some(frame_fault(error, frame, self.start, max));
                self.done = true;
            }
        }
        if !self.done {
            self.rest = split_after_last_line(&mut text);
        }
        block.text = text;
        Ok(Some(block))
    }

    /// Decodes a little more; the inner error is the frame's.
    fn step(&mut self, text: &mut Vec<u8>) -> io::Result<Result<(), DecodeError>> {
        if self.at == self.input.len() && self.offset < self.end {
            let is_first = self.offset == self.start;
            self.refill()?;
            if is_first {
                self.pace = Pace::of(&self.input);
            }
        }
        let before = text.len();
        let input = &self.input[self.at..];
        let step = match self.decoder.step(input, text, JOB_BYTES / 4, self.pace) {
            Ok(step) => step,
            Err(error) => return Ok(Err(error)),
        };
        self.at += step.consumed;
        let produced = text.len() - before;
        self.text_bytes += produced as u64;
        if self.text_bytes > self.text_bytes_max {
            text.truncate(before);
            return Ok(Err(DecodeError::TooLarge));
        }
        let drained = self.at == self.input.len() && self.offset == self.end && produced == 0;
        if step.ended || (drained && step.consumed == 0) {
            self.done = true;
            if !step.ended && !self.torn {
                return Ok(Err(DecodeError::Invalid));
            }
        }
        Ok(Ok(()))
    }

    fn refill(&mut self) -> io::Result<()> {
        let wanted = (self.end - self.offset).min(JOB_BYTES as u64 / 4) as usize;
        self.input.resize(wanted, 0);
        if read_full(self.file, self.offset, &mut self.input)? < wanted {
            return Err(changed());
        }
        self.offset += wanted as u64;
        self.at = 0;
        Ok(())
    }
}

impl Source for Stream<'_> {
    fn next_job(&mut self) -> io::Result<Option<Job>> {
        Ok(self.next_block()?.map(Job::Text))
    }
}
