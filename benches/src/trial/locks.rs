//! A store that is closed can be opened at once, whatever children its process has.

use super::child;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

/// Opens of one store.
const OPENS: u64 = 200;

/// Opens and closes a store so often, while another thread spawns children; returns how many.
///
/// # Errors
///
/// An open that was refused, in words.
pub fn reopen(dir: &Path, count: u64) -> Result<u64, String> {
    std::fs::create_dir_all(dir).map_err(|error| error.to_string())?;
    // A store of its own for some hundred opens each, since each leaves its frames.
    let dir = |open: u64| dir.join(format!("locked-{}", open / OPENS));
    let (is_over, children) = (AtomicBool::new(false), AtomicU64::new(0));
    let reopened = thread::scope(|scope| {
        let spawner = scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                let mut command = Command::new("true");
                let spawned = command.stdin(Stdio::null()).spawn();
                spawned.and_then(|mut child| child.wait()).map_err(|error| error.to_string())?;
                children.fetch_add(1, Ordering::Relaxed);
            }
            Ok::<_, String>(())
        });
        let reopened = (1..=count).try_for_each(|open| {
            let store = child::open(&dir(open)).map_err(|error| format!("open {open}: {error}"))?;
            store.close().map_err(|error| format!("close {open}: {error}"))?;
            if open % OPENS == OPENS - 1 {
                std::fs::remove_dir_all(dir(open)).map_err(|error| error.to_string())?;
            }
            Ok(())
        });
        is_over.store(true, Ordering::Relaxed);
        let ended = spawner.join().map_err(|_| "the spawner panicked".to_owned());
        reopened.and(ended.and_then(|ended| ended))
    });
    reopened?;
    let _ = std::fs::remove_dir_all(dir(count));
    Ok(children.into_inner())
}
