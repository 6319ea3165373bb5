//! Files that lead elsewhere, change while they are read, come by the hundred, or are none.

use crate::common::{Folder, event, frame, header, turn};
use crate::texts::{hand_made, long_line};
use crate::watch::{BASE_MIB, brief, watch};
use std::fs::File;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

#[test]
fn an_id_that_climbs_folders_leads_nowhere() {
    let folder = Folder::new();
    let id = "../../../../etc/passwd";
    let log = header(id) + &turn(1, 0);
    let path = folder.write("--p--/s1/session.jsonl", &log);
    let run = watch("an id with `../` in another folder", &path, 1024, &[]);
    let run = run.is("corrupt", 1, "identity/other-id");
    assert_eq!(run.report["session"], id);
    let own = "..~002F..~002F..~002F..~002Fetc~002Fpasswd";
    let path = folder.write(&format!("--p--/{own}/session.jsonl"), &log);
    watch("an id with `../` in its own folder", &path, 1024, &[]).is("sound", 0, "");
    let log = header("s2").replacen("\"/p\"", "\"/p/../../x\"", 1) + &turn(1, 0);
    let path = folder.write("--p--/s2/session.jsonl", log);
    watch("a cwd with `..`", &path, 1024, &[]).is("corrupt", 1, "identity/elsewhere");
}

/// Changes the length of a file again and again until it is told to stop.
fn shake(path: &Path, whole: &[u8], stop: &AtomicBool) {
    let file = File::options().write(true).open(path).expect("it was just written");
    let mut dice = 1usize;
    while !stop.load(Ordering::Relaxed) {
        dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let at = (dice >> 20) % whole.len();
        file.set_len(at as u64).expect("a shorter file");
        std::os::unix::fs::FileExt::write_all_at(&file, &whole[at..], at as u64).expect("room");
    }
}

#[test]
fn a_file_that_is_cut_and_written_while_it_is_read_is_reported_on() {
    let turns: String = (0..60_000).map(|at| turn(at + 1, 3 * at)).collect();
    let frames: Vec<u8> = (0..600)
        .flat_map(|at| {
            let turns: String = (at * 100..at * 100 + 100).map(|at| turn(at + 1, 3 * at)).collect();
            frame(&turns)
        })
        .collect();
    let plain = (header("s") + &turns).into_bytes();
    let zstd = [frame(&header("s")), frames].concat();
    for (name, log) in [("session.jsonl", plain), ("session.jsonl.zstd", zstd)] {
        let folder = Folder::new();
        let path = folder.write(name, &log);
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| shake(&path, &log, &stop));
            for round in 0..6 {
                let run = watch(&format!("{name} while it is cut, {round}"), &path, 1024, &[]);
                // Between a cut and the writing that follows the disk may give zeros, and a file
                // that is shorter on each of three looks is not checked.
                assert!((0..=2).contains(&run.code), "{}", run.code);
                let bytes = run.report["bytes"].as_u64().expect("a length");
                assert!(bytes <= log.len() as u64, "{}", brief(&run.report));
                let events = run.report["events"].as_u64().expect("a count");
                assert!(events <= 180_000, "{}", brief(&run.report));
                assert!(run.peak_mib <= BASE_MIB, "{}", run.peak_mib);
            }
            stop.store(true, Ordering::Relaxed);
        });
        watch(&format!("{name} at rest again"), &path, 1024, &[]).is("sound", 0, "");
    }
}

#[test]
fn many_torn_files_share_the_second_look() {
    let folder = Folder::new();
    for at in 0..300 {
        folder.session(&format!("s{at}"), &(turn(1, 0) + "{\"type\":\"tur"));
    }
    let run = watch("300 torn files", folder.path(), 1024, &[]);
    let run = run.is("torn", 0, "tail/partial-line").within(BASE_MIB).in_seconds(5.0);
    assert_eq!(run.reports, 300);
}

#[test]
fn a_fifo_is_refused_and_not_waited_for() {
    let folder = Folder::new();
    folder.session("s1", &turn(1, 0));
    let path = folder.write("--p--/s2/x", "").with_file_name("session.jsonl");
    let made = Command::new("mkfifo").arg(&path).status().expect("mkfifo is everywhere");
    assert!(made.success());
    let run = watch("a FIFO in a root", folder.path(), 1024, &[]).in_seconds(5.0);
    assert_eq!((run.code, run.reports), (2, 2));
    let run = watch("a FIFO by its path", &path, 1024, &[]).in_seconds(5.0);
    run.is("unreadable", 2, "limit/unreadable");
}

#[test]
fn logs_with_torn_ends_wait_for_a_slow_one_without_what_they_mean() {
    let folder = Folder::new();
    let opaque = |seq: u64| {
        let before = event("x/y", seq, "\"").replacen('{', "{\"ignorable\":true,", 1);
        let before = before.trim_end_matches("}\n").to_owned();
        hand_made(&long_line(&before, 500_000_000, "\"}\n"))
    };
    let slow = [frame(&header("s")), opaque(0), opaque(1), opaque(2)].concat();
    folder.write("0.jsonl.zstd", slow);
    let call = |at| {
        format!("{{\"type\":\"tool-call\",\"id\":\"c{at}\",\"name\":\"t\",\"arguments\":\"\"}}")
    };
    let calls: Vec<String> = (0..30_000).map(call).collect();
    let message = event(
        "assistant/message",
        1,
        &format!(
            "{{\"turn\":1,\"step\":1,\"message\":{{\"id\":\"m\",\"role\":\"assistant\",\
             \"source\":{{\"kind\":\"model\",\"provider\":\"p\",\"model\":\"m\"}},\
             \"content\":[{}]}}}}",
            calls.join(",")
        ),
    );
    let message = message.replacen('{', "{\"surfaceOp\":\"append\",", 1);
    let start = event("turn/start", 0, "{\"turn\":1}");
    let torn = [frame(&header("s")), frame(&(start + &message)), frame(&turn(2, 2))].concat();
    for at in 0..60 {
        folder.write(&format!("1-{at:02}.jsonl.zstd"), &torn[..torn.len() - 9]);
    }
    let run = watch("60 torn logs behind a slow one", folder.path(), 2048, &[]);
    // The calls of the torn ones stand outside a step.
    let run = run.is("sound", 1, "").within(BASE_MIB).in_seconds(60.0);
    assert_eq!(run.reports, 61);
}
