//! The line before a session's gate: tickets, first come, first served.
//!
//! A ticket belongs to a thread that waits, or to a task: an append that was handed over by a
//! future and has no thread. Nothing is called while the mutex is held; whoever frees the gate gets
//! the next task handed out, to be run elsewhere.

use super::lock::lock;
use crate::backend::Refusal;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{self, ThreadId};
use std::time::Duration;

/// What a task is told when it is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    /// The gate is its own, under this ticket.
    Yours(u64),
    /// It waited too long.
    TooLate,
    /// The session is no longer live.
    Shut,
}

/// An append without a thread.
pub(crate) type Task = Box<dyn FnOnce(Call) + Send>;

/// Why a gate was not given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Denied {
    /// The caller holds it.
    Reentrant,
    /// The wait was too long.
    Busy,
    /// The session is no longer live.
    Shut,
}

impl From<Denied> for Refusal {
    fn from(denied: Denied) -> Self {
        match denied {
            Denied::Reentrant => Self::Reentrant,
            Denied::Busy => Self::Busy,
            Denied::Shut => Self::Stale,
        }
    }
}

/// The line before one gate.
#[derive(Default)]
pub(crate) struct Queue(Mutex<Line>);

#[derive(Default)]
struct Line {
    holder: Option<Holder>,
    last_ticket: u64,
    waiting: VecDeque<Waiter>,
    is_shut: bool,
}

struct Holder {
    ticket: u64,
    /// The thread that runs under the gate; none while a submitted batch is on its way.
    thread: Option<ThreadId>,
}

struct Waiter {
    ticket: u64,
    seat: Seat,
}

enum Seat {
    Thread(ThreadId, Arc<Condvar>),
    /// A task, and the tick at which it came.
    Task(Task, u64),
}

impl Queue {
    /// Waits for the gate and returns the ticket under which the caller's thread holds it.
    pub(crate) fn wait(&self, at_most: Duration) -> Result<u64, Denied> {
        let me = thread::current().id();
        let mut line = lock(&self.0);
        line.admit(me)?;
        let ticket = line.ticket();
        if line.holder.is_none() {
            line.holder = Some(Holder { ticket, thread: Some(me) });
            return Ok(ticket);
        }
        let bell = Arc::new(Condvar::new());
        let seat = Seat::Thread(me, Arc::clone(&bell));
        line.waiting.push_back(Waiter { ticket, seat });
        let waits = |line: &mut Line| !line.is_held_by(ticket) && !line.is_shut;
        let waited = bell.wait_timeout_while(line, at_most, waits);
        let mut line = waited.unwrap_or_else(std::sync::PoisonError::into_inner).0;
        if line.is_held_by(ticket) {
            return Ok(ticket);
        }
        line.waiting.retain(|waiter| waiter.ticket != ticket);
        Err(if line.is_shut { Denied::Shut } else { Denied::Busy })
    }

    /// Puts a task into the line. If the gate is free the task has it at once, and comes back with
    /// the ticket, to be run; `tick` says when it came, for [`Queue::expire`].
    pub(crate) fn enlist(&self, task: Task, tick: u64) -> Result<Option<(Task, Call)>, Denied> {
        let mut line = lock(&self.0);
        line.admit(thread::current().id())?;
        let ticket = line.ticket();
        if line.holder.is_none() {
            line.holder = Some(Holder { ticket, thread: None });
            return Ok(Some((task, Call::Yours(ticket))));
        }
        line.waiting.push_back(Waiter { ticket, seat: Seat::Task(task, tick) });
        Ok(None)
    }

    /// Says that the holder of a ticket runs on this thread from now on.
    pub(crate) fn take_up(&self, ticket: u64) {
        self.run_on(ticket, Some(thread::current().id()));
    }

    /// Says that the holder of a ticket runs on no thread for now.
    pub(crate) fn lay_down(&self, ticket: u64) {
        self.run_on(ticket, None);
    }

    fn run_on(&self, ticket: u64, thread: Option<ThreadId>) {
        let mut line = lock(&self.0);
        if let Some(holder) = line.holder.as_mut().filter(|holder| holder.ticket == ticket) {
            holder.thread = thread;
        }
    }

    /// Frees the gate and gives it to whoever is next; a task is handed out, to be run.
    #[must_use]
    pub(crate) fn free(&self, ticket: u64) -> Option<(Task, Call)> {
        let mut line = lock(&self.0);
        if !line.is_held_by(ticket) {
            return None;
        }
        line.holder = None;
        let Waiter { ticket, seat } = line.waiting.pop_front()?;
        match seat {
            Seat::Thread(thread, bell) => {
                line.holder = Some(Holder { ticket, thread: Some(thread) });
                bell.notify_one();
                None
            }
            Seat::Task(task, _) => {
                line.holder = Some(Holder { ticket, thread: None });
                Some((task, Call::Yours(ticket)))
            }
        }
    }

    /// Takes out the tasks that came at or before a tick, and says whether others still wait.
    pub(crate) fn expire(&self, tick: u64) -> (Vec<Task>, bool) {
        let mut line = lock(&self.0);
        let late = |waiter: &Waiter| matches!(waiter.seat, Seat::Task(_, came) if came <= tick);
        let tasks = line.take(late);
        let others = line.waiting.iter().any(|waiter| matches!(waiter.seat, Seat::Task(..)));
        (tasks, others)
    }

    /// Ends the line: who waits is told, who comes is refused. The holder stays.
    #[must_use]
    pub(crate) fn shut(&self) -> Vec<Task> {
        let mut line = lock(&self.0);
        line.is_shut = true;
        for waiter in &line.waiting {
            if let Seat::Thread(_, bell) = &waiter.seat {
                bell.notify_one();
            }
        }
        line.take(|_| true)
    }
}

impl Line {
    fn admit(&self, thread: ThreadId) -> Result<(), Denied> {
        if self.holder.as_ref().is_some_and(|holder| holder.thread == Some(thread)) {
            return Err(Denied::Reentrant);
        }
        if self.is_shut { Err(Denied::Shut) } else { Ok(()) }
    }

    fn ticket(&mut self) -> u64 {
        self.last_ticket += 1;
        self.last_ticket
    }

    fn is_held_by(&self, ticket: u64) -> bool {
        self.holder.as_ref().is_some_and(|holder| holder.ticket == ticket)
    }

    /// Takes those out that the test names, and returns the tasks among them.
    fn take(&mut self, is_taken: impl Fn(&Waiter) -> bool) -> Vec<Task> {
        let mut tasks = Vec::new();
        for waiter in std::mem::take(&mut self.waiting) {
            if !is_taken(&waiter) {
                self.waiting.push_back(waiter);
            } else if let Seat::Task(task, _) = waiter.seat {
                tasks.push(task);
            }
        }
        tasks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    const LONG: Duration = Duration::from_secs(60);

    fn await_waiting(queue: &Queue, count: usize) {
        while lock(&queue.0).waiting.len() < count {
            thread::yield_now();
        }
    }

    #[test]
    fn threads_and_tasks_are_served_in_the_order_in_which_they_came() {
        let queue = Queue::default();
        let first = queue.wait(LONG).expect("it is free");
        let (sender, served) = mpsc::channel();
        thread::scope(|scope| {
            for n in 0..8 {
                let (queue, sender) = (&queue, sender.clone());
                if n % 2 == 0 {
                    scope.spawn(move || {
                        let ticket = queue.wait(LONG).expect("its turn comes");
                        sender.send((n, ticket)).expect("somebody listens");
                    });
                } else {
                    let task = move |call| {
                        let Call::Yours(ticket) = call else { panic!("{call:?}") };
                        sender.send((n, ticket)).expect("somebody listens");
                    };
                    let enlists = || queue.enlist(Box::new(task), 0).expect("it is open").is_none();
                    // Not on this thread, which holds the gate.
                    assert!(scope.spawn(enlists).join().expect("no panic"));
                }
                await_waiting(queue, n + 1);
            }
            let mut ticket = first;
            for n in 0..8 {
                if let Some((task, call)) = queue.free(ticket) {
                    task(call);
                }
                let (who, next) = served.recv().expect("somebody is served");
                assert_eq!(who, n);
                ticket = next;
            }
            assert!(queue.free(ticket).is_none());
        });
        queue.wait(Duration::ZERO).expect("it is free");
    }

    #[test]
    fn a_shut_line_sends_everybody_home_and_keeps_its_holder() {
        let queue = Queue::default();
        let ticket = queue.wait(LONG).expect("it is free");
        thread::scope(|scope| {
            let waits = scope.spawn(|| queue.wait(LONG));
            let enlists = || queue.enlist(Box::new(|_| ()), 0).expect("it is open").is_none();
            assert!(scope.spawn(enlists).join().expect("no panic"));
            await_waiting(&queue, 2);
            assert_eq!(queue.shut().len(), 1);
            assert_eq!(waits.join().expect("no panic"), Err(Denied::Shut));
        });
        assert_eq!(queue.wait(LONG), Err(Denied::Reentrant), "it is held all the same");
        assert!(queue.free(ticket).is_none());
        assert_eq!(queue.wait(LONG), Err(Denied::Shut));
    }

    #[test]
    fn only_tasks_expire_and_only_the_old_ones() {
        let queue = Queue::default();
        let ticket = queue.wait(LONG).expect("it is free");
        thread::scope(|scope| {
            let waits = scope.spawn(|| queue.wait(LONG).expect("its turn comes"));
            let enlist = |tick| queue.enlist(Box::new(|_| ()), tick).expect("it is open").is_none();
            await_waiting(&queue, 1);
            for tick in 3..=5 {
                assert!(scope.spawn(move || enlist(tick)).join().expect("no panic"));
            }
            let (late, others_wait) = queue.expire(4);
            assert_eq!((late.len(), others_wait), (2, true));
            let (late, others_wait) = queue.expire(5);
            assert_eq!((late.len(), others_wait), (1, false));
            assert!(queue.free(ticket).is_none());
            waits.join().expect("no panic");
        });
    }
}
