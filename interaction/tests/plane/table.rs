//! The table in `docs/interaction.md` names a test for every behaviour and every scenario, and
//! every test that bears a number is in it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;

/// The families of the catalogue, with the number of their last behaviour; `S` are the scenarios.
const FAMILIES: [(&str, u32); 20] = [
    ("AR", 26),
    ("AA", 27),
    ("TE", 8),
    ("AP", 25),
    ("AW", 39),
    ("SM", 10),
    ("EX", 8),
    ("PP", 50),
    ("CG", 8),
    ("CR", 20),
    ("CE", 35),
    ("CA", 18),
    ("CI", 10),
    ("UQ", 45),
    ("AT", 15),
    ("PM", 9),
    ("TP", 28),
    ("PR", 23),
    ("PC", 14),
    ("S", 196),
];

/// Behaviours that describe other programs or later releases; nothing here does them.
const INFORMATIVE: [(&str, u32, u32); 9] = [
    ("AW", 32, 32),
    ("AW", 34, 39),
    ("UQ", 33, 33),
    ("UQ", 38, 38),
    ("UQ", 42, 43),
    ("PM", 6, 9),
    ("PR", 8, 8),
    ("PR", 19, 19),
    ("NV", 1, 18),
];

const BEGIN: &str = "<!-- BEHAVIOURS -->";
const END: &str = "<!-- /BEHAVIOURS -->";

/// A behaviour or a scenario, such as `("AR", 1)`.
type Code = (&'static str, u32);

fn is_informative(code: Code) -> bool {
    INFORMATIVE
        .iter()
        .any(|(family, from, to)| *family == code.0 && (*from..=*to).contains(&code.1))
}

fn spelt((family, number): Code) -> String {
    if family == "S" { format!("S-{number:03}") } else { format!("{family}-{number:02}") }
}

/// Returns what a test is about, if its name begins with a code.
fn code(name: &str) -> Option<Code> {
    let (family, rest) = name.split_once('_')?;
    let (number, claim) = rest.split_once('_')?;
    let (family, last) = FAMILIES.iter().find(|(known, _)| known.eq_ignore_ascii_case(family))?;
    let digits = if *family == "S" { 3 } else { 2 };
    let is_number = number.len() == digits && number.bytes().all(|byte| byte.is_ascii_digit());
    let number = number.parse().ok().filter(|_| is_number && !claim.is_empty())?;
    assert!((1..=*last).contains(&number), "{name} bears a number that nothing has");
    Some((family, number))
}

/// The names of the tests that this program holds, by code.
fn compiled() -> BTreeMap<Code, BTreeSet<String>> {
    let program = std::env::current_exe().expect("a running program has a path");
    let listed = Command::new(program).arg("--list").output().expect("it can list its tests");
    let text = String::from_utf8(listed.stdout).expect("names are text");
    let mut tests: BTreeMap<Code, BTreeSet<String>> = BTreeMap::new();
    for line in text.lines() {
        let Some(path) = line.strip_suffix(": test") else { continue };
        let name = path.rsplit("::").next().expect("it has a last part");
        if let Some(code) = code(name) {
            let is_new = tests.entry(code).or_default().insert(name.to_owned());
            assert!(is_new, "two tests have the name {name}");
        }
    }
    tests
}

fn page() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/interaction.md")
}

fn table(tests: &BTreeMap<Code, BTreeSet<String>>) -> String {
    let mut table = String::from("\n| behaviour | tests |\n|---|---|\n");
    for (family, last) in FAMILIES {
        for number in 1..=last {
            let code = (family, number);
            let named = tests.get(&code).map(|names| {
                let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
                names.join(", ")
            });
            let said = match named {
                Some(names) => names,
                None if is_informative(code) => "informative".to_owned(),
                None => "MISSING".to_owned(),
            };
            writeln!(table, "| {} | {said} |", spelt(code)).expect("a text takes all");
        }
    }
    table.push('\n');
    table
}

#[test]
fn every_behaviour_and_every_scenario_has_a_test_and_the_page_names_it() {
    let tests = compiled();
    let all = FAMILIES.iter().flat_map(|(family, last)| (1..=*last).map(move |n| (*family, n)));
    let missing: Vec<_> =
        all.filter(|code| !is_informative(*code) && !tests.contains_key(code)).map(spelt).collect();
    assert!(missing.is_empty(), "no test for {}: {}", missing.len(), missing.join(" "));
    let text = std::fs::read_to_string(page()).expect("the page is there");
    let (head, rest) = text.split_once(BEGIN).expect("the page has a place for the table");
    let (said, tail) = rest.split_once(END).expect("the place for the table has an end");
    let table = table(&tests);
    if std::env::var_os("GATELOG_BLESS").is_some() {
        let page_text = format!("{head}{BEGIN}\n{table}{END}{tail}");
        std::fs::write(page(), page_text).expect("the page can be written");
        return;
    }
    let rows = |text: &str| -> BTreeSet<String> {
        text.lines().filter(|line| line.starts_with("| ")).map(str::to_owned).collect()
    };
    let (said, is) = (rows(said), rows(&table));
    let unknown: Vec<_> = said.difference(&is).collect();
    let unsaid: Vec<_> = is.difference(&said).collect();
    assert!(
        unknown.is_empty() && unsaid.is_empty(),
        "docs/interaction.md names what is not there: {unknown:#?}\nand leaves out: {unsaid:#?}\n\
         GATELOG_BLESS=1 writes the table"
    );
}

#[test]
fn a_name_without_a_number_is_no_behaviour() {
    assert_eq!(code("ar_01_the_set_is_closed"), Some(("AR", 1)));
    assert_eq!(code("s_196_a_session_is_pinned_late"), Some(("S", 196)));
    assert_eq!(code("ar_1_is_too_short"), None);
    assert_eq!(code("a_world_of_each_store_keeps_a_turn"), None);
    assert_eq!(code("ar_01_"), None);
}
