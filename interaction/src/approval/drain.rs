//! What the owner of a turn does before it ends the turn.

use super::event;
use super::outcome::ApprovalOutcome;
use super::service::ApprovalService;
use gatelog_engine::backend::{AppendError, Durability};
use gatelog_engine::store::Session;
use gatelog_validator::facts::Facts;

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
            let waiting = self.0.pendings.of(session);
            for pending in &waiting {
                let is_ours = pending.flight.close();
                pending.settled().await;
                count += usize::from(is_ours);
            }
            // What is in the log now and belongs to nobody is decided here.
            let known: Vec<_> =
                self.0.pendings.of(session).iter().map(|pending| pending.id.to_json()).collect();
            let is_quiet = known.is_empty();
            count += self
                .0
                .plane
                .under_gate(session, move |gate| {
                    let facts: &Facts = gate.facts()?;
                    let asks = facts.asks().into_iter();
                    let left = asks.filter(|ask| ask.is_of_open_turn && !known.contains(&ask.id));
                    let left: Vec<_> = left.map(|ask| ask.id).collect();
                    for id in &left {
                        let decided = event::decided(id, ApprovalOutcome::Cancelled);
                        gate.append(decided, Durability::Synced)?;
                    }
                    Ok(left.len())
                })
                .await?;
            if is_quiet {
                return Ok(count);
            }
        }
    }
}
