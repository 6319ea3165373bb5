//! Where a session's log lies, and what lies there already.
//!
//! A lookup goes through the project folders of the root as the host's does: by path, so that the
//! id is encoded before it meets the disk, and whatever the projects are called.
//!
//! # Source
//!
//! `docs/dsh-format.md`, sections 1.1 to 1.8.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use super::config::Encoding;
use crate::backend::{Error, ErrorKind, Limited, Refusal};
use crate::dsh::discover::{self, Discovery, Placement, discover};
use crate::dsh::name::{Generation, NO_CWD, is_project};
use crate::dsh::segment::{encode_segment, project_key};
use crate::storage::{Kind, Storage};

/// Bytes of one name in a directory.
const NAME_BYTES_MAX: u64 = 255;

/// Logs of both encodings lie in one root.
const MIXED_ENCODING: &str = "directory/mixed-encoding";

/// For these a host refuses a whole root.
const REFUSED: [&str; 4] =
    ["directory/unreadable", MIXED_ENCODING, "directory/flat-file", "directory/duplicate-id"];

/// What all logs of a store have in common.
#[derive(Clone, Debug)]
pub(super) struct Root {
    pub(super) path: PathBuf,
    pub(super) generation: Generation,
}

/// Where one session's log belongs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) project: PathBuf,
    pub(super) dir: PathBuf,
    pub(super) log: PathBuf,
}

/// What a session's folders hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Found {
    Nothing,
    Log(PathBuf),
    /// A log of a newer format; this store's may be beside it.
    Newer(PathBuf),
    /// A log in the encoding that is not this root's.
    OtherEncoding(PathBuf),
}

impl Root {
    pub(super) fn new(path: PathBuf, format: u32, encoding: Encoding) -> Self {
        Self { path, generation: Generation { number: u64::from(format), encoding } }
    }

    /// Returns where the log of a new session belongs.
    pub(super) fn place(&self, id: &str, cwd: Option<&[u8]>) -> Result<Place, Refusal> {
        let malformed = |what: &str| Refusal::Malformed { what: what.to_owned() };
        let session = encode_segment(id.as_bytes()).map_err(malformed)?;
        let bytes = session.len() as u64;
        if bytes > NAME_BYTES_MAX {
            return Err(Refusal::TooLarge { what: Limited::IdBytes, bytes, limit: NAME_BYTES_MAX });
        }
        let project = cwd.map_or(Ok(NO_CWD.to_owned()), project_key).map_err(malformed)?;
        let project = self.path.join(project);
        let dir = project.join(session);
        let log = dir.join(self.generation.file_name());
        Ok(Place { project, dir, log })
    }

    /// Looks for a session in every project; a newer generation beside a log is told by
    /// [`Root::newer`].
    ///
    /// # Errors
    ///
    /// What cannot be listed, and an id that lies in two projects.
    pub(super) fn find(&self, storage: &dyn Storage, id: &str) -> Result<Found, Error> {
        let mut found = Found::Nothing;
        let Ok(Place { dir, .. }) = self.place(id, None) else { return Ok(found) };
        let session = dir.file_name().unwrap_or_default().to_owned();
        let projects = match storage.list(&self.path) {
            Ok(projects) => projects,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(found),
            Err(error) => return Err(Error::io(&self.path, "cannot list the root", error)),
        };
        for project in projects.iter().filter(|entry| entry.kind == Kind::Directory) {
            let dir = self.path.join(&project.name).join(&session);
            let here = self.look(storage, &dir)?;
            if matches!((&found, &here), (Found::Log(_), Found::Log(_))) {
                let message = format!(
                    "the session {} lies in several project folders: keep one",
                    super::shown(id)
                );
                return Err(Error::corrupt("directory/duplicate-id", message).at(dir, None));
            }
            if !matches!((&found, &here), (Found::Log(_), _) | (_, Found::Nothing)) {
                found = here;
            }
        }
        Ok(found)
    }

    /// Judges the root as a host does before it opens any session.
    ///
    /// # Errors
    ///
    /// What makes a host refuse all of it, and what cannot be listed.
    pub(super) fn check(&self, storage: &dyn Storage) -> Result<(), Error> {
        for target in self.discover(storage)?.targets {
            let is_other = target.generation.is_some_and(|it| {
                it.number == self.generation.number && it.encoding != self.generation.encoding
            });
            if is_other && matches!(target.placement, Placement::Placed(_)) {
                return Err(other_encoding(&target.path));
            }
        }
        Ok(())
    }

    /// Returns the folder names of all sessions that have a log of this store's.
    ///
    /// # Errors
    ///
    /// As [`Root::check`].
    pub(super) fn sessions(&self, storage: &dyn Storage) -> Result<Vec<OsString>, Error> {
        let targets = self.discover(storage)?.targets.into_iter();
        let ours = targets.filter(|target| target.generation == Some(self.generation));
        Ok(ours
            .filter_map(|target| match target.placement {
                Placement::Placed(placed) => Some(placed.session),
                Placement::Alone(_) => None,
            })
            .collect())
    }

    fn discover(&self, storage: &dyn Storage) -> Result<Discovery, Error> {
        let path = &self.path;
        let nothing = || Discovery {
            path: path.clone(),
            found: discover::Found::Missing,
            targets: Vec::new(),
            faults: Vec::new(),
            nearest: None,
        };
        let entries = match storage.list(path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(nothing()),
            Err(error) => return Err(Error::io(path, "cannot list the root", error)),
        };
        // A directory without a project is no root yet, and is not to be searched to its depths.
        if !entries.iter().any(|entry| is_project(entry.name.as_encoded_bytes())) {
            return Ok(nothing());
        }
        let discovery = discover(storage, path, &discover::Options { base: path.clone() });
        // A host of format 0 looks for logs of its own format only: a session that was carried
        // over to a newer one, in the other encoding, keeps no other from it.
        let minds = |rule| self.generation.number > 0 || rule != MIXED_ENCODING;
        let mut faults = discovery.faults.iter();
        let refused = faults.find(|fault| REFUSED.contains(&fault.rule) && minds(fault.rule));
        match refused {
            Some(fault) => {
                let (kind, message) = (ErrorKind::Config, fault.message.clone());
                Err(Error::new(kind, message).at(&fault.path, None))
            }
            None => Ok(discovery),
        }
    }

    /// Says what one session folder holds.
    fn look(&self, storage: &dyn Storage, dir: &Path) -> Result<Found, Error> {
        use io::ErrorKind::{NotADirectory, NotFound};
        let entries = match storage.list(dir) {
            Ok(entries) => entries,
            Err(error) if matches!(error.kind(), NotFound | NotADirectory) => {
                return Ok(Found::Nothing);
            }
            Err(error) => return Err(Error::io(dir, "cannot list a session's folder", error)),
        };
        let mut found = Found::Nothing;
        for entry in entries {
            let Some(it) = Generation::parse(entry.name.as_encoded_bytes()) else { continue };
            let path = dir.join(entry.name);
            if it == self.generation {
                return Ok(Found::Log(path));
            }
            if it.number > self.generation.number {
                found = Found::Newer(path);
            } else if it.number == self.generation.number && found == Found::Nothing {
                found = Found::OtherEncoding(path);
            }
        }
        Ok(found)
    }

    /// Returns a newer generation that lies beside a log: hosts that know it look at no other.
    pub(super) fn newer(&self, storage: &dyn Storage, dir: &Path) -> io::Result<Option<PathBuf>> {
        let entries = storage.list(dir)?;
        let newer = entries.into_iter().find(|entry| {
            let it = Generation::parse(entry.name.as_encoded_bytes());
            it.is_some_and(|it| it.number > self.generation.number)
        });
        Ok(newer.map(|entry| dir.join(entry.name)))
    }
}

/// Says that a log is in the encoding that is not this root's.
pub(super) fn other_encoding(path: &Path) -> Error {
    let message = "a log in another encoding than this store's: one root holds one encoding";
    Error::new(ErrorKind::Config, message).at(path, None)
}
