//! The request header in force: what the next request to the model starts with.

use super::kept::Resume;
use super::raw::Raw;
use gatelog_engine::companion::{Fold, Listens, Projection};
use gatelog_engine::event::Event;
use serde::{Deserialize, Serialize};

/// The header.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestView {
    /// The header, whole.
    pub header: Option<Raw>,
    /// Why it was recorded.
    pub reason: Option<Raw>,
    /// Seq of the event.
    pub seq: u64,
}

/// The request header of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    request: Option<RequestView>,
}

impl Fold for Request {
    fn fold(&mut self, event: &Event<'_>) {
        if event.kind == "request/header" {
            let member = |key| Raw::member(event.data, key);
            let (header, reason) = (member("header"), member("reason"));
            self.request = Some(RequestView { header, reason, seq: event.seq });
        }
    }
}

impl Projection for Request {
    type View = Option<RequestView>;

    fn name(&self) -> &'static str {
        "request_header"
    }

    fn version(&self) -> u32 {
        1
    }

    fn listens(&self) -> Listens {
        Listens::Kinds(&["request/header"])
    }

    fn view(&self) -> Option<RequestView> {
        self.request.clone()
    }
}

impl Resume for Request {}
