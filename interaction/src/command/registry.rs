//! The commands that there are, for whom.

use super::attachment::{
    AttachmentStore, ReceiptDesk, ReceiptGuard, ReceiptResolver, ReceiptsTaken,
};
use super::changes::{Changes, CommandsObserver, ObserverGuard};
use super::definition::{CommandDefinition, CommandDescriptor, Defined};
use super::error::CommandRegisterError;
use super::lifecycle::Ids;
use super::registration::CommandRegistration;
use crate::agent::Agent;
use crate::plane::Plane;
use crate::scope::{Authority, Lease, Scope, Stamp};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// A command in its place.
pub(super) struct Registered {
    pub(super) defined: Defined,
    stamp: Stamp,
}

/// What belongs to one generation of a scope, or to everybody.
struct Layer {
    stamp: Stamp,
    commands: BTreeMap<String, Arc<Registered>>,
}

pub(super) struct Shared {
    pub(super) plane: Plane,
    pub(super) store: Option<Arc<dyn AttachmentStore>>,
    pub(super) receipts: ReceiptDesk,
    pub(super) ids: Ids,
    changes: Changes,
    layers: Mutex<Vec<Layer>>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Vec<Layer>> {
        self.layers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn insert(&self, registered: &Arc<Registered>) -> Result<(), CommandRegisterError> {
        let name = registered.defined.descriptor.name.to_string();
        let mut layers = self.lock();
        let there = layers.iter().position(|layer| layer.stamp.is_same(&registered.stamp));
        let at = there.unwrap_or_else(|| {
            let commands = BTreeMap::new();
            layers.push(Layer { stamp: registered.stamp.clone(), commands });
            layers.len() - 1
        });
        let commands = &mut layers[at].commands;
        if commands.contains_key(&name) {
            return Err(match registered.stamp.is_global() {
                true => CommandRegisterError::DuplicateGlobal(name),
                false => CommandRegisterError::DuplicateScoped(name),
            });
        }
        commands.insert(name, Arc::clone(registered));
        Ok(())
    }

    /// Takes exactly this registration out; a layer that holds nothing goes with it.
    pub(super) fn remove(&self, registered: &Arc<Registered>) -> bool {
        let name = registered.defined.descriptor.name.as_str();
        let mut layers = self.lock();
        let Some(at) = layers.iter().position(|layer| layer.stamp.is_same(&registered.stamp))
        else {
            return false;
        };
        let commands = &mut layers[at].commands;
        if !commands.get(name).is_some_and(|there| Arc::ptr_eq(there, registered)) {
            return false;
        }
        commands.remove(name);
        if commands.is_empty() {
            layers.swap_remove(at);
        }
        drop(layers);
        self.changes.tell(&self.plane);
        true
    }

    /// Returns the commands that a lease sees: global ones first, then those of the farthest scope
    /// above, down to its own; the last one of a name stands.
    fn effective(&self, lease: &Lease) -> BTreeMap<String, Arc<Registered>> {
        let layers = self.lock();
        let mut seen: Vec<(usize, &Layer)> = layers
            .iter()
            .filter(|layer| lease.sees(&layer.stamp))
            .map(|layer| (lease.distance(&layer.stamp).unwrap_or(usize::MAX), layer))
            .collect();
        seen.sort_by_key(|(distance, _)| std::cmp::Reverse(*distance));
        let mut effective = BTreeMap::new();
        for (_, layer) in seen {
            let commands = layer.commands.iter();
            effective.extend(commands.map(|(name, of)| (name.clone(), Arc::clone(of))));
        }
        effective
    }

    /// Returns the command that a lease sees under a name.
    pub(super) fn resolve(&self, lease: &Lease, name: &str) -> Option<Arc<Registered>> {
        let layers = self.lock();
        let visible = layers.iter().filter(|layer| lease.sees(&layer.stamp));
        let named = visible.filter_map(|layer| layer.commands.get(name));
        let distance = |of: &&Arc<Registered>| lease.distance(&of.stamp).unwrap_or(usize::MAX);
        named.min_by_key(distance).cloned()
    }
}

/// The commands of a host, and how they are run. Copies are the same registry.
#[derive(Clone)]
pub struct CommandRegistry(pub(super) Arc<Shared>);

impl CommandRegistry {
    /// Makes a registry without commands, in which nobody can take attachments.
    pub fn new(plane: Plane) -> Self {
        Self::of(plane, None)
    }

    /// Makes a registry without commands whose attachments go to a store.
    pub fn with_attachments(plane: Plane, store: Arc<dyn AttachmentStore>) -> Self {
        Self::of(plane, Some(store))
    }

    fn of(plane: Plane, store: Option<Arc<dyn AttachmentStore>>) -> Self {
        Self(Arc::new(Shared {
            plane,
            store,
            receipts: ReceiptDesk::default(),
            ids: Ids::new(),
            changes: Changes::new(),
            layers: Mutex::default(),
        }))
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
        self.0.lock().len()
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
        shared.changes.tell(&shared.plane);
        Ok(CommandRegistration::new(shared, registered))
    }
}
