//! Projections for whoever shows sessions: which there are, live views with their changes, and cold
//! reads that a cache makes short.
//!
//! A [`Registry`] holds [`Unit`]s. A [`Board`] drives all of them along one live session: one cut
//! of all views at a time, and one notification for each view that an event changes. [`ladder`]
//! shows sessions that nobody has open, from the rows that a [`Keeper`] keeps.

mod unit;
mod registry;
mod record;
mod records;
mod live;
pub mod ladder;
mod keeper;

pub use keeper::{Keeper, Pace};
pub use live::{Board, Change, Snapshot};
pub use record::{Identity, RECORD_BYTES_MAX, Record, Row, anchor};
pub use records::{MemoryRecords, RecordDir, Records};
pub use registry::{Registered, Registry, RegistryError, state_version};
pub use unit::{Unit, ViewError};
