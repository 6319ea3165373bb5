//! What a walk through the states of a crash tried.

/// What was tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Moments at which a crash was tried.
    pub moments: u64,
    /// States that were opened after the death of the process.
    pub kills: u64,
    /// States that a power cut left, taken or not.
    pub power_cuts_seen: u64,
    /// States of recoveries that were crashed, taken or not.
    pub recoveries_seen: u64,
    /// States that were taken: after a power cut, after one more in recovery, after another.
    pub states: [u64; 3],
    /// Those of them that were opened, since none like them had been.
    pub opened: [u64; 3],
    /// Different states.
    pub images: u64,
    /// Different recoveries that were crashed wholly.
    pub classes: u64,
    /// Recoveries that were crashed wholly: of a power cut, of one in recovery.
    pub classes_at: [u64; 3],
    /// States of a second generation: opened, written, crashed, and opened again.
    pub generations: u64,
}

impl Tally {
    /// Adds another tally.
    pub fn add(&mut self, other: Tally) {
        self.moments += other.moments;
        self.kills += other.kills;
        self.power_cuts_seen += other.power_cuts_seen;
        self.recoveries_seen += other.recoveries_seen;
        self.images += other.images;
        self.classes += other.classes;
        self.generations += other.generations;
        for (mine, other) in [
            (&mut self.states, other.states),
            (&mut self.opened, other.opened),
            (&mut self.classes_at, other.classes_at),
        ] {
            mine.iter_mut().zip(other).for_each(|(mine, other)| *mine += other);
        }
    }
}
