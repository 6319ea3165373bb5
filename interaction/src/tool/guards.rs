//! What may still speak against a call that was allowed.

use super::call::ToolCall;
use crate::chain::contained;
use crate::plane::Plane;
use crate::scope::{Authority, Lease, RegisterError, Scope, Stamp};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Speaks against calls, or says nothing: it can turn no refusal into a permission. It does not
/// wait: between a grant and the body nothing else is to happen.
pub trait Guard: Send + Sync + 'static {
    /// Returns why a call must not run, if so.
    fn denial(&self, call: &ToolCall) -> Option<String>;
}

impl<F: Fn(&ToolCall) -> Option<String> + Send + Sync + 'static> Guard for F {
    fn denial(&self, call: &ToolCall) -> Option<String> {
        self(call)
    }
}

struct Entry {
    number: u64,
    stamp: Stamp,
    guard: Arc<dyn Guard>,
}

#[derive(Default)]
struct State {
    next: u64,
    entries: Vec<Entry>,
}

/// The guards of a host.
#[derive(Clone, Default)]
pub(super) struct Guards(Arc<Mutex<State>>);

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Guards {
    pub(super) fn register(
        &self,
        authority: &Authority,
        scope: Option<&Scope>,
        guard: impl Guard,
    ) -> Result<GuardRegistration, RegisterError> {
        let stamp = authority.stamp(scope)?;
        let mut state = lock(&self.0);
        state.next += 1;
        let number = state.next;
        state.entries.push(Entry { number, stamp, guard: Arc::new(guard) });
        Ok(GuardRegistration { guards: Arc::downgrade(&self.0), number })
    }

    /// Returns the first reason: global guards first, then from the farthest scope to the call's
    /// own. A guard that panics denies.
    pub(super) fn first_denial(
        &self,
        call: &ToolCall,
        lease: Option<&Lease>,
        plane: &Plane,
    ) -> Option<String> {
        let state = lock(&self.0);
        let rank = |entry: &Entry| match (entry.stamp.is_global(), lease) {
            (true, _) => Some(0),
            (false, None) => None,
            // The farther above, the earlier.
            (false, Some(lease)) => Some(usize::MAX - lease.distance(&entry.stamp)?),
        };
        let ranked = state.entries.iter().filter_map(|entry| Some((rank(entry)?, &entry.guard)));
        let mut ranked: Vec<_> = ranked.map(|(rank, guard)| (rank, Arc::clone(guard))).collect();
        drop(state);
        ranked.sort_by_key(|(rank, _)| *rank);
        ranked.iter().find_map(|(_, guard)| match contained(|| guard.denial(call)) {
            Ok(denial) => denial,
            Err(panicked) => {
                let (session, error) = (call.session().id(), Arc::new(panicked.clone()));
                let site = crate::internal::Site::Listener;
                plane.report(site, Some(session), Some(call.id()), error);
                Some(format!("a guard of tool \"{}\" {panicked}", call.name()))
            }
        })
    }
}

/// A guard that is registered until this is dropped.
#[must_use = "the guard is registered until this is dropped"]
pub struct GuardRegistration {
    guards: Weak<Mutex<State>>,
    number: u64,
}

impl Drop for GuardRegistration {
    fn drop(&mut self) {
        if let Some(guards) = self.guards.upgrade() {
            lock(&guards).entries.retain(|entry| entry.number != self.number);
        }
    }
}

impl fmt::Debug for GuardRegistration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GuardRegistration").field("number", &self.number).finish_non_exhaustive()
    }
}
