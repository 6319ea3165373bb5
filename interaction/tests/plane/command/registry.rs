//! Who sees which command.

use super::support::{By, Desk, driven, never, says};
use crate::support::Kind;
use gatelog_interaction::agent::{Agent, NoticeQueue};
use gatelog_interaction::command::{
    CommandDefinition, CommandRegisterError, CommandResult, Dispatch, ExecuteOptions,
};
use gatelog_interaction::profile::Profile;
use gatelog_interaction::scope::{Authority, RegisterError, Scope};
use std::sync::Arc;

fn says_so(name: &str, text: &str) -> CommandDefinition {
    CommandDefinition::new(name, text, says(CommandResult::text(text)))
}

async fn said(desk: &Desk, agent: &Agent, line: &str) -> Option<String> {
    let dispatch = desk.registry.execute(agent, line, ExecuteOptions::default()).await;
    match dispatch.expect("it comes to a result") {
        Dispatch::NotMatched => None,
        Dispatch::Executed(execution) => execution.result.shown().map(str::to_owned),
    }
}

fn names(desk: &Desk, agent: &Agent) -> Vec<String> {
    desk.registry.list(agent).iter().map(|of| of.name.to_string()).collect()
}

#[tokio::test]
async fn cr_07_a_global_command_is_everybodys_and_a_scoped_one_its_scopes() {
    let desk = Desk::new();
    let other = desk.world.agent("b");
    let root = desk.registry.registrar(Authority::Root);
    let scope = desk.agent().scope();
    let _g = root.global(says_so("g", "global")).expect("free");
    let own = desk.registry.registrar(Authority::Within(scope.clone()));
    let _s = own.scoped(scope, says_so("s", "scoped")).expect("free");
    assert_eq!(names(&desk, desk.agent()), ["g", "s"]);
    assert_eq!(names(&desk, other.agent()), ["g"]);
    assert_eq!(said(&desk, other.agent(), "/s").await, None);

    let refused = own.global(says_so("t", "t")).expect_err("it is scoped");
    assert!(matches!(refused, CommandRegisterError::Scope(RegisterError::NotGlobal { .. })));
    let refused = own.scoped(other.agent().scope(), says_so("t", "t")).expect_err("not its own");
    assert!(matches!(refused, CommandRegisterError::Scope(RegisterError::ForeignScope { .. })));
}

#[tokio::test]
async fn cr_08_a_scoped_command_shadows_a_global_one() {
    let desk = Desk::new();
    let other = desk.world.agent("b");
    let root = desk.registry.registrar(Authority::Root);
    let _s = root.scoped(desk.agent().scope(), says_so("x", "scoped")).expect("free");
    let _g = root.global(says_so("x", "global")).expect("free");
    assert_eq!(said(&desk, desk.agent(), "/x").await.as_deref(), Some("scoped"));
    assert_eq!(said(&desk, other.agent(), "/x").await.as_deref(), Some("global"));
}

#[tokio::test]
async fn cr_09_the_nearest_scope_wins_in_whatever_order_they_came() {
    let desk = Desk::new();
    let root = desk.registry.registrar(Authority::Root);
    let (far, own) = (&desk.world.root, desk.agent().scope());
    let near = own.child("near").expect("three deep");
    let session = desk.agent().session().clone();
    let deep = Agent::new("deep", session, near.clone(), Arc::new(NoticeQueue::default()));
    let _deep = desk.world.agents.enter(deep.clone(), None);
    let mut guards = vec![
        root.scoped(&near, says_so("x", "near")).expect("free"),
        root.scoped(own, says_so("x", "own")).expect("free"),
        root.scoped(far, says_so("x", "far")).expect("free"),
        root.global(says_so("x", "global")).expect("free"),
    ];
    for wins in ["near", "own", "far", "global"] {
        let listed = desk.registry.list(&deep);
        assert_eq!(listed.len(), 1);
        assert_eq!(listed[0].description, wins);
        assert_eq!(said(&desk, &deep, "/x").await.as_deref(), Some(wins));
        drop(guards.remove(0));
    }
    assert_eq!(names(&desk, &deep), Vec::<String>::new());
}

#[tokio::test]
async fn cr_10_a_name_is_taken_once_in_each_layer() {
    let desk = Desk::new();
    let root = desk.registry.registrar(Authority::Root);
    let _g = root.global(says_so("x", "first")).expect("free");
    let refused = root.global(says_so("x", "second")).expect_err("taken");
    assert_eq!(
        refused.to_string(),
        "command \"x\" is already registered (for a per-agent variant, mount a command-injected \
         plugin under that agent's `agent.ctx`)"
    );
    let scope = desk.agent().scope();
    let _s = root.scoped(scope, says_so("x", "third")).expect("another layer");
    let refused = root.scoped(scope, says_so("x", "fourth")).expect_err("taken");
    assert_eq!(refused.to_string(), "command \"x\" is already registered in this scope");
    assert_eq!(said(&desk, desk.agent(), "/x").await.as_deref(), Some("third"));
}

#[tokio::test]
async fn cr_11_a_guard_removes_its_own_command_and_no_later_one() {
    let desk = Desk::new();
    let changes = desk.registry.watch();
    let mut first = desk.global(says_so("x", "first"));
    assert!(first.withdraw());
    assert!(!first.withdraw(), "a second time does nothing");
    let _second = desk.global(says_so("x", "second"));
    assert!(!first.withdraw());
    drop(first);
    assert_eq!(*changes.borrow(), 3, "two registrations, one removal");
    assert_eq!(said(&desk, desk.agent(), "/x").await.as_deref(), Some("second"));
    desk.global(says_so("y", "kept")).keep();
    assert_eq!(names(&desk, desk.agent()), ["x", "y"]);
}

#[tokio::test]
async fn cr_12_a_scope_that_goes_un_shadows_what_is_global() {
    let desk = Desk::new();
    let root = desk.registry.registrar(Authority::Root);
    let scope = desk.agent().scope().clone();
    let _g = root.global(says_so("x", "global")).expect("free");
    let _s = root.scoped(&scope, says_so("x", "scoped")).expect("free");
    let _t = root.scoped(&scope, says_so("t", "scoped")).expect("free");
    assert_eq!(names(&desk, desk.agent()), ["t", "x"]);
    scope.release().await;
    assert_eq!(names(&desk, desk.agent()), ["x"]);
    assert_eq!(said(&desk, desk.agent(), "/x").await.as_deref(), Some("global"));
    let _new = root.scoped(&scope, says_so("x", "new")).expect("the layer is another one");
    assert_eq!(said(&desk, desk.agent(), "/x").await.as_deref(), Some("new"));
}

#[tokio::test]
async fn cr_12_a_scope_drains_when_the_last_handler_of_it_has_returned() {
    let desk = Desk::new();
    let scope = desk.agent().scope().clone();
    let (handler, mut entered) = driven();
    let root = desk.registry.registrar(Authority::Root);
    let _x = root.scoped(&scope, CommandDefinition::new("x", "d", handler)).expect("free");
    let running = desk.spawn("/x", ExecuteOptions::default());
    let entered = entered.recv().await.expect("it is entered");
    let replaced = scope.publish();
    assert_eq!(replaced.leases(), 1, "the command holds what it began with");
    assert!(entered.reply(Ok(CommandResult::success())));
    replaced.drained().await;
    let _execution = super::support::executed(running.await.expect("no panic"));
    desk.assert_lawful();
}

#[tokio::test]
async fn cr_13_a_layer_is_there_for_as_long_as_it_holds_something() {
    let desk = Desk::new();
    let root = desk.registry.registrar(Authority::Root);
    let scope = Scope::new("s");
    let first = root.scoped(&scope, says_so("x", "x")).expect("free");
    let second = root.scoped(&scope, says_so("y", "y")).expect("free");
    let global = root.global(says_so("x", "x")).expect("free");
    assert_eq!(desk.registry.layers(), 2);
    drop(first);
    assert_eq!(desk.registry.layers(), 2, "the other command is still there");
    drop(second);
    assert_eq!(desk.registry.layers(), 1);
    drop(global);
    assert_eq!(desk.registry.layers(), 0);
}

#[tokio::test]
async fn cr_14_a_list_is_sorted_by_code_units_and_does_not_change() {
    let desk = Desk::new();
    let _guards: Vec<_> = ["b", "a_", "a-", "a", "aa", "a0", "z1"]
        .map(|name| desk.global(CommandDefinition::new(name, "d", never())))
        .into();
    let listed = desk.registry.list(desk.agent());
    assert_eq!(names(&desk, desk.agent()), ["a", "a-", "a0", "a_", "aa", "b", "z1"]);
    let _c = desk.global(CommandDefinition::new("c", "d", never()));
    assert_eq!(listed.len(), 7);
    assert!(Arc::ptr_eq(&listed[0], &desk.registry.list(desk.agent())[0]));
}

#[tokio::test]
async fn cr_15_a_name_finds_what_would_be_run() {
    let desk = Desk::new();
    let root = desk.registry.registrar(Authority::Root);
    let _g = root.global(says_so("x", "global")).expect("free");
    let scoped = root.scoped(desk.agent().scope(), says_so("x", "scoped")).expect("free");
    let found = |name| desk.registry.get(desk.agent(), name).map(|of| of.description.clone());
    assert_eq!(found("x").as_deref(), Some("scoped"));
    drop(scoped);
    assert_eq!(found("x").as_deref(), Some("global"));
    assert_eq!(found("y"), None);
    assert_eq!(found("/x"), None);
}

#[tokio::test]
async fn s_123_a_scoped_command_stands_once_and_gives_way() {
    let desk = Desk::new();
    let root = desk.registry.registrar(Authority::Root);
    let _g = root.global(says_so("x", "global")).expect("free");
    let scoped = root.scoped(desk.agent().scope(), says_so("x", "scoped")).expect("free");
    assert_eq!(names(&desk, desk.agent()), ["x"]);
    assert_eq!(desk.registry.list(desk.agent())[0].description, "scoped");
    assert_eq!(said(&desk, desk.agent(), "/x").await.as_deref(), Some("scoped"));
    drop(scoped);
    assert_eq!(desk.registry.list(desk.agent())[0].description, "global");
    assert_eq!(said(&desk, desk.agent(), "/x").await.as_deref(), Some("global"));
    desk.assert_lawful();
}

#[tokio::test]
async fn s_124_the_first_of_a_name_stays() {
    let desk = Desk::new();
    let root = desk.registry.registrar(Authority::Root);
    let _first = root.global(says_so("x", "first")).expect("free");
    let by = By(|_| async { panic!("it was never registered") });
    let second = CommandDefinition::new("x", "second", by);
    let refused = root.global(second.clone()).expect_err("taken");
    assert!(matches!(&refused, CommandRegisterError::DuplicateGlobal(name) if name == "x"));
    let scope = desk.agent().scope();
    let mut scoped = root.scoped(scope, says_so("x", "scoped")).expect("another layer");
    let refused = root.scoped(scope, second).expect_err("taken");
    assert!(matches!(&refused, CommandRegisterError::DuplicateScoped(name) if name == "x"));
    assert_eq!(said(&desk, desk.agent(), "/x").await.as_deref(), Some("scoped"));
    scoped.withdraw();
    assert_eq!(said(&desk, desk.agent(), "/x").await.as_deref(), Some("first"));
    desk.assert_lawful();
}

#[tokio::test]
async fn s_079_two_agents_run_commands_of_one_name_at_once() {
    for kind in Kind::ALL {
        let desk = Desk::of(kind, Profile::STRICT, None);
        let other = desk.world.agent("b");
        let root = desk.registry.registrar(Authority::Root);
        let ((one, mut ones), (two, mut twos)) = (driven(), driven());
        let one = CommandDefinition::new("x", "d", one);
        let _one = root.scoped(desk.agent().scope(), one).expect("free");
        let two = CommandDefinition::new("x", "d", two);
        let _two = root.scoped(other.agent().scope(), two).expect("free");
        let first = desk.spawn("/x", ExecuteOptions::default());
        let (registry, agent) = (desk.registry.clone(), other.agent().clone());
        let second =
            tokio::spawn(
                async move { registry.execute(&agent, "/x", ExecuteOptions::default()).await },
            );
        // Both run before either is done.
        let one = ones.recv().await.expect("it is entered");
        let two = twos.recv().await.expect("it is entered");
        assert_eq!(one.invocation.agent, *desk.agent(), "{kind:?}");
        assert_eq!(two.invocation.agent, *other.agent(), "{kind:?}");
        let ids = [one.invocation.id.to_string(), two.invocation.id.to_string()];
        assert!(two.reply(Ok(CommandResult::text("two"))));
        assert!(one.reply(Ok(CommandResult::text("one"))));
        for (running, text) in [(first, "one"), (second, "two")] {
            let execution = super::support::executed(running.await.expect("no panic"));
            assert_eq!(execution.result, CommandResult::text(text), "{kind:?}");
        }
        for (session, id) in ["a", "b"].into_iter().zip(ids) {
            let events = desk.world.events(session);
            let seen: Vec<_> =
                events.iter().map(|of| (of.kind.as_str(), &of.data["commandId"])).collect();
            let id = serde_json::json!(id);
            assert_eq!(seen, [("command/run", &id), ("command/done", &id)], "{kind:?}");
        }
        desk.assert_lawful();
    }
}
