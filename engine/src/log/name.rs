//! Names of files in a store, both ways.
//!
//! | name | file |
//! |---|---|
//! | 20 digits, `.log` | a raw segment, by its first lsn |
//! | 20 digits, `.seal` | a sealed segment, by its first lsn |
//! | `spare-N` | a segment of zeros that waits for its use |
//! | `spare-N.dirty` | a file that is being zeroed |
//! | `LOCK`, `holder` | who writes the store |
//! | `STORE`, `DURABLE` | the two witnesses |
//! | anything that ends in `.tmp` | a file that was never finished |
//!
//! A name means something if and only if it is exactly the one that we would write: no sign, no
//! further digits, no zeros in front of N.

use super::limit::LSN_MAX;
use std::ffi::OsStr;

/// The lock.
pub(crate) const LOCK: &str = "LOCK";
/// Who holds the lock, for people.
pub(crate) const HOLDER: &str = "holder";
/// The superblock.
pub(crate) const STORE: &str = "STORE";
/// The durable end.
pub(crate) const DURABLE: &str = "DURABLE";

const SEGMENT_SUFFIX: &str = ".log";
const SEAL_SUFFIX: &str = ".seal";
const SPARE_PREFIX: &str = "spare-";
const DIRTY_SUFFIX: &str = ".dirty";
const TEMPORARY_SUFFIX: &str = ".tmp";

/// What a name in a store's directory stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Name {
    /// A raw segment, by its first lsn.
    Segment(u64),
    /// A sealed segment, by its first lsn.
    Sealed(u64),
    /// A spare, or a segment whose rename was lost.
    Spare(u32),
    /// A file that is being zeroed.
    DirtySpare(u32),
    /// The lock.
    Lock,
    /// Who holds the lock.
    Holder,
    /// The superblock.
    Store,
    /// The durable end.
    Durable,
    /// A file that was never finished.
    Temporary,
    /// Nothing of ours.
    Other,
}

impl Name {
    /// Returns what a name stands for.
    pub(crate) fn parse(name: &OsStr) -> Self {
        let Some(name) = name.to_str() else { return Self::Other };
        match name {
            LOCK => return Self::Lock,
            HOLDER => return Self::Holder,
            STORE => return Self::Store,
            DURABLE => return Self::Durable,
            _ => (),
        }
        if name.ends_with(TEMPORARY_SUFFIX) {
            return Self::Temporary;
        }
        if let Some(number) = name.strip_prefix(SPARE_PREFIX) {
            let (number, make): (_, fn(u32) -> Self) = match number.strip_suffix(DIRTY_SUFFIX) {
                Some(number) => (number, Self::DirtySpare),
                None => (number, Self::Spare),
            };
            return spare_number(number).map_or(Self::Other, make);
        }
        let segment = name.strip_suffix(SEGMENT_SUFFIX).and_then(lsn).map(Self::Segment);
        let sealed = || name.strip_suffix(SEAL_SUFFIX).and_then(lsn).map(Self::Sealed);
        segment.or_else(sealed).unwrap_or(Self::Other)
    }
}

/// Returns the name of a raw segment.
pub(crate) fn segment(first_lsn: u64) -> String {
    format!("{first_lsn:020}{SEGMENT_SUFFIX}")
}

/// Returns the name of a spare.
pub(crate) fn spare(number: u32) -> String {
    format!("{SPARE_PREFIX}{number}")
}

/// Returns the name of a spare that is being zeroed.
pub(crate) fn dirty_spare(number: u32) -> String {
    format!("{SPARE_PREFIX}{number}{DIRTY_SUFFIX}")
}

/// Returns the name under which a file is made that will then be called `name`.
pub(crate) fn temporary(name: &str) -> String {
    format!("{name}{TEMPORARY_SUFFIX}")
}

fn lsn(digits: &str) -> Option<u64> {
    let is_plain = digits.len() == 20 && digits.bytes().all(|byte| byte.is_ascii_digit());
    let lsn = is_plain.then(|| digits.parse().ok()).flatten()?;
    (1..=LSN_MAX).contains(&lsn).then_some(lsn)
}

fn spare_number(digits: &str) -> Option<u32> {
    let number: u32 = digits.parse().ok()?;
    (number.to_string() == digits).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(name: &str) -> Name {
        Name::parse(OsStr::new(name))
    }

    #[test]
    fn each_name_stands_for_its_file() {
        assert_eq!(segment(1), "00000000000000000001.log");
        assert_eq!(parse("00000000000000000001.log"), Name::Segment(1));
        assert_eq!(parse(&segment(LSN_MAX)), Name::Segment(LSN_MAX));
        assert_eq!(parse("09223372036854775807.seal"), Name::Sealed(LSN_MAX));
        assert_eq!(spare(0), "spare-0");
        assert_eq!(parse("spare-0"), Name::Spare(0));
        assert_eq!(dirty_spare(12), "spare-12.dirty");
        assert_eq!(parse("spare-12.dirty"), Name::DirtySpare(12));
        assert_eq!(parse("LOCK"), Name::Lock);
        assert_eq!(parse("holder"), Name::Holder);
        assert_eq!(parse("STORE"), Name::Store);
        assert_eq!(parse("DURABLE"), Name::Durable);
        assert_eq!(temporary(DURABLE), "DURABLE.tmp");
        assert_eq!(parse("DURABLE.tmp"), Name::Temporary);
        assert_eq!(parse(".tmp"), Name::Temporary);
    }

    #[test]
    fn a_name_that_we_would_not_write_is_not_ours() {
        for name in [
            "",
            "1.log",
            "00000000000000000000.log",
            "09223372036854775808.log",
            "000000000000000000001.log",
            "0000000000000000001.log",
            "+0000000000000000001.log",
            "00000000000000000001.LOG",
            "00000000000000000001.log.seal",
            "00000000000000000001",
            "spare-",
            "spare-01",
            "spare-+1",
            "spare--1",
            "spare-4294967296",
            "spare-1.dirty.dirty",
            "Spare-1",
            "lock",
            "Holder",
            "store",
        ] {
            assert_eq!(parse(name), Name::Other, "{name}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_and_what_is_read_is_what_was_written(
            lsn in 1..=LSN_MAX, number: u32, other in "[a-z0-9.-]{0,24}",
        ) {
            prop_assert_eq!(parse(&segment(lsn)), Name::Segment(lsn));
            prop_assert_eq!(parse(&spare(number)), Name::Spare(number));
            prop_assert_eq!(parse(&dirty_spare(number)), Name::DirtySpare(number));
            let written = match parse(&other) {
                Name::Segment(lsn) => segment(lsn),
                Name::Spare(number) => spare(number),
                Name::DirtySpare(number) => dirty_spare(number),
                _ => other.clone(),
            };
            prop_assert_eq!(written, other);
        }
    }
}
