//! What the owner of a turn does before it ends the turn.

use super::event;
use super::outcome::ApprovalOutcome;
use super::service::ApprovalService;
use gatelog_engine::backend::{AppendError, Durability};
use gatelog_engine::store::Session;
use gatelog_validator::facts::Facts;
use std::sync::Arc;

impl ApprovalService {
    /// Settles, as cancelled, every request of the open turn that the log holds undecided: those
    /// that wait, and those that have failed behind their `approval/asked`. Returns how many. The
    /// owner of the turn calls it before `turn/end`, which a strict gate refuses otherwise.
    ///
    /// It waits for the log and for no listener. It can be tried again.
    ///
    /// # Errors
    ///
    /// Why a decision could not be appended; the turn cannot be ended then.
    pub async fn drain_turn(&self, session: &Session) -> Result<usize, AppendError> {
        let mut count = 0;
        loop {
            for pending in self.0.pendings.of(session) {
                let is_ours = pending.flight.close();
                let is_decided = pending.settled().await;
                count += usize::from(is_ours && is_decided);
            }
            // What is in the log now and belongs to nobody is decided here. Who belongs to somebody
            // is looked up under the gate: whoever enters later appends its question later.
            let (inner, of) = (Arc::clone(&self.0), session.clone());
            let (decided, is_quiet) = self
                .0
                .plane
                .under_gate(session, move |gate| {
                    let known = inner.pendings.of(&of);
                    let known: Vec<_> = known.iter().map(|pending| pending.id.to_json()).collect();
                    let facts: &Facts = gate.facts()?;
                    let asks = facts.asks().into_iter();
                    let left = asks.filter(|ask| ask.is_of_open_turn && !known.contains(&ask.id));
                    let left: Vec<_> = left.map(|ask| ask.id).collect();
                    for id in &left {
                        let decided = event::decided(id, ApprovalOutcome::Cancelled);
                        gate.append(decided, Durability::Synced)?;
                    }
                    Ok((left.len(), known.is_empty()))
                })
                .await?;
            count += decided;
            if is_quiet {
                return Ok(count);
            }
        }
    }
}
