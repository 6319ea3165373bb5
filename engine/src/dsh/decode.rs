//! Text out of frames: libzstd's streaming decoder, with the bounds that the host's runtime has.
//!
//! The host decodes each complete frame with a streaming decoder and an output window of 1 MiB.
//! That decides odd cases, which are reproduced here: a frame whose window is larger than 128 MiB,
//! or one of whose blocks is larger than its window, fails, unless it declares a content of at most
//! 1 MiB; libzstd then decodes it in one pass and looks at neither.
//!
//! # Source
//!
//! `docs/dsh-format.md`, sections 2.3 to 2.5; libzstd 1.5 `ZSTD_decompressStream`.

use zstd_safe::{DCtx, InBuffer, OutBuffer, ResetDirective};

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
    /// [`DecodeError::Invalid`] when the host's decoder would fail, [`DecodeError::TooLarge`] when
    /// the text is longer than `text_bytes_max`. What was appended before the error stays.
    pub fn frame(
        &mut self,
        input: &[u8],
        out: &mut Vec<u8>,
        text_bytes_max: usize,
    ) -> Result<(), DecodeError> {
        let pace = Pace::of(input);
        self.reset();
        let (mut at, before) = (0, out.len());
        loop {
            let room = (text_bytes_max - (out.len() - before)).saturating_add(1);
            let held = out.len();
            let step = self.step(&input[at..], out, room.min(1 << 20), pace)?;
            at += step.consumed;
            if out.len() - before > text_bytes_max {
                return Err(DecodeError::TooLarge);
            }
            if step.ended {
                return Ok(());
            }
            if step.consumed == 0 && at == input.len() && out.len() == held {
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
        pace: Pace,
    ) -> Result<Step, DecodeError> {
        let before = out.len();
        let mut source = InBuffer::around(input);
        let hint = match pace {
            Pace::Free => {
                out.reserve(room.max(1));
                let mut target = OutBuffer::around_pos(out, before);
                self.context.decompress_stream(&mut target, &mut source)
            }
            Pace::Bounded => {
                // libzstd must not see more room than the host gives it.
                out.resize(before + room.clamp(1, ONE_PASS_BYTES_MAX as usize), 0);
                let mut target = OutBuffer::around(&mut out[before..]);
                let hint = self.context.decompress_stream(&mut target, &mut source);
                let written = target.pos();
                out.truncate(before + written);
                hint
            }
        };
        let hint = hint.map_err(|_| DecodeError::Invalid)?;
        Ok(Step { consumed: source.pos(), ended: hint == 0 })
    }
}

/// How much room a decoding step may give to libzstd.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// As much as there is: the frame declares no size, so that it is never decoded in one pass, or
    /// at most 1 MiB, so that the host decodes it in one pass too.
    Free,
    /// At most 1 MiB: with more, libzstd would decode the frame in one pass, and the host would
    /// not.
    Bounded,
}

impl Pace {
    /// Returns the pace for a frame, given its first bytes.
    pub fn of(frame: &[u8]) -> Self {
        match declared(frame) {
            Some(size) if size > ONE_PASS_BYTES_MAX => Self::Bounded,
            _ => Self::Free,
        }
    }
}

/// Returns the content size that a frame declares, in bytes.
fn declared(frame: &[u8]) -> Option<u64> {
    let descriptor = *frame.get(4)?;
    let single_segment = descriptor & 0x20 != 0;
    let at = 5 + usize::from(!single_segment) + [0, 1, 2, 4][usize::from(descriptor & 3)];
    let size_bytes = match descriptor >> 6 {
        0 => usize::from(single_segment),
        flag => 1 << flag,
    };
    let mut bytes = [0u8; 8];
    bytes[..size_bytes].copy_from_slice(frame.get(at..at + size_bytes)?);
    let raw = u64::from_le_bytes(bytes);
    match size_bytes {
        0 => None,
        // The two-byte field starts counting at 256.
        2 => Some(raw + 256),
        _ => Some(raw),
    }
}
