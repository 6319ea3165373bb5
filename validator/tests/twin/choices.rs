//! A tape of choices, from which logs are told.

/// A tape of choices.
pub struct Choices<'a> {
    tape: &'a [u8],
    /// Odd choices are left out, nearly always.
    is_tame: bool,
}

impl<'a> Choices<'a> {
    pub fn new(tape: &'a [u8]) -> Self {
        Self { tape, is_tame: false }
    }

    /// Decides whether this is a tame story or a wild one.
    pub(super) fn settle(&mut self) {
        self.is_tame = self.pick(3) < 2;
    }

    /// Returns a number below `count`; 0 once the tape is at its end.
    pub fn pick(&mut self, count: usize) -> usize {
        let Some((first, rest)) = self.tape.split_first() else { return 0 };
        self.tape = rest;
        usize::from(*first) % count
    }

    pub fn is_over(&self) -> bool {
        self.tape.is_empty()
    }

    /// Returns true about once in `count` times.
    pub(super) fn rarely(&mut self, count: usize) -> bool {
        self.pick(count) == count - 1 && self.may_be_odd()
    }

    /// Returns whether an odd choice counts.
    pub(super) fn may_be_odd(&mut self) -> bool {
        !self.is_tame || self.pick(64) == 63
    }

    /// Picks one, of which the first is the usual one.
    pub(super) fn one_of<'b>(&mut self, of: &[&'b str]) -> &'b str {
        let at = self.pick(of.len());
        of[if at > 0 && !self.may_be_odd() { 0 } else { at }]
    }

    /// Picks a number below `count`, of which those from `odd` on are odd.
    pub(super) fn usual(&mut self, count: usize, odd: usize) -> usize {
        let at = self.pick(count);
        if at >= odd && !self.may_be_odd() { 0 } else { at }
    }
}
