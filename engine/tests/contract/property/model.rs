//! What ought to be there: three vectors.

use gatelog_engine::backend::Durability;

/// Whether the next append of a session is to be told of a rewind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owed {
    No,
    Yes,
    /// The session was let go or the store reopened since: whoever opens it anew sees it all.
    Perhaps,
}

/// A note, and the class that it has reached for sure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Note {
    pub(crate) n: u64,
    pub(crate) reached: Durability,
}

/// One session.
#[derive(Clone, Debug)]
pub(crate) struct Session {
    /// It was created for sure.
    pub(crate) is_there: bool,
    /// Nobody knows whether it was created.
    pub(crate) is_unknown: bool,
    pub(crate) notes: Vec<Note>,
    /// Notes of an append of which nobody knows whether it was written.
    pub(crate) unknown: Vec<u64>,
    pub(crate) owed: Owed,
}

impl Session {
    pub(crate) fn new() -> Self {
        let (notes, unknown) = (Vec::new(), Vec::new());
        Self { is_there: false, is_unknown: false, notes, unknown, owed: Owed::No }
    }

    pub(crate) fn next_seq(&self) -> u64 {
        self.notes.len() as u64
    }

    pub(crate) fn push(&mut self, numbers: &[u64], reached: Durability) {
        self.notes.extend(numbers.iter().map(|n| Note { n: *n, reached }));
    }

    /// All that was accepted has reached a class.
    pub(crate) fn raise(&mut self, to: Durability) {
        for note in &mut self.notes {
            note.reached = note.reached.max(to);
        }
    }

    /// How many notes a failure that spares a class has to spare.
    fn floor(&self, spared: Durability) -> usize {
        self.notes.iter().rposition(|note| note.reached >= spared).map_or(0, |last| last + 1)
    }

    /// Takes in what was read after something that may lose what is below a class, and says
    /// whether accepted notes were lost.
    pub(crate) fn reconcile(&mut self, read: Option<&[u64]>, spared: Durability) -> bool {
        let Some(read) = read else {
            assert!(!self.is_there, "the session is gone");
            *self = Self { owed: self.owed, ..Self::new() };
            return false;
        };
        assert!(self.is_there || self.is_unknown, "a session that nobody made");
        let had = self.notes.iter().map(|note| note.n);
        let all: Vec<u64> = had.chain(self.unknown.iter().copied()).collect();
        assert!(all.starts_with(read), "read {read:?} of what was accepted or unknown {all:?}");
        let floor = self.floor(spared);
        assert!(read.len() >= floor, "read {read:?} of {:?}", self.notes);
        let lost = read.len() < self.notes.len();
        self.notes.truncate(read.len());
        let more = read[self.notes.len()..].to_vec();
        self.push(&more, Durability::Written);
        (self.is_there, self.is_unknown) = (true, false);
        self.unknown.clear();
        lost
    }
}
