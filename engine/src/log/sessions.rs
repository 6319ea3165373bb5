//! What the log knows of each session without folding it: ids, last places, segments.
//!
//! It is built at open from the tables of the closed segments and a walk of the last one, and
//! follows every accepted frame. A failed group is taken back frame by frame.

use super::chain::{SessionKey, StoreId};
use super::frame::{FrameHead, Kind};
use super::group::Undo;
use super::table::{CREATED, DELETED, SessionRow};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Where a session stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Standing {
    /// Seq of its next event.
    pub(crate) next_seq: u64,
    /// Lsn of its last frame.
    pub(crate) last_lsn: u64,
    /// Time of its last event, in milliseconds since 1970; 0 without one.
    pub(crate) last_time_ms: u64,
    /// Epoch of the writer of its last frame; 0 where only a table told of it, which is earlier
    /// than any that writes.
    pub(crate) epoch: u32,
    /// It was deleted.
    pub(crate) is_deleted: bool,
}

/// One session.
#[derive(Clone, Debug)]
pub(crate) struct Session {
    pub(crate) id: Arc<str>,
    pub(crate) standing: Standing,
    /// First lsn of each segment that holds frames of it, ascending.
    pub(crate) segments: Vec<u64>,
}

/// What a session has in the segment that takes frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Share {
    first_seq: u64,
    first_lsn: u64,
    frame_count: u32,
    has_events: bool,
    flags: u32,
}

/// The shares of a segment, from which its table is made.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shares {
    by_key: BTreeMap<SessionKey, Share>,
    /// Bytes of the ids of those sessions.
    id_bytes: usize,
}

/// What was known before a frame was accepted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Before {
    standing: Option<Standing>,
    share: Option<Share>,
}

impl Before {
    /// Returns the lsn of the session's frame before, 0 without one.
    pub(crate) fn last_lsn(&self) -> u64 {
        self.standing.map_or(0, |standing| standing.last_lsn)
    }
}

/// Every session of a store.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    by_key: HashMap<SessionKey, Session>,
    rewound: HashMap<SessionKey, u64>,
}

impl Sessions {
    pub(crate) fn get(&self, key: SessionKey) -> Option<&Session> {
        self.by_key.get(&key)
    }

    /// Returns every session that was not deleted, in the order of ids.
    pub(crate) fn all(&self) -> Vec<(SessionKey, Session)> {
        let mut all: Vec<_> = self
            .by_key
            .iter()
            .filter(|(_, session)| !session.standing.is_deleted)
            .map(|(key, session)| (*key, session.clone()))
            .collect();
        all.sort_by(|a, b| a.1.id.cmp(&b.1.id));
        all
    }

    /// Takes a row of a closed segment's table; segments come in ascending order.
    pub(crate) fn take_row(&mut self, first_lsn: u64, row: &SessionRow) {
        let session = self.by_key.entry(row.key).or_insert_with(|| Session {
            id: row.id.as_deref().unwrap_or_default().into(),
            standing: Standing {
                next_seq: 0,
                last_lsn: 0,
                last_time_ms: 0,
                epoch: 0,
                is_deleted: false,
            },
            segments: Vec::new(),
        });
        let standing = &mut session.standing;
        standing.next_seq = row.last_seq.wrapping_add(1);
        standing.last_lsn = row.last_lsn;
        if row.last_time_ms > 0 {
            standing.last_time_ms = row.last_time_ms;
        }
        standing.is_deleted |= row.flags & DELETED != 0;
        session.segments.push(first_lsn);
    }

    /// Takes what a walk saw of a session in the segment that takes frames.
    pub(crate) fn take_seen(
        &mut self,
        first_lsn: u64,
        row: &SessionRow,
        epoch: u32,
        shares: &mut Shares,
    ) {
        self.take_row(first_lsn, row);
        let Some(session) = self.by_key.get_mut(&row.key) else { return };
        session.standing.epoch = epoch;
        shares.id_bytes += session.id.len();
        shares.by_key.insert(
            row.key,
            Share {
                first_seq: row.first_seq,
                first_lsn: row.first_lsn,
                frame_count: row.frame_count,
                has_events: row.last_seq.wrapping_add(1) != row.first_seq,
                flags: row.flags,
            },
        );
    }

    /// Returns what is known of a session before its next frame.
    pub(crate) fn before(&self, key: SessionKey, shares: &Shares) -> Before {
        Before {
            standing: self.by_key.get(&key).map(|session| session.standing),
            share: shares.by_key.get(&key).copied(),
        }
    }

    /// Takes an accepted frame of a session, or one that a walk found; `id` comes with the frame
    /// that creates it.
    pub(crate) fn take(
        &mut self,
        head: &FrameHead,
        last_time_ms: u64,
        id: Option<&Arc<str>>,
        (segment, shares): (u64, &mut Shares),
    ) {
        let created = |id: &Arc<str>| Session {
            id: id.clone(),
            standing: Standing {
                next_seq: 0,
                last_lsn: 0,
                last_time_ms: 0,
                epoch: 0,
                is_deleted: false,
            },
            segments: Vec::new(),
        };
        let session = match (self.by_key.get_mut(&head.session), id) {
            (Some(session), _) => session,
            (None, Some(id)) => self.by_key.entry(head.session).or_insert(created(id)),
            // A frame of a session that nothing created: the verifier's business.
            (None, None) => return,
        };
        let standing = &mut session.standing;
        standing.last_lsn = head.lsn;
        standing.epoch = head.epoch;
        if head.record_count > 0 {
            standing.next_seq = head.first_seq + u64::from(head.record_count);
            standing.last_time_ms = last_time_ms;
        }
        standing.is_deleted |= head.kind == Kind::Delete;
        if session.segments.last() != Some(&segment) {
            session.segments.push(segment);
            shares.id_bytes += session.id.len();
        }
        let share = shares.by_key.entry(head.session).or_insert(Share {
            first_seq: head.first_seq,
            first_lsn: head.lsn,
            frame_count: 0,
            has_events: false,
            flags: 0,
        });
        share.frame_count += 1;
        share.has_events |= head.record_count > 0;
        share.flags |= match head.kind {
            Kind::Create => CREATED,
            Kind::Delete => DELETED,
            _ => 0,
        };
    }

    /// Takes a frame back that never will be in the log.
    pub(crate) fn take_back(&mut self, undo: &Undo<Before>, segment: u64, shares: &mut Shares) {
        let Some(session) = self.by_key.get_mut(&undo.session) else { return };
        if let Some(share) = undo.before.share {
            shares.by_key.insert(undo.session, share);
        } else {
            if shares.by_key.remove(&undo.session).is_some() {
                shares.id_bytes -= session.id.len();
            }
            if session.segments.last() == Some(&segment) {
                session.segments.pop();
            }
        }
        let next_seq = undo.before.standing.map_or(0, |standing| standing.next_seq);
        match undo.before.standing {
            Some(standing) => session.standing = standing,
            None => {
                self.by_key.remove(&undo.session);
            }
        }
        if undo.acknowledged {
            self.rewound.insert(undo.session, next_seq);
        }
    }

    /// Returns the seq to which a session was rewound, if it was not told yet.
    pub(crate) fn rewound(&self, key: SessionKey) -> Option<u64> {
        self.rewound.get(&key).copied()
    }

    /// Returns the seq to which a session was rewound, once.
    pub(crate) fn take_rewound(&mut self, key: SessionKey) -> Option<u64> {
        if self.rewound.is_empty() { None } else { self.rewound.remove(&key) }
    }

    /// Returns the rows of a segment's table, sorted by key.
    pub(crate) fn rows(&self, shares: &Shares) -> Vec<SessionRow> {
        let row = |(key, share): (&SessionKey, &Share)| {
            let session = self.by_key.get(key)?;
            let standing = session.standing;
            Some(SessionRow {
                key: *key,
                first_seq: share.first_seq,
                last_seq: standing.next_seq.wrapping_sub(1),
                first_lsn: share.first_lsn,
                last_lsn: standing.last_lsn,
                last_time_ms: if share.has_events { standing.last_time_ms } else { 0 },
                frame_count: share.frame_count,
                flags: share.flags,
                id: (share.flags & DELETED == 0).then(|| session.id.to_string()),
            })
        };
        shares.by_key.iter().filter_map(row).collect()
    }
}

impl Shares {
    /// Returns how many sessions and bytes of ids the table would hold with one more session.
    pub(crate) fn with(&self, key: SessionKey, id: Option<&str>) -> (usize, usize) {
        if key == SessionKey::STORE || self.by_key.contains_key(&key) {
            return (self.by_key.len(), self.id_bytes);
        }
        (self.by_key.len() + 1, self.id_bytes + id.map_or(0, str::len))
    }
}

/// Returns the key of a session.
pub(crate) fn key_of(store_id: &StoreId, id: &str) -> SessionKey {
    SessionKey::of(store_id, id)
}
