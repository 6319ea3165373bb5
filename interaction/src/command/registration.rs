//! A command in its place, until its guard is dropped.

use super::shared::{Registered, Shared};
use std::fmt;
use std::sync::{Arc, Weak};

/// A registration. Dropping it takes the command back; what is running of it goes on.
#[must_use = "dropping the guard removes the command"]
pub struct CommandRegistration(Option<(Weak<Shared>, Arc<Registered>)>);

impl CommandRegistration {
    pub(super) fn new(registry: &Arc<Shared>, registered: Arc<Registered>) -> Self {
        Self(Some((Arc::downgrade(registry), registered)))
    }

    /// Takes exactly this command back, and tells the observers. Returns whether it was there: a
    /// second call does nothing.
    pub fn withdraw(&mut self) -> bool {
        let Some((registry, registered)) = self.0.take() else { return false };
        registry.upgrade().is_some_and(|registry| registry.remove(&registered))
    }

    /// Lets the command stay for as long as its registry lives.
    pub fn keep(mut self) {
        self.0 = None;
    }
}

impl Drop for CommandRegistration {
    fn drop(&mut self) {
        self.withdraw();
    }
}

impl fmt::Debug for CommandRegistration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CommandRegistration").field("there", &self.0.is_some()).finish()
    }
}
