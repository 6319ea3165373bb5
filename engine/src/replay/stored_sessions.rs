//! The sessions of a native store that nobody has open, as a source of sessions.
//!
//! What is shown is what a writer's open would keep; the store is not changed. One pass over it
//! finds where the frames of each session lie; each session is then read frame by frame.

use super::source::{EventSource, SessionSink, show};
use crate::backend::{Error, ErrorKind, Stored};
use crate::log::body::{self, Body};
use crate::log::chain::SessionKey;
use crate::log::envelope::Envelopes;
use crate::log::frame::{FrameHead, Kind, read_frame};
use crate::log::limit::FRAME_HEADER_BYTES;
use crate::log::reader::LogReader;
use crate::log::records::Records;
use crate::log::source::{Cached, Source, Window, patiently};
use crate::rules::SessionHeader;
use crate::storage::{File, Storage};
use crate::store::sheet::Reader;
use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Where a frame lies.
#[derive(Clone, Copy, Debug)]
struct Spot {
    segment: usize,
    offset: u64,
}

/// The sessions of a store; the name of each is its id.
pub struct StoredSessions {
    storage: Arc<dyn Storage>,
    dir: PathBuf,
    segments: Vec<PathBuf>,
    sessions: BTreeMap<String, Vec<Spot>>,
    /// Where large frames are read into, one at a time, whoever reads: so threads without number
    /// have no more than one of them in memory, and leave none behind in their heaps.
    large: Mutex<Vec<u8>>,
}

/// A frame with a larger body is a large one, in bytes.
const LARGE_BYTES: usize = 1 << 20;

impl StoredSessions {
    /// Looks over the store in a directory.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Corrupt`] where a writer's open would be refused; what cannot be read; that
    /// there is no store.
    pub fn open(storage: Arc<dyn Storage>, dir: &Path) -> Result<Self, Error> {
        let reader = LogReader::open(Arc::clone(&storage), dir)?;
        if let Some(error) = reader.error() {
            return Err(error);
        }
        let mut segments: Vec<PathBuf> = Vec::new();
        let mut found: HashMap<SessionKey, (Option<String>, Vec<Spot>)> = HashMap::new();
        reader.frames(&mut |path, frame, _| {
            let head = &frame.head;
            if segments.last().is_none_or(|last| last != path) {
                segments.push(path.to_owned());
            }
            match head.kind {
                Kind::Create => {
                    let Ok(Body::Create(created)) = body::decode(frame) else { return };
                    found.entry(head.session).or_default().0 = Some(created.id.to_owned());
                }
                Kind::Data => {}
                Kind::Delete => {
                    found.remove(&head.session);
                    return;
                }
                _ => return,
            }
            if let Some((_, spots)) = found.get_mut(&head.session) {
                spots.push(Spot { segment: segments.len() - 1, offset: head.offset });
            }
        })?;
        let named = found.into_values().filter_map(|(id, spots)| Some((id?, spots)));
        Ok(Self {
            storage,
            dir: dir.to_owned(),
            segments,
            sessions: named.collect(),
            large: Mutex::default(),
        })
    }
}

impl EventSource for StoredSessions {
    fn names(&self) -> Result<Vec<String>, Error> {
        Ok(self.sessions.keys().cloned().collect())
    }

    fn path(&self, _: &str) -> String {
        self.dir.display().to_string()
    }

    fn read(&self, name: &str, sink: &mut dyn SessionSink) -> Result<(), Error> {
        let Some(spots) = self.sessions.get(name) else {
            let message = format!("there is no session \"{name}\"");
            return Err(Error::new(ErrorKind::NoSession, message).at(&self.dir, None));
        };
        let mut reader = Reader::default();
        for frames in spots.chunk_by(|a, b| a.segment == b.segment) {
            let path = &self.segments[frames[0].segment];
            let file = patiently(path, 0, || self.storage.open(path))?;
            let bytes = patiently(path, 0, || file.stat())?.bytes;
            let mut source = Cached::new(&*file, path);
            let window = Window::new(&mut source, bytes);
            let mut frames_of = Frames { file: &*file, path, window, large: &self.large };
            for spot in frames {
                if frames_of.read(spot.offset, &mut reader, sink)? == ControlFlow::Break(()) {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

/// The frames of one segment.
struct Frames<'a> {
    file: &'a dyn File,
    path: &'a Path,
    window: Window<'a>,
    large: &'a Mutex<Vec<u8>>,
}

impl Frames<'_> {
    /// Hands over what one frame holds.
    fn read(
        &mut self,
        offset: u64,
        reader: &mut Reader,
        sink: &mut dyn SessionSink,
    ) -> Result<ControlFlow<()>, Error> {
        let path = self.path;
        let gone = || {
            let message = "the frame is not what was read before; run `log-verify` on the store";
            Error::corrupt("frame/body", message).at(path, Some(offset))
        };
        let front = self.window.at(offset, FRAME_HEADER_BYTES)?;
        let head = front.first_chunk().and_then(|bytes| FrameHead::parse(bytes).ok());
        let head = head.ok_or_else(gone)?;
        let (start, count) = (offset + FRAME_HEADER_BYTES as u64, head.padded_body_bytes());
        let mut large;
        let bytes: &[u8] = if count > LARGE_BYTES {
            if start + count as u64 > self.window.end() {
                return Err(gone());
            }
            large = self.large.lock().unwrap_or_else(PoisonError::into_inner);
            large.resize(count, 0);
            let filled = Cached::new(self.file, path).read(start, &mut large)?;
            &large[..filled]
        } else {
            self.window.at(start, count)?
        };
        let frame = read_frame(head, bytes).map_err(|_| gone())?;
        let records = match body::decode(&frame).map_err(|_| gone())? {
            Body::Create(created) => {
                let json = created.header.to_vec();
                sink.header(&SessionHeader { dialect: created.dialect, json });
                created.records
            }
            Body::Data(records) => records,
            _ => return Err(gone()),
        };
        events(&head, &records, reader, sink).map_err(|error| error.at(path, Some(offset)))
    }
}

fn events(
    head: &FrameHead,
    records: &Records<'_>,
    reader: &mut Reader,
    sink: &mut dyn SessionSink,
) -> Result<ControlFlow<()>, Error> {
    let mut envelopes = Envelopes::default();
    for (seq, record) in (head.first_seq..).zip(records.iter()) {
        let envelope = envelopes
            .read(record.envelope)
            .map_err(|what| Error::corrupt("envelope/not-an-event", what))?;
        let stored = Stored {
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
            confirmed: false,
        };
        if show(reader, &stored, |event| sink.event(event))? == ControlFlow::Break(()) {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(ControlFlow::Continue(()))
}
