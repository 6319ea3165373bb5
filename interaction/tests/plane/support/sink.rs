//! Remembers every failure that was contained.

use gatelog_interaction::internal::{InternalError, InternalErrors, Site};
use std::sync::Mutex;

#[derive(Default)]
pub(crate) struct Sink(Mutex<Vec<InternalError>>);

impl Sink {
    pub(crate) fn all(&self) -> Vec<InternalError> {
        self.0.lock().expect("no test panics under it").clone()
    }

    pub(crate) fn at(&self, site: Site) -> Vec<InternalError> {
        self.all().into_iter().filter(|error| error.site == site).collect()
    }
}

impl InternalErrors for Sink {
    fn report(&self, error: &InternalError) {
        self.0.lock().expect("no test panics under it").push(error.clone());
    }
}
