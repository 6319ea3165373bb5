//! Logs that were written by others, read cold.

use super::support::{Desk, driven, executed};
use crate::support::{Faults, Kind, World, errors, open};
use gatelog_engine::backend::Durability;
use gatelog_engine::rules::Draft;
use gatelog_engine::storage::{Create, Sim, Storage as _, Volume as _};
use gatelog_interaction::command::{CommandResult, ExecuteOptions};
use gatelog_interaction::profile::Profile;
use gatelog_validator::projection::Commands;
use gatelog_validator::rule::Profile as Rules;
use gatelog_validator::standard::Standard;
use std::path::{Path, PathBuf};

const RUN: &str = r#"{"commandId":"c1","name":"n","source":{"kind":"user"}}"#;
const DONE: &str = r#"{"commandId":"c1","kind":"success","text":"first"}"#;

/// Returns a store of the host's files that holds a session of these events, which no gate saw:
/// an event is written in a place that is free of rules, by changing what stands in the file.
fn forced(lines: &[(&str, &str)]) -> Sim {
    let world = World::of(Kind::Files, Rules::Host, Profile::DSH);
    let session = world.session("a");
    let stand_in = |at: usize| format!(r#"{{"title":"stand-in-{at}"}}"#);
    for at in 0..lines.len() {
        let draft = Draft::new("session/title", stand_in(at));
        session.append([draft], Durability::Synced).expect("a title is lawful");
    }
    world.store.close().expect("the disk is sound");
    let sim = world.sim;
    let path = file(&sim);
    let mut text = String::from_utf8(sim.image(&path).expect("it is there")).expect("it is text");
    for (at, (kind, data)) in lines.iter().enumerate() {
        let line = text.lines().find(|line| line.contains(&stand_in(at))).expect("it is there");
        let forged = line.replace("session/title", kind).replace(&stand_in(at), data);
        text = text.replace(line, &forged);
    }
    let written = sim.disk().open_write(&path, Create::Existing).expect("it is there");
    written.set_len(0).expect("the disk is sound");
    written.write_at(0, text.as_bytes()).expect("the disk is sound");
    written.sync_data().expect("the disk is sound");
    sim
}

/// Returns the one session file.
fn file(sim: &Sim) -> PathBuf {
    let disk = sim.disk();
    let mut open = vec![PathBuf::from("/s")];
    while let Some(dir) = open.pop() {
        for entry in disk.list(&dir).expect("it is there") {
            let path = dir.join(&entry.name);
            if entry.kind == gatelog_engine::storage::Kind::Directory {
                open.push(path);
            } else if is_session(sim, &path) {
                return path;
            }
        }
    }
    panic!("a session file")
}

fn is_session(sim: &Sim, path: &Path) -> bool {
    let image = sim.image(path).expect("it is there");
    image.starts_with(br#"{"type":"session""#)
}

#[tokio::test]
async fn ci_06_a_stored_log_that_breaks_a_rule_is_faulted_by_name_and_place() {
    let run = ("command/run", RUN);
    let (done, orphan) = (("command/done", DONE), "command/done \"c1\" pairs no prior command/run");
    let cites = r#"{"commandId":"c1","kind":"success","sourceEventSeq":0}"#;
    for (lines, rule, text) in [
        (vec![run, run, done], "command/run-repeats-id", "repeats commandId \"c1\""),
        (vec![done], "command/done-without-run", orphan),
        (vec![run, ("command/done", cites)], "command/done-invalid-source", "sourceEventSeq 0"),
    ] {
        let sim = forced(&lines);
        for rules in [Rules::Strict, Rules::Host] {
            let found = errors(Kind::Files, &sim, rules);
            let named = found.iter().any(|of| of.contains(rule) && of.contains(text));
            assert!(named, "{rules:?}: {found:?}");
            assert!(found[0].starts_with("a: "), "the session is named: {found:?}");
        }
    }
    assert_eq!(errors(Kind::Files, &forced(&[run, done]), Rules::Strict), Vec::<String>::new());
}

#[tokio::test]
async fn ci_10_a_run_at_the_tail_is_legal() {
    for rules in [Rules::Strict, Rules::Host] {
        for kind in Kind::ALL {
            let world = World::of(kind, rules, Profile::STRICT);
            let session = world.session("a");
            let run = Draft::new("command/run", RUN);
            session.append([run], Durability::Synced).expect("it is new");
            world.store.close().expect("the disk is sound");
            // Worth a hint under the strict profile, and no fault in either.
            let found = errors(kind, &world.sim, rules);
            assert!(found.iter().all(|of| of.contains("command/never-done")), "{found:?}");
            let store = open(kind, &world.sim, Standard::new(rules), &Faults::default());
            let session = store.session("a").expect("it loads");
            let events = world.events("a").len();
            let title = Draft::new("session/title", r#"{"title":"t"}"#);
            session.append([title], Durability::Synced).expect("it goes on");
            assert_eq!(events, 1, "{kind:?}: nobody closed it");
        }
    }
}

#[tokio::test]
async fn s_134_a_stored_log_with_two_ends() {
    let second = DONE.replace("first", "second");
    let sim = forced(&[("command/run", RUN), ("command/done", DONE), ("command/done", &second)]);
    let found = errors(Kind::Files, &sim, Rules::Strict);
    assert_eq!(found, ["a: command/repeated-done: command/done \"c1\" repeats a settled command"]);
    // The host's rules let it pass, and the first counts.
    assert_eq!(errors(Kind::Files, &sim, Rules::Host), Vec::<String>::new());
    let store = open(Kind::Files, &sim, Standard::new(Rules::Host), &Faults::default());
    let session = store.session("a").expect("it loads");
    let commands = session.project(Commands::default).expect("it is live");
    let view = commands.view().expect("it can be read").0;
    let view = serde_json::to_value(&view).expect("it is JSON");
    assert_eq!(view.as_array().map(Vec::len), Some(1));
    assert_eq!(
        (&view[0]["done_seq"], view[0]["text"].to_string().contains("first")),
        (&serde_json::json!(1), true)
    );
}

#[tokio::test]
async fn s_135_an_id_of_the_log_is_not_run_again_in_a_later_life() {
    for rules in [Rules::Strict, Rules::Host] {
        for kind in Kind::ALL {
            let world = World::of(kind, rules, Profile::STRICT);
            let run = Draft::new("command/run", RUN);
            world.session("a").append([run.clone()], Durability::Synced).expect("it is new");
            world.store.close().expect("the disk is sound");
            let store = open(kind, &world.sim, Standard::new(rules), &Faults::default());
            let session = store.session("a").expect("it is there");
            let refused = session.append([run], Durability::Synced).expect_err("it repeats c1");
            let text = "command/run repeats commandId \"c1\"";
            assert!(refused.to_string().contains(text), "{kind:?}: {refused}");
        }
    }
}

#[tokio::test]
async fn s_136_a_log_that_ends_after_a_run() {
    for kind in Kind::ALL {
        let desk = Desk::of(kind, Profile::STRICT, None);
        let (handler, mut entered) = driven();
        let _x = desk.x(handler);
        let running = desk.spawn("/x", ExecuteOptions::default());
        let entered = entered.recv().await.expect("it is entered");
        // The process stops here.
        let device = desk.world.sim.power_cut(|_| false);
        assert_eq!(desk.kinds_on_the_device(), ["command/run"], "{kind:?}");
        let store = open(kind, &device, Standard::new(Rules::Strict), &Faults::default());
        let session = store.session("a").expect("it loads");
        let commands = session.project(Commands::default).expect("it is live");
        let view = commands.view().expect("it can be read").0;
        assert_eq!((view.len(), view[0].done_seq), (1, None), "{kind:?}: nobody closed it");
        assert!(entered.reply(Ok(CommandResult::success())));
        let _execution = executed(running.await.expect("no panic"));
    }
}
