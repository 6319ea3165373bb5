//! A session is born whole or not at all.

use crate::toy::{SYNCED, World, draft, facts, header, note, numbers, refusal};
use crate::vault::Failure;
use gatelog_engine::backend::{AppendError, Refusal};
use gatelog_engine::rules::Draft;
use gatelog_engine::store::{Creation, Init};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

type Fails = fn(&World);

#[expect(clippy::unnecessary_wraps, reason = "it is an init")]
fn three(init: &mut Init<'_>) -> Result<(), Refusal> {
    init.append(draft("open"));
    init.append(note(1));
    init.append(draft("close"));
    Ok(())
}

#[test]
fn what_init_appends_is_one_batch() {
    let world = World::new();
    let session = world.store.create("s", &header(), three).expect("it is lawful");
    assert_eq!(world.vault.sizes("s"), [3]);
    assert_eq!(world.vault.kinds("s"), ["open", "note", "close"]);
    assert_eq!(facts(&session).events, 3);
    assert_eq!(session.append([note(2)], SYNCED).expect("it is lawful").first_seq, 3);
}

/// Fails at each step of a creation with three drafts, and says whether the session is there.
#[test]
fn a_creation_that_fails_at_any_step_leaves_no_session_or_the_whole_one() {
    let unlawful = |init: &mut Init<'_>| {
        three(init)?;
        init.append(draft("close"));
        Ok(())
    };
    let traps: [(&str, Fails, bool); 9] = [
        ("admit 1", |world| world.levers.admits.set(1, 1), false),
        ("admit 2", |world| world.levers.admits.set(2, 1), false),
        ("admit 3", |world| world.levers.admits.set(3, 1), false),
        ("fork", |world| world.levers.forks.set(1, 1), false),
        ("write", |world| world.vault.fail(0, Failure::NotWritten), false),
        ("lost", |world| world.vault.fail(0, Failure::Unknown { survives: true }), true),
        ("adopt 1", |world| world.levers.adopts.set(1, 1), true),
        ("adopt 2", |world| world.levers.adopts.set(2, 1), true),
        ("adopt 3", |world| world.levers.adopts.set(3, 1), true),
    ];
    for (step, fails, is_there) in traps {
        let world = World::new();
        fails(&world);
        let created = world.store.create("s", &header(), three);
        assert_eq!(created.is_ok(), step.starts_with("adopt"), "{step}: {created:?}");
        assert_eq!(world.vault.has("s"), is_there, "{step}");
        if is_there {
            assert_eq!(world.vault.kinds("s"), ["open", "note", "close"], "{step}");
        } else {
            refusal(world.store.session("s"));
            assert!(world.store.list().expect("it can be read").is_empty(), "{step}");
            world.store.create("s", &header(), three).expect("the id is free");
        }
    }
    let world = World::new();
    refusal(world.store.create("s", &header(), unlawful));
    assert!(!world.vault.has("s"));
}

#[test]
fn an_init_that_refuses_or_panics_leaves_no_session() {
    let world = World::new();
    let refused = refusal(world.store.create("s", &header(), |init| {
        three(init)?;
        Err(Refusal::Unsupported { what: "this".to_owned() })
    }));
    assert!(matches!(refused, Refusal::Unsupported { .. }));
    let refused = refusal(world.store.create("s", &header(), |init| {
        three(init)?;
        panic!("no preset")
    }));
    assert!(matches!(refused, Refusal::Internal { what } if what.contains("no preset")));
    assert!(matches!(refusal(world.store.session("s")), Refusal::NoSession));
    assert_eq!(world.vault.writes(), 0);
    world.store.create("s", &header(), three).expect("the id is free");
}

#[test]
fn ids_that_name_no_session_are_not_remembered() {
    let world = World::new();
    for n in 0..100 {
        refusal(world.store.session(&format!("s{n}")));
        world.levers.admits.set(1, 1);
        refusal(world.store.create(&format!("t{n}"), &header(), three));
    }
    assert_eq!(format!("{:?}", world.store), "Store { live: 0, .. }");
    world.session("s");
    assert_eq!(format!("{:?}", world.store), "Store { live: 1, .. }");
}

#[test]
fn a_session_that_is_there_is_not_created_again() {
    let world = World::new();
    world.session("s");
    assert!(matches!(refusal(world.store.create("s", &header(), three)), Refusal::Exists));
    let later = World::of(world.vault.next_epoch());
    assert!(matches!(refusal(later.store.create("s", &header(), three)), Refusal::Exists));
    later.store.session("s").expect("it is there");
}

#[test]
fn of_many_creations_of_one_id_one_succeeds() {
    let world = World::new();
    let created: Vec<_> = thread::scope(|scope| {
        let tries = (0..8).map(|_| scope.spawn(|| world.store.create("s", &header(), three)));
        let tries: Vec<_> = tries.collect();
        tries.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    assert_eq!(created.iter().filter(|created| created.is_ok()).count(), 1);
    for lost in created.into_iter().filter(Result::is_err) {
        assert!(matches!(refusal(lost), Refusal::Exists));
    }
    assert_eq!(world.vault.sizes("s"), [3]);
}

struct Adds(Vec<Draft>, Mutex<usize>);

impl Creation for Adds {
    fn created(&self, init: &mut Init<'_>) -> Result<(), Refusal> {
        *self.1.lock().expect("no panic") = init.drafts().len();
        if init.id() == "unwanted" {
            return Err(Refusal::Unsupported { what: "this session".to_owned() });
        }
        assert!(init.id() != "panics", "a creation observer panics");
        self.0.iter().for_each(|draft| init.append(draft.clone()));
        Ok(())
    }
}

#[test]
fn who_is_asked_at_creations_adds_to_the_first_batch_or_prevents_it() {
    let world = World::new();
    let adds = Arc::new(Adds(vec![note(7)], Mutex::default()));
    world.store.observe_creations(adds.clone());
    let session = world.store.create("s", &header(), three).expect("it is lawful");
    assert_eq!(*adds.1.lock().expect("no panic"), 3);
    assert_eq!(world.vault.sizes("s"), [4]);
    assert_eq!(numbers(&session), [1, 7]);
    refusal(world.store.create("unwanted", &header(), three));
    let refused = refusal(world.store.create("panics", &header(), three));
    assert!(matches!(refused, Refusal::Internal { .. }));
    assert!(!world.vault.has("unwanted") && !world.vault.has("panics"));
}

#[test]
fn under_init_every_other_way_to_the_session_is_reentrant() {
    let world = World::new();
    let created = world.store.create("s", &header(), |init| {
        assert!(matches!(refusal(world.store.session("s")), Refusal::Reentrant));
        let again = world.store.create("s", &header(), |_| Ok(()));
        assert!(matches!(refusal(again), Refusal::Reentrant));
        world.session("other");
        three(init)
    });
    created.expect("it is lawful");
    assert_eq!(world.vault.sizes("s"), [3]);
}

#[test]
fn a_session_is_seen_when_its_first_batch_has_reached_its_class() {
    let world = World::new();
    world.vault.hold_back(true);
    thread::scope(|scope| {
        let making = scope.spawn(|| world.store.create("s", &header(), three));
        world.vault.await_held(1);
        let opens = scope.spawn(|| world.store.session("s"));
        thread::sleep(Duration::from_millis(30));
        assert!(!opens.is_finished(), "nobody sees it yet");
        world.vault.hold_back(false);
        let created = making.join().expect("no panic").expect("it is lawful");
        assert_eq!(opens.join().expect("no panic").expect("it is there"), created);
    });
}

#[test]
fn who_waits_for_a_creation_that_fails_finds_no_session() {
    let world = World::new();
    world.vault.hold_back(true);
    world.vault.fail(0, Failure::Unknown { survives: false });
    thread::scope(|scope| {
        let making = scope.spawn(|| world.store.create("s", &header(), three));
        world.vault.await_held(1);
        let opens = scope.spawn(|| world.store.session("s"));
        thread::sleep(Duration::from_millis(30));
        world.vault.hold_back(false);
        let created = making.join().expect("no panic");
        assert!(matches!(created, Err(AppendError::Unknown(_))), "{created:?}");
        assert!(matches!(refusal(opens.join().expect("no panic")), Refusal::Poisoned));
    });
}
