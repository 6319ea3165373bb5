//! Where the text of a log comes from: plain lines, frames in jobs, one large frame in steps.
//!
//! Whatever a log decodes to, a source holds one job at a time. Plain text and the text of a large
//! frame are cut behind a line feed where there is one, so that few lines have to be joined.

use crate::dsh::bytes::read_full;
use crate::dsh::decode::{DecodeError, Decoder, Pace};
use crate::dsh::frame::{Frame, Walk};
use crate::dsh::text::{
    Block, JOB_BYTES, Job, LARGE_FRAME_BYTES, Mark, Source, frame_fault, likely_bytes,
};
use crate::storage::File;
use std::io;

/// How much one step of streaming a large frame reads, and how much it asks for.
const STEP_BYTES: usize = 1 << 18;

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
        if got < wanted {
            return Err(changed());
        }
        self.offset += got as u64;
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
    /// The walk that finds the frames; what it says of their end holds once the source is drained.
    pub walk: Walk<'a>,
    frame_bytes_max: u64,
    /// A frame that was walked and is not in a job yet.
    next: Option<Frame>,
    /// Its number.
    index: u64,
    /// Where it starts.
    byte: u64,
    /// How many bytes the last job had.
    input_bytes: usize,
    large: Option<Stream<'a>>,
}

impl<'a> Framed<'a> {
    /// Reads the frames of a file of `bytes` bytes.
    ///
    /// A frame whose text is longer than `frame_bytes_max` is left off, with a fault.
    ///
    /// # Errors
    ///
    /// Any error of reading the file.
    pub fn new(file: &'a dyn File, bytes: u64, frame_bytes_max: u64) -> io::Result<Self> {
        let mut walk = Walk::new(file, bytes);
        let next = walk.next_frame()?;
        let input_bytes = 0;
        Ok(Self { file, walk, frame_bytes_max, next, index: 0, byte: 0, input_bytes, large: None })
    }

    /// Returns the next frame without taking it.
    pub fn peek(&self) -> Option<Frame> {
        self.next
    }

    fn take(&mut self, frame: Frame) -> io::Result<()> {
        self.next = self.walk.next_frame()?;
        self.index += 1;
        self.byte += u64::from(frame.bytes);
        Ok(())
    }

    /// Appends the bytes of the next frame; the walk has just read nearly all frames.
    fn append(&self, frame: Frame, input: &mut Vec<u8>) -> io::Result<()> {
        let bytes = frame.bytes as usize;
        if let Some(known) = self.walk.read_already(self.byte, bytes) {
            input.extend_from_slice(known);
            return Ok(());
        }
        let before = input.len();
        input.resize(before + bytes, 0);
        if read_full(self.file, self.byte, &mut input[before..])? < bytes {
            return Err(changed());
        }
        Ok(())
    }

    fn small_frames(&mut self) -> io::Result<Job> {
        let (index, byte) = (self.index, self.byte);
        let (mut bound, mut likely) = (0u64, 0u64);
        let (mut frames, mut input) = (Vec::new(), Vec::with_capacity(self.input_bytes));
        while let Some(frame) = self.next {
            bound += u64::from(frame.bound);
            let full = bound > u64::from(LARGE_FRAME_BYTES)
                || likely >= JOB_BYTES as u64
                || self.byte - byte >= JOB_BYTES as u64;
            if frame.bound > LARGE_FRAME_BYTES || (full && !frames.is_empty()) {
                break;
            }
            likely += likely_bytes(frame);
            frames.push(frame);
            self.append(frame, &mut input)?;
            self.take(frame)?;
        }
        self.input_bytes = input.len();
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
            let Some(frame) = self.next else { return Ok(None) };
            if frame.bound <= LARGE_FRAME_BYTES {
                return self.small_frames().map(Some);
            }
            let (bytes, number) = (u64::from(frame.bytes), Some(self.index));
            let stream = Stream::new(self.file, self.byte, bytes, number, self.frame_bytes_max);
            self.large = Some(stream);
            self.take(frame)?;
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
        let step = match self.decoder.step(input, text, STEP_BYTES, self.pace) {
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
        let wanted = (self.end - self.offset).min(STEP_BYTES as u64) as usize;
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
