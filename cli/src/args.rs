//! The command line of `log-verify`.

use crate::amount;
use clap::builder::NonEmptyStringValueParser;
use clap::{Parser, ValueEnum};
use gatelog_validator::rule::{Profile, Severity};
use std::path::PathBuf;

/// More threads than this are a slip of the hand.
const THREADS_MAX: u64 = 1024;

/// Where the host keeps its sessions.
pub(crate) const USUAL_PLACE: &str = "~/.dsh/sessions";

/// How it is called: what there is to list or to explain takes no path.
const USAGE: &str = "log-verify [OPTIONS] <PATH>...
       log-verify [--format FORMAT] --rules | --explain <RULE>";

/// What follows the options in `--help`.
const AFTER_HELP: &str = "\
Exit codes:
  0  nothing at or above --fail-on was found
  1  something was found
  2  wrong usage, something unread or unchecked, or nothing to check (wins over 1)

Sessions usually live in ~/.dsh/sessions:
  log-verify ~/.dsh/sessions";

/// Says of agent session logs whether they are sound, and if not: where, why, what the host will do
/// about it, what would be lost, and what to do next. Reads only; never changes a file.
#[derive(Debug, Parser)]
#[command(name = "log-verify", version, after_help = AFTER_HELP, override_usage = USAGE)]
pub(crate) struct Args {
    /// Session files, session folders, project folders, whole session roots, or stores of gatelog
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,

    /// Text for people, or one JSON object a line
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,

    /// The host's rules, or those and what a careful port demands besides; without it, host for
    /// session files and strict for stores
    #[arg(long, value_enum, value_name = "PROFILE")]
    pub(crate) profile: Option<ProfileName>,

    /// How many threads work; all cores without it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=THREADS_MAX))]
    pub(crate) threads: Option<u64>,

    /// The least grave finding that makes the exit code 1
    #[arg(long, value_enum, value_name = "SEVERITY", default_value = "error")]
    pub(crate) fail_on: SeverityName,

    /// Stop at a frame that expands to more bytes than this, and say so: 500000, 64M, 1GiB (K, M, G
    /// and KiB, MiB, GiB count in 1024s, kB, MB, GB in 1000s)
    #[arg(long, value_name = "BYTES", default_value = "1GiB", value_parser = amount::bytes)]
    pub(crate) max_frame_bytes: u64,

    /// The permission presets that exist, one or more, so that other names are faulted
    #[arg(long, value_name = "NAME,...", value_delimiter = ',',
          value_parser = NonEmptyStringValueParser::new())]
    pub(crate) presets: Option<Vec<String>>,

    /// Explain one rule, and stop
    #[arg(long, value_name = "RULE", conflicts_with_all = ["rules", "paths"])]
    pub(crate) explain: Option<String>,

    /// List all rules, and stop
    #[arg(long, conflicts_with = "paths")]
    pub(crate) rules: bool,
}

/// How output is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

/// A profile, as the command line names it.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum ProfileName {
    /// Exactly the rules of the host's loader and companions.
    Host,
    /// Those, and what a careful port demands besides.
    Strict,
}

impl From<ProfileName> for Profile {
    fn from(name: ProfileName) -> Self {
        match name {
            ProfileName::Host => Self::Host,
            ProfileName::Strict => Self::Strict,
        }
    }
}

/// A severity, as the command line names it.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum SeverityName {
    /// The host refuses the file, or an invariant of the host is broken.
    Error,
    /// Legal for the host, and a sign of trouble.
    Warning,
    /// Worth knowing.
    Note,
}

impl From<SeverityName> for Severity {
    fn from(name: SeverityName) -> Self {
        match name {
            SeverityName::Error => Self::Error,
            SeverityName::Warning => Self::Warning,
            SeverityName::Note => Self::Note,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Args;
    use clap::{CommandFactory as _, Parser as _};
    use gatelog_validator::verify::MAX_FRAME_BYTES;

    #[test]
    fn the_command_line_is_well_formed() {
        Args::command().debug_assert();
    }

    #[test]
    fn without_an_option_a_frame_may_expand_as_the_verifier_says() {
        let args = Args::try_parse_from(["log-verify", "x"]).expect("it is lawful");
        assert_eq!(args.max_frame_bytes, MAX_FRAME_BYTES);
    }
}
