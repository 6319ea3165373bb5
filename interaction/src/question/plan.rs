//! A plan that a person looks at: a consumer of questions.

use super::ask::QuestionAsk;
use super::batch::{Answer, Intent, Question, QuestionOption};
use super::error::{AskError, QuestionCode};
use super::service::Questions;
use crate::agent::Agent;
use crate::cancel::Cancel;
use crate::scope::Lease;
use std::sync::Arc;

const ID: &str = "plan-review";
const APPROVE: &str = "Approve";
const KEEP: &str = "Keep planning";

/// What a person makes of a plan.
#[derive(Debug)]
pub enum PlanReview {
    /// It may be carried out.
    Approved,
    /// It may not, yet.
    KeepPlanning {
        /// What the person said to it, if anything.
        feedback: Option<String>,
    },
    /// The person wants to speak instead.
    Dismissed,
    /// It could not be looked at.
    Failed(AskError),
    /// Whoever asked is gone: whatever the answer was, it approves nothing.
    Unloaded,
}

impl PlanReview {
    /// Returns what the model is told, where the plan is not approved.
    pub fn text(&self) -> Option<String> {
        let text = match self {
            Self::Approved => return None,
            Self::KeepPlanning { feedback: None } => {
                "The user chose to keep planning; revise the plan and present it again.".to_owned()
            }
            Self::KeepPlanning { feedback: Some(text) } => {
                format!("The user chose to keep planning; their feedback: {text}")
            }
            Self::Dismissed => "The user dismissed the plan review to speak instead; stay in plan \
                                mode, stop here, and wait for their message."
                .to_owned(),
            Self::Unloaded => {
                "the plan-mode service was reloaded while the plan was under review; \
                               present the plan again"
                    .to_owned()
            }
            Self::Failed(error) if error.code() == Some(&QuestionCode::NoProvider) => {
                "no user-questions channel is available to review the plan; ask the user to switch \
                 the session mode instead"
                    .to_owned()
            }
            Self::Failed(error) => error.to_string(),
        };
        Some(text)
    }
}

/// Has a person look at a plan. `lifetime` is that of the service that asks: one that ended
/// meanwhile takes no approval.
pub async fn review_plan(
    questions: &Questions,
    agent: &Agent,
    scope: Option<Arc<Lease>>,
    plan: &str,
    cancel: Option<Cancel>,
    lifetime: &Cancel,
) -> PlanReview {
    let option = |label: &str| QuestionOption { label: label.to_owned(), description: None };
    let question = Question {
        id: ID.to_owned(),
        question: "Review this plan before it is carried out.".to_owned(),
        detail: Some(plan.to_owned()),
        options: Some(vec![option(APPROVE), option(KEEP)]),
        intent: Some(Intent::PlanReview { approve: APPROVE.to_owned() }),
        ..Question::default()
    };
    let mut ask = QuestionAsk::new(vec![question]).by(agent);
    if let Some(lease) = scope {
        ask = ask.with_lease(lease);
    }
    if let Some(cancel) = cancel {
        ask = ask.until(cancel);
    }
    match questions.ask(ask).await {
        Ok(answers) => match judged(&answers) {
            PlanReview::Approved if lifetime.is_cancelled() => PlanReview::Unloaded,
            review => review,
        },
        Err(error) if error.code() == Some(&QuestionCode::AskCancelled) => PlanReview::Dismissed,
        Err(error) => PlanReview::Failed(error),
    }
}

/// One answer of this id, with exactly the approving label and no text: anything else is no.
fn judged(answers: &[Answer]) -> PlanReview {
    let feedback = answers.iter().find_map(|answer| answer.custom.clone());
    match answers {
        [answer] if answer.id == ID && answer.selected == [APPROVE] && feedback.is_none() => {
            PlanReview::Approved
        }
        _ => PlanReview::KeepPlanning { feedback },
    }
}
