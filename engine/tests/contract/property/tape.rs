//! A run told from a tape of bytes.

use super::{Op, Run};
use crate::bench::{BUFFERED, Kind, SYNCED, WRITTEN};

/// As many operations as a tape may tell.
const OPS_MAX: usize = 50;

struct Tape<'t>(&'t [u8]);

impl Tape<'_> {
    fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        let (first, rest) = self.0.split_first().unwrap_or((&0, &[]));
        self.0 = rest;
        choices[usize::from(*first) % choices.len()]
    }

    fn op(&mut self) -> Op {
        // In the weights of the drawn runs, more or less; each has its own number.
        let which = self.pick(&[0, 0, 0, 0, 0, 1, 1, 2, 2, 3, 4, 5, 6, 6, 7, 8, 9, 9, 10, 11, 12]);
        let (session, durability) = match which {
            0..=4 => (self.pick(&[0, 1, 2]), self.pick(&[BUFFERED, WRITTEN, SYNCED])),
            _ => (0, SYNCED),
        };
        match which {
            0 => {
                let (notes, bytes) = (self.pick(&[1, 1, 2, 3]), self.pick(&[0, 1, 300, 899]));
                Op::Append { session, durability, notes, bytes }
            }
            1 => Op::Expect { session, durability, notes: self.pick(&[1, 2]) },
            2 => Op::Repeat { session, durability, is_same: self.pick(&[true, true, false]) },
            3 => Op::Refuse { session, durability },
            4 => Op::Raise { session, durability },
            5 => Op::Tick,
            6 => {
                let failure = self.pick(&[0, 1, 2, 3, 4, 5, 6]);
                Op::Fail { failure, after: self.pick(&[0, 1, 2, 3, 4]) }
            }
            7 => Op::Heal,
            8 => Op::Release { session: self.pick(&[0, 1, 2]) },
            9 => Op::Reopen,
            10 => Op::Close,
            11 => Op::Kill,
            _ => Op::Cut { seed: u64::from(self.pick(&[0_u8, 1, 2, 3, 5, 9, 77, 201])) },
        }
    }
}

/// Returns what a tape tells.
pub(crate) fn ops(tape: &[u8]) -> Vec<Op> {
    let mut tape = Tape(tape);
    let mut ops = Vec::new();
    while !tape.0.is_empty() && ops.len() < OPS_MAX {
        ops.push(tape.op());
    }
    ops
}

/// Does what a tape tells to a native store and in the model, and compares after each step.
///
/// # Panics
///
/// If the two differ.
pub(crate) fn check_tape(tape: &[u8]) {
    Run::new(Kind::Native).all(&ops(tape));
}
