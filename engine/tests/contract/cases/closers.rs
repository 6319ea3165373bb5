//! What a dead writer left open is closed once in an epoch.

use crate::bench::{Bench, Opened, SYNCED, notes};
use crate::content::read;
use crate::world::start_or_end;
use std::sync::Barrier;
use std::thread;

fn kinds(opened: &Opened) -> Vec<String> {
    read(&opened.store, "a").into_iter().map(|event| event.kind).collect()
}

fn left_open(bench: &Bench) -> Opened {
    let opened = bench.open();
    let session = opened.make("a", &[0]);
    session.append([start_or_end("turn/start")], SYNCED).expect("lawful");
    opened
}

pub(crate) fn two_threads_that_open_a_session_close_it_once(bench: &Bench) -> Opened {
    drop(left_open(bench));
    let killed = bench.killed();
    let opened = killed.open();
    assert_eq!(kinds(&opened).len(), 2, "who only reads closes nothing");
    let start = Barrier::new(2);
    let handles: Vec<_> = thread::scope(|scope| {
        let open = || {
            start.wait();
            opened.session("a").expect("it is there")
        };
        let both = [scope.spawn(open), scope.spawn(open)];
        both.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    assert_eq!(handles[0], handles[1]);
    assert_eq!(kinds(&opened), ["plan/mode", "turn/start", "plan/mode", "turn/end"]);
    let session = opened.session("a").expect("it is there");
    session.append([start_or_end("turn/start")], SYNCED).expect("lawful");
    // A further handle, or a session that was let go, is of the same epoch.
    opened.release("a").expect("the gate is free");
    let session = opened.session("a").expect("it is there");
    session.append([start_or_end("turn/end")], SYNCED).expect("its turn is open");
    assert_eq!(kinds(&opened).len(), 6);
    bench.open()
}

pub(crate) fn a_turn_of_this_epoch_is_closed_by_the_next(bench: &Bench) -> Opened {
    let opened = left_open(bench);
    let epoch = opened.backend.epoch();
    opened.reopen().expect("nothing fails");
    assert!(!opened.parts().tells_torn_from_rot || opened.backend.epoch() > epoch);
    assert_eq!(kinds(&opened).len(), 2);
    for _ in 0..3 {
        let session = opened.session("a").expect("it is there");
        session.append(notes([5]), SYNCED).expect("lawful");
    }
    let all = kinds(&opened);
    assert_eq!(all.iter().filter(|kind| *kind == "turn/end").count(), 1);
    assert_eq!(all[3], "turn/end");
    opened.reopen().expect("nothing fails");
    opened.session("a").expect("it is there");
    assert_eq!(kinds(&opened), all, "nothing is open");
    opened
}
