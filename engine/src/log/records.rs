//! The records of a batch, and the idempotency key in front of them.

use super::envelope::{self, Envelopes};
use super::field::Front;
use super::limit::SEQ_MAX;
use crate::backend::{Batch, Key, Refusal};

/// Bytes of a record before its envelope.
const RECORD_FRONT_BYTES: usize = 16;

/// Returns the number of bytes that the key and the rows of a batch take.
pub(super) fn bytes_of(batch: &Batch) -> usize {
    let row = |draft| RECORD_FRONT_BYTES + envelope::bytes_of(draft) + draft.data.len();
    let key = batch.key.map_or(0, |key| key.len());
    key + batch.rows.iter().map(|entry| row(&entry.draft)).sum::<usize>()
}

/// Writes the key and the rows of a batch behind other bytes.
pub(super) fn write(to: &mut Vec<u8>, batch: &Batch) -> Result<(), Refusal> {
    let mut envelopes = None;
    to.extend_from_slice(batch.key.as_ref().map_or(&[], |key| &key[..]));
    for row in &batch.rows {
        if row.time_ms > SEQ_MAX {
            let what = format!("the time {} is no whole number that a double holds", row.time_ms);
            return Err(Refusal::Malformed { what });
        }
        let draft = &row.draft;
        let envelope_bytes = envelope::bytes_of(draft);
        to.extend_from_slice(&row.time_ms.to_le_bytes());
        to.extend_from_slice(&(envelope_bytes as u32).to_le_bytes());
        to.extend_from_slice(&(draft.data.len() as u32).to_le_bytes());
        let start = to.len();
        envelope::write(to, draft);
        debug_assert_eq!(to.len() - start, envelope_bytes);
        // Foreign text went in as it was given; what comes out again must be the same.
        if draft.sources.is_some() || draft.surface.is_some() {
            let envelopes = envelopes.get_or_insert_with(Envelopes::default);
            if !envelopes.read(&to[start..]).is_ok_and(|read| read.is_of(draft)) {
                let what = "sourceEventSeqs or surfaceOp is no JSON value".into();
                return Err(Refusal::Malformed { what });
            }
        }
        to.extend_from_slice(&draft.data);
    }
    Ok(())
}

/// The records of a batch, whose lengths are right. Envelopes are judged when they are read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Records<'a> {
    /// The idempotency key.
    pub(crate) key: Option<Key>,
    count: u32,
    bytes: &'a [u8],
}

/// One record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Record<'a> {
    /// Milliseconds since 1970.
    pub(crate) time_ms: u64,
    /// The envelope, for [`Envelopes::read`].
    pub(crate) envelope: &'a [u8],
    /// The payload, as it was given.
    pub(crate) payload: &'a [u8],
}

impl<'a> Records<'a> {
    /// Makes records usable: `count` of them, and nothing behind.
    pub(super) fn parse(bytes: &'a [u8], has_key: bool, count: u32) -> Result<Self, &'static str> {
        let mut front = Front(bytes);
        let key = if has_key { Some(front.array().ok_or("the key")?) } else { None };
        let records = Self { key, count, bytes: front.0 };
        for _ in 0..count {
            let record = take(&mut front).ok_or("a record that ends behind the body")?;
            if record.time_ms > SEQ_MAX {
                return Err("the time of a record");
            }
        }
        if front.0.is_empty() { Ok(records) } else { Err("bytes behind the records") }
    }

    /// Returns the number of records.
    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    /// Returns the bytes of all records; equal drafts with equal times have equal bytes.
    pub(crate) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Returns the records, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Record<'a>> + use<'a> {
        let mut front = Front(self.bytes);
        (0..self.count).map_while(move |_| take(&mut front))
    }
}

fn take<'a>(front: &mut Front<'a>) -> Option<Record<'a>> {
    let time_ms = front.u64()?;
    let (envelope_bytes, payload_bytes) = (front.u32()?, front.u32()?);
    let envelope = front.take(envelope_bytes as usize)?;
    let payload = front.take(payload_bytes as usize)?;
    Some(Record { time_ms, envelope, payload })
}
