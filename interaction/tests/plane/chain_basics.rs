//! The world that other tests stand in works.

use crate::support::{Kind, World};
use gatelog_interaction::profile::Profile;
use gatelog_validator::rule::Profile as Rules;

#[tokio::test]
async fn a_world_of_each_store_keeps_a_turn_and_is_sound() {
    for kind in Kind::ALL {
        let world = World::of(kind, Rules::Strict, Profile::STRICT);
        let live = world.in_turn("a");
        crate::support::end_turn(live.agent().session(), 1);
        let kinds: Vec<_> = world.events("a").into_iter().map(|seen| seen.kind).collect();
        assert_eq!(kinds, ["turn/start", "turn/end"], "{kind:?}");
        assert_eq!(world.errors(Rules::Strict), Vec::<String>::new(), "{kind:?}");
    }
}
