//! The rules of compaction: ids, what must hold, and help.

use crate::rule::Rule;
use gatelog_engine::companion::RuleId;

pub(super) const TURN_BOUNDARY: RuleId = "compaction/turn-boundary-inside";
pub(super) const INVALID_ID: RuleId = "compaction/invalid-id";
pub(super) const INVALID_COMMAND_ID: RuleId = "compaction/invalid-command-id";
pub(super) const START_WHILE_OPEN: RuleId = "compaction/start-while-open";
pub(super) const START_OWNER: RuleId = "compaction/start-owner";
pub(super) const WITHOUT_START: RuleId = "compaction/without-start";
pub(super) const ID_MISMATCH: RuleId = "compaction/id-mismatch";
pub(super) const COMMAND_ID_MISMATCH: RuleId = "compaction/command-id-mismatch";
pub(super) const OUTSIDE_ITS_TURN: RuleId = "compaction/outside-its-turn";
pub(super) const REPEATED_SUMMARY: RuleId = "compaction/repeated-summary";
pub(super) const EMPTY_SUMMARY: RuleId = "compaction/empty-summary";
pub(super) const RANGE_MISMATCH: RuleId = "compaction/range-mismatch";
pub(super) const TOKEN_COUNT: RuleId = "compaction/invalid-token-count";
pub(super) const END_OWNER: RuleId = "compaction/end-owner-mismatch";
pub(super) const END_WITHOUT_SUMMARY: RuleId = "compaction/end-without-summary";
pub(super) const NEVER_ENDED: RuleId = "compaction/never-ended";

/// The rules of this family, in the order of the specification.
pub(in crate::companion) const RULES: &[Rule] = &[
    Rule::error(
        TURN_BOUNDARY,
        "no turn starts or ends while a compaction is open",
        optional!(
            "A compaction began on one side of a turn's start or end and was finished on the \
             other. Two processes may have worked on the session at once. Check that the summary \
             which the model now sees is whole; if it is not, fork the session from before the \
             compaction."
        ),
    ),
    Rule::error(
        INVALID_ID,
        "every record of a compaction has an id",
        optional!(
            "The record cannot be told to belong to any compaction. Something other than the host \
             wrote it. Check that the summary which the model now sees is whole."
        ),
    ),
    Rule::error(
        INVALID_COMMAND_ID,
        "the command that asked for a compaction is named by a non-empty id",
        optional!(
            "The link to the command that asked for the compaction is broken. The compaction \
             itself counts."
        ),
    ),
    Rule::error(
        START_WHILE_OPEN,
        "a compaction starts only when no other one is open",
        optional!(
            "The compaction before this one was never ended: its end was lost, or two processes \
             compacted at once. The conversation reads as the last summary left it."
        ),
    ),
    Rule::error(
        START_OWNER,
        "a compaction names the open turn, or no turn when none is open",
        optional!(
            "The compaction says it belongs to another turn than the one it lies in. Events may \
             have been moved, removed or mixed by a tool. Compare with a backup."
        ),
    ),
    Rule::error(
        WITHOUT_START,
        "a summary, a checkpoint and an end follow the start of their compaction",
        optional!(
            "The start of the compaction is missing, or a session/end-seed closed it before. \
             Check that the summary which the model now sees is whole; if it is not, fork the \
             session from before this event."
        ),
    ),
    Rule::error(
        ID_MISMATCH,
        "the records of a compaction have one id",
        optional!(
            "Records of two compactions are mixed; two processes may have compacted at once. \
             Check that the summary which the model now sees is whole."
        ),
    ),
    Rule::error(
        COMMAND_ID_MISMATCH,
        "the records of a compaction name one command, or none does",
        optional!(
            "The records disagree about the command that asked for the compaction. The compaction \
             itself counts."
        ),
    ),
    Rule::error(
        OUTSIDE_ITS_TURN,
        "a compaction is summed up and ended where it was started",
        optional!(
            "The turn in which the compaction started is no longer the open one. Check that the \
             summary which the model now sees is whole."
        ),
    ),
    Rule::error(
        REPEATED_SUMMARY,
        "a compaction has one summary",
        optional!(
            "The second summary is not the one that the checkpoint was made for, or the other way \
             round. Compare what the model sees now with both."
        ),
    ),
    Rule::error(
        EMPTY_SUMMARY,
        "a summary says which events it replaces",
        optional!(
            "The record does not tell what was summed up, so it cannot be checked or undone. The \
             conversation itself reads."
        ),
    ),
    Rule::error(
        RANGE_MISMATCH,
        "the range of a summary goes from its first to its last replaced event",
        optional!(
            "The record contradicts itself about what was summed up, so it cannot be checked or \
             undone. The conversation itself reads."
        ),
    ),
    Rule::error(
        TOKEN_COUNT,
        "the tokens that a summary replaces are a whole number, zero or more",
        optional!(
            "Meters that add up what compaction saved will be wrong. Nothing else depends on it."
        ),
    ),
    Rule::error(
        END_OWNER,
        "a compaction ends naming the turn that its start named",
        optional!(
            "Start and end of the compaction disagree about its turn. Events may have been moved \
             or mixed by a tool. Compare with a backup."
        ),
    ),
    Rule::error(
        END_WITHOUT_SUMMARY,
        "a compaction that ends without an error has a summary",
        optional!(
            "The compaction claims to have worked and left no summary. Check what the model sees: \
             if the old messages are gone, fork the session from before the compaction."
        ),
    ),
    Rule::strict(
        NEVER_ENDED,
        "a compaction is ended before the log is",
        "The log stops inside a compaction: the process died or is waiting for the summary. The \
         host drops the unfinished compaction when it opens the session, and the old messages \
         stay. Run it again if you need it.",
    )
    .at_end(),
];
