//! Which files a path stands for, and what is said of folders; on a disk and in memory alike.

mod messages;
mod world;

use std::path::Path;

use gatelog_engine::dsh::discover::{Alone, Discovery, Placement, RULES, discover};
use gatelog_engine::storage::{Disk, Memory};

use world::{Relative, Temporary, options, put_in_memory};

/// A small world, a path in it, and what is found: `target` lines, then `fault` lines.
struct Case<'a> {
    name: &'a str,
    world: Vec<&'a str>,
    path: &'a str,
    found: &'a str,
    lines: Vec<&'a str>,
}

fn cases() -> Vec<Case<'static>> {
    let text = include_str!("cases.txt").split_once("\n\n").expect("a comment, then cases").1;
    text.split("\n\n").map(case).collect()
}

fn case(text: &str) -> Case<'_> {
    let mut lines = text.lines();
    let name = lines.next().and_then(|line| line.strip_prefix("case ")).expect("a name");
    let (mut world, mut at) = (Vec::new(), None);
    for line in lines.by_ref() {
        at = line.strip_prefix("at ").and_then(|at| at.rsplit_once(' '));
        if at.is_some() {
            break;
        }
        world.push(line);
    }
    let (path, found) = at.expect("a path and what it is");
    Case { name, world, path, found, lines: lines.collect() }
}

fn lines(discovery: &Discovery, base: &Path) -> Vec<String> {
    let short = |path: &Path| path.strip_prefix(base).unwrap_or(path).display().to_string();
    let target = |target: &gatelog_engine::dsh::discover::Target| {
        let number = target.generation.map(|generation| format!(" v{}", generation.number));
        let placement = match &target.placement {
            Placement::Placed(placed) => {
                assert!(placed.root.is_absolute() && placed.path().ends_with(&placed.file));
                "placed"
            }
            Placement::Alone(Alone::Name) => "alone-name",
            Placement::Alone(Alone::Folder) => "alone-folder",
        };
        let hidden = target.hidden_by.map(|number| format!(" hidden-by-{number}"));
        let (number, hidden) = (number.unwrap_or_default(), hidden.unwrap_or_default());
        format!("target {}{number} {placement}{hidden}", short(&target.path))
    };
    let fault = |fault: &gatelog_engine::dsh::discover::FolderFault| {
        let refuses = if fault.host_refuses { " refuses" } else { "" };
        format!("fault {} {}{refuses}", short(&fault.path), fault.rule)
    };
    let targets = discovery.targets.iter().map(target);
    targets.chain(discovery.faults.iter().map(fault)).collect()
}

#[test]
#[cfg(unix)]
fn every_path_is_found_to_be_what_the_table_says_on_disk_and_in_memory() {
    for case in cases() {
        let temporary = Temporary::new();
        let base = &temporary.0;
        case.world.iter().for_each(|line| world::put_on_disk(base, line));
        let memory =
            case.world.iter().fold(Memory::new(), |it, line| put_in_memory(it, base, line));
        let path = base.join(case.path);
        let on_disk = discover(&Disk, &path, &options(base));
        assert_eq!(lines(&on_disk, base), case.lines, "{}", case.name);
        assert_eq!(format!("{:?}", on_disk.found), case.found, "{}", case.name);
        assert_eq!(discover(&memory, &path, &options(base)), on_disk, "{}", case.name);
        // A path that is relative in its directory is the same one.
        let relative = discover(&Relative(&memory, base), Path::new(case.path), &options(base));
        assert_eq!(lines(&relative, base), case.lines, "{}", case.name);
    }
}

#[test]
fn every_rule_has_a_case_and_every_fault_a_rule() {
    // These need a failing storage or a name that is not text; they have tests of their own.
    let elsewhere = ["directory/unreadable", "directory/name-not-utf8"];
    let cases = cases();
    for rule in RULES {
        let mut lines = cases.iter().flat_map(|case| &case.lines);
        let is_violated = lines.any(|line| line.starts_with("fault ") && line.contains(rule.id));
        assert_ne!(is_violated, elsewhere.contains(&rule.id), "{}", rule.id);
        assert!(rule.help.ends_with('.'), "{}", rule.id);
    }
}
