//! What a walk through the states of a crash tried.

use super::explored::CUTS;

/// What was tried. Of three numbers the first is of power cuts, the second of those that cut off
/// the recovery of one of them, the third of those that cut off the recovery of that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Moments at which a crash was tried.
    pub moments: u64,
    /// States that were opened after the death of the process.
    pub kills: u64,
    /// States that a power cut left, made or not.
    pub seen: [u64; CUTS],
    /// States that were made.
    pub made: [u64; CUTS],
    /// Those of them that were opened, since none like them had been.
    pub opened: [u64; CUTS],
    /// Different states as processes see them, whatever was owed.
    pub images: [u64; CUTS],
    /// A digest of each of these, added up.
    pub reached: [u64; CUTS],
    /// States of a second generation: opened, written, crashed, and opened again.
    pub generations: u64,
}

impl Tally {
    /// Returns the sum of two.
    #[must_use]
    pub fn and(mut self, other: Tally) -> Tally {
        self.moments += other.moments;
        self.kills += other.kills;
        self.generations += other.generations;
        for cuts in 0..CUTS {
            self.seen[cuts] += other.seen[cuts];
            self.made[cuts] += other.made[cuts];
            self.opened[cuts] += other.opened[cuts];
            self.images[cuts] += other.images[cuts];
            self.reached[cuts] = self.reached[cuts].wrapping_add(other.reached[cuts]);
        }
        self
    }
}
