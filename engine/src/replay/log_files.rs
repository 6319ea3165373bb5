//! The host's session files as a source of sessions.

use super::source::{EventSource, SessionSink};
use crate::backend::{Error, ErrorKind};
use crate::dsh::discover::Target;
use crate::dsh::fault::FaultKind;
use crate::dsh::header::Header;
use crate::dsh::legacy::{self, Earlier, Shape};
use crate::dsh::name::Encoding;
use crate::dsh::read::{self, HeaderSink};
use crate::dsh::record::{Record, RecordSink};
use crate::event::Event;
use crate::rules::SessionHeader;
use crate::storage::Storage;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// Session files; the name of each is its path.
pub struct LogFiles<'a> {
    storage: &'a dyn Storage,
    targets: BTreeMap<String, Target>,
    /// A frame whose text is longer than this, in bytes, is not read.
    frame_bytes_max: u64,
}

impl<'a> LogFiles<'a> {
    /// Takes files.
    pub fn new(storage: &'a dyn Storage, targets: Vec<Target>, frame_bytes_max: u64) -> Self {
        let name = |target: Target| (target.path.display().to_string(), target);
        let targets = targets.into_iter().map(name).collect();
        Self { storage, targets, frame_bytes_max }
    }
}

impl EventSource for LogFiles<'_> {
    fn names(&self) -> Result<Vec<String>, Error> {
        Ok(self.targets.keys().cloned().collect())
    }

    fn read(&self, name: &str, sink: &mut dyn SessionSink) -> Result<(), Error> {
        let Some(target) = self.targets.get(name) else {
            return Err(Error::new(ErrorKind::NoSession, format!("no file {name} was given")));
        };
        let path = &target.path;
        let unread = |error| Error::io(path, "cannot be read", error);
        let file = self.storage.open(path).map_err(unread)?;
        let stat = file.stat().map_err(unread)?;
        let zstd = if let Some(encoding) = target.encoding {
            encoding == Encoding::Zstd
        } else {
            let mut magic = [0; 4];
            let got = file.read_at(0, &mut magic).map_err(unread)?;
            got == 4 && magic == crate::dsh::frame::MAGIC.to_le_bytes()
        };
        let options = read::Options {
            zstd,
            generation: target.generation.map(|generation| generation.number),
            frame_bytes_max: self.frame_bytes_max,
            reads: |_| true,
            wanted: Vec::new(),
        };
        let mut records = Records { sink, session: Vec::new(), format: 0, is_over: false };
        let reading = read::read(&*file, stat.bytes, &options, &mut records).map_err(unread)?;
        match reading.fault {
            None => Ok(()),
            Some(fault) => {
                let kind = match fault.kind {
                    FaultKind::Corrupt | FaultKind::Violation => ErrorKind::Corrupt,
                    FaultKind::Unsupported => ErrorKind::Unsupported,
                    FaultKind::Limit | FaultKind::Unreadable => ErrorKind::Io,
                };
                let mut error = Error::new(kind, fault.message).at(path, fault.place.byte);
                error.rule = Some(fault.rule);
                Err(error)
            }
        }
    }
}

/// Gives records their present form and hands them on as events.
struct Records<'s> {
    sink: &'s mut dyn SessionSink,
    /// The session's id inside JSON quotes.
    session: Vec<u8>,
    format: u64,
    is_over: bool,
}

/// No projection looks at the id that an old tool result takes from the one it replaces.
struct NoEarlier;

impl Earlier for NoEarlier {
    fn message_id(&self, _: f64) -> Option<Vec<u8>> {
        None
    }
}

impl Records<'_> {
    fn event(&mut self, event: &Event<'_>) {
        self.is_over = self.sink.event(event) == ControlFlow::Break(());
    }
}

impl HeaderSink for Records<'_> {
    fn header(&mut self, header: &Header) {
        let json = header.json();
        let id = json.get("id").map_or(b"\"\"".as_slice(), |id| id.raw());
        self.session = id[1..id.len() - 1].to_vec();
        self.format = header.version;
        let dialect = u32::try_from(header.version).unwrap_or(u32::MAX);
        self.sink.header(&SessionHeader { dialect, json: json.raw().to_vec() });
    }
}

impl RecordSink for Records<'_> {
    fn record(&mut self, record: &Record<'_>) {
        if self.is_over {
            return;
        }
        let event = &record.event;
        if self.format != 0 || event.packed {
            return self.event(event);
        }
        match legacy::normalise(event, &self.session, &NoEarlier) {
            Shape::Changed { kind, data } => {
                self.event(&Event { kind, data: data.root(), ..*event });
            }
            Shape::Present | Shape::Malformed(_) => self.event(event),
        }
    }
}
