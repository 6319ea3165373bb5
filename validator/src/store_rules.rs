//! The rules of a native store: log, segments, frames, witnesses.

use crate::rule::Rule;

const REFUSED: &str = "The store is refused for writing, and nothing of it was changed: what is \
    damaged was synced, so somebody may have been told that it is safe. Copy the directory before \
    anything touches it, and restore a backup, or what a repair saves.";
const COPY: &str = "The directory is not one store as one moment left it: it was copied while it \
    was written, or restored in part, or files of another were put into it. Copy the whole store \
    again while nobody writes it.";
const BUG: &str = "Every checksum holds, so this is what was written: the program that wrote it \
    had a bug. Nothing is repaired; keep a copy, and report it with this output.";
const END: &str = "Nothing that a witness vouches for is lost. The next open for writing ends the \
    log here and goes on in a new segment; the bytes behind stay in this one.";
const ASIDE: &str = "Nothing is lost with it; the next open for writing sets it right.";

/// The rules, family by family.
pub(crate) const RULES: &[Rule] = &[
    Rule::error("log/lost-tail", "what was synced is there up to its end", REFUSED).of_engine(),
    Rule::error(
        "log/gap",
        "no lsn is skipped but where a cut fell on a segment's first frame",
        BUG,
    )
    .of_engine(),
    Rule::warning("log/torn", "nothing lies behind the end of the log", END).at_end(),
    Rule::note(
        "log/unconfirmed",
        "a witness vouches for every frame",
        "The frames were written, and the process died, or the disk was copied, before anything \
         said that they were synced. The next open for writing keeps them and makes them durable; \
         a power cut before that may take them.",
    )
    .at_end(),
    Rule::note(
        "log/live-writer",
        "nobody writes the store while it is read",
        "What lies above the durable end is on its way and was not checked. Verify again when the \
         writer has stopped, if its end matters.",
    )
    .at_end(),
    Rule::error("segment/missing", "every segment that is named is there", REFUSED).of_engine(),
    Rule::error("segment/short", "a segment has the size that its header states", REFUSED)
        .of_engine(),
    Rule::error("segment/header", "every segment that was used has a valid header", REFUSED)
        .of_engine(),
    Rule::error(
        "segment/foreign",
        "a segment's header belongs to its file and to the segments beside it",
        COPY,
    )
    .of_engine(),
    Rule::error(
        "segment/table",
        "a segment says rightly where the table of the one before lies",
        BUG,
    )
    .of_engine(),
    Rule::warning(
        "segment/padding",
        "zeros lie between groups",
        "No record is lost with it, and the store opens. But what was written there were zeros: \
         the disk, or something that writes to it, changes bytes. Copy the store, and look at the \
         disk.",
    )
    .of_engine(),
    Rule::note("segment/cut", "what a cut left behind is what the next segment states", ASIDE)
        .of_engine(),
    Rule::note("segment/empty", "every file with a segment's name holds one", ASIDE).of_engine(),
    Rule::note("segment/residue", "nothing lies behind the end of a clean stop", ASIDE).of_engine(),
    Rule::note("segment/stale", "no frame of another segment lies at the end", END).of_engine(),
    Rule::note("segment/misdirected", "no frame of another place lies at the end", END).of_engine(),
    Rule::error("frame/header", "every frame that was synced has its header", REFUSED).of_engine(),
    Rule::error("frame/body", "every frame that was synced has its body", REFUSED).of_engine(),
    Rule::error(
        "frame/chain",
        "every frame follows the one before",
        "A whole frame stands where another should be; no crash does that. Something rewrote part \
         of the store, or put an older file in its place. The store is refused for writing: copy \
         the directory before anything touches it, and restore a backup.",
    )
    .of_engine(),
    Rule::error("frame/malformed", "header and body of a frame are what its kind demands", BUG)
        .of_engine(),
    Rule::error("frame/no-session", "a session is created before it is used", BUG).of_engine(),
    Rule::error("frame/created-again", "the id of a session is used once", BUG).of_engine(),
    Rule::error("frame/session-link", "a frame names the frame of its session before it", BUG)
        .of_engine(),
    Rule::error("frame/table", "the table of a segment says what its frames say", BUG).of_engine(),
    Rule::error("frame/durable", "what frames state as durable never falls", BUG).of_engine(),
    Rule::error("frame/epoch", "the epochs of frames never fall", BUG).of_engine(),
    Rule::error("store/mixed", "all files of a store are of one store and one moment", COPY)
        .of_engine(),
    Rule::error(
        "store/witness",
        "STORE and DURABLE state the end of the frame that they name",
        "The file was not written by the store as it is, or by a program with a bug. It may be \
         deleted: the store still opens, with one witness less.",
    )
    .of_engine(),
    Rule::note(
        "store/behind",
        "the log reaches as far as STORE and DURABLE say",
        "The log ends before what was synced: its end is lost, or the segments are older than the \
         two files beside them. The finding before this one says where.",
    )
    .of_engine(),
    Rule::note(
        "store/no-superblock",
        "STORE has a slot that counts",
        "The store opens without it. With one witness less, damage at the very end may look like \
         a crash.",
    )
    .of_engine(),
    Rule::note("store/stale-slot", "STORE calls the last segment active", ASIDE).of_engine(),
    Rule::note(
        "store/copied",
        "STORE is the file that it says it is",
        "The store was copied or moved to another disk. That is lawful; make sure that only one \
         of the copies is written, because their sessions have the same ids.",
    )
    .of_engine(),
    Rule::error(
        "format/unsupported",
        "the store is of a version that this program reads",
        "Nothing is damaged, and nothing was judged. Use a newer version of this program.",
    )
    .of_engine(),
];
