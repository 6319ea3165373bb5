//! What the validators say of command events, at the gate and of a log that is read cold.

use crate::support::{Faults, Kind, World, open};
use gatelog_engine::backend::{AppendError, Durability, Refusal};
use gatelog_engine::rules::Draft;
use gatelog_engine::store::Session;
use gatelog_interaction::profile::Profile;
use gatelog_validator::rule::Profile as Rules;
use gatelog_validator::standard::Standard;

const RUN: &str = r#"{"commandId":"c1","name":"n","source":{"kind":"user"}}"#;

fn append(session: &Session, kind: &str, data: &str) -> Result<(), AppendError> {
    session.append([Draft::new(kind, data)], Durability::Synced).map(drop)
}

/// Returns rule and message of what is refused.
fn refused(session: &Session, kind: &str, data: &str) -> (String, String) {
    match append(session, kind, data).expect_err("a rule speaks against it") {
        AppendError::Refused(Refusal::Violation(violation)) => {
            (violation.rule.to_owned(), violation.message)
        }
        other => panic!("a violation: {other}"),
    }
}

fn done(id: &str, kind: &str, source: Option<&str>) -> String {
    let source = source.map_or_else(String::new, |seq| format!(r#","sourceEventSeq":{seq}"#));
    format!(r#"{{"commandId":"{id}","kind":"{kind}"{source}}}"#)
}

fn world(kind: Kind, rules: Rules) -> (World, Session) {
    let world = World::of(kind, rules, Profile::STRICT);
    let session = world.session("a");
    (world, session)
}

const BOTH: [Rules; 2] = [Rules::Strict, Rules::Host];

#[tokio::test]
async fn ci_01_an_id_is_run_once_in_a_session() {
    for rules in BOTH {
        for kind in Kind::ALL {
            let (world, session) = world(kind, rules);
            append(&session, "command/run", RUN).expect("it is new");
            let (rule, text) = refused(&session, "command/run", RUN);
            assert_eq!(rule, "command/run-repeats-id");
            assert_eq!(text, "command/run repeats commandId \"c1\"");
            append(&session, "command/done", &done("c1", "success", None)).expect("it was run");
            refused(&session, "command/run", RUN);
            let other = world.session("b");
            append(&other, "command/run", RUN).expect("another session has ids of its own");
        }
    }
}

#[tokio::test]
async fn ci_02_what_is_done_was_run_in_the_same_session() {
    for rules in BOTH {
        for kind in Kind::ALL {
            let (world, session) = world(kind, rules);
            append(&world.session("b"), "command/run", RUN).expect("it is new");
            let (rule, text) = refused(&session, "command/done", &done("c1", "success", None));
            assert_eq!(rule, "command/done-without-run");
            assert_eq!(text, "command/done \"c1\" pairs no prior command/run in this log");
            assert_eq!(world.events("a"), []);
        }
    }
}

#[tokio::test]
async fn ci_03_only_a_success_cites_an_event() {
    for rules in BOTH {
        let (world, session) = world(Kind::Native, rules);
        crate::support::start_turn(&session, 1);
        append(&session, "command/run", RUN).expect("it is new");
        let (rule, text) = refused(&session, "command/done", &done("c1", "error", Some("0")));
        assert_eq!(rule, "command/done-invalid-source");
        assert_eq!(text, "command/done \"c1\" has invalid sourceEventSeq 0");
        append(&session, "command/done", &done("c1", "success", Some("0"))).expect("it is there");
        crate::support::end_turn(&session, 1);
        assert_eq!(world.errors(rules), Vec::<String>::new());
    }
}

#[tokio::test]
async fn ci_04_what_is_cited_is_there_and_earlier() {
    for rules in BOTH {
        let (_world, session) = world(Kind::Native, rules);
        crate::support::start_turn(&session, 1);
        append(&session, "command/run", RUN).expect("it is new");
        for bad in ["2", "3", "-1", "0.5", "9007199254740992", "null", "\"0\"", "true"] {
            let (rule, text) = refused(&session, "command/done", &done("c1", "success", Some(bad)));
            assert_eq!(rule, "command/done-invalid-source", "{bad}");
            assert!(text.starts_with("command/done \"c1\" has invalid sourceEventSeq "), "{text}");
        }
        append(&session, "command/done", &done("c1", "success", Some("0"))).expect("it is there");
    }
}

#[tokio::test]
async fn ci_05_what_is_cited_is_no_commands() {
    for rules in BOTH {
        let (_world, session) = world(Kind::Native, rules);
        append(&session, "command/run", RUN).expect("it is new");
        append(&session, "command/done", &done("c1", "success", None)).expect("it was run");
        append(&session, "command/run", &RUN.replace("c1", "c2")).expect("it is new");
        for of_a_command in ["0", "1", "2"] {
            let data = done("c2", "success", Some(of_a_command));
            let (rule, _) = refused(&session, "command/done", &data);
            assert_eq!(rule, "command/done-invalid-source", "{of_a_command}");
        }
    }
}

#[tokio::test]
async fn ci_07_a_command_is_done_once_for_us_and_more_often_for_the_host() {
    for kind in Kind::ALL {
        let (world, session) = world(kind, Rules::Strict);
        append(&session, "command/run", RUN).expect("it is new");
        append(&session, "command/done", &done("c1", "success", None)).expect("it was run");
        let (rule, text) = refused(&session, "command/done", &done("c1", "success", None));
        assert_eq!(rule, "command/repeated-done");
        assert_eq!(text, "command/done \"c1\" repeats a settled command");
        assert_eq!(world.errors(Rules::Strict), Vec::<String>::new());
    }
    let (world, session) = world(Kind::Files, Rules::Host);
    append(&session, "command/run", RUN).expect("it is new");
    for _ in 0..2 {
        append(&session, "command/done", &done("c1", "success", None)).expect("the host says so");
    }
    assert_eq!(world.errors(Rules::Host), Vec::<String>::new());
    let errors = world.errors(Rules::Strict);
    let text = "a: command/repeated-done: command/done \"c1\" repeats a settled command";
    assert_eq!(errors, [text]);
}

#[tokio::test]
async fn ci_08_what_stands_in_a_log_counts_when_it_is_opened_again() {
    for rules in BOTH {
        for kind in Kind::ALL {
            let (world, session) = world(kind, rules);
            append(&session, "command/run", RUN).expect("it is new");
            world.store.close().expect("the disk is sound");
            // A later life of the process.
            let store = open(kind, &world.sim, Standard::new(rules), &Faults::default());
            let session = store.session("a").expect("it is there");
            let (rule, _) = refused(&session, "command/run", RUN);
            assert_eq!(rule, "command/run-repeats-id", "{kind:?}");
            append(&session, "command/done", &done("c1", "success", None)).expect("it was run");
        }
    }
}

#[tokio::test]
async fn ci_09_an_end_and_a_giver_that_are_unknown_are_refused() {
    for kind in Kind::ALL {
        let (world, session) = world(kind, Rules::Strict);
        let by_agent = RUN.replace("user", "agent");
        let (rule, text) = refused(&session, "command/run", &by_agent);
        assert_eq!(rule, "command/unknown-source");
        assert_eq!(text, "command/run \"c1\" carries unknown source \"agent\"");
        append(&session, "command/run", RUN).expect("a person gave it");
        let (rule, text) = refused(&session, "command/done", &done("c1", "maybe", None));
        assert_eq!(rule, "command/unknown-kind");
        assert_eq!(text, "command/done \"c1\" carries unknown kind \"maybe\"");
        append(&session, "command/done", &done("c1", "error", None)).expect("it is known");
        assert_eq!(world.errors(Rules::Strict), Vec::<String>::new());
    }
    // The host does not look.
    let (_world, session) = world(Kind::Files, Rules::Host);
    append(&session, "command/run", &RUN.replace("user", "agent")).expect("the host says so");
    append(&session, "command/done", &done("c1", "maybe", None)).expect("the host says so");
}

#[tokio::test]
async fn s_133_three_sources_that_are_vetoed_before_they_are_committed() {
    use super::support::{Desk, says};
    use gatelog_interaction::command::{CommandError, CommandResult};
    for kind in Kind::ALL {
        // The run's own event, one that comes later, and one that is not there at all.
        for seq in [0, 1, 77] {
            let desk = Desk::of(kind, Profile::STRICT, None);
            let result = CommandResult::Success { text: None, source_event_seq: Some(seq) };
            let _x = desk.x(says(result));
            let failed = desk.execute("/x").await.expect_err("it is vetoed");
            let CommandError::Done(AppendError::Refused(Refusal::Violation(violation))) = &failed
            else {
                panic!("a veto: {failed:?}")
            };
            assert_eq!(violation.rule, "command/done-invalid-source");
            let end = format!("has invalid sourceEventSeq {seq}");
            assert!(violation.message.ends_with(&end), "{}", violation.message);
            assert_eq!(desk.log().len(), 1, "{kind:?}: only the run is there");
            assert_eq!(desk.errors(), Vec::<String>::new(), "{kind:?}");
        }
    }
}
