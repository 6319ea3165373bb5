//! What every core promises, as bodies that are explored.

use crate::cancel::Cancel;
use crate::core::{Core, Refused};
use crate::flight::Ending;
use crate::sync::{Arc, Mutex, lock};
use shuttle::future::block_on;
use shuttle::thread;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Waker};

/// What the listener says; the default of a request that nobody answers is another value.
const SAID: u8 = 7;
const NOBODY: u8 = 0;

/// Who was told that its ending stands.
#[derive(Clone, Default)]
struct Winners(Arc<Mutex<Vec<Ending<u8>>>>);

impl Winners {
    fn note(&self, stands: bool, ending: Ending<u8>) {
        if stands {
            lock(&self.0).push(ending);
        }
    }

    /// Holds what was told against the ending.
    fn check(&self, ending: &Ending<u8>, signal: Option<&Cancel>) {
        let winners = lock(&self.0).clone();
        if winners.is_empty() {
            let given = signal.is_some_and(Cancel::is_cancelled);
            assert!(given && *ending == Ending::Cancelled, "nobody won, and it is {ending:?}");
        } else {
            assert_eq!(winners, std::slice::from_ref(ending), "not the one ending");
        }
    }
}

/// A listener as the chain drives it: entered, left, and its answer put in.
fn listen<C: Core>(core: &C, winners: &Winners) {
    let value = match core.enter() {
        Ok(claim) => {
            drop(claim);
            SAID
        }
        Err(Refused::Gone) => NOBODY,
        Err(Refused::Void) => {
            assert!(core.is_settled(), "void, and yet open");
            assert!(!core.answer(SAID), "an answer stands behind an ending");
            return;
        }
    };
    winners.note(core.answer(value), Ending::Answered(value));
}

fn told_once<C: Core>(core: &C) -> Ending<u8> {
    let ending = block_on(core.ending());
    assert!(core.is_settled(), "told, and yet open");
    let mut again = pin!(core.ending());
    let polled = again.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    assert!(polled.is_pending(), "told twice");
    ending
}

/// Answer, signal, withdrawal and closing at once: one ending, told once, and it is the winner's.
pub(crate) fn one_ending<C: Core>() {
    let signal = Cancel::new();
    let core = Arc::new(C::make(Some(signal.clone())));
    let winners = Winners::default();
    let (canceller, told) = (core.clone(), winners.clone());
    let subscription = signal.subscribe(move || told.note(canceller.cancel(), Ending::Cancelled));
    let (one, told) = (core.clone(), winners.clone());
    let listener = thread::spawn(move || listen(&*one, &told));
    let (one, told) = (core.clone(), winners.clone());
    let unload = thread::spawn(move || told.note(one.withdraw(), Ending::Withdrawn));
    let (one, told) = (core.clone(), winners.clone());
    let owner = thread::spawn(move || told.note(one.close(), Ending::Closed));
    let given = signal.clone();
    let caller = thread::spawn(move || given.cancel());
    let ending = told_once(&*core);
    for thread in [listener, unload, owner, caller] {
        thread.join().expect("its assertions hold");
    }
    winners.check(&ending, Some(&signal));
    drop(subscription);
}

/// S-069: an answer and a withdrawal: one of the two, never a cancellation.
pub(crate) fn answer_or_withdrawal<C: Core>() {
    let core = Arc::new(C::make(Some(Cancel::new())));
    let winners = Winners::default();
    let (one, told) = (core.clone(), winners.clone());
    let listener = thread::spawn(move || listen(&*one, &told));
    let (one, told) = (core.clone(), winners.clone());
    let unload = thread::spawn(move || told.note(one.withdraw(), Ending::Withdrawn));
    let ending = told_once(&*core);
    listener.join().expect("its assertions hold");
    unload.join().expect("its assertions hold");
    winners.check(&ending, None);
    let lawful = [Ending::Answered(SAID), Ending::Answered(NOBODY), Ending::Withdrawn];
    assert!(lawful.contains(&ending), "unlawful: {ending:?}");
}

/// A listener that keeps what it claimed: the withdrawal ends the request, or it was not entered.
pub(crate) fn withdrawal_ends_what_is_held<C: Core>() {
    let core = Arc::new(C::make(None));
    let one = core.clone();
    let unload = thread::spawn(move || one.withdraw());
    let held = core.enter();
    let ended = unload.join().expect("it does not panic");
    match held {
        Ok(_claim) => {
            assert!(ended, "a withdrawal missed what is held");
            assert_eq!(block_on(core.ending()), Ending::Withdrawn);
        }
        Err(refused) => {
            assert_eq!((refused, ended), (Refused::Gone, false));
            assert!(!core.is_settled(), "a withdrawal ended what had not entered");
        }
    }
}

/// S-066: whoever ends it behind the signal ends it as cancelled, whoever hears of the signal last.
pub(crate) fn cancellation_wins_a_tie<C: Core>() {
    let signal = Cancel::new();
    let core = Arc::new(C::make(Some(signal.clone())));
    let caller = signal.clone();
    let caller = thread::spawn(move || caller.cancel());
    let owner = core.clone();
    let seen = signal.clone();
    let owning = thread::spawn(move || {
        let given = seen.is_cancelled();
        (given, owner.close())
    });
    let given = signal.is_cancelled();
    let answered = core.answer(SAID);
    let (was_given, closed) = owning.join().expect("it does not panic");
    caller.join().expect("it does not panic");
    let ending = block_on(core.ending());
    assert!(!(given && answered), "an answer stands behind a cancellation");
    assert!(!(was_given && closed), "a closing stands behind a cancellation");
    let expected = match (answered, closed) {
        (true, false) => Ending::Answered(SAID),
        (false, true) => Ending::Closed,
        _ => Ending::Cancelled,
    };
    assert_eq!(ending, expected);
}

/// Nobody is entered by whoever can know that the request has ended.
pub(crate) fn nobody_is_entered_behind_an_ending<C: Core>() {
    let core = Arc::new(C::make(None));
    let one = core.clone();
    let owner = thread::spawn(move || one.close());
    let one = core.clone();
    let listener = thread::spawn(move || {
        for _ in 0..2 {
            let settled = one.is_settled();
            let entered = one.enter();
            assert!(!(settled && entered.is_ok()), "entered behind an ending");
        }
    });
    listener.join().expect("nobody is entered behind an ending");
    owner.join().expect("it does not panic");
    assert!(matches!(core.enter(), Err(Refused::Void)), "entered behind an ending");
}

/// Who waits is woken, also if it was polled by somebody else before.
pub(crate) fn no_wake_is_lost<C: Core>() {
    let core = Arc::new(C::make(None));
    let one = core.clone();
    let answerer = thread::spawn(move || one.answer(SAID));
    let mut ending = Box::pin(core.ending());
    let polled = ending.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    if polled.is_pending() {
        assert_eq!(block_on(ending), Ending::Answered(SAID));
    }
    assert!(answerer.join().expect("it does not panic"));
}
