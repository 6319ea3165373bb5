//! The bytes of a log: the header alone, then one frame, or one block of lines, a durable batch.
//!
//! # Source
//!
//! `docs/dsh-format.md`, sections 2.1 and 18.2.

use zstd_safe::{CCtx, CParameter, get_error_name};

use super::config::Encoding;
use super::pack;
use super::spell::Spelt;
use crate::backend::{Limited, Refusal};

/// Bytes of text that one durable batch may have: the host's runtime holds no line of 512 MiB.
pub(super) const BATCH_BYTES_MAX: usize = 256 << 20;

/// Encodes the header line.
pub(super) fn header(encoding: Encoding, line: &str) -> Result<Vec<u8>, Refusal> {
    if line.len() > BATCH_BYTES_MAX {
        let (what, bytes, limit) =
            (Limited::HeaderBytes, line.len() as u64, BATCH_BYTES_MAX as u64);
        return Err(Refusal::TooLarge { what, bytes, limit });
    }
    container(encoding, format!("{line}\n"))
}

/// Encodes one durable batch; no bytes for one without events.
pub(super) fn batch(
    encoding: Encoding,
    events: &[Spelt],
    first_seq: u64,
) -> Result<Vec<u8>, Refusal> {
    let mut text = String::new();
    pack::write(events, first_seq, &mut text);
    if text.len() > BATCH_BYTES_MAX {
        let (what, bytes, limit) = (Limited::FrameBytes, text.len() as u64, BATCH_BYTES_MAX as u64);
        return Err(Refusal::TooLarge { what, bytes, limit });
    }
    if text.is_empty() {
        return Ok(Vec::new());
    }
    container(encoding, text)
}

fn container(encoding: Encoding, text: String) -> Result<Vec<u8>, Refusal> {
    match encoding {
        Encoding::Plain => Ok(text.into_bytes()),
        Encoding::Zstd => frame(text.as_bytes()).map_err(|code| Refusal::Internal {
            what: format!("the encoder of frames failed: {}", get_error_name(code)),
        }),
    }
}

/// Makes a frame as the host's runtime does: default level, with checksum, without content size.
fn frame(text: &[u8]) -> Result<Vec<u8>, usize> {
    let mut context = CCtx::create();
    context.set_parameter(CParameter::CompressionLevel(zstd_safe::CLEVEL_DEFAULT))?;
    context.set_parameter(CParameter::ChecksumFlag(true))?;
    context.set_parameter(CParameter::ContentSizeFlag(false))?;
    let mut bytes = Vec::with_capacity(zstd_safe::compress_bound(text.len()));
    context.compress2(&mut bytes, text)?;
    Ok(bytes)
}
