//! The tool by which a model asks: `ask_user_question`.

use super::ask::QuestionAsk;
use super::batch::{Answer, Question, QuestionOption};
use super::error::{AskError, QuestionError};
use super::service::Questions;
use crate::agent::Agent;
use crate::cancel::Cancel;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// What the model gives: extra members are let pass, and none of them reaches a person.
#[derive(Debug, Deserialize)]
struct Arguments {
    questions: Vec<Asked>,
}

#[derive(Debug, Deserialize)]
struct Asked {
    id: String,
    question: String,
    header: Option<String>,
    options: Option<Vec<Offered>>,
    multi_select: Option<bool>,
}

#[derive(Debug, Deserialize)]
struct Offered {
    label: String,
    description: Option<String>,
}

/// What the model gets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AskOutput {
    /// One for each question, in their order.
    pub answers: Vec<Answer>,
}

impl AskOutput {
    /// Returns it as the model reads it: one line of JSON.
    ///
    /// # Panics
    ///
    /// Never: answers are texts.
    pub fn text(&self) -> String {
        serde_json::to_string(self).expect("answers are texts")
    }
}

/// A result of the tool that failed. The turn goes on.
#[derive(Debug)]
pub struct AskFailure {
    /// The name of the error, for programs.
    pub name: String,
    /// Its code, if it has one.
    pub code: Option<String>,
    /// What the model reads.
    pub message: String,
}

/// `ask_user_question`, over a service of questions.
#[derive(Clone, Debug)]
pub struct AskTool(Questions);

impl AskTool {
    /// Its name.
    pub const NAME: &'static str = "ask_user_question";

    /// Makes the tool. It has no time limit: it waits as long as the call does.
    pub fn new(questions: &Questions) -> Self {
        Self(questions.clone())
    }

    /// Returns what the model is told of it.
    pub const fn description(&self) -> &'static str {
        "Puts one or more questions to the person you work for and waits for the answers. Use it \
         to have something confirmed before you do it, to let the person choose between ways that \
         are open, or when something you cannot find out keeps you from going on. Give each \
         question an `id` that stays the same: the answer to it has the same `id`, so that answers \
         to several questions are never mixed up."
    }

    /// Returns the JSON schema of its arguments.
    pub fn schema(&self) -> Value {
        let option = json!({
            "type": "object",
            "required": ["label"],
            "properties": {
                "label": {"type": "string", "description": "Shown, and returned when chosen."},
                "description": {"type": "string", "description": "What choosing it means."},
            },
        });
        let question = json!({
            "type": "object",
            "required": ["id", "question"],
            "properties": {
                "id": {"type": "string", "description": "Stable; the answer repeats it."},
                "question": {"type": "string", "description": "What is asked, in full."},
                "header": {"type": "string", "description": "A word or two above the question."},
                "options": {"type": "array", "items": option,
                            "description": "What may be chosen. Without it the answer is text."},
                "multi_select": {"type": "boolean", "description": "Several may be chosen."},
            },
        });
        json!({
            "type": "object",
            "required": ["questions"],
            "properties": {"questions": {"type": "array", "items": question}},
        })
    }

    /// Makes of a model's arguments what a person is asked.
    ///
    /// # Errors
    ///
    /// What is not as the schema says.
    pub fn questions(&self, arguments: &Value) -> Result<Vec<Question>, String> {
        let arguments = Arguments::deserialize(arguments)
            .map_err(|error| format!("invalid arguments for {}: {error}", Self::NAME))?;
        let option = |offered: Offered| QuestionOption {
            label: offered.label,
            description: offered.description,
        };
        let question = |asked: Asked| Question {
            id: asked.id,
            question: asked.question,
            header: asked.header,
            options: asked.options.map(|options| options.into_iter().map(option).collect()),
            multi_select: asked.multi_select,
            // Not for the model to set.
            detail: None,
            intent: None,
        };
        Ok(arguments.questions.into_iter().map(question).collect())
    }

    /// Carries a call out.
    ///
    /// # Errors
    ///
    /// A result that failed, for the model to read.
    pub async fn call(
        &self,
        arguments: &Value,
        agent: Option<&Agent>,
        cancel: Option<Cancel>,
    ) -> Result<AskOutput, AskFailure> {
        let questions = self.questions(arguments).map_err(|message| AskFailure {
            name: "InvalidArguments".to_owned(),
            code: None,
            message,
        })?;
        let mut ask = QuestionAsk::new(questions);
        if let Some(agent) = agent {
            ask = ask.by(agent);
        }
        if let Some(cancel) = cancel {
            ask = ask.until(cancel);
        }
        match self.0.ask(ask).await {
            Ok(answers) => Ok(AskOutput { answers }),
            Err(error) => Err(failure(&error)),
        }
    }
}

fn failure(error: &AskError) -> AskFailure {
    let message = error.to_string();
    match error.domain() {
        Some(domain) => {
            let (name, code) = (QuestionError::NAME.to_owned(), domain.code.as_str().to_owned());
            AskFailure { name, code: Some(code), message }
        }
        None => AskFailure { name: "Error".to_owned(), code: None, message },
    }
}
