//! The pipe from a source to a consumer: jobs done on all cores, their blocks consumed in order.
//!
//! Every thread does what is most urgent: it consumes the next job's blocks if they are ready and
//! nobody else consumes, else it takes a job from the source and does it. Nobody waits for the
//! slowest of a batch, and what was made is consumed while it is still in a core's cache. A thread
//! that finds nothing to do leaves, and is called back when there is something again.
//!
//! Memory is bounded by a window of jobs that were taken and not consumed, whatever the size of the
//! log.

use crate::dsh::text::{Block, Consumer, JOB_BYTES, Source, Spares, work};
use rayon::Scope;
use std::collections::VecDeque;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How much text the jobs of the window may decode to for each thread, in bytes.
const WINDOW_BOUND_BYTES: u64 = 8 << 20;

/// How many jobs of the usual size the window has for each thread, and how many small ones at most.
const WINDOW_JOBS: usize = 16;
const WINDOW_SMALL_JOBS: usize = 64;

/// Runs a source to its end: jobs in parallel, blocks in order.
///
/// # Errors
///
/// Any error of the source; the blocks before it were consumed.
pub fn run(source: &mut dyn Source, packs: bool, consumer: &mut dyn Consumer) -> io::Result<()> {
    let pipe = Pipe {
        packs,
        threads: rayon::current_num_threads(),
        spares: Spares::default(),
        source: Mutex::new(source),
        consumer: Mutex::new(consumer),
        state: Mutex::new(State { workers: 1, ..State::default() }),
    };
    rayon::scope(|scope| pipe.work(scope));
    let state = pipe.state.into_inner().unwrap_or_else(PoisonError::into_inner);
    state.error.map_or(Ok(()), Err)
}

/// What the threads share.
struct Pipe<'p> {
    packs: bool,
    threads: usize,
    spares: Spares,
    source: Mutex<&'p mut dyn Source>,
    consumer: Mutex<&'p mut dyn Consumer>,
    state: Mutex<State>,
}

/// How far the pipe is.
#[derive(Default)]
struct State {
    /// The jobs of the window: taken, and not consumed.
    window: VecDeque<Slot>,
    /// About how much text they are about, and the most that it can be, in bytes.
    weight: usize,
    bound: u64,
    /// How many jobs were consumed before them.
    consumed: u64,
    /// Somebody consumes.
    is_consuming: bool,
    /// Threads that are at work.
    workers: usize,
    /// The source has nothing more.
    is_ended: bool,
    error: Option<io::Error>,
}

/// A job of the window.
struct Slot {
    /// What was made of it, once it is done.
    blocks: Option<Vec<Block>>,
    weight: usize,
    bound: u64,
}

impl State {
    /// Returns whether another job may be taken, the window being that of so many threads.
    fn has_room(&self, threads: usize) -> bool {
        !self.is_ended
            && self.weight < threads * WINDOW_JOBS * JOB_BYTES
            && self.bound < threads as u64 * WINDOW_BOUND_BYTES
            && self.window.len() < threads * WINDOW_SMALL_JOBS
    }

    /// Takes the next blocks in order out of the window, when they are ready and nobody consumes.
    fn next_ready(&mut self) -> Option<Vec<Block>> {
        if self.is_consuming {
            return None;
        }
        let blocks = self.window.front_mut()?.blocks.take()?;
        self.is_consuming = true;
        Some(blocks)
    }

    /// Notes that what was taken out was consumed.
    fn end_consuming(&mut self) {
        self.is_consuming = false;
        if let Some(slot) = self.window.pop_front() {
            self.weight -= slot.weight;
            self.bound -= slot.bound;
            self.consumed += 1;
        }
    }
}

impl<'p> Pipe<'p> {
    /// Does whatever there is to do until there is nothing for this thread.
    ///
    /// Whoever leaves blocks behind leaves somebody at work who comes by here again: one who
    /// consumes, or who does the job that is next in order.
    fn work<'s>(&'s self, scope: &Scope<'s>)
    where
        'p: 's,
    {
        let mut state = self.state();
        loop {
            if let Some(blocks) = state.next_ready() {
                drop(state);
                self.consume(blocks);
                state = self.state();
                state.end_consuming();
                self.call_back(&mut state, scope);
            } else if state.has_room(self.threads) {
                drop(state);
                state = self.job(scope);
            } else {
                state.workers -= 1;
                return;
            }
        }
    }

    /// Calls one more thread to work, once the window is half empty.
    fn call_back<'s>(&'s self, state: &mut State, scope: &Scope<'s>)
    where
        'p: 's,
    {
        if state.workers < self.threads && state.has_room(self.threads.div_ceil(2)) {
            state.workers += 1;
            scope.spawn(|scope| self.work(scope));
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A thread that panics takes the scope with it; what it leaves is never looked at.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn consume(&self, blocks: Vec<Block>) {
        let mut consumer = self.consumer.lock().unwrap_or_else(PoisonError::into_inner);
        for block in blocks {
            consumer.block(&block);
            self.spares.give(block);
        }
    }

    /// Takes a job and does it.
    fn job<'s>(&'s self, scope: &Scope<'s>) -> MutexGuard<'s, State>
    where
        'p: 's,
    {
        let mut source = self.source.lock().unwrap_or_else(PoisonError::into_inner);
        // Who waited for the source may find that it ended meanwhile.
        if self.state().is_ended {
            return self.state();
        }
        let next = source.next_job();
        let mut state = self.state();
        // The window has the order of the source, so its lock is held until the job has its place.
        drop(source);
        let job = match next {
            Ok(Some(job)) => job,
            end => {
                state.is_ended = true;
                state.error = end.err();
                return state;
            }
        };
        let (number, weight, bound) =
            (state.consumed + state.window.len() as u64, job.weight(), job.bound());
        state.window.push_back(Slot { blocks: None, weight, bound });
        state.weight += weight;
        state.bound += bound;
        // A log of one job needs no help.
        if number > 0 {
            self.call_back(&mut state, scope);
        }
        drop(state);
        let blocks = work(job, self.packs, &self.spares);
        let mut state = self.state();
        let at = (number - state.consumed) as usize;
        state.window[at].blocks = Some(blocks);
        state
    }
}

#[cfg(test)]
mod tests {
    use super::run;
    use crate::dsh::text::{Block, Consumer, Job, Source};
    use std::io;

    /// Gives so many blocks that hold their number, then an error or an end.
    struct Numbers {
        next: usize,
        count: usize,
        fails: bool,
    }

    impl Source for Numbers {
        fn next_job(&mut self) -> io::Result<Option<Job>> {
            if self.next == self.count {
                return if self.fails { Err(io::Error::other("the end")) } else { Ok(None) };
            }
            // Short blocks and long ones, so that later ones are often done first.
            let filler = [10, 100_000, 1_000][self.next % 3];
            let text = format!("{}\n{}", self.next, "[0]\n".repeat(filler / 4)).into_bytes();
            self.next += 1;
            Ok(Some(Job::Text(Block { text, ..Block::default() })))
        }
    }

    #[derive(Default)]
    struct Collect(Vec<usize>);

    impl Consumer for Collect {
        fn block(&mut self, block: &Block) {
            let first = &block.text[..block.lines[0].end];
            let number = str::from_utf8(first).ok().and_then(|text| text.parse().ok());
            self.0.push(number.expect("the block's number"));
            if self.0.len() % 50 == 1 {
                // The window fills meanwhile, and the other threads leave.
                std::thread::sleep(std::time::Duration::from_millis(2));
            }
        }
    }

    #[test]
    fn every_block_is_consumed_in_order_whatever_the_threads_and_the_end() {
        for threads in [1, 2, 7] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let pool = pool.expect("threads start");
            for (count, fails) in [(0, false), (0, true), (1, false), (2, true), (1_000, true)] {
                let mut collect = Collect::default();
                let mut source = Numbers { next: 0, count, fails };
                let outcome = pool.install(|| run(&mut source, true, &mut collect));
                assert_eq!(outcome.is_err(), fails);
                assert_eq!(collect.0, (0..count).collect::<Vec<_>>());
            }
        }
    }
}
