//! Any other directory: walked, links not followed, for names that end like a log's.

use super::fault::{FolderFault, NESTED_ROOT, NO_SESSIONS, OTHER_FILES};
use super::locate::{self, Folder};
use super::tally::Tally;
use super::{Discovery, Found, Target};
use crate::dsh::name::{self, Encoding};
use crate::storage::{Entry, Kind, Storage};

/// Walks a directory whose entries have been read. The stack is ours and holds folders still to be
/// read, so depth costs nothing; a path that is too long for the system is an unreadable folder.
pub(super) fn walk(storage: &dyn Storage, top: &Folder, entries: Vec<Entry>) -> Discovery {
    let mut discovery = Discovery::new(&top.shown, Found::Tree);
    let (mut other, mut links) = (Tally::default(), 0_u64);
    let is_empty = entries.is_empty();
    let mut waiting: Vec<Folder> = Vec::new();
    let mut next = Some((top.clone(), Ok(entries)));
    while let Some((folder, listed)) = next.take() {
        match listed {
            Ok(entries) => {
                note_root(&mut discovery, top, &folder, &entries);
                for entry in entries {
                    let below = folder.join(&entry.name);
                    match entry.kind {
                        Kind::Directory => waiting.push(below),
                        Kind::Symlink => {
                            links += 1;
                            other.add(&entry.name);
                        }
                        Kind::Regular | Kind::Other if is_log(&entry) => {
                            discovery.targets.push(target(below, entry.kind));
                        }
                        Kind::Regular | Kind::Other => other.add(&entry.name),
                    }
                }
            }
            Err(error) => discovery.unreadable(&folder, &error),
        }
        next = waiting.pop().map(|folder| {
            let listed = storage.list(&folder.shown);
            (folder, listed)
        });
    }
    if other.count() > 0 {
        discovery.faults.push(other_files(top, &other, links));
    }
    if discovery.targets.is_empty() && !discovery.faults.iter().any(|it| it.unchecked) {
        discovery.faults.push(no_sessions(top, is_empty));
    }
    discovery
}

fn is_log(entry: &Entry) -> bool {
    Encoding::of_name(entry.name.as_encoded_bytes()).is_some()
}

fn target(file: Folder, kind: Kind) -> Target {
    let placed = locate::place(&file.host);
    Target::new(file.shown, placed, kind)
}

/// Says that there is a root in here whose rules as a whole were not checked.
fn note_root(discovery: &mut Discovery, top: &Folder, folder: &Folder, entries: &[Entry]) {
    let is_project = |entry: &Entry| {
        entry.kind == Kind::Directory && name::is_project(entry.name.as_encoded_bytes())
    };
    // A project's sessions may be named like projects.
    let is_root = !name::is_project(folder.name()) && entries.iter().any(is_project);
    if folder.shown != top.shown && is_root {
        let message = "a sessions root lies in the folder that was named; its files were checked \
                       one by one";
        discovery.faults.push(FolderFault::said(&folder.shown, NESTED_ROOT, message.to_owned()));
    }
}

fn other_files(top: &Folder, other: &Tally, links: u64) -> FolderFault {
    let files = other.of("other file", "other files");
    let links = match links {
        0 => String::new(),
        1 => ", 1 of them a link, which is not followed".to_owned(),
        _ => format!(", {links} of them links, which are not followed"),
    };
    let message = format!("{files} not looked at{links}: {}", other.names());
    FolderFault::said(&top.shown, OTHER_FILES, message)
}

fn no_sessions(top: &Folder, is_empty: bool) -> FolderFault {
    let message = if is_empty {
        "this folder is empty"
    } else {
        "neither a sessions root nor a file that ends in .jsonl or .jsonl.zstd is here"
    };
    FolderFault::said(&top.shown, NO_SESSIONS, message.to_owned())
}
