//! How far a long run is.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Tells on standard error, every ten seconds, how many there are, until it is over.
pub fn tell(count: &AtomicU64, what: &str, is_over: &AtomicBool) {
    let start = Instant::now();
    let mut told = 0;
    while !is_over.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(200));
        let seconds = start.elapsed().as_secs();
        if seconds / 10 > told {
            told = seconds / 10;
            eprintln!("{seconds} s: {} {what}", count.load(Ordering::Relaxed));
        }
    }
}
