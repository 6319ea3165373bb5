//! The catalogue of rules.

use crate::companion;
use crate::reader_rules;
use crate::rule::{Rule, Severity};
use crate::store_rules;
use gatelog_engine::dsh::discover;
use std::collections::HashMap;
use std::sync::OnceLock;

/// Returns every rule, those of one family together.
pub(crate) fn all() -> &'static [Rule] {
    static ALL: OnceLock<Vec<Rule>> = OnceLock::new();
    ALL.get_or_init(|| {
        let of_folders = discover::RULES.iter().map(|rule| {
            let severity = match rule.hint {
                discover::Hint::Error => Severity::Error,
                discover::Hint::Warning => Severity::Warning,
                discover::Hint::Note => Severity::Note,
            };
            let (id, summary, help) = (rule.id, rule.summary, rule.help);
            Rule::new(id, Some(severity), severity, summary, help).of_engine()
        });
        let of_companions = companion::rules().into_iter().flatten().copied();
        let of_reader = reader_rules::RULES.iter().copied();
        let of_stores = store_rules::RULES.iter().copied();
        of_reader.chain(of_folders).chain(of_companions).chain(of_stores).collect()
    })
}

/// Returns the rule of an id.
pub(crate) fn find(id: &str) -> Option<&'static Rule> {
    static BY_ID: OnceLock<HashMap<&'static str, &'static Rule>> = OnceLock::new();
    BY_ID.get_or_init(|| all().iter().map(|rule| (rule.id, rule)).collect()).get(id).copied()
}
