//! Appends that are repeated: once in the log, and the first receipt.

use crate::toy::{SYNCED, WRITTEN, World, draft, note, numbers, refusal};
use crate::vault::{Failure, Vault};
use gatelog_engine::backend::{AppendError, Refusal};
use gatelog_engine::rules::Draft;

const KEY: [u8; 16] = [1; 16];
const OTHER: [u8; 16] = [2; 16];

#[test]
fn the_same_key_and_drafts_at_the_same_seq_are_the_first_receipt() {
    let world = World::new();
    let session = world.session("s");
    let drafts = || [note(1), note(2)];
    let first = session.append_expecting(0, KEY, drafts(), SYNCED).expect("it is lawful");
    session.append([note(3)], SYNCED).expect("it is lawful");
    let again = session.append_expecting(0, KEY, drafts(), SYNCED).expect("it was made before");
    assert_eq!(first, again);
    assert_eq!(numbers(&session), [1, 2, 3]);
    // It holds over a restart.
    let later = World::of(world.vault.next_epoch());
    let session = later.store.session("s").expect("it is there");
    let again = session.append_expecting(0, KEY, drafts(), SYNCED).expect("it was made before");
    assert_eq!(first, again);
}

#[test]
fn the_same_key_with_other_drafts_is_reused() {
    let world = World::new();
    let session = world.session("s");
    session.append_expecting(0, KEY, [note(1), note(2)], SYNCED).expect("it is lawful");
    session.append([note(3)], SYNCED).expect("it is lawful");
    let timed = Draft { time_ms: Some(3), ..note(1) };
    let others: [&[Draft]; 6] = [
        &[note(1)],
        &[note(1), note(2), note(3)],
        &[note(1), note(3)],
        &[note(1), note(2).appended()],
        &[note(1), note(2).citing(&[0])],
        &[timed, note(2)],
    ];
    for drafts in others {
        let refused = refusal(session.append_expecting(0, KEY, drafts.to_vec(), SYNCED));
        assert!(matches!(refused, Refusal::KeyReused), "{drafts:?}: {refused:?}");
        let refused = session.append_keyed(KEY, drafts.to_vec(), SYNCED);
        assert!(matches!(refusal(refused), Refusal::KeyReused));
    }
    assert_eq!(numbers(&session), [1, 2, 3]);
}

#[test]
fn another_key_or_no_batch_at_that_seq_is_the_wrong_seq() {
    let world = World::new();
    let session = world.session("s");
    session.append_expecting(0, KEY, [note(1), note(2)], SYNCED).expect("it is lawful");
    session.append([note(3)], SYNCED).expect("it is lawful");
    let wrong = |expected, result| {
        let refused = refusal(result);
        assert!(
            matches!(refused, Refusal::WrongSeq { expected: e, actual: 3 } if e == expected),
            "{refused:?}"
        );
    };
    wrong(0, session.append_expecting(0, OTHER, [note(1), note(2)], SYNCED));
    wrong(0, session.append_expecting(0, None, [note(1), note(2)], SYNCED));
    wrong(1, session.append_expecting(1, KEY, [note(2)], SYNCED));
    wrong(2, session.append_expecting(2, KEY, [note(3)], SYNCED));
    wrong(4, session.append_expecting(4, KEY, [note(3)], SYNCED));
    session.append_expecting(3, KEY, [note(4)], SYNCED).expect("that is next");
}

#[test]
fn a_repeat_is_raised_to_the_class_that_it_asks_for() {
    let world = World::new();
    let session = world.session("s");
    session.append_expecting(0, KEY, [note(1)], WRITTEN).expect("it is lawful");
    let again = session.append_expecting(0, KEY, [note(1)], SYNCED).expect("it was made before");
    assert_eq!((again.durability, world.vault.raises()), (SYNCED, 1));
    let again = session.append_keyed(KEY, [note(1)], SYNCED).expect("it was made before");
    assert_eq!((again.first_seq, world.vault.raises()), (0, 2));
    assert_eq!(numbers(&session), [1]);
}

#[test]
fn a_plain_key_is_remembered_for_1024_keys_over_restarts() {
    let world = World::new();
    let session = world.session("s");
    let key = |n: u64| u128::from(n).to_le_bytes();
    let append = |n| session.append_keyed(key(n), [note(n), note(n)], WRITTEN);
    for n in 0..1025 {
        assert_eq!(append(n).expect("it is lawful").first_seq, 2 * n);
    }
    assert_eq!(append(1).expect("it was made before").first_seq, 2);
    assert_eq!(append(1024).expect("it was made before").first_seq, 2048);
    let later = World::of(world.vault.next_epoch());
    let session = later.store.session("s").expect("it is there");
    let append = |n| session.append_keyed(key(n), [note(n), note(n)], WRITTEN);
    assert_eq!(append(1).expect("it was made before").first_seq, 2);
    assert_eq!(append(0).expect("the oldest is forgotten").first_seq, 2050);
    assert_eq!(append(1).expect("and now the next").first_seq, 2052);
}

#[test]
fn after_an_unknown_outcome_the_key_tells() {
    for survives in [true, false] {
        let world = World::new();
        let session = world.session("s");
        world.vault.fail(0, Failure::Unknown { survives });
        let outcome = session.append_expecting(0, KEY, [note(1)], SYNCED);
        assert!(matches!(outcome, Err(AppendError::Unknown(_))), "{outcome:?}");
        world.store.reopen().expect("it opens");
        let session = world.store.session("s").expect("it is there");
        let commit = session.append_expecting(0, KEY, [note(1)], SYNCED).expect("it is there now");
        assert_eq!((commit.first_seq, numbers(&session)), (0, vec![1]));
    }
}

#[test]
fn closers_in_between_are_the_wrong_seq() {
    let world = World::new();
    let session = world.session("s");
    session.append([draft("open")], SYNCED).expect("it is lawful");
    world.vault.fail(0, Failure::Unknown { survives: false });
    let outcome = session.append_expecting(1, KEY, [note(1)], SYNCED);
    assert!(matches!(outcome, Err(AppendError::Unknown(_))), "{outcome:?}");
    world.store.reopen().expect("it opens");
    let session = world.store.session("s").expect("it is there");
    let refused = refusal(session.append_expecting(1, KEY, [note(1)], SYNCED));
    assert!(matches!(refused, Refusal::WrongSeq { expected: 1, actual: 3 }), "{refused:?}");
}

#[test]
fn a_store_without_keys_compares_the_values_of_drafts() {
    let world = World::of(Vault::plain());
    let session = world.session("s");
    let refused = refusal(session.append_keyed(KEY, [note(1)], SYNCED));
    assert!(matches!(refused, Refusal::Unsupported { .. }));
    let first = session.append_expecting(0, KEY, [note(1), note(2)], SYNCED).expect("lawful");
    session.append([note(3)], SYNCED).expect("it is lawful");
    let spaced = Draft::new("note", "{ \"n\": 2.0 }");
    let again = session.append_expecting(0, KEY, [note(1), spaced], SYNCED).expect("before");
    assert_eq!((again, first.lsn), (first, None));
    for other in [vec![note(1), note(3)], vec![note(1), note(2), note(3), note(4)]] {
        let refused = refusal(session.append_expecting(0, KEY, other, SYNCED));
        assert!(matches!(refused, Refusal::WrongSeq { expected: 0, actual: 3 }), "{refused:?}");
    }
}
