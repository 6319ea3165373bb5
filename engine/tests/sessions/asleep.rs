//! Sees that a thread sleeps, so that no test has to guess how long it takes to stand in a line.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

/// A thread as the system shows it to others.
pub(crate) struct Task(PathBuf);

impl Task {
    /// Returns the one that asks.
    pub(crate) fn current() -> Self {
        let link = fs::read_link("/proc/thread-self").expect("the system shows its threads");
        Self(Path::new("/proc").join(link).join("stat"))
    }

    /// Waits until the thread sleeps, and goes on sleeping for a while; it fails after a minute.
    pub(crate) fn await_sleep(&self) {
        let mut looks = 0;
        for _ in 0..12_000 {
            let stat = fs::read_to_string(&self.0).expect("the thread has not ended");
            let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
            looks = if state == Some('S') { looks + 1 } else { 0 };
            if looks == 10 {
                return;
            }
            thread::sleep(Duration::from_millis(5));
        }
        panic!("the thread never sleeps");
    }
}
