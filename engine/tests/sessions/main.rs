//! Sessions over a backend in memory, with rules that are a toy: gates, outcomes, observers,
//! recovery, futures.

mod asleep;
mod checks;
mod closers;
mod creating;
mod futures;
mod gates;
mod observers;
mod outcomes;
mod panics;
mod repeats;
mod toy;
mod vault;
