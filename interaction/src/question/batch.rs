//! What is asked of a person, and what a person says: shapes, and what makes them sound.

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A choice of a question. The label is what is shown and what is returned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionOption {
    /// What is shown, and returned.
    pub label: String,
    /// What it means.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// How a question may be shown. It changes nothing of how it is answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Intent {
    /// A plan is to be looked at, and approved by one of the options.
    PlanReview {
        /// The label that approves.
        approve: String,
    },
}

impl Intent {
    /// Returns its name.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::PlanReview { .. } => "plan-review",
        }
    }
}

/// One question.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Question {
    /// Stable, and echoed by the answer.
    pub id: String,
    /// What is asked.
    pub question: String,
    /// What it is about, at length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// What it is about, in a word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<String>,
    /// What may be chosen; without any, the answer is free text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub options: Option<Vec<QuestionOption>>,
    /// Several may be chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub multi_select: Option<bool>,
    /// How it may be shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intent: Option<Intent>,
}

/// What a person says to one question. Neither a selection nor a text: it was skipped.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// The id of the question.
    pub id: String,
    /// The labels that were chosen.
    #[serde(default)]
    pub selected: Vec<String>,
    /// What was said in the person's own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub custom: Option<String>,
}

use super::error::{QuestionCode, QuestionError};
use crate::text::is_blank;

/// Looks whether the ids of a batch are there and differ.
///
/// # Errors
///
/// [`QuestionCode::BadQuestion`], for the first that is not.
pub fn check_ids(questions: &[Question]) -> Result<(), QuestionError> {
    let mut seen = BTreeSet::new();
    for question in questions {
        let id = &question.id;
        if id.is_empty() || !seen.insert(id) {
            let text = format!("question id \"{id}\" must be non-empty and unique within one ask");
            return Err(QuestionError::new(QuestionCode::BadQuestion, text));
        }
    }
    Ok(())
}

/// Looks whether the intents of a batch fit their questions, in the order of the questions: the
/// approving label first, then the detail.
///
/// # Errors
///
/// [`QuestionCode::BadIntent`], for the first that does not.
pub fn check_intents(questions: &[Question]) -> Result<(), QuestionError> {
    for question in questions {
        let Some(intent) = &question.intent else { continue };
        let (id, kind) = (&question.id, intent.kind());
        let Intent::PlanReview { approve } = intent;
        let options = question.options.iter().flatten();
        let text = if !options.into_iter().any(|option| option.label == *approve) {
            format!(
                "question {id} declares intent {kind} whose approve label \"{approve}\" names none \
                 of its options"
            )
        } else if question.detail.is_none() {
            format!("question {id} declares intent {kind} without the detail it reviews")
        } else {
            continue;
        };
        return Err(QuestionError::new(QuestionCode::BadIntent, text));
    }
    Ok(())
}

/// Looks whether answers fit the questions: one each, in their order; every label is one that was
/// offered, and none comes twice; a single choice is one label or a text and not both; a text says
/// something.
///
/// A front end may ask this before it closes a prompt, and leave the question open.
///
/// # Errors
///
/// [`QuestionCode::BadAnswer`], for the first that does not fit.
pub fn check_answers(questions: &[Question], answers: &[Answer]) -> Result<(), QuestionError> {
    let bad = |id: &str| {
        let text = format!("answer for question {id} does not fit the question");
        QuestionError::new(QuestionCode::BadAnswer, text)
    };
    for (at, question) in questions.iter().enumerate() {
        let answer = answers.get(at).filter(|answer| answer.id == question.id);
        if !answer.is_some_and(|answer| fits(question, answer)) {
            return Err(bad(&question.id));
        }
    }
    match answers.get(questions.len()) {
        Some(extra) => Err(bad(&extra.id)),
        None => Ok(()),
    }
}

fn fits(question: &Question, answer: &Answer) -> bool {
    let offered =
        |label: &String| question.options.iter().flatten().any(|option| option.label == *label);
    let distinct: BTreeSet<_> = answer.selected.iter().collect();
    let is_multiple = question.multi_select == Some(true);
    let is_single = answer.selected.len() + usize::from(answer.custom.is_some()) <= 1;
    distinct.len() == answer.selected.len()
        && answer.selected.iter().all(offered)
        && answer.custom.as_deref().is_none_or(|text| !is_blank(text))
        && (is_multiple || is_single)
}
