//! Power cuts at every operation of an admission.

use super::embedded::open;
use super::pictures::{bytes, encoded, png, upload};
use super::support::{By, executed, with};
use crate::support::{Faults, Kind, World};
use gatelog_engine::backend::Durability;
use gatelog_engine::rules::Draft;
use gatelog_engine::storage::Sim;
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

/// Crash states of a moment that are drawn where there are too many for all.
const DRAWN: usize = 16;

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
    let (mut states, mut kept) = (0_u64, 0_u64);
    for moment in moments {
        for (choice, state) in moment.crash_states(DRAWN, 5) {
            states += 1;
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
    assert!(states > 100 && kept > 100, "{states} states, {kept} promises kept");
}

const CITED: &str = "test/cited";

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
        let cites = By(|invocation: CommandInvocation| async move {
            let AttachmentBlock::Image(image) = &invocation.attachments[0] else {
                panic!("an image")
            };
            let data = format!(r#"{{"id":"{}"}}"#, image.attachment_id);
            let draft = Draft { ignorable: true, ..Draft::new(CITED, data) };
            let session = invocation.agent.session().clone();
            let append = move || session.append([draft], Durability::Written);
            tokio::task::spawn_blocking(append).await?.map_err(BoxError::from)?;
            Ok(CommandResult::success())
        });
        let definition = CommandDefinition::new("x", "d", cites).with_attachments("pictures");
        let registrar = registry.registrar(Authority::Root);
        let _x = registrar.global(definition).expect("the name is free");
        let dispatch = registry.execute(live.agent(), "/x", with([encoded(&png("a"))])).await;
        let _execution = executed(dispatch);
        drop((registry, store));
        let mut cited = 0_u64;
        for moment in world.sim.take_moments() {
            for (choice, state) in moment.crash_states(DRAWN, 6) {
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
