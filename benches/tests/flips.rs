//! A slice of the flip matrix: `cargo run --release --bin flip-matrix` has the whole.

use gatelog_benches::trial::flips::{Change, Kind, Outcome, Slice, State, run};
use std::path::Path;
use std::sync::atomic::AtomicU64;

const SLICE: Slice = Slice { one_in: 64, seed: 1 };

fn states() -> Vec<State> {
    State::all(1).expect("the states can be made")
}

#[test]
fn no_small_damage_loses_what_a_witness_covers() {
    for state in states() {
        let mut undecidable = 0;
        for kind in Kind::ALL {
            // There are few of these, and each is a case of its own.
            let is_rare = matches!(kind, Kind::Zero | Kind::Stale | Kind::Remove);
            let slice = Slice { one_in: if is_rare { 1 } else { SLICE.one_in }, ..SLICE };
            let outcomes = run(&state, kind, slice, &AtomicU64::new(0));
            println!("{}, {kind:?}: {outcomes:?}", state.name);
            assert!(outcomes.tried > 0, "{kind:?}");
            assert_eq!((outcomes.lost, outcomes.disagreed), (0, 0), "{:#?}", outcomes.faults);
            undecidable += outcomes.undecidable;
        }
        let is_covered = state.name != "crashed";
        assert_eq!(is_covered, undecidable == 0, "{}: {undecidable}", state.name);
        assert_eq!(is_covered, state.unconfirmed_bits().count() == 0, "{}", state.name);
    }
}

#[test]
fn a_flip_is_undecidable_in_every_frame_above_w() {
    let state = &states()[0];
    for (file, bit) in state.unconfirmed_bits().step_by(61) {
        let outcome = state.attempt(&Change::Flip(file, bit));
        assert_eq!(outcome, Outcome::Undecidable, "bit {bit}");
    }
}

#[test]
fn a_segment_that_is_gone_is_missed() {
    for state in states() {
        let is_segment = |name: &&String| Path::new(name).extension().is_some_and(|it| it == "log");
        for name in state.files.keys().filter(is_segment) {
            let outcome = state.attempt(&Change::Remove(name.clone()));
            assert_eq!(outcome, Outcome::Refused("segment/missing"), "{}: {name}", state.name);
        }
    }
}

/// A slot that does not count was once not asked whose it is, and still raised W.
#[test]
fn a_slot_of_another_store_is_told_by_its_store() {
    for state in states() {
        for at in [0, 4096] {
            let slot = &state.foreign["STORE"][at..at + 4096];
            let outcome = state.attempt(&Change::put("STORE", at, slot));
            assert_eq!(outcome, Outcome::Refused("store/mixed"), "{}: {at}", state.name);
        }
    }
}

/// The padding of a group was once where the log ended, and every later group was cut.
#[test]
fn a_bit_in_the_padding_of_a_group_cuts_no_later_group() {
    for state in states() {
        for frames in state.reading.frames.windows(2) {
            let (from, to) = (frames[0].offset + frames[0].bytes, frames[1].offset);
            if frames[0].segment != frames[1].segment {
                continue;
            }
            for byte in (from..to.min(from + 9)).chain((from..to).step_by(97)) {
                let name = format!("{:020}.log", frames[0].segment);
                let outcome = state.attempt(&Change::Flip(name, byte as usize * 8 + 3));
                assert_eq!(outcome, Outcome::Harmless, "{}: byte {byte}", state.name);
            }
        }
    }
}
