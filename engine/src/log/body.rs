//! Bodies of frames: what a frame's kind says lies behind its header.
//!
//! | kind | body |
//! |---|---|
//! | data | `[key 16]`, records |
//! | create | `id_bytes` 4, `header_bytes` 4, dialect 4, zeros 4, id, header, then as data |
//! | watermark | nothing |
//! | close, rotate | the session table of the segment |
//! | delete | key of the session 16, `last_seq` 8 (2⁶⁴ − 1 where it had no event) |
//! | rules | version 4, `type_count` 4, `profile_bytes` 4, zeros 4, profile, types |
//!
//! A record is `time_ms` 8, `envelope_bytes` 4, `payload_bytes` 4, envelope, payload. A type is
//! `kind_bytes` 4, `owner_bytes` 4, flags 4 (1: on the surface), zeros 4, kind, owner. The key is
//! there if and only if the header's flag says so.
//!
//! A frame is well formed if and only if its body is exactly this and its header is what its kind
//! asks for. That is no part of being valid: no crash makes a valid frame that is ill formed.

use super::chain::SessionKey;
use super::encoded::Encoded;
use super::field::{Front, is_zero};
use super::frame::{Frame, FrameHead, Kind};
use super::limit::{HEADER_BYTES_MAX, ID_BYTES_MAX, RECORDS_MAX, RULES_TYPES_MAX, SEQ_MAX};
use super::records::{self, Records};
use super::table::{self, SessionRow, Table};
use crate::backend::{Batch, Limited, RecordedRules, Refusal};
use crate::rules::SessionHeader;

/// The flag of a type whose events stand on the surface.
const ON_SURFACE: u32 = 1;

/// A body that was read. What it borrows is the frame's.
#[derive(Clone, Debug)]
pub(crate) enum Body<'a> {
    /// A batch of a session.
    Data(Records<'a>),
    /// The first batch of a session.
    Create(Created<'a>),
    /// Nothing.
    Watermark,
    /// The session table of a segment that ended, by `Close` or `Rotate`.
    Table(Table<'a>),
    /// A session is deleted; seq of its last event, or 2⁶⁴ − 1.
    Delete {
        /// Seq of its last event, or 2⁶⁴ − 1 where it had none.
        last_seq: u64,
    },
    /// The rules in force from here on.
    Rules(RecordedRules),
}

/// How a session begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Created<'a> {
    /// The id.
    pub(crate) id: &'a str,
    /// The host format whose vocabulary applies.
    pub(crate) dialect: u32,
    /// The header, as the host's format writes it.
    pub(crate) header: &'a [u8],
    /// Its first events, if any.
    pub(crate) records: Records<'a>,
}

/// Why a valid frame is not well formed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyFault {
    /// The kind does not go with the header's other fields; which.
    Head(&'static str),
    /// The body is shorter or longer than what it holds; or a part of it is out of its range.
    Body(&'static str),
    /// The kind is of a version of the engine that knows forks.
    Fork,
}

/// Encodes a batch.
pub(crate) fn encode_data(batch: &Batch, frame_bytes_max: u64) -> Result<Encoded, Refusal> {
    if batch.rows.is_empty() {
        return Err(Refusal::Empty);
    }
    encode_batch(Kind::Data, batch, &[], frame_bytes_max)
}

/// Encodes the first batch of a session.
pub(crate) fn encode_create(
    id: &str,
    header: &SessionHeader,
    batch: &Batch,
    frame_bytes_max: u64,
) -> Result<Encoded, Refusal> {
    if id.is_empty() {
        return Err(Refusal::Malformed { what: "the id of the session is empty".into() });
    }
    within(Limited::IdBytes, id.len(), ID_BYTES_MAX)?;
    within(Limited::HeaderBytes, header.json.len(), HEADER_BYTES_MAX)?;
    let mut front = [0; 16];
    front[..4].copy_from_slice(&(id.len() as u32).to_le_bytes());
    front[4..8].copy_from_slice(&(header.json.len() as u32).to_le_bytes());
    front[8..12].copy_from_slice(&header.dialect.to_le_bytes());
    encode_batch(Kind::Create, batch, &[&front, id.as_bytes(), &header.json], frame_bytes_max)
}

/// Encodes the statement that everything before is durable.
pub(crate) fn encode_watermark() -> Encoded {
    Encoded::of_store(Kind::Watermark, 0, |_| ())
}

/// Encodes the end of a segment: `Close` or `Rotate`.
pub(crate) fn encode_table(kind: Kind, rows: &[SessionRow]) -> Encoded {
    debug_assert!(kind.has_table());
    let id_bytes = rows.iter().filter_map(|row| row.id.as_ref()).map(String::len).sum();
    let bytes = table::bytes_for(rows.len(), id_bytes) as usize;
    Encoded::of_store(kind, bytes, |body| table::encode_into(body, rows))
}

/// Encodes the deletion of a session whose next event would have had `next_seq`.
pub(crate) fn encode_delete(key: SessionKey, next_seq: u64) -> Encoded {
    let mut encoded = Encoded::of_store(Kind::Delete, 24, |body| {
        body.extend_from_slice(&key.0);
        body.extend_from_slice(&next_seq.wrapping_sub(1).to_le_bytes());
    });
    encoded.first_seq = next_seq;
    encoded
}

/// Encodes the rules in force.
pub(crate) fn encode_rules(
    rules: &RecordedRules,
    frame_bytes_max: u64,
) -> Result<Encoded, Refusal> {
    within(Limited::Records, rules.types.len(), RULES_TYPES_MAX as usize)?;
    let types = rules.types.iter().map(|(kind, owner, _)| 16 + kind.len() + owner.len());
    let body_bytes = 16 + rules.profile.len() + types.sum::<usize>();
    super::encoded::fits(body_bytes as u64, frame_bytes_max)?;
    Ok(Encoded::of_store(Kind::Rules, body_bytes, |body| {
        put_numbers(body, [rules.version, rules.types.len() as u32, rules.profile.len() as u32, 0]);
        body.extend_from_slice(rules.profile.as_bytes());
        for (kind, owner, on_surface) in &rules.types {
            let flags = if *on_surface { ON_SURFACE } else { 0 };
            put_numbers(body, [kind.len() as u32, owner.len() as u32, flags, 0]);
            body.extend_from_slice(kind.as_bytes());
            body.extend_from_slice(owner.as_bytes());
        }
    }))
}

fn put_numbers(body: &mut Vec<u8>, numbers: [u32; 4]) {
    for number in numbers {
        body.extend_from_slice(&number.to_le_bytes());
    }
}

fn within(what: Limited, size: usize, limit: usize) -> Result<(), Refusal> {
    if size <= limit {
        return Ok(());
    }
    Err(Refusal::TooLarge { what, bytes: size as u64, limit: limit as u64 })
}

fn encode_batch(
    kind: Kind,
    batch: &Batch,
    front: &[&[u8]],
    frame_bytes_max: u64,
) -> Result<Encoded, Refusal> {
    within(Limited::Records, batch.rows.len(), RECORDS_MAX as usize)?;
    if batch.first_seq.saturating_add(batch.rows.len() as u64) > SEQ_MAX + 1 {
        return Err(Refusal::Full);
    }
    let front_bytes: usize = front.iter().map(|part| part.len()).sum();
    let body_bytes = front_bytes + records::bytes_of(batch);
    super::encoded::fits(body_bytes as u64, frame_bytes_max)?;
    let mut frame = Encoded::room(body_bytes);
    for part in front {
        frame.extend_from_slice(part);
    }
    records::write(&mut frame, batch)?;
    let mut encoded = Encoded::of(kind, frame);
    encoded.has_key = batch.key.is_some();
    encoded.first_seq = batch.first_seq;
    encoded.record_count = batch.rows.len() as u32;
    Ok(encoded)
}

/// Makes a body usable: judges whether a valid frame is well formed.
pub(crate) fn decode<'a>(frame: &Frame<'a>) -> Result<Body<'a>, BodyFault> {
    let head = &frame.head;
    judge_head(head).map_err(BodyFault::Head)?;
    let mut front = Front(frame.body);
    let body = match head.kind {
        Kind::Data => records(head, frame.body).map(Body::Data),
        Kind::Create => created(head, &mut front).map(Body::Create),
        Kind::Watermark => frame.body.is_empty().then_some(Body::Watermark).ok_or("the body"),
        Kind::Close | Kind::Rotate => match Table::parse(frame.body) {
            Ok(table) => Ok(Body::Table(table)),
            Err(_) => Err("the length of the table"),
        },
        Kind::Delete => deleted(head, front),
        Kind::Rules => rules(&mut front).map(Body::Rules),
        Kind::Fork => return Err(BodyFault::Fork),
    };
    body.map_err(BodyFault::Body)
}

/// Names the first field of a header that does not go with its kind.
fn judge_head(head: &FrameHead) -> Result<(), &'static str> {
    let Some(end_seq) = head.first_seq.checked_add(u64::from(head.record_count)) else {
        return Err("first_seq");
    };
    let is_first = matches!(head.kind, Kind::Create | Kind::Fork);
    let is_of_store = head.kind.is_of_store();
    let counts = match head.kind {
        Kind::Data | Kind::Fork => 1..=RECORDS_MAX,
        Kind::Create => 0..=RECORDS_MAX,
        _ => 0..=0,
    };
    let has_no_prev = is_first || is_of_store;
    let is_at_end = head.durable_lsn + 1 == head.lsn;
    let checks = [
        (end_seq <= SEQ_MAX + 1, "first_seq"),
        (head.first_seq == 0 || !(is_of_store || head.kind == Kind::Create), "first_seq"),
        (head.first_seq > 0 || head.kind != Kind::Fork, "first_seq"),
        (counts.contains(&head.record_count), "record_count"),
        (is_of_store == (head.session == SessionKey::STORE), "session"),
        (has_no_prev == (head.session_prev_lsn == 0), "session_prev_lsn"),
        (head.session_prev_lsn < head.lsn, "session_prev_lsn"),
        (!head.has_key || head.kind.has_records(), "flags"),
        (head.kind != Kind::Watermark || is_at_end, "durable_lsn"),
    ];
    checks.into_iter().find(|(holds, _)| !holds).map_or(Ok(()), |(_, field)| Err(field))
}

fn records<'a>(head: &FrameHead, bytes: &'a [u8]) -> Result<Records<'a>, &'static str> {
    Records::parse(bytes, head.has_key, head.record_count)
}

fn created<'a>(head: &FrameHead, front: &mut Front<'a>) -> Result<Created<'a>, &'static str> {
    let mut number = || front.u32().ok_or("the front");
    let (id_bytes, header_bytes) = (number()? as usize, number()? as usize);
    let (dialect, zeros) = (number()?, number()?);
    if zeros != 0 {
        return Err("the zeros of the front");
    }
    if !(1..=ID_BYTES_MAX).contains(&id_bytes) {
        return Err("the length of the id");
    }
    if header_bytes > HEADER_BYTES_MAX {
        return Err("the length of the header");
    }
    let id = front.take(id_bytes).and_then(|id| std::str::from_utf8(id).ok()).ok_or("the id")?;
    let header = front.take(header_bytes).ok_or("the header")?;
    Ok(Created { id, dialect, header, records: records(head, front.0)? })
}

fn deleted<'a>(head: &FrameHead, mut front: Front<'a>) -> Result<Body<'a>, &'static str> {
    let key = front.array().map(SessionKey).ok_or("the key")?;
    let last_seq = front.u64().ok_or("last_seq")?;
    let agrees = key == head.session && last_seq.wrapping_add(1) == head.first_seq;
    if !agrees || !front.0.is_empty() {
        return Err("the session that is deleted");
    }
    Ok(Body::Delete { last_seq })
}

fn rules(front: &mut Front<'_>) -> Result<RecordedRules, &'static str> {
    let [version, type_count, profile_bytes] = numbers(front).ok_or("the front")?;
    if type_count > RULES_TYPES_MAX {
        return Err("the number of types");
    }
    let profile = text(front, profile_bytes).ok_or("the profile")?;
    let mut types = Vec::new();
    for _ in 0..type_count {
        let [kind_bytes, owner_bytes, flags] = numbers(front).ok_or("a type")?;
        let kind = text(front, kind_bytes).ok_or("the name of a type")?;
        let owner = text(front, owner_bytes).ok_or("the owner of a type")?;
        if flags & !ON_SURFACE != 0 {
            return Err("the flags of a type");
        }
        types.push((kind, owner, flags == ON_SURFACE));
    }
    if !front.0.is_empty() {
        return Err("bytes behind the types");
    }
    Ok(RecordedRules { profile, version, types })
}

/// Takes three numbers and the zeros behind them.
fn numbers(front: &mut Front<'_>) -> Option<[u32; 3]> {
    let numbers = [front.u32()?, front.u32()?, front.u32()?];
    front.take(4).filter(|zeros| is_zero(zeros))?;
    Some(numbers)
}

fn text(front: &mut Front<'_>, bytes: u32) -> Option<String> {
    let text = front.take(bytes as usize)?;
    Some(std::str::from_utf8(text).ok()?.to_owned())
}
