//! The title of a session: the last one that was given.

use super::kept::Resume;
use super::raw::Raw;
use gatelog_engine::companion::{Fold, Listens, Projection};
use gatelog_engine::event::Event;
use serde::{Deserialize, Serialize};

/// The title.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TitleView {
    /// The text.
    pub title: Option<Raw>,
    /// Who gave it.
    pub source: Option<Raw>,
    /// Seq of the event.
    pub seq: u64,
}

/// The title of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Title {
    title: Option<TitleView>,
}

impl Fold for Title {
    fn fold(&mut self, event: &Event<'_>) {
        if event.kind == "session/title" {
            let member = |key| Raw::member(event.data, key);
            let (title, source) = (member("title"), member("source"));
            self.title = Some(TitleView { title, source, seq: event.seq });
        }
    }
}

impl Projection for Title {
    type View = Option<TitleView>;

    fn name(&self) -> &'static str {
        "title"
    }

    fn version(&self) -> u32 {
        1
    }

    fn listens(&self) -> Listens {
        Listens::Kinds(&["session/title"])
    }

    fn view(&self) -> Option<TitleView> {
        self.title.clone()
    }
}

impl Resume for Title {}
