//! The commands that there are, for whom.

use super::attachment::{AttachmentStore, ReceiptGuard, ReceiptResolver, ReceiptsTaken};
use super::changes::{CommandsObserver, ObserverGuard};
use super::definition::{CommandDefinition, CommandDescriptor};
use super::error::CommandRegisterError;
use super::registration::CommandRegistration;
use super::shared::{Registered, Shared};
use crate::agent::Agent;
use crate::plane::Plane;
use crate::scope::{Authority, Scope};
use std::fmt;
use std::sync::Arc;
use tokio::sync::watch;

/// The commands of a host, and how they are run. Copies are the same registry.
#[derive(Clone)]
pub struct CommandRegistry(pub(super) Arc<Shared>);

impl CommandRegistry {
    /// Makes a registry without commands, in which nobody can take attachments.
    pub fn new(plane: Plane) -> Self {
        Self(Arc::new(Shared::new(plane, None)))
    }

    /// Makes a registry without commands whose attachments go to a store.
    pub fn with_attachments(plane: Plane, store: Arc<dyn AttachmentStore>) -> Self {
        Self(Arc::new(Shared::new(plane, Some(store))))
    }

    /// Returns the right to register, as far as the authority goes.
    pub fn registrar(&self, authority: Authority) -> CommandRegistrar {
        CommandRegistrar { registry: self.clone(), authority }
    }

    /// Returns what an agent can run, sorted by name, each name once.
    pub fn list(&self, agent: &Agent) -> Vec<Arc<CommandDescriptor>> {
        let effective = self.0.effective(&agent.scope().lease());
        effective.into_values().map(|of| Arc::clone(&of.defined.descriptor)).collect()
    }

    /// Returns what an agent runs under a name, if there is anything.
    pub fn get(&self, agent: &Agent, name: &str) -> Option<Arc<CommandDescriptor>> {
        let registered = self.0.resolve(&agent.scope().lease(), name)?;
        Some(Arc::clone(&registered.defined.descriptor))
    }

    /// Tells somebody of each registration and each removal, until what is returned is dropped.
    pub fn observe(&self, observer: Arc<dyn CommandsObserver>) -> ObserverGuard {
        self.0.changes.observe(observer)
    }

    /// Returns a count of changes to wait on. A slow reader sees several as one.
    pub fn watch(&self) -> watch::Receiver<u64> {
        self.0.changes.watch()
    }

    /// Returns how many layers hold commands: one for everybody, and one for each scope with
    /// commands of its own.
    pub fn layers(&self) -> usize {
        self.0.layers()
    }

    /// Says who knows what receipts stand for, until what is returned is dropped.
    ///
    /// # Errors
    ///
    /// [`ReceiptsTaken`] while somebody else does.
    pub fn register_receipts(
        &self,
        resolver: Arc<dyn ReceiptResolver>,
    ) -> Result<ReceiptGuard, ReceiptsTaken> {
        self.0.receipts.register(resolver)
    }
}

impl fmt::Debug for CommandRegistry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CommandRegistry").field("layers", &self.layers()).finish_non_exhaustive()
    }
}

/// The right to register commands, as far as an authority goes.
#[derive(Clone, Debug)]
pub struct CommandRegistrar {
    registry: CommandRegistry,
    authority: Authority,
}

impl CommandRegistrar {
    /// Registers a command for every agent.
    ///
    /// # Errors
    ///
    /// [`CommandRegisterError`]; `Scope` for a scoped composition.
    pub fn global(
        &self,
        definition: CommandDefinition,
    ) -> Result<CommandRegistration, CommandRegisterError> {
        self.register(None, definition)
    }

    /// Registers a command for the agents of a scope and of all below it; there it stands before
    /// one of the same name from above.
    ///
    /// # Errors
    ///
    /// [`CommandRegisterError`]; `Scope` for a composition of another scope.
    pub fn scoped(
        &self,
        scope: &Scope,
        definition: CommandDefinition,
    ) -> Result<CommandRegistration, CommandRegisterError> {
        self.register(Some(scope), definition)
    }

    fn register(
        &self,
        scope: Option<&Scope>,
        definition: CommandDefinition,
    ) -> Result<CommandRegistration, CommandRegisterError> {
        let shared = &self.registry.0;
        let defined = definition.define(shared.plane.profile().texts)?;
        let stamp = self.authority.stamp(scope)?;
        let registered = Arc::new(Registered { defined, stamp });
        shared.insert(&registered)?;
        Ok(CommandRegistration::new(shared, registered))
    }
}
