//! Zstandard frames that only store: made, and taken apart again by the letter of section 2.

use super::{Answer, Scan, loader, naive};

const MAGIC: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];

/// The window byte of our frames: 128 KiB, so that a block may be as large as any.
const WINDOW: u8 = 0x38;

/// Makes one frame that stores `text` in raw blocks of at most `block_bytes`, with a checksum or
/// not.
pub fn frame(text: &[u8], block_bytes: usize, checksum: bool) -> Vec<u8> {
    let mut frame = MAGIC.to_vec();
    frame.extend([u8::from(checksum) << 2, WINDOW]);
    let mut blocks: Vec<&[u8]> = text.chunks(block_bytes.clamp(1, 1 << 17)).collect();
    if blocks.is_empty() {
        blocks.push(b"");
    }
    for (at, block) in blocks.iter().enumerate() {
        let is_last = at + 1 == blocks.len();
        let header = u32::from(is_last) | (block.len() as u32) << 3;
        frame.extend(&header.to_le_bytes()[..3]);
        frame.extend(*block);
    }
    if checksum {
        frame.extend((xxh64(text) as u32).to_le_bytes());
    }
    frame
}

/// Judges a compressed log; nothing when a frame does anything but store, or has a header unlike
/// ours.
pub fn judge(log: &[u8]) -> Option<Answer> {
    let mut texts: Vec<Vec<u8>> = Vec::new();
    let mut at = 0;
    let mut torn = None;
    let mut refused = false;
    while at < log.len() {
        match step(&log[at..]) {
            Step::Complete { bytes, text, checksum } => {
                // A frame that does not decode ends what we can say of the events.
                if checksum.is_some_and(|sum| sum != xxh64(&text) as u32) {
                    return None;
                }
                texts.push(text);
                at += bytes;
            }
            Step::Torn(text) => {
                torn = Some(text);
                break;
            }
            Step::Broken => {
                refused = true;
                break;
            }
            Step::Unlike => return None,
        }
    }
    let Some(first) = texts.first() else { return Some(Answer::refused(0)) };
    let first_line = first.iter().position(|byte| *byte == b'\n');
    refused |= first.is_empty() || first_line != first.len().checked_sub(1);
    let whole = texts.concat();
    let Some(header) = whole.iter().position(|byte| *byte == b'\n') else {
        return Some(Answer::refused(0));
    };
    let mut scan = Scan::default();
    scan.text(&whole[header + 1..]);
    refused |= scan.has_issue || !scan.rest.is_empty();
    refused |= !naive::parse(&whole[..header]).is_some_and(|header| loader::is_header(&header));
    if refused || scan.thrown {
        return Some(Answer::refused(scan.events.len()));
    }
    let lost_bytes = log.len() - at;
    scan.text(&torn.unwrap_or_default());
    Some(scan.answer(&whole[..header], lost_bytes))
}

/// Returns where the frames of a whole compressed log end, by the letter of section 2.2.
pub fn ends(log: &[u8]) -> Vec<usize> {
    let mut ends = Vec::new();
    let mut at = 0;
    while at < log.len() {
        let descriptor = log[at + 4];
        let is_single = descriptor & 0x20 != 0;
        at += 5 + usize::from(!is_single) + [0, 1, 2, 4][usize::from(descriptor & 3)];
        at += [usize::from(is_single), 2, 4, 8][usize::from(descriptor >> 6)];
        loop {
            let header = u32::from_le_bytes([log[at], log[at + 1], log[at + 2], 0]);
            at += 3 + if header >> 1 & 3 == 1 { 1 } else { (header >> 3) as usize };
            if header & 1 == 1 {
                break;
            }
        }
        at += usize::from(descriptor & 4);
        ends.push(at);
    }
    ends
}

enum Step {
    Complete {
        bytes: usize,
        text: Vec<u8>,
        checksum: Option<u32>,
    },
    /// The text that can still be had.
    Torn(Vec<u8>),
    Broken,
    /// Not one of ours.
    Unlike,
}

fn step(log: &[u8]) -> Step {
    let torn = || Step::Torn(Vec::new());
    let Some(magic) = log.get(..4) else { return torn() };
    if magic != MAGIC {
        return Step::Broken;
    }
    let Some(descriptor) = log.get(4) else { return torn() };
    if descriptor & 0x18 != 0 {
        return Step::Broken;
    }
    if !matches!(descriptor, 0 | 4) {
        return Step::Unlike;
    }
    match log.get(5) {
        None => return torn(),
        Some(&WINDOW) => {}
        Some(_) => return Step::Unlike,
    }
    let (mut at, mut text) = (6, Vec::new());
    let mut is_last = false;
    while !is_last {
        let Some(header) = log.get(at..at + 3) else { return Step::Torn(text) };
        let header = u32::from_le_bytes([header[0], header[1], header[2], 0]);
        is_last = header & 1 == 1;
        let (kind, size) = (header >> 1 & 3, (header >> 3) as usize);
        at += 3;
        match kind {
            3 => return Step::Broken,
            2 => return Step::Unlike,
            _ if size > 1 << 17 => return Step::Unlike,
            1 => {
                let Some(byte) = log.get(at) else { return Step::Torn(text) };
                text.extend(std::iter::repeat_n(*byte, size));
                at += 1;
            }
            _ => {
                let there = log[at..].len().min(size);
                text.extend(&log[at..at + there]);
                if there < size {
                    return Step::Torn(text);
                }
                at += size;
            }
        }
    }
    if descriptor & 4 == 0 {
        return Step::Complete { bytes: at, text, checksum: None };
    }
    match log.get(at..at + 4) {
        None => Step::Torn(text),
        Some(sum) => {
            let checksum = Some(u32::from_le_bytes([sum[0], sum[1], sum[2], sum[3]]));
            Step::Complete { bytes: at + 4, text, checksum }
        }
    }
}

/// The hash that frames carry, with seed 0.
///
/// # Source
///
/// The xxHash specification, XXH64.
pub fn xxh64(text: &[u8]) -> u64 {
    const P: [u64; 5] = [
        0x9E37_79B1_85EB_CA87,
        0xC2B2_AE3D_27D4_EB4F,
        0x1656_67B1_9E37_79F9,
        0x85EB_CA77_C2B2_AE63,
        0x27D4_EB2F_1656_67C5,
    ];
    let word = |at: usize| {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&text[at..at + 8]);
        u64::from_le_bytes(bytes)
    };
    let round = |sum: u64, input: u64| {
        sum.wrapping_add(input.wrapping_mul(P[1])).rotate_left(31).wrapping_mul(P[0])
    };
    let mut at = 0;
    let mut hash = if text.len() < 32 {
        P[4]
    } else {
        let mut sums = [P[0].wrapping_add(P[1]), P[1], 0, 0u64.wrapping_sub(P[0])];
        while at + 32 <= text.len() {
            for sum in &mut sums {
                *sum = round(*sum, word(at));
                at += 8;
            }
        }
        let turns = [1, 7, 12, 18];
        let start = sums
            .iter()
            .zip(turns)
            .fold(0u64, |all, (sum, turn)| all.wrapping_add(sum.rotate_left(turn)));
        sums.iter()
            .fold(start, |all, sum| (all ^ round(0, *sum)).wrapping_mul(P[0]).wrapping_add(P[3]))
    };
    hash = hash.wrapping_add(text.len() as u64);
    while at + 8 <= text.len() {
        hash = (hash ^ round(0, word(at))).rotate_left(27).wrapping_mul(P[0]).wrapping_add(P[3]);
        at += 8;
    }
    if at + 4 <= text.len() {
        let half =
            u64::from(u32::from_le_bytes([text[at], text[at + 1], text[at + 2], text[at + 3]]));
        hash =
            (hash ^ half.wrapping_mul(P[0])).rotate_left(23).wrapping_mul(P[1]).wrapping_add(P[2]);
        at += 4;
    }
    for byte in &text[at..] {
        hash = (hash ^ u64::from(*byte).wrapping_mul(P[4])).rotate_left(11).wrapping_mul(P[0]);
    }
    hash = (hash ^ hash >> 33).wrapping_mul(P[1]);
    hash = (hash ^ hash >> 29).wrapping_mul(P[2]);
    hash ^ hash >> 32
}
