//! A raw writer: frames with every checksum right, whatever they say.

use super::*;
use crate::log::body;
use crate::log::chain::{Digest, SessionKey, StoreId};
use crate::log::encoded::{Encoded, Stamp};
use crate::log::segment_header::{Begin, SegmentHeader};

const STORE: StoreId = [7; 16];
const SEGMENT_ID: u64 = 99;

/// One segment of a store.
pub(super) struct Forge {
    bytes: Vec<u8>,
    offset: usize,
    pub(super) stamp: Stamp,
}

pub(super) fn key(id: &str) -> SessionKey {
    SessionKey::of(&STORE, id)
}

impl Forge {
    /// Begins the first segment of a store.
    pub(super) fn new(act: impl FnOnce(&mut SegmentHeader)) -> Self {
        let prev = Digest::before_first(&STORE);
        let mut header = SegmentHeader {
            store_id: STORE,
            segment_id: SEGMENT_ID,
            epoch: 2,
            first_lsn: 1,
            segment_bytes: 64 << 10,
            prev_first_lsn: 0,
            prev_segment_id: 0,
            prev_end_offset: 0,
            prev_last_lsn: 0,
            prev_digest: prev,
            durable_lsn: 0,
            begin: Begin::First,
            cut_bytes: 0,
            cut_crc: 0,
            created_ms: 0,
            prev_table_offset: 0,
        };
        act(&mut header);
        let mut bytes = vec![0; header.segment_bytes as usize];
        bytes[..4096].copy_from_slice(&header.encode());
        let stamp = Stamp {
            segment_id: SEGMENT_ID,
            offset: 4096,
            lsn: header.first_lsn,
            durable_lsn: 0,
            session: SessionKey::STORE,
            session_prev_lsn: 0,
            prev: header.prev_digest,
            epoch: 2,
        };
        Self { bytes, offset: 4096, stamp }
    }

    /// Puts a frame of a session behind the others, in a group of its own.
    pub(super) fn put(
        &mut self,
        session: SessionKey,
        session_prev_lsn: u64,
        mut frame: Encoded,
    ) -> &mut Self {
        let stamp = Stamp { session, session_prev_lsn, offset: self.offset as u64, ..self.stamp };
        let head = frame.stamp(&stamp);
        self.bytes[self.offset..][..frame.bytes().len()].copy_from_slice(frame.bytes());
        self.offset = (self.offset + frame.bytes().len()).next_multiple_of(4096);
        self.stamp.prev = head.digest(frame.body_hash);
        self.stamp.durable_lsn = head.lsn;
        self.stamp.lsn = head.lsn + 1;
        self
    }

    pub(super) fn create(&mut self, id: &str) -> &mut Self {
        let header = SessionHeader { dialect: 0, json: b"{}".to_vec() };
        let frame = body::encode_create(id, &header, &batch(0, 2), 1 << 20);
        self.put(key(id), 0, frame.expect("it fits"))
    }

    pub(super) fn data(&mut self, id: &str, prev_lsn: u64, first_seq: u64) -> &mut Self {
        let frame = body::encode_data(&batch(first_seq, 1), 1 << 20).expect("it fits");
        self.put(key(id), prev_lsn, frame)
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    pub(super) fn check(&self) -> StoreCheck<Kept> {
        let sim = Sim::new(3);
        sim.put(FIRST, &self.bytes).expect("it is put");
        checked(&sim)
    }

    /// Names what is said, but that there is no `STORE`.
    pub(super) fn said(&self) -> Vec<&'static str> {
        let mut said = rules(&self.check());
        assert_eq!(said.remove(0), "store/no-superblock");
        said.retain(|rule| *rule != "log/unconfirmed");
        said
    }
}
