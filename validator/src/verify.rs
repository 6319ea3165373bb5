//! One file in, one report out.

use crate::companion::{Settings, companions};
use crate::fold::Fold;
use crate::judge::{Judge, Seen, finding};
use crate::report::{Encoding, HostAct, Report, Verdict};
use crate::rule::{Profile, Severity};
use gatelog_engine::companion::Listens;
use gatelog_engine::dsh::discover::Target;
use gatelog_engine::dsh::name;
use gatelog_engine::dsh::read;
use gatelog_engine::event::Place;
use gatelog_engine::storage::{File, Stat, Storage};
use std::collections::HashSet;
use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The default of [`Options::max_frame_bytes`]: 1 GiB.
pub const MAX_FRAME_BYTES: u64 = 1 << 30;

/// How long the end of a file is watched before it counts as at rest.
const SECOND_LOOK: Duration = Duration::from_millis(250);

/// A file that waits for its second look keeps what was folded of it up to this many bytes of text;
/// a longer one is read again.
const KEPT_TEXT_BYTES_MAX: u64 = 1 << 16;

/// How a file is verified.
#[derive(Clone, Debug)]
pub struct Options {
    /// Which rules run.
    pub profile: Profile,
    /// The preset names that the host has configured, when they are known.
    pub presets: Option<Vec<String>>,
    /// A frame whose text is longer than this, in bytes, is not judged. Default 1 GiB.
    pub max_frame_bytes: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { profile: Profile::Host, presets: None, max_frame_bytes: MAX_FRAME_BYTES }
    }
}

/// Waits for the second look.
pub(crate) fn wait() {
    std::thread::sleep(SECOND_LOOK);
}

/// Verifies one file; bad content is a report, never an error.
///
/// `progress` is told of bytes as they are read. Lines are scanned on the threads of the rayon pool
/// in force. It may wait a quarter of a second for a file whose end looks torn; who verifies many
/// files uses [`look`] and waits once.
pub fn verify(
    storage: &dyn Storage,
    target: &Target,
    options: &Options,
    progress: &(dyn Fn(u64) + Sync),
) -> Report {
    let look = look(storage, target, options, progress);
    if let Some(due) = look.due() {
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
    }
    look.report(storage)
}

/// A file that was read; its report may have to wait for a second look at its end.
pub struct Look(Stage);

enum Stage {
    Done(Box<Report>),
    Waiting(Box<Waiting>),
}

/// A file whose end looks torn, which a live writer explains as well as a crash.
struct Waiting {
    target: Target,
    options: Options,
    first: Instant,
    stat: Stat,
    /// What was seen of it; nothing when it is to be read again, because hundreds of long logs may
    /// wait at once.
    seen: Option<Seen>,
}

impl Look {
    /// Returns when the second look may be taken; nothing when none is needed.
    pub fn due(&self) -> Option<Instant> {
        match &self.0 {
            Stage::Done(_) => None,
            Stage::Waiting(waiting) => Some(waiting.first + SECOND_LOOK),
        }
    }

    /// Takes the second look, if one is needed, and reports.
    pub fn report(self, storage: &dyn Storage) -> Report {
        match self.0 {
            Stage::Done(report) => *report,
            Stage::Waiting(waiting) => waiting.report(storage),
        }
    }
}

impl Waiting {
    fn report(self, storage: &dyn Storage) -> Report {
        let Self { target, options, stat, seen, .. } = self;
        let is_live = is_live(storage, &target, &stat);
        let seen = match seen {
            Some(seen) => Ok(seen),
            None => read_anew(storage, &target, Some(stat), &options, &|_| {}),
        };
        judge(storage, &target, &options, seen, is_live)
    }
}

/// Returns whether somebody writes a file, which was `then` at the first look.
fn is_live(storage: &dyn Storage, target: &Target, then: &Stat) -> bool {
    storage.lock_holders(then.identity) == Some(true)
        || is_session_locked(storage, target)
        || storage.stat(&target.path).is_ok_and(|now| has_moved(&now, then))
}

/// Why a file could not be read, and how many bytes it seemed to have.
type Failure = (u64, io::Error);

/// Reports on what was seen of a file.
fn judge(
    storage: &dyn Storage,
    target: &Target,
    options: &Options,
    seen: Result<Seen, Failure>,
    is_live: bool,
) -> Report {
    match seen {
        Ok(seen) => Judge { storage, target, profile: options.profile }.report(seen, is_live),
        Err((bytes, error)) => unreadable(target, bytes, &error),
    }
}

/// Returns whether a file was written to between two looks.
fn has_moved(now: &Stat, then: &Stat) -> bool {
    now.bytes != then.bytes || now.modified_ns != then.modified_ns || now.identity != then.identity
}

/// Returns whether somebody holds the lock that hosts of formats 3 and 4 take beside the log.
///
/// The lock file is only looked up, never opened: a probe could make the host's own open fail.
fn is_session_locked(storage: &dyn Storage, target: &Target) -> bool {
    let lock = target.path.with_file_name("session.lock");
    storage.stat(&lock).is_ok_and(|stat| storage.lock_holders(stat.identity) == Some(true))
}

/// Reads one file.
pub fn look(
    storage: &dyn Storage,
    target: &Target,
    options: &Options,
    progress: &(dyn Fn(u64) + Sync),
) -> Look {
    let first = Instant::now();
    let done = |report| Look(Stage::Done(Box::new(report)));
    let seen = read_anew(storage, target, None, options, progress);
    let seen = match seen {
        Ok(seen) if seen.reading.torn.is_some() => seen,
        seen => return done(judge(storage, target, options, seen, false)),
    };
    let stat = seen.stat;
    if first.elapsed() >= SECOND_LOOK {
        // Reading it took so long that the second look is due already.
        let is_live = is_live(storage, target, &stat);
        return done(judge(storage, target, options, Ok(seen), is_live));
    }
    let seen = (seen.reading.text_bytes <= KEPT_TEXT_BYTES_MAX).then_some(seen);
    let (target, options) = (target.clone(), options.clone());
    Look(Stage::Waiting(Box::new(Waiting { target, options, first, stat, seen })))
}

/// Opens a file and reads it: as it was when it was looked at before, or as it is.
fn read_anew(
    storage: &dyn Storage,
    target: &Target,
    before: Option<Stat>,
    options: &Options,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Seen, Failure> {
    let file = storage.open(&target.path).map_err(|error| (0, error))?;
    let now = file.stat().map_err(|error| (0, error))?;
    // What was appended since is no part of what was seen; another file is judged as it is.
    let mut stat = before.filter(|before| before.identity == now.identity).unwrap_or(now);
    // A file that becomes shorter while it is read is looked at again as it then is.
    let mut attempt = see(&*file, stat, target, options, progress);
    for _ in 0..2 {
        let is_shorter =
            attempt.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::UnexpectedEof);
        let Some(now) = file.stat().ok().filter(|_| is_shorter) else { break };
        stat = now;
        attempt = see(&*file, stat, target, options, progress);
    }
    attempt.map_err(|error| (stat.bytes, error))
}

/// Returns the report on a file that could not be read.
fn unreadable(target: &Target, bytes: u64, error: &io::Error) -> Report {
    let message = format!("cannot be read: {error}");
    let mut report = Report::empty(target, bytes);
    report.verdict = Verdict::Unreadable;
    report.host = HostAct::Refuses;
    let (rule, place) = ("limit/unreadable", Place::default());
    report.findings.push(finding(rule, Severity::Error, message, place));
    report
}

/// A file that tells how much of it was read; what is read again counts once.
struct Counted<'a> {
    file: &'a dyn File,
    progress: &'a (dyn Fn(u64) + Sync),
    /// How far it was read.
    read_bytes: AtomicU64,
}

impl File for Counted<'_> {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let got = self.file.read_at(offset, buffer)?;
        let end = offset + got as u64;
        let before = self.read_bytes.fetch_max(end, Ordering::Relaxed);
        if end > before {
            (self.progress)(end - before);
        }
        Ok(got)
    }

    fn stat(&self) -> io::Result<Stat> {
        self.file.stat()
    }
}

fn see(
    file: &dyn File,
    stat: Stat,
    target: &Target,
    options: &Options,
    progress: &(dyn Fn(u64) + Sync),
) -> io::Result<Seen> {
    let zstd = if let Some(encoding) = target.encoding {
        encoding == name::Encoding::Zstd
    } else {
        let mut magic = [0; 4];
        let got = file.read_at(0, &mut magic)?;
        got == 4 && magic == gatelog_engine::dsh::frame::MAGIC.to_le_bytes()
    };
    let generation = target.generation.map(|generation| generation.number);
    let frame_bytes_max = options.max_frame_bytes;
    let wanted = Vec::new();
    let mut how = read::Options { zstd, generation, frame_bytes_max, reads, wanted };
    let settings = Settings {
        profile: options.profile,
        presets: options.presets.clone(),
        ..Settings::default()
    };
    let encoding = if zstd { Encoding::Zstd } else { Encoding::Plain };
    let mut fold = Fold::new(settings.clone());
    let counted = Counted { file, progress, read_bytes: AtomicU64::new(0) };
    let mut reading = read::read(&counted, stat.bytes, &how, &mut fold)?;
    if !reading.unkept.is_empty() {
        // The last type of a long line stood behind its payload, and is one that rules read.
        how.wanted = reading.unkept;
        fold = Fold::new(settings);
        reading = read::read(&counted, stat.bytes, &how, &mut fold)?;
    }
    Ok(Seen { stat, encoding, reading, fold })
}

/// Returns whether any rule reads the payload of a type, given the raw JSON text of the type.
fn reads(raw: &[u8]) -> bool {
    static READ: OnceLock<HashSet<&'static [u8]>> = OnceLock::new();
    let read = READ.get_or_init(|| {
        let settings = Settings { profile: Profile::Strict, ..Settings::default() };
        let of_companions =
            companions(&settings).into_iter().flat_map(|companion| match companion.listens() {
                Listens::All => &[],
                Listens::Kinds(kinds) => kinds,
            });
        let of_load = crate::load::READS.iter().copied().flatten();
        of_companions.chain(of_load).map(|kind| kind.as_bytes()).collect()
    });
    match raw.strip_prefix(b"\"").and_then(|raw| raw.strip_suffix(b"\"")) {
        Some(plain) if !plain.contains(&b'\\') => read.contains(plain),
        _ => true,
    }
}
