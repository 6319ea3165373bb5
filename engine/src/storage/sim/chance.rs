//! Numbers by chance that a seed repeats.

/// A generator of numbers.
///
/// # Source
///
/// `SplitMix64`: Steele, Lea, Flood, Fast Splittable Pseudorandom Number Generators, 2014.
#[derive(Clone, Debug)]
pub(super) struct Chance(u64);

impl Chance {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns whether something happens that happens so many times in eight.
    pub(super) fn eighths(&mut self, chances: u64) -> bool {
        self.next() >> 61 < chances
    }
}
