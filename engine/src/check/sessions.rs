//! Every session of a store: how its frames follow each other, and the sink that takes its events.

use super::batch::Decoded;
use super::finding::{Finding, Weight};
use super::hand::hand_over;
use super::rounds::{Due, Round};
use super::sheet::Sheet;
use super::{SessionCheck, SessionSink, Settings, Sinks};
use crate::backend::RecordedRules;
use crate::log::body::{Body, BodyFault, Created};
use crate::log::chain::{SessionKey, StoreId};
use crate::log::envelope::Envelopes;
use crate::log::frame::FrameHead;
use crate::log::records::Records;
use crate::rules::SessionHeader;
use rayon::prelude::*;
use std::collections::HashMap;
use std::sync::Arc;

/// How many findings of one session are kept.
const FINDINGS_MAX: usize = 100;

/// One session.
struct Session<S> {
    key: SessionKey,
    last_lsn: u64,
    next_seq: u64,
    /// What is told of it; nothing of one that was deleted, or that this version cannot follow.
    /// Without a sink where there is no room for one in this round.
    check: Option<SessionCheck<Option<S>>>,
    is_deleted: bool,
    /// What the state of its sink takes.
    state_bytes: usize,
}

/// Events that wait to be taken: of which session, and the frames by their place in the batch,
/// with the rules in force there.
struct Waiting<S> {
    session: usize,
    check: SessionCheck<Option<S>>,
    frames: Vec<(usize, Option<Arc<RecordedRules>>)>,
}

/// Every session of a store.
pub(super) struct Sessions<'s, S: Sinks> {
    sinks: &'s S,
    pub(super) settings: Settings,
    round: Round,
    pub(super) store_id: StoreId,
    /// What the states of all sinks take.
    state_bytes: usize,
    by_key: HashMap<SessionKey, usize>,
    all: Vec<Session<S::Sink>>,
    waiting: Vec<Waiting<S::Sink>>,
    /// Where in `waiting` a session is.
    waits: HashMap<usize, usize>,
    rules: Option<Arc<RecordedRules>>,
    sheet: Sheet,
}

impl<'s, S: Sinks> Sessions<'s, S> {
    pub(super) fn new(sinks: &'s S, settings: Settings, round: Round) -> Self {
        Self {
            sinks,
            settings,
            round,
            store_id: StoreId::default(),
            state_bytes: 0,
            by_key: HashMap::new(),
            all: Vec::new(),
            waiting: Vec::new(),
            waits: HashMap::new(),
            rules: None,
            sheet: Sheet::default(),
        }
    }

    /// Begins a segment.
    pub(super) fn segment(&mut self) {
        self.sheet = Sheet::default();
    }

    /// Takes a frame that follows, the one at `index` of its batch; says what is wrong with it.
    pub(super) fn take(
        &mut self,
        index: usize,
        decoded: &Decoded<'_>,
        segment: u64,
        say: &mut dyn FnMut(Finding),
    ) {
        let head = &decoded.frame.head;
        if let Round::Further(due) = &self.round
            && head.lsn > due.last_lsn
        {
            return;
        }
        let place = |finding: Finding| finding.at(segment, head.offset).of(head.lsn);
        let mut last_time_ms = None;
        match &decoded.body {
            Err(BodyFault::Fork) => {
                let message = "the session is a fork, which this version cannot read";
                say(place(Finding::new("format/unsupported", Weight::Unsupported, message)));
                self.add(head, None);
            }
            Err(BodyFault::Head(what) | BodyFault::Body(what)) => {
                let kind = format!("{:?}", head.kind).to_lowercase();
                let message = format!("{what} of this {kind} frame is not what its kind demands");
                say(place(Finding::violation("frame/malformed", message)));
                self.pass(head);
            }
            Ok(Body::Watermark) => {}
            Ok(Body::Rules(rules)) => self.rules = Some(Arc::new(rules.clone())),
            Ok(Body::Table(table)) => {
                let id = |key: &SessionKey| self.id(key);
                if let Some(message) = self.sheet.differs(table, id) {
                    say(place(Finding::violation("frame/table", message)));
                }
            }
            Ok(Body::Create(created)) => {
                last_time_ms = last_time(&created.records);
                if self.create(head, created, &mut |finding| say(place(finding))) {
                    self.wait(index, head);
                }
            }
            Ok(Body::Data(records)) => {
                last_time_ms = last_time(records);
                if self.follows(head, segment, &mut |finding| say(place(finding))) {
                    self.wait(index, head);
                }
            }
            Ok(Body::Delete { .. }) => {
                if self.follows(head, segment, &mut |finding| say(place(finding))) {
                    self.delete(head);
                }
            }
        }
        if !head.kind.is_of_store() && head.session != SessionKey::STORE {
            self.sheet.take(head, last_time_ms);
        }
    }

    /// Returns the id of a session that was not deleted.
    fn id(&self, key: &SessionKey) -> Option<&str> {
        let at = self.by_key.get(key)?;
        let check = match self.waits.get(at) {
            Some(waiting) => &self.waiting[*waiting].check,
            None => self.all[*at].check.as_ref()?,
        };
        Some(&check.id)
    }

    fn delete(&mut self, head: &FrameHead) {
        let Some(at) = self.by_key.get(&head.session) else { return };
        let session = &mut self.all[*at];
        (session.check, session.is_deleted) = (None, true);
        self.state_bytes -= std::mem::take(&mut session.state_bytes);
        if let Some(waits) = self.waits.remove(at) {
            // Nobody asks what it was any more; whoever waits behind it keeps his place.
            self.waiting[waits].frames.clear();
            self.waiting[waits].session = usize::MAX;
        }
    }

    /// Enters a session.
    fn add(&mut self, head: &FrameHead, check: Option<SessionCheck<Option<S::Sink>>>) {
        let next_seq = head.first_seq.saturating_add(u64::from(head.record_count));
        self.by_key.insert(head.session, self.all.len());
        let is_deleted = false;
        let sink = check.as_ref().and_then(|check| check.sink.as_ref());
        let state_bytes = sink.map_or(0, SessionSink::state_bytes);
        self.state_bytes += state_bytes;
        let (key, last_lsn) = (head.session, head.lsn);
        self.all.push(Session { key, last_lsn, next_seq, check, is_deleted, state_bytes });
    }

    /// Makes a session; says whether the frame does.
    fn create(
        &mut self,
        head: &FrameHead,
        created: &Created<'_>,
        say: &mut dyn FnMut(Finding),
    ) -> bool {
        if SessionKey::of(&self.store_id, created.id) != head.session {
            let message = "the key of the session is not that of its id";
            say(Finding::violation("frame/malformed", message));
        }
        if self.by_key.contains_key(&head.session) {
            let message = "a session of this id was created before";
            say(Finding::violation("frame/created-again", message));
            self.pass(head);
            return false;
        }
        let header = SessionHeader { dialect: created.dialect, json: created.header.to_vec() };
        let sink = self.has_room(&head.session).then(|| self.sinks.session(created.id, &header));
        let check = SessionCheck {
            id: created.id.to_owned(),
            dialect: created.dialect,
            events: 0,
            bytes: 0,
            findings: Vec::new(),
            dropped: 0,
            sink,
        };
        self.add(head, Some(check));
        true
    }

    /// Judges whether a frame is the next one of its session, and adopts it.
    fn follows(&mut self, head: &FrameHead, segment: u64, say: &mut dyn FnMut(Finding)) -> bool {
        let at = self.by_key.get(&head.session).copied();
        let Some(session) = at.map(|at| &mut self.all[at]) else {
            let message = "no frame before this one creates the session";
            say(Finding::violation("frame/no-session", message));
            return false;
        };
        if session.last_lsn != head.session_prev_lsn {
            let message = format!(
                "session_prev_lsn is {}; the session's frame before is lsn {}",
                head.session_prev_lsn, session.last_lsn
            );
            say(Finding::violation("frame/session-link", message));
        }
        let expected = session.next_seq;
        self.pass(head);
        let waiting = at.and_then(|at| self.waits.get(&at)).copied();
        let check = match waiting {
            Some(waiting) => Some(&mut self.waiting[waiting].check),
            None => at.and_then(|at| self.all[at].check.as_mut()),
        };
        let Some(check) = check else {
            if at.is_some_and(|at| self.all[at].is_deleted) {
                let message = "the session was deleted before";
                say(Finding::violation("frame/no-session", message));
            }
            return false;
        };
        if head.first_seq != expected {
            let rule =
                if head.first_seq > expected { "envelope/seq-gap" } else { "envelope/seq-overlap" };
            let message = format!("seq {} follows where {expected} is due", head.first_seq);
            let mut finding = Finding::corrupt(rule, message).at(segment, head.offset).of(head.lsn);
            finding.place.seq = Some(head.first_seq);
            if check.findings.len() < FINDINGS_MAX {
                check.findings.push(finding);
            } else {
                check.dropped += 1;
            }
        }
        true
    }

    /// Adopts what a frame says of its session.
    fn pass(&mut self, head: &FrameHead) {
        if let Some(at) = self.by_key.get(&head.session) {
            let session = &mut self.all[*at];
            session.last_lsn = head.lsn;
            session.next_seq = head.first_seq.saturating_add(u64::from(head.record_count));
        }
    }

    /// Puts the events of a frame into the line.
    fn wait(&mut self, index: usize, head: &FrameHead) {
        let Some(at) = self.by_key.get(&head.session).copied() else { return };
        let waiting = if let Some(waiting) = self.waits.get(&at) {
            *waiting
        } else {
            let session = &mut self.all[at];
            let Some(check) = session.check.take_if(|check| check.sink.is_some()) else {
                if let Some(check) = &mut session.check {
                    check.bytes += head.frame_bytes();
                    check.events += u64::from(head.record_count);
                }
                return;
            };
            self.waits.insert(at, self.waiting.len());
            self.waiting.push(Waiting { session: at, check, frames: Vec::new() });
            self.waiting.len() - 1
        };
        let waiting = &mut self.waiting[waiting];
        waiting.check.bytes += head.frame_bytes();
        waiting.check.events += u64::from(head.record_count);
        waiting.frames.push((index, self.rules.clone()));
    }

    /// Hands the events of a batch to their sinks, sessions in parallel.
    pub(super) fn settle(
        &mut self,
        batch: &[Result<Decoded<'_>, u64>],
        segment: u64,
        durable_lsn: u64,
    ) {
        self.waits.clear();
        let mut waiting = std::mem::take(&mut self.waiting);
        let hand = |waiting: &mut Waiting<S::Sink>| {
            let mut envelopes = Envelopes::default();
            for (index, rules) in std::mem::take(&mut waiting.frames) {
                if let (Ok(decoded), Some(sink)) = (&batch[index], &mut waiting.check.sink) {
                    hand_over(
                        decoded,
                        segment,
                        durable_lsn,
                        rules.as_deref(),
                        &mut envelopes,
                        sink,
                    );
                }
            }
        };
        if let [only] = &mut *waiting {
            hand(only);
        } else {
            waiting.par_iter_mut().for_each(hand);
        }
        for mut waiting in waiting {
            let Some(session) = self.all.get_mut(waiting.session) else { continue };
            if let Round::Further(due) = &self.round
                && due.ends.get(&session.key) == Some(&session.last_lsn)
                && let Some(sink) = &mut waiting.check.sink
            {
                sink.end(waiting.check.events, due.is_at_rest);
            }
            let bytes = waiting.check.sink.as_ref().map_or(0, SessionSink::state_bytes);
            self.state_bytes = self.state_bytes - session.state_bytes + bytes;
            (session.state_bytes, session.check) = (bytes, Some(waiting.check));
        }
        if self.state_bytes / 2 > self.settings.states_bytes_max {
            self.shed();
        }
    }

    /// Returns whether a session that begins is judged in this round.
    fn has_room(&self, key: &SessionKey) -> bool {
        let is_due = match &self.round {
            Round::First => true,
            Round::Further(due) => due.ends.contains_key(key),
        };
        is_due && self.state_bytes <= self.settings.states_bytes_max
    }

    /// Leaves to a further round what began last; never what began first, so that each round
    /// judges one at least.
    fn shed(&mut self) {
        let judged = self.all.iter_mut().filter(|session| session.state_bytes > 0);
        for session in judged.skip(1).collect::<Vec<_>>().into_iter().rev() {
            if self.state_bytes <= self.settings.states_bytes_max {
                return;
            }
            self.state_bytes -= std::mem::take(&mut session.state_bytes);
            if let Some(check) = &mut session.check {
                check.sink = None;
            }
        }
    }

    /// Returns the sessions that were judged and not deleted, after their end, and those that are
    /// left to a further round.
    pub(super) fn finish(self, is_at_rest: bool) -> (Vec<SessionCheck<S::Sink>>, Due) {
        let (is_at_rest, is_first, last_lsn, ends) = match self.round {
            Round::First => (is_at_rest, true, u64::MAX, HashMap::new()),
            Round::Further(due) => (due.is_at_rest, false, due.last_lsn, due.ends),
        };
        let mut left = Due { ends: HashMap::new(), last_lsn, is_at_rest };
        let mut judged = Vec::new();
        for session in self.all {
            let Some(check) = session.check else { continue };
            let SessionCheck { id, dialect, events, bytes, findings, dropped, sink } = check;
            if let Some(mut sink) = sink {
                if is_first {
                    sink.end(events, is_at_rest);
                }
                judged.push(SessionCheck { id, dialect, events, bytes, findings, dropped, sink });
            } else if is_first || ends.contains_key(&session.key) {
                left.ends.insert(session.key, session.last_lsn);
            }
        }
        (judged, left)
    }
}

fn last_time(records: &Records<'_>) -> Option<u64> {
    records.iter().last().map(|record| record.time_ms)
}
