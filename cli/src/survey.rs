//! Which files there are to verify, and what is to be said of the folders they lie in.

use crate::args::USUAL_PLACE;
use crate::printable;
use gatelog_engine::check::is_store;
use gatelog_engine::dsh::discover::{
    Discovery, FolderFault, Found, Hint, Options, RULES, Target, discover,
};
use gatelog_engine::event::Place;
use gatelog_engine::storage::{Kind, Storage};
use gatelog_validator::report::{DirectoryReport, Finding, HostAct, Report};
use gatelog_validator::rule::Severity;
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// What the paths of a command line lead to.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    /// What concerns folders, in the order of the paths.
    pub(crate) folders: Vec<DirectoryReport>,
    /// The files and stores, in the order of the paths.
    pub(crate) sought: Vec<Sought>,
    /// Something was left out that should have been looked at.
    pub(crate) unchecked: bool,
}

/// What is to be verified.
#[derive(Debug)]
pub(crate) enum Sought {
    /// A file.
    File(SoughtFile),
    /// A store of our own, by its directory.
    Store(PathBuf),
}

/// A file to be verified.
#[derive(Debug)]
pub(crate) struct SoughtFile {
    /// The file.
    pub(crate) target: Target,
    /// What helps someone who named a path that is not there.
    guidance: Option<String>,
}

impl Survey {
    /// Finds the files under each path, in the order of the command line and then of their paths.
    ///
    /// Relative paths are taken from `base`.
    pub(crate) fn of(storage: &dyn Storage, paths: &[PathBuf], base: PathBuf) -> Self {
        let options = Options { base };
        let mut survey = Self::default();
        let mut found = Twice::new(storage, paths.len() > 1);
        for path in paths {
            if is_store(storage, path) {
                if found.is_new(path, None) {
                    survey.sought.push(Sought::Store(path.clone()));
                }
                continue;
            }
            let mut discovery = discover(storage, path, &options);
            discovery.targets.retain(|target| found.is_new(&target.path, None));
            discovery.faults.retain(|fault| found.is_new(&fault.path, Some(fault)));
            let guidance =
                (discovery.found == Found::Missing).then(|| guidance(storage, &discovery));
            survey.unchecked |= discovery.faults.iter().any(|fault| fault.unchecked);
            let of_one_folder = |a: &FolderFault, b: &FolderFault| a.path == b.path;
            survey.folders.extend(discovery.faults.chunk_by(of_one_folder).map(folder));
            let sought = |target| Sought::File(SoughtFile { target, guidance: guidance.clone() });
            survey.sought.extend(discovery.targets.into_iter().map(sought));
        }
        // A run that checked nothing must not look like one that found nothing.
        survey.unchecked |= survey.sought.is_empty();
        survey
    }
}

/// What was found already, so that what lies under two paths of a command line is judged once.
///
/// It goes by the folder, links resolved, and the name in it: a link or a second name of a file is
/// another log, which may lie where the host does not look for it.
struct Twice<'a> {
    storage: &'a dyn Storage,
    /// With one path nothing is found twice.
    can_happen: bool,
    folders: HashMap<PathBuf, PathBuf>,
    seen: HashSet<(PathBuf, Option<(&'static str, String)>)>,
}

impl<'a> Twice<'a> {
    fn new(storage: &'a dyn Storage, can_happen: bool) -> Self {
        Self { storage, can_happen, folders: HashMap::new(), seen: HashSet::new() }
    }

    /// Returns whether a file, or what is said of a folder, was not found before.
    fn is_new(&mut self, path: &Path, fault: Option<&FolderFault>) -> bool {
        if !self.can_happen {
            return true;
        }
        let place = match (fault, path.parent(), path.file_name()) {
            (None, Some(folder), Some(name)) => self.resolved(folder).join(name),
            _ => self.resolved(path),
        };
        let said = fault.map(|fault| (fault.rule, fault.message.clone()));
        self.seen.insert((place, said))
    }

    /// Returns a folder's path without links; as it was given where it has none.
    fn resolved(&mut self, folder: &Path) -> PathBuf {
        if let Some(known) = self.folders.get(folder) {
            return known.clone();
        }
        let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let resolved = self.storage.canonical(here).unwrap_or_else(|_| folder.to_owned());
        self.folders.insert(folder.to_owned(), resolved.clone());
        resolved
    }
}

impl Sought {
    /// Returns how many bytes there are to read, 0 where nobody can say.
    pub(crate) fn bytes(&self, storage: &dyn Storage) -> u64 {
        match self {
            Self::File(file) => size(storage, &file.target.path),
            Self::Store(dir) => {
                let entries = storage.list(dir).unwrap_or_default();
                let segments = entries.iter().map(|entry| dir.join(&entry.name));
                let segments = segments.filter(|path| path.extension() == Some("log".as_ref()));
                segments.map(|path| size(storage, &path)).sum()
            }
        }
    }
}

impl SoughtFile {
    /// Puts the help for a path that is not there into the report that says so.
    pub(crate) fn guide(&self, report: &mut Report) {
        if let (Some(guidance), Some(finding)) = (&self.guidance, report.findings.first_mut()) {
            finding.help.clone_from(guidance);
        }
    }
}

/// Returns what a path that is not there may have meant.
fn guidance(storage: &dyn Storage, missing: &Discovery) -> String {
    let mut words = String::from("nothing is there: ");
    if missing.path.starts_with("~") {
        words += "the shell did not replace the ~ because of quotes, so leave them out; ";
    }
    match &missing.nearest {
        _ if is_link(storage, &missing.path) => {
            words += "it is a link, and what it leads to does not exist; ";
        }
        Some(nearest) => {
            let nearest = printable::path(nearest);
            write!(words, "of this path only {nearest} exists; ").expect("a String takes all");
        }
        None if missing.path.is_relative() => words += "it is looked for in the current folder; ",
        None => {}
    }
    write!(words, "sessions usually live in {USUAL_PLACE}").expect("a String takes all");
    words
}

/// Returns whether a path that leads nowhere is itself there, as a link.
fn is_link(storage: &dyn Storage, path: &Path) -> bool {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let beside = storage.list(parent.unwrap_or(Path::new("."))).unwrap_or_default();
    let own = path.file_name();
    beside.iter().any(|entry| Some(&*entry.name) == own && entry.kind == Kind::Symlink)
}

/// Makes the report on one folder of all that is to be said of it.
fn folder(faults: &[FolderFault]) -> DirectoryReport {
    let refuses = faults.iter().any(|fault| fault.host_refuses);
    DirectoryReport {
        path: faults.first().map_or_else(PathBuf::new, |fault| fault.path.clone()),
        host: if refuses { HostAct::Refuses } else { HostAct::Loads },
        findings: faults.iter().map(finding).collect(),
    }
}

fn finding(fault: &FolderFault) -> Finding {
    let message = match &fault.host {
        Some(host) => format!("{}; the host says: {host}", fault.message),
        None => fault.message.clone(),
    };
    let help = RULES.iter().find(|rule| rule.id == fault.rule).map_or("", |rule| rule.help);
    Finding {
        rule: fault.rule,
        severity: match fault.hint() {
            Hint::Error => Severity::Error,
            Hint::Warning => Severity::Warning,
            Hint::Note => Severity::Note,
        },
        message,
        help: help.to_owned(),
        place: Place::default(),
    }
}

/// Returns the size of a file in bytes, 0 where nobody can say.
pub(crate) fn size(storage: &dyn Storage, path: &Path) -> u64 {
    storage.stat(path).map_or(0, |stat| stat.bytes)
}

#[cfg(test)]
mod tests {
    use super::Sought;
    use super::{Survey, guidance};
    use gatelog_engine::dsh::discover::{Options, discover};
    use gatelog_engine::storage::Memory;
    use gatelog_validator::report::HostAct;
    use std::path::{Path, PathBuf};

    fn survey(storage: &Memory, path: &str) -> Survey {
        Survey::of(storage, &[path.into()], "/".into())
    }

    #[test]
    fn a_missing_path_is_guided_to_what_exists_and_to_the_usual_place() {
        let storage = Memory::new().directory("/home/ann");
        let options = Options { base: "/home".into() };
        let of = |path: &str| guidance(&storage, &discover(&storage, Path::new(path), &options));
        assert!(of("/home/ann/x/y").contains("of this path only /home/ann exists"));
        assert!(of("/home/ann/x/y").ends_with("sessions usually live in ~/.dsh/sessions"));
        assert!(of("x").contains("current folder"));
        assert!(of("~/.dsh/sessions").contains("leave them out"));
    }

    #[test]
    fn what_lies_under_two_paths_is_judged_once_where_it_was_first_named() {
        let storage = Memory::new()
            .file("/r/--p--/s1/session.jsonl", "")
            .file("/r/--p--/s2/session.jsonl", "")
            .file("/r/--p--/backup.jsonl", "")
            .symlink("/link", "/r");
        let paths = [
            "/r/--p--/s2/session.jsonl",
            "/r",
            "/r/--p--/s2",
            "/r/--p--/../--p--/s1/session.jsonl",
            "/link/--p--/s1",
            "/r/",
        ];
        let paths = paths.map(PathBuf::from);
        let survey = Survey::of(&storage, &paths, "/".into());
        let sought: Vec<_> = survey
            .sought
            .iter()
            .map(|sought| match sought {
                Sought::File(file) => file.target.path.to_str(),
                Sought::Store(path) => path.to_str(),
            })
            .collect();
        assert_eq!(sought, [Some("/r/--p--/s2/session.jsonl"), Some("/r/--p--/s1/session.jsonl")]);
        let alone = Survey::of(&storage, &paths[1..2], "/".into());
        assert_eq!(format!("{:?}", survey.folders), format!("{:?}", alone.folders));
    }

    #[test]
    fn a_folder_without_sessions_leaves_everything_unchecked() {
        let survey = survey(&Memory::new().file("/d/notes.txt", ""), "/d");
        assert!(survey.unchecked && survey.sought.is_empty());
        assert!(survey.folders.iter().any(|folder| !folder.findings.is_empty()));
    }

    #[test]
    fn a_folder_that_the_host_refuses_is_one_report_in_the_words_of_the_host() {
        let storage =
            Memory::new().file("/r/--p--/s1/session.jsonl", "").file("/r/--p--/backup.jsonl", "");
        let survey = survey(&storage, "/r");
        let refused: Vec<_> =
            survey.folders.iter().filter(|folder| folder.host == HostAct::Refuses).collect();
        assert_eq!(refused.len(), 1, "{survey:?}");
        let message = &refused[0].findings[0].message;
        assert!(message.contains("; the host says: session artifact"), "{message}");
        assert!(!refused[0].findings[0].help.is_empty());
        assert!(!survey.unchecked);
    }
}
