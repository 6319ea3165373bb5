//! Whether the engine makes of a store what the reference reader makes of it.

use super::reference::{self, Depth, Event, Files, Reading, Verdict};
use super::workload::DIR;
use gatelog_engine::backend::{Backend, Stored};
use gatelog_engine::log::Log;
use gatelog_engine::storage::Sim;
use std::ops::ControlFlow;
use std::path::Path;

/// What the document says of a store before it is opened.
pub(crate) struct Expected {
    reading: Reading,
    /// The device has other bytes of the last segment than the cache shows: the file takes no more
    /// writes.
    is_split: bool,
}

/// Returns the files of the store as processes see them.
pub(crate) fn files(disk: &Sim) -> Result<Files, String> {
    reference::load(&disk.disk(), Path::new(DIR)).map_err(|error| error.to_string())
}

impl Expected {
    /// Reads a store that is about to be opened.
    ///
    /// Recovery syncs the log and then decides by what the device has of it, so that is what is
    /// read here; of what lies beside the segments the cache counts.
    pub(crate) fn of(disk: &Sim) -> Result<Self, String> {
        let mut seen = files(disk)?;
        let device = disk.clone();
        device.write_back();
        device.drop_caches();
        let mut split = Vec::new();
        for (name, bytes) in files(&device)? {
            let is_segment = Path::new(&name).extension().is_some_and(|ending| ending == "log");
            if is_segment || name.starts_with("spare-") {
                if seen.get(&name) != Some(&bytes) {
                    split.push(name.clone());
                }
                seen.insert(name, bytes);
            }
        }
        let reading = reference::read(&seen, Depth::Whole);
        // A lost rename is the last segment under a spare's name.
        let last = reading.end.map(|end| format!("{:020}.log", end.segment));
        let is_renamed = reading.notes.contains(&"F1");
        let is_last = |name: &String| {
            if is_renamed { name.starts_with("spare-") } else { Some(name) == last.as_ref() }
        };
        let is_split = split.iter().any(is_last);
        Ok(Self { reading, is_split })
    }

    /// Compares with the store as it was opened.
    pub(crate) fn compare(&self, log: &Log, disk: &Sim) -> Result<(), String> {
        let told = |what: String| Err(format!("the document says otherwise: {what}"));
        let Reading { verdict, row, w, witness, .. } = &self.reading;
        let told = |what| told(format!("{verdict:?} by {row}, W = {w} by {witness}: {what}"));
        if matches!(verdict, Verdict::Corrupt(_) | Verdict::Unsupported) {
            return told("the engine opens it".into());
        }
        let last_lsn = self.reading.end.map_or(0, |end| end.lsn);
        if log.progress() != (last_lsn, last_lsn) {
            return told(format!("last lsn {last_lsn}, and the engine has {:?}", log.progress()));
        }
        let known = log.sessions().map_err(|error| error.to_string())?;
        let sessions = self.reading.sessions.iter().filter(|(_, session)| !session.is_deleted);
        if !known.iter().map(|info| &info.id).eq(sessions.clone().map(|(id, _)| id)) {
            return told("the engine has other sessions".into());
        }
        for (info, (id, session)) in known.iter().zip(sessions) {
            if let Some(fault) = session.fault {
                return told(format!("session {id}: {fault}"));
            }
            let header = (u64::from(info.header.dialect), &info.header.json);
            if header != (session.dialect, &session.header) {
                return told(format!("session {id} has another header"));
            }
            if events(log, id)? != session.events {
                return told(format!("session {id} has other events"));
            }
        }
        self.compare_beginning(&reference::read(&files(disk)?, Depth::Whole)).or_else(told)
    }

    /// Compares where the log goes on with what a writer does by the row that decided.
    fn compare_beginning(&self, after: &Reading) -> Result<(), String> {
        if !matches!(after.row, "P4" | "P5" | "P6") {
            return Err(format!("after the open it is {:?} by {}", after.verdict, after.row));
        }
        let (Some(before), Some(now)) = (self.reading.end, after.beginning) else { return Ok(()) };
        let ends_full = self
            .reading
            .frames
            .last()
            .is_some_and(|last| last.kind == 7 && last.segment == before.segment);
        let begin = match self.reading.row {
            "P4" | "P5" if !self.is_split => None,
            "P3" | "P4" | "P5" | "P6" => Some(if ends_full { 1 } else { 4 }),
            _ => Some(2),
        };
        let is_right = match begin {
            None => now.segment == before.segment,
            Some(begin) => {
                now.segment > before.segment
                    && now.begin == begin
                    && (now.prev_end_offset, now.prev_last_lsn) == (before.offset, before.lsn)
            }
        };
        if is_right {
            return Ok(());
        }
        Err(format!("{before:?} is to be followed with begin {begin:?}, and is by {now:?}"))
    }
}

/// Reads a session through the engine.
pub(crate) fn events(log: &Log, session: &str) -> Result<Vec<Event>, String> {
    let mut events = Vec::new();
    let read = log.read(session, 0, &mut |stored| {
        events.push(Event {
            seq: stored.seq,
            time_ms: stored.time_ms,
            envelope: envelope(stored),
            payload: stored.data.to_vec(),
        });
        ControlFlow::Continue(())
    });
    read.map_err(|error| format!("{session} cannot be read ({:?}): {error}", error.rule))?;
    Ok(events)
}

/// The envelope of an event whose type has nothing to escape.
fn envelope(stored: &Stored<'_>) -> Vec<u8> {
    let mut text = format!("{{\"type\":\"{}\"", stored.kind).into_bytes();
    let members = [(",\"sourceEventSeqs\":", stored.sources), (",\"surfaceOp\":", stored.surface)];
    for (name, value) in members {
        if let Some(value) = value {
            text.extend_from_slice(name.as_bytes());
            text.extend_from_slice(value);
        }
    }
    text.extend_from_slice(if stored.ignorable { b",\"ignorable\":true}" } else { b"}" });
    text
}
