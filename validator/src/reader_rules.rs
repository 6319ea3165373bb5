//! The rules of container, lines, header, envelope, place and end: what the reader itself finds.

use crate::rule::Rule;

const RESTORE: &str = "The host refuses this file. Keep it as it is, restore a backup if there is \
    one, and do not let a tool rewrite it before you have a copy.";
const REFRAME: &str = "The host refuses this file although its content may be whole. It can be \
    framed anew without loss: the header line in a frame of its own, then the events.";
const BRANCHES: &str = "The host refuses this file. Two processes wrote the same session: keep a \
    copy, stop every process that has the session open, and choose the branch to keep.";
const CUT: &str = "The host opens this file and cuts its end the next time it is opened for \
    writing. If the end matters, copy the file first.";
const LIMIT: &str = "Nothing is said of this file beyond the limit; it was not judged damaged.";

/// The rules, family by family.
pub(crate) const RULES: &[Rule] = &[
    Rule::error(
        "container/frame-magic",
        "each frame starts with the Zstandard magic number",
        "The bytes there start no frame: something was written into or behind the log, or plain \
         text carries a compressed name. The host refuses the file. What precedes that byte is \
         readable; keep a copy before anything is cut.",
    )
    .of_engine(),
    Rule::error("container/reserved-bit", "reserved bits of a frame header are clear", RESTORE)
        .of_engine(),
    Rule::error("container/block-type", "no block has the reserved type", RESTORE).of_engine(),
    Rule::error(
        "container/frame-invalid",
        "each complete frame decodes, and its checksum holds",
        "The frame's bytes were changed after they were written, or it was made by another tool. \
         The host refuses the file. Later frames may be whole: keep a copy and restore a backup.",
    )
    .of_engine(),
    Rule::error("container/first-frame-empty", "the first frame holds the header line", REFRAME)
        .of_engine(),
    Rule::error(
        "container/first-frame-open",
        "the header line ends with a line feed inside its frame",
        REFRAME,
    )
    .of_engine(),
    Rule::error(
        "container/first-frame-merged",
        "the first frame holds the header line and nothing else",
        REFRAME,
    )
    .of_engine(),
    Rule::error(
        "container/split-record",
        "the complete frames end at the end of a record",
        "The last complete frame ends inside a record, which the host never writes; it refuses the \
         file. If the rest of the record is gone, the log can be framed anew without that record.",
    )
    .of_engine(),
    Rule::error(
        "container/not-a-session-file",
        "the file is a session log",
        "Give the path of a sessions root such as ~/.dsh/sessions, of a session folder, or of a \
         log (session.jsonl, session.jsonl.zstd).",
    )
    .of_engine(),
    Rule::error("line/blank", "no line between records is blank", RESTORE).of_engine(),
    Rule::error(
        "line/bom",
        "no line starts with a byte order mark",
        "An editor or a tool put a byte order mark there; the host refuses the file. Removing \
         those three bytes is enough if the rest is unchanged.",
    )
    .of_engine(),
    Rule::error(
        "line/nul-run",
        "no record consists of NUL bytes",
        "The disk or a crash left space that was allocated and never written. The host refuses the \
         file, because a finished turn follows. What was there is gone; restore a backup.",
    )
    .of_engine(),
    Rule::error(
        "line/glued",
        "each record ends with a line feed",
        "A line feed is missing between two records. The host refuses the file; putting the line \
         feed back is enough if both records then parse and count on.",
    )
    .of_engine(),
    Rule::error(
        "line/split",
        "no line feed stands inside a record",
        "A line feed cuts a record in two. The host refuses the file; joining the two lines is \
         enough if the record then parses.",
    )
    .of_engine(),
    Rule::error("json/malformed", "each line is JSON", RESTORE).of_engine(),
    Rule::error("limit/frame", "no frame decodes to more than --max-frame-bytes", LIMIT)
        .of_engine(),
    Rule::error("limit/line", "no line is longer than 512 MiB", LIMIT).of_engine(),
    Rule::note("limit/findings", "a file has no more findings than are listed", LIMIT).of_engine(),
    Rule::error(
        "limit/unreadable",
        "the file can be opened and read",
        "Nothing is said of this file's content. Check the path, its permissions and the disk.",
    )
    .of_engine(),
    Rule::error(
        "header/missing",
        "the log starts with a complete header line",
        "Nothing before the first line feed (in a compressed log: no complete first frame) can be \
         read as a header; the host refuses the file. An empty file holds nothing to save.",
    )
    .of_engine(),
    Rule::error("header/not-json", "line 1 is JSON", RESTORE).of_engine(),
    Rule::error(
        "header/shape",
        "line 1 is a session header of its format",
        "The host refuses the file: its first line is no session header. The rows behind it may be \
         whole.",
    ),
    Rule::error(
        "header/version",
        "the header's format is one that the file's reader knows",
        "Nothing is damaged. Open it with the release that wrote it, or a newer one.",
    ),
    Rule::error(
        "header/name-version",
        "the format of a file's name is that of its header",
        "Nothing is damaged. The file was renamed, or its header was edited: give it the name of \
         the format that its header states.",
    )
    .of_engine(),
    Rule::error(
        "header/retired-fields",
        "the header has no sandboxMode and no approvalPolicy",
        "An early release wrote those fields; the host of today refuses the file because of them.",
    ),
    Rule::error(
        "header/cwd",
        "cwd, where present, is an absolute path by POSIX rules",
        "The host refuses the file on this system. A session that was recorded on Windows has a \
         Windows path there, and opens on Windows only.",
    ),
    Rule::error("header/parent-session", "parentSession, where present, is a string", RESTORE),
    Rule::error(
        "header/seed-length",
        "seedLength, where present, is a whole number; in format 1 it counts events of the log",
        RESTORE,
    ),
    Rule::error(
        "identity/other-id",
        "the header's id is the one that the session's folder stands for",
        "The folder was renamed or copied, or the header was edited. The host refuses the file \
         there; give the folder the name of the header's id, or move it where it belongs.",
    )
    .of_engine(),
    Rule::error(
        "identity/elsewhere",
        "the header's cwd names the project folder in which the file lies",
        "The file was moved or copied to another project. The host refuses it there; move it to \
         the place that its header names.",
    )
    .of_engine(),
    Rule::error(
        "identity/cannot-name",
        "the header's id and cwd can name a place",
        "The host cannot work out where a session with this id and cwd belongs, and refuses the \
         file.",
    )
    .of_engine(),
    Rule::error(
        "identity/too-long",
        "the session's id is short enough to be looked up",
        "The host lists this session and can never open it, because its id makes too long a file \
         name.",
    )
    .of_engine(),
    Rule::error(
        "identity/unresolved",
        "the system can say whether two paths are one",
        "The host asks the system for the real path of this file and gets an error, and so refuses \
         it.",
    )
    .of_engine(),
    Rule::note(
        "identity/not-checked",
        "id, place and encoding of a file are judged inside a sessions root only",
        "The content was judged; whether the host finds the file where it lies was not.",
    )
    .of_engine(),
    Rule::error("envelope/seq-gap", "seqs follow each other without a gap", RESTORE).of_engine(),
    Rule::error("envelope/seq-overlap", "no seq comes twice", BRANCHES).of_engine(),
    Rule::error(
        "envelope/seq-restart",
        "a log starts once",
        "The log starts again in the middle of the file: two logs were joined, or a second process \
         began the session anew. The host refuses the file. Keep a copy; each part may be sound by \
         itself.",
    )
    .of_engine(),
    Rule::error("envelope/not-an-event", "each row is an event", RESTORE).of_engine(),
    Rule::error("envelope/null-row", "no row is null", RESTORE).of_engine(),
    Rule::error("envelope/packed-row", "packed rows obey their rules", RESTORE).of_engine(),
    Rule::error(
        "envelope/invalid",
        "each event has the keys type, seq, time and data, of their types, and no unknown one",
        "The host refuses the file when it replays this event.",
    ),
    Rule::error(
        "envelope/unknown-type",
        "each event's type is known, or marked ignorable",
        "Nothing is damaged. A newer release or a plugin wrote this event; open the session with \
         it.",
    ),
    Rule::error(
        "envelope/retired-type",
        "no event is of a type that the host no longer replays",
        "Nothing is damaged. An early release wrote this event, and the host of today does not \
         read it.",
    ),
    Rule::error(
        "envelope/null-payload",
        "no payload that the host looks into is null or absent",
        "The host breaks off on this event when it looks for an open turn, and refuses the file.",
    ),
    Rule::note(
        "envelope/foreign-type",
        "every type of event in a store is one that is judged here",
        "A front end registered the type when the store was opened, and the log says so. Its \
         events are kept and read like all others; what they mean only their owner can judge.",
    )
    .of_engine(),
    Rule::note(
        "envelope/meaning-not-checked",
        "the meaning of events of formats 1 to 4 is not judged yet",
        "Container, lines, JSON, header and envelopes were judged; what the events mean was not.",
    )
    .of_engine(),
    Rule::warning("tail/partial-line", "the last record is complete", CUT).of_engine(),
    Rule::warning(
        "tail/torn-frame",
        "the last frame is complete",
        "A write was cut short. The host opens the file, keeps the records that can still be read, \
         and cuts the frame the next time it writes.",
    )
    .of_engine(),
    Rule::warning("tail/stray-bytes", "nothing stands behind the last frame", CUT).of_engine(),
    Rule::warning("tail/dropped-lines", "no complete line is lost at the end", CUT).of_engine(),
    Rule::warning("tail/dropped-events", "no event is lost at the end", CUT).of_engine(),
    Rule::warning("tail/nul-run", "the end is no run of NUL bytes", CUT).of_engine(),
    Rule::note(
        "tail/live-writer",
        "nobody writes the file while it is read",
        "A process has it open for writing: what looks like a torn end may be a record on its way. \
         Look again when the session is at rest.",
    )
    .of_engine(),
    Rule::error(
        "message/identity",
        "each message has an id",
        "The host refuses the file. A plugin that appends messages without an id is the usual \
         cause.",
    ),
    Rule::error("message/role", "each message has the role of its event", RESTORE),
    Rule::error("message/source", "each message says where it comes from", RESTORE),
    Rule::error("message/content", "each message has a list of content", RESTORE),
    Rule::error("message/model-source", "an assistant's message names provider and model", RESTORE),
    Rule::error("message/tool-source", "a tool's message names its call", RESTORE),
    Rule::error("message/result-block", "a tool's message is one result block", RESTORE),
    Rule::error("message/call-mismatch", "a result block names the call of its message", RESTORE),
    Rule::error("request/provider-model", "a request header names provider and model", RESTORE),
    Rule::error("request/reasoning-effort", "reasoningEffort is a non-empty string", RESTORE),
    Rule::error("request/adapter-defaults", "adapterDefaults marks what config has", RESTORE),
    Rule::error("request/no-payload", "a request header has a payload", RESTORE),
    Rule::error("surface/not-eligible", "only messages stand on the surface", RESTORE),
    Rule::error("surface/missing-op", "each message says what it does to the surface", RESTORE),
    Rule::error("surface/invalid-op", "surfaceOp is append or a replacement", RESTORE),
    Rule::error(
        "surface/invalid-replace",
        "a replacement has exactly op, start and end, of whole numbers",
        RESTORE,
    ),
    Rule::error("surface/unknown-node", "a replacement names nodes of the surface", RESTORE),
    Rule::error("surface/reversed-range", "a replacement's start is not behind its end", RESTORE),
    Rule::error("surface/missing-sources", "a replacement cites all that it removes", RESTORE),
    Rule::error("surface/result-rewrite", "a rewritten tool result changes content only", RESTORE),
    Rule::error("surface/sources-shape", "sourceEventSeqs is a list of whole numbers", RESTORE),
    Rule::error("surface/sources-repeated", "sourceEventSeqs names no event twice", RESTORE),
    Rule::error("surface/sources-late", "sourceEventSeqs names earlier events", RESTORE),
    Rule::note(
        "seed/longer-than-log",
        "a seed is no longer than the log that holds it",
        "seedLength in the header says more events were inherited than the log holds. The host \
         opens the file; a later release refuses to migrate it.",
    )
    .at_end(),
    Rule::note(
        "turn/open-at-end",
        "the last turn is closed",
        "The session stopped inside a turn. The host closes it when the session is opened again; \
         nothing is lost.",
    )
    .at_end(),
    Rule::error(
        "turn/malformed-legacy",
        "events of old shapes can be given their present form",
        "The host refuses the file because it cannot bring this event into its present form.",
    ),
    Rule::error(
        "tool/unclosable-call",
        "a call that is open at the end has an id",
        "The session stopped inside a turn with a call whose id is empty or no string. The host \
         cannot close such a call, and so refuses the file.",
    )
    .at_end(),
];
