//! Cancel, answer, unload, drop and drain, at once.

mod pairs;
mod policy;
mod schedule;
mod storm;
mod stress;
mod turn;

use crate::support::{Faults, World};
use gatelog_interaction::approval::ApprovalOutcome;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// What was decided in a session, by the name of the tool that was asked for. A test asks for each
/// name once.
fn by_tool(world: &World, session: &str) -> BTreeMap<String, Option<ApprovalOutcome>> {
    let mut tools = BTreeMap::new();
    let mut decided: BTreeMap<String, Option<ApprovalOutcome>> = BTreeMap::new();
    for seen in world.events_of(session, "approval/") {
        let id = seen.data["id"].to_string();
        if seen.kind == "approval/asked" {
            let tool = seen.data["toolName"].as_str().expect("a name").to_owned();
            assert!(decided.insert(tool.clone(), None).is_none(), "{tool} was asked for twice");
            assert!(tools.insert(id, tool).is_none(), "an id was used twice");
        } else if seen.kind == "approval/decided" {
            let outcome = seen.data["outcome"].as_str().and_then(ApprovalOutcome::of);
            let before = decided.insert(tools[&id].clone(), Some(outcome.expect("one of four")));
            assert_eq!(before, Some(None), "{} was decided twice", tools[&id]);
        }
    }
    decided
}

/// Waits until an append is held back, on whatever thread.
async fn held(faults: &Faults) {
    let deadline = Instant::now() + Duration::from_secs(120);
    while faults.waiting() == 0 {
        assert!(Instant::now() < deadline, "nothing comes to be held");
        tokio::task::yield_now().await;
    }
}

/// Numbers that look random, the same ones for a seed.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed ^ (mixed >> 27)) % end
    }
}

/// Lets some time pass without giving the thread away.
fn spin(turns: u64) {
    (0..turns).for_each(|_| std::hint::spin_loop());
}
