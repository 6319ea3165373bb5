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
