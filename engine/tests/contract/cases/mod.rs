//! The cases, in one list.

mod basics;
mod classes;
mod closers;
mod failures;
mod formats;
mod large;
mod limits;
mod repeats;
mod writers;

use crate::bench::{Bench, Opened};
use gatelog_engine::backend::{AfterFailedWrite, Keys, OneWriter, Parts};

/// A part of the promises: a store keeps it, or answers as the table of the contract says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// A second writer is refused.
    Lock,
    /// Damage that was acknowledged is told from a torn end.
    TornFromRot,
    /// Commits have an lsn, which orders them across sessions.
    Lsn,
    /// Idempotency keys are honoured with every append.
    Keys,
    /// The log goes on behind a failed write in a new segment; otherwise the file is cut back.
    NewSegment,
    /// Types beyond the format's own are recorded.
    Rules,
    /// A newer generation of a session can appear.
    Generations,
}

pub(crate) const PARTS: [Part; 7] = [
    Part::Lock,
    Part::TornFromRot,
    Part::Lsn,
    Part::Keys,
    Part::NewSegment,
    Part::Rules,
    Part::Generations,
];

impl Part {
    pub(crate) fn is_kept(self, parts: Parts) -> bool {
        match self {
            Self::Lock => parts.one_writer == OneWriter::Locked,
            Self::TornFromRot => parts.tells_torn_from_rot,
            Self::Lsn => parts.order_across_sessions,
            Self::Keys => parts.keys == Keys::Always,
            Self::NewSegment => parts.after_failed_write == AfterFailedWrite::NewSegment,
            Self::Rules => parts.records_rules,
            Self::Generations => parts.generations,
        }
    }
}

/// Which stores a case is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum For {
    Every,
    /// Those that keep a part.
    Keeping(Part),
    /// Those that do not.
    Without(Part),
}

impl For {
    pub(crate) fn fits(self, parts: Parts) -> bool {
        match self {
            Self::Every => true,
            Self::Keeping(part) => part.is_kept(parts),
            Self::Without(part) => !part.is_kept(parts),
        }
    }
}

/// One case: it leaves a store open, which is then opened again from what is there.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) stores: For,
    pub(crate) run: fn(&Bench) -> Opened,
}

macro_rules! cases {
    ($($stores:expr => $module:ident::$case:ident,)*) => {
        /// All cases.
        pub(crate) const CASES: &[Case] = &[$(Case {
            name: stringify!($case),
            stores: $stores,
            run: $module::$case,
        },)*];
    };
}

use For::{Every, Keeping, Without};

cases! {
    Every => basics::a_session_begins_with_all_that_init_appends,
    Every => basics::a_session_without_events_is_a_session,
    Every => basics::each_class_is_accepted_and_read_at_once,
    Every => basics::reading_begins_at_any_seq_and_stops_where_it_is_told,
    Every => basics::the_list_is_in_the_order_of_ids,
    Every => basics::seqs_are_dense_and_time_never_steps_back,
    Every => basics::what_is_refused_leaves_nothing,
    Every => basics::a_session_that_is_not_there_is_said_not_to_be,
    Every => repeats::an_append_that_expects_a_seq_ends_in_one_of_its_outcomes,
    Every => repeats::the_outcomes_are_the_same_after_a_reopen,
    Every => repeats::closers_in_between_make_a_repeat_come_too_late,
    Every => repeats::a_written_commit_repeated_as_synced_makes_one_sync,
    Every => repeats::a_written_commit_repeated_as_synced_in_a_new_process_survives,
    Keeping(Part::Keys) => repeats::a_key_makes_an_append_once,
    Keeping(Part::Keys) => repeats::a_repeat_is_told_by_its_key,
    Without(Part::Keys) => repeats::a_key_without_a_seq_is_refused_by_name,
    Without(Part::Keys) => repeats::a_repeat_is_told_by_its_drafts,
    Every => limits::records_of_a_batch,
    Every => limits::bytes_of_an_id,
    Every => limits::bytes_of_a_batch,
    Every => limits::bytes_of_a_frame,
    Every => limits::bytes_of_a_header,
    Every => limits::the_greatest_seq,
    Every => classes::raising_reaches_the_class_that_is_asked_for,
    Every => classes::closing_syncs_all_that_was_accepted,
    Every => classes::a_new_epoch_keeps_what_was_written,
    Every => classes::what_a_new_epoch_found_is_synced_when_that_is_asked,
    Every => failures::a_failed_write_is_not_written_and_never_there,
    Every => failures::a_failed_creation_leaves_no_session,
    Every => failures::a_failed_write_rewinds_exactly_who_lost_something,
    Every => failures::a_store_that_cannot_sync_is_poisoned_until_it_is_reopened,
    Every => failures::what_a_poisoned_store_read_back_is_durable_once_it_says_so,
    Keeping(Part::NewSegment) => failures::the_log_goes_on_in_a_new_segment,
    Keeping(Part::NewSegment) => failures::a_failed_sync_is_unknown,
    Without(Part::NewSegment) => failures::the_file_is_cut_back_to_where_it_was,
    Without(Part::NewSegment) => failures::a_failed_sync_is_cut_back_and_told,
    Keeping(Part::Lock) => writers::a_second_open_is_refused,
    Keeping(Part::Lock) => writers::a_lock_that_was_deleted_still_holds,
    Without(Part::Lock) => writers::two_of_us_are_kept_apart_by_the_lock_of_a_session,
    Without(Part::Lock) => writers::a_foreign_write_is_found_before_ours,
    Without(Part::Lock) => writers::a_lock_that_was_deleted_is_noticed_by_the_first_write,
    Every => closers::two_threads_that_open_a_session_close_it_once,
    Every => closers::a_turn_of_this_epoch_is_closed_by_the_next,
    Keeping(Part::TornFromRot) => formats::rot_in_what_was_acknowledged_is_refused,
    Without(Part::TornFromRot) => formats::rot_at_the_end_looks_torn,
    Keeping(Part::Lsn) => formats::lsns_order_commits_across_sessions,
    Without(Part::Lsn) => formats::commits_have_no_lsn,
    Keeping(Part::Rules) => formats::rules_are_recorded_once_and_foreign_types_admitted,
    Without(Part::Rules) => formats::rules_leave_nothing_and_foreign_types_are_refused_by_name,
    Every => formats::a_type_that_nobody_registered_is_refused_unless_ignorable,
    Keeping(Part::Generations) => formats::a_newer_generation_ends_the_writing,
    Without(Part::Generations) => formats::a_file_of_another_store_is_nobodys_generation,
    Every => large::a_large_append_holds_up_another_session_for_its_own_write_at_most,
}
