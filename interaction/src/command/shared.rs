//! What the copies of a registry share: layers of commands, and what runs them.

use super::attachment::{AttachmentStore, ReceiptDesk};
use super::changes::Changes;
use super::definition::Defined;
use super::error::CommandRegisterError;
use super::lifecycle::Ids;
use crate::plane::Plane;
use crate::scope::{Lease, Stamp};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A command in its place.
pub(super) struct Registered {
    pub(super) defined: Defined,
    pub(super) stamp: Stamp,
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
    pub(super) changes: Changes,
    layers: Mutex<Vec<Layer>>,
}

impl Shared {
    pub(super) fn new(plane: Plane, store: Option<Arc<dyn AttachmentStore>>) -> Self {
        Self {
            plane,
            store,
            receipts: ReceiptDesk::default(),
            ids: Ids::new(),
            changes: Changes::new(),
            layers: Mutex::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Layer>> {
        self.layers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a command into its layer, and tells the observers.
    pub(super) fn insert(&self, registered: &Arc<Registered>) -> Result<(), CommandRegisterError> {
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
            return Err(if registered.stamp.is_global() {
                CommandRegisterError::DuplicateGlobal(name)
            } else {
                CommandRegisterError::DuplicateScoped(name)
            });
        }
        commands.insert(name, Arc::clone(registered));
        drop(layers);
        self.changes.tell(&self.plane);
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

    /// Returns how many layers there are; none is empty.
    pub(super) fn layers(&self) -> usize {
        self.lock().len()
    }

    /// Returns the commands that a lease sees: global ones first, then those of the farthest scope
    /// above, down to its own; the last one of a name stands.
    pub(super) fn effective(&self, lease: &Lease) -> BTreeMap<String, Arc<Registered>> {
        let layers = self.lock();
        let mut seen: Vec<(usize, &Layer)> = layers
            .iter()
            .filter(|layer| lease.sees(&layer.stamp))
            .map(|layer| (lease.distance(&layer.stamp).unwrap_or(usize::MAX), layer))
            .collect();
        seen.sort_by_key(|(distance, _)| Reverse(*distance));
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
