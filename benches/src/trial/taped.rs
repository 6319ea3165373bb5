//! A workload told from a tape of bytes: what is done to a store, in any order.

use super::crash::Enumeration;
use super::tally::Tally;
use super::workload::{Step, Workload};
use gatelog_engine::backend::Durability;
use gatelog_engine::storage::sim::{Call, Cause, Failure, Fault};
use std::sync::atomic::AtomicU64;

/// As many steps as a tape may tell; the time of a trial grows with their square.
const STEPS_MAX: usize = 12;

const SESSIONS: [&str; 3] = ["a", "b", "c"];
const CLASSES: [Durability; 3] = [Durability::Buffered, Durability::Written, Durability::Synced];
const BYTES: [usize; 6] = [0, 1, 600, 900, 3_000, 6_000];

struct Tape<'t>(&'t [u8]);

impl Tape<'_> {
    fn pick<T: Clone>(&mut self, choices: &[T]) -> T {
        let (first, rest) = self.0.split_first().unwrap_or((&0, &[]));
        self.0 = rest;
        choices[usize::from(*first) % choices.len()].clone()
    }

    fn step(&mut self) -> Step {
        match self.pick(&[0, 1, 1, 1, 1, 1, 2, 3, 4, 5, 6, 7]) {
            0 => Step::Create(self.pick(&SESSIONS), self.pick(&CLASSES)),
            1 => {
                let (session, events) = (self.pick(&SESSIONS), self.pick(&[1, 1, 2, 4]));
                Step::Append(session, events, self.pick(&BYTES), self.pick(&CLASSES))
            }
            2 => Step::Tick,
            3 => Step::Restart,
            4 => Step::Kill,
            5 => Step::Reopen,
            6 => Step::Fail(self.fault()),
            _ => Step::Heal,
        }
    }

    /// One call that fails, of those that a store makes while it is open.
    fn fault(&mut self) -> Fault {
        let cause = self.pick(&[Cause::Eio, Cause::NoSpace]);
        let (call, name) = self.pick(&[
            (Call::Write, "*.log"),
            (Call::Sync, "*.log"),
            (Call::Write, "spare-*"),
            (Call::Rename, "spare-*"),
        ]);
        let failure = match call {
            Call::Write => self.pick(&[
                Failure::Error(cause),
                Failure::ErrorAfter(cause),
                Failure::ShortError(512, cause),
                Failure::Short(512),
            ]),
            _ => Failure::Error(cause),
        };
        let calls = self.pick(&[0, 0, 1, 2]);
        Fault::new(call, failure).on(name).after(calls)
    }
}

/// Returns the workload that a tape tells; it begins with a session.
pub fn workload(tape: &[u8]) -> Workload {
    let mut tape = Tape(tape);
    let mut steps = vec![Step::Create("a", Durability::Synced)];
    while !tape.0.is_empty() && steps.len() < STEPS_MAX {
        steps.push(tape.step());
    }
    Workload::new("a tape", steps)
}

/// Does what a tape tells, and opens a slice of the states that a crash may leave of it.
///
/// # Errors
///
/// The first state that does not open, or that lost what was promised, in words.
pub fn check(tape: &[u8]) -> Result<Tally, String> {
    let seed = tape.iter().fold(7, |seed: u64, byte| seed.rotate_left(5) ^ u64::from(*byte));
    check_workload(&workload(tape), seed)
}

/// The same for a workload; the seed chooses the states.
///
/// # Errors
///
/// As [`check`].
pub fn check_workload(workload: &Workload, seed: u64) -> Result<Tally, String> {
    let slice =
        Enumeration { drawn: 2, stride: 7, depth: 1, recovery_stride: 301, repeats: false, seed };
    let one_in = 23 + (seed % 17) as usize;
    slice
        .of_some(workload, one_in, &AtomicU64::new(0))
        .map_err(|what| format!("{what}\n{:#?}", workload.steps))
}
