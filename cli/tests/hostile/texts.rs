//! Large texts in few bytes: frames of run-length blocks, made by hand.

use crate::common::header;

pub(crate) const MIB: u64 = 1 << 20;

/// A stretch of text.
#[derive(Clone)]
pub(crate) enum Part {
    Text(Vec<u8>),
    /// So many times this byte.
    Fill(u8, u64),
}

pub(crate) use Part::Fill;

pub(crate) fn text(text: impl AsRef<[u8]>) -> Part {
    Part::Text(text.as_ref().to_vec())
}

/// Makes a frame of raw and run-length blocks.
pub(crate) fn hand_made(parts: &[Part]) -> Vec<u8> {
    const BLOCK_BYTES: u64 = 1 << 17;
    let mut blocks: Vec<(u32, u64, Vec<u8>)> = Vec::new();
    for part in parts {
        match part {
            Part::Text(text) => blocks.extend(
                text.chunks(BLOCK_BYTES as usize).map(|it| (0, it.len() as u64, it.to_vec())),
            ),
            Fill(byte, bytes) => {
                let starts = (0..*bytes).step_by(BLOCK_BYTES as usize);
                blocks.extend(starts.map(|at| (1, BLOCK_BYTES.min(bytes - at), vec![*byte])));
            }
        }
    }
    if blocks.is_empty() {
        blocks.push((0, 0, Vec::new()));
    }
    // Magic, no flags, a window of 128 KiB.
    let mut frame = vec![0x28, 0xB5, 0x2F, 0xFD, 0, 0x38];
    let count = blocks.len();
    for (at, (kind, bytes, payload)) in blocks.into_iter().enumerate() {
        let header = u32::from(at + 1 == count) | kind << 1 | (bytes as u32) << 3;
        frame.extend(&header.to_le_bytes()[..3]);
        frame.extend(payload);
    }
    frame
}

/// A header frame, then one frame of these parts.
pub(crate) fn log_of(parts: &[Part]) -> Vec<u8> {
    [hand_made(&[text(header("s"))]), hand_made(parts)].concat()
}

/// The parts of one line: an event of a type whose payload is a string of `bytes` bytes.
pub(crate) fn long_line(before: &str, bytes: u64, after: &str) -> Vec<Part> {
    vec![text(before), Fill(b'a', bytes), text(after)]
}
