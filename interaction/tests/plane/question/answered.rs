//! Answers are judged wherever they came from.

use super::{Stage, choice, chosen, code};
use gatelog_interaction::profile::Profile;
use gatelog_interaction::question::QuestionAsk;

#[tokio::test]
async fn a_batch_with_an_id_twice_or_none_is_refused_before_anybody_sees_it() {
    let stage = Stage::new();
    let (_guard, mut script) = stage.scripted();
    for batch in [vec![choice("", &["x"])], vec![choice("q", &["x"]), choice("q", &["y"])]] {
        let ask = QuestionAsk::new(batch).by(stage.live.agent());
        assert_eq!(stage.code(ask).await, "BAD_QUESTION");
    }
    assert!(script.try_called().is_none());
}

#[tokio::test]
async fn answers_that_do_not_fit_fail_the_ask_under_strict_and_pass_for_the_host() {
    for (profile, passes) in [(Profile::STRICT, false), (Profile::DSH, true)] {
        let stage = Stage::of(profile);
        let (_guard, mut script) = stage.scripted();
        let asking = stage.asking(stage.ask());
        script.called().await.reply(Ok(vec![chosen("q", &["maybe"])]));
        let ended = asking.await.expect("no panic");
        if passes {
            assert!(ended.is_ok());
        } else {
            assert_eq!(code(ended), "BAD_ANSWER");
        }
    }
}
