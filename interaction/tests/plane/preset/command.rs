//! `/permission`: PP-31 to PP-34, S-101, S-108, S-109.

use super::Stage;
use gatelog_interaction::agent::LiveAgent;
use gatelog_interaction::command::{CommandRegistry, CommandResult, Dispatch, ExecuteOptions};
use gatelog_interaction::preset::permission_command;
use gatelog_interaction::scope::Authority;

async fn run(stage: &Stage, live: &LiveAgent, line: &str) -> CommandResult {
    let commands = CommandRegistry::new(stage.world.plane.clone());
    let registrar = commands.registrar(Authority::Root);
    let _guard = registrar.global(permission_command(&stage.presets)).expect("it is lawful");
    match commands.execute(live.agent(), line, ExecuteOptions::default()).await {
        Ok(Dispatch::Executed(execution)) => execution.result,
        other => panic!("{line:?}: {other:?}"),
    }
}

fn ok(text: &str) -> CommandResult {
    CommandResult::text(text)
}

fn refused(text: &str) -> CommandResult {
    CommandResult::error(text).expect("it says something")
}

const AVAILABLE: &str = "(available: read-only, workspace-write, danger-full-access)";

#[tokio::test]
async fn pp_31_blank_input_reports_what_is_and_what_could_be() {
    let stage = Stage::new();
    let live = stage.world.agent("a");
    let text = format!("current preset workspace-write {AVAILABLE}");
    for line in ["/permission", "/permission  ", "/permission \t\u{feff}"] {
        assert_eq!(run(&stage, &live, line).await, ok(&text), "{line:?}");
    }
    assert_eq!(run(&stage, &live, "/permission \u{feff} read-only ").await, ok("preset read-only"));
}

#[tokio::test]
async fn pp_32_an_unknown_argument_is_an_error_between_run_and_done() {
    let stage = Stage::new();
    let live = stage.world.agent("a");
    let text = format!("unknown preset \"bogus\" {AVAILABLE}");
    assert_eq!(run(&stage, &live, "/permission bogus").await, refused(&text));
    let kinds: Vec<_> = stage.world.events("a").into_iter().map(|seen| seen.kind).collect();
    assert_eq!(kinds, ["command/run", "command/done"]);
}

#[tokio::test]
async fn pp_33_a_valid_argument_answers_the_same_with_and_without_a_write() {
    let stage = Stage::new();
    let live = stage.world.agent("a");
    assert_eq!(run(&stage, &live, "/permission read-only").await, ok("preset read-only"));
    let before = stage.facts("a");
    assert_eq!(run(&stage, &live, "/permission read-only").await, ok("preset read-only"));
    assert_eq!(stage.facts("a"), before);
}

#[tokio::test]
async fn pp_34_no_answer_repeats_the_commands_name() {
    let stage = Stage::new();
    let live = stage.world.agent("a");
    for line in ["/permission", "/permission bogus", "/permission read-only"] {
        let result = run(&stage, &live, line).await;
        let shown = result.shown().expect("it says something");
        assert!(!shown.contains("permission"), "{shown}");
    }
}

#[tokio::test]
async fn s_101_choosing_the_current_preset_appends_no_fact_and_answers() {
    let stage = Stage::new();
    let live = stage.world.agent("a");
    assert_eq!(
        run(&stage, &live, "/permission workspace-write").await,
        ok("preset workspace-write")
    );
    assert_eq!(stage.facts("a"), vec![]);
    stage.is_sound();
}

#[tokio::test]
async fn s_108_a_bogus_name_is_a_pair_of_the_command_and_no_fact() {
    let stage = Stage::new();
    let live = stage.world.agent("a");
    let _ = run(&stage, &live, "/permission bogus").await;
    let events = stage.world.events("a");
    let kinds: Vec<_> = events.iter().map(|seen| seen.kind.as_str()).collect();
    assert_eq!(kinds, ["command/run", "command/done"]);
    assert_eq!(events[1].data["kind"], "error");
    stage.is_sound();
}

#[tokio::test]
async fn s_109_blanks_only_report_the_presets_as_a_success() {
    let stage = Stage::new();
    let live = stage.world.agent("a");
    let result = run(&stage, &live, "/permission \t ").await;
    assert_eq!(result.kind(), "success");
    let text = format!("current preset workspace-write {AVAILABLE}");
    assert_eq!(result.shown(), Some(text.as_str()));
    stage.is_sound();
}
