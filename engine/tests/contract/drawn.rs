//! Runs that are drawn, and runs that the fuzz target `store_ops` found once, against the model.

use crate::bench::Kind;
use crate::property::{Op, Run, check_tape, ops};
use crate::regressions;
use gatelog_engine::backend::Durability;
use proptest::prelude::*;

fn durability() -> impl Strategy<Value = Durability> {
    prop_oneof![Just(Durability::Buffered), Just(Durability::Written), Just(Durability::Synced),]
}

fn op() -> impl Strategy<Value = Op> {
    let session = || 0_usize..3;
    prop_oneof![
        10 => (session(), durability(), 1_usize..4, 0_usize..900)
            .prop_map(|(session, durability, notes, bytes)| {
                Op::Append { session, durability, notes, bytes }
            }),
        3 => (session(), durability(), 1_usize..3)
            .prop_map(|(session, durability, notes)| Op::Expect { session, durability, notes }),
        3 => (session(), durability(), any::<bool>())
            .prop_map(|(session, durability, is_same)| {
                Op::Repeat { session, durability, is_same }
            }),
        1 => (session(), durability())
            .prop_map(|(session, durability)| Op::Refuse { session, durability }),
        2 => (session(), durability())
            .prop_map(|(session, durability)| Op::Raise { session, durability }),
        1 => Just(Op::Tick),
        4 => (0_usize..7, 0_u64..5).prop_map(|(failure, after)| Op::Fail { failure, after }),
        1 => Just(Op::Heal),
        1 => session().prop_map(|session| Op::Release { session }),
        2 => Just(Op::Reopen),
        1 => Just(Op::Close),
        1 => Just(Op::Kill),
        1 => any::<u64>().prop_map(|seed| Op::Cut { seed }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(
            std::env::var("GATELOG_CASES").ok().and_then(|it| it.parse().ok()).unwrap_or(96),
        )
    })]

    #[test]
    fn the_native_store_does_as_the_model(ops in prop::collection::vec(op(), 1..50)) {
        Run::new(Kind::Native).all(&ops);
    }

    #[test]
    fn compressed_session_files_do_as_the_model(ops in prop::collection::vec(op(), 1..50)) {
        Run::new(Kind::FilesZstd).all(&ops);
    }

    #[test]
    fn plain_session_files_do_as_the_model(ops in prop::collection::vec(op(), 1..50)) {
        Run::new(Kind::FilesPlain).all(&ops);
    }
}

#[test]
fn what_was_found_once_holds_now() {
    let mut told = Vec::new();
    regressions::replay("store_ops", |tape| {
        check_tape(tape);
        told.extend(ops(tape));
    });
    let tells = |is: fn(&Op) -> bool| told.iter().any(is);
    assert!(tells(|op| matches!(op, Op::Expect { .. })) && tells(|op| matches!(op, Op::Kill)));
    assert!(tells(|op| matches!(op, Op::Repeat { is_same: true, .. })));
    assert!(tells(|op| matches!(op, Op::Repeat { is_same: false, .. })));
    assert!(tells(|op| matches!(op, Op::Refuse { .. })) && tells(|op| matches!(op, Op::Reopen)));
    assert!(tells(|op| matches!(op, Op::Fail { .. })) && tells(|op| matches!(op, Op::Cut { .. })));
}
