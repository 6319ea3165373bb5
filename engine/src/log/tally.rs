//! What a walk saw of each session.

use super::body::{self, Body};
use super::chain::SessionKey;
use super::frame::{Frame, Kind};
use super::limit::SEQ_MAX;
use super::table::{CREATED, DELETED, FORKED, SessionRow};
use std::collections::BTreeMap;

/// A session in one segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SessionSeen {
    /// What the segment's table says of it, or would.
    pub(crate) row: SessionRow,
    /// Where its last frame here starts.
    pub(crate) last_offset: u64,
    /// The writer of its last frame here.
    pub(crate) epoch: u32,
    /// Where the frame starts that created it, if that is here.
    pub(crate) created_offset: Option<u64>,
}

/// Every session in one segment, and the rules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// The sessions, by key.
    pub(crate) sessions: BTreeMap<SessionKey, SessionSeen>,
    /// Where the last frame of rules starts.
    pub(crate) rules_offset: Option<u64>,
}

impl Tally {
    /// Takes a valid frame. One whose body means nothing is counted by its header: what it means
    /// is the verifier's business.
    pub(crate) fn take(&mut self, frame: &Frame<'_>) {
        let head = &frame.head;
        if head.kind == Kind::Rules {
            self.rules_offset = Some(head.offset);
        }
        if head.session == SessionKey::STORE || head.kind.is_of_store() {
            return;
        }
        let (id, last_time_ms) = match body::decode(frame) {
            Ok(Body::Create(created)) => {
                (Some(created.id.to_owned()), created.records.iter().last())
            }
            Ok(Body::Data(records)) => (None, records.iter().last()),
            _ => (None, None),
        };
        let last_time_ms = last_time_ms.map(|record| record.time_ms);
        let first_seq = head.first_seq.min(SEQ_MAX + 1);
        let seen = self.sessions.entry(head.session).or_insert_with(|| SessionSeen {
            row: SessionRow {
                key: head.session,
                first_seq,
                last_seq: first_seq.wrapping_sub(1),
                first_lsn: head.lsn,
                ..SessionRow::default()
            },
            last_offset: head.offset,
            epoch: head.epoch,
            created_offset: None,
        });
        let row = &mut seen.row;
        row.last_seq = first_seq.wrapping_add(u64::from(head.record_count)).wrapping_sub(1);
        row.last_lsn = head.lsn;
        row.last_time_ms = last_time_ms.unwrap_or(row.last_time_ms);
        row.frame_count += 1;
        row.flags |= match head.kind {
            Kind::Create => CREATED,
            Kind::Fork => FORKED,
            Kind::Delete => DELETED,
            _ => 0,
        };
        if row.flags & DELETED != 0 {
            row.id = None;
        } else if id.is_some() {
            row.id = id;
        }
        if matches!(head.kind, Kind::Create | Kind::Fork) {
            seen.created_offset = Some(head.offset);
        }
        seen.last_offset = head.offset;
        seen.epoch = head.epoch;
    }
}
