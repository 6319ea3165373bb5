//! The catalogue of rules, its document, and its cases.

use crate::tree::File;
use serde_json::Value;
use std::collections::BTreeMap;
use std::process::Command;

/// One rule, as `log-verify --rules --format json` prints it.
#[derive(Debug)]
pub(crate) struct Rule {
    id: String,
    host: String,
    strict: String,
    basis: String,
    summary: String,
}

impl Rule {
    /// Returns what the rule's row in the document begins with.
    fn row(&self) -> String {
        let summary = self.summary.replace('|', "\\|");
        let Self { id, host, strict, basis, .. } = self;
        format!("| `{id}` | {host} | {strict} | {basis} | {summary} |")
    }

    fn family(&self) -> &str {
        self.id.split('/').next().unwrap_or_default()
    }
}

/// Asks the command for its rules.
pub(crate) fn catalogue() -> Vec<Rule> {
    let output = Command::new(env!("CARGO_BIN_EXE_log-verify"))
        .args(["--rules", "--format", "json"])
        .output()
        .expect("the command starts");
    let text = String::from_utf8(output.stdout).expect("output is UTF-8");
    let rules: Vec<Rule> = text.lines().map(rule).collect();
    assert!(!rules.is_empty(), "log-verify --rules prints nothing");
    rules
}

fn rule(line: &str) -> Rule {
    let object: Value = serde_json::from_str(line).expect("each line is one object");
    let text = |key: &str| object[key].as_str().unwrap_or("-").to_owned();
    Rule {
        id: text("rule"),
        host: text("host"),
        strict: text("strict"),
        basis: text("basis"),
        summary: text("summary"),
    }
}

/// Holds the document and the catalogue equal, both ways.
pub(crate) fn document(rules: &[Rule], text: &str) -> Vec<String> {
    let mut rows = BTreeMap::new();
    let mut family = "";
    let mut faults = Vec::new();
    for line in text.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            family = heading;
        }
        let Some((id, _)) = line.strip_prefix("| `").and_then(|rest| rest.split_once('`')) else {
            continue;
        };
        if rows.insert(id, (family, line)).is_some() {
            faults.push(format!("docs/rules.md: {id} has two rows; keep one"));
        }
    }
    for rule in rules {
        let (row, family) = (rule.row(), rule.family());
        match rows.remove(&*rule.id) {
            None => {
                faults.push(format!("docs/rules.md: under `## {family}`, add this row: {row} |"));
            }
            Some((_, line)) if !line.starts_with(&row) => {
                faults.push(format!("docs/rules.md: {}: the row should begin: {row}", rule.id));
            }
            Some((under, _)) if under != family => {
                faults.push(format!("docs/rules.md: {} belongs under `## {family}`", rule.id));
            }
            Some(_) => {}
        }
    }
    faults.extend(rows.keys().map(|id| {
        format!("docs/rules.md: {id}: no such rule (log-verify --rules); take the row out")
    }));
    faults
}

/// Finds rules that no expected file under `fixtures/` names, and whose row in
/// `fixtures/dsh/rules.txt` does not say why.
pub(crate) fn cases(rules: &[Rule], files: &[File]) -> Vec<String> {
    let expected: Vec<&File> = files.iter().filter(|file| file.is(&[".expected.json"])).collect();
    let table = files.iter().find(|file| file.path == "fixtures/dsh/rules.txt");
    let excused = |id: &str| {
        table.is_some_and(|table| {
            table.text.lines().any(|line| {
                let mut words = line.split_whitespace();
                words.next() == Some(id) && words.next() == Some("-") && words.next().is_some()
            })
        })
    };
    let missing = rules.iter().filter(|rule| {
        let named = format!("\"{}\"", rule.id);
        !expected.iter().any(|file| file.text.contains(&named)) && !excused(&rule.id)
    });
    missing
        .map(|rule| format!("{}: no expected file under fixtures/ names it; add a case", rule.id))
        .collect()
}
