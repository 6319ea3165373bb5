//! The projections of a live session.

use super::{board, mode, one, permissions, policy, preset, registry, switches, title, whole_turn};
use gatelog_validator::board::{Change, Registry};
use std::sync::{Arc, Mutex};

/// Remembers changes.
#[derive(Clone, Default)]
struct Heard(Arc<Mutex<Vec<Change>>>);

impl Heard {
    fn listen(&self, board: &gatelog_validator::board::Board) {
        let heard = self.clone();
        board.subscribe(move |change| heard.0.lock().expect("sound").push(change.clone()));
    }

    fn take(&self) -> Vec<(&'static str, u64, String)> {
        let changes = std::mem::take(&mut *self.0.lock().expect("sound"));
        let all = changes.into_iter();
        all.map(|change| (change.key, change.seq, change.view.expect("it may be shown"))).collect()
    }
}

#[tokio::test]
async fn pr_03_an_event_that_changes_nothing_is_no_change() {
    let (_world, session) = one("a");
    let (registry, _guards) = registry([switches(1), permissions()]);
    let board = board(&registry, &session);
    let heard = Heard::default();
    heard.listen(&board);
    mode(&session, "read-only");
    assert_eq!(heard.take().len(), 2, "both have another state");
    whole_turn(&session, 1);
    assert_eq!(heard.take(), [], "neither listens to turns");
    super::append(&session, "session/title", r#"{"title":"t","source":"user"}"#);
    assert_eq!(heard.take(), [], "one listens to it, and has the state it had");
}

#[tokio::test]
async fn s_187_an_event_that_a_unit_ignores_notifies_nobody() {
    let (_world, session) = one("a");
    let (registry, _guards) = registry([switches(1)]);
    let board = board(&registry, &session);
    let heard = Heard::default();
    heard.listen(&board);
    policy(&session, "never");
    let before = board.record().expect("it can be read").rows[0].state.clone();
    policy(&session, "ask");
    let after = board.record().expect("it can be read").rows[0].state.clone();
    assert_eq!(before, after);
    assert_eq!(heard.take(), []);
}

#[tokio::test]
async fn pr_04_one_board_drives_every_unit_on_every_commit() {
    let (_world, session) = one("a");
    let (registry, _guards) = registry([switches(1), permissions(), title()]);
    let board = board(&registry, &session);
    for word in ["read-only", "workspace-write", "read-only"] {
        mode(&session, word);
    }
    super::append(&session, "session/title", r#"{"title":"t","source":"user"}"#);
    let snapshot = board.snapshot().expect("it can be read");
    assert_eq!(snapshot.get("switches"), Some("3"));
    assert!(snapshot.get("permissions").is_some_and(|view| view.contains("read-only")));
    assert!(snapshot.get("title").is_some_and(|view| view.contains("\"t\"")));
    assert_eq!(snapshot.last_seq, Some(3));
}

#[tokio::test]
async fn pr_05_a_unit_that_is_registered_late_has_all_that_was_before() {
    let (_world, session) = one("a");
    let registry = Registry::new();
    let board = board(&registry, &session);
    mode(&session, "read-only");
    mode(&session, "workspace-write");
    let _late = registry.register(switches(1)).expect("it is new");
    assert_eq!(board.view("switches").as_deref(), Ok("2"));
    mode(&session, "read-only");
    assert_eq!(board.view("switches").as_deref(), Ok("3"));
}

#[tokio::test]
async fn pr_06_a_session_that_begins_with_a_seed_is_folded_from_its_log() {
    let world = crate::support::World::new();
    let session = world.store.create("a", &crate::support::header("a"), |init| {
        let seed = |data: &str| gatelog_engine::rules::Draft::new("sandbox/mode", data);
        init.append(seed(r#"{"mode":"read-only"}"#));
        init.append(seed(r#"{"mode":"workspace-write"}"#));
        Ok(())
    });
    let session = session.expect("the session is new");
    let (registry, _guards) = registry([switches(1)]);
    // Nobody was told of the seed, and it is in the view.
    let board = board(&registry, &session);
    assert_eq!(board.view("switches").as_deref(), Ok("2"));
}

#[tokio::test]
async fn pr_07_a_change_has_the_view_and_the_seq_that_caused_it() {
    let (_world, session) = one("a");
    let (registry, _guards) = registry([switches(1)]);
    let board = board(&registry, &session);
    let heard = Heard::default();
    heard.listen(&board);
    whole_turn(&session, 1);
    mode(&session, "read-only");
    mode(&session, "read-only");
    assert_eq!(heard.take(), [("switches", 2, "1".to_owned()), ("switches", 3, "2".to_owned())]);
}

#[tokio::test]
async fn pr_09_a_snapshot_is_one_moment_and_an_empty_log_has_the_watermark_minus_one() {
    let (_world, session) = one("a");
    let (registry, _guards) = registry([switches(1), permissions()]);
    let board = board(&registry, &session);
    assert_eq!(board.snapshot().expect("it can be read").watermark(), -1);
    let writer = session.clone();
    let writing = std::thread::spawn(move || {
        for _ in 0..50 {
            mode(&writer, "read-only");
        }
    });
    // Every event is a switch, so the count of a snapshot is its watermark and one.
    while !writing.is_finished() {
        let snapshot = board.snapshot().expect("it can be read");
        let count: i64 =
            snapshot.get("switches").and_then(|view| view.parse().ok()).expect("a count");
        assert_eq!(count, snapshot.watermark() + 1);
    }
    writing.join().expect("it does not panic");
    assert_eq!(board.snapshot().expect("it can be read").watermark(), 49);
}

#[tokio::test]
async fn pr_20_a_label_without_letters_makes_no_view() {
    let (_world, session) = one("a");
    let named = permissions().checked(|view| {
        let view: serde_json::Value = serde_json::from_str(view).map_err(|it| it.to_string())?;
        let options = view["options"].as_array().cloned().unwrap_or_default();
        let is_empty = |option: &serde_json::Value| option["name"] == "" || option["value"] == "";
        if options.iter().any(is_empty) { Err("a row has no name".to_owned()) } else { Ok(()) }
    });
    let (sound, _guards) = registry([named.clone()]);
    assert!(board(&sound, &session).snapshot().is_ok());
    let nameless = gatelog_validator::projection::Preset {
        value: "x".to_owned(),
        sandbox: "read-only".to_owned(),
        approval: "ask".to_owned(),
        name: Some(String::new()),
        description: None,
    };
    let table = gatelog_validator::projection::PresetTable(vec![nameless]);
    let make = move || {
        let composed = gatelog_validator::projection::Composed::default();
        gatelog_validator::projection::Permissions::new(table.clone(), composed)
    };
    let checked = gatelog_validator::board::Unit::of(make).checked(|view| {
        if view.contains(r#""name":"""#) { Err("a row has no name".to_owned()) } else { Ok(()) }
    });
    let (broken, _guards) = registry([checked]);
    assert!(board(&broken, &session).snapshot().is_err());
}

#[tokio::test]
async fn pr_21_a_switch_of_three_events_is_three_changes_and_the_middle_one_may_be_custom() {
    let (_world, session) = one("a");
    let (registry, _guards) = registry([permissions()]);
    let board = board(&registry, &session);
    let heard = Heard::default();
    heard.listen(&board);
    preset(&session, "danger-full-access");
    mode(&session, "danger-full-access");
    policy(&session, "never");
    let current = heard.take().into_iter().map(|(_, _, view)| {
        let view: serde_json::Value = serde_json::from_str(&view).expect("it is JSON");
        view["currentValue"].as_str().map(str::to_owned).expect("a word")
    });
    let current: Vec<_> = current.collect();
    assert_eq!(current, ["workspace-write", "custom", "danger-full-access"]);
}

#[tokio::test]
async fn pr_22_every_surface_reads_the_same_view() {
    let (_world, session) = one("a");
    let (registry, _guards) = registry([permissions()]);
    let (line, page) = (board(&registry, &session), board(&registry, &session));
    policy(&session, "never");
    let of = |board: &gatelog_validator::board::Board| board.view("permissions");
    assert_eq!(of(&line), of(&page));
    assert!(of(&line).expect("it is registered").contains(r#""approval":"never""#));
}
