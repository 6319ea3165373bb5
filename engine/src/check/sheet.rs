//! The sessions of one segment as its frames give them, compared with the table that says the same.

use crate::log::chain::SessionKey;
use crate::log::frame::{FrameHead, Kind};
use crate::log::table::{CREATED, DELETED, FORKED, SessionRow, Table};
use std::collections::BTreeMap;

/// What the frames of a segment say of its sessions.
#[derive(Debug, Default)]
pub(super) struct Sheet(BTreeMap<SessionKey, SessionRow>);

impl Sheet {
    /// Takes a frame of a session, whose last event, if it has one, is of a time.
    pub(super) fn take(&mut self, head: &FrameHead, last_time_ms: Option<u64>) {
        let row = self.0.entry(head.session).or_insert_with(|| SessionRow {
            key: head.session,
            first_seq: head.first_seq,
            first_lsn: head.lsn,
            ..SessionRow::default()
        });
        row.last_seq = head.first_seq.wrapping_add(u64::from(head.record_count)).wrapping_sub(1);
        row.last_lsn = head.lsn;
        row.last_time_ms = last_time_ms.unwrap_or(row.last_time_ms);
        row.frame_count += 1;
        row.flags |= match head.kind {
            Kind::Create => CREATED,
            Kind::Fork => FORKED,
            Kind::Delete => DELETED,
            _ => 0,
        };
    }

    /// Compares a table with what was seen, and says what the first difference is. `id` knows the
    /// id of each session, none of a deleted one.
    pub(super) fn differs<'s>(
        &self,
        table: &Table<'_>,
        id: impl Fn(&SessionKey) -> Option<&'s str>,
    ) -> Option<String> {
        let stated = table.row_count() as usize;
        if stated != self.0.len() {
            let seen = self.0.len();
            return Some(format!(
                "the table has {stated} rows; frames of {seen} sessions are here"
            ));
        }
        for (number, (row, seen)) in table.rows().zip(self.0.values()).enumerate() {
            let Ok(row) = row else {
                return Some(format!("the table cannot be read from row {number} on"));
            };
            let seen = SessionRow { id: id(&seen.key).map(str::to_owned), ..seen.clone() };
            if row != seen {
                let what = difference(&row, &seen);
                return Some(format!("row {number} of the table has another {what} than frames"));
            }
        }
        None
    }
}

fn difference(row: &SessionRow, seen: &SessionRow) -> &'static str {
    let fields = [
        (row.key == seen.key, "session"),
        (row.first_seq == seen.first_seq, "first_seq"),
        (row.last_seq == seen.last_seq, "last_seq"),
        (row.first_lsn == seen.first_lsn, "first_lsn"),
        (row.last_lsn == seen.last_lsn, "last_lsn"),
        (row.last_time_ms == seen.last_time_ms, "last_time_ms"),
        (row.frame_count == seen.frame_count, "frame_count"),
        (row.flags == seen.flags, "flags"),
    ];
    fields.into_iter().find(|(holds, _)| !holds).map_or("id", |(_, field)| field)
}
