//! Zstandard frames: as the host's writer makes them, and by hand, block by block.
//!
//! A frame is the magic number, a descriptor byte, a window byte, perhaps a content size, blocks,
//! and perhaps a checksum. A block is a header of three bytes, with the bit "last", two bits of
//! type (0 raw, 1 run, 2 compressed, 3 reserved) and the size, and its payload.

use zstd_safe::{
    CCtx, CParameter, InBuffer, OutBuffer, compress_bound, zstd_sys::ZSTD_EndDirective,
};

/// The four bytes that each frame starts with.
pub(crate) const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// A window of 2 MiB: the window byte of a frame made by hand.
const WINDOW: u8 = 0x58;

/// Compresses a text as the host's writer does: default level, checksum, no content size.
pub(crate) fn frame(text: impl AsRef<[u8]>) -> Vec<u8> {
    compressed(text.as_ref(), true)
}

/// Compresses a text into a frame without a checksum.
pub(crate) fn unchecked_frame(text: impl AsRef<[u8]>) -> Vec<u8> {
    compressed(text.as_ref(), false)
}

/// Compresses a text that is too long to be held: its start, one byte many times, its end.
pub(crate) fn frame_around(start: &str, byte: u8, count: usize, end: &str) -> Vec<u8> {
    let piece = vec![byte; 1 << 20];
    let (whole, rest) = (count >> 20, count % (1 << 20));
    let middle = std::iter::repeat_n(&piece[..], whole).chain([&piece[..rest]]);
    pieces(std::iter::once(start.as_bytes()).chain(middle), end.as_bytes(), true)
}

fn compressed(text: &[u8], checksum: bool) -> Vec<u8> {
    pieces(std::iter::empty(), text, checksum)
}

/// Compresses pieces of a text and its last one into a frame.
fn pieces<'a>(all: impl Iterator<Item = &'a [u8]>, last: &[u8], checksum: bool) -> Vec<u8> {
    let mut context = CCtx::create();
    let parameters = [CParameter::ChecksumFlag(checksum), CParameter::ContentSizeFlag(false)];
    for parameter in parameters {
        context.set_parameter(parameter).expect("both parameters exist");
    }
    let mut bytes = Vec::with_capacity(compress_bound(last.len()) + (1 << 20));
    let mut output = OutBuffer::around(&mut bytes);
    for piece in all {
        let mut input = InBuffer::around(piece);
        while input.pos() < piece.len() {
            let go_on = ZSTD_EndDirective::ZSTD_e_continue;
            context.compress_stream2(&mut output, &mut input, go_on).expect("it compresses");
        }
    }
    let end = ZSTD_EndDirective::ZSTD_e_end;
    let mut input = InBuffer::around(last);
    let left = context.compress_stream2(&mut output, &mut input, end).expect("it compresses");
    assert_eq!(left, 0, "the buffer holds the whole frame");
    bytes
}

/// One block of a frame made by hand.
pub(crate) struct Block {
    kind: u8,
    size: usize,
    payload: Vec<u8>,
}

impl Block {
    /// A block that holds a text as it is.
    pub(crate) fn raw(text: impl AsRef<[u8]>) -> Self {
        let payload = text.as_ref().to_vec();
        Self { kind: 0, size: payload.len(), payload }
    }

    /// A block that repeats one byte.
    pub(crate) fn run(byte: u8, count: usize) -> Self {
        Self { kind: 1, size: count, payload: vec![byte] }
    }

    /// A block of the reserved type.
    pub(crate) fn reserved() -> Self {
        Self { kind: 3, size: 0, payload: Vec::new() }
    }
}

/// What a frame made by hand says of itself.
pub(crate) struct Head {
    /// Bits to set in the descriptor, beside those of what follows.
    pub(crate) bits: u8,
    /// The window byte.
    pub(crate) window: u8,
    /// The bytes of a dictionary id: none, one, two or four.
    pub(crate) dictionary: Vec<u8>,
    /// The declared size of the text in bytes.
    pub(crate) content_bytes: Option<u32>,
}

impl Default for Head {
    fn default() -> Self {
        Self { bits: 0, window: WINDOW, dictionary: Vec::new(), content_bytes: None }
    }
}

/// Makes a frame without a checksum out of blocks.
pub(crate) fn by_hand(head: &Head, blocks: &[Block]) -> Vec<u8> {
    let dictionary_flag = match head.dictionary.len() {
        4 => 3,
        other => u8::try_from(other).expect("an id has at most four bytes"),
    };
    let size_flag = if head.content_bytes.is_some() { 0x80 } else { 0 };
    let mut frame = MAGIC.to_vec();
    frame.push(head.bits | size_flag | dictionary_flag);
    frame.push(head.window);
    frame.extend(&head.dictionary);
    frame.extend(head.content_bytes.map_or(Vec::new(), |bytes| bytes.to_le_bytes().to_vec()));
    for (index, block) in blocks.iter().enumerate() {
        let is_last = u32::from(index + 1 == blocks.len());
        let size = u32::try_from(block.size).expect("a block is small");
        let header = is_last | u32::from(block.kind) << 1 | size << 3;
        frame.extend(&header.to_le_bytes()[..3]);
        frame.extend(&block.payload);
    }
    frame
}

/// Makes a skippable frame, which other tools write and no log may hold.
pub(crate) fn skippable(payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![0x50, 0x2a, 0x4d, 0x18];
    frame.extend(u32::try_from(payload.len()).expect("a payload is small").to_le_bytes());
    frame.extend(payload);
    frame
}

/// Returns a frame, or a whole file, without its last bytes.
pub(crate) fn cut(mut bytes: Vec<u8>, count: usize) -> Vec<u8> {
    bytes.truncate(bytes.len() - count);
    bytes
}

/// Returns a frame whose last byte, one of its checksum, is another one.
pub(crate) fn miswritten(mut frame: Vec<u8>) -> Vec<u8> {
    *frame.last_mut().expect("a frame has bytes") ^= 1;
    frame
}
