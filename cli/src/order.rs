//! Work in parallel, results in order, and never more of either in memory than a window.

use rayon::ThreadPool;
use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

/// Results that may wait for an earlier one; past it no more work is begun.
const WINDOW: usize = 256;
/// How long nothing may happen before the ticker is called.
const TICK: Duration = Duration::from_millis(100);

/// Who listens to the work: called on the caller's thread only.
pub(crate) trait Listener<T> {
    /// Takes the next result in order, and says whether there is any use in going on.
    fn result(&mut self, result: T) -> ControlFlow<()>;

    /// Returns when a result may be taken at the earliest; nothing for at once.
    fn due(&self, result: &T) -> Option<Instant>;

    /// Is called at least every 100 ms.
    fn tick(&mut self);
}

/// Runs `job(0)`, …, `job(count - 1)` on a pool and hands the results to the listener in order.
///
/// No more jobs are begun than the pool has threads: a job that waits for its own parts may pick up
/// another job meanwhile, on top of its own stack, and each holds buffers. When the listener
/// breaks, the jobs that run are left to themselves.
///
/// # Panics
///
/// When a job panics; the pool aborts the process then. A job catches its own.
pub(crate) fn in_order<T: Send + 'static>(
    pool: &ThreadPool,
    count: usize,
    job: impl Fn(usize) -> T + Send + Sync + 'static,
    listener: &mut impl Listener<T>,
) {
    let job = Arc::new(job);
    let (sender, receiver) = mpsc::channel();
    let mut begun = 0;
    let mut done = 0;
    let mut handed = 0;
    let mut waiting: VecDeque<Option<T>> = VecDeque::new();
    while handed < count {
        while begun < count && begun - done < pool.current_num_threads() && begun - handed < WINDOW
        {
            let (job, sender, index) = (Arc::clone(&job), sender.clone(), begun);
            // A send fails only when the listener broke, and then nobody wants the result.
            pool.spawn(move || drop(sender.send((index, job(index)))));
            waiting.push_back(None);
            begun += 1;
        }
        listener.tick();
        let pause = match waiting.front() {
            Some(Some(first)) => listener.due(first).map_or(Duration::ZERO, until).min(TICK),
            _ => TICK,
        };
        // The sender above lives, so an error is a timeout.
        if let Ok((index, result)) = receiver.recv_timeout(pause) {
            done += 1;
            waiting[index - handed] = Some(result);
        }
        while let Some(Some(first)) = waiting.front() {
            if listener.due(first).is_some_and(|due| until(due) > Duration::ZERO) {
                break;
            }
            let result = waiting.pop_front().flatten().expect("it was looked at");
            handed += 1;
            if listener.result(result).is_break() {
                return;
            }
        }
    }
}

/// Returns how long it is until an instant; nothing once it has come.
fn until(due: Instant) -> Duration {
    due.saturating_duration_since(Instant::now())
}

#[cfg(test)]
mod tests {
    use super::{Listener, WINDOW, in_order};
    use std::ops::ControlFlow;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::{Duration, Instant};

    #[derive(Default)]
    struct Collect {
        results: Vec<usize>,
        stop_at: Option<usize>,
        due: Option<Instant>,
    }

    impl Listener<usize> for Collect {
        fn result(&mut self, result: usize) -> ControlFlow<()> {
            self.results.push(result);
            if self.stop_at == Some(result) {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        }

        fn due(&self, _result: &usize) -> Option<Instant> {
            self.due
        }

        fn tick(&mut self) {}
    }

    fn pool(threads: usize) -> rayon::ThreadPool {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads start")
    }

    #[test]
    fn results_come_in_order_whatever_finishes_first() {
        for threads in [1, 2, 7] {
            let mut collect = Collect::default();
            let uneven = |index: usize| {
                std::thread::sleep(Duration::from_micros((index as u64 * 7919) % 500));
                index
            };
            in_order(&pool(threads), 300, uneven, &mut collect);
            assert_eq!(collect.results, (0..300).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_result_waits_until_it_is_due_and_the_work_goes_on_meanwhile() {
        let started = Instant::now();
        let due = started + Duration::from_millis(60);
        let mut collect = Collect { due: Some(due), ..Collect::default() };
        in_order(&pool(1), WINDOW, |index| index, &mut collect);
        assert!(Instant::now() >= due);
        assert_eq!(collect.results.len(), WINDOW);
    }

    #[test]
    fn nothing_to_do_is_done() {
        in_order(&pool(1), 0, |index| index, &mut Collect::default());
    }

    #[test]
    fn a_slow_first_job_holds_back_no_more_than_a_window() {
        let begun = Arc::new(AtomicUsize::new(0));
        let seen = Arc::clone(&begun);
        let most = Arc::new(AtomicUsize::new(0));
        let most_seen = Arc::clone(&most);
        let job = move |index: usize| {
            begun.fetch_add(1, Ordering::Relaxed);
            if index == 0 {
                std::thread::sleep(Duration::from_millis(200));
                most.store(begun.load(Ordering::Relaxed), Ordering::Relaxed);
            }
            index
        };
        let mut collect = Collect::default();
        in_order(&pool(4), 3 * WINDOW, job, &mut collect);
        assert_eq!(collect.results.len(), 3 * WINDOW);
        assert_eq!(seen.load(Ordering::Relaxed), 3 * WINDOW);
        assert!(most_seen.load(Ordering::Relaxed) <= WINDOW);
    }

    #[test]
    fn a_listener_that_breaks_gets_no_more() {
        let mut collect = Collect { stop_at: Some(3), ..Collect::default() };
        in_order(&pool(2), 1000, |index| index, &mut collect);
        assert_eq!(collect.results, [0, 1, 2, 3]);
    }
}
