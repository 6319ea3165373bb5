//! Columns, files and functions.
//!
//! A file has 400 lines and a function 70. What was longer when the rule came is in a list with its
//! length, which is a ratchet: it goes down and never up.

use crate::tree::File;
use std::collections::BTreeMap;

const COLUMNS_MAX: usize = 100;
const FILE_LINES_MAX: usize = 400;
const FUNCTION_LINES_MAX: usize = 70;

/// Code, as against prose and data.
const CODE: [&str; 4] = [".rs", ".mjs", ".sh", ".ci/run"];

/// What is longer, one a line: lines, path, and perhaps `fn` and the name of a function.
pub(crate) const EXCEPTIONS: &str = include_str!("long.txt");

/// Finds lines that are too long.
pub(crate) fn columns(files: &[File]) -> Vec<String> {
    let mut faults = Vec::new();
    for file in files.iter().filter(|file| file.is(&CODE)) {
        for (number, line) in file.lines() {
            let columns = line.chars().count();
            if columns > COLUMNS_MAX {
                faults.push(format!("{}:{number}: {columns} columns, of 100 at most", file.path));
            }
        }
    }
    faults
}

/// Finds files and functions that are too long, with their lengths in lines.
pub(crate) fn long(files: &[File]) -> Vec<(String, usize)> {
    let mut found = BTreeMap::new();
    for file in files.iter().filter(|file| file.is(&CODE)) {
        let lines = file.text.lines().count();
        if lines > FILE_LINES_MAX {
            found.insert(file.path.clone(), lines);
        }
        for (name, lines) in functions(&file.text) {
            if lines > FUNCTION_LINES_MAX {
                let longest = found.entry(format!("{} fn {name}", file.path)).or_insert(0);
                *longest = lines.max(*longest);
            }
        }
    }
    found.into_iter().collect()
}

/// Returns the names of the functions of a text and their lengths, by the indentation that the
/// formatters give them: a function ends where a brace stands as far in as it began.
fn functions(text: &str) -> Vec<(&str, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(name) = function_name(line) else { continue };
        let indent = &line[..line.len() - line.trim_start().len()];
        let mut is_open = false;
        for (last, line) in lines.iter().enumerate().skip(at) {
            let Some(rest) = line.strip_prefix(indent) else { continue };
            let is_level = !rest.starts_with(' ');
            let is_end = is_level && is_open && rest.starts_with('}');
            let is_whole = is_level && !is_open && (rest.ends_with('}') || rest.ends_with(';'));
            if is_end || is_whole {
                found.push((name, last - at + 1));
                break;
            }
            is_open |= is_level && rest.ends_with('{');
        }
    }
    found
}

/// Returns the name of the function that a line begins.
fn function_name(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace();
    loop {
        let word = words.next()?;
        match word {
            "fn" | "function" => break,
            "pub" | "const" | "unsafe" | "async" | "export" | "default" => {}
            _ if word.starts_with("pub(") => {}
            _ => return None,
        }
    }
    let name = words.next()?.trim_start_matches('*');
    let end = name.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(name.len());
    Some(&name[..end]).filter(|name| !name.is_empty())
}

/// Holds what is long against the list of what may be.
pub(crate) fn ratchet(exceptions: &str, found: &[(String, usize)]) -> Vec<String> {
    let list = "cli/tests/tidy/long.txt";
    let mut listed: BTreeMap<&str, usize> = BTreeMap::new();
    for line in exceptions.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let row = line.split_once(' ').and_then(|(lines, what)| Some((what, lines.parse().ok()?)));
        let (what, lines) = row.unwrap_or_else(|| panic!("{list}: {line:?} is no row"));
        listed.insert(what, lines);
    }
    let mut faults = Vec::new();
    for (what, lines) in found {
        match listed.remove(&**what) {
            None => faults.push(format!(
                "{what}: {lines} lines, of {FILE_LINES_MAX} a file and {FUNCTION_LINES_MAX} a \
                 function at most; split it"
            )),
            Some(was) if *lines > was => {
                faults.push(format!("{what}: grew from {was} to {lines} lines; split it"));
            }
            Some(was) if *lines < was => faults.push(format!(
                "{what}: shrank from {was} to {lines} lines; well done: write {lines} in {list}"
            )),
            Some(_) => {}
        }
    }
    faults.extend(listed.keys().map(|what| {
        format!(
            "{what} is short now, or gone: take its row out of \
            {list}"
        )
    }));
    faults
}
