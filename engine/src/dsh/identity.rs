//! Whether a log lies where its own header says: the host refuses one that does not.
//!
//! The header's `cwd` and `id` derive one path under the root, and the log must lie there, or at
//! another spelling of it (links, a file system that ignores case). A log that was moved by hand,
//! copied to a folder of backups or given another `cwd` does not, and a listing of the host ends
//! at the first such log, good ones behind it included.
//!
//! # Source
//!
//! `docs/dsh-format.md`, section 1.8; `findLog`, `assertStoredIdentity` and `sameFile` of the
//! host.

use std::borrow::Cow;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use super::name::{Encoding, Generation, NO_CWD};
use super::segment::{decode_segment, encode_segment_within, project_key};
use crate::json::Json;
use crate::storage::Storage;

/// Bytes of an id that a message shows. No id that can be stored comes near; a header that says
/// otherwise must not make our message as large as itself.
const SHOWN_BYTES_MAX: usize = 16 << 10;

/// Bytes of one name in a directory, on every file system that the host is known to run on.
const NAME_BYTES_MAX: usize = 255;

/// Where a log lies: `<root>/<project>/<session>/<file>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The root, absolute and without `.` and `..`, as the host would name it.
    pub root: PathBuf,
    /// Name of the project's folder.
    pub project: OsString,
    /// Name of the session's folder.
    pub session: OsString,
    /// Name of the file.
    pub file: OsString,
}

impl Placed {
    /// Takes the last three names off an absolute path.
    pub(super) fn of(path: &Path) -> Option<Self> {
        let dir = path.parent()?;
        let project = dir.parent()?;
        Some(Self {
            root: project.parent()?.to_owned(),
            project: project.file_name()?.to_owned(),
            session: dir.file_name()?.to_owned(),
            file: path.file_name()?.to_owned(),
        })
    }

    /// Returns the path of the log as the host names it.
    pub fn path(&self) -> PathBuf {
        self.session_dir().join(&self.file)
    }

    /// Returns the path of the session's folder as the host names it.
    pub fn session_dir(&self) -> PathBuf {
        self.root.join(&self.project).join(&self.session)
    }

    /// Returns the session id, in WTF-8, that the folder's name stands for; `None` if no id does.
    pub fn session_id(&self) -> Option<Vec<u8>> {
        decode_segment(self.session.as_encoded_bytes())
    }
}

/// The header's `cwd`, as far as the host's path formula tells values apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cwd<'a> {
    /// Not there: the project is `_no-cwd`.
    Absent,
    /// A string, in WTF-8.
    Text(Cow<'a, [u8]>),
    /// No string, and without a length that counts: the formula takes it for an empty rest, and
    /// the project is `--root--`. The host refuses such a session later, by its type.
    Lengthless,
    /// `null`, an array, an object with a `length` that counts or with 0: the formula throws.
    Unnameable,
}

impl<'a> Cwd<'a> {
    /// Judges the member `cwd` of a header.
    pub fn of(value: Option<Json<'a>>) -> Self {
        let Some(value) = value else { return Self::Absent };
        if let Some(text) = value.as_text() {
            return Self::Text(text.to_wtf8());
        }
        if value.is_null() || value.is_array() {
            return Self::Unnameable;
        }
        match value.get("length") {
            Some(length) if !is_passed_over(length) => Self::Unnameable,
            _ => Self::Lengthless,
        }
    }
}

/// Returns whether the host's formula finds nothing to do for an object of this `length`: it is not
/// the number 0, and 0 is not less than it. Where 0 is less, the formula calls a method that is not
/// there. (A string in a notation that Rust does not read is taken for no number.)
fn is_passed_over(length: Json<'_>) -> bool {
    if let Some(number) = length.as_number() {
        return number < 0.0;
    }
    if length.is_object() {
        // It prints as no number, or, with a member in the method's place, not at all.
        return length.get("toString").is_none();
    }
    if length.as_bool() == Some(true) {
        return false;
    }
    !length.to_js_string().trim().parse().is_ok_and(|number: f64| number > 0.0)
}

/// What a header says of where its log lies.
#[derive(Clone, Debug)]
pub struct Claim<'a> {
    /// The id, in WTF-8.
    pub id: &'a [u8],
    /// The working directory.
    pub cwd: Cwd<'a>,
    /// The format number.
    pub version: u64,
    /// How the log is encoded.
    pub encoding: Encoding,
}

/// Why the host refuses a log for its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What is wrong.
    pub kind: RefusalKind,
    /// The host's message, unescaped: it may hold any character that an id or a path holds.
    pub message: String,
    /// Where the log should lie, where that can be said.
    pub expected: Option<PathBuf>,
}

/// What is wrong with the place of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RefusalKind {
    /// The folder stands for another id than the header's.
    OtherId,
    /// The header's id or working directory derives no path.
    CannotName,
    /// The header derives another path.
    Elsewhere,
    /// The id is longer than a file's name can be.
    TooLong,
    /// The system did not say whether two paths are one.
    Unresolved,
}

/// Judges a log's place by its header, as a lookup of the id that its folder stands for does.
///
/// # Errors
///
/// The first reason for which the host refuses it, with its message.
pub fn check(storage: &dyn Storage, placed: &Placed, claim: &Claim<'_>) -> Result<(), Refusal> {
    if let Some(wanted) = placed.session_id().filter(|wanted| wanted != claim.id) {
        let (wanted, had) = (shown(&wanted), shown(claim.id));
        let message = format!("requested id \"{wanted}\" does not match header id \"{had}\"");
        let expected = expected_path(placed, claim);
        return refuse(placed, RefusalKind::OtherId, &message, expected);
    }
    check_listed(storage, placed, claim)
}

/// Judges a log's place by its header, as a listing does, which asks for no id.
///
/// # Errors
///
/// The first reason for which the host refuses it, with its message.
pub fn check_listed(
    storage: &dyn Storage,
    placed: &Placed,
    claim: &Claim<'_>,
) -> Result<(), Refusal> {
    let Some(expected) = expected_path(placed, claim) else {
        let message = "header id cannot name a storage path";
        return refuse(placed, RefusalKind::CannotName, message, None);
    };
    let actual = placed.path();
    if actual == expected {
        return Ok(());
    }
    match same_file(storage, &actual, &expected) {
        Ok(true) => Ok(()),
        Ok(false) => {
            let (id, place) = (shown(claim.id), expected.display());
            let message = format!("header id \"{id}\" and cwd identify \"{place}\"");
            refuse(placed, RefusalKind::Elsewhere, &message, Some(expected))
        }
        Err((error, path)) => {
            let message = host_io_message(&error, "realpath", &path);
            Err(Refusal { kind: RefusalKind::Unresolved, message, expected: Some(expected) })
        }
    }
}

/// Judges whether the format-0 host can open this session at all, before a byte is read: it first
/// looks for a flat file of the folder's name, and that name can be too long to look for.
///
/// # Errors
///
/// The host's message of an id of more than 244 encoded bytes, which it writes and lists, and can
/// never open.
pub fn check_lookup(placed: &Placed) -> Result<(), Refusal> {
    let mut flat = placed.session.clone();
    flat.push(Encoding::Zstd.suffix());
    if flat.len() <= NAME_BYTES_MAX {
        return Ok(());
    }
    let path = placed.root.join(&placed.project).join(flat);
    let message = format!("ENAMETOOLONG: name too long, open '{}'", path.display());
    Err(Refusal { kind: RefusalKind::TooLong, message, expected: None })
}

/// Returns whether the host would take a working directory for absolute: on POSIX, `/…`.
pub fn is_posix_absolute(cwd: &[u8]) -> bool {
    cwd.starts_with(b"/")
}

/// Returns whether a working directory is a path of Windows and of nothing else: absolute there,
/// and not on POSIX.
pub fn is_windows_path(cwd: &[u8]) -> bool {
    match cwd {
        [b'\\', ..] => true,
        [drive, b':', b'/' | b'\\', ..] => drive.is_ascii_alphabetic(),
        _ => false,
    }
}

/// Returns the message of Node.js for an error of the system, as far as a path can cause it.
pub fn host_io_message(error: &io::Error, call: &str, path: &Path) -> String {
    let (code, words) = match (error.kind(), error.raw_os_error()) {
        (io::ErrorKind::NotFound, _) => ("ENOENT", "no such file or directory"),
        (io::ErrorKind::PermissionDenied, Some(1)) => ("EPERM", "operation not permitted"),
        (io::ErrorKind::PermissionDenied, _) => ("EACCES", "permission denied"),
        (io::ErrorKind::NotADirectory, _) => ("ENOTDIR", "not a directory"),
        (io::ErrorKind::IsADirectory, _) => ("EISDIR", "illegal operation on a directory"),
        (io::ErrorKind::InvalidFilename, _) => ("ENAMETOOLONG", "name too long"),
        // Links in a circle: 40 on Linux, 62 on macOS. The kind of it has no stable name.
        (_, Some(40 | 62)) => ("ELOOP", "too many symbolic links encountered"),
        (_, Some(5)) => ("EIO", "i/o error"),
        _ => return format!("{error}, {call} '{}'", path.display()),
    };
    format!("{code}: {words}, {call} '{}'", path.display())
}

/// The path that a header derives, its last names cut where they are longer than any can be.
fn expected_path(placed: &Placed, claim: &Claim<'_>) -> Option<PathBuf> {
    let project = match &claim.cwd {
        Cwd::Absent => NO_CWD.to_owned(),
        Cwd::Text(cwd) => project_key(cwd).ok()?,
        Cwd::Lengthless => "--root--".to_owned(),
        Cwd::Unnameable => return None,
    };
    let session = encode_segment_within(claim.id, SHOWN_BYTES_MAX).ok()?;
    let file = Generation { number: claim.version, encoding: claim.encoding }.file_name();
    Some(placed.root.join(project).join(session).join(file))
}

/// Compares two paths as the host does: what does not exist is another file.
fn same_file(
    storage: &dyn Storage,
    actual: &Path,
    expected: &Path,
) -> Result<bool, (io::Error, PathBuf)> {
    let resolve = |path: &Path| match storage.canonical(path) {
        Ok(resolved) => Ok(Some(resolved)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err((error, path.to_owned())),
    };
    let Some(actual) = resolve(actual)? else { return Ok(false) };
    Ok(resolve(expected)?.is_some_and(|expected| expected == actual))
}

fn refuse(
    placed: &Placed,
    kind: RefusalKind,
    what: &str,
    expected: Option<PathBuf>,
) -> Result<(), Refusal> {
    let message = format!("corrupt session log \"{}\": {what}", placed.path().display());
    Err(Refusal { kind, message, expected })
}

/// Returns an id for a message: lone surrogates as U+FFFD, and not longer than anyone reads.
pub fn shown(wtf8: &[u8]) -> String {
    let cut = &wtf8[..wtf8.len().min(SHOWN_BYTES_MAX)];
    let mut text = String::new();
    let mut rest = cut;
    while !rest.is_empty() {
        // `from_utf8_lossy` would make three characters of one lone surrogate.
        if let [0xED, 0xA0..=0xBF, _, behind @ ..] = rest {
            text.push(char::REPLACEMENT_CHARACTER);
            rest = behind;
            continue;
        }
        let next = rest.iter().skip(1).position(|byte| *byte == 0xED);
        let (plain, behind) = rest.split_at(next.map_or(rest.len(), |at| at + 1));
        text.push_str(&String::from_utf8_lossy(plain));
        rest = behind;
    }
    if cut.len() < wtf8.len() {
        text.push('…');
    }
    text
}
