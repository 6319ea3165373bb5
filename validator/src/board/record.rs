//! The states of a session's projections, kept as a cache.
//!
//! ```text
//! 0  8  "gatelogR"
//! 8     identity: created, cwd          each led by its length, 8 bytes
//!       rows: key, version (4), seq (8), anchor (32), state
//!       BLAKE3 of all that precedes (32)
//! ```
//!
//! A record is valid if and only if its parts fill it exactly and its digest holds. Numbers are
//! little-endian. It can only save time: what does not fit a log is left aside.

use gatelog_engine::backend::Stored;
use gatelog_engine::json::Document;
use gatelog_engine::rules::SessionHeader;

const MAGIC: &[u8; 8] = b"gatelogR";
const CHECK_BYTES: usize = 32;

/// Bytes of a record, at most; a larger one is not read.
pub const RECORD_BYTES_MAX: usize = 64 << 20;

/// What makes a log the same log: when it was created, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// `createdAt` of its header, as JSON text; empty without one.
    pub created: String,
    /// `cwd` of its header, as JSON text; empty without one.
    pub cwd: String,
}

impl Identity {
    /// Reads it from a header.
    pub fn of(header: &SessionHeader) -> Self {
        let document = Document::parse(header.json.clone()).ok();
        let member = |key| {
            let value = document.as_ref().and_then(|header| header.root().get(key));
            value.map(|value| value.to_json()).unwrap_or_default()
        };
        Self { created: member("createdAt"), cwd: member("cwd") }
    }
}

/// The state of one projection behind the events below a seq.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its key.
    pub key: String,
    /// Its version.
    pub version: u32,
    /// Seq of the next event.
    pub seq: u64,
    /// Digest of the event before that; zeros if there is none.
    pub anchor: [u8; 32],
    /// The state.
    pub state: Vec<u8>,
}

/// The rows of one session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Which log they are of.
    pub identity: Identity,
    /// The rows.
    pub rows: Vec<Row>,
}

/// Digests a stored event, so that a row can tell that a log still holds it.
pub fn anchor(stored: &Stored<'_>) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&stored.seq.to_le_bytes());
    hasher.update(&stored.time_ms.to_le_bytes());
    for part in [Some(stored.kind.as_bytes()), Some(stored.data), stored.sources, stored.surface] {
        let length = part.map_or(u64::MAX, |part| part.len() as u64);
        hasher.update(&length.to_le_bytes());
        hasher.update(part.unwrap_or_default());
    }
    *hasher.finalize().as_bytes()
}

impl Record {
    /// Writes the record.
    pub fn encode(&self) -> Vec<u8> {
        fn part(bytes: &mut Vec<u8>, part: &[u8]) {
            bytes.extend_from_slice(&(part.len() as u64).to_le_bytes());
            bytes.extend_from_slice(part);
        }
        let mut bytes = MAGIC.to_vec();
        part(&mut bytes, self.identity.created.as_bytes());
        part(&mut bytes, self.identity.cwd.as_bytes());
        for row in &self.rows {
            part(&mut bytes, row.key.as_bytes());
            bytes.extend_from_slice(&row.version.to_le_bytes());
            bytes.extend_from_slice(&row.seq.to_le_bytes());
            bytes.extend_from_slice(&row.anchor);
            part(&mut bytes, &row.state);
        }
        let check = blake3::hash(&bytes);
        bytes.extend_from_slice(check.as_bytes());
        bytes
    }

    /// Reads a record; nothing if the bytes are no valid one.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        if bytes.len() > RECORD_BYTES_MAX {
            return None;
        }
        let (body, check) = bytes.split_at_checked(bytes.len().checked_sub(CHECK_BYTES)?)?;
        if blake3::hash(body).as_bytes() != check {
            return None;
        }
        let mut rest = Rest(body.strip_prefix(MAGIC)?);
        let identity = Identity { created: rest.text()?, cwd: rest.text()? };
        let mut rows = Vec::new();
        while !rest.0.is_empty() {
            rows.push(Row {
                key: rest.text()?,
                version: u32::from_le_bytes(rest.fixed()?),
                seq: u64::from_le_bytes(rest.fixed()?),
                anchor: rest.fixed()?,
                state: rest.part()?.to_vec(),
            });
        }
        Some(Self { identity, rows })
    }
}

/// What is left of a record that is read.
struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    fn fixed<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (front, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*front)
    }

    fn part(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(u64::from_le_bytes(self.fixed()?)).ok()?;
        let (front, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(front)
    }

    fn text(&mut self) -> Option<String> {
        String::from_utf8(self.part()?.to_vec()).ok()
    }
}
