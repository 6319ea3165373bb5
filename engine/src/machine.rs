//! Clock, chance and identity of the process: what a log needs of the machine besides its disk.

use std::time::{SystemTime, UNIX_EPOCH};

/// Who holds a store, for a person who is told that it is locked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Holder {
    /// Number of the process.
    pub pid: u32,
    /// Identity of this boot of the machine, empty where there is none.
    pub boot: String,
    /// When the process started, in the system's own words, empty where it does not say.
    pub started: String,
    /// Name of the machine.
    pub host: String,
}

/// Clock, chance and identity. A test gives its own and so repeats a run byte for byte.
pub trait Machine: Send + Sync {
    /// Returns the wall clock, in milliseconds since 1970; it may step back.
    fn now_ms(&self) -> u64;

    /// Fills a buffer with bytes that nobody can foresee.
    fn random(&self, buffer: &mut [u8]);

    /// Returns who this process is.
    fn holder(&self) -> Holder;
}

/// The machine that runs us.
#[derive(Clone, Copy, Debug, Default)]
pub struct ThisMachine;

impl Machine for ThisMachine {
    fn now_ms(&self) -> u64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }

    fn random(&self, buffer: &mut [u8]) {
        // The process cannot go on without: ids would repeat, and ids are what stale bytes are
        // told by.
        getrandom::fill(buffer).expect("the system gives random bytes");
    }

    fn holder(&self) -> Holder {
        Holder { pid: std::process::id(), ..Holder::default() }
    }
}
