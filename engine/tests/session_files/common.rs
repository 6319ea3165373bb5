//! A store on a disk that is simulated, and what tests ask of it.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gatelog_engine::backend::{
    AppendError, Backend, Batch, Commit, Durability, Error, Refusal, Row,
};
use gatelog_engine::machine::ThisMachine;
use gatelog_engine::rules::{Draft, SessionHeader};
use gatelog_engine::session_files::{Encoding, FilesConfig, SessionFiles};
use gatelog_engine::storage::{Sim, Storage, Volume};

pub(crate) const ROOT: &str = "/srv/sessions";
pub(crate) const T0: u64 = 1_750_000_000_000;

pub(crate) fn config(encoding: Encoding) -> FilesConfig {
    FilesConfig { encoding, allow_unlocked: true, ..FilesConfig::new(0) }
}

pub(crate) fn try_open(sim: &Sim, config: FilesConfig) -> Result<SessionFiles, Error> {
    SessionFiles::open(Arc::new(sim.disk()), ROOT, Arc::new(ThisMachine), config)
}

pub(crate) fn open(sim: &Sim, encoding: Encoding) -> SessionFiles {
    try_open(sim, config(encoding)).expect("the root can be opened")
}

pub(crate) fn header(id: &str) -> SessionHeader {
    header_of(&format!(
        "{{\"type\":\"session\",\"version\":0,\"id\":\"{id}\",\"createdAt\":{T0},\
         \"cwd\":\"/srv/proj\",\"delegationDepth\":0}}"
    ))
}

pub(crate) fn header_of(json: &str) -> SessionHeader {
    SessionHeader { dialect: 0, json: json.as_bytes().to_vec() }
}

/// The folder of a session whose header is [`header`]'s.
pub(crate) fn folder(id: &str) -> PathBuf {
    Path::new(ROOT).join("--srv-proj--").join(id)
}

pub(crate) fn log(id: &str, encoding: Encoding) -> PathBuf {
    folder(id).join(match encoding {
        Encoding::Zstd => "session.jsonl.zstd",
        Encoding::Plain => "session.jsonl",
    })
}

/// A draft of a type of the log only.
pub(crate) fn title(text: &str) -> Draft {
    Draft::new("plan/mode", format!(r#"{{"active":true,"note":"{text}"}}"#))
}

pub(crate) fn batch(first_seq: u64, drafts: Vec<Draft>) -> Batch {
    let row = |(place, draft): (u64, Draft)| {
        let time_ms = draft.time_ms.unwrap_or(T0 + first_seq + place);
        Row { time_ms, draft }
    };
    Batch { first_seq, key: None, rows: (0..).zip(drafts).map(row).collect() }
}

pub(crate) fn create(store: &SessionFiles, id: &str, drafts: Vec<Draft>) -> Commit {
    let created = store.create(id, &header(id), batch(0, drafts), Durability::Synced);
    created.expect("the session can be created")
}

pub(crate) fn append(
    store: &SessionFiles,
    id: &str,
    first_seq: u64,
    texts: &[&str],
) -> Result<Commit, AppendError> {
    let drafts = texts.iter().map(|text| title(text)).collect();
    store.append(id, batch(first_seq, drafts), Durability::Synced)
}

/// What a store says of an event, owned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Owned {
    pub(crate) seq: u64,
    pub(crate) time_ms: u64,
    pub(crate) kind: String,
    pub(crate) data: String,
    pub(crate) sources: Option<String>,
    pub(crate) surface: Option<String>,
    pub(crate) ignorable: bool,
    pub(crate) batch: u64,
    pub(crate) confirmed: bool,
}

pub(crate) fn read(store: &SessionFiles, id: &str, from: u64) -> Result<Vec<Owned>, Error> {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("UTF-8");
    let mut events = Vec::new();
    store.read(id, from, &mut |stored| {
        events.push(Owned {
            seq: stored.seq,
            time_ms: stored.time_ms,
            kind: stored.kind.to_owned(),
            data: text(stored.data),
            sources: stored.sources.map(text),
            surface: stored.surface.map(text),
            ignorable: stored.ignorable,
            batch: stored.batch_first_seq,
            confirmed: stored.confirmed,
        });
        ControlFlow::Continue(())
    })?;
    Ok(events)
}

pub(crate) fn events(store: &SessionFiles, id: &str) -> Vec<Owned> {
    read(store, id, 0).expect("the session can be read")
}

/// The notes of all events, by which tests tell them apart.
pub(crate) fn notes(store: &SessionFiles, id: &str) -> Vec<String> {
    let note = |event: Owned| {
        let (_, rest) = event.data.split_once("\"note\":\"").expect("a note");
        rest.trim_end_matches("\"}").to_owned()
    };
    events(store, id).into_iter().map(note).collect()
}

/// The frames of a log as texts, or its one text.
pub(crate) fn texts(bytes: &[u8]) -> Vec<String> {
    let mut texts = Vec::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        if !rest.starts_with(&[0x28, 0xB5, 0x2F, 0xFD]) {
            texts.push(String::from_utf8(rest.to_vec()).expect("UTF-8"));
            break;
        }
        assert_eq!(rest[4] & 0xE7, 0x04, "a checksum, no content size, no dictionary");
        let bytes = zstd_safe::find_frame_compressed_size(rest).expect("a whole frame");
        let mut text = Vec::with_capacity(1 << 20);
        zstd_safe::decompress(&mut text, &rest[..bytes]).expect("a sound frame");
        texts.push(String::from_utf8(text).expect("UTF-8"));
        rest = &rest[bytes..];
    }
    texts
}

pub(crate) fn refusal<T: std::fmt::Debug>(ended: Result<T, AppendError>) -> Refusal {
    match ended {
        Err(AppendError::Refused(refusal)) => refusal,
        other => panic!("not refused: {other:?}"),
    }
}

/// Puts bytes behind a file, as another process would.
pub(crate) fn append_bytes(volume: &dyn Volume, path: &Path, bytes: &[u8]) {
    let existing = gatelog_engine::storage::Create::Existing;
    let file = volume.open_write(path, existing).expect("the log is there");
    let end = file.stat().expect("it is open").bytes;
    assert_eq!(file.write_at(end, bytes).expect("there is room"), bytes.len());
}

pub(crate) fn names(storage: &dyn Storage, dir: &Path) -> Vec<String> {
    let entries = storage.list(dir).unwrap_or_default();
    entries.into_iter().map(|entry| entry.name.to_string_lossy().into_owned()).collect()
}
