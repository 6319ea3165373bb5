//! One run of `log-verify`, from the command line to the exit code.

use crate::args::{Args, Format, USUAL_PLACE};
use crate::explain::{self, PANIC};
use crate::json::JsonSink;
use crate::order::{Listener, in_order};
use crate::printable::{clip, escape};
use crate::progress::Progress;
use crate::sink::Sink;
use crate::style::Style;
use crate::survey::{Sought, Survey, size};
use crate::tally::{EXIT_CLEAN, EXIT_UNCHECKED, Tally};
use crate::text::TextSink;
use clap::Parser as _;
use gatelog_engine::dsh::discover::Target;
use gatelog_engine::dsh::name;
use gatelog_engine::event::Place;
use gatelog_engine::storage::Disk;
use gatelog_validator::report::{Encoding, Finding, HostAct, Lost, Report, Verdict};
use gatelog_validator::rule::{Profile, Severity};
use gatelog_validator::store::{StoreOptions, StoreReport, verify_store};
use gatelog_validator::verify::{Look, Options, look};
use rayon::ThreadPool;
use std::any::Any;
use std::io::{self, BufWriter, IsTerminal as _, Write as _};
use std::ops::ControlFlow;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// Characters of a panic's message that are shown.
const MESSAGE_CHARACTERS_MAX: usize = 300;

/// Runs `log-verify` on the arguments and the environment of the process.
///
/// Prints to standard output and standard error, and returns the exit code: 0 when nothing at or
/// above `--fail-on` was found, 1 when something was, 2 on wrong usage or when something was left
/// unchecked. A closed pipe ends the run quietly, with the exit code of what was seen so far.
pub fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => {
            // Help and usage that nobody reads any more are no failure of their own.
            if error.use_stderr() {
                // It quotes the command line, which a hostile file name may be part of.
                let text = error.render().to_string();
                let lines = text.lines().map(|line| escape(line).into_owned());
                drop(writeln!(io::stderr(), "{}", lines.collect::<Vec<_>>().join("\n")));
            } else {
                drop(error.print());
            }
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(EXIT_UNCHECKED));
        }
    };
    ExitCode::from(run(&args))
}

fn run(args: &Args) -> u8 {
    let stdout = io::stdout();
    let is_terminal = stdout.is_terminal();
    let style = Style::decide(|name| std::env::var(name).ok(), is_terminal);
    let mut output = BufWriter::new(stdout.lock());
    if args.rules {
        return ending(explain::list(&mut output, args.format), EXIT_CLEAN);
    }
    if let Some(name) = &args.explain {
        let mut errors = io::stderr().lock();
        let known = explain::explain(&mut output, &mut errors, style, args.format, name);
        let code = if matches!(known, Ok(false)) { EXIT_UNCHECKED } else { EXIT_CLEAN };
        return ending(known.map(drop), code);
    }
    if args.paths.is_empty() {
        return complain(&format!(
            "no path given; sessions usually live in {USUAL_PLACE}: log-verify {USUAL_PLACE}"
        ));
    }
    panic::set_hook(Box::new(report_panic));
    match args.format {
        Format::Json => check(args, &mut JsonSink::new(output)),
        Format::Text => {
            check(args, &mut TextSink::new(output, style, is_terminal, args.fail_on.into()))
        }
    }
}

/// Verifies all files under the paths, prints a report on each, and returns the exit code.
fn check(args: &Args, sink: &mut impl Sink) -> u8 {
    let started = Instant::now();
    let threads = args.threads.map_or(0, |threads| threads as usize);
    let pool = match rayon::ThreadPoolBuilder::new().num_threads(threads).build() {
        Ok(pool) => pool,
        Err(error) => return complain(&format!("no threads to work with: {error}")),
    };
    // Without a current folder a relative path leads nowhere, whatever it is taken from.
    let base = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
    let Survey { folders, sought, unchecked } = Survey::of(&Disk, &args.paths, base);
    let mut run = Run {
        pool: &pool,
        sink,
        tally: Tally::new(args.fail_on.into()),
        progress: progress(started, &sought),
        ended: Ok(()),
    };
    if unchecked {
        run.tally.leave_unchecked();
    }
    for folder in &folders {
        run.tally.folder(folder);
        run.ended = run.sink.folder(folder);
        if run.ended.is_err() {
            return run.finish();
        }
    }
    let count = sought.len();
    let job = job(args, sought, &run.progress);
    in_order(&pool, count, job, &mut run);
    run.finish()
}

/// Returns a bar for the bytes of all files, which are asked for only where it has a terminal.
fn progress(started: Instant, sought: &[Sought]) -> Progress {
    let wanted =
        io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb");
    let sizes = sought.iter().map(|sought| sought.bytes(&Disk));
    Progress::new(started, if wanted { sizes.sum() } else { 0 }, wanted)
}

/// Returns the work on one file, by its place among those sought.
fn job(
    args: &Args,
    sought: Vec<Sought>,
    progress: &Progress,
) -> impl Fn(usize) -> Outcome + Send + Sync + use<> {
    let counter = progress.counter();
    let options = Options {
        profile: args.profile.map_or(Profile::Host, Profile::from),
        presets: args.presets.clone(),
        max_frame_bytes: args.max_frame_bytes,
    };
    let of_store = StoreOptions::default();
    let of_store = StoreOptions {
        profile: args.profile.map_or(of_store.profile, Profile::from),
        presets: args.presets.clone(),
        ..of_store
    };
    move |index| {
        let count = |bytes| {
            counter.fetch_add(bytes, Ordering::Relaxed);
        };
        let sought = match &sought[index] {
            Sought::File(file) => file,
            Sought::Store(dir) => return store(dir, &of_store, &count),
        };
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let look = look(&Disk, &sought.target, &options, &count);
            match look.due() {
                None => Outcome::Reported(Box::new(look.report(&Disk))),
                Some(_) => Outcome::Looked(look, Box::new(sought.target.clone())),
            }
        }));
        let outcome = outcome.unwrap_or_else(|payload| {
            Outcome::Reported(Box::new(unchecked(&sought.target, payload.as_ref())))
        });
        match outcome {
            Outcome::Reported(mut report) => {
                sought.guide(&mut report);
                Outcome::Reported(report)
            }
            other => other,
        }
    }
}

/// Verifies one store.
fn store(dir: &Path, options: &StoreOptions, count: &(dyn Fn(u64) + Sync)) -> Outcome {
    let verified = catch_unwind(AssertUnwindSafe(|| verify_store(&Disk, dir, options, count)));
    let (store, sessions) = verified.unwrap_or_else(|payload| {
        (StoreReport::unchecked(dir, fault_of_ours(payload.as_ref())), Vec::new())
    });
    Outcome::Store(Box::new(store), sessions)
}

/// What came of one file, or of a store.
enum Outcome {
    /// Its report.
    Reported(Box<Report>),
    /// The report on a store, and those on its sessions.
    Store(Box<StoreReport>, Vec<Report>),
    /// A file whose end has to be looked at once more.
    Looked(Look, Box<Target>),
}

/// A run under way: what was counted, and whether the output still takes anything.
struct Run<'a, S> {
    pool: &'a ThreadPool,
    sink: &'a mut S,
    tally: Tally,
    progress: Progress,
    ended: io::Result<()>,
}

impl<S: Sink> Run<'_, S> {
    /// Prints the summary and returns the exit code.
    fn finish(mut self) -> u8 {
        let seconds = self.progress.finish();
        if self.ended.is_ok() {
            self.ended = self.sink.summary(&self.tally, seconds);
        }
        ending(self.ended, self.tally.exit_code())
    }
}

impl<S: Sink> Listener<Outcome> for Run<'_, S> {
    fn due(&self, outcome: &Outcome) -> Option<Instant> {
        match outcome {
            Outcome::Reported(_) | Outcome::Store(..) => None,
            Outcome::Looked(look, _) => look.due(),
        }
    }

    fn result(&mut self, outcome: Outcome) -> ControlFlow<()> {
        let reports = match outcome {
            Outcome::Reported(report) => vec![*report],
            // Perhaps it is read again, which is work for the threads that were asked for.
            Outcome::Looked(look, target) => {
                let again = || self.pool.install(|| look.report(&Disk));
                let report = catch_unwind(AssertUnwindSafe(again))
                    .unwrap_or_else(|payload| unchecked(&target, payload.as_ref()));
                vec![report]
            }
            Outcome::Store(store, sessions) => {
                self.tally.store(&store);
                self.ended = self.progress.aside(|| self.sink.store(&store));
                sessions
            }
        };
        for report in &reports {
            if self.ended.is_ok() {
                self.tally.file(report);
                self.ended = self.progress.aside(|| self.sink.file(report));
            }
        }
        if self.ended.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    fn tick(&mut self) {
        self.progress.tick();
    }
}

/// Returns the exit code of a run whose output ended in some way.
///
/// A reader that went away, as `head` does, is no failure: the code so far stands.
fn ending(output: io::Result<()>, code: u8) -> u8 {
    match output {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            complain(&format!("the output could not be written: {error}"))
        }
        _ => code,
    }
}

/// Says on standard error what keeps the run from being one, and returns the exit code.
fn complain(sentence: &str) -> u8 {
    // With standard error gone there is nobody left to tell.
    drop(writeln!(io::stderr(), "log-verify: {sentence}\n  log-verify --help says more"));
    EXIT_UNCHECKED
}

/// Says on standard error where a fault of ours lies; the file's report says that there was one.
fn report_panic(panic: &PanicHookInfo<'_>) {
    let place = panic.location().map_or_else(String::new, |at| format!(" at {at}"));
    let message = message(panic.payload());
    drop(writeln!(io::stderr(), "log-verify: a fault of its own{place}: {message}"));
}

/// Returns the message of a panic, fit for a terminal.
fn message(payload: &(dyn Any + Send)) -> String {
    let message = payload.downcast_ref::<String>().map(String::as_str);
    let message = message.or_else(|| payload.downcast_ref::<&str>().copied());
    clip(message.unwrap_or("no message"), MESSAGE_CHARACTERS_MAX).into_owned()
}

/// Returns the report on a file whose verification ran into a fault of ours.
fn unchecked(target: &Target, payload: &(dyn Any + Send)) -> Report {
    Report {
        path: target.path.clone(),
        session: None,
        version: None,
        encoding: match target.encoding {
            Some(name::Encoding::Zstd) => Encoding::Zstd,
            Some(name::Encoding::Plain) | None => Encoding::Plain,
        },
        bytes: size(&Disk, &target.path),
        verdict: Verdict::Unreadable,
        host: HostAct::Refuses,
        events: 0,
        closers: 0,
        lost: Lost::default(),
        host_error: None,
        findings: vec![fault_of_ours(payload)],
    }
}

fn fault_of_ours(payload: &(dyn Any + Send)) -> Finding {
    Finding {
        rule: PANIC.id,
        severity: Severity::Error,
        message: format!("not checked: log-verify failed with: {}", message(payload)),
        help: PANIC.help.to_owned(),
        place: Place::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::ending;
    use std::io;

    #[test]
    fn a_closed_pipe_keeps_the_exit_code_and_a_full_disk_does_not() {
        assert_eq!(ending(Ok(()), 1), 1);
        assert_eq!(ending(Err(io::ErrorKind::BrokenPipe.into()), 1), 1);
        assert_eq!(ending(Err(io::ErrorKind::StorageFull.into()), 0), 2);
    }
}
