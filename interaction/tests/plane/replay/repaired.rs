//! A log that a crash cut: S-176.

use super::{kinds, reopened};
use crate::support::{Kind, World, errors};
use gatelog_engine::backend::Durability;
use gatelog_engine::rules::Draft;
use gatelog_interaction::profile::Profile;
use gatelog_validator::rule::Profile as Rules;

#[tokio::test]
async fn s_176_an_ask_that_a_crash_cut_off_is_decided_before_its_step_and_turn_are_closed() {
    for kind in Kind::ALL {
        let world = World::of(kind, Rules::Strict, Profile::STRICT);
        let live = world.in_turn("a");
        let drafts = [
            Draft::new("step/start", r#"{"turn":1,"step":1}"#),
            Draft::new("approval/asked", r#"{"id":"x","toolName":"t"}"#),
        ];
        live.agent().session().append(drafts, Durability::Synced).expect("it is lawful");
        let (sim, store) = reopened(kind, &world.sim, Rules::Strict);
        store.session("a").expect("it is recovered");
        let tail = kinds(&store, "a").split_off(3);
        assert_eq!(tail, ["approval/decided", "step/end", "turn/end"], "{kind:?}");
        store.close().expect("the disk is sound");
        assert_eq!(errors(kind, &sim, Rules::Strict), Vec::<String>::new(), "{kind:?}");
        // Under the host's rules the ask stays as it is.
        let (_, store) = reopened(kind, &world.sim, Rules::Host);
        store.session("a").expect("it is recovered");
        let tail = kinds(&store, "a").split_off(3);
        assert_eq!(tail, ["step/end", "turn/end"], "{kind:?}");
    }
}
