//! Power cuts at every operation of an admission.

use super::embedded::open;
use super::pictures::{bytes, encoded, png, upload};
use super::support::{By, executed, with};
use crate::support::{Faults, Kind, World};
use gatelog_engine::backend::Durability;
use gatelog_engine::rules::Draft;
use gatelog_engine::storage::Sim;
use gatelog_engine::storage::sim::Choice;
use gatelog_interaction::agent::BoxError;
use gatelog_interaction::cancel::Cancel;
use gatelog_interaction::command::{
    AttachmentBlock, AttachmentId, AttachmentStore as _, CommandDefinition, CommandInvocation,
    CommandRegistry, CommandResult, ImageLimits, MediaType,
};
use gatelog_interaction::profile::Profile;
use gatelog_interaction::scope::Authority;
use gatelog_validator::rule::Profile as Rules;
use gatelog_validator::standard::Standard;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Crash states of a moment that are tried, about; with them always the one that keeps nothing and
/// the one that keeps all.
const TRIED: usize = 24;

/// Returns crash states of a moment, spread over all that there are.
fn states(moment: &Sim, seed: u64) -> Vec<(Choice, Sim)> {
    let mut states = moment.crash_states(TRIED, seed);
    let choices: Vec<Choice> = std::iter::from_fn(|| states.next_choice()).collect();
    // Odd, so that every unit is kept in some of them and lost in others.
    let step = (choices.len() / TRIED) | 1;
    let last = choices.len().saturating_sub(1);
    let is_tried = |at: usize| at.is_multiple_of(step) || at == last;
    let tried = choices.into_iter().enumerate().filter(|(at, _)| is_tried(*at));
    tried.map(|(_, choice)| (choice.clone(), states.state(&choice))).collect()
}

/// A reference that was returned by then, and what it stands for.
struct Promise {
    operation: u64,
    id: AttachmentId,
    data: Vec<u8>,
}

#[tokio::test]
async fn ca_09_a_reference_that_was_returned_outlives_every_power_cut() {
    let sim = Sim::new(3);
    sim.record_moments();
    let mut promises = Vec::new();
    {
        let store = open(&sim, ImageLimits::default());
        // The second batch has an image of the first again, and one of several sectors.
        let long = bytes(MediaType::Png, 2, 3, &[9; 1500]);
        for batch in [vec![png("a"), png("b")], vec![png("b"), long]] {
            let images = batch.iter().map(|data| upload(data.clone(), "image/png")).collect();
            let references = store.admit(images, Cancel::new()).await.expect("the disk is sound");
            let operation = sim.operations();
            promises.extend(references.into_iter().zip(batch).map(|(reference, data)| Promise {
                operation,
                id: reference.attachment_id,
                data,
            }));
        }
    }
    let moments = sim.take_moments();
    assert!(moments.len() > 20, "every operation is a moment: {}", moments.len());
    let (mut tried, mut kept) = (0_u64, 0_u64);
    for moment in moments {
        for (choice, state) in states(&moment, 5) {
            tried += 1;
            let store = open(&state, ImageLimits::default());
            for promise in &promises {
                let read = store.read(&promise.id).await;
                if promise.operation <= moment.operations() {
                    let data = read.unwrap_or_else(|error| {
                        panic!("after operation {}, {choice}: {error}", moment.operations())
                    });
                    assert!(data == promise.data, "after operation {}", moment.operations());
                    kept += 1;
                } else if let Ok(data) = read {
                    // It was not promised yet; what is there is whole all the same.
                    assert!(data == promise.data, "after operation {}", moment.operations());
                }
            }
        }
    }
    assert!(tried > 100 && kept > 100, "{tried} states, {kept} promises kept");
}

const CITED: &str = "test/cited";

/// Appends an event that cites the image of a command.
async fn cite(invocation: CommandInvocation) -> Result<CommandResult, BoxError> {
    let AttachmentBlock::Image(image) = &invocation.attachments[0] else { panic!("an image") };
    let data = format!(r#"{{"id":"{}"}}"#, image.attachment_id);
    let draft = Draft { ignorable: true, ..Draft::new(CITED, data) };
    let session = invocation.agent.session().clone();
    let append = move || session.append([draft], Durability::Written);
    tokio::task::spawn_blocking(append).await?.map_err(BoxError::from)?;
    Ok(CommandResult::success())
}

#[tokio::test]
async fn ca_09_no_log_cites_what_a_power_cut_could_take() {
    for kind in Kind::ALL {
        let rules = Standard::new(Rules::Strict);
        let world = World::of(kind, Rules::Strict, Profile::STRICT);
        let live = world.agent("a");
        // Log and attachments lie on one disk.
        world.sim.record_moments();
        let store = Arc::new(open(&world.sim, ImageLimits::default()));
        let registry = CommandRegistry::with_attachments(world.plane.clone(), store.clone());
        // Before the handler is entered nobody can have cited anything.
        let entered = Arc::new(AtomicU64::new(u64::MAX));
        let (sim, notes) = (world.sim.disk(), Arc::clone(&entered));
        let handler = By(move |invocation: CommandInvocation| {
            notes.store(sim.operations(), Ordering::Relaxed);
            cite(invocation)
        });
        let definition = CommandDefinition::new("x", "d", handler).with_attachments("pictures");
        let registrar = registry.registrar(Authority::Root);
        let _x = registrar.global(definition).expect("the name is free");
        let dispatch = registry.execute(live.agent(), "/x", with([encoded(&png("a"))])).await;
        let _execution = executed(dispatch);
        drop((registry, store));
        let mut cited = 0_u64;
        let entered = entered.load(Ordering::Relaxed);
        for moment in world.sim.take_moments() {
            if moment.operations() < entered {
                continue;
            }
            for (choice, state) in states(&moment, 6) {
                let log = crate::support::open(kind, &state, rules.clone(), &Faults::default());
                let mut ids = Vec::new();
                let read = log.read("a", 0, &mut |event| {
                    if event.kind == CITED {
                        let data: serde_json::Value =
                            serde_json::from_slice(event.data).expect("a payload is JSON");
                        ids.push(data["id"].as_str().expect("an id").to_owned());
                    }
                    ControlFlow::Continue(())
                });
                read.unwrap_or_else(|error| panic!("{kind:?}, {choice}: {error}"));
                let store = open(&state, ImageLimits::default());
                for id in ids {
                    let data = store.read(&AttachmentId::new(id)).await;
                    assert_eq!(data.expect("it is durable"), png("a"), "{kind:?}, {choice}");
                    cited += 1;
                }
            }
        }
        assert!(cited > 0, "{kind:?}: some power cut leaves the citation");
    }
}
