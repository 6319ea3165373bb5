//! The companions: one family of invariants each, folded along a session in a fixed order.
//!
//! The order is that of [`companions`]: on one event the earlier family speaks first. What only
//! [`Profile::Strict`] demands is in companions of its own, each right behind the host's.
//!
//! # Families that are empty on purpose
//!
//! Of the host's invariant packages these check something, and find nothing to check in a stored
//! log: `agent-loop` compares a request, while it is being made, with what the log would rebuild,
//! and the request itself is not stored; `llm` follows the grammar of a response while it streams;
//! `agent`, `agent-presets`, `authorization`, `client-hmr`, `client-modules`, `client-runtime`,
//! `credentials`, `fs`, `host-webserver`, `jobs`, `scope`, `settings`, `storage-domain`,
//! `subagent`, `system-prompt`, `workflow` and `workspace` look at objects of the running program
//! only. (The records of workflow runs are those of `tool-workflow`, and have their family.) All
//! other invariant packages install no check. See `docs/dsh-format.md`, sections 15.16 and
//! 15.17.

use crate::rule::{Basis, Profile, Rule, Severity};
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
mod shape;
mod instant;
mod goal_change;
mod goal_fold;
mod goal;
mod goal_round;
mod schedule;
mod workflow;
mod retry;
mod hook;
mod dispatch;
mod reading;
mod time_context;
mod team_record;
mod team_tasks;
mod team;
mod inbox;

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
    /// What only [`Profile::Strict`] demands is an error and no warning: so in a store of our own,
    /// where nothing else wrote.
    pub extras_are_errors: bool,
}

impl Settings {
    /// Returns the severity of a rule under these settings, or `None` where it does not run.
    ///
    /// It is the profile's, but for `permission/unknown-preset`: a note as long as nobody knows
    /// which presets the host has, and an error where they are given. Where the extras of the
    /// strict profile are errors, its rules of the end stay warnings, because a crash may break
    /// them and nothing later can mend that; a question that is left undecided is closed by
    /// whoever opens the session next, and so is an error.
    pub fn severity(&self, rule: &Rule) -> Option<Severity> {
        if rule.id == permission::UNKNOWN_PRESET && self.presets.is_some() {
            return Some(Severity::Error);
        }
        let severity = rule.severity(self.profile)?;
        let is_extra = rule.host.is_none() && severity == Severity::Warning;
        let can_be_kept =
            rule.basis == Basis::Prefix || rule.id == strict_approval::UNDECIDED_AT_END;
        if self.extras_are_errors && is_extra && can_be_kept {
            return Some(Severity::Error);
        }
        Some(severity)
    }
}

/// A companion that can be copied with its state, for a judge that goes its own way. Whatever is
/// `Clone` is one.
pub trait Fork: Companion + Send {
    /// Returns an equal companion that goes its own way.
    fn fork(&self) -> Box<dyn Fork>;
}

impl<C: Companion + Clone + Send + 'static> Fork for C {
    fn fork(&self) -> Box<dyn Fork> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn Fork> {
    fn clone(&self) -> Self {
        (**self).fork()
    }
}

/// Returns the companions of a profile, in their order.
pub fn companions(settings: &Settings) -> Vec<Box<dyn Fork>> {
    let mut all: Vec<Option<Box<dyn Fork>>> = vec![
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
        host::<goal::GoalStream>(),
        host::<goal_round::GoalRound>(),
        Some(Box::new(schedule::Schedule::new(settings.seed_length))),
        host::<workflow::Workflow>(),
        host::<retry::Retry>(),
        host::<hook::Hook>(),
        host::<dispatch::Dispatch>(),
        host::<time_context::TimeContext>(),
        Some(Box::new(team::Team::new(&settings.session))),
        Some(Box::new(inbox::Inbox::new(settings.seed_length))),
    ];
    all.drain(..).flatten().collect()
}

/// Makes a companion of the host's.
#[expect(clippy::unnecessary_wraps, reason = "it stands in a list with those that may be absent")]
fn host<C: Companion + Clone + Default + Send + 'static>() -> Option<Box<dyn Fork>> {
    Some(Box::new(C::default()))
}

/// Makes a companion that only the strict profile has.
fn strict<C: Companion + Clone + Default + Send + 'static>(
    settings: &Settings,
) -> Option<Box<dyn Fork>> {
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
        goal::RULES,
        goal_round::RULES,
        schedule::RULES,
        workflow::RULES,
        retry::RULES,
        hook::RULES,
        dispatch::RULES,
        time_context::RULES,
        team::RULES,
        inbox::RULES,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn rule_ids_are_two_kebab_words_and_unique() {
        let mut seen = BTreeSet::new();
        for rule in rules().into_iter().flatten() {
            let (family, name) = rule.id.split_once('/').expect("an id has two parts");
            for part in [family, name] {
                let kebab = |byte: u8| byte.is_ascii_lowercase() || byte == b'-';
                assert!(!part.is_empty() && part.bytes().all(kebab), "{}", rule.id);
            }
            assert!(seen.insert(rule.id), "{} is there twice", rule.id);
            assert!(!rule.summary.is_empty() && !rule.help.is_empty(), "{}", rule.id);
        }
    }

    #[test]
    fn the_strict_profile_has_the_hosts_companions_and_more() {
        let names = |profile| -> Vec<_> {
            let settings = Settings { profile, ..Settings::default() };
            companions(&settings).iter().map(|companion| companion.name()).collect()
        };
        let (host, strict) = (names(Profile::Host), names(Profile::Strict));
        assert!(host.iter().all(|name| strict.contains(name)) && host.len() < strict.len());
    }

    #[test]
    fn an_unknown_preset_is_an_error_only_against_a_table() {
        let rule = &permission::RULES[0];
        let mut settings = Settings::default();
        assert_eq!(settings.severity(rule), Some(Severity::Note));
        settings.presets = Some(Vec::new());
        assert_eq!(settings.severity(rule), Some(Severity::Error));
    }
}
