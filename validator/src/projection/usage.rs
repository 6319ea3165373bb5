//! Tokens that a session used, by model.
//!
//! Each is counted once. What a fork inherited was used by the session that it was forked from, and
//! is not counted again. What a stream said of its usage counts only where no message came of it;
//! of a request that was retried the last attempt counts. A message that replaces another one on
//! the surface was not asked for again.

use super::kept::Resume;
use super::knob::word;
use gatelog_engine::companion::{Fold, Listens, Projection};
use gatelog_engine::event::Event;
use gatelog_engine::json::{Json, is_count};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Counts of tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tokens {
    /// Of requests.
    pub input: u64,
    /// Of responses.
    pub output: u64,
    /// Of requests, read from a cache.
    pub cache_read: u64,
    /// Of requests, written to a cache.
    pub cache_write: u64,
    /// Of responses, spent on reasoning.
    pub reasoning: u64,
}

impl Tokens {
    fn of(usage: Json<'_>) -> Self {
        let count = |key| {
            let count = usage.get(key).and_then(|count| count.as_number());
            count.filter(|count| is_count(*count)).map_or(0, |count| count as u64)
        };
        Self {
            input: count("inputTokens"),
            output: count("outputTokens"),
            cache_read: count("cacheReadTokens"),
            cache_write: count("cacheWriteTokens"),
            reasoning: count("reasoningTokens"),
        }
    }

    fn add(&mut self, other: Self) {
        for (sum, more) in [
            (&mut self.input, other.input),
            (&mut self.output, other.output),
            (&mut self.cache_read, other.cache_read),
            (&mut self.cache_write, other.cache_write),
            (&mut self.reasoning, other.reasoning),
        ] {
            *sum = sum.saturating_add(more);
        }
    }
}

/// What one model used.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelUsage {
    /// The provider.
    pub provider: String,
    /// The model.
    pub model: String,
    /// How many requests said what they used.
    pub requests: u64,
    /// What they used.
    pub tokens: Tokens,
}

/// What a session used.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct UsageView {
    /// How many requests said what they used.
    pub requests: u64,
    /// What they used.
    pub tokens: Tokens,
    /// By model, in the order of provider and model.
    pub models: Vec<ModelUsage>,
}

/// The usage of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Events below this seq were inherited.
    inherited: u64,
    /// Provider and model of the last request header.
    route: (String, String),
    /// What the stream of the request at hand said.
    streamed: Option<Tokens>,
    /// By provider, then by model.
    models: BTreeMap<String, BTreeMap<String, ModelUsage>>,
}

impl Usage {
    /// Makes the projection of a session that inherited so many events.
    pub fn new(inherited: u64) -> Self {
        Self { inherited, ..Self::default() }
    }

    fn count(&mut self, (provider, model): (String, String), tokens: Tokens) {
        let of_provider = self.models.entry(provider.clone()).or_default();
        let usage = of_provider.entry(model.clone()).or_insert_with(|| ModelUsage {
            provider,
            model,
            ..ModelUsage::default()
        });
        usage.requests += 1;
        usage.tokens.add(tokens);
    }

    /// Counts what was streamed and became no message.
    fn settle(&mut self) {
        if let Some(tokens) = self.streamed.take() {
            self.count(self.route.clone(), tokens);
        }
    }

    fn message(&mut self, event: &Event<'_>) {
        let streamed = self.streamed.take();
        if !event.is_append() {
            return;
        }
        let usage = event.field("usage").filter(Json::is_object).map(Tokens::of);
        let source = event.field("message").and_then(|message| message.get("source"));
        if let Some(tokens) = usage.or(streamed) {
            let route = source.and_then(route).unwrap_or_else(|| self.route.clone());
            self.count(route, tokens);
        }
    }
}

/// Returns the provider and the model that a value names.
fn route(value: Json<'_>) -> Option<(String, String)> {
    let word = |key| Some(value.get(key)?.as_text()?.to_lossy().into_owned());
    Some((word("provider")?, word("model")?))
}

impl Fold for Usage {
    fn fold(&mut self, event: &Event<'_>) {
        if event.kind == "request/header"
            && let Some(header) = event.field("header")
            && let Some(route) = header.get("config").and_then(route)
        {
            self.route = route;
        }
        if event.seq < self.inherited || event.packed {
            return;
        }
        match event.kind {
            "assistant/chunk" => {
                let chunk = event.field("chunk");
                let chunk =
                    chunk.filter(|it| it.get("type").is_some_and(|kind| kind.is_str("usage")));
                if let Some(usage) = chunk.and_then(|chunk| chunk.get("usage")) {
                    self.streamed = Some(Tokens::of(usage));
                }
            }
            "assistant/message" => self.message(event),
            "llm/retry" => self.streamed = None,
            "compaction/summary" => {
                if let Some(usage) = event.field("usage").filter(Json::is_object) {
                    let route = word(event, "provider").zip(word(event, "model"));
                    self.count(route.unwrap_or_else(|| self.route.clone()), Tokens::of(usage));
                }
            }
            "step/end" | "turn/start" | "turn/end" => self.settle(),
            _ => {}
        }
    }
}

impl Projection for Usage {
    type View = UsageView;

    fn name(&self) -> &'static str {
        "usage"
    }

    fn version(&self) -> u32 {
        1
    }

    fn listens(&self) -> Listens {
        Listens::Kinds(&[
            "request/header",
            "assistant/chunk",
            "assistant/message",
            "llm/retry",
            "compaction/summary",
            "step/end",
            "turn/start",
            "turn/end",
        ])
    }

    fn view(&self) -> UsageView {
        let mut settled = self.clone();
        settled.settle();
        let mut view = UsageView::default();
        for usage in settled.models.into_values().flat_map(BTreeMap::into_values) {
            view.requests += usage.requests;
            view.tokens.add(usage.tokens);
            view.models.push(usage);
        }
        view
    }
}

impl Resume for Usage {}
