//! Why a question has no answer.

use crate::agent::BoxError;
use crate::profile::{Profile, Texts};
use std::fmt;

/// A stable code.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum QuestionCode {
    /// The caller took it back.
    AskAborted,
    /// There was no question.
    EmptyQuestions,
    /// The agent is not the exact live one.
    CallerNotLive,
    /// The agent is owned by another live one.
    DelegatedCaller,
    /// An intent does not fit its question.
    BadIntent,
    /// An id is empty, or comes twice.
    BadQuestion,
    /// Answers do not fit their questions.
    BadAnswer,
    /// Nobody answers.
    NoProvider,
    /// The person dismissed it.
    AskCancelled,
    /// There is a provider already.
    DuplicateProvider,
    /// One that came over a transport, as it came; it may be empty.
    Other(String),
}

impl QuestionCode {
    /// Every code of this crate.
    pub const ALL: [Self; 10] = [
        Self::AskAborted,
        Self::EmptyQuestions,
        Self::CallerNotLive,
        Self::DelegatedCaller,
        Self::BadIntent,
        Self::BadQuestion,
        Self::BadAnswer,
        Self::NoProvider,
        Self::AskCancelled,
        Self::DuplicateProvider,
    ];

    /// Returns its text.
    pub fn as_str(&self) -> &str {
        match self {
            Self::AskAborted => "ASK_ABORTED",
            Self::EmptyQuestions => "EMPTY_QUESTIONS",
            Self::CallerNotLive => "CALLER_NOT_LIVE",
            Self::DelegatedCaller => "DELEGATED_CALLER",
            Self::BadIntent => "BAD_INTENT",
            Self::BadQuestion => "BAD_QUESTION",
            Self::BadAnswer => "BAD_ANSWER",
            Self::NoProvider => "NO_PROVIDER",
            Self::AskCancelled => "ASK_CANCELLED",
            Self::DuplicateProvider => "DUPLICATE_PROVIDER",
            Self::Other(text) => text,
        }
    }

    /// Reads one that came over a transport.
    pub fn of(text: &str) -> Self {
        let known = Self::ALL.into_iter().find(|code| code.as_str() == text);
        known.unwrap_or_else(|| Self::Other(text.to_owned()))
    }
}

/// A failure of the domain: a code for programs, a message for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuestionError {
    /// The code.
    pub code: QuestionCode,
    /// What happened.
    pub message: String,
}

impl QuestionError {
    /// The name under which it crosses a transport.
    pub const NAME: &'static str = "UserQuestionError";

    /// Makes one.
    pub fn new(code: QuestionCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    /// Makes the failure that the person dismissed the questions.
    pub fn cancelled() -> Self {
        Self::new(QuestionCode::AskCancelled, "the user cancelled ask_user_question")
    }

    pub(super) fn aborted() -> Self {
        let text = "ask_user_question was aborted before the user answered";
        Self::new(QuestionCode::AskAborted, text)
    }

    pub(super) fn no_provider(profile: &Profile) -> Self {
        let text = match profile.texts {
            Texts::Host011 => "no user-questions provider is registered",
            Texts::Strict | Texts::Host => "no user-questions answerer accepted the request",
        };
        Self::new(QuestionCode::NoProvider, text)
    }

    /// Makes a failure again of what crossed a transport: only if it has the right name, and both a
    /// message and a code. Anything less is somebody else's error, and is nothing here.
    pub fn restore(name: &str, message: Option<&str>, code: Option<&str>) -> Option<Self> {
        if name != Self::NAME {
            return None;
        }
        Some(Self::new(QuestionCode::of(code?), message?))
    }
}

impl fmt::Display for QuestionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for QuestionError {}

/// Why a batch has no answers.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// A failure of the domain.
    #[error(transparent)]
    Domain(QuestionError),
    /// The answerer's own failure, the very one.
    #[error(transparent)]
    Provider(BoxError),
}

impl AskError {
    /// Returns the failure of the domain, if it is one.
    pub fn domain(&self) -> Option<&QuestionError> {
        match self {
            Self::Domain(error) => Some(error),
            Self::Provider(error) => error.downcast_ref(),
        }
    }

    /// Returns the code, if it is a failure of the domain.
    pub fn code(&self) -> Option<&QuestionCode> {
        self.domain().map(|error| &error.code)
    }
}

impl From<QuestionError> for AskError {
    fn from(error: QuestionError) -> Self {
        Self::Domain(error)
    }
}
