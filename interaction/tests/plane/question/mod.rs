//! Questions, the tool that asks them, plan review.

mod answered;
mod asked;
mod asking_tool;
mod closed;
mod plan;
mod scenarios;
mod scenarios_more;

use crate::support::{Kind, Script, World, script};
use async_trait::async_trait;
use gatelog_interaction::agent::{BoxError, LiveAgent};
use gatelog_interaction::cancel::Cancel;
use gatelog_interaction::chain::{Place, Registration};
use gatelog_interaction::profile::Profile;
use gatelog_interaction::question::{
    Answer, AskError, Intent, Question, QuestionAsk, QuestionCode, QuestionOption,
    QuestionProvider, Questions,
};
use gatelog_interaction::scope::Authority;
use gatelog_validator::rule::Profile as Rules;
use std::sync::{Arc, Mutex};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// A world with the service and the live agent `a`.
pub(super) struct Stage {
    pub(super) world: World,
    pub(super) questions: Questions,
    pub(super) live: LiveAgent,
}

impl Stage {
    pub(super) fn new() -> Self {
        Self::of(Profile::STRICT)
    }

    pub(super) fn of(profile: Profile) -> Self {
        let world = World::of(Kind::Native, Rules::Strict, profile);
        let (questions, live) = (Questions::new(&world.plane), world.agent("a"));
        Self { world, questions, live }
    }

    pub(super) fn ask(&self) -> QuestionAsk {
        QuestionAsk::new(vec![choice("q", &["yes", "no"])]).by(self.live.agent())
    }

    pub(super) fn asking(&self, ask: QuestionAsk) -> JoinHandle<Result<Vec<Answer>, AskError>> {
        let questions = self.questions.clone();
        tokio::spawn(async move { questions.ask(ask).await })
    }

    pub(super) fn scripted(&self) -> (Registration, Script<QuestionAsk>) {
        let (listener, script) = script::<QuestionAsk>();
        let registrar = self.questions.registrar(Authority::Root);
        (registrar.global(Place::Last, listener).expect("root may"), script)
    }

    pub(super) async fn code(&self, ask: QuestionAsk) -> String {
        code(self.questions.ask(ask).await)
    }
}

pub(super) fn code(asked: Result<Vec<Answer>, AskError>) -> String {
    let error = asked.expect_err("it has no answer");
    error.code().expect("it is of the domain").as_str().to_owned()
}

pub(super) fn choice(id: &str, labels: &[&str]) -> Question {
    let option = |label: &&str| QuestionOption { label: (*label).to_owned(), description: None };
    let options = Some(labels.iter().map(option).collect());
    Question { id: id.to_owned(), question: "which?".to_owned(), options, ..Question::default() }
}

pub(super) fn reviewed(approve: &str, labels: &[&str], detail: Option<&str>) -> Question {
    let intent = Some(Intent::PlanReview { approve: approve.to_owned() });
    Question { intent, detail: detail.map(str::to_owned), ..choice("q", labels) }
}

pub(super) fn chosen(id: &str, labels: &[&str]) -> Answer {
    let selected = labels.iter().map(|label| (*label).to_owned()).collect();
    Answer { id: id.to_owned(), selected, custom: None }
}

pub(super) fn said(id: &str, text: &str) -> Answer {
    Answer { id: id.to_owned(), selected: Vec::new(), custom: Some(text.to_owned()) }
}

type Held = (Arc<QuestionAsk>, Cancel, oneshot::Sender<Result<Vec<Answer>, BoxError>>);

/// A provider that holds what it is asked until the test answers.
#[derive(Clone, Default)]
pub(super) struct Holding(Arc<Mutex<Vec<Held>>>);

impl Holding {
    pub(super) async fn held(&self, count: usize) -> Vec<Held> {
        while self.0.lock().expect("sound").len() < count {
            tokio::task::yield_now().await;
        }
        std::mem::take(&mut *self.0.lock().expect("sound"))
    }

    pub(super) fn count(&self) -> usize {
        self.0.lock().expect("sound").len()
    }
}

#[async_trait]
impl QuestionProvider for Holding {
    async fn answer(
        &self,
        ask: Arc<QuestionAsk>,
        lifetime: Cancel,
    ) -> Result<Vec<Answer>, BoxError> {
        let (reply, replied) = oneshot::channel();
        self.0.lock().expect("sound").push((ask, lifetime, reply));
        replied.await.unwrap_or_else(|_| Err("the test dropped it".into()))
    }
}

pub(super) fn is(error: &AskError, code: QuestionCode) -> bool {
    error.code() == Some(&code)
}
