//! What no compiler holds: sizes, arrows, words, and documents that must say what the code says.
//!
//! Each check is a function from texts to faults, and each fault says how to mend it. Beside each
//! check stands a canary: the same function on a text that breaks the rule, since a check that
//! cannot fail holds nothing.

#[path = "tidy/arrows.rs"]
mod arrows;
#[path = "tidy/dependencies.rs"]
mod dependencies;
#[path = "tidy/lints.rs"]
mod lints;
#[path = "tidy/paths.rs"]
mod paths;
#[path = "tidy/rules.rs"]
mod rules;
#[path = "tidy/sections.rs"]
mod sections;
#[path = "tidy/size.rs"]
mod size;
#[path = "tidy/tree.rs"]
mod tree;
#[path = "tidy/words.rs"]
mod words;

use tree::{File, all, file};

/// Fails with every fault, one a line.
fn none(faults: &[String]) {
    assert!(faults.is_empty(), "{} fault(s):\n  {}", faults.len(), faults.join("\n  "));
}

/// A check that finds nothing here would find nothing anywhere.
fn some(faults: &[String], said: &str) {
    let is_said = faults.iter().any(|fault| fault.contains(said));
    assert!(is_said, "expected a fault with {said:?}, and not {faults:?}");
}

#[test]
fn no_line_of_code_is_longer_than_a_hundred_columns() {
    none(&size::columns(&all()));
}

#[test]
fn a_long_line_is_seen() {
    let line = |columns: usize| {
        let text = format!("\n{}\n", "é".repeat(columns));
        [File::new("engine/src/a.rs", text)]
    };
    none(&size::columns(&line(100)));
    some(&size::columns(&line(101)), "engine/src/a.rs:2: 101 columns");
}

#[test]
fn files_and_functions_fit_a_screen_or_shrink() {
    none(&size::ratchet(size::EXCEPTIONS, &size::long(&all())));
}

#[test]
fn a_long_file_and_a_long_function_are_seen() {
    let body = "    let _ = 1;\n".repeat(69);
    let short = format!("fn a(\n) {{\n{}}}\n", &body[..body.len() - 30]);
    let long = format!("impl A {{\n    pub(crate) const fn a() {{\n{body}    }}\n}}\nfn b();\n");
    let of = |text: &str| size::long(&[File::new("cli/src/a.rs", text)]);
    assert_eq!(of(&short), []);
    assert_eq!(of(&long), [("cli/src/a.rs fn a".to_owned(), 71)]);
    let file = "\n".repeat(401);
    assert_eq!(of(&file), [("cli/src/a.rs".to_owned(), 401)]);

    let found = [("cli/src/a.rs".to_owned(), 401)];
    none(&size::ratchet("401 cli/src/a.rs", &found));
    some(&size::ratchet("", &found), "cli/src/a.rs: 401 lines");
    some(&size::ratchet("400 cli/src/a.rs", &found), "grew from 400 to 401");
    some(&size::ratchet("402 cli/src/a.rs", &found), "shrank from 402 to 401");
    some(&size::ratchet("401 cli/src/b.rs\n401 cli/src/a.rs", &found), "cli/src/b.rs is short now");
}

#[test]
fn every_section_that_is_cited_is_there() {
    none(&sections::missing(&file(sections::PAGE), &all()));
}

#[test]
fn a_section_that_is_not_there_is_seen() {
    let page = File::new(sections::PAGE, "## 2 A\n### 2.1 B\n| 15.1 | c |\n| 7 frames | d |\n");
    let cites = |path: &str, text: &str| sections::missing(&page, &[File::new(path, text)]);
    none(&cites("a.rs", "//! `docs/dsh-format.md`, sections 2, 2.1 and\n//! 15.1. In 1999 …"));
    some(&cites("a.rs", "//! `docs/dsh-format.md`, sections 2 to\n//! 2.2; x."), "no section 2.2");
    some(&cites("a.rs", "/// `docs/dsh-format.md`, section 7."), "a.rs: docs/dsh-format.md has no");
    some(&cites("docs/rules.md", "| `a/b` | - | - | c | § 2.1, 4 |"), "no section 4");
}

#[test]
fn a_crate_uses_only_crates_to_its_left() {
    none(&arrows::crates(&all()));
}

#[test]
fn an_arrow_to_the_right_is_seen() {
    let manifest = |path: &str, text: &str| [File::new(path, text)];
    let to_cli = "[dev-dependencies]\ngatelog-cli.workspace = true\n";
    some(&arrows::crates(&manifest("engine/Cargo.toml", to_cli)), "engine may not use gatelog-cli");
    let renamed = "[dependencies]\nx = { path = \"../benches\", package = \"gatelog-benches\" }\n";
    some(&arrows::crates(&manifest("cli/Cargo.toml", renamed)), "cli may not use gatelog-benches");
    let new = "[workspace]\nmembers = [\"engine\", \"extra\"]\n";
    some(&arrows::crates(&manifest("Cargo.toml", new)), "extra is a new crate");
}

#[test]
fn a_module_uses_only_modules_declared_above_it() {
    none(&arrows::modules(&all()));
}

#[test]
fn a_module_that_uses_a_later_one_is_seen() {
    let tree = |used: &str| {
        [
            File::new("engine/src/lib.rs", "pub mod json;\nmod event;\npub mod dsh;\n"),
            File::new("engine/src/dsh/mod.rs", "mod frame;\npub mod row;\n"),
            File::new("engine/src/dsh/frame.rs", used),
        ]
    };
    for lawful in [
        "use crate::json::Json;\nuse crate::{event, json::{A, B}};",
        "//! See [`crate::dsh::row`].",
        "use crate::dsh::frame::Walk;",
        "#[cfg(test)]\nmod tests {\n    use crate::dsh::row;\n}\n",
    ] {
        none(&arrows::modules(&tree(lawful)));
    }
    for unlawful in [
        "use crate::dsh::row::Row;",
        "use crate::{\n    event::Event,\n    dsh::{frame, row::Row},\n};",
        "use super::row;",
        "fn a() { super::row::read() }",
    ] {
        some(&arrows::modules(&tree(unlawful)), "frame uses row");
    }
    let mut tree = tree("").to_vec();
    tree.push(File::new("engine/src/event.rs", "use crate::dsh::frame;"));
    some(&arrows::modules(&tree), "event uses dsh");
}

#[test]
fn every_crate_forbids_unsafe_code() {
    none(&lints::unsafe_code(&all()));
}

#[test]
fn a_crate_that_allows_unsafe_code_is_seen() {
    let root = "[workspace.lints.rust]\nunsafe_code = \"deny\"\n";
    some(&lints::unsafe_code(&[File::new("Cargo.toml", root)]), "unsafe_code = \"forbid\"");
    let bare = "[package]\nname = \"x\"\n[lints]\n";
    some(&lints::unsafe_code(&[File::new("cli/Cargo.toml", bare)]), "cli/Cargo.toml: add");
}

#[test]
fn no_text_says_what_it_must_not() {
    none(&words::faults(&all()));
}

#[test]
fn each_forbidden_word_is_seen_where_it_is_forbidden_and_only_there() {
    for (path, text) in words::UNLAWFUL {
        let faults = words::faults(&[File::new(path, *text)]);
        assert_eq!(faults.len(), 1, "{path}: {text:?} gives {faults:?}");
    }
    for (path, text) in words::LAWFUL {
        none(&words::faults(&[File::new(path, *text)]));
    }
}

#[test]
fn no_text_names_a_machine_a_registry_or_a_secret() {
    none(&paths::faults(&all()));
}

#[test]
fn a_machine_a_registry_and_a_secret_are_seen() {
    for text in paths::unlawful() {
        let faults = paths::faults(&[File::new("docs/a.md", text.as_str())]);
        assert_eq!(faults.len(), 1, "{text:?} gives {faults:?}");
    }
    for text in paths::LAWFUL {
        none(&paths::faults(&[File::new("docs/a.md", *text)]));
    }
}

#[test]
fn the_document_of_rules_is_the_catalogue() {
    none(&rules::document(&rules::catalogue(), &file("docs/rules.md").text));
}

#[test]
fn a_rule_that_is_missing_stale_or_changed_is_seen() {
    let catalogue = rules::catalogue();
    let text = file("docs/rules.md").text;
    let row = "| `turn/end-mismatch` |";
    let line = text.lines().find(|line| line.starts_with(row)).expect("it is there");
    some(&rules::document(&catalogue, &text.replace(&format!("{line}\n"), "")), "add this row");
    some(&rules::document(&catalogue, &text.replace(row, "| `turn/no-such` |")), "no such rule");
    let changed = line.replacen("| error |", "| note |", 1);
    some(&rules::document(&catalogue, &text.replace(line, &changed)), "the row should begin");
    let moved = text.replace(&format!("{line}\n"), "") + "\n## x\n\n" + line + "\n";
    some(&rules::document(&catalogue, &moved), "belongs under");
}

#[test]
fn every_rule_is_in_a_case() {
    none(&rules::cases(&rules::catalogue(), &all()));
}

#[test]
fn a_rule_without_a_case_is_seen() {
    some(&rules::cases(&rules::catalogue(), &[]), "turn/end-mismatch: no expected file");
}

#[test]
fn every_dependency_has_a_line_that_says_why() {
    none(&dependencies::faults(&all(), &file("docs/dependencies.md").text));
}

#[test]
fn a_dependency_without_a_line_and_a_line_without_one_are_seen() {
    let manifest = File::new("cli/Cargo.toml", "[dependencies]\nclap.workspace = true\n");
    let package = File::new("fuzz/x/package.json", "{\"devDependencies\":{\"@a/b\":\"1\"}}");
    let files = [manifest, package];
    some(&dependencies::faults(&files, "| `clap` | why |"), "@a/b");
    some(&dependencies::faults(&files, "| `@a/b` | why |"), "clap");
    let stale = "| `clap` | why |\n| `@a/b` | why |\n| `serde` | why |";
    some(&dependencies::faults(&files, stale), "serde");
    some(&dependencies::faults(&files, "| `clap` | |\n| `@a/b` | why |"), "says nothing");
}
