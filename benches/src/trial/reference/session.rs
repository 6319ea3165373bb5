//! Bodies, and what they make of a session: section 6.

use super::bytes::{digest, is_zero, number};
use super::frame::Frame;
use std::collections::BTreeMap;

/// One event of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its place in the session.
    pub seq: u64,
    /// When it was appended.
    pub time_ms: u64,
    /// The text of its envelope.
    pub envelope: Vec<u8>,
    /// The text of its payload.
    pub payload: Vec<u8>,
}

/// One session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Session {
    /// Number of the host's format that its header is in.
    pub dialect: u64,
    /// The text of its header.
    pub header: Vec<u8>,
    /// Its events.
    pub events: Vec<Event>,
    /// The lsn of its last frame.
    pub last_lsn: u64,
    /// Whether it was deleted.
    pub is_deleted: bool,
    /// Why a frame of it is ill formed or out of order, if one is.
    pub fault: Option<&'static str>,
}

/// Makes the sessions of a store of its frames, in the order of their lsns.
pub(super) fn sessions(
    store_id: &[u8; 16],
    frames: &[(Frame, &[u8])],
) -> BTreeMap<String, Session> {
    let mut ids: BTreeMap<[u8; 16], String> = BTreeMap::new();
    let mut sessions: BTreeMap<String, Session> = BTreeMap::new();
    for (frame, body) in frames.iter().filter(|(frame, _)| frame.session != [0; 16]) {
        let mut born = None;
        if frame.kind == 2 {
            born = create(body).filter(|(id, ..)| {
                frame.session == digest(&[store_id, id.as_bytes()]) && !sessions.contains_key(id)
            });
            let Some((id, session, _)) = &born else { continue };
            ids.insert(frame.session, id.clone());
            sessions.insert(id.clone(), session.clone());
        }
        let Some(id) = ids.get(&frame.session) else { continue };
        let session = sessions.get_mut(id).expect("its id is known");
        if session.last_lsn != frame.session_prev_lsn || session.is_deleted {
            session.fault = Some("its frames are no chain");
        }
        session.last_lsn = frame.lsn;
        let next_seq = session.events.len() as u64;
        if frame.first_seq != next_seq {
            session.fault = Some("its seqs are not dense");
        }
        let rows = born.map_or(*body, |(_, _, rows)| rows);
        match (frame.kind, events(frame, rows)) {
            (1 | 2, Some(events)) => session.events.extend(events),
            (5, _) if frame.record_count == 0 && *body == deletion(frame, next_seq) => {
                session.is_deleted = true;
            }
            _ => session.fault = Some("a body is ill formed"),
        }
    }
    sessions
}

/// The id, the session and the rest of a create frame's body (6.2).
fn create(body: &[u8]) -> Option<(String, Session, &[u8])> {
    let sizes = body.get(..16).filter(|sizes| is_zero(&sizes[12..]))?;
    let (id_bytes, header_bytes) = (number(sizes, 0, 4) as usize, number(sizes, 4, 4) as usize);
    let id = body.get(16..16 + id_bytes).filter(|id| (1..=1024).contains(&id.len()))?;
    let header = body.get(16 + id_bytes..16 + id_bytes + header_bytes)?;
    let id = String::from_utf8(id.to_vec()).ok()?;
    let dialect = number(sizes, 8, 4);
    let session = Session { dialect, header: header.to_vec(), ..Session::default() };
    (header_bytes <= 1 << 20).then_some((id, session, &body[16 + id_bytes + header_bytes..]))
}

/// The events of a body, from the key on (6.1).
fn events(frame: &Frame, mut rest: &[u8]) -> Option<Vec<Event>> {
    if frame.flags == 1 {
        rest = rest.get(16..)?;
    }
    let mut events = Vec::new();
    for place in 0..frame.record_count {
        let head = rest.get(..16)?;
        let (envelope_bytes, payload_bytes) = (number(head, 8, 4), number(head, 12, 4));
        let payload_at = 16 + envelope_bytes as usize;
        let end = payload_at + payload_bytes as usize;
        events.push(Event {
            seq: frame.first_seq + place,
            time_ms: number(head, 0, 8),
            envelope: rest.get(16..payload_at)?.to_vec(),
            payload: rest.get(payload_at..end)?.to_vec(),
        });
        rest = &rest[end..];
    }
    rest.is_empty().then_some(events)
}

/// The body of a delete frame (6.5).
fn deletion(frame: &Frame, next_seq: u64) -> Vec<u8> {
    [&frame.session[..], &next_seq.wrapping_sub(1).to_le_bytes()].concat()
}
