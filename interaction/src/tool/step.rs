//! The calls of one step, in the order in which the model made them.

use super::call::ToolCall;
use super::seam::ToolSeam;
use super::verdict::{RefusalCode, Refused, Verdict};

impl ToolSeam {
    /// Decides about the calls of a step, one after another; only bodies may overlap, and they
    /// begin when this has returned. A call that is taken back while it waits ends the step: those
    /// behind it are aborted without being looked at.
    pub async fn decide_step(&self, calls: Vec<ToolCall>) -> Vec<Verdict> {
        let mut verdicts = Vec::with_capacity(calls.len());
        let mut is_ended = false;
        for call in calls {
            if is_ended {
                verdicts.push(Verdict::Refused(Refused {
                    runs_post_execute: false,
                    ..Refused::aborted()
                }));
                continue;
            }
            let verdict = self.decide(call.clone()).await;
            is_ended = call.is_cancelled() && is_abort(&verdict);
            verdicts.push(verdict);
        }
        verdicts
    }
}

fn is_abort(verdict: &Verdict) -> bool {
    let aborted = Some(RefusalCode::AbortedBeforeDispatch);
    matches!(verdict, Verdict::Refused(refused) if refused.code == aborted)
}
