//! Tables and their errors: PP-01 to PP-13, S-110.

use super::{COMPOSED, row};
use crate::support::World;
use gatelog_interaction::approval::ApprovalPolicy;
use gatelog_interaction::preset::{
    ComposedDefaults, PresetConfigError, PresetName, PresetService, PresetTable,
};
use gatelog_interaction::profile::Profile;
use gatelog_interaction::sandbox::SandboxMode;
use serde_json::{Value, json};

const RESERVED: &str = "permission: \"custom\" is reserved for the derived not-a-preset state and \
                        cannot name a table entry";
const NO_CONFINEMENT: &str = "permission: the mounted bash executor does not confine (no \
                              sandboxMode) — presets bundle a sandbox mode, so composing this \
                              plugin over an unconfined executor is a misconfiguration";
const NO_DEFAULT: &str = "permission: composed sandbox and approval defaults match no preset; \
                          configure defaultPreset explicitly";

fn table(rows: Value) -> Result<PresetTable, PresetConfigError> {
    PresetTable::from_config(&rows, &Profile::STRICT)
}

fn names(table: &PresetTable) -> Vec<&str> {
    table.names().map(PresetName::as_str).collect()
}

fn rows(table: &PresetTable) -> Vec<(&str, SandboxMode, ApprovalPolicy)> {
    let row = |name| {
        let preset = table.resolve(name).expect("it is there").1;
        (name, preset.sandbox, preset.approval)
    };
    names(table).into_iter().map(row).collect()
}

/// Composes a service; returns what it says against it.
fn composed(
    table: PresetTable,
    composed: ComposedDefaults,
    default: Option<&str>,
) -> Option<String> {
    let world = World::new();
    PresetService::new(&world.plane, table, composed, default).err().map(|it| it.to_string())
}

const UNCONFINED: ComposedDefaults =
    ComposedDefaults { executor_mode: None, approval: ApprovalPolicy::Ask };

#[test]
fn pp_01_a_row_has_a_mode_and_a_policy_and_may_have_texts() {
    let whole = json!({"x": {"sandbox": "read-only", "approval": "never", "name": "X",
                             "description": "all of it"}});
    let whole = table(whole).expect("it is a row");
    let (_, preset) = whole.resolve("x").expect("it is there");
    assert_eq!((preset.sandbox, preset.approval), (SandboxMode::ReadOnly, ApprovalPolicy::Never));
    assert_eq!(preset.name.as_deref(), Some("X"));
    assert_eq!(preset.description.as_deref(), Some("all of it"));
    for bad in [
        json!({"x": {"approval": "ask"}}),
        json!({"x": {"sandbox": "read-only"}}),
        json!({"x": {"sandbox": "wide", "approval": "ask"}}),
        json!({"x": {"sandbox": "read-only", "approval": "maybe"}}),
        json!({"x": {"sandbox": "read-only", "approval": "ask", "name": 1}}),
        json!({"x": 1}),
        json!([]),
    ] {
        let error = table(bad.clone()).expect_err("it is no table");
        assert!(matches!(error, PresetConfigError::BadRow { .. }), "{bad}: {error}");
    }
}

#[test]
fn pp_02_the_tables_own_default_has_two_rows() {
    let table = PresetTable::two_row();
    assert_eq!(
        rows(&table),
        [
            ("workspace-write", SandboxMode::WorkspaceWrite, ApprovalPolicy::Ask),
            ("danger-full-access", SandboxMode::DangerFullAccess, ApprovalPolicy::Never),
        ]
    );
    let described = |name| table.resolve(name).expect("it is there").1.description.clone();
    assert_eq!(
        described("workspace-write").as_deref(),
        Some(
            "Write inside the workspace and permitted temporary directories; wider retries \
             require approval."
        )
    );
    assert_eq!(
        described("danger-full-access").as_deref(),
        Some("Full file access without approval prompts.")
    );
}

#[test]
fn pp_03_what_is_shipped_has_reading_in_front() {
    let table = PresetTable::shipped();
    assert_eq!(rows(&table)[0], ("read-only", SandboxMode::ReadOnly, ApprovalPolicy::Ask));
    assert_eq!(names(&table), ["read-only", "workspace-write", "danger-full-access"]);
}

#[test]
fn pp_04_the_order_is_that_of_the_declaration() {
    let shuffled = json!({"b": row("read-only", "ask"), "10": row("read-only", "never"),
                          "a": row("workspace-write", "ask"), "9": row("read-only", "ask")});
    assert_eq!(names(&table(shuffled).expect("a table")), ["b", "10", "a", "9"]);
}

#[test]
fn pp_05_custom_is_no_name_for_a_row() {
    let error = table(json!({"custom": row("read-only", "ask")})).expect_err("it is reserved");
    assert_eq!(error.to_string(), RESERVED);
    let auto = json!({"auto": row("read-only", "ask")});
    let error = table(auto.clone()).expect_err("it is reserved");
    assert_eq!(
        error.to_string(),
        "permission: \"auto\" is reserved and cannot name a configured preset"
    );
    assert!(PresetTable::from_config(&auto, &Profile::DSH_0_1_1).is_ok(), "once it was free");
}

#[tokio::test]
async fn pp_06_an_executor_that_does_not_confine_is_refused() {
    let said = composed(PresetTable::shipped(), UNCONFINED, None);
    assert_eq!(said.as_deref(), Some(NO_CONFINEMENT));
}

#[tokio::test]
async fn pp_07_defaults_that_match_no_row_need_a_configured_one() {
    let never = ComposedDefaults { approval: ApprovalPolicy::Never, ..COMPOSED };
    assert_eq!(composed(PresetTable::shipped(), never, None).as_deref(), Some(NO_DEFAULT));
    assert_eq!(composed(PresetTable::shipped(), never, Some("read-only")), None);
}

#[tokio::test]
async fn pp_08_a_configured_default_must_be_in_the_table() {
    let said = composed(PresetTable::two_row(), COMPOSED, Some("read-only"));
    let text = "permission: unknown preset \"read-only\" (known: workspace-write, \
                danger-full-access)";
    assert_eq!(said.as_deref(), Some(text));
}

#[tokio::test]
async fn pp_09_the_checks_run_in_one_order() {
    // Reserved, before the rest of a row is looked at.
    let error = table(json!({"x": 1, "custom": {}})).expect_err("it is both");
    assert_eq!(error.to_string(), RESERVED);
    // Confinement, before a default that is not there.
    let said = composed(PresetTable::shipped(), UNCONFINED, Some("nowhere"));
    assert_eq!(said.as_deref(), Some(NO_CONFINEMENT));
    let never = ComposedDefaults { approval: ApprovalPolicy::Never, ..COMPOSED };
    assert_eq!(composed(PresetTable::shipped(), never, None).as_deref(), Some(NO_DEFAULT));
}

#[tokio::test]
async fn pp_10_an_empty_table_matches_nothing_and_knows_nothing() {
    let empty = || table(json!({})).expect("it is a table");
    assert_eq!(composed(empty(), COMPOSED, None).as_deref(), Some(NO_DEFAULT));
    let said = composed(empty(), COMPOSED, Some("x"));
    assert_eq!(said.as_deref(), Some("permission: unknown preset \"x\" (known: )"));
}

#[test]
fn pp_11_an_unknown_name_fails_and_lists_the_known_ones() {
    for name in ["custom", "nowhere", ""] {
        let error = PresetTable::two_row().resolve(name).expect_err("it is no row").to_string();
        let text = format!(
            "permission: unknown preset \"{name}\" (known: workspace-write, danger-full-access)"
        );
        assert_eq!(error, text);
    }
}

#[test]
fn an_empty_key_and_an_empty_label_are_refused() {
    let error = table(json!({"": row("read-only", "ask")})).expect_err("no key").to_string();
    assert_eq!(error, "permission: preset names must not be empty");
    let named = json!({"x": {"sandbox": "read-only", "approval": "ask", "name": " "}});
    let error = table(named).expect_err("no label").to_string();
    assert_eq!(error, "permission: preset \"x\" has an empty label");
}

#[tokio::test]
async fn s_110_each_mistake_has_its_text_and_all_at_once_say_the_reserved_name() {
    let custom = json!({"custom": row("read-only", "ask")});
    assert_eq!(table(custom.clone()).expect_err("reserved").to_string(), RESERVED);
    let shipped = PresetTable::shipped;
    assert_eq!(composed(shipped(), UNCONFINED, None).as_deref(), Some(NO_CONFINEMENT));
    let never = ComposedDefaults { approval: ApprovalPolicy::Never, ..COMPOSED };
    assert_eq!(composed(shipped(), never, None).as_deref(), Some(NO_DEFAULT));
    let unknown = composed(shipped(), COMPOSED, Some("nowhere")).expect("it is not there");
    assert_eq!(
        unknown,
        "permission: unknown preset \"nowhere\" (known: read-only, workspace-write, \
         danger-full-access)"
    );
    // With all four the table is never made.
    let world = World::new();
    let all = table(custom).and_then(|table| {
        PresetService::new(&world.plane, table, UNCONFINED, Some("nowhere")).map(drop)
    });
    assert_eq!(all.expect_err("four mistakes").to_string(), RESERVED);
}
