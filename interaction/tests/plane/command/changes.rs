//! Who is told that commands came and went.

use super::support::{Desk, never};
use gatelog_interaction::agent::BoxError;
use gatelog_interaction::command::{CommandDefinition, CommandRegistry, CommandsObserver};
use gatelog_interaction::internal::Site;
use gatelog_interaction::scope::{Authority, Scope};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

type Act = Box<dyn Fn() -> Result<(), BoxError> + Send + Sync>;

/// Counts what it is told, and then does as it is made to.
struct Hears(AtomicUsize, Act);

impl CommandsObserver for Hears {
    fn changed(&self) -> Result<(), BoxError> {
        self.0.fetch_add(1, Ordering::Relaxed);
        (self.1)()
    }
}

fn hears(act: impl Fn() -> Result<(), BoxError> + Send + Sync + 'static) -> Arc<Hears> {
    Arc::new(Hears(AtomicUsize::new(0), Box::new(act)))
}

impl Hears {
    fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

fn command(name: &str) -> CommandDefinition {
    CommandDefinition::new(name, "d", never())
}

#[tokio::test]
async fn cr_16_every_observer_is_told_of_each_change_once() {
    let desk = Desk::new();
    let observers = [hears(|| Ok(())), hears(|| Ok(()))];
    let _guards =
        observers.each_ref().map(|observer| desk.registry.observe(Arc::<Hears>::clone(observer)));
    let told = || observers.each_ref().map(|observer| observer.count());
    let registrar = desk.registry.registrar(Authority::Root);
    let global = registrar.global(command("x")).expect("free");
    assert_eq!(told(), [1, 1]);
    // Of a scope that has no agents, too.
    let scoped = registrar.scoped(&Scope::new("s"), command("x")).expect("free");
    assert_eq!(told(), [2, 2]);
    drop(global);
    drop(scoped);
    assert_eq!(told(), [4, 4]);
    registrar.global(command("X")).expect_err("it is no name");
    assert_eq!(told(), [4, 4], "nothing changed");
}

#[tokio::test]
async fn cr_16_an_observer_that_went_is_told_nothing() {
    let desk = Desk::new();
    let (first, second) = (hears(|| Ok(())), hears(|| Ok(())));
    let guard = desk.registry.observe(first.clone());
    let _other = desk.registry.observe(second.clone());
    let _x = desk.global(command("x"));
    drop(guard);
    let _third = desk.registry.observe(hears(|| Ok(())));
    let _y = desk.global(command("y"));
    assert_eq!((first.count(), second.count()), (1, 2));
}

#[tokio::test]
async fn cr_16_a_watcher_sees_that_something_changed() {
    let desk = Desk::new();
    let mut watch = desk.registry.watch();
    assert!(!watch.has_changed().expect("the registry is there"));
    let x = desk.global(command("x"));
    drop(x);
    watch.changed().await.expect("the registry is there");
    assert_eq!(*watch.borrow_and_update(), 2, "two changes are one to a slow reader");
    assert!(!watch.has_changed().expect("the registry is there"));
}

#[tokio::test]
async fn cr_17_an_observer_that_fails_is_reported_and_starves_nobody() {
    let desk = Desk::new();
    let panics = hears(|| panic!("no"));
    let fails = hears(|| Err("never".into()));
    let last = hears(|| Ok(()));
    let _guards = [
        desk.registry.observe(panics.clone()),
        desk.registry.observe(fails.clone()),
        desk.registry.observe(last.clone()),
    ];
    let _x = desk.global(command("x"));
    assert_eq!((panics.count(), fails.count(), last.count()), (1, 1, 1));
    let reported = desk.world.sink.at(Site::CommandsChanged);
    let texts: Vec<_> = reported.iter().map(|error| error.error.to_string()).collect();
    assert_eq!(
        texts,
        ["commands/change listener threw: no", "commands/change listener rejected: never"]
    );
    assert_eq!(desk.registry.list(desk.agent()).len(), 1, "the change stands");
}

#[tokio::test]
async fn cr_17_an_observer_may_use_the_registry() {
    let desk = Desk::new();
    let held: Arc<Mutex<Vec<_>>> = Arc::default();
    let (registry, kept): (CommandRegistry, _) = (desk.registry.clone(), Arc::clone(&held));
    let agent = desk.agent().clone();
    let observer = hears(move || {
        if registry.get(&agent, "y").is_none() {
            let registrar = registry.registrar(Authority::Root);
            let guard = registrar.global(command("y")).expect("free");
            kept.lock().expect("sound").push(guard);
        }
        Ok(())
    });
    let _guard = desk.registry.observe(observer.clone());
    let _x = desk.global(command("x"));
    assert_eq!(observer.count(), 2, "of x, and of y from within");
    assert_eq!(desk.registry.list(desk.agent()).len(), 2);
}

#[tokio::test]
async fn cr_18_a_failing_notification_takes_nothing_back() {
    let desk = Desk::new();
    let _guard = desk.registry.observe(hears(|| panic!("no")));
    let mut x = desk.global(command("x"));
    assert!(desk.registry.get(desk.agent(), "x").is_some(), "the insertion stands");
    assert!(x.withdraw(), "and so does the removal");
    assert!(desk.registry.get(desk.agent(), "x").is_none());
    assert_eq!(desk.world.sink.at(Site::CommandsChanged).len(), 2);
}

#[tokio::test]
async fn s_125_a_registration_succeeds_past_an_observer_that_fails() {
    let desk = Desk::new();
    let second = hears(|| Ok(()));
    let _guards =
        [desk.registry.observe(hears(|| panic!("first"))), desk.registry.observe(second.clone())];
    let registered = desk.registry.registrar(Authority::Root).global(command("x"));
    let _x = registered.expect("nobody vetoes");
    assert_eq!(second.count(), 1);
}
