//! What a replay costs in memory: many sessions and one large frame, replayed by a process whose
//! greatest resident memory is compared with a bound.
//!
//! The bound is 64 MiB, twice the largest frame, and the states of the sessions that are folded at
//! one time, as their checkpoints have them: the larger ones, one for each thread.

use super::workload::header;
use crate::{Encoding, log};
use gatelog_engine::backend::{Backend, Batch, Durability, Row};
use gatelog_engine::dsh::discover::{Alone, Placement, Target};
use gatelog_engine::dsh::name::{Encoding as FileEncoding, Generation};
use gatelog_engine::event::Event;
use gatelog_engine::log::{Log, LogConfig};
use gatelog_engine::machine::ThisMachine;
use gatelog_engine::replay::{
    EventSource, Folding, LogFiles, Projected, Replay, SessionSink, StoredSessions, replay,
};
use gatelog_engine::rules::{Draft, SessionHeader};
use gatelog_engine::storage::{Disk, Kind};
use gatelog_validator::projection::Installation;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use zstd_safe::compress_bound;

const MIB: u64 = 1 << 20;
/// What a replay may take beside frames and states.
const BASE_BYTES: u64 = 64 * MIB;
/// A file's frame whose text is longer is not read.
const TEXT_BYTES_MAX: u64 = 256 * MIB;

/// Where the sessions of a trial are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// In a native store.
    Store,
    /// In the host's files.
    Files,
}

/// Sessions on the disk.
#[derive(Clone, Debug)]
pub struct Ground {
    /// The directory, which holds a store and files.
    pub dir: PathBuf,
    /// How many sessions.
    pub sessions: u64,
    /// How many of the first ones, eight apart, have a large frame.
    pub large: u64,
    /// Each has at least so many compressed bytes.
    pub session_bytes: usize,
    /// Bytes of the large frame's text.
    pub large_bytes: usize,
}

/// What a ground turned out to hold.
#[derive(Clone, Debug)]
pub struct Held {
    /// Events of all sessions, a packed row being one.
    pub events: u64,
    /// Bytes of the largest frame in the store.
    pub frame_bytes: u64,
    /// Bytes of the states of each session, largest first.
    pub states: Vec<u64>,
}

/// How a replay goes wrong on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leak {
    /// It does not.
    No,
    /// Every event is kept to the end.
    Events,
}

/// What a process that replayed says of itself.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// The most memory that it had at one time, in bytes.
    pub peak_bytes: u64,
    /// Sessions that were read.
    pub sessions: u64,
}

impl Held {
    /// Returns how many bytes so many threads may take.
    pub fn bound(&self, threads: usize) -> u64 {
        BASE_BYTES + 2 * self.frame_bytes + self.states.iter().take(threads).sum::<u64>()
    }
}

fn all(header: &SessionHeader) -> Vec<Box<dyn Projected>> {
    Installation::default().all(header)
}

/// Folds one session and puts it into a store.
#[derive(Default)]
struct Told {
    folding: Option<Folding>,
    rows: Vec<Row>,
}

impl SessionSink for Told {
    fn header(&mut self, header: &SessionHeader) {
        self.folding = Some(Folding::new(header, all(header)));
    }

    fn event(&mut self, event: &Event<'_>) -> ControlFlow<()> {
        if let Some(folding) = &mut self.folding {
            folding.take(event);
        }
        let draft = Draft::new(event.kind, event.data.raw().to_vec());
        self.rows.push(Row { time_ms: event.time_ms as u64, draft });
        ControlFlow::Continue(())
    }
}

impl Ground {
    fn file(&self, session: u64) -> PathBuf {
        self.dir.join("files").join(format!("s{session:04}.jsonl.zstd"))
    }

    fn store(&self) -> PathBuf {
        self.dir.join("store")
    }

    /// Writes the sessions, as files and into a store. The directory must not be there.
    ///
    /// # Errors
    ///
    /// What cannot be written, in words.
    pub fn make(&self) -> Result<Held, String> {
        fs::create_dir_all(self.dir.join("files")).map_err(words)?;
        for session in 0..self.sessions {
            let (mut bytes, _) = log(session, self.session_bytes, Encoding::Zstd);
            if session % 8 == 0 && session / 8 < self.large {
                bytes = self.large();
            }
            fs::write(self.file(session), bytes).map_err(words)?;
        }
        let config = LogConfig {
            frame_bytes_max: 256 * MIB,
            segment_bytes: 1024 * MIB,
            ..LogConfig::default()
        };
        let store = Log::open(Arc::new(Disk), &self.store(), Arc::new(ThisMachine), config);
        let store = store.map_err(words)?;
        let files = self.files();
        let mut held = Held { events: 0, frame_bytes: 0, states: Vec::new() };
        for (session, path) in files.names().map_err(words)?.iter().enumerate() {
            let mut told = Told::default();
            files.read(path, &mut told).map_err(words)?;
            held.events += told.rows.len() as u64;
            let states = told.folding.iter().flat_map(Folding::checkpoints);
            held.states.push(states.map(|state| state.state.len() as u64).sum());
            let text = told.rows.iter().map(|row| row.draft.data.len() as u64).sum();
            held.frame_bytes = held.frame_bytes.max(text);
            let (id, class) = (format!("s{session:04}"), Durability::Written);
            let batch = Batch { first_seq: 0, key: None, rows: told.rows };
            store.create(&id, &header(&id), batch, class).map_err(|error| format!("{error:?}"))?;
        }
        held.states.sort_unstable_by_key(|bytes| std::cmp::Reverse(*bytes));
        store.close().map_err(words)?;
        Ok(held)
    }

    /// A session whose second frame holds one message of many bytes.
    fn large(&self) -> Vec<u8> {
        let header = "{\"type\":\"session\",\"version\":0,\"id\":\"bench\",\
             \"createdAt\":1790000000000,\"delegationDepth\":0}\n";
        let text = "a large frame ".repeat(self.large_bytes / 14);
        let event = format!(
            "{{\"type\":\"user/message\",\"seq\":0,\"time\":1,\"data\":{{\"role\":\"user\",\
             \"id\":\"m\",\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}],\
             \"source\":{{\"kind\":\"user\"}}}},\"surfaceOp\":\"append\"}}\n"
        );
        let frame = |text: &str| {
            let mut frame = Vec::with_capacity(compress_bound(text.len()));
            zstd_safe::compress(&mut frame, text.as_bytes(), 1).expect("the frame has room");
            frame
        };
        [frame(header), frame(&event)].concat()
    }

    fn files(&self) -> LogFiles<'static> {
        let encoding = FileEncoding::Zstd;
        let target = |session| Target {
            path: self.file(session),
            generation: Some(Generation { number: 0, encoding }),
            encoding: Some(encoding),
            placement: Placement::Alone(Alone::Name),
            kind: Kind::Regular,
            hidden_by: None,
        };
        LogFiles::new(&Disk, (0..self.sessions).map(target).collect(), TEXT_BYTES_MAX)
    }

    /// Replays in this process.
    ///
    /// # Errors
    ///
    /// What cannot be read, in words.
    pub fn replay(&self, source: Source, threads: usize, leak: Leak) -> Result<Cost, String> {
        let stored;
        let files;
        let source: &dyn EventSource = match source {
            Source::Store => {
                stored = StoredSessions::open(Arc::new(Disk), &self.store()).map_err(words)?;
                &stored
            }
            Source::Files => {
                files = self.files();
                &files
            }
        };
        let make = |header: &SessionHeader| {
            let mut made = all(header);
            if leak == Leak::Events {
                made.push(Box::new(Hoard::default()));
            }
            made
        };
        let (mut sessions, mut failed) = (0, None);
        let options = Replay { threads, at: None };
        replay(source, &make, options, &mut |name, folded| match folded {
            Ok(_) => {
                sessions += 1;
                ControlFlow::Continue(())
            }
            Err(error) => {
                failed = Some(format!("{name}: {error}"));
                ControlFlow::Break(())
            }
        })
        .map_err(words)?;
        match failed {
            Some(what) => Err(what),
            None => Ok(Cost { peak_bytes: peak_bytes()?, sessions }),
        }
    }

    /// Replays in a process of its own, which `program` is: `replay-memory`.
    ///
    /// # Errors
    ///
    /// What the process says.
    pub fn spawn(
        &self,
        program: &Path,
        source: Source,
        threads: usize,
        leak: Leak,
    ) -> Result<Cost, String> {
        let mut command = Command::new(program);
        command.arg("--child").arg(&self.dir);
        command.args([self.sessions, threads as u64].map(|number| number.to_string()));
        command.args([format!("{source:?}"), format!("{leak:?}")]);
        let output = command.output().map_err(words)?;
        let said = String::from_utf8_lossy(&output.stdout);
        let mut numbers = said.split_whitespace().map(str::parse::<u64>);
        match (numbers.next(), numbers.next()) {
            (Some(Ok(peak_bytes)), Some(Ok(sessions))) => Ok(Cost { peak_bytes, sessions }),
            _ => Err(format!("{said}{}", String::from_utf8_lossy(&output.stderr))),
        }
    }
}

/// A projection that is never let go, with all that it saw.
#[derive(Default)]
struct Hoard(Vec<Vec<u8>>);

impl gatelog_engine::companion::Fold for Hoard {
    fn fold(&mut self, event: &Event<'_>) {
        self.0.push(event.data.raw().to_vec());
    }
}

impl Projected for Hoard {
    fn name(&self) -> &'static str {
        "hoard"
    }

    fn version(&self) -> u32 {
        1
    }

    fn json(&self) -> String {
        "null".into()
    }

    fn save(&self) -> Vec<u8> {
        Vec::new()
    }

    fn load(&mut self, _: &[u8]) -> bool {
        false
    }
}

impl Drop for Hoard {
    fn drop(&mut self) {
        std::mem::forget(std::mem::take(&mut self.0));
    }
}

/// Returns the most memory that this process ever had resident.
fn peak_bytes() -> Result<u64, String> {
    let status = fs::read_to_string("/proc/self/status").map_err(words)?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kib.map(|kib| kib * 1024).ok_or_else(|| "the system does not say how much memory".into())
}

fn words(error: impl std::fmt::Display) -> String {
    error.to_string()
}
