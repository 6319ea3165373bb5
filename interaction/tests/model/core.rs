//! What the promises are asked of: one request, one registration, one signal of the caller.

use crate::cancel::Cancel;
use crate::flight::{Claim, Ending, Entered, Entry, Flight};
use crate::sync::Arc;
use std::future::Future;

/// Why a listener was not entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    Gone,
    Void,
}

/// A core, the real one or a twin.
pub(crate) trait Core: Send + Sync + 'static {
    type Claim: Send;

    fn make(signal: Option<Cancel>) -> Self;
    fn answer(&self, value: u8) -> bool;
    fn cancel(&self) -> bool;
    fn close(&self) -> bool;
    fn withdraw(&self) -> bool;
    fn enter(&self) -> Result<Self::Claim, Refused>;
    fn is_settled(&self) -> bool;
    fn ending(&self) -> impl Future<Output = Ending<u8>> + Send;
}

/// The real one.
pub(crate) struct Real {
    flight: Arc<Flight<u8>>,
    entry: Arc<Entry<u8>>,
}

impl Core for Real {
    type Claim = Claim<u8>;

    fn make(signal: Option<Cancel>) -> Self {
        Self { flight: Flight::new(signal), entry: Arc::default() }
    }

    fn answer(&self, value: u8) -> bool {
        self.flight.answer(value)
    }

    fn cancel(&self) -> bool {
        self.flight.cancel()
    }

    fn close(&self) -> bool {
        self.flight.close()
    }

    fn withdraw(&self) -> bool {
        self.entry.withdraw() == 1
    }

    fn enter(&self) -> Result<Claim<u8>, Refused> {
        match self.entry.enter(&self.flight) {
            Entered::Claimed(claim) => Ok(claim),
            Entered::Gone => Err(Refused::Gone),
            Entered::Void => Err(Refused::Void),
        }
    }

    fn is_settled(&self) -> bool {
        self.flight.is_settled()
    }

    fn ending(&self) -> impl Future<Output = Ending<u8>> + Send {
        self.flight.ending()
    }
}
