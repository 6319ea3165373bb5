//! The events of a frame, handed to the sink of their session.

use super::SessionSink;
use super::batch::Decoded;
use crate::backend::{RecordedRules, Stored};
use crate::event::Place;
use crate::log::body::Body;
use crate::log::envelope::Envelopes;

/// Hands the events of one frame to a sink.
pub(super) fn hand_over(
    decoded: &Decoded<'_>,
    segment: u64,
    durable_lsn: u64,
    rules: Option<&RecordedRules>,
    envelopes: &mut Envelopes,
    sink: &mut impl SessionSink,
) {
    let head = &decoded.frame.head;
    let records = match &decoded.body {
        Ok(Body::Data(records)) => records,
        Ok(Body::Create(created)) => &created.records,
        _ => return,
    };
    for (seq, record) in (head.first_seq..).zip(records.iter()) {
        let place = Place {
            line: None,
            frame: Some(head.lsn),
            byte: Some(head.offset),
            seq: Some(seq),
            segment: Some(segment),
        };
        let envelope = match envelopes.read(record.envelope) {
            Ok(envelope) => envelope,
            Err(what) => {
                sink.malformed(what, place);
                continue;
            }
        };
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
            confirmed: head.lsn <= durable_lsn,
        };
        sink.event(&stored, place, rules);
    }
}
