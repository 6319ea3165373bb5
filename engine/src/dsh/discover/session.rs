//! A session folder: the generations of one log, and what else lies beside them.

use std::fmt::Write as _;

use super::Target;
use super::fault::{FolderFault, LEFTOVERS, SEVERAL_GENERATIONS, UNKNOWN_GENERATION, WRONG_NAME};
use super::locate::Folder;
use super::scan::{Scan, SessionName};
use super::tally::Tally;
use crate::dsh::identity::{self, Placed};
use crate::dsh::name::{Generation, NameKind};
use crate::storage::Entry;

/// The highest format that any host known to this version reads.
const FORMAT_MAX: u64 = 4;

/// Reads one session folder. Each generation is a target, whatever its name names.
pub(super) fn read(scan: &mut Scan<'_>, folder: &Folder) {
    let entries = match scan.storage.list(&folder.shown) {
        Ok(entries) => entries,
        Err(error) => return scan.discovery.unreadable(folder, &error),
    };
    let (mut leftovers, mut wrong) = (Tally::default(), Tally::default());
    let mut generations = Vec::new();
    for entry in &entries {
        match NameKind::of(entry.name.as_encoded_bytes()) {
            NameKind::Generation(generation) => {
                generations.push(generation);
                take(scan, folder, entry, generation);
            }
            NameKind::Lock => {}
            NameKind::Temporary => leftovers.add(&entry.name),
            NameKind::MigrationStage => leftovers.add_with(&entry.name, "of a migration"),
            NameKind::FolderStage => {
                leftovers.add_with(&entry.name, "a folder that was being made");
            }
            NameKind::Lookalike(why) => wrong.add_with(&entry.name, why),
            NameKind::Other => scan.other.add(&entry.name),
        }
    }
    if let Some(placed) =
        Placed::of(&folder.host.join("session")).filter(|_| !generations.is_empty())
    {
        let has_v0 = generations.iter().any(|generation| generation.number == 0);
        let Placed { session, project, .. } = placed;
        scan.sessions.push(SessionName { session, project, has_v0 });
    }
    hide_all_but_the_highest(scan, folder, generations);
    if leftovers.count() > 0 {
        let files = leftovers.of("temporary file", "temporary files");
        let message = format!("{files} of an unfinished write: {}", leftovers.names());
        scan.discovery.faults.push(FolderFault::said(&folder.shown, LEFTOVERS, message));
    }
    if wrong.count() > 0 {
        let files = wrong.of("name", "names");
        let message = format!("{files} that the host does not see: {}", wrong.names());
        scan.discovery.faults.push(FolderFault::said(&folder.shown, WRONG_NAME, message));
    }
}

fn take(scan: &mut Scan<'_>, folder: &Folder, entry: &Entry, generation: Generation) {
    let host = folder.host.join(&entry.name);
    let target = Target::new(folder.shown.join(&entry.name), Placed::of(&host), entry.kind);
    scan.discovery.targets.push(target);
    scan.of(generation.encoding).add(host, generation.number == 0);
}

/// Says which of several generations a host of format 2 or later reads, and marks the others.
fn hide_all_but_the_highest(
    scan: &mut Scan<'_>,
    folder: &Folder,
    mut generations: Vec<Generation>,
) {
    generations.sort_unstable();
    let Some(highest) = generations.last().copied() else { return };
    let lower = generations.partition_point(|generation| generation.number < highest.number);
    if lower == 0 {
        return;
    }
    let count = scan.discovery.targets.len();
    for target in &mut scan.discovery.targets[count - generations.len()..] {
        let number = target.generation.map(|generation| generation.number);
        target.hidden_by = (number != Some(highest.number)).then_some(highest.number);
    }
    let mut names = Tally::default();
    for generation in &generations[..lower] {
        names.add(generation.file_name().as_ref());
    }
    let winner = highest.file_name();
    let mut message = format!(
        "several generations: hosts of format 2 and later read \"{winner}\" and not {}",
        names.names()
    );
    if generations[0].number == 0 {
        let _ = write!(message, "; a host of format 0 reads the log of format 0 only");
    }
    scan.discovery.faults.push(FolderFault::said(&folder.shown, SEVERAL_GENERATIONS, message));
    if highest.number > FORMAT_MAX {
        scan.discovery.faults.push(unknown(folder, highest, generations[lower - 1]));
    }
}

/// Says that hosts refuse a session because of a generation that they do not know.
fn unknown(folder: &Folder, highest: Generation, next: Generation) -> FolderFault {
    let (winner, number) = (highest.file_name(), highest.number);
    let hidden = next.file_name();
    let message = format!(
        "\"{winner}\" is of format {number}; hosts that do not know it refuse the session and do \
         not fall back to \"{hidden}\""
    );
    let path = folder.host.join(&winner);
    let id = Placed::of(&path).and_then(|placed| placed.session_id()).unwrap_or_default();
    let id = identity::shown(&id);
    let host = format!(
        "session \"{id}\" uses log format v{number}, but this harness reads only v{FORMAT_MAX}: \
         the log was written by a newer harness — upgrade the harness to open it (raw log: {})",
        path.display()
    );
    FolderFault::refused(&folder.shown, UNKNOWN_GENERATION, message, host)
}
