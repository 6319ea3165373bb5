//! What a unit is, and which there are.

use super::{Switches, board, mode, one, permissions, registry, switches, title};
use gatelog_engine::replay::Projected;
use gatelog_validator::board::{Registry, RegistryError, Unit, ViewError, state_version};
use gatelog_validator::projection::{Composed, Kept, Permissions, PresetTable, Todo};

#[tokio::test]
async fn pr_01_a_unit_has_a_key_a_version_a_state_a_fold_and_a_view() {
    let (_world, session) = one("a");
    let unit = switches(3);
    assert_eq!((unit.key(), unit.version()), ("switches", 3));
    let (registry, _guards) = registry([unit]);
    let board = board(&registry, &session);
    assert_eq!(board.view("switches").as_deref(), Ok("0"), "the state begins empty");
    mode(&session, "read-only");
    assert_eq!(board.view("switches").as_deref(), Ok("1"));
}

#[tokio::test]
async fn pr_10_a_view_that_is_not_as_it_must_be_is_never_served() {
    let (_world, session) = one("a");
    let small = switches(1).checked(|view| match view {
        "0" | "1" => Ok(()),
        other => Err(format!("{other} is too many")),
    });
    let (registry, _guards) = registry([small]);
    let board = board(&registry, &session);
    mode(&session, "read-only");
    assert!(board.snapshot().is_ok());
    mode(&session, "workspace-write");
    let what = "2 is too many".to_owned();
    let unfit = ViewError::Unfit { key: "switches".to_owned(), what };
    assert_eq!(board.snapshot(), Err(unfit.clone()));
    assert_eq!(board.view("switches"), Err(unfit));
}

#[tokio::test]
async fn pr_11_what_is_for_the_host_only_is_in_records_and_in_no_snapshot() {
    let (_world, session) = one("a");
    let (registry, _guards) = registry([switches(1).host_only(), permissions()]);
    let board = board(&registry, &session);
    let snapshot = board.snapshot().expect("it can be read");
    assert_eq!(snapshot.get("switches"), None);
    assert!(snapshot.get("permissions").is_some());
    let keys: Vec<_> = board.record().expect("it can be read").rows;
    let keys: Vec<_> = keys.iter().map(|row| row.key.as_str()).collect();
    assert_eq!(keys, ["switches", "permissions"]);
}

#[test]
fn pr_12_a_version_is_a_non_negative_integer() {
    assert_eq!(state_version("x", 2.0), Ok(2));
    for bad in [-1.0, 1.5, f64::NAN, -0.0, 9_007_199_254_740_992.0] {
        let error = state_version("x", bad).expect_err("it is none");
        assert!(matches!(error, RegistryError::BadVersion { .. }));
        let text = format!(
            "session projection \"x\" stateVersion must be a non-negative integer, got {bad}"
        );
        assert_eq!(error.to_string(), text);
    }
}

#[test]
fn pr_13_a_key_is_shared_at_one_version_and_refused_at_another() {
    let registry = Registry::new();
    let one = registry.register(switches(1)).expect("it is new");
    let _two = registry.register(switches(1)).expect("it is the same version");
    let refused = registry.register(switches(2)).expect_err("it is another version");
    assert_eq!(
        refused.to_string(),
        "session projection key \"switches\" is already registered at stateVersion 1; refusing \
         to share it with stateVersion 2"
    );
    drop(one);
    assert_eq!(registry.keys(), ["switches"]);
}

#[tokio::test]
async fn pr_14_a_key_is_gone_when_the_last_who_registered_it_is() {
    let (_world, session) = one("a");
    let registry = Registry::new();
    let (one, two) = (registry.register(switches(1)), registry.register(switches(1)));
    let board = board(&registry, &session);
    drop(one);
    assert!(board.snapshot().expect("it can be read").get("switches").is_some());
    drop(two);
    assert_eq!(board.snapshot().expect("it can be read").get("switches"), None);
    let unregistered = ViewError::Unregistered { key: "switches".to_owned() };
    assert_eq!(board.view("switches"), Err(unregistered));
}

#[tokio::test]
async fn s_188_a_key_registered_twice_goes_with_its_second_registrant() {
    let (_world, session) = one("a");
    let registry = Registry::new();
    let (one, two) = (registry.register(switches(1)), registry.register(switches(1)));
    let board = board(&registry, &session);
    let is_there = || board.snapshot().expect("it can be read").get("switches").is_some();
    assert!(is_there());
    drop(one);
    assert!(is_there());
    drop(two);
    assert!(!is_there());
}

#[test]
fn pr_15_the_state_of_permissions_is_the_last_word_of_each_fact() {
    let made = Permissions::new(PresetTable::default(), Composed::default());
    let state: serde_json::Value = serde_json::from_slice(&Kept(made).save()).expect("it is JSON");
    let members: Vec<_> = state.as_object().expect("an object").keys().cloned().collect();
    assert_eq!(members, ["preset", "sandbox", "approval", "seeded"]);
    for key in ["preset", "sandbox", "approval"] {
        assert!(state[key].is_null(), "{key} is nothing before any event");
    }
}

#[tokio::test]
async fn pr_16_permissions_are_of_version_2_and_know_a_seed() {
    let (_world, session) = one("a");
    assert_eq!(permissions().version(), 2);
    let (registry, _guards) = registry([permissions()]);
    let board = board(&registry, &session);
    let seeded = |text: &str| {
        let view: serde_json::Value = serde_json::from_str(text).expect("it is JSON");
        view["seeded"].clone()
    };
    assert_eq!(seeded(&board.view("permissions").expect("it is registered")), false);
    super::append(&session, "session/end-seed", "{}");
    assert_eq!(seeded(&board.view("permissions").expect("it is registered")), true);
}

#[test]
fn pr_17_a_saved_state_has_nothing_of_what_an_installation_is_composed_with() {
    let composed =
        |approval: &str| Composed { approval: approval.to_owned(), ..Composed::default() };
    let made = |approval: &str| Kept(Permissions::new(PresetTable::default(), composed(approval)));
    let (asks, mut never) = (made("ask"), made("never"));
    assert_eq!(asks.save(), never.save());
    let before = never.json();
    assert!(never.load(&asks.save()));
    assert_eq!(never.json(), before, "what is composed stays that of who takes the state up");
    assert!(before.contains(r#""approval":"never""#), "{before}");
}

#[tokio::test]
async fn pr_18_the_view_has_all_rows_and_custom_only_while_it_is_current() {
    let (_world, session) = one("a");
    let (registry, _guards) = registry([permissions()]);
    let board = board(&registry, &session);
    let values = || {
        let text = board.view("permissions").expect("it is registered");
        let view: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
        let options = view["options"].as_array().expect("a list").clone();
        let values = options.iter().map(|option| option["value"].as_str().map(str::to_owned));
        (values.collect::<Option<Vec<_>>>().expect("words"), view["currentValue"].clone())
    };
    let table = ["read-only", "workspace-write", "danger-full-access"];
    assert_eq!(values(), (table.map(str::to_owned).to_vec(), "workspace-write".into()));
    super::policy(&session, "never");
    let with_custom = [&table[..], &["custom"]].concat();
    let with_custom: Vec<_> = with_custom.into_iter().map(str::to_owned).collect();
    assert_eq!(values(), (with_custom, "custom".into()));
    super::policy(&session, "ask");
    assert_eq!(values(), (table.map(str::to_owned).to_vec(), "workspace-write".into()));
}

#[tokio::test]
async fn pr_23_a_view_of_what_nobody_registered_is_an_error_and_no_default() {
    let (_world, session) = one("a");
    let (registry, _guards) = registry([title()]);
    let board = board(&registry, &session);
    let error = board.view("permissions").expect_err("nobody registered it");
    assert_eq!(error.to_string(), "session projection \"permissions\" is not registered");
}

#[test]
fn pr_02_a_state_that_is_taken_up_is_the_whole_value() {
    // A unit's state stands for itself: whatever was folded before is replaced by it.
    let mut unit = Switches { count: 9, version: 1 };
    assert!(unit.load(&[2]));
    assert_eq!(unit.json(), "2");
    assert!(!unit.load(&[]), "what is no state changes nothing");
    assert_eq!(unit.json(), "2");
    let mut todo = Kept(Todo::default());
    let empty = todo.save();
    assert!(todo.load(&empty));
    assert_eq!(todo.json(), "null");
    let _: Unit = Unit::of(Todo::default);
}
