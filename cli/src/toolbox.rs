//! One run of `gatelog`, the toolbox: `gatelog project` shows what sessions add up to.

use crate::json::spelled_out;
use crate::printable::escape;
use crate::survey::{Sought, Survey};
use crate::tally::{EXIT_CLEAN, EXIT_UNCHECKED};
use clap::builder::PossibleValuesParser;
use clap::{Parser, Subcommand};
use gatelog_engine::backend::{Error, ErrorKind};
use gatelog_engine::json::Document;
use gatelog_engine::replay::{
    EventSource, Folded, LogFiles, Projected, Replay, StoredSessions, replay,
};
use gatelog_engine::rules::SessionHeader;
use gatelog_engine::storage::{Disk, Storage};
use gatelog_validator::projection::{Installation, NAMES};
use gatelog_validator::report::DirectoryReport;
use gatelog_validator::verify::MAX_FRAME_BYTES;
use serde_json::json;
use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

/// A session could not be folded, because its log is damaged or of an unknown format.
const EXIT_REFUSED: u8 = 1;

/// What follows the options in `--help`.
const AFTER_HELP: &str = "\
Exit codes:
  0  every session is shown
  1  some session is not, because its log is damaged or of a newer format
  2  wrong usage, something unread, or no session at all (wins over 1)

Sessions usually live in ~/.dsh/sessions:
  gatelog project ~/.dsh/sessions --projection title --projection usage";

/// Tools around agent session logs. Reads only; never changes a file.
#[derive(Debug, Parser)]
#[command(name = "gatelog", version)]
struct Args {
    #[command(subcommand)]
    tool: Tool,
}

/// The tools.
#[derive(Debug, Subcommand)]
enum Tool {
    Project(Project),
}

/// Shows what each session adds up to, as one JSON object a session
#[derive(Debug, Parser)]
#[command(after_help = AFTER_HELP)]
struct Project {
    /// Session files, session folders, project folders, whole session roots, or stores of gatelog
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<PathBuf>,

    /// Show each session as it was after the event of this seq
    #[arg(long, value_name = "SEQ")]
    at: Option<u64>,

    /// Show this only; may be given more than once
    #[arg(long = "projection", value_name = "NAME",
          value_parser = PossibleValuesParser::new(NAMES))]
    projections: Vec<String>,

    /// How many threads work; all cores without it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1024))]
    threads: Option<u64>,
}

/// Runs `gatelog` on the arguments of the process.
///
/// Prints to standard output and standard error, and returns the exit code: 0 when every session is
/// shown, 1 when the log of one is damaged or of an unknown format, 2 on wrong usage or when
/// something could not be read. A closed pipe ends the run quietly.
pub fn main() -> ExitCode {
    match Args::try_parse() {
        Ok(Args { tool: Tool::Project(project) }) => ExitCode::from(run(&project)),
        Err(error) if error.use_stderr() => {
            // It quotes the command line, which a hostile file name may be part of.
            let text = error.render().to_string();
            let lines: Vec<_> = text.lines().map(|line| escape(line).into_owned()).collect();
            drop(writeln!(io::stderr(), "{}", lines.join("\n")));
            ExitCode::from(EXIT_UNCHECKED)
        }
        Err(help) => {
            drop(help.print());
            ExitCode::from(EXIT_CLEAN)
        }
    }
}

fn run(project: &Project) -> u8 {
    // Without a current folder a relative path leads nowhere, whatever it is taken from.
    let base = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
    let survey = Survey::of(&Disk, &project.paths, base);
    let mut code = if survey.unchecked { EXIT_UNCHECKED } else { EXIT_CLEAN };
    survey.folders.iter().for_each(tell);
    let mut output = BufWriter::new(io::stdout());
    for source in sources(&Disk, survey) {
        let source = match source {
            Ok(source) => source,
            Err(error) => {
                complain(&error.to_string());
                code = code.max(code_of(&error));
                continue;
            }
        };
        match show(&*source, project, &mut output) {
            Ok(shown) => code = code.max(shown),
            Err(Stopped::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
                return code;
            }
            Err(Stopped::Output(error)) => {
                return complain(&format!("the output could not be written: {error}"));
            }
            Err(Stopped::Source(error)) => code = complain(&error.to_string()),
        }
    }
    code
}

/// Says what is wrong with a folder as a whole; its sessions are shown all the same.
fn tell(folder: &DirectoryReport) {
    for finding in &folder.findings {
        complain(&format!("{}: {}", folder.path.display(), finding.message));
    }
}

/// Opens what was found: the one place that knows what can be projected. The host's session files
/// are one source; a store of gatelog's own is a source for itself and is opened here.
fn sources(storage: &dyn Storage, survey: Survey) -> Vec<Result<Box<dyn EventSource + '_>, Error>> {
    let (mut targets, mut stores) = (Vec::new(), Vec::new());
    for sought in survey.sought {
        match sought {
            Sought::File(file) => targets.push(file.target),
            Sought::Store(dir) => stores.push(dir),
        }
    }
    let files: Box<dyn EventSource> = Box::new(LogFiles::new(storage, targets, MAX_FRAME_BYTES));
    let stores = stores.iter().map(|dir| -> Result<Box<dyn EventSource>, Error> {
        Ok(Box::new(StoredSessions::open(Arc::new(Disk), dir)?))
    });
    std::iter::once(Ok(files)).chain(stores).collect()
}

/// Why no further session is shown.
enum Stopped {
    Output(io::Error),
    Source(Error),
}

/// Shows the sessions of a source, and returns the exit code.
fn show(
    source: &dyn EventSource,
    project: &Project,
    output: &mut (impl Write + Send),
) -> Result<u8, Stopped> {
    let installation = Installation::default();
    let wanted = &project.projections;
    let make = |header: &SessionHeader| -> Vec<Box<dyn Projected>> {
        let is_wanted = |name| wanted.is_empty() || wanted.iter().any(|it| it == name);
        let all = installation.all(header).into_iter();
        all.filter(|projection| is_wanted(projection.name())).collect()
    };
    let threads = project.threads.map_or(0, |threads| threads as usize);
    let options = Replay { threads, at: project.at };
    let mut code = EXIT_CLEAN;
    let mut written = Ok(());
    replay(source, &make, options, &mut |name, folded| {
        let line = match folded {
            Ok(folded) => line(&source.path(name), &folded),
            Err(error) => {
                code = code.max(code_of(&error));
                complain(&error.to_string());
                json!({"path": source.path(name), "error": error.message, "rule": error.rule})
                    .to_string()
            }
        };
        written = writeln!(output, "{}", spelled_out(&line)).and_then(|()| output.flush());
        if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })
    .map_err(Stopped::Source)?;
    written.map_err(Stopped::Output)?;
    Ok(code)
}

fn code_of(error: &Error) -> u8 {
    match error.kind {
        ErrorKind::Corrupt | ErrorKind::Unsupported => EXIT_REFUSED,
        _ => EXIT_UNCHECKED,
    }
}

/// Writes one session as an object; the keys and their order are a promise.
fn line(name: &str, folded: &Folded) -> String {
    let header = Document::parse(folded.header.json.clone()).ok();
    let id = header.as_ref().and_then(|header| header.root().get("id"));
    let id = id.map_or_else(|| "null".to_owned(), |id| id.to_json());
    let views = folded.views.iter().map(|view| format!("\"{}\":{}", view.name, view.json));
    format!(
        "{{\"path\":{},\"session\":{id},\"version\":{},\"events\":{},\"projections\":{{{}}}}}",
        json!(name),
        folded.header.dialect,
        folded.next_seq,
        views.collect::<Vec<_>>().join(",")
    )
}

/// Says something on standard error, and returns the exit code of a run that missed something.
fn complain(sentence: &str) -> u8 {
    // With standard error gone there is nobody left to tell.
    drop(writeln!(io::stderr(), "gatelog: {}", escape(sentence)));
    EXIT_UNCHECKED
}

#[cfg(test)]
mod tests {
    use super::Args;
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_well_formed() {
        Args::command().debug_assert();
    }
}
