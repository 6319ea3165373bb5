//! One small damage to a store.

use super::state::State;
use crate::trial::reference::Files;
use std::collections::BTreeSet;
use std::fmt;

/// A kind of damage; each is a column of the fault model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A bit is another.
    Flip,
    /// A sector or a page is zeros.
    Zero,
    /// Two sectors or pages have changed places.
    Swap,
    /// A sector or a page has what it had before: a write that never came.
    Stale,
    /// A sector or a page has what belongs to another place: a write that went astray.
    Misdirected,
    /// A sector or a page is that of another store.
    Foreign,
    /// A file is shorter.
    Truncate,
    /// A file is not there.
    Remove,
}

/// Bytes of a sector.
const SECTOR: usize = 512;
/// Bytes of a page, and of a physical sector.
const PAGE: usize = 4096;

/// A place of so many bytes at a multiple of them.
#[derive(Clone, Debug)]
pub struct Place {
    file: String,
    at: usize,
    bytes: usize,
}

/// One change.
#[derive(Clone, Debug)]
pub enum Change {
    /// Flips a bit.
    Flip(String, usize),
    /// Puts these bytes there.
    Put(Place, Vec<u8>),
    /// Lets two places change their bytes.
    Swap(Place, Place),
    /// Leaves so many bytes.
    Truncate(String, usize),
    /// Removes a file.
    Remove(String),
}

impl Place {
    fn of<'a>(&self, files: &'a Files) -> &'a [u8] {
        let file = files.get(&self.file).map_or(&[][..], Vec::as_slice);
        let end = file.len().min(self.at + self.bytes);
        file.get(self.at..end).unwrap_or_default()
    }

    fn put(&self, files: &mut Files, bytes: &[u8]) {
        let Some(file) = files.get_mut(&self.file) else { return };
        let length = bytes.len().min(self.bytes).min(file.len() - self.at.min(file.len()));
        file[self.at..self.at + length].copy_from_slice(&bytes[..length]);
    }
}

/// Every sector and every page of a store.
fn places(files: &Files) -> Vec<Place> {
    let mut places = Vec::new();
    for bytes in [SECTOR, PAGE] {
        for (name, file) in files {
            let starts = (0..file.len()).step_by(bytes);
            places.extend(starts.map(|at| Place { file: name.clone(), at, bytes }));
        }
    }
    places
}

/// Every pair of places of one size, each order apart.
fn pairs(ours: &[Place], theirs: &[Place], mut make: impl FnMut(&Place, &Place)) {
    for to in ours {
        for from in theirs.iter().filter(|from| from.bytes == to.bytes) {
            make(to, from);
        }
    }
}

impl Kind {
    /// Every kind, in the order of the table.
    pub const ALL: [Kind; 8] = [
        Kind::Flip,
        Kind::Zero,
        Kind::Swap,
        Kind::Stale,
        Kind::Misdirected,
        Kind::Foreign,
        Kind::Truncate,
        Kind::Remove,
    ];

    /// Returns every change of this kind that leaves other bytes than there were.
    pub fn changes(self, state: &State) -> Vec<Change> {
        let files = &state.files;
        let places = places(files);
        let mut changes = Vec::new();
        let mut put =
            |to: &Place, bytes: &[u8]| changes.push(Change::Put(to.clone(), bytes.into()));
        match self {
            Kind::Flip => {
                for (name, file) in files {
                    let bits = 0..file.len() * 8;
                    changes.extend(bits.map(|bit| Change::Flip(name.clone(), bit)));
                }
            }
            Kind::Zero => places.iter().for_each(|place| put(place, &vec![0; place.bytes])),
            Kind::Stale => {
                for (place, before) in places.iter().flat_map(|place| {
                    let older = state.older.iter().map(|files| place.of(files));
                    let older: BTreeSet<&[u8]> = older.collect();
                    older.into_iter().map(move |before| (place, before))
                }) {
                    put(place, before);
                }
            }
            Kind::Misdirected => pairs(&places, &places, |to, from| put(to, from.of(files))),
            Kind::Foreign => {
                let theirs = self::places(&state.foreign);
                pairs(&places, &theirs, |to, from| put(to, from.of(&state.foreign)));
            }
            Kind::Swap => pairs(&places, &places, |one, other| {
                if (&one.file, one.at) < (&other.file, other.at) {
                    changes.push(Change::Swap(one.clone(), other.clone()));
                }
            }),
            Kind::Truncate => {
                for (name, file) in files {
                    let lengths = 0..file.len();
                    changes.extend(lengths.map(|bytes| Change::Truncate(name.clone(), bytes)));
                }
            }
            Kind::Remove => changes.extend(files.keys().cloned().map(Change::Remove)),
        }
        changes.retain(|change| change.is_one(files));
        changes
    }
}

impl Change {
    /// Makes the change that puts bytes into a file.
    pub fn put(file: &str, at: usize, bytes: &[u8]) -> Self {
        Change::Put(Place { file: file.to_owned(), at, bytes: bytes.len() }, bytes.to_vec())
    }

    /// Whether anything is another afterwards.
    fn is_one(&self, files: &Files) -> bool {
        match self {
            Change::Put(place, bytes) => {
                let there = place.of(files);
                let length = there.len().min(bytes.len());
                there[..length] != bytes[..length]
            }
            Change::Swap(one, other) => one.of(files) != other.of(files),
            Change::Flip(..) | Change::Truncate(..) | Change::Remove(_) => true,
        }
    }

    /// Returns the files with this change.
    pub fn apply(&self, files: &Files) -> Files {
        let mut changed = files.clone();
        match self {
            Change::Flip(name, bit) => {
                if let Some(file) = changed.get_mut(name) {
                    file[bit / 8] ^= 1 << (bit % 8);
                }
            }
            Change::Put(place, bytes) => place.put(&mut changed, bytes),
            Change::Swap(one, other) => {
                one.put(&mut changed, other.of(files));
                other.put(&mut changed, one.of(files));
            }
            Change::Truncate(name, bytes) => {
                if let Some(file) = changed.get_mut(name) {
                    file.truncate(*bytes);
                }
            }
            Change::Remove(name) => {
                changed.remove(name);
            }
        }
        changed
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes of {} at {}", self.bytes, self.file, self.at)
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Change::Flip(name, bit) => write!(f, "bit {} of byte {} of {name}", bit % 8, bit / 8),
            Change::Put(place, _) => write!(f, "other bytes in {place}"),
            Change::Swap(one, other) => write!(f, "{one} and {other} swapped"),
            Change::Truncate(name, bytes) => write!(f, "{name} cut to {bytes} bytes"),
            Change::Remove(name) => write!(f, "{name} removed"),
        }
    }
}
