//! A session with a registry, handlers that tests drive, stores that remember.

use crate::support::{Faults, Kind, Seen, World};
use async_trait::async_trait;
use gatelog_interaction::agent::{Agent, BoxError, LiveAgent};
use gatelog_interaction::cancel::Cancel;
use gatelog_interaction::command::{
    Attachment, AttachmentId, AttachmentStore, CommandDefinition, CommandError, CommandExecution,
    CommandHandler, CommandInvocation, CommandRegistration, CommandRegistry, CommandResult,
    Dispatch, EncodedImage, ExecuteOptions, ImageRef, ImageUpload, MediaType, StoreFailure,
};
use gatelog_interaction::profile::Profile;
use gatelog_interaction::scope::Authority;
use gatelog_validator::rule::Profile as Rules;
use gatelog_validator::standard::Standard;
use serde_json::Value;
use std::future::Future;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};
use tokio::sync::{mpsc, oneshot};

/// A session, its agent, and the commands of its host.
pub(super) struct Desk {
    pub(super) world: World,
    pub(super) live: LiveAgent,
    pub(super) registry: CommandRegistry,
}

impl Desk {
    pub(super) fn new() -> Self {
        Self::of(Kind::Native, Profile::STRICT, None)
    }

    pub(super) fn of(
        kind: Kind,
        profile: Profile,
        store: Option<Arc<dyn AttachmentStore>>,
    ) -> Self {
        let world = World::of(kind, Rules::Strict, profile);
        let live = world.agent("a");
        let plane = world.plane.clone();
        let registry = match store {
            Some(store) => CommandRegistry::with_attachments(plane, store),
            None => CommandRegistry::new(plane),
        };
        Self { world, live, registry }
    }

    pub(super) fn agent(&self) -> &Agent {
        self.live.agent()
    }

    pub(super) fn faults(&self) -> &Faults {
        &self.world.faults
    }

    /// Registers a command for everybody.
    pub(super) fn global(&self, definition: CommandDefinition) -> CommandRegistration {
        let registrar = self.registry.registrar(Authority::Root);
        registrar.global(definition).expect("the definition is sound and the name is free")
    }

    /// Registers `/x` for everybody.
    pub(super) fn x(&self, handler: impl CommandHandler) -> CommandRegistration {
        self.global(CommandDefinition::new("x", "does x", handler))
    }

    pub(super) async fn execute(&self, line: &str) -> Result<Dispatch, CommandError> {
        self.with(line, ExecuteOptions::default()).await
    }

    pub(super) async fn with(
        &self,
        line: &str,
        options: ExecuteOptions,
    ) -> Result<Dispatch, CommandError> {
        self.registry.execute(self.agent(), line, options).await
    }

    /// Executes a line in a task of its own.
    pub(super) fn spawn(
        &self,
        line: &'static str,
        options: ExecuteOptions,
    ) -> tokio::task::JoinHandle<Result<Dispatch, CommandError>> {
        let (registry, agent) = (self.registry.clone(), self.agent().clone());
        tokio::spawn(async move { registry.execute(&agent, line, options).await })
    }

    /// Executes a line that comes to a result.
    pub(super) async fn done(&self, line: &str) -> CommandExecution {
        executed(self.execute(line).await)
    }

    /// Returns the command events, as pairs of type and payload.
    pub(super) fn log(&self) -> Vec<(String, Value)> {
        let events: Vec<Seen> = self.world.events_of("a", "command/");
        events.into_iter().map(|seen| (seen.kind, seen.data)).collect()
    }

    /// Returns the types of the events that a power cut would leave now, at the worst.
    pub(super) fn kinds_on_the_device(&self) -> Vec<String> {
        let device = self.world.sim.power_cut(|_| false);
        let rules = Standard::new(Rules::Strict);
        let store = crate::support::open(self.world.kind, &device, rules, &Faults::default());
        let mut kinds = Vec::new();
        let read = store.read("a", 0, &mut |event| {
            kinds.push(event.kind.to_owned());
            ControlFlow::Continue(())
        });
        read.expect("the disk is sound");
        kinds
    }

    /// Returns the payloads of `command/done`.
    pub(super) fn dones(&self) -> Vec<Value> {
        let dones = self.log().into_iter().filter(|(kind, _)| kind == "command/done");
        dones.map(|(_, data)| data).collect()
    }

    /// Returns the text of the one `command/done`, which is of an error.
    pub(super) fn error_text(&self) -> String {
        let dones = self.dones();
        let [done] = &dones[..] else { panic!("one command/done, and not {dones:?}") };
        assert_eq!(done["kind"], "error");
        done["text"].as_str().expect("an error has a text").to_owned()
    }

    /// Returns the rules that the stored log breaks under the strict profile, one that has no end
    /// yet apart.
    pub(super) fn errors(&self) -> Vec<String> {
        let errors = self.world.errors(Rules::Strict).into_iter();
        errors.filter(|error| !error.contains("command/never-done")).collect()
    }

    /// Asserts that each command has its end and that a cold verification finds nothing.
    pub(super) fn assert_lawful(&self) {
        assert_eq!(self.world.errors(Rules::Strict), Vec::<String>::new());
    }
}

pub(super) fn executed(dispatch: Result<Dispatch, CommandError>) -> CommandExecution {
    match dispatch.expect("the command comes to a result") {
        Dispatch::Executed(execution) => execution,
        Dispatch::NotMatched => panic!("the line is a command"),
    }
}

/// A handler that is a function.
pub(super) struct By<F>(pub(super) F);

#[async_trait]
impl<F, R> CommandHandler for By<F>
where
    F: Fn(CommandInvocation) -> R + Send + Sync + 'static,
    R: Future<Output = Result<CommandResult, BoxError>> + Send + 'static,
{
    async fn run(&self, invocation: CommandInvocation) -> Result<CommandResult, BoxError> {
        (self.0)(invocation).await
    }
}

/// A handler that always says the same.
pub(super) fn says(result: CommandResult) -> impl CommandHandler {
    By(move |_| std::future::ready(Ok(result.clone())))
}

pub(super) fn succeeds() -> impl CommandHandler {
    says(CommandResult::success())
}

/// A handler that fails a test that enters it.
pub(super) fn never() -> impl CommandHandler {
    By(|_| async { panic!("the handler is not to be entered") })
}

/// A handler that was entered and waits for what the test makes of it.
pub(super) struct Entered {
    pub(super) invocation: CommandInvocation,
    reply: oneshot::Sender<Result<CommandResult, BoxError>>,
}

impl Entered {
    /// Has the handler return. Returns whether it was still there.
    pub(super) fn reply(self, reply: Result<CommandResult, BoxError>) -> bool {
        self.reply.send(reply).is_ok()
    }

    /// Returns whether the handler was dropped.
    pub(super) fn is_gone(&self) -> bool {
        self.reply.is_closed()
    }
}

/// Makes a handler that a test drives.
pub(super) fn driven() -> (impl CommandHandler, mpsc::UnboundedReceiver<Entered>) {
    let (entries, entered) = mpsc::unbounded_channel();
    let handler = By(move |invocation| {
        let (reply, replied) = oneshot::channel();
        entries.send(Entered { invocation, reply }).expect("the test listens");
        async move { replied.await.expect("the test replies") }
    });
    (handler, entered)
}

/// Gives everything else that is ready its turn.
pub(super) async fn settle() {
    for _ in 0..16 {
        tokio::task::yield_now().await;
    }
}

/// What a [`Shelf`] does with the next batch.
pub(super) type Verdict = Result<(), StoreFailure>;

/// A store that remembers what it was given, and whose answers a test may hold back.
#[derive(Default)]
pub(super) struct Shelf {
    pub(super) batches: Mutex<Vec<Vec<ImageUpload>>>,
    pub(super) verdict: Mutex<Option<oneshot::Receiver<Verdict>>>,
}

impl Shelf {
    pub(super) fn calls(&self) -> usize {
        self.batches.lock().expect("sound").len()
    }

    /// Has the next batch wait for a verdict.
    pub(super) fn hold(&self) -> oneshot::Sender<Verdict> {
        let (verdict, held) = oneshot::channel();
        *self.verdict.lock().expect("sound") = Some(held);
        verdict
    }

    pub(super) fn fail(&self, failure: StoreFailure) {
        self.hold().send(Err(failure)).expect("the shelf holds the other end");
    }
}

#[async_trait]
impl AttachmentStore for Shelf {
    async fn admit(
        &self,
        images: Vec<ImageUpload>,
        _: Cancel,
    ) -> Result<Vec<ImageRef>, StoreFailure> {
        self.batches.lock().expect("sound").push(images.clone());
        let held = self.verdict.lock().expect("sound").take();
        if let Some(held) = held {
            held.await.expect("the test gives a verdict")?;
        }
        let reference = |image: &ImageUpload| ImageRef {
            attachment_id: AttachmentId::new(String::from_utf8_lossy(&image.data)),
            media_type: MediaType::Png,
            bytes: image.data.len() as u64,
            width: 1,
            height: 1,
            name: image.name.clone(),
        };
        Ok(images.iter().map(reference).collect())
    }

    async fn read(&self, id: &AttachmentId) -> Result<Vec<u8>, StoreFailure> {
        Ok(id.as_str().as_bytes().to_vec())
    }
}

/// An image whose text is what it is.
pub(super) fn image(data: &str) -> Attachment {
    Attachment::Image(EncodedImage {
        data: data.to_owned(),
        media_type: "image/png".to_owned(),
        name: None,
    })
}

pub(super) fn receipt(text: &str) -> Attachment {
    Attachment::Receipt(text.to_owned())
}

pub(super) fn with(attachments: impl Into<Vec<Attachment>>) -> ExecuteOptions {
    ExecuteOptions { attachments: attachments.into(), ..ExecuteOptions::default() }
}

pub(super) fn cancelled_by(cancel: &Cancel) -> ExecuteOptions {
    ExecuteOptions { cancel: cancel.clone(), ..ExecuteOptions::default() }
}
