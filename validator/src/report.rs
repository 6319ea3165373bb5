//! What verification says of one file: a verdict, what the host would do, and the findings.

use crate::rule::Severity;
use gatelog_engine::companion::RuleId;
use gatelog_engine::dsh::discover::Target;
use gatelog_engine::dsh::name;
use gatelog_engine::event::Place;

/// The verdict on a file; the words are never mixed, because each asks for another act.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// Nothing is wrong with it.
    Sound,
    /// Its end was cut; recovery drops some bytes.
    Torn,
    /// It reads, and breaks a rule of meaning.
    Violation,
    /// Container, line, JSON, header, envelope or seq are damaged.
    Corrupt,
    /// Undamaged, and of a version or vocabulary that its reader does not know.
    Unsupported,
    /// It could not be opened, read or checked, or is no session file.
    Unreadable,
}

impl Verdict {
    /// Returns the word that reports print.
    pub fn word(self) -> &'static str {
        match self {
            Self::Sound => "sound",
            Self::Torn => "torn",
            Self::Violation => "violation",
            Self::Corrupt => "corrupt",
            Self::Unsupported => "unsupported",
            Self::Unreadable => "unreadable",
        }
    }
}

/// What the host's loader of the file's generation does with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HostAct {
    /// Reads it as it is.
    Loads,
    /// Reads it after cutting a tail, adding closers, or both.
    Repairs,
    /// Refuses it.
    Refuses,
    /// No host reads it: a store of our own.
    None,
}

impl HostAct {
    /// Returns the word that reports print.
    pub fn word(self) -> &'static str {
        match self {
            Self::Loads => "loads",
            Self::Repairs => "repairs",
            Self::Refuses => "refuses",
            Self::None => "none",
        }
    }
}

/// One finding: a rule, how grave, where, in words, and what to do.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The rule.
    pub rule: RuleId,
    /// How grave it is under the profile in force.
    pub severity: Severity,
    /// What is wrong, in one sentence.
    pub message: String,
    /// What it means and what to do next.
    pub help: String,
    /// Where.
    pub place: Place,
}

/// What recovery would cut from a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lost {
    /// Bytes of the file from the cut to its end.
    pub bytes: u64,
    /// Records, the partial one included, that give no event.
    pub lines: u64,
}

/// How the bytes of a file are encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// A concatenation of Zstandard frames.
    Zstd,
    /// Plain lines.
    Plain,
    /// The frames of a native store.
    Native,
}

impl Encoding {
    /// Returns the word that reports print.
    pub fn word(self) -> &'static str {
        match self {
            Self::Zstd => "zstd",
            Self::Plain => "none",
            Self::Native => "native",
        }
    }
}

/// The report on one file.
#[derive(Clone, Debug)]
pub struct Report {
    /// The file, as it was named or found.
    pub path: std::path::PathBuf,
    /// The session id of its header, lossy, when it has one.
    pub session: Option<String>,
    /// The format version, when the header states one.
    pub version: Option<u64>,
    /// How its bytes are encoded.
    pub encoding: Encoding,
    /// Its size on disk, in bytes.
    pub bytes: u64,
    /// The verdict.
    pub verdict: Verdict,
    /// What the host does with it.
    pub host: HostAct,
    /// Logical events of the preserved prefix, packed rows expanded, before closers.
    pub events: u64,
    /// Events that crash recovery would add.
    pub closers: u64,
    /// What that recovery would cut.
    pub lost: Lost,
    /// The host's own message when it refuses.
    pub host_error: Option<String>,
    /// The findings: what the host refuses the file for, what its end is like, then the broken
    /// rules in the order of the events that broke them, those that an end decides last; then
    /// notes. Of a native session it is the broken rules alone.
    pub findings: Vec<Finding>,
}

impl Report {
    /// Makes the report on a file of which nothing is known but its name and size.
    pub(crate) fn empty(target: &Target, bytes: u64) -> Self {
        Self {
            path: target.path.clone(),
            session: None,
            version: None,
            encoding: match target.encoding {
                Some(name::Encoding::Zstd) => Encoding::Zstd,
                _ => Encoding::Plain,
            },
            bytes,
            verdict: Verdict::Sound,
            host: HostAct::Loads,
            events: 0,
            closers: 0,
            lost: Lost::default(),
            host_error: None,
            findings: Vec::new(),
        }
    }
}

/// The report on a folder: what concerns more than one file.
#[derive(Clone, Debug)]
pub struct DirectoryReport {
    /// The folder.
    pub path: std::path::PathBuf,
    /// What the host does with the root because of it.
    pub host: HostAct,
    /// The findings.
    pub findings: Vec<Finding>,
}
