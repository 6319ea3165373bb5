//! Trials of the native store: what a crash, a flipped bit or a killed process may leave.
//!
//! A trial runs a workload on a simulated disk, keeps a ledger of what was issued and what was
//! promised, makes every state that a crash may leave at every moment, and opens each of them. The
//! ledger lives outside of what is tried.

mod machine;
mod explored;
pub mod ledger;
mod sloppy;
pub mod workload;
pub mod workloads;
pub mod reference;
mod agreement;
pub mod flips;
mod tally;
mod crash;
pub mod lenient;
pub mod found;
pub mod book;
pub mod word;
pub mod child;
pub mod verified;
pub mod kills;
pub mod retries;
pub mod locks;
pub mod traced;
pub mod failing;
mod case;
pub mod repeated;
pub mod taped;
pub mod replayed;

pub use crash::Enumeration;
pub use ledger::{Ledger, Promise};
pub use machine::FixedMachine;
pub use sloppy::{Sloppiness, Sloppy};
pub use tally::Tally;
pub use workload::{Run, Step, Workload};
