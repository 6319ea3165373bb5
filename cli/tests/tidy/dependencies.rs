//! Every package that anything here depends on has a line that says why it and not its rival.

use crate::arrows::packages;
use crate::tree::File;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

const DOCUMENT: &str = "docs/dependencies.md";

/// Finds packages without a line, lines without a package, and lines that say nothing.
pub(crate) fn faults(files: &[File], document: &str) -> Vec<String> {
    let mut used = BTreeMap::new();
    for file in files {
        let names = match file.path.rsplit('/').next() {
            Some("Cargo.toml") => packages(&file.text),
            Some("package.json") => node_packages(&file.text),
            _ => continue,
        };
        let foreign = names.into_iter().filter(|name| !name.starts_with("gatelog-"));
        used.extend(foreign.map(|name| (name, &file.path)));
    }
    let mut faults = Vec::new();
    let mut listed = BTreeSet::new();
    for line in document.lines() {
        let Some((name, rest)) = line
            .strip_prefix(
                "| \
            `",
            )
            .and_then(|rest| rest.split_once('`'))
        else {
            continue;
        };
        listed.insert(name);
        if !rest.contains(char::is_alphabetic) {
            faults.push(format!("{DOCUMENT}: the line of {name} says nothing"));
        }
        if !used.contains_key(name) {
            faults.push(format!("{DOCUMENT}: nothing depends on {name}; take its line out"));
        }
    }
    let missing = used.iter().filter(|(name, _)| !listed.contains(&***name));
    faults.extend(missing.map(|(name, path)| {
        format!("{path}: {name} has no line in {DOCUMENT}: why it, and not its rival?")
    }));
    faults
}

fn node_packages(text: &str) -> Vec<String> {
    let object: Value = serde_json::from_str(text).expect("a package.json is JSON");
    let keys = ["dependencies", "devDependencies", "peerDependencies", "optionalDependencies"];
    let sections = keys.iter().filter_map(|key| object[key].as_object());
    sections.flat_map(|section| section.keys().cloned()).collect()
}
