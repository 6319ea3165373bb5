//! The strict rules of approvals: ids, what must hold, and help.

use crate::rule::{Rule, Severity};
use gatelog_engine::companion::RuleId;

pub(super) const INVALID_ID: RuleId = "approval/invalid-id";
pub(super) const REPEATED_ID: RuleId = "approval/repeated-id";
pub(super) const DECIDED_BEFORE_ASK: RuleId = "approval/decided-before-ask";
pub(super) const DECIDED_TWICE: RuleId = "approval/decided-twice";
pub(super) const LATER_TURN: RuleId = "approval/decided-in-later-turn";
pub(super) const RAN_WITHOUT_GRANT: RuleId = "approval/ran-without-grant";
pub(super) const UNDECIDED_AT_TURN_END: RuleId = "approval/undecided-at-turn-end";
pub(in crate::companion) const UNDECIDED_AT_END: RuleId = "approval/undecided-at-end";
pub(super) const MANY_CANCELLED: RuleId = "approval/many-cancelled";

/// The rules of this family.
pub(in crate::companion) const RULES: &[Rule] = &[
    Rule::strict(
        INVALID_ID,
        "an approval has an id, a non-empty text",
        "The question cannot be told apart from others, so a decision about it proves nothing. \
         Report it to whoever made the plugin that asked.",
    ),
    Rule::strict(
        REPEATED_ID,
        "the id of an approval is used once in a log",
        "Two questions share an id, and a decision about one can be taken for the other's. The \
         host draws a new id each time; events were copied, or something else asked. Read the two \
         decisions by their places, not by their id.",
    ),
    Rule::strict(
        DECIDED_BEFORE_ASK,
        "a question is asked before it is decided",
        "The decision with this id stands earlier in the log. It allows nothing here: the \
         question is still open. Events were put in another order by a tool, or two processes \
         wrote the session.",
    ),
    Rule::strict(
        DECIDED_TWICE,
        "an approval is decided once",
        "The first decision counts; this one came late and must not be read as a permission. A \
         front end that answers a stale prompt, or two processes that wrote the session, leave \
         such records.",
    ),
    Rule::strict(
        LATER_TURN,
        "an approval is decided in the turn in which it was asked for",
        "The turn that asked was over when the decision came, so what it allowed could not run \
         any more. Do not read it as a permission for the turn that it lies in.",
    ),
    Rule::strict(
        RAN_WITHOUT_GRANT,
        "a call whose approval was not given does not succeed",
        "The log shows no grant for the call, and still it succeeded. A yes that was written in \
         the chat is no approval. Look at what the call did, and at which plugin ran it: it may \
         have gone round the approval, or done less than it asked for.",
    ),
    Rule::strict(
        UNDECIDED_AT_TURN_END,
        "every approval is decided before its turn ends",
        "The turn ended while a question was open: the process died and crash recovery closed the \
         turn, or the question was dropped. Nothing was allowed. Nothing needs to be done.",
    ),
    Rule::strict(
        UNDECIDED_AT_END,
        "every approval is decided before the log ends",
        "The log stops at an open question: the process died, or is still waiting for the answer. \
         Nothing was allowed. When the session is opened again, the question is not asked again \
         by itself.",
    )
    .at_end(),
    Rule::new(
        MANY_CANCELLED,
        None,
        Severity::Note,
        "fewer than ten approvals of one turn end without an answer",
        "Question after question was cancelled or found nobody to answer it, as in an agent \
         without a front end. Give it an approval policy of its own, or a place where it \
         can ask.",
    ),
];
