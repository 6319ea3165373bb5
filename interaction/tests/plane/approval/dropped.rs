//! A caller whose future goes: S-065.

use super::Stage;
use gatelog_interaction::approval::{ApprovalOutcome, ApprovalPort};
use std::time::Duration;

#[tokio::test]
async fn s_065_a_future_that_is_dropped_leaves_one_cancelled_decision() {
    for way in 0..3 {
        let stage = Stage::new();
        let (_guard, mut script) = stage.scripted();
        let _held = match way {
            0 => {
                // A task that is aborted.
                let asking = stage.asking(stage.wish());
                let held = script.called().await;
                asking.abort();
                assert!(asking.await.expect_err("it was aborted").is_cancelled());
                held
            }
            1 => {
                // A branch that lost.
                tokio::select! {
                    biased;
                    held = script.called() => held,
                    outcome = stage.ask() => panic!("nobody answers: {outcome:?}"),
                }
            }
            _ => {
                let wait = tokio::time::timeout(Duration::from_millis(20), stage.ask());
                let (waited, held) = tokio::join!(wait, script.called());
                assert!(waited.is_err(), "nobody answers");
                held
            }
        };
        // The task of the service goes on by itself; it is done when nothing waits any more.
        while stage.service.pending() > 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(stage.pairs(), (vec![ApprovalOutcome::Cancelled], 0), "way {way}");
        stage.is_sound();
    }
}

#[tokio::test]
async fn a_future_that_was_never_polled_asks_nothing() {
    let stage = Stage::new();
    drop(stage.service.request(stage.wish()));
    assert_eq!(stage.audit(), vec![]);
    assert_eq!(stage.service.pending(), 0);
}
