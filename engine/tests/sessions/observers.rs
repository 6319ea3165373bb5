//! Observers: in order, when the gate is free, on the thread that committed.

use crate::toy::{Door, Notes, SYNCED, World, draft, note, numbers, refusal};
use gatelog_engine::backend::{Refusal, Stored};
use gatelog_engine::companion::{Fold, Projection};
use gatelog_engine::event::Event;
use gatelog_engine::store::{Observer, Session};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;

/// Does something at each event.
struct Does<F>(F);

impl<F: Fn(&str, u64) + Send + Sync> Observer for Does<F> {
    fn committed(&self, id: &str, event: &Stored<'_>) {
        (self.0)(id, event.seq);
    }

    fn rewound(&self, _: &str, _: u64) {}
}

#[test]
fn observers_of_the_store_and_of_the_session_see_what_comes_after_them() {
    let world = World::new();
    let (all, one) = (Arc::new(Notes::default()), Arc::new(Notes::default()));
    let early = world.session("early");
    early.append([note(1)], SYNCED).expect("it is lawful");
    world.store.observe(all.clone());
    early.observe(one.clone());
    early.append([note(2), note(3)], SYNCED).expect("it is lawful");
    let late = world.store.create("late", &crate::toy::header(), |init| {
        init.append(note(1));
        Ok(())
    });
    late.expect("it is lawful").append([note(2)], SYNCED).expect("it is lawful");
    refusal(early.append([draft("close")], SYNCED));
    assert_eq!(all.all(), ["early+1", "early+2", "late+0", "late+1"]);
    assert_eq!(one.all(), ["early+1", "early+2"]);
}

#[test]
fn an_observer_sees_the_event_as_a_reader_would() {
    struct Sees(Mutex<Vec<String>>);
    impl Observer for Sees {
        fn committed(&self, _: &str, event: &Stored<'_>) {
            self.0.lock().expect("no panic").push(format!("{event:?}"));
        }
        fn rewound(&self, _: &str, _: u64) {}
    }
    for vault in [crate::vault::Vault::new(), crate::vault::Vault::plain()] {
        let world = World::of(vault);
        let session = world.session("s");
        let sees = Arc::new(Sees(Mutex::default()));
        session.observe(sees.clone());
        session.append([note(1).appended(), note(2).citing(&[0])], SYNCED).expect("lawful");
        let _ = session.append_keyed([3; 16], [draft("open"), note(3)], crate::toy::WRITTEN);
        let mut read = Vec::new();
        let reads = session.read(0, &mut |stored| {
            read.push(format!("{stored:?}"));
            std::ops::ControlFlow::Continue(())
        });
        reads.expect("it can be read");
        assert_eq!(*sees.0.lock().expect("no panic"), read);
    }
}

#[test]
fn an_observer_that_appends_is_refused_and_contained() {
    let world = World::new();
    let session = world.session("s");
    let refused = Arc::new(Mutex::new(Vec::new()));
    let (own, said) = (session.clone(), Arc::clone(&refused));
    session.observe(Arc::new(Does(move |_: &str, _| {
        let refusal = refusal(own.append([note(9)], SYNCED));
        said.lock().expect("no panic").push(format!("{refusal:?}"));
        panic!("and it panics");
    })));
    let notes = Arc::new(Notes::default());
    session.observe(notes.clone());
    session.append([note(1), note(2)], SYNCED).expect("it is lawful");
    session.append([note(3)], SYNCED).expect("it is lawful");
    assert_eq!(*refused.lock().expect("no panic"), ["Reentrant", "Reentrant", "Reentrant"]);
    assert_eq!(notes.all(), ["s+0", "s+1", "s+2"]);
    assert_eq!(numbers(&session), [1, 2, 3]);
}

#[test]
fn an_observer_may_append_to_another_session_but_not_back_through_it() {
    let world = World::new();
    let (one, two) = (world.session("one"), world.session("two"));
    let back = Arc::new(OnceLock::new());
    let (to, said) = (two.clone(), Arc::clone(&back));
    one.observe(Arc::new(Does(move |_: &str, seq| {
        to.append([note(seq)], SYNCED).expect("its gate is free");
    })));
    let to = one.clone();
    two.observe(Arc::new(Does(move |_: &str, _| {
        let refused = refusal(to.append([note(9)], SYNCED));
        said.set(matches!(refused, Refusal::Reentrant)).expect("once");
    })));
    one.append([note(1)], SYNCED).expect("it is lawful");
    assert_eq!(numbers(&two), [0]);
    assert_eq!(back.get(), Some(&true));
}

#[test]
fn an_observer_may_wait_for_another_thread_that_appends() {
    let world = World::new();
    let session = world.session("s");
    let own: Session = session.clone();
    session.observe(Arc::new(Does(move |_: &str, seq| {
        if seq == 0 {
            let other = own.clone();
            let appends = thread::spawn(move || other.append([note(2)], SYNCED));
            let commit = appends.join().expect("no panic").expect("the gate is free");
            assert_eq!(commit.first_seq, 1);
        }
    })));
    let notes = Arc::new(Notes::default());
    session.observe(notes.clone());
    session.append([note(1)], SYNCED).expect("it is lawful");
    assert_eq!(notes.all(), ["s+0", "s+1"], "what went through is observed next");
    assert_eq!(numbers(&session), [1, 2]);
}

#[test]
fn each_observer_sees_dense_seqs_while_four_threads_commit() {
    let world = World::new();
    let session = world.session("s");
    let all = [Arc::new(Notes::default()), Arc::new(Notes::default())];
    session.observe(all[0].clone());
    world.store.observe(all[1].clone());
    thread::scope(|scope| {
        for _ in 0..4 {
            let session = &session;
            scope.spawn(move || {
                for n in 0..100 {
                    session.append([note(n), note(n)], SYNCED).expect("it is lawful");
                }
            });
        }
    });
    let expected: Vec<_> = (0..800).map(|seq| format!("s+{seq}")).collect();
    for notes in all {
        assert_eq!(notes.await_count(800), expected);
    }
}

#[test]
fn an_observer_that_blocks_delays_no_other_of_a_thousand_sessions() {
    let world = World::new();
    let sessions: Vec<_> = (0..1000).map(|n| world.session(&format!("s{n}"))).collect();
    let door = Arc::new(Door::default());
    let shut = Arc::clone(&door);
    sessions[500].observe(Arc::new(Does(move |_: &str, _| shut.pass())));
    thread::scope(|scope| {
        scope.spawn(|| sessions[500].append([note(1)], SYNCED).expect("it is lawful"));
        door.await_knock();
        for session in &sessions {
            session.append([note(2)], SYNCED).expect("even its own gate is free");
        }
        door.open();
    });
    assert_eq!(world.vault.writes(), 2001);
}

/// The sum of the numbers in notes; panics at 13.
#[derive(Default)]
struct Sum(f64);

impl Fold for Sum {
    fn fold(&mut self, event: &Event<'_>) {
        let number = event.field("n").and_then(|n| n.as_number()).unwrap_or(0.0);
        self.0 += number;
        assert!(number != 13.0, "a projection panics");
    }
}

impl Projection for Sum {
    type View = f64;

    fn name(&self) -> &'static str {
        "sum"
    }

    fn version(&self) -> u32 {
        1
    }

    fn view(&self) -> f64 {
        self.0
    }
}

#[test]
fn a_projection_follows_its_session_from_wherever_it_was_made() {
    let world = World::new();
    let session = world.session("s");
    session.append([note(1), note(2)], SYNCED).expect("it is lawful");
    let sum = session.project(Sum::default).expect("the gate is free");
    assert_eq!(sum.view().expect("it can be read"), (3.0, 2));
    session.append([note(4)], SYNCED).expect("it is lawful");
    session.append([note(8)], crate::toy::BUFFERED).expect("it is accepted");
    assert_eq!(sum.view().expect("it can be read"), (15.0, 4));
    world.vault.rewind("s", 3);
    assert!(session.append([note(9)], SYNCED).is_err(), "it is told");
    assert_eq!(sum.view().expect("it can be read"), (7.0, 3));
    session.append([note(16)], SYNCED).expect("it is lawful");
    assert_eq!(sum.view().expect("it can be read"), (23.0, 4));
    let later = session.project(Sum::default).expect("the gate is free");
    assert_eq!(later.view().expect("it can be read"), (23.0, 4));
}

#[test]
fn a_projection_that_panics_is_folded_again_and_disturbs_nobody() {
    let world = World::new();
    let session = world.session("s");
    let sum = session.project(Sum::default).expect("the gate is free");
    assert_eq!(sum.view().expect("it can be read"), (0.0, 0));
    session.append([note(1), note(13), note(2)], SYNCED).expect("it is lawful");
    let again = sum.clone();
    assert!(thread::spawn(move || again.view()).join().is_err(), "it panics at 13 again");
    session.append([note(3)], SYNCED).expect("it is lawful");
    assert_eq!(numbers(&session), [1, 13, 2, 3]);
}
