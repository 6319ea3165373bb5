//! Every case under `fixtures/`: what `log-verify` prints of it is what the file beside it claims.
//!
//! `fixtures/README.md` says what a case is. `GATELOG_BLESS=1` writes what is printed into the
//! expected files; read every change of one before it is committed, since it is a claim. A new one
//! fails until its `claim` says what it shows.

#[path = "fixtures/case.rs"]
mod case;
mod common;
#[path = "fixtures/expected.rs"]
mod expected;
#[path = "fixtures/run.rs"]
mod run;
#[path = "fixtures/table.rs"]
mod table;

use case::{Case, fixtures};
use expected::Expected;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// Cases that run at once: those with a torn end wait a quarter of a second each.
const WORKERS: usize = 16;

#[test]
fn every_case_is_reported_as_its_expected_file_claims() {
    let cases = case::walk();
    assert!(!cases.is_empty(), "there are no cases under {}", fixtures().display());
    let bless = std::env::var_os("GATELOG_BLESS").is_some();
    let help = run::help();
    let failures = Mutex::new(BTreeMap::new());
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(failure) = judge(case, &help, bless) {
                        failures.lock().expect("no panic").insert(case.name.clone(), failure);
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().expect("no panic");
    let shown: Vec<_> =
        failures.iter().map(|(name, failure)| format!("{name}: {failure}")).collect();
    let (failed, all) = (failures.len(), cases.len());
    assert!(failures.is_empty(), "{failed} of {all} cases:\n{}", shown.join("\n"));
}

/// Runs one case and compares, or writes what was printed.
fn judge(case: &Case, help: &run::Help, bless: bool) -> Result<(), String> {
    if case.input.is_none() {
        return Err("an expected file without a case".to_owned());
    }
    let mut expected = match Expected::read(&case.expected) {
        Ok(expected) => expected,
        Err(_) if bless => Expected::default(),
        Err(error) => return Err(format!("no expected file to compare with: {error}")),
    };
    if !bless && !expected.is_claimed() {
        return Err("its `claim` should say what the case shows".to_owned());
    }
    let observed = run::run(case, &expected, help);
    if bless {
        expected.take(observed);
        return expected.write(&case.expected).map_err(|error| error.to_string());
    }
    let differences = expected.differences(&observed);
    if differences.is_empty() { Ok(()) } else { Err(differences.join("\n    ")) }
}

#[test]
fn every_rule_has_a_case_that_breaks_it_and_one_that_keeps_it() {
    let faults = table::faults(&case::walk(), &run::rules());
    assert!(faults.is_empty(), "fixtures/dsh/rules.txt:\n{}", faults.join("\n"));
}

#[test]
fn every_field_report_case_stands_in_its_document() {
    let text = std::fs::read_to_string(fixtures().join("../docs/field-reports.md"))
        .expect("the document is there");
    let named: BTreeSet<_> = text.split('`').skip(1).step_by(2).collect();
    let cases = case::walk();
    let cases: BTreeSet<_> =
        cases.iter().filter_map(|case| case.name.strip_prefix("dsh/v0/field-reports/")).collect();
    let missing: Vec<_> = cases.difference(&named).collect();
    assert!(missing.is_empty(), "not in docs/field-reports.md: {missing:?}");
    let stale: Vec<_> = named.difference(&cases).filter(|name| name.starts_with("FR-")).collect();
    assert!(stale.is_empty(), "no such case: {stale:?}");
}

/// A rule's row in `docs/rules.md` is its row in the catalogue (see `tidy`), and so what is
/// reported must be as grave as the catalogue says; what the host refuses a folder for is an error.
#[test]
fn every_finding_is_as_grave_as_its_rule() {
    let severities = run::severities();
    let mut faults = Vec::new();
    for case in case::walk() {
        let Ok(expected) = Expected::read(&case.expected) else { continue };
        let is_strict = expected.list("options").contains(&"strict");
        for finding in expected.findings() {
            let rule = finding["rule"].as_str().unwrap_or_default();
            if rule == "permission/unknown-preset"
                && expected.list("options").contains(&"--presets")
            {
                // `docs/rules.md` says that a table makes it an error.
                continue;
            }
            let (host, strict) = &severities[rule];
            let severity = if is_strict { strict } else { host };
            if finding["severity"] != *severity {
                faults.push(format!("{}: {rule} should be of severity {severity}", case.name));
            }
        }
        for object in expected.output.iter().filter(|object| object["kind"] == "directory") {
            let findings = object["findings"].as_array().expect("a directory has findings");
            let has_error = findings.iter().any(|finding| finding["severity"] == "error");
            if (object["host"] == "refuses") != has_error {
                faults.push(format!("{}: refuses a folder without an error", case.name));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The canary: a harness that finds no difference here would find none anywhere.
#[test]
fn a_report_that_differs_in_one_number_is_a_difference() {
    let cases = case::walk();
    let case = cases.iter().find(|case| case.name.ends_with("turn/lawful")).expect("it is there");
    let mut expected = Expected::read(&case.expected).expect("it is claimed");
    let observed = run::run(case, &expected, &run::help());
    assert_eq!(expected.differences(&observed), Vec::<String>::new());
    expected.output[0]["events"] = 0.into();
    assert_eq!(expected.differences(&observed).len(), 1);
}

#[test]
fn a_file_that_grows_while_it_is_read_is_live_and_not_torn() {
    let folder = common::Folder::new();
    let path = folder.session("s1", &(common::turn(1, 0) + "{\"type\":\"turn/st"));
    let is_judged = AtomicBool::new(false);
    let (code, objects) = std::thread::scope(|scope| {
        scope.spawn(|| {
            use std::io::Write as _;
            let mut file =
                std::fs::OpenOptions::new().append(true).open(&path).expect("it can be written");
            for _ in 0..3_000 {
                if is_judged.load(Ordering::SeqCst) {
                    break;
                }
                file.write_all(b"x").expect("it grows");
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        let judged = common::json(&[], &path);
        is_judged.store(true, Ordering::SeqCst);
        judged
    });
    assert_eq!(code, 0);
    assert_eq!(objects[0]["verdict"], "sound", "{objects:?}");
    let finding = &objects[0]["findings"][0];
    assert_eq!(
        (&finding["rule"], &finding["severity"]),
        (&"tail/live-writer".into(), &"note".into())
    );
}

#[test]
fn a_thousand_findings_are_listed_and_the_others_counted() {
    let folder = common::Folder::new();
    let events: String =
        (0..1100).map(|seq| common::event("plan/mode", seq, "{\"active\":null}")).collect();
    let (code, objects) = common::json(&[], &folder.session("s1", &events));
    assert_eq!(code, 1);
    let findings = objects[0]["findings"].as_array().expect("a list");
    assert_eq!(findings.len(), 1001);
    let last = findings.last().expect("there are some");
    assert_eq!(last["rule"], "limit/findings");
    assert!(last["message"].as_str().is_some_and(|said| said.starts_with("100 ")), "{last}");
}
