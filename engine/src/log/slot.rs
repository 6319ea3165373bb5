//! How one waiting append is told how it ended, or that it is to lead.

use crate::backend::{AppendError, Commit, Done};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Thread};

/// What a waiter is told.
#[derive(Debug)]
pub(crate) enum Word {
    /// Its append ended so.
    Ended(Result<Commit, AppendError>),
    /// Nobody leads; it is to.
    Lead,
}

/// A place where one thread waits. Each wake-up is for one thread: nobody is woken in vain.
#[derive(Debug)]
pub(crate) struct Slot {
    thread: Thread,
    word: Mutex<Option<Word>>,
}

impl Slot {
    /// Makes the slot of the calling thread.
    pub(crate) fn of_this_thread() -> Arc<Self> {
        Arc::new(Self { thread: thread::current(), word: Mutex::new(None) })
    }

    /// Says the word. An end is never overwritten; a call to lead may be, by the end.
    pub(crate) fn say(&self, word: Word) {
        let mut slot = self.word.lock().unwrap_or_else(PoisonError::into_inner);
        if !matches!(*slot, Some(Word::Ended(_))) {
            *slot = Some(word);
        }
        drop(slot);
        self.thread.unpark();
    }

    /// Returns the word if it was said, without waiting.
    pub(crate) fn heard(&self) -> Option<Word> {
        self.word.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Returns whether the append ended; the word is not taken.
    pub(crate) fn has_ended(&self) -> bool {
        let word = self.word.lock().unwrap_or_else(PoisonError::into_inner);
        matches!(*word, Some(Word::Ended(_)))
    }

    /// Waits for the word.
    pub(crate) fn wait(&self) -> Word {
        loop {
            if let Some(word) = self.heard() {
                return word;
            }
            thread::park();
        }
    }
}

/// Who is told how an append ended.
pub(crate) enum Listener {
    /// A thread that waits.
    Thread(Arc<Slot>),
    /// A call, made on a thread of the log.
    Call(Done),
    /// Nobody: the append was acknowledged when it was accepted.
    Nobody,
}
