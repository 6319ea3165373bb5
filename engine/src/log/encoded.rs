//! A frame whose body is done and whose place is not known yet.
//!
//! The thread that appends encodes the body and takes its checksums, outside of every lock. Room
//! for the header is left in front, so that the header is written in place once lsn, offset, chain
//! and `durable_lsn` are known, and nothing is copied.

use super::chain::{Digest, SessionKey, body_hash};
use super::field::put;
use super::frame::{FrameHead, Kind, body_crc, frame_bytes};
use super::limit::{BODY_BYTES_MAX, FRAME_HEADER_BYTES};
use crate::backend::{Limited, Refusal};

/// A frame without its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Encoded {
    /// What the frame is for.
    pub(crate) kind: Kind,
    /// The body has an idempotency key.
    pub(crate) has_key: bool,
    /// Seq of the first record.
    pub(crate) first_seq: u64,
    /// How many records.
    pub(crate) record_count: u32,
    /// The digest of the body, which goes into that of the frame.
    pub(crate) body_hash: Digest,
    body_bytes: u32,
    body_crc: u32,
    /// Room for the header, the body, its padding.
    frame: Vec<u8>,
}

/// What the reserve step knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    /// The life of the file.
    pub(crate) segment_id: u64,
    /// Where in it the frame starts.
    pub(crate) offset: u64,
    /// Place in the store.
    pub(crate) lsn: u64,
    /// What is durable when the frame is written.
    pub(crate) durable_lsn: u64,
    /// The session, or [`SessionKey::STORE`].
    pub(crate) session: SessionKey,
    /// The session's frame before; 0 for none.
    pub(crate) session_prev_lsn: u64,
    /// Digest of the frame before in the store.
    pub(crate) prev: Digest,
    /// The write-open of the store.
    pub(crate) epoch: u32,
}

impl Encoded {
    /// Returns an empty frame with room for a header and so many bytes of body.
    pub(super) fn room(body_bytes: usize) -> Vec<u8> {
        let mut frame = Vec::with_capacity(FRAME_HEADER_BYTES + body_bytes + 7);
        frame.resize(FRAME_HEADER_BYTES, 0);
        frame
    }

    /// Ends a body that was written behind the room for its header.
    pub(super) fn of(kind: Kind, mut frame: Vec<u8>) -> Self {
        let body_bytes = frame.len() - FRAME_HEADER_BYTES;
        debug_assert!(body_bytes <= BODY_BYTES_MAX as usize);
        let body_bytes = body_bytes as u32;
        let body_hash = body_hash(&frame[FRAME_HEADER_BYTES..]);
        frame.resize(frame_bytes(body_bytes) as usize, 0);
        let body_crc = body_crc(&frame[FRAME_HEADER_BYTES..]);
        let (has_key, first_seq, record_count) = (false, 0, 0);
        Self { kind, has_key, first_seq, record_count, body_hash, body_bytes, body_crc, frame }
    }

    /// Encodes a body without records.
    pub(crate) fn of_store(
        kind: Kind,
        body_bytes: usize,
        write: impl FnOnce(&mut Vec<u8>),
    ) -> Self {
        let mut frame = Self::room(body_bytes);
        write(&mut frame);
        Self::of(kind, frame)
    }

    /// Returns the number of bytes of the whole frame.
    pub(crate) fn frame_bytes(&self) -> u64 {
        self.frame.len() as u64
    }

    /// Returns the body without its padding.
    pub(crate) fn body(&self) -> &[u8] {
        &self.frame[FRAME_HEADER_BYTES..][..self.body_bytes as usize]
    }

    /// Writes the header in front of the body and returns it.
    pub(crate) fn stamp(&mut self, stamp: &Stamp) -> FrameHead {
        let head = FrameHead {
            kind: self.kind,
            has_key: self.has_key,
            segment_id: stamp.segment_id,
            offset: stamp.offset,
            lsn: stamp.lsn,
            durable_lsn: stamp.durable_lsn,
            session: stamp.session,
            first_seq: self.first_seq,
            record_count: self.record_count,
            body_bytes: self.body_bytes,
            session_prev_lsn: stamp.session_prev_lsn,
            prev: stamp.prev,
            body_crc: self.body_crc,
            epoch: stamp.epoch,
        };
        put(&mut self.frame, 0, &head.encode());
        head
    }

    /// Returns all bytes of the frame; the header is zeros before the frame was stamped.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.frame
    }

    /// Returns all bytes of the frame.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.frame
    }
}

/// Refuses a body that makes a frame larger than the store takes.
pub(super) fn fits(body_bytes: u64, frame_bytes_max: u64) -> Result<(), Refusal> {
    let body = u32::try_from(body_bytes).ok().filter(|bytes| *bytes <= BODY_BYTES_MAX);
    let bytes = body.map_or(FRAME_HEADER_BYTES as u64 + body_bytes, frame_bytes);
    if body.is_some() && bytes <= frame_bytes_max {
        return Ok(());
    }
    Err(Refusal::TooLarge { what: Limited::FrameBytes, bytes, limit: frame_bytes_max })
}
