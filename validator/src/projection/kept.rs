//! A projection whose view and state are written as JSON.

use gatelog_engine::companion::{Fold, Listens, Projection};
use gatelog_engine::event::Event;
use gatelog_engine::replay::Projected;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A projection whose state can be put away and taken up by one that was made for another
/// installation: what an installation is composed with is no part of the state.
pub trait Resume: Projection + Sized {
    /// Takes the state of a saved one up.
    fn resume(&mut self, saved: Self) {
        *self = saved;
    }
}

/// Makes of a projection what replay asks for: its view as JSON, its state put away and taken up.
#[derive(Clone, Debug)]
pub struct Kept<P>(pub P);

impl<P: Fold> Fold for Kept<P> {
    fn fold(&mut self, event: &Event<'_>) {
        self.0.fold(event);
    }
}

impl<P> Projected for Kept<P>
where
    P: Resume + Projection<View: Serialize> + Serialize + DeserializeOwned + Send,
{
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn version(&self) -> u32 {
        self.0.version()
    }

    fn listens(&self) -> Listens {
        self.0.listens()
    }

    fn json(&self) -> String {
        serde_json::to_string(&self.0.view()).expect("a view has text keys")
    }

    fn save(&self) -> Vec<u8> {
        serde_json::to_vec(&self.0).expect("a state has text keys")
    }

    fn load(&mut self, state: &[u8]) -> bool {
        match serde_json::from_slice(state) {
            Ok(saved) => {
                self.0.resume(saved);
                true
            }
            Err(_) => false,
        }
    }
}
