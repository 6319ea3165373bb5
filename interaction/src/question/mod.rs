//! Questions to a person, the tool that asks them, and plan review.

mod error;
mod batch;
mod ask;
mod provider;
mod service;
mod tool;
mod plan;

pub use ask::QuestionAsk;
pub use batch::{
    Answer, Intent, Question, QuestionOption, check_answers, check_ids, check_intents,
};
pub use error::{AskError, QuestionCode, QuestionError};
pub use plan::{PlanReview, review_plan};
pub use provider::{ProviderGuard, QuestionProvider};
pub use service::{ProviderError, Questions};
pub use tool::{AskFailure, AskOutput, AskTool};
