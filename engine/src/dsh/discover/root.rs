//! A sessions root, or one folder of it: what the host refuses as a whole.

use std::path::Path;

use super::fault::{
    DUPLICATE_ID, FLAT_FILE, FolderFault, LOOKUP_BLOCKED, MIXED_ENCODING, NAME_NOT_UTF8,
    NO_SESSIONS, OTHER_FILES, SYMLINK,
};
use super::locate::{self, Folder};
use super::scan::{Artifacts, Blocker, Obstacle, Scan, SessionName};
use super::tally::{Tally, json_quoted, quoted_path};
use super::{Discovery, Found, project, session};
use crate::dsh::name::Encoding;
use crate::dsh::segment::decode_segment;
use crate::storage::{Entry, Kind, Storage};

/// Reads a root: every directory in it is a project's, whatever its name.
pub(super) fn read(storage: &dyn Storage, folder: &Folder, entries: Vec<Entry>) -> Discovery {
    let mut scan = Scan::new(storage, Discovery::new(&folder.shown, Found::Root));
    let mut links = Tally::default();
    for entry in entries {
        let below = folder.join(&entry.name);
        match entry.kind {
            Kind::Directory => {
                refuse_name_of_bytes(&mut scan, folder, &entry);
                project::read(&mut scan, &below);
            }
            Kind::Symlink if locate::is_directory(storage, &below.shown) => links.add(&entry.name),
            Kind::Regular | Kind::Symlink | Kind::Other => scan.other.add(&entry.name),
        }
    }
    if links.count() > 0 {
        let folders = links.of("linked project folder", "linked project folders");
        let message = format!("{folders} that the host does not see: {}", links.names());
        scan.discovery.faults.push(FolderFault::said(&folder.shown, SYMLINK, message));
    }
    finish(scan, folder)
}

/// Reads one project folder as a part of its root.
pub(super) fn read_project(storage: &dyn Storage, folder: &Folder) -> Discovery {
    let mut scan = Scan::new(storage, Discovery::new(&folder.shown, Found::Project));
    project::read(&mut scan, folder);
    finish(scan, folder)
}

/// Reads one session folder as a part of its root.
pub(super) fn read_session(storage: &dyn Storage, folder: &Folder) -> Discovery {
    let mut scan = Scan::new(storage, Discovery::new(&folder.shown, Found::Session));
    session::read(&mut scan, folder);
    finish(scan, folder)
}

/// Says what follows from all that was seen.
fn finish(mut scan: Scan<'_>, folder: &Folder) -> Discovery {
    scan.sessions.sort_unstable();
    let (path, mut faults) = (folder.shown.as_path(), Vec::new());
    faults.extend(mixed_encoding(path, &scan.zstd, &scan.plain));
    faults.extend(flat_file(path, &scan.flat));
    faults.extend(
        scan.sessions
            .chunk_by(|a, b| a.session == b.session)
            .filter_map(|group| if group.len() < 2 { None } else { duplicate_id(path, group) }),
    );
    scan.blockers.sort_unstable();
    let is_set = likely_setting(&scan.zstd, &scan.plain);
    let blocked = |it| lookup_blocked(path, it, &scan.sessions, is_set);
    faults.extend(scan.blockers.iter().filter_map(blocked));
    if scan.other.count() > 0 {
        let files = scan.other.of("other file or folder", "other files and folders");
        let message = format!("{files} not looked at: {}", scan.other.names());
        faults.push(FolderFault::said(path, OTHER_FILES, message));
    }
    let mut discovery = scan.discovery;
    let is_silent = discovery.targets.is_empty() && !discovery.faults.iter().any(|it| it.unchecked);
    if is_silent {
        faults.push(no_sessions(path, discovery.found));
    }
    discovery.faults.extend(faults);
    discovery
}

/// The host mangles such a name and then looks for a folder that is not there.
fn refuse_name_of_bytes(scan: &mut Scan<'_>, root: &Folder, entry: &Entry) {
    if entry.name.to_str().is_some() {
        return;
    }
    let path = root.host.join(&entry.name);
    let shown = quoted_path(Path::new(&entry.name));
    let message = format!("the name of the project folder {shown} is not UTF-8");
    let host = format!("ENOENT: no such file or directory, scandir '{}'", path.display());
    scan.discovery.faults.push(FolderFault::refused(&root.shown, NAME_NOT_UTF8, message, host));
}

/// Returns what the host is set to, which we cannot know: it will be what most of the logs are,
/// Zstandard by default.
fn likely_setting(zstd: &Artifacts, plain: &Artifacts) -> Encoding {
    if plain.count > zstd.count { Encoding::Plain } else { Encoding::Zstd }
}

fn mixed_encoding(path: &Path, zstd: &Artifacts, plain: &Artifacts) -> Option<FolderFault> {
    let (Some(first_zstd), Some(first_plain)) = (&zstd.first, &plain.first) else { return None };
    let mut message = format!(
        "logs of both encodings in one root: {} in Zstandard, such as {}, and {} in plain text, \
         such as {}",
        zstd.count,
        quoted_path(first_zstd),
        plain.count,
        quoted_path(first_plain)
    );
    if zstd.count_v0 == 0 || plain.count_v0 == 0 {
        message.push_str("; a host of format 0 looks for its own logs only and does not mind");
    }
    let is_set = likely_setting(zstd, plain);
    let at = if is_set == Encoding::Zstd { first_plain } else { first_zstd };
    let host = format!(
        "session artifact {} uses {}, but this backend is configured for compression \"{}\"; use \
         a separate root or select the matching compression mode",
        json_quoted(at),
        is_set.other().suffix(),
        is_set.compression()
    );
    Some(FolderFault::refused(path, MIXED_ENCODING, message, host))
}

fn flat_file(path: &Path, flat: &Artifacts) -> Option<FolderFault> {
    let first = flat.first.as_ref()?;
    let files = if flat.count == 1 { "file".to_owned() } else { format!("{} files", flat.count) };
    let message = format!("log {files} directly in a project folder: {}", quoted_path(first));
    Some(FolderFault::refused(path, FLAT_FILE, message, flat_file_message(first)))
}

fn flat_file_message(path: &Path) -> String {
    format!(
        "session artifact {} uses the unsupported flat-file layout; use a separate root or move \
         it into a project/session directory before loading",
        json_quoted(path)
    )
}

/// Speaks of one session folder's name in several projects; `None` if no id has such a folder.
fn duplicate_id(path: &Path, group: &[SessionName]) -> Option<FolderFault> {
    let id = decode_segment(group[0].session.as_encoded_bytes())?;
    let id = String::from_utf8_lossy(&id);
    let mut projects = Tally::default();
    for name in group {
        projects.add(&name.project);
    }
    let shown = quoted_path(Path::new(&group[0].session));
    let mut message = format!("session folder {shown} in several projects: {}", projects.names());
    if group.iter().filter(|name| name.has_v0).count() < 2 {
        message.push_str("; a host of format 0 sees at most one of them");
    }
    let host =
        format!("duplicate JSONL session id \"{id}\" appears in multiple project directories");
    Some(FolderFault::refused(path, DUPLICATE_ID, message, host))
}

/// Speaks of what lies in the way of a session; `None` if there is no such session.
fn lookup_blocked(
    path: &Path,
    blocker: &Blocker,
    sessions: &[SessionName],
    is_set: Encoding,
) -> Option<FolderFault> {
    sessions.binary_search_by(|name| name.session.cmp(&blocker.session)).ok()?;
    let session = quoted_path(Path::new(&blocker.session));
    let shown = quoted_path(&blocker.path);
    let message = format!("session {session} is listed but does not open: {shown} is in its way");
    // The host tries the other encoding's name first.
    let tried = blocker.path.join(format!("session{}", is_set.other().suffix()));
    let tried = tried.display();
    let host = match blocker.obstacle {
        Obstacle::NotFolder => format!("ENOTDIR: not a directory, open '{tried}'"),
        Obstacle::BadLink => format!("ELOOP: too many symbolic links encountered, open '{tried}'"),
        Obstacle::FlatPlace => flat_file_message(&blocker.path),
    };
    Some(FolderFault::refused(path, LOOKUP_BLOCKED, message, host))
}

fn no_sessions(path: &Path, found: Found) -> FolderFault {
    let what = match found {
        Found::Session => "this session folder holds no log",
        Found::Project => "this project folder holds no session's log",
        _ => "this sessions root holds no session's log",
    };
    FolderFault::said(path, NO_SESSIONS, what.to_owned())
}
