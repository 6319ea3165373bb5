//! Many sessions, folded in parallel: from files and from a store.

use super::{Checkpoint, Draft, Profile, all, file, header, log};
use gatelog_engine::backend::{
    AppendError, Backend, Batch, Commit, Done, Durability, Error, ErrorKind, Parts, RecordedRules,
    Refusal, SessionInfo, Stored, Take,
};
use gatelog_engine::dsh::discover::{Alone, Placement, Target};
use gatelog_engine::dsh::name::{Encoding, Generation};
use gatelog_engine::replay::{EventSource, Folded, LogFiles, Replay, fold, replay};
use gatelog_engine::rules::SessionHeader;
use gatelog_engine::storage::{Kind, Memory};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// Sessions in memory, for reading.
struct Shelf(BTreeMap<String, Vec<Draft>>);

const READ_ONLY: AppendError = AppendError::Refused(Refusal::ReadOnly);

impl Backend for Shelf {
    fn parts(&self) -> Parts {
        use gatelog_engine::backend::{AfterFailedWrite, Keys, OneWriter};
        Parts {
            one_writer: OneWriter::Locked,
            tells_torn_from_rot: false,
            order_across_sessions: false,
            keys: Keys::Always,
            after_failed_write: AfterFailedWrite::NewSegment,
            records_rules: false,
            generations: false,
        }
    }

    fn epoch(&self) -> u32 {
        1
    }

    fn sessions(&self) -> Result<Vec<SessionInfo>, Error> {
        self.0.keys().filter_map(|id| self.find(id).transpose()).collect()
    }

    fn find(&self, id: &str) -> Result<Option<SessionInfo>, Error> {
        Ok(self.0.get(id).map(|log| SessionInfo {
            id: id.to_owned(),
            header: header(),
            next_seq: log.len() as u64,
            last_time_ms: 0,
            last_epoch: None,
            unconfirmed: 0,
        }))
    }

    fn read(&self, id: &str, from: u64, take: &mut Take<'_>) -> Result<(), Error> {
        let log = self.0.get(id).ok_or_else(|| Error::new(ErrorKind::NoSession, "none"))?;
        for (seq, draft) in (0..).zip(log).skip(from as usize) {
            let flow = take(&Stored {
                seq,
                time_ms: 1000 + seq,
                kind: &draft.kind,
                data: &draft.data,
                sources: draft.sources.as_deref(),
                surface: draft.surface.as_deref(),
                ignorable: draft.ignorable,
                lsn: None,
                batch_first_seq: seq,
                key: None,
                confirmed: true,
            });
            if flow.is_break() {
                break;
            }
        }
        Ok(())
    }

    fn create(
        &self,
        _: &str,
        _: &SessionHeader,
        _: Batch,
        _: Durability,
    ) -> Result<Commit, AppendError> {
        Err(READ_ONLY)
    }

    fn append(&self, _: &str, _: Batch, _: Durability) -> Result<Commit, AppendError> {
        Err(READ_ONLY)
    }

    fn submit(&self, _: &str, _: Batch, _: Durability, done: Done) {
        done(Err(READ_ONLY));
    }

    fn raise(&self, _: &str, _: Durability) -> Result<(), AppendError> {
        Err(READ_ONLY)
    }

    fn take_rewound(&self, _: &str) -> Option<u64> {
        None
    }

    fn record_rules(&self, _: &RecordedRules) -> Result<(), AppendError> {
        Err(READ_ONLY)
    }

    fn poisoned(&self) -> Option<String> {
        None
    }

    fn reopen(&self) -> Result<(), Error> {
        Err(Error::new(ErrorKind::ReadOnly, "it is for reading"))
    }

    fn close(&self) -> Result<(), Error> {
        Ok(())
    }
}

fn target(path: &str) -> Target {
    Target {
        path: path.into(),
        generation: Some(Generation { number: 0, encoding: Encoding::Plain }),
        encoding: Some(Encoding::Plain),
        placement: Placement::Alone(Alone::Name),
        kind: Kind::Regular,
        hidden_by: None,
    }
}

/// Tells so many sessions, from the bytes of a simple generator.
fn logs(count: u32) -> Vec<Vec<Draft>> {
    (0..count)
        .map(|session| {
            let mut state = session.wrapping_mul(2_654_435_761) | 1;
            let mut next = || {
                state ^= state << 13;
                state ^= state >> 17;
                state ^= state << 5;
                state as u8
            };
            let tape: Vec<u8> = (0..150).map(|_| next()).collect();
            log(&tape, Profile::Host)
        })
        .collect()
}

/// Replays a source, and returns the results with the sessions' names.
fn all_of(source: &dyn EventSource, options: Replay) -> Vec<(String, Folded)> {
    let mut results = Vec::new();
    replay(source, &all, options, &mut |name, folded| {
        results.push((name.to_owned(), folded.expect("the session can be read")));
        ControlFlow::Continue(())
    })
    .expect("the names can be read");
    results
}

#[test]
fn threads_and_stores_do_not_change_a_result() {
    let logs = logs(1000);
    let name = |at: usize| format!("/s{at:04}");
    let memory = logs
        .iter()
        .enumerate()
        .fold(Memory::new(), |memory, (at, log)| memory.file(name(at), file(log)));
    let targets = (0..logs.len()).map(|at| target(&name(at))).collect();
    let files = LogFiles::new(&memory, targets, 1 << 20);
    let one = all_of(&files, Replay { threads: 1, at: None });
    assert_eq!(one.len(), logs.len());
    assert!(one.windows(2).all(|pair| pair[0].0 < pair[1].0), "in the order of the names");
    for threads in [2, 8] {
        assert_eq!(all_of(&files, Replay { threads, at: None }), one);
    }
    let shelf = Shelf(logs.iter().cloned().enumerate().map(|(at, log)| (name(at), log)).collect());
    let backend: &dyn Backend = &shelf;
    assert_eq!(all_of(&backend, Replay { threads: 2, at: None }), one);
}

#[test]
fn at_a_seq_later_events_do_not_count() {
    let log = logs(1).remove(0);
    let shelf = Shelf([("a".to_owned(), log.clone())].into());
    let backend: &dyn Backend = &shelf;
    for at in 0..log.len() as u64 {
        let there = all_of(&backend, Replay { threads: 1, at: Some(at) }).remove(0).1;
        let cut = Shelf([("a".to_owned(), log[..=at as usize].to_vec())].into());
        let cut: &dyn Backend = &cut;
        assert_eq!(there, all_of(&cut, Replay { threads: 1, at: None }).remove(0).1);
        assert_eq!(there.next_seq, at + 1);
    }
}

#[test]
fn a_checkpoint_that_does_not_fit_costs_a_second_look_and_no_answer() {
    let log = logs(1).remove(0);
    let shelf = Shelf([("a".to_owned(), log.clone())].into());
    let backend: &dyn Backend = &shelf;
    let whole = fold(&backend, "a", &all, None, &[]).expect("it can be read");
    let foreign = Checkpoint {
        name: "title".to_owned(),
        version: 1,
        seq: 2,
        digest: [0; 32],
        state: b"{\"title\":null}".to_vec(),
    };
    let again = fold(&backend, "a", &all, None, &[foreign]).expect("it can be read");
    assert_eq!(again.unfit, ["title"]);
    assert_eq!(again.views, whole.views);
    assert!(fold(&backend, "b", &all, None, &[]).is_err());
}

#[test]
fn a_file_that_the_host_refuses_is_an_error_and_no_other_session_suffers() {
    let memory = Memory::new().file("/a", "no header\n").file("/b", file(&logs(1)[0]));
    let files = LogFiles::new(&memory, vec![target("/a"), target("/b"), target("/c")], 1 << 20);
    let mut words = Vec::new();
    replay(&files, &all, Replay::default(), &mut |name, folded| {
        words.push((name.to_owned(), folded.map_err(|error| error.kind).map(drop)));
        ControlFlow::Continue(())
    })
    .expect("the names are known");
    let expected = [("/a", Err(ErrorKind::Corrupt)), ("/b", Ok(())), ("/c", Err(ErrorKind::Io))];
    assert_eq!(words, expected.map(|(name, word)| (name.to_owned(), word)));
}
