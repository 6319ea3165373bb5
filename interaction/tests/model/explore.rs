//! How a body is explored.

use shuttle::scheduler::{DfsScheduler, PctScheduler, RandomScheduler, Scheduler};
use shuttle::{Config, FailurePersistence, Runner};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Schedules of each random kind.
const ROUNDS: usize = 3_000;
/// Schedules at most, where all of them are meant to be seen.
const ALL_MAX: usize = 200_000;

fn run(scheduler: impl Scheduler + 'static, body: fn()) -> usize {
    let mut config = Config::new();
    config.stack_size = 0x2_0000;
    config.failure_persistence = FailurePersistence::Print;
    Runner::new(scheduler, config).run(body)
}

/// Runs a body under many schedules, the same ones each time.
pub(crate) fn explore(body: fn()) {
    run(RandomScheduler::new_from_seed(66, ROUNDS), body);
    for depth in [2, 3, 4] {
        run(PctScheduler::new_from_seed(68, depth, ROUNDS / 3), body);
    }
}

/// Runs a small body under all schedules.
pub(crate) fn exhaust(body: fn()) {
    let seen = run(DfsScheduler::new(Some(ALL_MAX), false), body);
    assert!(seen < ALL_MAX, "the body is too large to see all of its schedules");
}

/// Runs a body under the schedules of [`explore`] and returns what it failed with, if it failed.
pub(crate) fn failure(body: fn()) -> Option<String> {
    let failed = catch_unwind(AssertUnwindSafe(|| explore(body))).err()?;
    let text = failed.downcast_ref::<&str>().copied().map(str::to_owned);
    Some(text.or_else(|| failed.downcast_ref::<String>().cloned()).unwrap_or_default())
}
