//! What is wrong with a folder, or worth saying of it, as against one file in it.

use std::path::{Path, PathBuf};

/// How grave a fault is; the front end decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Hint {
    /// The host refuses the folder, or part of it.
    Error,
    /// Not what the user will have wanted.
    Warning,
    /// Worth knowing.
    Note,
}

/// A rule about folders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FolderRule {
    /// Its identifier.
    pub id: &'static str,
    /// How grave it is.
    pub hint: Hint,
    /// What must hold, in one sentence.
    pub summary: &'static str,
    /// What it means and what to do, in words.
    pub help: &'static str,
}

/// Something to be said of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderFault {
    /// The folder, as the user would write it.
    pub path: PathBuf,
    /// The rule.
    pub rule: &'static str,
    /// What is so, in our words; names are quoted and safe to print.
    pub message: String,
    /// The host refuses this folder, or a session in it, for this.
    pub host_refuses: bool,
    /// The host's own message, unescaped, where it refuses.
    pub host: Option<String>,
    /// Something was left unchecked.
    pub unchecked: bool,
}

pub(super) const UNREADABLE: &str = "directory/unreadable";
pub(super) const NAME_NOT_UTF8: &str = "directory/name-not-utf8";
pub(super) const MIXED_ENCODING: &str = "directory/mixed-encoding";
pub(super) const FLAT_FILE: &str = "directory/flat-file";
pub(super) const DUPLICATE_ID: &str = "directory/duplicate-id";
pub(super) const LOOKUP_BLOCKED: &str = "directory/lookup-blocked";
pub(super) const UNKNOWN_GENERATION: &str = "directory/unknown-generation";
pub(super) const NO_SESSIONS: &str = "directory/no-sessions";
pub(super) const SEVERAL_GENERATIONS: &str = "directory/several-generations";
pub(super) const WRONG_NAME: &str = "directory/wrong-name";
pub(super) const SYMLINK: &str = "directory/symlink";
pub(super) const LEFTOVERS: &str = "directory/leftovers";
pub(super) const NESTED_ROOT: &str = "directory/nested-root";
pub(super) const OTHER_FILES: &str = "directory/other-files";

/// Every rule about folders, the gravest first.
pub const RULES: &[FolderRule] = &[
    FolderRule {
        id: UNREADABLE,
        summary: "every folder can be listed",
        hint: Hint::Error,
        help: "The system does not let us list this folder, so nothing in it was checked. The host \
               lists the whole root when it starts and fails at such a folder. Give yourself the \
               right to read and enter it, then run this again.",
    },
    FolderRule {
        id: NAME_NOT_UTF8,
        summary: "every project folder's name is UTF-8",
        hint: Hint::Error,
        help: "The host reads every folder of a root by its name as text, and this name is not \
               UTF-8. It then looks for a folder that is not there, and no session of the root \
               opens. Rename the folder or move it out of the root.",
    },
    FolderRule {
        id: MIXED_ENCODING,
        summary: "a root holds logs of one encoding",
        hint: Hint::Error,
        help: "One root holds logs of one encoding. With both in it the host opens no session at \
               all, whichever it is set to. The logs themselves may be sound. Move those of the \
               other encoding to a root of their own.",
    },
    FolderRule {
        id: FLAT_FILE,
        summary: "every log lies in a session folder",
        hint: Hint::Error,
        help: "A log lies in a folder of its own, not directly in the project's folder. One such \
               file, a backup for example, makes the host refuse the whole root. Move it out of \
               the root, or to `<project>/<session id>/session.jsonl[.zstd]`.",
    },
    FolderRule {
        id: DUPLICATE_ID,
        summary: "a session id lies in one project folder only",
        hint: Hint::Error,
        help: "The host looks for a session in every project folder of the root and refuses it \
               if it finds two, a backup copy for example. Decide which one is the session and \
               move the other out of the root.",
    },
    FolderRule {
        id: LOOKUP_BLOCKED,
        summary: "nothing but a session folder has a session's name",
        hint: Hint::Error,
        help: "To open a session the host tries its name in every project folder of the root. \
               Something that is no session folder has that name, so the session is listed but \
               does not open. Rename or move what is in the way.",
    },
    FolderRule {
        id: UNKNOWN_GENERATION,
        summary: "no log of an unknown format hides one that hosts read",
        hint: Hint::Error,
        help: "The host takes the highest format in a session's folder and looks at no other. It \
               does not know that one, so it refuses the session, although the older log beside \
               it can be read. Nothing is damaged: open the session with the release that wrote \
               the newer log.",
    },
    FolderRule {
        id: NO_SESSIONS,
        summary: "there is a log to judge",
        hint: Hint::Warning,
        help: "No file here has the name of a session log. Logs lie under a sessions root, such \
               as `~/.dsh/sessions`, as `<project>/<session id>/session[.vN].jsonl[.zstd]`; a \
               single file can be named as well.",
    },
    FolderRule {
        id: SEVERAL_GENERATIONS,
        summary: "a session folder holds one generation",
        hint: Hint::Note,
        help: "A newer host keeps the old log beside the one that it made of it, and reads the \
               highest format only. Each file is judged by itself here. If the older file is the \
               longer one, the host shows an old state of the session: compare before you delete \
               anything.",
    },
    FolderRule {
        id: WRONG_NAME,
        summary: "what looks like a log has a name that the host reads",
        hint: Hint::Note,
        help: "The host ignores every name but `session[.vN].jsonl[.zstd]`, N without leading \
               zeros and from 1, and so it does not see this file. If it is the session's log, \
               give it its right name; if it is a backup, move it out of the root. To have it \
               checked, name the file itself.",
    },
    FolderRule {
        id: SYMLINK,
        summary: "no session lies behind a link",
        hint: Hint::Note,
        help: "The host does not follow links when it lists a root, so what lies behind one is not \
               in its list, and it was not checked here. Name the folder behind the link to have \
               it checked.",
    },
    FolderRule {
        id: LEFTOVERS,
        summary: "no temporary file is left over",
        hint: Hint::Note,
        help: "A write or a migration did not finish and left its temporary file. The host ignores \
               it. It can be deleted once no host is running.",
    },
    FolderRule {
        id: NESTED_ROOT,
        summary: "no sessions root lies within a walked folder",
        hint: Hint::Note,
        help: "The logs in this sessions root were checked one by one, but not what the host \
               demands of a root as a whole. Name the root itself to have that checked.",
    },
    FolderRule {
        id: OTHER_FILES,
        summary: "every file has the name of a log",
        hint: Hint::Note,
        help: "Only names that end in `.jsonl` or `.jsonl.zstd` are taken for logs, in a sessions \
               root only those that the host gives. A file of any other name is checked if it is \
               named itself.",
    },
];

impl FolderFault {
    /// Says something that the host does not mind.
    pub(super) fn said(path: &Path, rule: &'static str, message: String) -> Self {
        let path = path.to_owned();
        Self { path, rule, message, host_refuses: false, host: None, unchecked: false }
    }

    /// Returns how grave it is: as grave as its rule.
    pub fn hint(&self) -> Hint {
        rule_of(self.rule).hint
    }

    /// Says why the host refuses a folder.
    pub(super) fn refused(path: &Path, rule: &'static str, message: String, host: String) -> Self {
        let unchecked = rule == UNREADABLE;
        Self { host_refuses: true, host: Some(host), unchecked, ..Self::said(path, rule, message) }
    }
}

/// Returns the place of a fault's rule in [`RULES`].
pub(super) fn order(fault: &FolderFault) -> usize {
    RULES.iter().position(|rule| rule.id == fault.rule).unwrap_or(RULES.len())
}

fn rule_of(id: &str) -> FolderRule {
    *RULES.iter().find(|rule| rule.id == id).expect("every rule of this file is in the table")
}
