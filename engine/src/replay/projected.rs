//! What replay asks of a projection: to fold, to show itself, to be put away and taken up again.

use crate::companion::{Fold, Listens};
use crate::rules::SessionHeader;

/// A fold whose view is JSON text and whose state can be kept.
///
/// The view depends on the events alone: two that folded the same events show the same bytes.
pub trait Projected: Fold + Send {
    /// Returns the name, under which the view is shown and a checkpoint is kept.
    fn name(&self) -> &'static str;

    /// Returns the version of state and view; a checkpoint of another one is not taken up.
    fn version(&self) -> u32;

    /// Returns which events may change the state. All others must leave it as it is.
    fn listens(&self) -> Listens {
        Listens::All
    }

    /// Returns the view, one JSON value with stable keys.
    fn json(&self) -> String;

    /// Returns the state, for a checkpoint.
    fn save(&self) -> Vec<u8>;

    /// Takes a state up that was saved; returns false, and changes nothing, if it is none.
    fn load(&mut self, state: &[u8]) -> bool;
}

/// Makes the projections of a session from its header; the same ones in the same order each time.
pub type Make<'a> = dyn Fn(&SessionHeader) -> Vec<Box<dyn Projected>> + Sync + 'a;
