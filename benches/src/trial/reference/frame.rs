//! A frame: section 5.1.

use super::bytes::{digest, has_crc, is_zero, number, sixteen};
use super::header::Header;

#[derive(Clone, Debug)]
pub(super) struct Frame {
    pub(super) kind: u8,
    pub(super) flags: u8,
    pub(super) segment_id: u64,
    pub(super) offset: u64,
    pub(super) lsn: u64,
    pub(super) durable_lsn: u64,
    pub(super) session: [u8; 16],
    pub(super) first_seq: u64,
    pub(super) record_count: u64,
    pub(super) body_bytes: u64,
    pub(super) session_prev_lsn: u64,
    pub(super) prev: [u8; 16],
    body_crc: u64,
}

impl Frame {
    /// The header at an offset, if it is sound.
    pub(super) fn sound(file: &[u8], at: u64) -> Option<Frame> {
        let head = file.get(at as usize..)?.get(..112)?;
        let frame = Frame {
            kind: head[4],
            flags: head[5],
            segment_id: number(head, 8, 8),
            offset: number(head, 16, 8),
            lsn: number(head, 24, 8),
            durable_lsn: number(head, 32, 8),
            session: sixteen(head, 40),
            first_seq: number(head, 56, 8),
            record_count: number(head, 64, 4),
            body_bytes: number(head, 68, 4),
            session_prev_lsn: number(head, 72, 8),
            prev: sixteen(head, 80),
            body_crc: number(head, 96, 4),
        };
        let is_sound = head[..4] == *b"GLF1"
            && has_crc(head, 108)
            && number(head, 6, 2) == 112
            && (1..=8).contains(&frame.kind)
            && frame.flags <= 1
            && is_zero(&head[104..108])
            && frame.lsn >= 1
            && frame.lsn < 1 << 63
            && frame.durable_lsn < frame.lsn
            && frame.body_bytes <= (256 << 20) - 112;
        is_sound.then_some(frame)
    }

    pub(super) fn frame_bytes(&self) -> u64 {
        (112 + self.body_bytes).next_multiple_of(8)
    }

    pub(super) fn fits(&self, at: u64, segment: &Header) -> bool {
        at + self.frame_bytes() <= segment.segment_bytes
    }

    pub(super) fn is_at_its_place(&self, at: u64, segment: &Header) -> bool {
        self.segment_id == segment.segment_id && self.offset == at && self.fits(at, segment)
    }

    /// Whether CRC and padding of the body hold.
    pub(super) fn has_valid_rest(&self, file: &[u8], at: u64) -> bool {
        let (from, to) = (at + 112, at + self.frame_bytes());
        file.get(from as usize..to as usize).is_some_and(|rest| {
            u64::from(crc32fast::hash(rest)) == self.body_crc
                && is_zero(&rest[self.body_bytes as usize..])
        })
    }

    pub(super) fn body<'a>(&self, file: &'a [u8], at: u64) -> &'a [u8] {
        &file[(at + 112) as usize..(at + 112 + self.body_bytes) as usize]
    }

    /// The digest of a frame that is valid there (4.3).
    pub(super) fn digest(&self, file: &[u8], at: u64) -> [u8; 16] {
        digest(&[
            &self.prev,
            &self.lsn.to_le_bytes(),
            &[self.kind, self.flags],
            &self.session,
            &self.first_seq.to_le_bytes(),
            &(self.record_count as u32).to_le_bytes(),
            &digest(&[self.body(file, at)]),
        ])
    }
}

/// The frame at an offset, if it is valid there.
pub(super) fn valid(file: &[u8], at: u64, segment: &Header) -> Option<Frame> {
    Frame::sound(file, at)
        .filter(|frame| frame.is_at_its_place(at, segment) && frame.has_valid_rest(file, at))
}
