//! What the name of a file or folder says: a generation of a log, a leftover, or something that
//! only looks like one.
//!
//! A generation's name is `session` for format 0 or `session.vN` for format N, N from 1 to 2^53-1
//! without leading zeros, then `.jsonl`, then `.zstd` if the log is compressed; letter for letter,
//! and nothing before or behind. The host ignores every other name without a word, and so a log
//! under such a name is lost to its owner; [`NameKind::Lookalike`] says why.
//!
//! # Source
//!
//! `docs/dsh-format.md`, sections 1.4 and 1.7.

/// Greatest format number that a name can carry: the greatest safe integer of JavaScript.
const NUMBER_MAX: u64 = (1 << 53) - 1;

/// The lock file of the hosts of formats 3 and 4, which is never removed.
pub(crate) const LOCK: &str = "session.lock";

/// The project folder of sessions without a working directory.
pub(crate) const NO_CWD: &str = "_no-cwd";

/// How a log's lines lie on the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Encoding {
    /// Zstandard frames, the host's default.
    Zstd,
    /// Plain lines.
    Plain,
}

impl Encoding {
    /// Returns the end of the name of such a log.
    pub fn suffix(self) -> &'static str {
        match self {
            Self::Zstd => ".jsonl.zstd",
            Self::Plain => ".jsonl",
        }
    }

    /// Returns the one that this is not.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Zstd => Self::Plain,
            Self::Plain => Self::Zstd,
        }
    }

    /// Returns the host's name of it: `zstd` or `none`.
    pub fn compression(self) -> &'static str {
        match self {
            Self::Zstd => "zstd",
            Self::Plain => "none",
        }
    }

    /// Returns what the end of a file's name says of its encoding, `None` if it ends otherwise.
    pub fn of_name(name: &[u8]) -> Option<Self> {
        [Self::Zstd, Self::Plain].into_iter().find(|it| name.ends_with(it.suffix().as_bytes()))
    }
}

/// A generation of a session's log, as the file's name states it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Generation {
    /// The format number.
    pub number: u64,
    /// How it lies on the disk.
    pub encoding: Encoding,
}

impl Generation {
    /// Reads a file's name; `None` if it is no generation's.
    pub fn parse(name: &[u8]) -> Option<Self> {
        let encoding = Encoding::of_name(name)?;
        let base = name.strip_suffix(encoding.suffix().as_bytes())?.strip_prefix(b"session")?;
        if base.is_empty() {
            return Some(Self { number: 0, encoding });
        }
        let digits = base.strip_prefix(b".v")?;
        let is_canonical = matches!(digits.first()?, b'1'..=b'9');
        if !is_canonical || !digits.iter().all(u8::is_ascii_digit) {
            return None;
        }
        let number: u64 = std::str::from_utf8(digits).ok()?.parse().ok()?;
        (number <= NUMBER_MAX).then_some(Self { number, encoding })
    }

    /// Returns the name of the file.
    pub fn file_name(self) -> String {
        let suffix = self.encoding.suffix();
        match self.number {
            0 => format!("session{suffix}"),
            number => format!("session.v{number}{suffix}"),
        }
    }
}

/// What a name inside a session's folder is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameKind {
    /// A log that the host sees.
    Generation(Generation),
    /// The lock file: there for good, and no leftover.
    Lock,
    /// A log that was being written for the first time, or another `.tmp` of a log.
    Temporary,
    /// A log that was being migrated.
    MigrationStage,
    /// A directory that was being made, on Windows.
    FolderStage,
    /// Looks like a log, but the host does not see it; with the reason.
    Lookalike(&'static str),
    /// Nothing of a log's.
    Other,
}

impl NameKind {
    /// Judges a name.
    pub fn of(name: &[u8]) -> Self {
        if let Some(generation) = Generation::parse(name) {
            return Self::Generation(generation);
        }
        if name == LOCK.as_bytes() {
            return Self::Lock;
        }
        if name.starts_with(b".dsh-mkdir-") {
            return Self::FolderStage;
        }
        if is_migration_stage(name) {
            return Self::MigrationStage;
        }
        let lower = name.to_ascii_lowercase();
        let Some(at) = find(&lower, b".jsonl") else { return Self::Other };
        if lower.starts_with(b"session") && lower.ends_with(b".tmp") {
            return Self::Temporary;
        }
        Self::Lookalike(why_not(name, &lower, at))
    }
}

/// Returns whether a folder's name is one that the host gives to projects: `_no-cwd` or `--…--`.
pub fn is_project(name: &[u8]) -> bool {
    let is_key = name.len() > 4 && name.starts_with(b"--") && name.ends_with(b"--");
    is_key || name == NO_CWD.as_bytes()
}

/// Returns whether a name is the host's `session.migration.<16 hexadecimal digits><suffix>.tmp`.
fn is_migration_stage(name: &[u8]) -> bool {
    let Some(rest) = name.strip_prefix(b"session.migration.") else { return false };
    let Some((digits, rest)) = rest.split_at_checked(16) else { return false };
    let is_hex = digits.iter().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'));
    is_hex && matches!(rest, b".jsonl.tmp" | b".jsonl.zstd.tmp")
}

/// Says why a name with `.jsonl` at `at` is no generation's, the nearest miss first.
fn why_not(name: &[u8], lower: &[u8], at: usize) -> &'static str {
    if name != lower && Generation::parse(lower).is_some() {
        return "the host compares capital and small letters";
    }
    let Some(middle) = lower[..at].strip_prefix(b"session") else {
        return "a log's name begins with `session`";
    };
    if let Some(digits) = middle.strip_prefix(b".v").filter(|it| all_digits(it)) {
        match digits {
            b"0" => return "format 0 has no number in its name: `session.jsonl`",
            [b'0', ..] => return "a format's number has no leading zeros",
            _ if Generation::parse(&lower[..at + 6]).is_none() => {
                return "the number is beyond 2^53-1";
            }
            _ => {}
        }
    } else if !middle.is_empty() {
        return "only `.v` and a number may stand between `session` and `.jsonl`";
    }
    match &lower[at + 6..] {
        b".zst" | b".gz" | b".xz" | b".bz2" | b".br" => "the host's compressed logs end in `.zstd`",
        _ => "something stands behind the name, as in a backup or a copy",
    }
}

fn all_digits(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().all(u8::is_ascii_digit)
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn generation(number: u64, encoding: Encoding) -> NameKind {
        NameKind::Generation(Generation { number, encoding })
    }

    #[test]
    fn every_name_is_what_the_format_document_says() {
        use Encoding::{Plain, Zstd};
        use NameKind::{FolderStage, Lock, MigrationStage, Other, Temporary};
        let cases: [(&str, NameKind); 23] = [
            ("session.jsonl", generation(0, Plain)),
            ("session.jsonl.zstd", generation(0, Zstd)),
            ("session.v1.jsonl", generation(1, Plain)),
            ("session.v4.jsonl.zstd", generation(4, Zstd)),
            ("session.v10.jsonl", generation(10, Plain)),
            ("session.v9007199254740991.jsonl", generation(NUMBER_MAX, Plain)),
            ("session.lock", Lock),
            ("session.jsonl.0123456789ab.tmp", Temporary),
            ("session.v4.jsonl.zstd.0123456789ab.tmp", Temporary),
            ("session.v4.jsonl.zstd.tmp", Temporary),
            ("session.migration.0123456789abcdef.jsonl.tmp", MigrationStage),
            ("session.migration.0123456789abcdef.jsonl.zstd.tmp", MigrationStage),
            ("session.migration.0123456789ABCDEF.jsonl.tmp", Temporary),
            (".dsh-mkdir-a1B2c3", FolderStage),
            ("", Other),
            ("session", Other),
            ("Session.lock", Other),
            ("session.json", Other),
            ("session.v4", Other),
            ("notes.txt", Other),
            ("attachments", Other),
            ("session.migration.012", Other),
            ("jsonl", Other),
        ];
        for (name, kind) in cases {
            assert_eq!(NameKind::of(name.as_bytes()), kind, "{name}");
            if let NameKind::Generation(generation) = kind {
                assert_eq!(generation.file_name(), name);
            }
        }
    }

    #[test]
    fn a_lookalike_is_told_from_a_log_and_says_why() {
        let cases = [
            ("Session.v1.jsonl", "capital"),
            ("session.V4.jsonl.zstd", "capital"),
            ("session.jsonl.ZSTD", "capital"),
            ("session.v0.jsonl", "format 0"),
            ("session.v0.jsonl.zstd", "format 0"),
            ("session.v01.jsonl", "leading zeros"),
            ("session.v03.jsonl.zstd", "leading zeros"),
            ("session.v9007199254740992.jsonl", "beyond 2^53-1"),
            ("session.v99999999999999999999.jsonl.zstd", "beyond 2^53-1"),
            ("session.v.jsonl", "only `.v` and a number"),
            ("session.v-1.jsonl", "only `.v` and a number"),
            ("session.v1a.jsonl", "only `.v` and a number"),
            ("session copy.jsonl", "only `.v` and a number"),
            ("session.jsonl.bak", "behind the name"),
            ("session.jsonl.zstd.bak", "behind the name"),
            ("session.v3.jsonl.zstd (1)", "behind the name"),
            ("session.jsonl~", "behind the name"),
            ("session.jsonl\n", "behind the name"),
            ("session.jsonl.zst", "end in `.zstd`"),
            ("session.v3.jsonl.gz", "end in `.zstd`"),
            ("xsession.jsonl", "begins with"),
            ("0197.jsonl.zstd", "begins with"),
        ];
        for (name, reason) in cases {
            let NameKind::Lookalike(why) = NameKind::of(name.as_bytes()) else {
                panic!("{name} is no lookalike");
            };
            assert!(why.contains(reason), "{name}: {why}");
        }
    }

    #[test]
    fn an_ending_gives_the_encoding() {
        assert_eq!(Encoding::of_name(b"x.jsonl"), Some(Encoding::Plain));
        assert_eq!(Encoding::of_name(b".jsonl.zstd"), Some(Encoding::Zstd));
        for name in ["x.JSONL", "x.zstd", "x.jsonl.zst", "jsonl", ""] {
            assert_eq!(Encoding::of_name(name.as_bytes()), None, "{name}");
        }
    }

    #[test]
    fn a_project_folder_has_one_of_two_forms() {
        for name in ["_no-cwd", "--root--", "--a-b--", "--C-w--"] {
            assert!(is_project(name.as_bytes()), "{name}");
        }
        for name in ["", "--", "----", "--a-", "a--", "_NO-CWD", "no-cwd", "Backup"] {
            assert!(!is_project(name.as_bytes()), "{name}");
        }
    }
}
