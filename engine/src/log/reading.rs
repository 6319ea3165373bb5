//! Reads the events of a session back from the segments of an open store.

use super::body::{self, Body};
use super::chain::SessionKey;
use super::envelope::Envelopes;
use super::frame::{self, Frame, FrameHead};
use super::frame_index::{FrameIndex, Spot};
use super::inner::Inner;
use super::limit;
use super::name;
use super::sessions::Session;
use crate::backend::{AppendError, Durability, Error, ErrorKind, SessionInfo, Stored, Take};
use crate::rules::SessionHeader;
use crate::storage::File;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// A segment that is open for reading.
struct Segment {
    path: PathBuf,
    file: Box<dyn File>,
    /// Random identity of this life of the file.
    id: u64,
    index: Arc<Mutex<FrameIndex>>,
}

impl Inner {
    /// Returns what is known of a session, with its header.
    pub(crate) fn info(&self, key: SessionKey, session: &Session) -> Result<SessionInfo, Error> {
        self.written(session)?;
        let first = session.segments.first().copied().unwrap_or_default();
        let segment = self.segment(first)?;
        let spot = segment.spots(key).first().copied();
        let mut buffer = Vec::new();
        let created = match spot {
            Some(spot) => segment.frame(spot, &mut buffer).map(Some)?,
            None => None,
        };
        let Some(Ok(Body::Create(created))) = created.as_ref().map(body::decode) else {
            let message = format!("session `{}` does not begin with its header", session.id);
            return Err(Error::corrupt("frame/body", message).at(&segment.path, None));
        };
        let header = SessionHeader { dialect: created.dialect, json: created.header.to_owned() };
        Ok(SessionInfo {
            id: created.id.to_owned(),
            header,
            next_seq: session.standing.next_seq,
            last_time_ms: session.standing.last_time_ms,
            last_epoch: Some(session.standing.epoch),
            unconfirmed: 0,
        })
    }

    /// Hands the events of a session from a seq on to `take`.
    pub(crate) fn read(
        &self,
        key: SessionKey,
        id: &str,
        from: u64,
        take: &mut Take<'_>,
    ) -> Result<(), Error> {
        let session = self.writer.order().sessions.get(key).cloned();
        let Some(session) = session else {
            return Err(Error::new(ErrorKind::NoSession, format!("there is no session `{id}`")));
        };
        if session.standing.is_deleted {
            return Err(Error::new(ErrorKind::Deleted, format!("session `{id}` was deleted")));
        }
        self.written(&session)?;
        let durable = self.writer.order().progress.durable;
        let mut buffer = Vec::new();
        let mut envelopes = Envelopes::default();
        for first_lsn in &session.segments {
            let segment = self.segment(*first_lsn)?;
            let spots = segment.spots(key);
            let start =
                spots.partition_point(|spot| spot.first_seq + u64::from(spot.record_count) <= from);
            for spot in &spots[start..] {
                let frame = segment.frame(*spot, &mut buffer)?;
                let is_durable = spot.lsn <= durable;
                let flow =
                    rows(&frame, is_durable, from, &mut envelopes, take).map_err(|what| {
                        let message =
                            format!("the events of session `{id}` cannot be read: {what}");
                        Error::corrupt("frame/body", message).at(&segment.path, Some(spot.offset))
                    })?;
                if flow.is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Makes sure that everything of a session that was accepted is in the files.
    fn written(&self, session: &Session) -> Result<(), Error> {
        let last_lsn = session.standing.last_lsn;
        let raised = self.writer.raise(Durability::Written, |_| Ok(last_lsn));
        match raised {
            Err(AppendError::NotWritten(error) | AppendError::Unknown(error)) => Err(error),
            // A poisoned store is still read, as far as it was written.
            Ok(()) | Err(AppendError::Refused(_) | AppendError::Rewound { .. }) => Ok(()),
        }
    }

    fn segment(&self, first_lsn: u64) -> Result<Segment, Error> {
        let path = self.dir.join(name::segment(first_lsn));
        let extent = self.writer.order().extents.get(&first_lsn).copied();
        let Some(extent) = extent else {
            let message = "a segment that holds the session is not there";
            return Err(Error::corrupt("segment/missing", message).at(&path, None));
        };
        let file = self
            .volume
            .open(&path)
            .map_err(|error| Error::io(&path, "the segment cannot be opened", error))?;
        let index = self.indexes.of(first_lsn, extent.segment_id);
        let mut extended = index.lock().unwrap_or_else(PoisonError::into_inner);
        extended.extend(&*file, &path, extent.end)?;
        drop(extended);
        Ok(Segment { path, file, id: extent.segment_id, index })
    }
}

impl Segment {
    fn spots(&self, key: SessionKey) -> Vec<Spot> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner).of(key).to_vec()
    }

    /// Reads one frame and checks it: what was acknowledged is read as it was written, or not.
    fn frame<'a>(&self, spot: Spot, buffer: &'a mut Vec<u8>) -> Result<Frame<'a>, Error> {
        let damaged =
            |rule, message: &str| Error::corrupt(rule, message).at(&self.path, Some(spot.offset));
        let gone = "a frame that was there is not: run `log-verify` on the store";
        let mut head = [0; limit::FRAME_HEADER_BYTES];
        read_exact(&*self.file, &self.path, spot.offset, &mut head)?;
        let head = FrameHead::parse(&head)
            .ok()
            .filter(|head| head.is_at_its_place(self.id, spot.offset) && head.lsn == spot.lsn)
            .ok_or_else(|| damaged("frame/header", gone))?;
        buffer.resize(head.padded_body_bytes(), 0);
        let behind = spot.offset + limit::FRAME_HEADER_BYTES as u64;
        read_exact(&*self.file, &self.path, behind, buffer)?;
        frame::read_frame(head, buffer).map_err(|_| {
            damaged("frame/body", "the checksum of a frame does not hold: run `log-verify`")
        })
    }
}

/// Hands the rows of a frame from a seq on to `take`.
fn rows(
    frame: &Frame<'_>,
    confirmed: bool,
    from: u64,
    envelopes: &mut Envelopes,
    take: &mut Take<'_>,
) -> Result<ControlFlow<()>, String> {
    let records = match body::decode(frame).map_err(|fault| format!("{fault:?}"))? {
        Body::Data(records) => records,
        Body::Create(created) => created.records,
        _ => return Ok(ControlFlow::Continue(())),
    };
    let head = &frame.head;
    for (seq, record) in (head.first_seq..).zip(records.iter()) {
        if seq < from {
            continue;
        }
        let envelope = envelopes.read(record.envelope)?;
        let flow = take(&Stored {
            seq,
            time_ms: record.time_ms,
            kind: &envelope.kind,
            data: record.payload,
            sources: envelope.sources,
            surface: envelope.surface,
            ignorable: envelope.ignorable,
            lsn: Some(head.lsn),
            batch_first_seq: head.first_seq,
            key: records.key,
            confirmed,
        });
        if flow.is_break() {
            return Ok(flow);
        }
    }
    Ok(ControlFlow::Continue(()))
}

fn read_exact(file: &dyn File, path: &Path, offset: u64, buffer: &mut [u8]) -> Result<(), Error> {
    let mut done = 0;
    while done < buffer.len() {
        let read = file
            .read_at(offset + done as u64, &mut buffer[done..])
            .map_err(|error| Error::io(path, "the log cannot be read", error))?;
        if read == 0 {
            let message = "the segment is shorter than it was: run `log-verify` on the store";
            return Err(Error::corrupt("segment/short", message).at(path, Some(offset)));
        }
        done += read;
    }
    Ok(())
}
