//! Which files a path on the command line stands for, and what is wrong with the folders they lie
//! in.
//!
//! A **root** is a directory with a project folder in it, that is one named `_no-cwd` or `--…--`.
//! A root, a project folder of one and a session folder of one are read as the host reads them:
//! every directory of a root is a project, every directory of a project is a session, links are
//! not followed, and only generation names are logs. What the host refuses for the sake of
//! a whole folder (two encodings in a root, flat files, one id in two projects, a name that cannot
//! be opened) is a [`FolderFault`]; so is what it ignores without a word, as a note.
//!
//! Any other directory is a **tree**: it is walked without following links, and every name that
//! ends in `.jsonl` or `.jsonl.zstd` is a target. A single file is a target whatever its name.
//!
//! Every generation is a target of its own, since each is judged as if it were alone in its root;
//! [`Target::hidden_by`] says which ones the host would not look at. A target is [`Placed`] if it
//! has a generation's name and lies in a session folder of a project folder; otherwise it stands
//! alone, and identity, place and purity are not checked.
//!
//! Nothing is opened here, only listed. Whoever drives opens the targets and shows the faults;
//! one unreadable folder hides no other.
//!
//! # Source
//!
//! `docs/dsh-format.md`, sections 1.1 to 1.8. Rules that stand in the host's code alone were
//! measured on `dsh-session-persistence-jsonl` 0.1.0-rc.8.

mod fault;
mod tally;
mod locate;
mod scan;
mod session;
mod project;
mod root;
mod tree;

use std::path::{Path, PathBuf};

use super::identity::Placed;
use super::name::{Encoding, Generation};
use crate::storage::{Kind, Storage};

pub use fault::{FolderFault, FolderRule, Hint, RULES};

/// What discovery has to know besides the path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The directory that relative paths are taken from, absolute. Used for names only: files are
    /// opened by the path as given.
    pub base: PathBuf,
}

/// What a path turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Found {
    /// One file; also what is neither file nor directory, which will not open.
    File,
    /// The folder of one session.
    Session,
    /// The folder of one project.
    Project,
    /// A sessions root.
    Root,
    /// Any other directory.
    Tree,
    /// Nothing; opening its target says so.
    Missing,
    /// Something that cannot be looked at; opening its target says why.
    Unreadable,
}

/// A file to be judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The path to open, as the user would write it.
    pub path: PathBuf,
    /// What its name states; `None` if it is no generation's name.
    pub generation: Option<Generation>,
    /// What the end of its name says, `None` if it ends otherwise.
    pub encoding: Option<Encoding>,
    /// Whether it lies in a root.
    pub placement: Placement,
    /// What it is, links not followed where it was found in a folder. A name counts whatever it
    /// names; what is no regular file will not open, and the host fails on it as well.
    pub kind: Kind,
    /// The number of the highest generation in its folder, where that is another: hosts of format
    /// 2 and later do not look at this file.
    pub hidden_by: Option<u64>,
}

/// Whether a file lies where the host would look for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Placement {
    /// In a session folder of a project folder: identity can be checked.
    Placed(Placed),
    /// Anywhere else: identity, place and purity are not checked.
    Alone(Alone),
}

/// Why a file is judged alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Alone {
    /// Its name is no generation's.
    Name,
    /// Its folder is no session folder of a project folder.
    Folder,
}

impl Alone {
    /// Returns the reason in words.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Name => "its name is not one that the host gives to logs",
            Self::Folder => "it does not lie in a session folder of a sessions root",
        }
    }
}

/// What one path stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Discovery {
    /// The path as given.
    pub path: PathBuf,
    /// What it is.
    pub found: Found,
    /// The files to judge, in the order of their paths' names.
    pub targets: Vec<Target>,
    /// What is to be said of folders, in the order of their paths, then of [`RULES`].
    pub faults: Vec<FolderFault>,
    /// The nearest directory above that is there, where the path is missing.
    pub nearest: Option<PathBuf>,
}

impl Discovery {
    fn new(path: &Path, found: Found) -> Self {
        let (path, nearest) = (path.to_owned(), None);
        Self { path, found, targets: Vec::new(), faults: Vec::new(), nearest }
    }

    /// Says that a folder cannot be listed. The host cannot either, and gives up.
    fn unreadable(&mut self, folder: &locate::Folder, error: &std::io::Error) {
        let message =
            format!("this folder cannot be listed, and nothing in it was checked: {error}");
        let host = super::identity::host_io_message(error, "scandir", &folder.host);
        self.faults.push(FolderFault::refused(&folder.shown, fault::UNREADABLE, message, host));
    }

    fn sort(&mut self) {
        self.targets.sort_by(|a, b| a.path.cmp(&b.path));
        self.faults.sort_by(|a, b| a.path.cmp(&b.path).then(fault::order(a).cmp(&fault::order(b))));
    }
}

/// Finds the files that a path stands for. Never fails: what cannot be listed is a fault, and what
/// cannot be opened is a target whose opening will say so.
pub fn discover(storage: &dyn Storage, path: &Path, options: &Options) -> Discovery {
    let mut discovery = match storage.stat(path) {
        Ok(stat) if stat.kind == Kind::Directory => directory(storage, path, options),
        Ok(stat) => file(storage, path, options, Found::File, stat.kind),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let mut missing = file(storage, path, options, Found::Missing, Kind::Other);
            missing.nearest = nearest(storage, path);
            missing
        }
        Err(_) => file(storage, path, options, Found::Unreadable, Kind::Other),
    };
    discovery.sort();
    discovery
}

fn directory(storage: &dyn Storage, path: &Path, options: &Options) -> Discovery {
    let folders = locate::spellings(storage, path, &options.base);
    let entries = match storage.list(path) {
        Ok(entries) => entries,
        Err(error) => {
            let mut discovery = Discovery::new(path, Found::Unreadable);
            discovery.unreadable(&folders[0], &error);
            return discovery;
        }
    };
    if locate::is_root(storage, &folders[0], &entries) {
        return root::read(storage, &folders[0], entries);
    }
    for folder in &folders {
        if locate::is_project(folder) {
            return root::read_project(storage, folder);
        }
        if locate::is_session(folder) {
            return root::read_session(storage, folder);
        }
    }
    tree::walk(storage, &folders[0], entries)
}

/// Makes the one target of what is no directory.
fn file(
    storage: &dyn Storage,
    path: &Path,
    options: &Options,
    found: Found,
    kind: Kind,
) -> Discovery {
    let mut discovery = Discovery::new(path, found);
    let placed = locate::spellings_of_file(storage, path, &options.base);
    discovery.targets.push(Target::new(path.to_owned(), placed, kind));
    discovery
}

impl Target {
    /// Makes a target of a path and of where it would be placed if its name allows it.
    fn new(path: PathBuf, placed: Option<Placed>, kind: Kind) -> Self {
        let name = path.file_name().unwrap_or_default().as_encoded_bytes();
        let generation = Generation::parse(name);
        let encoding = Encoding::of_name(name);
        let placement = match (generation, placed) {
            (None, _) => Placement::Alone(Alone::Name),
            (Some(_), None) => Placement::Alone(Alone::Folder),
            (Some(_), Some(placed)) => Placement::Placed(placed),
        };
        Self { path, generation, encoding, placement, kind, hidden_by: None }
    }
}

/// Returns the nearest directory above a path that is there.
fn nearest(storage: &dyn Storage, path: &Path) -> Option<PathBuf> {
    let above = path.ancestors().skip(1).filter(|it| !it.as_os_str().is_empty());
    above.into_iter().find(|it| storage.stat(it).is_ok()).map(Path::to_owned)
}
