//! Text out of frames: libzstd's streaming decoder, with the bounds that the host's runtime has.
//!
//! The host decodes each complete frame with a streaming decoder and an output window of 1 MiB. That
//! decides two odd cases, which are reproduced here: a frame whose window is larger than 128 MiB
//! fails, unless it declares a content of at most 1 MiB (libzstd then decodes it in one pass and
//! never looks at the window).
//!
//! # Source
//!
//! The format specification, sections 2.3 to 2.5; libzstd 1.5 `ZSTD_decompressStream`.

use zstd_safe::{DCtx, InBuffer, OutBuffer, ResetDirective};

/// The largest window, in bytes, that libzstd's streaming decoder accepts by default.
const WINDOW_BYTES_MAX: u64 = (1 << 27) + 1;

/// The host's output window: a frame that declares no more than this is decoded in one pass.
const ONE_PASS_BYTES_MAX: u64 = 1 << 20;

/// Why a frame gave no text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// The decoder rejected it: checksum, size, dictionary, window or block.
    Invalid,
    /// It decodes to more than the caller allowed.
    TooLarge,
}

/// A reusable decoder of frames.
pub struct Decoder {
    context: DCtx<'static>,
}

impl std::fmt::Debug for Decoder {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Decoder").finish_non_exhaustive()
    }
}

impl Default for Decoder {
    fn default() -> Self {
        Self::new()
    }
}

/// What one step of streaming did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Bytes of input consumed.
    pub consumed: usize,
    /// The frame ended.
    pub ended: bool,
}

impl Decoder {
    /// Makes a decoder.
    pub fn new() -> Self {
        Self { context: DCtx::create() }
    }

    /// Forgets a frame that was begun.
    pub fn reset(&mut self) {
        // Resetting only the session cannot fail; a decoder that could not would report it later.
        let _ = self.context.reset(ResetDirective::SessionOnly);
    }

    /// Decodes one structurally complete frame and appends its text to `out`.
    ///
    /// # Errors
    ///
    /// [`DecodeError::Invalid`] when the host's decoder would fail, [`DecodeError::TooLarge`] when the
    /// text is longer than `text_bytes_max`. What was appended before the error stays.
    pub fn frame(
        &mut self,
        input: &[u8],
        out: &mut Vec<u8>,
        text_bytes_max: usize,
    ) -> Result<(), DecodeError> {
        if !window_is_accepted(input) {
            return Err(DecodeError::Invalid);
        }
        self.reset();
        let (mut at, before) = (0, out.len());
        loop {
            let room = (text_bytes_max - (out.len() - before)).saturating_add(1);
            let step = self.step(&input[at..], out, room.min(1 << 20))?;
            at += step.consumed;
            if out.len() - before > text_bytes_max {
                return Err(DecodeError::TooLarge);
            }
            if step.ended {
                return Ok(());
            }
            if step.consumed == 0 && at == input.len() && out.len() - before == 0 {
                // A complete frame always ends; a decoder that waits for more input is broken.
                return Err(DecodeError::Invalid);
            }
        }
    }

    /// Feeds input and appends at most about `room` bytes of text to `out`.
    ///
    /// # Errors
    ///
    /// [`DecodeError::Invalid`] when libzstd rejects the input.
    pub fn step(
        &mut self,
        input: &[u8],
        out: &mut Vec<u8>,
        room: usize,
    ) -> Result<Step, DecodeError> {
        out.reserve(room.max(1));
        let before = out.len();
        let mut source = InBuffer::around(input);
        let mut target = OutBuffer::around_pos(out, before);
        let hint = self
            .context
            .decompress_stream(&mut target, &mut source)
            .map_err(|_| DecodeError::Invalid)?;
        Ok(Step { consumed: source.pos(), ended: hint == 0 })
    }
}

/// Returns whether the host's decoder would accept the window that a frame asks for.
pub fn window_is_accepted(frame: &[u8]) -> bool {
    let Some((window, declared)) = window_of(frame) else { return true };
    window <= WINDOW_BYTES_MAX || declared.is_some_and(|size| size <= ONE_PASS_BYTES_MAX)
}

/// Returns the window and the declared content size of a frame, both in bytes.
fn window_of(frame: &[u8]) -> Option<(u64, Option<u64>)> {
    let descriptor = *frame.get(4)?;
    let single_segment = descriptor & 0x20 != 0;
    let mut at = 5;
    let mut window = 0u64;
    if !single_segment {
        let byte = u64::from(*frame.get(at)?);
        let base = 1u64 << (10 + (byte >> 3));
        window = base + (base >> 3) * (byte & 7);
        at += 1;
    }
    at += [0, 1, 2, 4][usize::from(descriptor & 3)];
    let size_bytes = match descriptor >> 6 {
        0 => usize::from(single_segment),
        flag => 1 << flag,
    };
    let mut bytes = [0u8; 8];
    bytes[..size_bytes].copy_from_slice(frame.get(at..at + size_bytes)?);
    let raw = u64::from_le_bytes(bytes);
    let declared = match size_bytes {
        0 => None,
        2 => Some(raw + 256),
        _ => Some(raw),
    };
    if single_segment {
        window = declared.unwrap_or(0);
    }
    Some((window, declared))
}
