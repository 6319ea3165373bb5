//! Words that code must not hold, by place.

use crate::tree::File;

/// Words that are forbidden in some files, and why.
struct Ban {
    /// The files.
    holds_for: fn(&File) -> bool,
    /// The words. One that ends in `!` or `::` stands as it is; any other is a whole word.
    words: &'static [&'static str],
    /// What to do.
    instead: &'static str,
}

const BANS: [Ban; 7] = [
    Ban {
        holds_for: |file| is_source(file) && !file.path.starts_with("engine/src/storage/"),
        words: &["std::fs", "fs::read", "fs::File", "std::os::unix::fs", "OpenOptions"],
        instead: "only engine/src/storage touches the file system; read through a Storage",
    },
    Ban {
        holds_for: |file| is_source(file) && !file.path.starts_with("cli/"),
        words: &["std::env", "println!", "eprintln!", "print!", "eprint!", "ExitCode"],
        instead: "only cli formats for people, reads the environment or picks an exit code",
    },
    Ban {
        holds_for: |file| is_source(file) && !file.path.starts_with("cli/"),
        words: &["stdout", "stderr", "process::exit", "IsTerminal"],
        instead: "only cli speaks to a terminal",
    },
    Ban {
        holds_for: |file| {
            is_source(file)
                && !file.path.starts_with("cli/")
                && file.path != SECOND_LOOK
                && !WAITS.iter().any(|place| file.path.starts_with(place))
        },
        words: &["Instant::now", "SystemTime", "thread::sleep"],
        instead: "a verdict does not depend on a clock; only the second look at a torn end waits",
    },
    Ban {
        holds_for: is_source,
        words: &["std::net", "TcpStream", "UnixStream", "process::Command"],
        instead: "nothing here opens a socket or starts a program",
    },
    Ban {
        holds_for: |file| file.is(&[".rs"]),
        words: &["dbg!", "todo!", "unimplemented!", "ignore]"],
        instead: "finish it, or take it out",
    },
    Ban {
        holds_for: |file| file.is(&[".rs", ".md", ".mjs", ".toml", ".sh", "/run"]),
        words: &[
            "spec/dsh-format",
            "format specification",
            "design.md",
            "host-surprises",
            "storage-design",
            "Format document",
        ],
        instead: "a text of this project speaks only of the project: say \"`docs/dsh-format.md`, \
                  section N\", or name another document that is here",
    },
];

/// The module that waits for a live writer.
const SECOND_LOOK: &str = "validator/src/verify.rs";

/// Writers and simulated disks wait, and no verdict is made there.
const WAITS: &[&str] = &[
    "engine/src/log/",
    "engine/src/machine.rs",
    "engine/src/session_files/",
    "engine/src/storage/sim/",
];

/// This test must name what it forbids.
const OWN: &str = "cli/tests/tidy";

/// Returns whether a file is part of a crate that others use or that is shipped.
fn is_source(file: &File) -> bool {
    let crates = ["engine/src/", "validator/src/", "interaction/src/", "cli/src/"];
    crates.iter().any(|folder| file.path.starts_with(folder))
        && !file.is(&["tests.rs", "testing.rs"])
}

/// Finds forbidden words.
pub(crate) fn faults(files: &[File]) -> Vec<String> {
    let mut faults = Vec::new();
    for file in files.iter().filter(|file| !file.path.starts_with(OWN)) {
        for ban in BANS.iter().filter(|ban| (ban.holds_for)(file)) {
            let lines: Vec<_> = match ban.words {
                // These are forbidden in comments and in tests too.
                ["dbg!" | "spec/dsh-format", ..] => file.lines().collect(),
                _ => file.code().collect(),
            };
            for (number, line) in lines {
                if let Some(word) = ban.words.iter().find(|word| says(line, word)) {
                    let (path, instead) = (&file.path, ban.instead);
                    faults.push(format!("{path}:{number}: {word}: {instead}"));
                }
            }
        }
        faults.extend(promises(file));
        faults.extend(long_forms(file, files));
    }
    faults
}

/// Finds promises of later work that no issue keeps.
fn promises(file: &File) -> Vec<String> {
    let is_text = file.is(&[".rs", ".md", ".mjs", ".toml", ".sh", "/run"]);
    let marks = ["TODO", "FIXME", "XXX"];
    let is_promise = |line: &str| {
        marks.iter().any(|mark| says(line, mark)) && !line.to_lowercase().contains("issue ")
    };
    let lines = file.lines().filter(|(_, line)| is_text && is_promise(line));
    lines.map(|(number, _)| format!("{}:{number}: a promise names its issue", file.path)).collect()
}

/// Finds tests that are left out of the short form and that nobody would remember to run.
fn long_forms(file: &File, files: &[File]) -> Vec<String> {
    let testing = files.iter().find(|file| file.path == "docs/testing.md");
    let is_named = |name: &str| testing.is_some_and(|testing| testing.text.contains(name));
    let mut faults = Vec::new();
    let lines: Vec<&str> = file.text.lines().collect();
    for (at, _) in lines.iter().enumerate().filter(|(_, line)| line.contains("#[ignore =")) {
        let function = lines[at..].iter().find_map(|line| line.trim().strip_prefix("fn "));
        let name = function.and_then(|rest| rest.split('(').next()).unwrap_or_default();
        if file.is(&[".rs"]) && !is_named(name) {
            let (path, line) = (&file.path, at + 1);
            faults.push(format!("{path}:{line}: docs/testing.md should say when to run {name}"));
        }
    }
    faults
}

/// Returns whether a line holds a word as a whole.
fn says(line: &str, word: &str) -> bool {
    let is_name = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    line.match_indices(word).any(|(at, _)| {
        let ends_open = word.ends_with(['!', ']', '=']);
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        !is_name(before) && (ends_open || !is_name(after))
    })
}

/// Canaries: each has exactly one fault.
pub(crate) const UNLAWFUL: &[(&str, &str)] = &[
    ("validator/src/judge.rs", "use std::fs;"),
    ("cli/src/run.rs", "    let text = std::fs::read(path);"),
    ("engine/src/dsh/read.rs", "    let file = OpenOptions::new();"),
    ("engine/src/dsh/read.rs", "    println!(\"here\");"),
    ("validator/src/judge.rs", "    let home = std::env::var(\"HOME\");"),
    ("validator/src/judge.rs", "fn judge() -> ExitCode {"),
    ("engine/src/dsh/read.rs", "    writeln!(io::stderr(), \"here\")"),
    ("validator/src/fold.rs", "    let now = Instant::now();"),
    ("cli/src/run.rs", "use std::net::TcpListener;"),
    ("engine/tests/storage.rs", "    dbg!(storage);"),
    ("cli/src/run.rs", "    todo!()"),
    ("engine/tests/storage.rs", "#[ignore]"),
    ("engine/tests/storage.rs", "#[ignore = \"slow\"]\n#[test]\nfn a_long_form() {}"),
    ("engine/tests/storage.rs", "// TODO: make it fast"),
    ("docs/testing.md", "FIXME"),
    ("engine/src/json/mod.rs", "//! `spec/dsh-format.md` section 4."),
    ("engine/src/dsh/row.rs", "//! The format specification, section 4."),
    ("CONTRIBUTING.md", "See design.md."),
];

/// Canaries: these are lawful.
pub(crate) const LAWFUL: &[(&str, &str)] = &[
    ("engine/src/storage/disk.rs", "use std::fs;"),
    ("cli/tests/common/mod.rs", "use std::fs;"),
    ("cli/src/run.rs", "    println!(\"done\"); std::env::args();"),
    ("engine/src/dsh/read.rs", "// println! is for the command line"),
    ("validator/src/verify.rs", "    let first = Instant::now();"),
    ("engine/src/session_files/worker.rs", "    let now = Instant::now();"),
    ("engine/src/storage/disk.rs", "#[cfg(test)]\nmod tests {\n    std::env::temp_dir();\n}"),
    ("validator/src/companion/todo.rs", "//! Todo lists."),
    ("engine/tests/storage.rs", "// TODO: make it fast, issue 12"),
];
