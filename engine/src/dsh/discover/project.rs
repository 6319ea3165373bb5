//! A project folder: session folders, and what must not lie beside them.

use std::ffi::OsStr;
use std::io;

use super::fault::{FolderFault, LEFTOVERS, SYMLINK, WRONG_NAME};
use super::locate::Folder;
use super::scan::{Obstacle, Scan, SessionName};
use super::session;
use super::tally::Tally;
use crate::dsh::identity::Placed;
use crate::dsh::name::{Encoding, Generation, NameKind};
use crate::storage::{Entry, Kind};

/// What is said of a project folder once it has been read.
#[derive(Default)]
struct Notes {
    links: Tally,
    leftovers: Tally,
    wrong: Tally,
}

/// Reads one project folder: every directory in it is a session's.
pub(super) fn read(scan: &mut Scan<'_>, folder: &Folder) {
    let entries = match scan.storage.list(&folder.shown) {
        Ok(entries) => entries,
        Err(error) => return scan.discovery.unreadable(folder, &error),
    };
    let mut notes = Notes::default();
    for entry in &entries {
        match entry.kind {
            Kind::Directory => directory(scan, folder, entry, &mut notes),
            Kind::Symlink => link(scan, folder, entry, &mut notes),
            Kind::Regular | Kind::Other => file(scan, folder, entry, &mut notes),
        }
    }
    notes.say(scan, folder);
}

fn directory(scan: &mut Scan<'_>, folder: &Folder, entry: &Entry, notes: &mut Notes) {
    if entry.name.to_str().is_none() {
        notes.wrong.add_with(&entry.name, "a folder whose name is not UTF-8");
    }
    if NameKind::of(entry.name.as_encoded_bytes()) == NameKind::FolderStage {
        notes.leftovers.add_with(&entry.name, "a folder that was being made");
    }
    // A host that looks for the session `a` tries to open `a.jsonl`, and a directory opens.
    block_flat_place(scan, folder, &entry.name);
    session::read(scan, &folder.join(&entry.name));
}

/// A link is not in the host's list of folders, but a lookup by id goes through it.
fn link(scan: &mut Scan<'_>, folder: &Folder, entry: &Entry, notes: &mut Notes) {
    let target = folder.join(&entry.name);
    match scan.storage.stat(&target.shown) {
        Ok(stat) if stat.kind == Kind::Directory => {
            notes.links.add(&entry.name);
            if let Some(name) = session_behind(scan, &target) {
                scan.sessions.push(name);
            }
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return scan.other.add(&entry.name);
        }
        judged => {
            let obstacle = if judged.is_ok() { Obstacle::NotFolder } else { Obstacle::BadLink };
            scan.other.add(&entry.name);
            scan.block(&entry.name, target.host, obstacle);
        }
    }
    block_flat_place(scan, folder, &entry.name);
}

fn file(scan: &mut Scan<'_>, folder: &Folder, entry: &Entry, notes: &mut Notes) {
    let name = entry.name.as_encoded_bytes();
    let path = folder.host.join(&entry.name);
    if Encoding::of_name(name).is_none() {
        scan.block(&entry.name, path, Obstacle::NotFolder);
        return match NameKind::of(name) {
            NameKind::Lookalike(_) | NameKind::Temporary => {
                notes.wrong.add_with(&entry.name, "not in a session folder");
            }
            _ => scan.other.add(&entry.name),
        };
    }
    if entry.kind == Kind::Regular {
        scan.flat.add(path, true);
    } else {
        scan.other.add(&entry.name);
        block_flat_place(scan, folder, &entry.name);
    }
}

/// Notes that something that opens has the name of a session's flat file.
fn block_flat_place(scan: &mut Scan<'_>, folder: &Folder, name: &OsStr) {
    let Some(name) = name.to_str() else { return };
    for encoding in [Encoding::Zstd, Encoding::Plain] {
        if let Some(session) = name.strip_suffix(encoding.suffix()) {
            scan.block(OsStr::new(session), folder.host.join(name), Obstacle::FlatPlace);
        }
    }
}

/// Returns the session that a lookup finds behind a link, if there is one.
fn session_behind(scan: &Scan<'_>, link: &Folder) -> Option<SessionName> {
    let entries = scan.storage.list(&link.shown).ok()?;
    let generations = entries.iter().filter_map(|it| Generation::parse(it.name.as_encoded_bytes()));
    let numbers: Vec<u64> = generations.map(|generation| generation.number).collect();
    if numbers.is_empty() {
        return None;
    }
    let Placed { session, project, .. } = Placed::of(&link.host.join("session"))?;
    Some(SessionName { session, project, has_v0: numbers.contains(&0) })
}

impl Notes {
    fn say(self, scan: &mut Scan<'_>, folder: &Folder) {
        let mut say = |tally: &Tally, rule, words: String| {
            if tally.count() > 0 {
                let message = format!("{words}: {}", tally.names());
                scan.discovery.faults.push(FolderFault::said(&folder.shown, rule, message));
            }
        };
        let links = self.links.of("linked session folder", "linked session folders");
        say(&self.links, SYMLINK, format!("{links} that the host does not list"));
        let leftovers = self.leftovers.of("leftover", "leftovers");
        say(&self.leftovers, LEFTOVERS, format!("{leftovers} of an unfinished write"));
        let wrong = self.wrong.of("name", "names");
        say(&self.wrong, WRONG_NAME, format!("{wrong} that the host does not see"));
    }
}
