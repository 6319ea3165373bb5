//! Paths of one machine, addresses of registries, and secrets: what no text of the project holds.

use crate::tree::File;

/// Folders of machines on which the project was written.
const MACHINES: [&str; 3] = ["/work/", "/root/", "/home/"];

/// People of the examples, whose homes are on no machine.
const PEOPLE: [&str; 2] = ["ann", "u"];

/// Hosts that serve packages. A lock file must not name them, since others install from elsewhere.
const REGISTRIES: [&str; 7] = [
    "registry.npmjs",
    "registry.npmmirror",
    "registry.yarnpkg",
    "static.crates.io",
    "index.crates.io",
    "crates.io/api",
    "\"resolved\":",
];

/// How secrets begin, and how many letters and digits follow at least.
const SECRETS: [(&str, usize); 9] = [
    ("ghp_", 30),
    ("gho_", 30),
    ("github_pat_", 20),
    ("glpat-", 20),
    ("npm_", 36),
    ("cio", 32),
    ("sk-", 32),
    ("AKIA", 16),
    ("xoxb-", 10),
];

/// Other signs of one.
const SIGNS: [&str; 3] = ["PRIVATE KEY-----", "_authToken", "Authorization: Bearer"];

/// This test must name what it forbids.
const OWN: &str = "cli/tests/tidy";

/// A case whose secrets are invented, and must not be printed.
const INVENTED: &str = "fixtures/dsh/v0/field-reports/FR-115-secrets-are-not-printed";

/// Finds them.
pub(crate) fn faults(files: &[File]) -> Vec<String> {
    let mut faults = Vec::new();
    for file in files.iter().filter(|file| !file.path.starts_with(OWN)) {
        for (number, line) in file.lines() {
            let is_secret = !file.path.starts_with(INVENTED) && is_secret(line);
            if let Some(what) = fault(line, is_secret) {
                faults.push(format!("{}:{number}: {what}", file.path));
            }
        }
    }
    faults
}

fn fault(line: &str, is_secret: bool) -> Option<String> {
    let machine = MACHINES.iter().find_map(|folder| machine(line, folder));
    let registry = REGISTRIES.iter().find(|host| line.contains(*host));
    let machine = machine.map(|path| format!("{path} is a path of one machine"));
    let registry = registry.map(|host| format!("{host} is an address of a registry"));
    let secret = is_secret.then(|| {
        "this looks like a secret; take it out of history \
        too"
        .into()
    });
    machine.or(registry).or(secret)
}

/// Returns the path of a machine that a line names.
fn machine(line: &str, folder: &str) -> Option<String> {
    line.match_indices(folder).find_map(|(at, _)| {
        let before = line[..at].chars().next_back();
        let starts = before.is_none_or(|c| !c.is_alphanumeric() && !"_-.~/>*}".contains(c));
        let rest = &line[at + folder.len()..];
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let name = &rest[..end];
        let is_example = folder == "/home/" && (PEOPLE.contains(&name) || name.is_empty());
        (starts && !is_example).then(|| format!("{folder}{name}"))
    })
}

fn is_secret(line: &str) -> bool {
    SECRETS.iter().any(|(start, more)| is_key(line, start, *more))
        || SIGNS.iter().any(|sign| line.contains(sign))
}

fn is_key(line: &str, start: &str, more: usize) -> bool {
    line.match_indices(start).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let rest = &line[at + start.len()..];
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let length = rest.find(|c| !word(c)).unwrap_or(rest.len());
        let has_digit = rest[..length].bytes().any(|byte| byte.is_ascii_digit());
        !before.is_some_and(char::is_alphanumeric) && length >= more && has_digit
    })
}

/// Canaries: each has exactly one fault. Made here, so that no scanner takes them for real.
pub(crate) fn unlawful() -> Vec<String> {
    let secrets = SECRETS.iter().map(|(start, more)| format!("x = {start}{}1", "a".repeat(*more)));
    let signs = SIGNS.iter().map(|sign| format!("x {sign} y"));
    let registries = REGISTRIES.iter().map(|host| format!("x https://{host} y"));
    let machines = ["see /work/main", "\"/root/.cargo\"", "cd /home/somebody"];
    secrets.chain(signs).chain(registries).chain(machines.map(str::to_owned)).collect()
}

/// Canaries: these are lawful.
pub(crate) const LAWFUL: &[&str] = &[
    "/home/ann/shop",
    "a/work/b, --root--, at/root/x, ~/work/x",
    "https://www.npmjs.com/package/x",
    "source = \"registry+https://github.com/rust-lang/crates.io-index\"",
    "task-list, sk-short, npm_config",
];
