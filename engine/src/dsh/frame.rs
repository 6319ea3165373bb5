//! The Zstandard container: a log is a concatenation of frames and nothing else.
//!
//! The walk follows the structure (frame header, block headers, checksum) and never searches for
//! magic bytes, because they occur in compressed data. A file is well-formed if and only if, from
//! offset 0, it is a sequence of
//!
//! ```text
//!   FD2FB528 (LE) | descriptor | window? | dictionary id? | content size? | blocks… | checksum?
//!                   bits 3, 4 = 0                            type ≠ 3
//! ```
//!
//! followed by nothing (clean) or by a proper prefix of such a frame (torn). One to three bytes
//! that are left over are torn, whatever they are. What it assumes of the disk: nothing; the length
//! is the one seen when the walk began.
//!
//! # Source
//!
//! `docs/dsh-format.md`, section 2.2.

use crate::dsh::fault::Fault;
use crate::event::Place;
use crate::storage::File;
use std::io;

/// The first four bytes of a frame, read as a little-endian number.
pub const MAGIC: u32 = 0xFD2F_B528;

/// No block of a frame decodes to more than this many bytes, raw and run-length blocks apart.
const BLOCK_BYTES_MAX: u64 = 128 * 1024;

/// How many bytes one read of the walk asks for.
const READ_BYTES: usize = 256 * 1024;

/// One complete frame, by its structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Its length on disk, in bytes.
    pub bytes: u32,
    /// An upper bound of what it decodes to, in bytes; saturated.
    pub bound: u32,
}

/// Walks the frames of a file, one at a time, and remembers how the walk ended.
///
/// A file that becomes shorter meanwhile reads as torn.
pub struct Walk<'a> {
    cursor: Cursor<'a>,
    /// The complete frames walked so far.
    pub frames: u64,
    /// Where they end.
    pub complete_bytes: u64,
    /// An incomplete last frame starts at [`Walk::complete_bytes`].
    pub torn: bool,
    /// The structure is broken after [`Walk::complete_bytes`], and how.
    pub fault: Option<Fault>,
}

impl<'a> Walk<'a> {
    /// Starts at the first of `file_bytes` bytes.
    pub fn new(file: &'a dyn File, file_bytes: u64) -> Self {
        let cursor = Cursor::new(file, file_bytes);
        Self { cursor, frames: 0, complete_bytes: 0, torn: false, fault: None }
    }

    /// Returns the next complete frame; nothing at the end, which is then clean, torn or broken.
    ///
    /// # Errors
    ///
    /// Any error of reading the file.
    pub fn next_frame(&mut self) -> io::Result<Option<Frame>> {
        let (start, index) = (self.complete_bytes, self.frames);
        if self.torn || self.fault.is_some() || self.cursor.offset >= self.cursor.end {
            return Ok(None);
        }
        match frame(&mut self.cursor, index)? {
            Step::Complete { bound } => {
                let Ok(bytes) = u32::try_from(self.cursor.offset - start) else {
                    self.fault = Some(oversized(start, index));
                    return Ok(None);
                };
                self.frames += 1;
                self.complete_bytes = self.cursor.offset;
                Ok(Some(Frame { bytes, bound: u32::try_from(bound).unwrap_or(u32::MAX) }))
            }
            Step::Torn => {
                self.torn = true;
                Ok(None)
            }
            Step::Broken(fault) => {
                self.fault = Some(fault);
                Ok(None)
            }
        }
    }
}

/// The end of one step of the walk.
enum Step {
    Complete { bound: u64 },
    Torn,
    Broken(Fault),
}

fn frame(cursor: &mut Cursor<'_>, index: u64) -> io::Result<Step> {
    let start = cursor.offset;
    let Some(magic) = cursor.take(4)? else { return Ok(Step::Torn) };
    if magic != u64::from(MAGIC) {
        let message = format!("corrupt Zstandard session log: invalid frame magic at byte {start}");
        return Ok(Step::Broken(broken("container/frame-magic", message, index, start)));
    }
    let Some(descriptor) = cursor.take(1)? else { return Ok(Step::Torn) };
    if descriptor & 0x18 != 0 {
        let at = cursor.offset - 1;
        let message =
            format!("corrupt Zstandard session log: reserved frame-header bit at byte {at}");
        return Ok(Step::Broken(broken("container/reserved-bit", message, index, at)));
    }
    let Some(content_bytes) = frame_header_rest(cursor, descriptor)? else { return Ok(Step::Torn) };
    let mut bound = 0u64;
    loop {
        let Some(header) = cursor.take(3)? else { return Ok(Step::Torn) };
        let (last, kind, size) = (header & 1 == 1, header >> 1 & 3, header >> 3);
        if kind == 3 {
            let at = cursor.offset - 3;
            let message =
                format!("corrupt Zstandard session log: reserved block type at byte {at}");
            return Ok(Step::Broken(broken("container/block-type", message, index, at)));
        }
        let payload = if kind == 1 { 1 } else { size };
        if !cursor.skip(payload) {
            return Ok(Step::Torn);
        }
        bound = bound.saturating_add(if kind == 2 { BLOCK_BYTES_MAX } else { size });
        if last {
            break;
        }
    }
    if descriptor & 4 != 0 && !cursor.skip(4) {
        return Ok(Step::Torn);
    }
    // A declared size is checked by the decoder, so that a frame never yields more than it says.
    Ok(Step::Complete { bound: content_bytes.map_or(bound, |declared| declared.min(bound)) })
}

/// Reads what follows the descriptor; gives the declared content size, or nothing when torn.
#[expect(clippy::option_option, reason = "torn, and a frame that declares no size, are two things")]
fn frame_header_rest(cursor: &mut Cursor<'_>, descriptor: u64) -> io::Result<Option<Option<u64>>> {
    let single_segment = descriptor & 0x20 != 0;
    let dictionary_bytes = [0, 1, 2, 4][(descriptor & 3) as usize];
    let size_bytes = match descriptor >> 6 {
        0 => u64::from(single_segment),
        flag => 1 << flag,
    };
    if !cursor.skip(u64::from(!single_segment) + dictionary_bytes) {
        return Ok(None);
    }
    let Some(size) = cursor.take(size_bytes as usize)? else { return Ok(None) };
    Ok(Some(match size_bytes {
        0 => None,
        // The two-byte field starts counting at 256.
        2 => Some(size + 256),
        _ => Some(size),
    }))
}

fn broken(rule: &'static str, message: String, frame: u64, byte: u64) -> Fault {
    let place = Place { frame: Some(frame), byte: Some(byte), ..Place::default() };
    Fault::corrupt(rule, message, place)
}

fn oversized(byte: u64, frame: u64) -> Fault {
    let place = Place { frame: Some(frame), byte: Some(byte), ..Place::default() };
    let message = format!("frame {frame} is not checked: larger than 4 GiB on disk");
    Fault::new(crate::dsh::fault::FaultKind::Limit, "limit/frame", message, None, place)
}

/// A forward reader of a file's bytes that buffers what it reads and jumps over what it skips.
struct Cursor<'a> {
    file: &'a dyn File,
    offset: u64,
    end: u64,
    buffer: Vec<u8>,
    /// The file offset of the buffer's first byte.
    base: u64,
}

impl<'a> Cursor<'a> {
    fn new(file: &'a dyn File, end: u64) -> Self {
        Self { file, offset: 0, end, buffer: Vec::new(), base: 0 }
    }

    /// Takes up to eight bytes as a little-endian number, or nothing when fewer are left.
    fn take(&mut self, count: usize) -> io::Result<Option<u64>> {
        if self.end - self.offset < count as u64 {
            return Ok(None);
        }
        let known = |cursor: &Self| {
            cursor.offset >= cursor.base
                && cursor.offset + count as u64 <= cursor.base + cursor.buffer.len() as u64
        };
        if !known(self) {
            self.fill()?;
        }
        if !known(self) {
            // The file became shorter while we read: what is left is a torn end.
            self.end = self.offset;
            return Ok(None);
        }
        let at = (self.offset - self.base) as usize;
        let mut bytes = [0u8; 8];
        bytes[..count].copy_from_slice(&self.buffer[at..at + count]);
        self.offset += count as u64;
        Ok(Some(u64::from_le_bytes(bytes)))
    }

    fn skip(&mut self, count: u64) -> bool {
        if self.end - self.offset < count {
            return false;
        }
        self.offset += count;
        true
    }

    fn fill(&mut self) -> io::Result<()> {
        let wanted = (self.end - self.offset).min(READ_BYTES as u64) as usize;
        self.buffer.resize(wanted, 0);
        self.base = self.offset;
        let got = crate::dsh::bytes::read_full(self.file, self.offset, &mut self.buffer)?;
        self.buffer.truncate(got);
        Ok(())
    }
}
