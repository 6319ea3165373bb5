//! A frame: a header of 112 bytes, a body, and zeros to a multiple of 8. It is the commit.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 4 | magic `GLF1` |
//! | 4 | 1 | kind |
//! | 5 | 1+2 | flags (1: the body has a key), `header_bytes` = 112 |
//! | 8 | 8 | `segment_id` |
//! | 16 | 8 | offset of this header in its file |
//! | 24 | 8 | lsn |
//! | 32 | 8 | `durable_lsn`, less than lsn |
//! | 40 | 16 | session, zeros for frames of the store |
//! | 56 | 8 | `first_seq` |
//! | 64 | 4+4 | `record_count`, `body_bytes` |
//! | 72 | 8 | `session_prev_lsn`, 0 for none |
//! | 80 | 16 | prev, the digest of the frame before |
//! | 96 | 4 | CRC over body and padding |
//! | 100 | 4+4 | epoch, zeros |
//! | 108 | 4 | CRC over [0, 108) |
//!
//! A frame is valid at a place of a file if and only if magic, header CRC, `header_bytes`, kind,
//! flags and zeros are right; 1 ≤ lsn < 2⁶³ and `durable_lsn` < lsn; it names this file and this
//! place and ends inside the file; and its body CRC holds and its padding is zero. It *follows*
//! if and only if its lsn is the one expected and `prev` is the chain.

use super::chain::{Digest, SessionKey, frame_digest};
use super::crc::crc;
use super::field::{array_at, is_zero, put, put_u16, put_u32, put_u64, u16_at, u32_at, u64_at};
use super::limit::{BODY_BYTES_MAX, FRAME_ALIGN, FRAME_HEADER_BYTES, LSN_MAX};

pub(crate) use super::kind::Kind;

const MAGIC: [u8; 4] = *b"GLF1";

/// The flag of a body that has an idempotency key.
const HAS_KEY: u8 = 1;

const CRC_AT: usize = FRAME_HEADER_BYTES - 4;

/// The header of a frame. One that was parsed is whole, but nothing is known of its body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FrameHead {
    /// What the frame is for.
    pub(crate) kind: Kind,
    /// The body has an idempotency key.
    pub(crate) has_key: bool,
    /// The life of the file that the frame was written to.
    pub(crate) segment_id: u64,
    /// Where in it the frame starts.
    pub(crate) offset: u64,
    /// Place in the store.
    pub(crate) lsn: u64,
    /// What was durable when the frame was written.
    pub(crate) durable_lsn: u64,
    /// The session, or [`SessionKey::STORE`].
    pub(crate) session: SessionKey,
    /// Seq of the first record; the session's next one where there is none.
    pub(crate) first_seq: u64,
    /// How many records.
    pub(crate) record_count: u32,
    /// Bytes of the body without its padding.
    pub(crate) body_bytes: u32,
    /// The session's frame before this one; 0 for none.
    pub(crate) session_prev_lsn: u64,
    /// Digest of the frame before this one in the store.
    pub(crate) prev: Digest,
    /// CRC of body and padding.
    pub(crate) body_crc: u32,
    /// The write-open of the store that made the frame.
    pub(crate) epoch: u32,
}

/// Why 112 bytes are no header of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeadFault {
    /// Not the magic.
    Magic,
    /// The CRC does not hold.
    Crc,
    /// The CRC holds, and the header has another length.
    HeaderBytes,
    /// The CRC holds, and the kind is none.
    Kind(u8),
    /// The CRC holds, and there are flags that are none.
    Flags,
    /// The CRC holds, and what must be zero is not.
    Zeros,
    /// The CRC holds, and the lsn is out of range.
    Lsn,
    /// The CRC holds, and the frame says that itself is durable already.
    DurableLsn,
    /// The CRC holds, and the body is larger than any may be.
    BodyBytes,
}

/// Why a header and the bytes behind it are no frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrameFault {
    /// These are more or fewer bytes than body and padding have.
    Length,
    /// The CRC does not hold.
    Crc,
    /// The CRC holds, and the padding is not zero.
    Padding,
}

/// A frame that is valid, wherever it lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frame<'a> {
    /// The header.
    pub(crate) head: FrameHead,
    /// The body without its padding.
    pub(crate) body: &'a [u8],
}

impl FrameHead {
    /// Returns the bytes of the header.
    pub(crate) fn encode(&self) -> [u8; FRAME_HEADER_BYTES] {
        let mut bytes = [0; FRAME_HEADER_BYTES];
        put(&mut bytes, 0, &MAGIC);
        put(&mut bytes, 4, &[self.kind as u8, self.flags()]);
        put_u16(&mut bytes, 6, FRAME_HEADER_BYTES as u16);
        put_u64(&mut bytes, 8, self.segment_id);
        put_u64(&mut bytes, 16, self.offset);
        put_u64(&mut bytes, 24, self.lsn);
        put_u64(&mut bytes, 32, self.durable_lsn);
        put(&mut bytes, 40, &self.session.0);
        put_u64(&mut bytes, 56, self.first_seq);
        put_u32(&mut bytes, 64, self.record_count);
        put_u32(&mut bytes, 68, self.body_bytes);
        put_u64(&mut bytes, 72, self.session_prev_lsn);
        put(&mut bytes, 80, &self.prev.0);
        put_u32(&mut bytes, 96, self.body_crc);
        put_u32(&mut bytes, 100, self.epoch);
        let sum = crc(&bytes[..CRC_AT]);
        put_u32(&mut bytes, CRC_AT, sum);
        bytes
    }

    /// Reads a header. Every number in it is bounded; its body is not looked at.
    pub(crate) fn parse(bytes: &[u8; FRAME_HEADER_BYTES]) -> Result<Self, HeadFault> {
        let (lsn, durable_lsn) = (u64_at(bytes, 24), u64_at(bytes, 32));
        let body_bytes = u32_at(bytes, 68);
        let checks = [
            (bytes[..4] == MAGIC, HeadFault::Magic),
            (u32_at(bytes, CRC_AT) == crc(&bytes[..CRC_AT]), HeadFault::Crc),
            (usize::from(u16_at(bytes, 6)) == FRAME_HEADER_BYTES, HeadFault::HeaderBytes),
            (bytes[5] & !HAS_KEY == 0, HeadFault::Flags),
            (is_zero(&bytes[104..CRC_AT]), HeadFault::Zeros),
            ((1..=LSN_MAX).contains(&lsn), HeadFault::Lsn),
            (durable_lsn < lsn, HeadFault::DurableLsn),
            (body_bytes <= BODY_BYTES_MAX, HeadFault::BodyBytes),
        ];
        if let Some((_, fault)) = checks.into_iter().find(|(holds, _)| !holds) {
            return Err(fault);
        }
        Ok(Self {
            kind: Kind::of(bytes[4]).ok_or(HeadFault::Kind(bytes[4]))?,
            has_key: bytes[5] & HAS_KEY != 0,
            segment_id: u64_at(bytes, 8),
            offset: u64_at(bytes, 16),
            lsn,
            durable_lsn,
            session: SessionKey(array_at(bytes, 40)),
            first_seq: u64_at(bytes, 56),
            record_count: u32_at(bytes, 64),
            body_bytes,
            session_prev_lsn: u64_at(bytes, 72),
            prev: Digest(array_at(bytes, 80)),
            body_crc: u32_at(bytes, 96),
            epoch: u32_at(bytes, 100),
        })
    }

    /// Returns the flags as they are on the disk and in the digest.
    pub(crate) fn flags(&self) -> u8 {
        if self.has_key { HAS_KEY } else { 0 }
    }

    /// Returns whether the frame was written to this place of this life of a file.
    pub(crate) fn is_at_its_place(&self, segment_id: u64, offset: u64) -> bool {
        self.segment_id == segment_id && self.offset == offset
    }

    /// Returns the number of bytes of the whole frame, its padding included.
    pub(crate) fn frame_bytes(&self) -> u64 {
        frame_bytes(self.body_bytes)
    }

    /// Returns the number of bytes of body and padding.
    pub(crate) fn padded_body_bytes(&self) -> usize {
        self.frame_bytes() as usize - FRAME_HEADER_BYTES
    }

    /// Returns the digest of the frame, given that of its body.
    pub(crate) fn digest(&self, body_hash: Digest) -> Digest {
        let Self { prev, lsn, kind, session, first_seq, record_count, .. } = *self;
        frame_digest(prev, lsn, kind, self.flags(), session, first_seq, record_count, body_hash)
    }
}

/// Returns the number of bytes of a frame with a body of so many: header, body, and zeros to a
/// multiple of 8.
pub(crate) fn frame_bytes(body_bytes: u32) -> u64 {
    (FRAME_HEADER_BYTES as u64 + u64::from(body_bytes)).next_multiple_of(FRAME_ALIGN)
}

/// Returns the CRC that a header has of its body and padding.
pub(crate) fn body_crc(body_and_padding: &[u8]) -> u32 {
    crc(body_and_padding)
}

/// Makes a half-read frame usable, given all bytes of its body and its padding.
pub(crate) fn read_frame(
    head: FrameHead,
    body_with_padding: &[u8],
) -> Result<Frame<'_>, FrameFault> {
    if body_with_padding.len() != head.padded_body_bytes() {
        return Err(FrameFault::Length);
    }
    if body_crc(body_with_padding) != head.body_crc {
        return Err(FrameFault::Crc);
    }
    let (body, padding) = body_with_padding.split_at(head.body_bytes as usize);
    if !is_zero(padding) {
        return Err(FrameFault::Padding);
    }
    Ok(Frame { head, body })
}
