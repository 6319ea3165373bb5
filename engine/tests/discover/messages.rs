//! What is said of folders, in our words and in the host's.

use std::io::ErrorKind;
use std::path::Path;

use gatelog_engine::dsh::discover::{Discovery, FolderFault, Found, Hint, discover};
use gatelog_engine::storage::{Memory, Operation};

use crate::world::options;

fn fault<'a>(discovery: &'a Discovery, rule: &str) -> &'a FolderFault {
    let mut faults = discovery.faults.iter().filter(|fault| fault.rule == rule);
    let fault = faults.next().unwrap_or_else(|| panic!("no {rule} in {discovery:#?}"));
    assert!(faults.next().is_none(), "more than one {rule}");
    fault
}

fn found(memory: &Memory, path: &str) -> Discovery {
    discover(memory, Path::new(path), &options(Path::new("/")))
}

#[test]
fn the_hosts_messages_are_those_that_it_gives() {
    let sound = || Memory::new().file("/r/--w--/a/session.jsonl", "");
    let cases = [
        (
            sound().file("/r/--w--/b/session.jsonl.zstd", "").file("/r/--w--/c/session.jsonl", ""),
            "directory/mixed-encoding",
            "session artifact \"/r/--w--/b/session.jsonl.zstd\" uses .jsonl.zstd, but this backend \
             is configured for compression \"none\"; use a separate root or select the matching \
             compression mode",
        ),
        (
            // As many of each: the default is Zstandard.
            sound().file("/r/--w--/b/session.v3.jsonl.zstd", ""),
            "directory/mixed-encoding",
            "session artifact \"/r/--w--/a/session.jsonl\" uses .jsonl, but this backend is \
             configured for compression \"zstd\"; use a separate root or select the matching \
             compression mode",
        ),
        (
            sound().file("/r/--w--/x\".jsonl", ""),
            "directory/flat-file",
            "session artifact \"/r/--w--/x\\\".jsonl\" uses the unsupported flat-file layout; use \
             a separate root or move it into a project/session directory before loading",
        ),
        (
            sound()
                .file("/r/--w--/~D83D~DE00/session.jsonl", "")
                .file("/r/Backup/~D83D~DE00/session.jsonl", ""),
            "directory/duplicate-id",
            "duplicate JSONL session id \"\u{1F600}\" appears in multiple project directories",
        ),
        (
            sound().directory("/r/--v--/a.jsonl.zstd"),
            "directory/lookup-blocked",
            "session artifact \"/r/--v--/a.jsonl.zstd\" uses the unsupported flat-file layout; use \
             a separate root or move it into a project/session directory before loading",
        ),
        (
            sound().file("/r/--v--/a", ""),
            "directory/lookup-blocked",
            "ENOTDIR: not a directory, open '/r/--v--/a/session.jsonl.zstd'",
        ),
        (
            sound().symlink("/r/--v--/a", "a"),
            "directory/lookup-blocked",
            "ELOOP: too many symbolic links encountered, open '/r/--v--/a/session.jsonl.zstd'",
        ),
        (
            sound().directory("/r/--v--").fail(
                "/r/--v--",
                Operation::List,
                ErrorKind::PermissionDenied,
            ),
            "directory/unreadable",
            "EACCES: permission denied, scandir '/r/--v--'",
        ),
    ];
    for (memory, rule, message) in cases {
        let discovery = found(&memory, "/r");
        let fault = fault(&discovery, rule);
        assert_eq!(fault.host.as_deref(), Some(message));
        assert_eq!((fault.host_refuses, fault.hint()), (true, Hint::Error));
    }
}

#[test]
fn one_unreadable_folder_hides_no_other() {
    let denied = ErrorKind::PermissionDenied;
    let memory = Memory::new()
        .file("/r/--a--/a/session.jsonl", "")
        .file("/r/--b--/b/session.jsonl", "")
        .file("/r/--c--/c/session.jsonl", "")
        .file("/r/--c--/d/session.jsonl", "")
        .fail("/r/--b--", Operation::List, denied)
        .fail("/r/--c--/c", Operation::List, denied);
    let discovery = found(&memory, "/r");
    let paths: Vec<_> = discovery.targets.iter().map(|target| target.path.as_path()).collect();
    let readable = ["/r/--a--/a/session.jsonl", "/r/--c--/d/session.jsonl"];
    assert_eq!(paths, readable.map(Path::new));
    let unreadable: Vec<_> =
        discovery.faults.iter().map(|it| (it.path.as_path(), it.unchecked)).collect();
    assert_eq!(unreadable, ["/r/--b--", "/r/--c--/c"].map(|path| (Path::new(path), true)));
    // In a tree as well.
    let memory = Memory::new().file("/t/a/x.jsonl", "").file("/t/b/y.jsonl", "");
    let discovery = found(&memory.fail("/t/a", Operation::List, denied), "/t");
    assert_eq!((discovery.targets.len(), discovery.faults.len()), (1, 1));
    assert!(fault(&discovery, "directory/unreadable").unchecked);
}

#[test]
fn a_directory_that_cannot_be_listed_is_said_to_be_unchecked() {
    let memory = Memory::new().directory("/t").fail("/t", Operation::List, ErrorKind::Other);
    let discovery = found(&memory, "/t");
    assert_eq!((discovery.found, discovery.targets.len()), (Found::Unreadable, 0));
    assert!(fault(&discovery, "directory/unreadable").unchecked);
    // What cannot be looked at at all is a target that will not open.
    let memory = Memory::new().fail("/t", Operation::Stat, ErrorKind::PermissionDenied);
    let discovery = found(&memory, "/t");
    assert_eq!((discovery.found, discovery.targets.len()), (Found::Unreadable, 1));
}

#[test]
fn a_missing_path_names_what_is_there() {
    let memory = Memory::new().directory("/home/u");
    assert_eq!(
        found(&memory, "/home/u/.dsh/sessions").nearest.as_deref(),
        Some(Path::new("/home/u"))
    );
    assert_eq!(found(&memory, "/home/u").nearest, None);
}

#[test]
fn a_note_says_which_generation_wins_and_why_a_name_is_not_seen() {
    let memory = Memory::new()
        .file("/r/--w--/a/session.jsonl", "")
        .file("/r/--w--/a/session.v5.jsonl", "")
        .file("/r/--w--/a/session.v05.jsonl", "");
    let discovery = found(&memory, "/r");
    assert_eq!(
        fault(&discovery, "directory/several-generations").message,
        "several generations: hosts of format 2 and later read \"session.v5.jsonl\" and not \
         \"session.jsonl\"; a host of format 0 reads the log of format 0 only"
    );
    let unknown = fault(&discovery, "directory/unknown-generation");
    assert_eq!(
        unknown.message,
        "\"session.v5.jsonl\" is of format 5; hosts that do not know it refuse the session and do \
         not fall back to \"session.jsonl\""
    );
    let host = unknown.host.as_deref().unwrap_or_default();
    assert!(host.contains("uses log format v5, but this harness reads only v4: "), "{host}");
    assert_eq!(
        fault(&discovery, "directory/wrong-name").message,
        "1 name that the host does not see: \"session.v05.jsonl\" (a format's number has no \
         leading zeros)"
    );
}

#[test]
fn what_the_host_refuses_is_an_error_and_nothing_else_is() {
    let memory = Memory::new()
        .file("/r/--w--/a/session.v4.jsonl", "")
        .file("/r/--w--/a/session.v9.jsonl", "")
        .file("/r/--w--/flat.jsonl", "")
        .file("/r/--w--/b/notes.jsonl", "");
    let faults = found(&memory, "/r").faults;
    assert!(faults.len() > 3, "{faults:?}");
    for fault in faults {
        assert_eq!(fault.host_refuses, fault.hint() == Hint::Error, "{fault:?}");
    }
}

#[test]
fn names_in_messages_cannot_drive_a_terminal() {
    let memory = Memory::new()
        .file("/r/--w--/a/session.jsonl", "")
        .file("/r/--w--/a/session.jsonl\n\u{1b}[31m.bak", "")
        .file("/r/--w--/\u{1b}c\n.jsonl", "");
    let discovery = found(&memory, "/r");
    assert_eq!(discovery.faults.len(), 2);
    for fault in &discovery.faults {
        assert!(!fault.message.contains(char::is_control), "{}", fault.message);
    }
}

#[test]
#[cfg(target_os = "linux")]
fn names_that_are_not_text_are_found_and_said_to_be_lost_to_the_host() {
    use std::fs;
    use std::os::unix::ffi::OsStrExt;

    use gatelog_engine::storage::Disk;

    use crate::world::Temporary;

    let name = std::ffi::OsStr::from_bytes(b"\xffa");
    let temporary = Temporary::new();
    let base = &temporary.0;
    let mut memory = Memory::new();
    for folder in [base.join("r/--w--"), base.join("r").join(name)] {
        let path = folder.join(name).join("session.jsonl");
        fs::create_dir_all(path.parent().expect("below the base")).expect("writable");
        fs::write(&path, "").expect("writable");
        memory = memory.file(path, "");
    }
    let on_disk = discover(&Disk, &base.join("r"), &options(base));
    assert_eq!(on_disk, discover(&memory, &base.join("r"), &options(base)));
    assert_eq!(on_disk.targets.len(), 2);
    let refused = fault(&on_disk, "directory/name-not-utf8");
    let host = format!(
        "ENOENT: no such file or directory, scandir '{}'",
        base.join("r/\u{FFFD}a").display()
    );
    assert_eq!(refused.host.as_ref(), Some(&host));
    let wrong = on_disk.faults.iter().filter(|it| it.rule == "directory/wrong-name").count();
    assert_eq!(wrong, 2);
}

#[test]
fn a_hundred_thousand_names_and_a_thousand_levels_are_nothing() {
    let mut memory = Memory::new().file("/r/--w--/a/session.jsonl", "");
    for number in 0..100_000 {
        memory = memory.file(format!("/r/--w--/a/session.jsonl.{number:012}.tmp"), "");
    }
    let discovery = found(&memory, "/r");
    assert_eq!(discovery.targets.len(), 1);
    let message = &fault(&discovery, "directory/leftovers").message;
    assert!(message.starts_with("100000 ") && message.len() < 1000, "{message}");
    let deep = format!("/t{}", "/d".repeat(1000));
    let memory = Memory::new().file(format!("{deep}/x.jsonl"), "");
    assert_eq!(found(&memory, "/t").targets.len(), 1);
}
