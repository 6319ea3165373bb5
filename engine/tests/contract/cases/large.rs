//! A large append beside a small one.

use crate::bench::{Bench, Opened, SYNCED, Setup, notes};
use crate::tap::PATIENCE;
use crate::world::sized;
use std::sync::mpsc::channel;
use std::thread;

/// 16 MiB as one frame, its header and envelope apart.
const LARGE: usize = (16 << 20) - 4_096;

/// Counted in syncs, which are held: beside the one that is its own, a small append waits for that
/// of the group in front of it, and for no other.
pub(crate) fn a_large_append_holds_up_another_session_for_its_own_write_at_most(
    bench: &Bench,
) -> Opened {
    let opened = bench.open_as(&Setup { segment_bytes: 64 << 20, ..Setup::default() });
    let (large, small) = (opened.make("a", &[]), opened.make("b", &[0]));
    // Makes the segment that has room for the next one.
    large.append([sized(LARGE)], SYNCED).expect("it is within");
    small.append(notes([1]), SYNCED).expect("lawful");
    bench.ground.hold_syncs(true);
    thread::scope(|scope| {
        let first = scope.spawn(|| large.append([sized(LARGE)], SYNCED));
        assert!(bench.ground.wait_for_held_syncs(1, PATIENCE), "the large one is written");
        let (tell, told) = channel();
        let small = &small;
        scope.spawn(move || {
            let ended = small.append(notes([2]), SYNCED);
            tell.send(ended.is_ok()).expect("somebody listens");
        });
        let mut released = 0;
        while told.try_recv() != Ok(true) {
            assert!(released < 2, "a small append waits for a third sync");
            bench.ground.release_one_sync();
            released += 1;
            if released == 1 {
                // Its own; where nothing is shared there were two at once.
                assert!(bench.ground.wait_for_held_syncs(1, PATIENCE), "its own is next");
            } else if let Ok(is_ok) = told.recv_timeout(PATIENCE) {
                assert!(is_ok, "nothing fails");
                break;
            }
        }
        bench.ground.hold_syncs(false);
        first.join().expect("no panic").expect("it is within");
    });
    assert_eq!(opened.numbers("b"), [0, 1, 2]);
    opened
}
