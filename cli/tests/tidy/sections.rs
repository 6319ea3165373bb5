//! Sections that are cited, and the page that must have them.

use crate::tree::File;
use std::collections::BTreeSet;

/// The page.
pub(crate) const PAGE: &str = "docs/dsh-format.md";

/// Finds citations of sections that the page does not have, in comments and in the table of rules.
pub(crate) fn missing(page: &File, files: &[File]) -> Vec<String> {
    let there = sections(page);
    let mut faults = Vec::new();
    for file in files {
        let cited = match &*file.path {
            "docs/rules.md" => in_table(file),
            _ if file.is(&[".rs"]) => in_comments(file),
            _ => continue,
        };
        for section in cited.difference(&there) {
            faults.push(format!("{}: {PAGE} has no section {section}", file.path));
        }
    }
    faults
}

/// Returns the numbers of headings, and of the rows of tables that stand for sections.
fn sections(page: &File) -> BTreeSet<String> {
    let heads = page.text.lines().filter_map(|line| {
        if let Some(row) = line.strip_prefix("| ") {
            return row.split(" |").next();
        }
        let head = line.strip_prefix("## ").or_else(|| line.strip_prefix("### "));
        head?.split(' ').next()
    });
    heads.filter(|head| is_number(head)).map(str::to_owned).collect()
}

/// Returns the sections that are named behind each mention of the page, up to the sentence's end.
fn in_comments(file: &File) -> BTreeSet<String> {
    let lines = file.text.lines().map(str::trim_start).filter(|line| line.starts_with("//"));
    let text: Vec<_> = lines.map(|line| line.trim_start_matches(['/', '!', ' '])).collect();
    let text = text.join(" ");
    let mut mentions = text.split("docs/dsh-format.md`, section");
    mentions.next();
    mentions.flat_map(|rest| numbers(rest.split([';', ':']).next().unwrap_or_default())).collect()
}

/// Returns the sections in the last column of the table of rules.
fn in_table(file: &File) -> BTreeSet<String> {
    let rows = file.text.lines().filter(|line| line.starts_with("| `"));
    rows.filter_map(|row| Some(row.rsplit_once("| §")?.1)).flat_map(numbers).collect()
}

/// Returns the numbers that begin a text, with the words that may stand between them.
fn numbers(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for word in text.trim_start_matches('s').split_whitespace() {
        let number = word.trim_end_matches(['.', ',']);
        if is_number(number) {
            found.push(number.to_owned());
        } else if !matches!(word, "to" | "and" | "(stored" | "frames" | "only),") {
            break;
        }
        if word.ends_with('.') {
            break;
        }
    }
    found
}

fn is_number(word: &str) -> bool {
    let mut parts = word.split('.');
    let is_part = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    parts.clone().count() <= 2 && parts.all(is_part)
}
