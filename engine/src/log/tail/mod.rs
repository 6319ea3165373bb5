//! The decision table of the tail, as data.
//!
//! What may lie at the end of a store after a crash, after rot or after somebody's hand is a small
//! set of facts; what is to be done about it is a row. In each block rows are tried from the top
//! and the first that fits counts. The rows and their numbers are those of `docs/format.md`; a row
//! with the number 0 says that nothing in its block speaks against going on.
//!
//! Nothing here reads a disk. `judgement` turns what it saw into facts and asks for the row;
//! `recovery` carries the row out; a reader takes the same verdict and does nothing.
//!
//! Two rows stand elsewhere than their numbers say: L4 is a note that ends nothing, so it comes
//! after L5 and L6, which refuse; otherwise a mixed store without `STORE` would be opened.

/// What a row says of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Verdict {
    /// Nothing speaks against going on to the next block.
    GoOn,
    /// Another process writes the store.
    Locked,
    /// The device could not be read: undecided.
    Io,
    /// There is no store yet.
    New,
    /// What is stored contradicts what was synced; the rule says how.
    Corrupt(&'static str),
    /// A newer version of the format.
    Unsupported,
    /// Worth saying, and nothing more.
    Note(&'static str),
    /// A file that is what it should be.
    Whole,
    /// A file that no longer means anything.
    LeftOver,
    /// The log ends where it was ended.
    Clean,
    /// The log ends before bytes that no witness vouches for.
    Torn,
    /// A writer is at work there: not checked.
    InProgress,
    /// To be read again before anybody says a word.
    Provisional,
}

/// What a writer does about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Act {
    /// Nothing.
    Nothing,
    /// Refuses to open; changes nothing.
    Refuse,
    /// Makes a new store.
    Make,
    /// Writes a `STORE` slot when the rest is decided.
    WriteSlot,
    /// Gives a segment its name and syncs the directory.
    Rename,
    /// Unlinks the file, or fills it with zeros again.
    Discard,
    /// Leaves it to the sealer.
    Seal,
    /// Gives up the raw file, whose sealed one counts.
    Recycle,
    /// Moves the file out of the way.
    Quarantine,
    /// Refuses the sessions that it touches; others go on.
    RefuseSessions,
    /// Goes on in this file.
    Use,
    /// Goes on in a new segment, as after a rotation.
    Rotate,
    /// Goes on in a new segment whose header says that this one was cut (`begin` 2).
    Cut,
    /// Goes on in a new segment whose header says that this one is whole (`begin` 4).
    Follow,
    /// Reads again.
    Again,
}

/// One row of a block.
#[derive(Debug)]
pub(crate) struct Row<Pattern: 'static> {
    /// Its number in `docs/format.md`.
    pub(crate) id: &'static str,
    /// The facts that it fits.
    pub(crate) when: Pattern,
    /// What it says.
    pub(crate) verdict: Verdict,
    /// What a writer does.
    pub(crate) act: Act,
}

/// A row's answer without its pattern: the same type for every block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ruling {
    /// The row's number.
    pub(crate) row: &'static str,
    /// What it says.
    pub(crate) verdict: Verdict,
    /// What a writer does.
    pub(crate) act: Act,
}

/// Declares the facts of a block: the enum of each, the struct that holds one of each, the pattern
/// that a row has for them (nothing listed: any), and the look-up.
macro_rules! block {
    (
        $(#[$doc:meta])*
        $facts:ident, $pattern:ident, $table:ident $(, $again:ident: $known:ident)?;
        $(
            $(#[$field_doc:meta])*
            $field:ident: $kind:ident { $($(#[$value_doc:meta])* $value:ident),+ }
        )+
    ) => {
        $(
            $(#[$field_doc])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
            pub(crate) enum $kind { $($(#[$value_doc])* $value),+ }

            impl $kind {
                #[cfg(test)]
                const ALL: &'static [Self] = &[$(Self::$value),+];
            }
        )+

        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub(crate) struct $facts {
            $(
                /// As in another block.
                pub(crate) $again: $known,
            )?
            $($(#[$field_doc])* pub(crate) $field: $kind),+
        }

        /// Which facts a row fits: for each, the values listed, or any where none is.
        #[derive(Debug)]
        pub(crate) struct $pattern {
            $($again: &'static [$known],)?
            $($field: &'static [$kind]),+
        }

        impl $pattern {
            const ANY: Self = Self { $($again: &[],)? $($field: &[]),+ };

            pub(super) fn fits(&self, facts: &$facts) -> bool {
                $((self.$again.is_empty() || self.$again.contains(&facts.$again)) &&)?
                $((self.$field.is_empty() || self.$field.contains(&facts.$field)))&&+
            }
        }

        impl $facts {
            /// Returns the first row that fits.
            pub(crate) fn ruling(self) -> Ruling {
                let row = $table.iter().find(|row| row.when.fits(&self));
                let row = row.expect("the last row of a block fits whatever is left");
                Ruling { row: row.id, verdict: row.verdict, act: row.act }
            }

            #[cfg(test)]
            pub(super) fn product() -> Vec<Self> {
                let mut all = Vec::new();
                block!(@nest all, $facts, (), $($again: $known,)? $($field: $kind),+);
                all
            }
        }
    };
    (
        @nest $all:ident, $facts:ident, ($($done:ident)*),
        $field:ident: $kind:ident $(, $rest:ident: $more:ident)*
    ) => {
        for &$field in $kind::ALL {
            block!(@nest $all, $facts, ($($done)* $field), $($rest: $more),*);
        }
    };
    (@nest $all:ident, $facts:ident, ($($done:ident)*),) => { $all.push($facts { $($done),* }) };
}

mod before;
mod end;

pub(crate) use before::*;
pub(crate) use end::*;

const fn row<P>(id: &'static str, when: P, verdict: Verdict, act: Act) -> Row<P> {
    Row { id, when, verdict, act }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Asserts that every combination of a block's facts has a row and that every row comes first
    /// for one of them; returns how often each does.
    macro_rules! walk {
        ($facts:ident, $table:ident) => {{
            let mut firsts = vec![0_u32; $table.len()];
            for facts in $facts::product() {
                let first = $table.iter().position(|row| row.when.fits(&facts));
                let first = first.unwrap_or_else(|| panic!("no row for {facts:?}"));
                assert_eq!(facts.ruling().row, $table[first].id);
                firsts[first] += 1;
            }
            for (row, count) in $table.iter().zip(&firsts) {
                assert!(*count > 0, "{} is never first", row.id);
            }
            firsts.iter().sum::<u32>()
        }};
    }

    #[test]
    fn every_combination_of_facts_has_a_row_and_every_row_comes_first() {
        assert_eq!(walk!(Sight, SIGHT), 64);
        assert_eq!(walk!(FileFacts, FILES), 4 * 3 * 3 * 4 * 5);
        assert_eq!(walk!(HeaderFacts, HEADERS), 4 * 2 * 2 * 2);
        assert_eq!(walk!(EndFacts, ENDS), 8 * 2 * 4 * 2 * 2);
        assert_eq!(walk!(LiveFacts, LIVE), 8);
    }

    #[test]
    fn every_row_of_the_document_is_here() {
        let mut rows: Vec<_> = SIGHT.iter().map(|row| row.id).collect();
        rows.extend(FILES.iter().map(|row| row.id));
        rows.extend(HEADERS.iter().map(|row| row.id));
        rows.extend(ENDS.iter().map(|row| row.id));
        rows.extend(LIVE.iter().map(|row| row.id));
        for (block, most) in [('L', 6), ('F', 13), ('H', 6), ('P', 11), ('R', 4)] {
            for number in 1..=most {
                let id = format!("{block}{number}");
                assert!(rows.contains(&id.as_str()), "{id} is missing");
            }
        }
    }

    #[test]
    fn only_a_refusal_says_corrupt_and_nothing_vouched_is_ever_cut() {
        for facts in EndFacts::product() {
            let ruling = facts.ruling();
            let corrupt = matches!(ruling.verdict, Verdict::Corrupt(_));
            assert_eq!(corrupt, ruling.act == Act::Refuse, "{facts:?}");
            if facts.vouched == Vouched::Yes {
                assert!(corrupt, "{facts:?}: {ruling:?}");
            }
            if facts.images == Images::Differ {
                assert_ne!(ruling.act, Act::Use, "{facts:?}");
            }
        }
    }
}
