//! Where a path lies: what the folders above it are called, and so whether it lies in a root.

use std::path::{Component, Path, PathBuf};

use crate::dsh::identity::Placed;
use crate::dsh::name::{self, Generation};
use crate::storage::{Entry, Kind, Storage};

/// A folder under its two names.
#[derive(Clone, Debug)]
pub(super) struct Folder {
    /// The path as the user would write it; this one is opened.
    pub(super) shown: PathBuf,
    /// The path as the host would write it: absolute, without `.` and `..`.
    pub(super) host: PathBuf,
}

impl Folder {
    pub(super) fn join(&self, name: &std::ffi::OsStr) -> Self {
        Self { shown: self.shown.join(name), host: self.host.join(name) }
    }

    /// Returns the folder's own name, as the host sees it.
    pub(super) fn name(&self) -> &[u8] {
        self.host.file_name().unwrap_or_default().as_encoded_bytes()
    }
}

/// Returns a directory under the names that its place can be judged by: as written, then as it is
/// called when all links are followed. There is at least one.
pub(super) fn spellings(storage: &dyn Storage, path: &Path, base: &Path) -> Vec<Folder> {
    let canonical = storage.canonical(path).ok();
    let mut hosts = vec![absolute(path, base)];
    if has_parent_parts(path) {
        // `..` behind a link is not what it looks like; only the system knows what it names.
        hosts.clear();
    }
    hosts.extend(canonical);
    if hosts.is_empty() {
        hosts.push(absolute(path, base));
    }
    hosts.dedup();
    hosts.into_iter().map(|host| Folder { shown: path.to_owned(), host }).collect()
}

/// Returns where a file would lie in a root, if the folders above it are called as in one.
pub(super) fn spellings_of_file(storage: &dyn Storage, path: &Path, base: &Path) -> Option<Placed> {
    let name = path.file_name()?;
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    spellings(storage, parent, base).iter().find_map(|folder| place(&folder.host.join(name)))
}

/// Returns where a file of this absolute path lies in a root.
pub(super) fn place(path: &Path) -> Option<Placed> {
    Placed::of(path).filter(|placed| name::is_project(placed.project.as_encoded_bytes()))
}

/// Returns whether a directory has a project folder in it.
///
/// A session's id may be spelt like a project's folder, and its project is then no root: a folder
/// named like a project is a root only if what it holds is not a session.
pub(super) fn is_root(storage: &dyn Storage, folder: &Folder, entries: &[Entry]) -> bool {
    let mut projects = entries.iter().filter(|entry| is_project_entry(storage, folder, entry));
    if !name::is_project(folder.name()) {
        return projects.next().is_some();
    }
    projects.any(|entry| {
        let inside = storage.list(&folder.shown.join(&entry.name)).unwrap_or_default();
        let mut names = inside.iter().map(|entry| entry.name.as_encoded_bytes());
        let has_log = names.any(|name| Generation::parse(name).is_some());
        !has_log && inside.iter().any(|entry| entry.kind == Kind::Directory)
    })
}

/// Returns whether a folder is a project's by its name.
pub(super) fn is_project(folder: &Folder) -> bool {
    name::is_project(folder.name()) && folder.host.parent().is_some()
}

/// Returns whether a folder is a session's: whether the one above is a project's.
pub(super) fn is_session(folder: &Folder) -> bool {
    let above = folder.host.parent().and_then(Path::file_name);
    above.is_some_and(|above| name::is_project(above.as_encoded_bytes()))
}

/// A link to a directory marks a root as well: the host does not see it, and that has to be said.
fn is_project_entry(storage: &dyn Storage, folder: &Folder, entry: &Entry) -> bool {
    if !name::is_project(entry.name.as_encoded_bytes()) {
        return false;
    }
    entry.kind == Kind::Directory
        || entry.kind == Kind::Symlink && is_directory(storage, &folder.shown.join(&entry.name))
}

/// Returns whether a path is a directory when links are followed.
pub(super) fn is_directory(storage: &dyn Storage, path: &Path) -> bool {
    storage.stat(path).is_ok_and(|stat| stat.kind == Kind::Directory)
}

fn has_parent_parts(path: &Path) -> bool {
    path.components().any(|part| part == Component::ParentDir)
}

/// Makes a path absolute by its letters alone, as the host does.
fn absolute(path: &Path, base: &Path) -> PathBuf {
    let mut host = PathBuf::new();
    for part in base.join(path).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                host.pop();
            }
            _ => host.push(part),
        }
    }
    host
}
