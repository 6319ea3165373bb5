//! What a new session begins with.

use crate::rules::{Draft, SessionHeader};

/// Gathers the drafts that become a session's first batch: one frame, whole or not at all.
#[derive(Debug)]
pub struct Init<'a> {
    id: &'a str,
    header: &'a SessionHeader,
    drafts: Vec<Draft>,
}

impl<'a> Init<'a> {
    pub(crate) fn new(id: &'a str, header: &'a SessionHeader) -> Self {
        Self { id, header, drafts: Vec::new() }
    }

    /// Returns the id of the session.
    pub fn id(&self) -> &'a str {
        self.id
    }

    /// Returns its header.
    pub fn header(&self) -> &'a SessionHeader {
        self.header
    }

    /// Returns what was gathered so far; the place of a draft is the seq that it will have.
    pub fn drafts(&self) -> &[Draft] {
        &self.drafts
    }

    /// Adds a draft. It is judged when all are gathered.
    pub fn append(&mut self, draft: Draft) {
        self.drafts.push(draft);
    }

    pub(crate) fn into_drafts(self) -> Vec<Draft> {
        self.drafts
    }
}
