//! A log as it lies on the disk, read through the reader of session files: what a writer has to
//! know of it, and its events one by one.

use std::io;
use std::path::Path;
use std::sync::mpsc::SyncSender;

use super::layout::Layout;
use super::place::Root;
use super::spell::Spelt;
use crate::backend::{Error, ErrorKind, Stored};
use crate::dsh::chunk::Chunks;
use crate::dsh::fault::{Fault, FaultKind};
use crate::dsh::header::Header;
use crate::dsh::identity::{self, Claim, Cwd, Placed};
use crate::dsh::name::Encoding;
use crate::dsh::read::{self, HeaderSink, Reading};
use crate::dsh::record::{Record, RecordSink};
use crate::dsh::row::Packed;
use crate::event::Event;
use crate::json::{Document, Json};
use crate::storage::{Stat, Storage};

/// A frame whose text is longer, in bytes, is not read: 1 GiB.
const FRAME_BYTES_MAX: u64 = 1 << 30;

/// How often a log that changes while it is read is read again.
const ATTEMPTS: usize = 8;

/// Events, or bytes of their payloads, that go from the reading thread to the caller's at once.
const PORTION: usize = 256;
const PORTION_BYTES: usize = 1 << 18;

/// What a writer has to know of a log.
#[derive(Debug)]
pub(super) struct Look {
    /// The header line.
    pub(super) header: Vec<u8>,
    /// Events of the log, those of a torn frame included.
    pub(super) events: u64,
    /// Time of the last one, in milliseconds since 1970; 0 without one.
    pub(super) last_time_ms: u64,
    /// Where recovery cuts, if the end is torn.
    pub(super) cut: Option<u64>,
    /// What recovery reads from the torn frame and writes again.
    pub(super) recovered: Vec<Spelt>,
    /// The file as it was.
    pub(super) stat: Stat,
}

/// One event that left the log.
pub(super) struct Loose {
    pub(super) seq: u64,
    time_ms: u64,
    kind: String,
    data: Vec<u8>,
    sources: Option<Vec<u8>>,
    surface: Option<Vec<u8>>,
    ignorable: bool,
    batch_first_seq: u64,
}

impl Loose {
    /// Makes one of an event that was not written yet.
    pub(super) fn of(spelt: &Spelt, seq: u64, batch_first_seq: u64) -> Self {
        let bytes = |text: &Option<String>| text.as_ref().map(|text| text.clone().into_bytes());
        Self {
            seq,
            time_ms: u64::try_from(spelt.time_ms).unwrap_or(0),
            kind: spelt.kind.clone(),
            data: spelt.data.clone().into_bytes(),
            sources: bytes(&spelt.sources),
            surface: bytes(&spelt.surface),
            ignorable: spelt.ignorable,
            batch_first_seq,
        }
    }

    pub(super) fn stored(&self, confirmed: bool) -> Stored<'_> {
        Stored {
            seq: self.seq,
            time_ms: self.time_ms,
            kind: &self.kind,
            data: &self.data,
            sources: self.sources.as_deref(),
            surface: self.surface.as_deref(),
            ignorable: self.ignorable,
            lsn: None,
            batch_first_seq: self.batch_first_seq,
            key: None,
            confirmed,
        }
    }
}

/// Looks at a log, and judges what the host's loader judges of its bytes, rows and place.
///
/// # Errors
///
/// What cannot be read, what the host refuses, and a log that changes all the time.
pub(super) fn look(
    storage: &dyn Storage,
    root: &Root,
    layout: &Layout,
    path: &Path,
) -> Result<Look, Error> {
    for _ in 0..ATTEMPTS {
        let before = stat(storage, path)?;
        let mut sink = Counting::new(layout);
        let reading = scan(storage, root, path, before.bytes, &mut sink);
        let mut reading = match reading {
            Ok(reading) => reading,
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => continue,
            Err(error) => return Err(Error::io(path, "cannot read the log", error)),
        };
        let torn = reading.torn.take();
        if torn.is_some() && reading.fault.is_none() && reading.frames > 0 {
            // Only now it is known which frame is torn.
            let frame = Some(reading.frames);
            sink = Counting { frame, ..Counting::new(layout) };
            if scan(storage, root, path, before.bytes, &mut sink).is_err() {
                continue;
            }
        }
        if stat(storage, path)? != before {
            continue;
        }
        check(storage, root, path, &reading)?;
        if let Some(seq) = sink.unlawful {
            let message = format!("event {seq} has an envelope that no event has");
            return Err(Error::corrupt("envelope/not-an-event", message).at(path, None));
        }
        let header = reading.header.map(|header| header.json().raw().to_vec());
        let (cut, recovered) = (torn.map(|torn| torn.cut), sink.kept);
        let (events, last_time_ms) = (reading.events, sink.last_time_ms);
        let (header, stat) = (header.unwrap_or_default(), before);
        return Ok(Look { header, events, last_time_ms, cut, recovered, stat });
    }
    let message = "the log changes while it is read: another process writes it";
    Err(Error::new(ErrorKind::Busy, message).at(path, None))
}

/// Sends the events of a log from one seq up to another, the last one excluded.
///
/// # Errors
///
/// What cannot be read, and what the host refuses.
pub(super) fn send(
    storage: &dyn Storage,
    root: &Root,
    path: &Path,
    seqs: std::ops::Range<u64>,
    to: SyncSender<Vec<Loose>>,
) -> Result<(), Error> {
    let bytes = stat(storage, path)?.bytes;
    let mut sink = Sending { seqs, to: Some(to), frame: None, portion: Vec::new(), bytes: 0 };
    let reading = scan(storage, root, path, bytes, &mut sink);
    let reading = reading.map_err(|error| Error::io(path, "cannot read the log", error))?;
    sink.flush();
    check(storage, root, path, &reading)
}

fn stat(storage: &dyn Storage, path: &Path) -> Result<Stat, Error> {
    storage.stat(path).map_err(|error| Error::io(path, "cannot look at the log", error))
}

fn scan(
    storage: &dyn Storage,
    root: &Root,
    path: &Path,
    bytes: u64,
    sink: &mut dyn HeaderSink,
) -> io::Result<Reading> {
    let options = read::Options {
        zstd: root.generation.encoding == Encoding::Zstd,
        generation: Some(root.generation.number),
        frame_bytes_max: FRAME_BYTES_MAX,
        reads: |_| true,
        wanted: Vec::new(),
    };
    read::read(&*storage.open(path)?, bytes, &options, sink)
}

/// Refuses what the host refuses.
fn check(storage: &dyn Storage, root: &Root, path: &Path, reading: &Reading) -> Result<(), Error> {
    if let Some(fault) = &reading.fault {
        return Err(refused(fault, path));
    }
    let Some(header) = &reading.header else { return Ok(()) };
    let Some(placed) = placed(root, path) else { return Ok(()) };
    let cwd = Cwd::of(header.json().get("cwd"));
    let encoding = root.generation.encoding;
    let claim = Claim { id: &header.id, cwd, version: header.version, encoding };
    identity::check(storage, &placed, &claim)
        .map_err(|refusal| Error::corrupt("identity/elsewhere", refusal.message).at(path, None))
}

fn placed(root: &Root, path: &Path) -> Option<Placed> {
    let dir = path.parent()?;
    let project = dir.parent()?.file_name()?.to_owned();
    let (session, file) = (dir.file_name()?.to_owned(), path.file_name()?.to_owned());
    Some(Placed { root: root.path.clone(), project, session, file })
}

fn refused(fault: &Fault, path: &Path) -> Error {
    let mut error = match fault.kind {
        FaultKind::Unsupported => Error::new(ErrorKind::Unsupported, fault.message.clone()),
        FaultKind::Limit | FaultKind::Unreadable => {
            Error::new(ErrorKind::Io, fault.message.clone())
        }
        FaultKind::Corrupt | FaultKind::Violation => {
            Error::corrupt(fault.rule, fault.message.clone())
        }
    };
    if let Some(line) = fault.place.line {
        error.message = format!("line {line}: {}", error.message);
    }
    error.at(path, fault.place.byte)
}

/// Counts events, and keeps those of one frame.
struct Counting<'a> {
    layout: &'a Layout,
    frame: Option<u64>,
    kept: Vec<Spelt>,
    last_time_ms: u64,
    unlawful: Option<u64>,
}

impl<'a> Counting<'a> {
    fn new(layout: &'a Layout) -> Self {
        Self { layout, frame: None, kept: Vec::new(), last_time_ms: 0, unlawful: None }
    }

    fn count(&mut self, record: &Record<'_>) -> bool {
        let event = &record.event;
        self.last_time_ms = time(event.last_time_ms);
        if !record.lawful {
            self.unlawful.get_or_insert(event.seq);
        }
        self.frame.is_some() && event.place.frame == self.frame
    }

    fn keep(&mut self, event: &Event<'_>, time_ms: f64, data: Json<'_>) {
        let printed = |value: Option<Json<'_>>| value.map(|value| value.to_json());
        let mut spelt = Spelt {
            kind: event.kind.to_owned(),
            time_ms: time_ms as i64,
            data: data.to_json(),
            sources: printed(event.sources),
            surface: printed(event.surface),
            ignorable: event.ignorable,
            chunk: None,
            is_closer: false,
        };
        spelt.judge(self.layout, data);
        self.kept.push(spelt);
    }
}

impl RecordSink for Counting<'_> {
    fn record(&mut self, record: &Record<'_>) {
        if self.count(record) {
            self.keep(&record.event, record.event.time_ms, record.event.data);
        }
    }

    fn packed(&mut self, row: &Packed, record: &Record<'_>) {
        if self.count(record) {
            members(row, record.event.data, |time_ms, data| {
                if let Ok(data) = Document::parse(data) {
                    self.keep(&record.event, time_ms, data.root());
                }
            });
        }
    }
}

impl HeaderSink for Counting<'_> {
    fn header(&mut self, _: &Header) {}
}

/// Sends events in portions; once nobody takes them any more, none.
struct Sending {
    seqs: std::ops::Range<u64>,
    to: Option<SyncSender<Vec<Loose>>>,
    /// The frame at hand, and the seq of its first event.
    frame: Option<(u64, u64)>,
    portion: Vec<Loose>,
    bytes: usize,
}

impl Sending {
    fn batch_first_seq(&mut self, event: &Event<'_>) -> Option<u64> {
        let frame = event.place.frame?;
        match self.frame {
            Some((at, seq)) if at == frame => Some(seq),
            _ => {
                self.frame = Some((frame, event.seq));
                Some(event.seq)
            }
        }
    }

    fn wants(&self, seq: u64) -> bool {
        self.to.is_some() && self.seqs.contains(&seq)
    }

    fn add(&mut self, loose: Loose) {
        self.bytes += loose.data.len();
        self.portion.push(loose);
        if self.portion.len() >= PORTION || self.bytes >= PORTION_BYTES {
            self.flush();
        }
    }

    fn flush(&mut self) {
        self.bytes = 0;
        let portion = std::mem::take(&mut self.portion);
        let gone = |to: &SyncSender<Vec<Loose>>| to.send(portion).is_err();
        if self.to.as_ref().is_some_and(gone) {
            self.to = None;
        }
    }
}

impl RecordSink for Sending {
    fn record(&mut self, record: &Record<'_>) {
        let event = &record.event;
        let batch = self.batch_first_seq(event);
        if !self.wants(event.seq) {
            return;
        }
        let raw = |value: Option<Json<'_>>| value.map(|value| value.raw().to_vec());
        self.add(Loose {
            seq: event.seq,
            time_ms: time(event.time_ms),
            kind: event.kind.to_owned(),
            data: event.data.raw().to_vec(),
            sources: raw(event.sources),
            surface: raw(event.surface),
            ignorable: event.ignorable,
            batch_first_seq: batch.unwrap_or(event.seq),
        });
    }

    fn packed(&mut self, row: &Packed, record: &Record<'_>) {
        let event = &record.event;
        let batch = self.batch_first_seq(event);
        let mut seq = event.seq;
        members(row, event.data, |time_ms, data| {
            if self.wants(seq) {
                self.add(Loose {
                    seq,
                    time_ms: time(time_ms),
                    kind: event.kind.to_owned(),
                    data: data.to_vec(),
                    sources: None,
                    surface: None,
                    ignorable: false,
                    batch_first_seq: batch.unwrap_or(seq),
                });
            }
            seq += 1;
        });
    }
}

impl HeaderSink for Sending {
    fn header(&mut self, _: &Header) {}
}

/// Hands the members of a packed row on: their times, and their payloads as the host expands them.
fn members(row: &Packed, data: Json<'_>, mut take: impl FnMut(f64, &[u8])) {
    let Some(chunks) = Chunks::of(row, data) else { return };
    let mut gaps = data.get("dt").and_then(|gaps| gaps.numbers());
    let mut time_ms = row.time0;
    for line in chunks {
        // The line of a chunk: nothing before its payload holds this key, and `}` ends it.
        let data = line.split_once("\"data\":").map_or("", |(_, data)| data);
        take(time_ms, &data.as_bytes()[..data.len().saturating_sub(1)]);
        time_ms += gaps.as_mut().and_then(Iterator::next).unwrap_or(0.0);
    }
}

/// Returns a time as sessions have it: no earlier than 1970.
fn time(time_ms: f64) -> u64 {
    time_ms.max(0.0) as u64
}
