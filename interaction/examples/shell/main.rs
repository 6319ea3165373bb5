//! A small agent for the command line, on everything that this crate has: a store, a turn loop, a
//! person who is asked, permission presets, commands and questions.
//!
//! ```text
//! shell [--store native|dsh] [--bare] [--script FILE] DIR [SESSION]
//! ```
//!
//! `DIR` holds the store; the directory that it is started in is the workspace. There is no model:
//! what a person types is taken for what a model would do. `read FILE`, `write FILE TEXT` and
//! `ask TEXT | OPTION | OPTION` are calls of tools, and all else is echoed. `/permission` and
//! `/note TEXT` are commands; `:status`, `:help` and `:quit` belong to the shell itself. Ctrl-C
//! takes the turn back. A session that is there already goes on where it was.
//!
//! `--bare` mounts no service: the same loop, and nobody to ask. A script gives the lines in place
//! of a person, answers included, and `^C` for Ctrl-C.

mod agent;

use agent::{Console, Kind, Options};
use gatelog_interaction::agent::BoxError;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

const USAGE: &str = "usage: shell [--store native|dsh] [--bare] [--script FILE] DIR [SESSION]";

/// A script is short; what is longer is some other file.
const SCRIPT_BYTES_MAX: u64 = 1 << 20;

struct Arguments {
    options: Options,
    script: Option<PathBuf>,
}

fn arguments() -> Result<Arguments, BoxError> {
    let (mut store, mut is_bare, mut script) = (Kind::Native, false, None);
    let mut places = Vec::new();
    let mut words = std::env::args_os().skip(1);
    while let Some(word) = words.next() {
        match word.to_str() {
            Some("--bare") => is_bare = true,
            Some("--script") => script = Some(words.next().ok_or(USAGE)?.into()),
            Some("--store") => {
                let kind = words.next().ok_or(USAGE)?;
                store = kind.to_str().and_then(Kind::of).ok_or(USAGE)?;
            }
            Some(option) if option.starts_with('-') => return Err(USAGE.into()),
            _ => places.push(word),
        }
    }
    let mut places = places.into_iter();
    let dir = std::path::absolute(PathBuf::from(places.next().ok_or(USAGE)?))?;
    let session = match places.next() {
        Some(name) => name.into_string().map_err(|_| "a session's name is Unicode")?,
        None => "main".to_owned(),
    };
    if places.next().is_some() {
        return Err(USAGE.into());
    }
    // Nothing but this reads the environment.
    let preset = std::env::var("DSH_PERMISSION_MODE").ok();
    let workspace = std::env::current_dir()?;
    let options = Options { store, is_bare, dir, session, workspace, preset };
    Ok(Arguments { options, script })
}

fn console(script: Option<PathBuf>) -> Result<Arc<Console>, BoxError> {
    let out = Box::new(io::stdout());
    let Some(path) = script else { return Ok(Console::typed(out)) };
    let named = |error: io::Error| format!("the script {}: {error}", path.display());
    if std::fs::metadata(&path).map_err(named)?.len() > SCRIPT_BYTES_MAX {
        return Err(format!("the script {} is longer than 1 MiB", path.display()).into());
    }
    let text = std::fs::read_to_string(&path).map_err(named)?;
    Ok(Console::scripted(&text, out))
}

fn start() -> Result<(), BoxError> {
    let Arguments { options, script } = arguments()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let ended = runtime.block_on(async {
        let console = console(script)?;
        agent::run(&options, &console).await
    });
    // The thread that waits for a line goes with the process.
    runtime.shutdown_background();
    ended
}

fn main() -> ExitCode {
    match start() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("shell: {error}");
            ExitCode::FAILURE
        }
    }
}
