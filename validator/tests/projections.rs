//! Projections are what a naive look through the log gives; a checkpoint never changes an answer;
//! replay does not depend on threads, nor on where the sessions are kept.

#[path = "gate/mod.rs"]
mod gate;
#[path = "naive/mod.rs"]
mod naive;

use gate::story::Story;
use gate::{file, header, with_event};
use gatelog_engine::event::Event;
use gatelog_engine::replay::{Checkpoint, Folding, Projected, Unfit, View};
use gatelog_engine::rules::{Draft, RuleSet, SessionHeader};
use gatelog_validator::facts::Facts;
use gatelog_validator::projection::{Installation, NAMES};
use gatelog_validator::rule::Profile;
use gatelog_validator::standard::Standard;
use proptest::prelude::*;
use serde_json::Value;

/// Tells a log that a gate of a profile admits.
fn log(tape: &[u8], profile: Profile) -> Vec<Draft> {
    let mut story = Story::new(tape, 10);
    let standard = Standard::new(profile);
    let mut live = standard.judge("s", &header()).expect("the header is lawful");
    let mut log = Vec::new();
    while let Some(draft) = story.propose() {
        let mut ahead = live.fork();
        if with_event(&draft, log.len() as u64, |event| ahead.admit(event)).is_ok() {
            live = ahead;
            log.push(draft);
            story.accept();
        }
    }
    log
}

fn all(header: &SessionHeader) -> Vec<Box<dyn Projected>> {
    Installation::default().all(header)
}

fn folding(checkpoints: &[Checkpoint]) -> Folding {
    Folding::resume(&header(), all(&header()), checkpoints)
}

/// Folds drafts, and calls `each` with what stands behind each of them, the start included.
fn fold(folding: &mut Folding, log: &[Draft], each: &mut dyn FnMut(usize, &Folding)) {
    each(0, folding);
    for (seq, draft) in log.iter().enumerate() {
        with_event(draft, seq as u64, |event: &Event<'_>| folding.take(event));
        each(seq + 1, folding);
    }
}

fn shown(views: &[View]) -> Vec<Value> {
    views.iter().map(|view| serde_json::from_str(&view.json).expect("a view is JSON")).collect()
}

/// How many cases run: 100, or what `PROPTEST_CASES` says.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(100)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    #[test]
    fn at_every_seq_each_projection_is_what_a_naive_look_gives(
        tape in proptest::collection::vec(any::<u8>(), 0..400),
        is_strict in any::<bool>(),
    ) {
        let profile = if is_strict { Profile::Strict } else { Profile::Host };
        let log = log(&tape, profile);
        let rows = naive::rows(&log);
        let mut judge = Standard::new(profile).judge("s", &header()).expect("lawful");
        fold(&mut folding(&[]), &log, &mut |seq, folding| {
            let views = folding.views();
            for (name, view) in NAMES.iter().zip(shown(&views)) {
                assert_eq!(view, naive::view(name, &rows[..seq]), "{name} after {seq}");
            }
            if seq > 0 {
                with_event(&log[seq - 1], seq as u64 - 1, |event| {
                    judge.adopt(event, &mut |_| {});
                });
            }
            let facts: &Facts = judge.facts().downcast_ref().expect("facts");
            assert_live(facts, &shown(&views));
        });
    }

    #[test]
    fn a_checkpoint_at_any_seq_gives_the_same_views(
        tape in proptest::collection::vec(any::<u8>(), 0..200),
    ) {
        let log = log(&tape, Profile::Host);
        let mut kept = Vec::new();
        let mut whole = folding(&[]);
        fold(&mut whole, &log, &mut |_, folding| kept.push(folding.checkpoints()));
        for checkpoints in &kept {
            let again = checkpoints.iter().map(Checkpoint::encode);
            let again: Vec<_> = again.filter_map(|bytes| Checkpoint::decode(&bytes)).collect();
            assert_eq!(&again, checkpoints);
            let mut resumed = folding(&again);
            fold(&mut resumed, &log, &mut |_, _| {});
            assert_eq!(resumed.finish(), Ok(()));
            assert_eq!(resumed.views(), whole.views());
            assert_eq!(resumed.checkpoints(), whole.checkpoints());
        }
    }
}

/// What the live state shows is what the projections show.
fn assert_live(facts: &Facts, views: &[Value]) {
    let word =
        |said: &Option<gatelog_validator::facts::Said>| said.as_ref().map(|said| said.word.clone());
    assert_eq!(word(&facts.policy).as_deref().unwrap_or("ask"), views[0]["effective"]);
    assert_eq!(word(&facts.mode).as_deref().unwrap_or("workspace-write"), views[1]["effective"]);
    assert_eq!(facts.seeded, views[2]["seeded"]);
    let open: Vec<_> = facts.asks().iter().map(|ask| ask.seq).collect();
    let shown: Vec<_> = views[3]["open"].as_array().expect("a list").iter().collect();
    let shown: Vec<_> = shown.iter().filter_map(|ask| ask["asked_seq"].as_u64()).collect();
    assert_eq!(open, shown);
    let turns = views[5].as_array().expect("a list");
    let last = turns.last().filter(|turn| turn["end_seq"].is_null());
    assert_eq!(facts.turn.map(|turn| turn.seq), last.and_then(|turn| turn["start_seq"].as_u64()));
}

fn short() -> Vec<Draft> {
    vec![
        Draft::new("approval/policy", r#"{"policy":"never"}"#),
        Draft::new("session/title", r#"{"title":"\ud800","messageSeqs":[],"source":{}}"#),
        Draft::new("approval/policy", r#"{"policy":"ask"}"#),
        Draft::new("todo/write", r#"{"todos":[]}"#),
    ]
}

/// Checkpoints of the title alone, after two events of the short log.
fn of_title() -> Vec<Checkpoint> {
    let mut folding = folding(&[]);
    fold(&mut folding, &short()[..2], &mut |_, _| {});
    folding.checkpoints().into_iter().filter(|it| it.name == "title").collect()
}

/// Folds a log from checkpoints and tells what does not fit.
fn unfit(log: &[Draft], checkpoints: &[Checkpoint]) -> Vec<&'static str> {
    let mut folding = folding(checkpoints);
    fold(&mut folding, log, &mut |_, _| {});
    folding.finish().err().map_or_else(Vec::new, |Unfit { names }| names)
}

#[test]
fn a_checkpoint_of_another_session_is_noticed() {
    assert_eq!(unfit(&short(), &of_title()), [] as [&str; 0]);
    let mut other = short();
    other[0] = Draft::new("approval/policy", r#"{"policy":"ask"}"#);
    assert_eq!(unfit(&other, &of_title()), ["title"]);
    let at_another_seq = Checkpoint { seq: 3, ..of_title().remove(0) };
    assert_eq!(unfit(&short(), &[at_another_seq]), ["title"]);
}

#[test]
fn a_log_that_is_shorter_than_its_checkpoint_is_noticed() {
    assert_eq!(unfit(&short()[..1], &of_title()), ["title"]);
    assert_eq!(unfit(&short()[..2], &of_title()), [] as [&str; 0], "it ends there");
}

#[test]
fn a_checkpoint_of_another_version_is_left_aside() {
    let old = Checkpoint { version: 0, ..of_title().remove(0) };
    assert_eq!(unfit(&short(), &[old]), [] as [&str; 0], "it was never taken up");
    let torn = Checkpoint { state: b"{\"title\":7}".to_vec(), ..of_title().remove(0) };
    assert_eq!(unfit(&short(), &[torn]), ["title"]);
}

#[path = "projections/replay.rs"]
mod replay;

#[path = "projections/usage.rs"]
mod usage;
