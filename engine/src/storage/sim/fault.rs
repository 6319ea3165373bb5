//! Faults of the disk that a test orders.

use std::io;
use std::ops::Range;
use std::path::Path;

/// The calls that can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Call {
    /// Every call that changes or syncs something, from [`Call::Create`] to [`Call::SyncDir`].
    Change,
    /// A file is made by `open_write`.
    Create,
    /// `create_dir`.
    CreateDir,
    /// `write_at`.
    Write,
    /// `set_len`.
    SetLen,
    /// `rename`, found by the old name.
    Rename,
    /// `link`, found by the old name.
    Link,
    /// `remove`.
    Remove,
    /// `remove_dir`.
    RemoveDir,
    /// `sync_data`.
    Sync,
    /// `sync_dir`.
    SyncDir,
    /// A file that is there is opened, for reading or for writing.
    Open,
    /// `list`.
    List,
    /// `stat` of a path.
    Stat,
    /// `read_at`.
    Read,
    /// `read_device_at`.
    ReadDevice,
    /// `try_lock` and `try_lock_dir`.
    Lock,
}

/// Why a call fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// The device has an error.
    Eio,
    /// The device is full.
    NoSpace,
    /// The process dies in the call; every later call of its handles fails as well.
    Killed,
    /// The owner may not.
    Denied,
}

/// How a call fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Failure {
    /// Nothing is done but the error. A failed sync leaves its pages clean and the device without
    /// them: later syncs say `Ok`, and reads still show them.
    Error(Cause),
    /// A sync fails and its pages stay dirty, so that a later sync carries them.
    ErrorDirty(Cause),
    /// The call is done whole and fails all the same.
    ErrorAfter(Cause),
    /// A read or write takes so many bytes and says so.
    Short(usize),
    /// A write takes so many bytes and fails.
    ShortError(usize, Cause),
    /// A write or sync says `Ok`, and the device never gets the bytes; the cache shows them.
    Lost,
    /// A sync says `Ok`, and on the device one bit is another.
    Flip {
        /// Byte in the file.
        offset: u64,
        /// Bit of it, 0 to 7.
        bit: u8,
    },
}

/// One ordered fault: which calls it lets pass, which it strikes, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    call: Call,
    failure: Failure,
    pattern: Option<String>,
    range: Option<Range<u64>>,
    pass: u64,
    times: u64,
}

impl Fault {
    /// Strikes the next call of this kind, once.
    pub fn new(call: Call, failure: Failure) -> Self {
        Self { call, failure, pattern: None, range: None, pass: 0, times: 1 }
    }

    /// Lets so many calls pass before the first that is struck.
    #[must_use]
    pub fn after(mut self, calls: u64) -> Self {
        self.pass = calls;
        self
    }

    /// Strikes so many calls and not one.
    #[must_use]
    pub fn times(mut self, times: u64) -> Self {
        self.times = times;
        self
    }

    /// Strikes for ever. Such a fault is part of the disk, and outlives a power cut.
    #[must_use]
    pub fn forever(self) -> Self {
        self.times(u64::MAX)
    }

    /// Strikes only files whose name fits the pattern, as [`super::SimDisk::counts`] has it.
    #[must_use]
    pub fn on(mut self, pattern: impl Into<String>) -> Self {
        self.pattern = Some(pattern.into());
        self
    }

    /// Strikes only reads and writes that touch this range of the file.
    #[must_use]
    pub fn at(mut self, range: Range<u64>) -> Self {
        self.range = Some(range);
        self
    }

    pub(super) fn is_of_the_disk(&self) -> bool {
        self.times == u64::MAX
    }

    pub(super) fn is_spent(&self) -> bool {
        self.times == 0
    }

    /// Counts a call and says how it fails, if it does.
    pub(super) fn strike(
        &mut self,
        call: Call,
        path: &Path,
        range: &Range<u64>,
    ) -> Option<Failure> {
        let meant = self.call == call || self.call == Call::Change && call.changes();
        let touched = |mine: &Range<u64>| mine.start < range.end && range.start < mine.end;
        if !meant
            || self.times == 0
            || !self.pattern.as_ref().is_none_or(|pattern| fits(pattern, path))
            || !self.range.as_ref().is_none_or(touched)
        {
            return None;
        }
        if self.pass > 0 {
            self.pass -= 1;
            return None;
        }
        if !self.is_of_the_disk() {
            self.times -= 1;
        }
        Some(self.failure)
    }
}

impl Call {
    fn changes(self) -> bool {
        !matches!(
            self,
            Self::Open | Self::List | Self::Stat | Self::Read | Self::ReadDevice | Self::Lock
        )
    }
}

impl Cause {
    pub(super) fn error(self) -> io::Error {
        match self {
            Self::Eio if cfg!(unix) => io::Error::from_raw_os_error(5),
            Self::Eio => io::Error::other("input/output error"),
            Self::NoSpace => io::ErrorKind::StorageFull.into(),
            Self::Killed => killed(),
            Self::Denied => io::ErrorKind::PermissionDenied.into(),
        }
    }
}

pub(super) fn killed() -> io::Error {
    io::Error::other("the process of this handle was killed")
}

/// Returns whether a pattern, in which `*` stands for any bytes, fits the name of a file, or its
/// whole path if it has a `/`.
pub(super) fn fits(pattern: &str, path: &Path) -> bool {
    let whole = pattern.contains('/');
    let name = if whole { path.as_os_str() } else { path.file_name().unwrap_or_default() };
    let mut rest = name.as_encoded_bytes();
    let mut parts = pattern.as_bytes().split(|byte| *byte == b'*');
    let first = parts.next().unwrap_or_default();
    let Some(behind) = rest.strip_prefix(first) else { return false };
    rest = behind;
    let mut last = None;
    for part in parts {
        if let Some(middle) = last.replace(part) {
            let Some(place) = find(rest, middle) else { return false };
            rest = &rest[place + middle.len()..];
        }
    }
    last.map_or(rest.is_empty(), |last| rest.ends_with(last))
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    (0..=text.len().checked_sub(part.len())?).find(|place| text[*place..].starts_with(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_fits_names_or_paths() {
        let fits = |pattern: &str| fits(pattern, Path::new("/store/0042.log"));
        for yes in ["*", "*.log", "0042.log", "00*", "0*4*.l*g", "/store/*", "*/0042.log", "**"] {
            assert!(fits(yes), "{yes}");
        }
        for no in ["", "log", "*.seal", "store*", "/store", "0*5*.log", "*g.log", "0042.log*x"] {
            assert!(!fits(no), "{no}");
        }
    }

    #[test]
    fn a_fault_lets_calls_pass_and_strikes_so_often() {
        let eio = Failure::Error(Cause::Eio);
        let mut fault = Fault::new(Call::Change, eio).after(1).times(2).on("a*").at(10..20);
        let path = Path::new("/a1");
        let mut strike = |call, path: &Path, range| fault.strike(call, path, &range).is_some();
        assert!(!strike(Call::Read, path, 0..30));
        assert!(!strike(Call::Write, Path::new("/b"), 0..30));
        assert!(!strike(Call::Write, path, 20..30));
        // None of these was a call of its kind; the first that is passes.
        let struck: Vec<bool> = (0..4).map(|_| strike(Call::Write, path, 0..11)).collect();
        assert_eq!(struck, [false, true, true, false]);
    }
}
