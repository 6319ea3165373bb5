//! A machine whose clock and chance repeat.

use gatelog_engine::machine::{Holder, Machine};
use std::sync::atomic::{AtomicU64, Ordering};

/// A machine of which every run sees the same: its clock counts its readings.
#[derive(Debug)]
pub struct FixedMachine {
    clock_ms: AtomicU64,
    chance: AtomicU64,
}

impl FixedMachine {
    /// Makes the machine of a seed.
    pub fn new(seed: u64) -> Self {
        let chance = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        Self { clock_ms: AtomicU64::new(1_000), chance: AtomicU64::new(chance) }
    }
}

impl Machine for FixedMachine {
    fn now_ms(&self) -> u64 {
        self.clock_ms.fetch_add(1, Ordering::Relaxed)
    }

    fn random(&self, buffer: &mut [u8]) {
        for byte in buffer {
            let mut word = self.chance.load(Ordering::Relaxed);
            word ^= word << 13;
            word ^= word >> 7;
            word ^= word << 17;
            self.chance.store(word, Ordering::Relaxed);
            *byte = (word >> 24) as u8;
        }
    }

    fn holder(&self) -> Holder {
        Holder { pid: 1, host: "trial".into(), ..Holder::default() }
    }
}
