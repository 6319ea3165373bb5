//! Who uses whom: crates, and the modules of a crate.

use crate::tree::File;

/// The crates, by folder, and which others each may use: those to its left, never to its right.
const CRATES: [(&str, &[&str]); 5] = [
    ("engine", &[]),
    ("validator", &["gatelog-engine"]),
    ("interaction", &["gatelog-engine", "gatelog-validator"]),
    ("cli", &["gatelog-engine", "gatelog-validator", "gatelog-interaction"]),
    ("benches", &["gatelog-engine", "gatelog-validator", "gatelog-interaction", "gatelog-cli"]),
];

/// Files that declare modules in the order of their arrows. In the folders that are not here,
/// `json` and the parts of `discover`, the modules are the parts of one thing and know each other.
const ORDERED: [&str; 6] = [
    "engine/src/lib.rs",
    "engine/src/dsh/mod.rs",
    "validator/src/lib.rs",
    "validator/src/companion/mod.rs",
    "validator/src/load/mod.rs",
    "cli/src/lib.rs",
];

/// Returns the sections of a manifest that name packages, and the packages.
pub(crate) fn packages(manifest: &str) -> Vec<String> {
    let mut packages = Vec::new();
    let mut is_inside = false;
    for line in manifest.lines() {
        if let Some(section) = line.strip_prefix('[') {
            let section = section.trim_end_matches(']');
            is_inside = section.ends_with("dependencies");
            if let Some((before, name)) = section.rsplit_once("dependencies.") {
                let is_of_packages = before.is_empty() || before.ends_with(['.', '-']);
                packages.extend(is_of_packages.then(|| name.to_owned()));
            }
            continue;
        }
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let end = line.find(|c| !is_name(c)).unwrap_or(0);
        let is_key = line[end..].starts_with('.') || line[end..].trim_start().starts_with('=');
        if is_inside && end > 0 && is_key {
            let renamed = line
                .split_once(
                    "package = \
                \"",
                )
                .and_then(|(_, rest)| rest.split_once('"'));
            packages.push(renamed.map_or(&line[..end], |(name, _)| name).to_owned());
        }
    }
    packages
}

/// Finds crates that use a crate to their right, and crates whose place nobody decided.
pub(crate) fn crates(files: &[File]) -> Vec<String> {
    let mut faults = Vec::new();
    for (folder, allowed) in CRATES {
        let path = format!("{folder}/Cargo.toml");
        let Some(manifest) = files.iter().find(|file| file.path == path) else { continue };
        for name in packages(&manifest.text) {
            if name.starts_with("gatelog-") && !allowed.contains(&&*name) {
                faults.push(format!(
                    "{path}: {folder} may not use {name}; move what it needs to the left"
                ));
            }
        }
    }
    let root = files.iter().find(|file| file.path == "Cargo.toml");
    let members =
        root.and_then(|root| root.text.lines().find_map(|line| line.strip_prefix("members")));
    for member in members.unwrap_or_default().split('"').skip(1).step_by(2) {
        if !CRATES.iter().any(|(folder, _)| *folder == member) {
            faults.push(format!("{member} is a new crate: give it its place in tidy/arrows.rs"));
        }
    }
    faults
}

/// Finds modules that use one which is declared below them.
pub(crate) fn modules(files: &[File]) -> Vec<String> {
    let mut faults = Vec::new();
    for declaring in files.iter().filter(|file| ORDERED.contains(&&*file.path)) {
        let order: Vec<&str> = declaring.text.lines().filter_map(declared).collect();
        let (folder, _) = declaring.path.rsplit_once('/').expect("it lies in a folder");
        let place = place(&declaring.path);
        for file in files {
            let Some(owner) = file.path.strip_prefix(folder).and_then(first_module) else {
                continue;
            };
            let Some(at) = order.iter().position(|name| *name == owner) else { continue };
            for used in uses(file) {
                let Some(name) = used.strip_prefix(&*place).and_then(|rest| rest.first()) else {
                    continue;
                };
                if order.iter().position(|other| other == name) > Some(at) {
                    let (path, declaring) = (&file.path, &declaring.path);
                    faults.push(format!(
                        "{path}: {owner} uses {name}, which {declaring} declares below it; move \
                         the declaration up, or what is used to the left"
                    ));
                }
            }
        }
    }
    faults.dedup();
    faults
}

/// Returns the name of the module that a line declares as a file of its own.
fn declared(line: &str) -> Option<&str> {
    let line = line.strip_suffix(';')?;
    let (before, name) = line.split_once("mod ")?;
    (before.is_empty() || before.starts_with("pub")).then_some(name)
}

/// Returns the module, seen from a folder, in which a file below it lies: `/a.rs`, `/a/b.rs`.
fn first_module(path: &str) -> Option<&str> {
    let path = path.strip_prefix('/')?.strip_suffix(".rs")?;
    path.split('/').next().filter(|name| !["lib", "mod", "main", "bin"].contains(name))
}

/// Returns the path of a file's module inside its crate.
fn place(path: &str) -> Vec<String> {
    let (_, path) = path.split_once("/src/").unwrap_or(("", path));
    let mut names: Vec<_> = path.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    names.pop_if(|last| ["lib", "mod", "main"].contains(&&**last));
    names
}

/// Returns the paths inside the crate that a file's code names, from the root of the crate.
fn uses(file: &File) -> Vec<Vec<String>> {
    if file.is(&["/tests.rs", "/testing.rs"]) {
        return Vec::new();
    }
    let code: String = file.code().flat_map(|(_, line)| [line, "\n"]).collect();
    let place = place(&file.path);
    let mut found = Vec::new();
    for (root, from) in [("crate::", Vec::new()), ("super::", parent(&place))] {
        let mut rest = &*code;
        while let Some(at) = rest.find(root) {
            let is_whole = rest[..at].chars().next_back().is_none_or(|before| {
                !before.is_alphanumeric() && !['_', '$', ':'].contains(&before)
            });
            rest = &rest[at + root.len()..];
            if is_whole {
                let mut from = from.clone();
                let mut path = rest;
                while let Some(deeper) = path.strip_prefix("super::") {
                    from.pop();
                    path = deeper;
                }
                tree(path, &from, &mut found);
            }
        }
    }
    found
}

fn parent(place: &[String]) -> Vec<String> {
    place[..place.len().saturating_sub(1)].to_vec()
}

/// Reads a path, or a tree of them in braces, and returns what follows it.
fn tree<'a>(text: &'a str, from: &[String], found: &mut Vec<Vec<String>>) -> &'a str {
    let mut rest = text.trim_start();
    if let Some(inner) = rest.strip_prefix('{') {
        rest = inner.trim_start();
        while !rest.is_empty() && !rest.starts_with('}') {
            rest = tree(rest, from, found).trim_start();
            let end = rest.find([',', '}']).unwrap_or(rest.len());
            rest = rest[end..].trim_start_matches(',').trim_start();
        }
        return rest.strip_prefix('}').unwrap_or(rest);
    }
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    let mut path = from.to_vec();
    path.push(rest[..end].to_owned());
    if let Some(deeper) = rest[end..].strip_prefix("::") {
        tree(deeper, &path, found)
    } else {
        found.push(path);
        &rest[end..]
    }
}
