//! Any lawful interleaving of what this crate writes: S-189, S-190.

use super::reopened;
use crate::support::{Kind, World, end_turn, errors, forced, start_turn};
use gatelog_engine::store::Session;
use gatelog_interaction::approval::{
    ApprovalOutcome, ApprovalPolicy, ApprovalPort, ApprovalRequest, ApprovalService, KnobSource,
    answerer,
};
use gatelog_interaction::cancel::Cancel;
use gatelog_interaction::chain::Place;
use gatelog_interaction::command::{
    CommandDefinition, CommandHandler, CommandInvocation, CommandRegistry, CommandResult,
    ExecuteOptions,
};
use gatelog_interaction::preset::{ComposedDefaults, PresetService, PresetTable};
use gatelog_interaction::sandbox::{Sandbox, SandboxMode};
use gatelog_interaction::scope::Authority;
use gatelog_validator::board::{Board, Registry, Unit};
use gatelog_validator::projection::{Approvals, Commands, Composed, Turns};
use gatelog_validator::rule::Profile as Rules;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use std::sync::{Arc, Mutex};

/// One thing that somebody does.
#[derive(Clone, Copy, Debug)]
enum Op {
    Turn,
    Ask(u8),
    AskCancelled,
    AskAndDrain,
    Policy(bool),
    Mode(u8),
    Preset(u8),
    Command(bool),
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        2 => Just(Op::Turn),
        4 => (0..4_u8).prop_map(Op::Ask),
        1 => Just(Op::AskCancelled),
        1 => Just(Op::AskAndDrain),
        1 => any::<bool>().prop_map(Op::Policy),
        1 => (0..3_u8).prop_map(Op::Mode),
        2 => (0..3_u8).prop_map(Op::Preset),
        2 => any::<bool>().prop_map(Op::Command),
    ]
}

/// Says yes or no.
struct Says;

#[async_trait::async_trait]
impl CommandHandler for Says {
    async fn run(
        &self,
        invocation: CommandInvocation,
    ) -> Result<CommandResult, gatelog_interaction::agent::BoxError> {
        match invocation.raw_input.trim() {
            "no" => Ok(CommandResult::error("no").ok_or("it says something")?),
            _ => Ok(CommandResult::text("yes")),
        }
    }
}

/// Everything that writes, over one session.
struct Writers {
    world: World,
    approvals: ApprovalService,
    presets: PresetService,
    sandbox: Sandbox,
    commands: CommandRegistry,
    live: gatelog_interaction::agent::LiveAgent,
    /// What the answerer says next; nothing: it waits for ever.
    says: Arc<Mutex<Option<ApprovalOutcome>>>,
    turn: u64,
    is_open: bool,
}

impl Writers {
    fn new() -> Self {
        let world = World::new();
        let approvals = ApprovalService::new(&world.plane, None);
        let composed = ComposedDefaults::of_mode(SandboxMode::WorkspaceWrite);
        let presets = PresetService::new(&world.plane, PresetTable::shipped(), composed, None);
        let presets = presets.expect("composed");
        let sandbox = Sandbox::new(&world.plane, None, None);
        let commands = CommandRegistry::new(world.plane.clone());
        let definition = CommandDefinition::new("say", "Says yes, or no.", Says);
        commands.registrar(Authority::Root).global(definition).expect("lawful").keep();
        let live = world.agent("a");
        let says = Arc::new(Mutex::new(None));
        let said = Arc::clone(&says);
        let answer = answerer(move |_| {
            let said = *said.lock().expect("sound");
            async move {
                match said {
                    Some(outcome) => Some(outcome),
                    None => std::future::pending().await,
                }
            }
        });
        approvals.registrar(Authority::Root).global(Place::Last, answer).expect("root may").keep();
        let (turn, is_open) = (0, false);
        Self { world, approvals, presets, sandbox, commands, live, says, turn, is_open }
    }

    fn session(&self) -> &Session {
        self.live.agent().session()
    }

    fn wish(&self) -> ApprovalRequest {
        ApprovalRequest::new(self.live.agent(), "shell")
    }

    async fn toggle_turn(&mut self) {
        if self.is_open {
            self.approvals.drain_turn(self.session()).await.expect("written");
            end_turn(self.session(), self.turn);
        } else {
            self.turn += 1;
            start_turn(self.session(), self.turn);
        }
        self.is_open = !self.is_open;
    }

    async fn run(&mut self, op: Op) {
        match op {
            Op::Turn => self.toggle_turn().await,
            Op::Ask(outcome) => {
                let outcome = ApprovalOutcome::ALL[usize::from(outcome)];
                *self.says.lock().expect("sound") = Some(outcome);
                let asked = self.approvals.request(self.wish()).await;
                assert_eq!(asked.is_ok(), self.is_open, "legal in a turn and nowhere else");
            }
            Op::AskCancelled => {
                let cancel = Cancel::new();
                cancel.cancel();
                let asked = self.approvals.request(self.wish().until(cancel)).await;
                assert_eq!(asked.is_ok(), self.is_open);
            }
            Op::AskAndDrain => {
                *self.says.lock().expect("sound") = None;
                let (service, wish) = (self.approvals.clone(), self.wish());
                let asking = tokio::spawn(async move { service.request(wish).await });
                if self.is_open {
                    // Under `never` it is over before anybody could drain it.
                    while self.approvals.pending() == 0 && !asking.is_finished() {
                        tokio::task::yield_now().await;
                    }
                    self.approvals.drain_turn(self.session()).await.expect("written");
                }
                assert_eq!(asking.await.expect("no panic").is_ok(), self.is_open);
            }
            Op::Policy(never) => {
                let policy = if never { ApprovalPolicy::Never } else { ApprovalPolicy::Ask };
                let set =
                    self.approvals.set_session_policy(self.session(), policy, KnobSource::User);
                set.await.expect("written");
            }
            Op::Mode(mode) => {
                let mode = SandboxMode::ALL[usize::from(mode)];
                self.sandbox
                    .set_mode(self.session(), mode, KnobSource::User)
                    .await
                    .expect("written");
            }
            Op::Preset(preset) => {
                let name = SandboxMode::ALL[usize::from(preset)].word();
                self.presets.set(self.session(), name).await.expect("written");
            }
            Op::Command(fails) => {
                let line = if fails { "/say no" } else { "/say yes" };
                let options = ExecuteOptions::default();
                let done = self.commands.execute(self.live.agent(), line, options).await;
                assert!(done.is_ok(), "{done:?}");
            }
        }
    }
}

fn units(presets: &PresetService) -> (Registry, Vec<gatelog_validator::board::Registered>) {
    let registry = Registry::new();
    let presets = presets.clone();
    let units = [
        Unit::of(move || presets.projection()),
        Unit::of(|| Approvals::new(Composed::default())),
        Unit::of(Commands::default),
        Unit::of(Turns::default),
    ];
    let guards = units.map(|unit| registry.register(unit).expect("the keys differ"));
    (registry, guards.into())
}

/// Errors of a strict reader. A command that a crash cut off, and a switch that it cut in two, are
/// warnings: the first is lawful, and of the second the knobs are what is in force.
fn faults(sim: &gatelog_engine::storage::Sim) -> Vec<String> {
    let errors = errors(Kind::Native, sim, Rules::Strict).into_iter();
    let is_cut = |error: &String| {
        ["command/never-done", "permission/triple-mismatch"].iter().any(|it| error.contains(it))
    };
    errors.filter(|error| !is_cut(error)).collect()
}

async fn replayed(ops: &[Op]) -> Result<(), TestCaseError> {
    let mut writers = Writers::new();
    let (registry, _guards) = units(&writers.presets);
    let header = crate::support::header("a");
    let board = Board::follow(&registry, writers.session(), header.clone()).expect("free");
    for op in ops {
        writers.run(*op).await;
    }
    if writers.is_open {
        writers.toggle_turn().await;
    }
    let live = board.snapshot().expect("readable");
    let of_service = writers.presets.view(writers.session()).await.expect("readable");
    let (_, store) = reopened(Kind::Native, &writers.world.sim, Rules::Strict);
    let session = store.session("a").expect("it is sound");
    let cold = Board::follow(&registry, &session, header).expect("free");
    prop_assert_eq!(&live, &cold.snapshot().expect("readable"));
    let shown = live.get("permissions").expect("it is registered");
    let shown: serde_json::Value = serde_json::from_str(shown).expect("JSON");
    for key in ["options", "currentValue", "sandbox", "approval"] {
        prop_assert_eq!(&shown[key], &of_service[key]);
    }
    prop_assert_eq!(faults(&writers.world.sim), Vec::<String>::new());
    Ok(())
}

async fn cut(ops: &[Op]) -> Result<(), TestCaseError> {
    let mut writers = Writers::new();
    for op in ops {
        writers.run(*op).await;
    }
    let events = writers.world.events("a");
    let drafts: Vec<_> =
        events.iter().map(|seen| (seen.kind.clone(), seen.data.to_string())).collect();
    for length in 0..=drafts.len() {
        let sim = forced(&drafts[..length]);
        let (sim, store) = reopened(Kind::Native, &sim, Rules::Strict);
        let session = store.session("a").expect("it is recovered");
        let registry = Registry::new();
        let _unit = registry.register(Unit::of(|| Approvals::new(Composed::default())));
        let header = crate::support::header("a");
        let board = Board::follow(&registry, &session, header).expect("free");
        let view = board.view("approvals").expect("it is registered");
        let view: serde_json::Value = serde_json::from_str(&view).expect("JSON");
        prop_assert_eq!(view["open"].as_array().map(Vec::len), Some(0), "cut at {}", length);
        // Granted is only what was decided so before the cut.
        let granted =
            |kind: &str, data: &str| kind == "approval/decided" && data.contains("allowed-once");
        let before = drafts[..length].iter().filter(|(kind, data)| granted(kind, data)).count();
        let decided = view["decided"].as_array().expect("a list").iter();
        let shown = decided.filter(|it| it["outcome"] == "allowed-once").count();
        prop_assert_eq!(shown, before, "cut at {}", length);
        store.close().expect("the disk is sound");
        prop_assert_eq!(faults(&sim), Vec::<String>::new(), "cut at {}", length);
    }
    Ok(())
}

/// How many cases are tried; `PROPTEST_CASES` asks for more.
fn runner(cases: u32) -> TestRunner {
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    TestRunner::new(Config { cases: asked.unwrap_or(cases), ..Config::default() })
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")
}

#[test]
fn s_189_any_interleaving_replays_to_the_live_state_and_is_strict() {
    let ops = proptest::collection::vec(op(), 1..200);
    let run = |ops: Vec<Op>| runtime().block_on(replayed(&ops));
    runner(12).run(&ops, run).unwrap_or_else(|failed| panic!("{failed}"));
}

#[test]
fn s_190_any_prefix_is_repaired_and_shows_no_grant_that_was_not_decided() {
    let ops = proptest::collection::vec(op(), 1..25);
    let run = |ops: Vec<Op>| runtime().block_on(cut(&ops));
    runner(8).run(&ops, run).unwrap_or_else(|failed| panic!("{failed}"));
}
