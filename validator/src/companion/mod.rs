//! The companions: one family of invariants each, folded along a session in a fixed order.
//!
//! The order is that of [`companions`]: on one event the earlier family speaks first. What only
//! [`Profile::Strict`] demands is in companions of its own, each right behind the host's.

use crate::rule::{Profile, Rule, Severity};
use gatelog_engine::companion::Companion;

/// Ends a help text with what an ordinary host does about the rule: nothing.
macro_rules! optional {
    ($text:literal) => {
        concat!(
            $text,
            " The host checks this only where its companion plugins are installed; an ordinary \
             installation opens the session all the same."
        )
    };
}

#[cfg(test)]
mod testing;
mod script;
mod session;
mod strict_tool;
mod strict_vocabulary;
mod approval;
mod strict_approval;
mod strict_policy;
mod command;
mod strict_command;
mod permission;
mod strict_permission;
mod sandbox;
mod plan;
mod title;
mod todo;
mod compaction;

/// What a set of companions is made for.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Which rules run.
    pub profile: Profile,
    /// `seedLength` of the header, when the session was seeded.
    pub seed_length: Option<u64>,
    /// The session's id, as WTF-8.
    pub session: Vec<u8>,
    /// The preset names that the host has configured, when they are known.
    pub presets: Option<Vec<String>>,
}

impl Settings {
    /// Returns the severity of a rule under these settings, or `None` where it does not run.
    ///
    /// It is the profile's, but for [`permission::UNKNOWN_PRESET`]: a note as long as nobody knows
    /// which presets the host has, and an error where they are given.
    pub fn severity(&self, rule: &Rule) -> Option<Severity> {
        if rule.id == permission::UNKNOWN_PRESET && self.presets.is_some() {
            return Some(Severity::Error);
        }
        rule.severity(self.profile)
    }
}

/// Returns the companions of a profile, in their order.
pub fn companions(settings: &Settings) -> Vec<Box<dyn Companion + Send>> {
    let mut all: Vec<Option<Box<dyn Companion + Send>>> = vec![
        host::<session::Session>(),
        strict::<strict_tool::StrictTool>(settings),
        strict::<strict_vocabulary::StrictVocabulary>(settings),
        host::<approval::Approval>(),
        strict::<strict_approval::StrictApproval>(settings),
        strict::<strict_policy::StrictPolicy>(settings),
        host::<command::Command>(),
        strict::<strict_command::StrictCommand>(settings),
        Some(Box::new(permission::Permission::new(settings.presets.as_deref()))),
        strict::<strict_permission::StrictPermission>(settings),
        host::<sandbox::Sandbox>(),
        host::<plan::Plan>(),
        host::<title::Title>(),
        host::<todo::Todo>(),
        Some(Box::new(compaction::Compaction::new(settings.profile))),
    ];
    all.drain(..).flatten().collect()
}

/// Makes a companion of the host's.
#[expect(clippy::unnecessary_wraps, reason = "it stands in a list with those that may be absent")]
fn host<C: Companion + Default + Send + 'static>() -> Option<Box<dyn Companion + Send>> {
    Some(Box::new(C::default()))
}

/// Makes a companion that only the strict profile has.
fn strict<C: Companion + Default + Send + 'static>(
    settings: &Settings,
) -> Option<Box<dyn Companion + Send>> {
    match settings.profile {
        Profile::Host => None,
        Profile::Strict => Some(Box::new(C::default())),
    }
}

/// Returns the rules of all companions, in the order of the families.
pub fn rules() -> Vec<&'static [Rule]> {
    vec![
        session::RULES,
        strict_tool::RULES,
        strict_vocabulary::RULES,
        approval::RULES,
        strict_approval::RULES,
        strict_policy::RULES,
        command::RULES,
        strict_command::RULES,
        permission::RULES,
        strict_permission::RULES,
        sandbox::RULES,
        plan::RULES,
        title::RULES,
        todo::RULES,
        compaction::RULES,
    ]
}
