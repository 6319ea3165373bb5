//! What is judged before the end of the log is: the directory, and every file but the last segment.

use super::{Act, Row, Ruling, Verdict, row};

block! {
    /// L: what is known before anything is judged.
    Sight, SightPattern, SIGHT;
    /// The lock of the store.
    lock: Lock {
        /// It is ours, or we only read.
        Ours,
        /// Another has it, and we want to write.
        Taken }
    /// Whether everything could be read.
    read: Read {
        /// Yes.
        Fine,
        /// A read failed three times.
        Failed }
    /// What lies in the directory.
    contents: Contents {
        /// No `STORE`, no `DURABLE`, no segment, and no spare with a segment's header.
        Nothing,
        /// Something of a store.
        Something }
    /// Store ids in `STORE`, `DURABLE` and the headers.
    ids: Ids {
        /// One.
        One,
        /// More than one.
        Two }
    /// Versions in `STORE` and the headers.
    format: Format {
        /// All known.
        Known,
        /// A newer one.
        Unknown }
    /// The slots of `STORE`.
    superblock: Superblock {
        /// One is valid at least.
        Valid,
        /// None is, or the file is not there.
        Absent }
}

pub(crate) static SIGHT: &[Row<SightPattern>] = {
    const ANY: SightPattern = SightPattern::ANY;
    &[
        row("L1", SightPattern { lock: &[Lock::Taken], ..ANY }, Verdict::Locked, Act::Nothing),
        row("L2", SightPattern { read: &[Read::Failed], ..ANY }, Verdict::Io, Act::Nothing),
        row("L3", SightPattern { contents: &[Contents::Nothing], ..ANY }, Verdict::New, Act::Make),
        row("L5", SightPattern { ids: &[Ids::Two], ..ANY }, MIXED, Act::Refuse),
        row("L6", SightPattern { format: &[Format::Unknown], ..ANY }, UNKNOWN, Act::Refuse),
        row("L4", SightPattern { superblock: &[Superblock::Absent], ..ANY }, NO_STORE, SLOT),
        row("L0", ANY, Verdict::GoOn, Act::Nothing),
    ]
};

const MIXED: Verdict = Verdict::Corrupt("store/mixed");
const UNKNOWN: Verdict = Verdict::Unsupported;
const NO_STORE: Verdict = Verdict::Note("store/no-superblock");
const SLOT: Act = Act::WriteSlot;

block! {
    /// F: one file, or one name that a witness gives; of all segments but the last.
    FileFacts, FilePattern, FILES;
    /// What the row is about.
    subject: Subject {
        /// A file called `spare-*`.
        Spare,
        /// A segment that `STORE`, `DURABLE` or a header names.
        Named,
        /// A segment with a successor.
        Closed,
        /// `*.tmp`, and what can be made again.
        Aside }
    /// What a spare holds.
    spare: SpareHolds {
        /// A segment's header whose predecessor is the segment with the greatest name.
        LostRename,
        /// Zeros.
        Zeros,
        /// Anything else.
        Else }
    /// Where the named segment is.
    named: NamedIs {
        /// There, the last one or one that a header names.
        There,
        /// There, and not the last, although `STORE` calls it active.
        Earlier,
        /// Not there.
        Missing }
    /// The raw file.
    raw: Raw {
        /// Whole up to where its successor says that it ends.
        Whole,
        /// Bad before that end.
        Bad,
        /// It ends in zeros, or with its file, before that end.
        Early,
        /// Not there.
        Absent }
    /// The sealed file.
    seal: Seal {
        /// Not there.
        Absent,
        /// It checks.
        Good,
        /// A block, a table or the trailer is bad.
        Damaged,
        /// Its chain is not the log's.
        Unchained,
        /// A hole that no deletion explains.
        Holed }
}

pub(crate) static FILES: &[Row<FilePattern>] = {
    use Verdict::Corrupt;
    const ANY: FilePattern = FilePattern::ANY;
    const SPARE: FilePattern = FilePattern { subject: &[Subject::Spare], ..ANY };
    const NAMED: FilePattern = FilePattern { subject: &[Subject::Named], ..ANY };
    const CLOSED: FilePattern = FilePattern { subject: &[Subject::Closed], ..ANY };
    const RAW: FilePattern = FilePattern { seal: &[Seal::Absent], ..CLOSED };
    const SEALED: FilePattern = FilePattern { raw: &[Raw::Absent], ..CLOSED };
    const LOST: FilePattern = FilePattern { spare: &[SpareHolds::LostRename], ..SPARE };
    const ZEROS: FilePattern = FilePattern { spare: &[SpareHolds::Zeros], ..SPARE };
    const GONE: FilePattern = FilePattern { named: &[NamedIs::Missing], ..NAMED };
    const NEITHER: FilePattern = FilePattern { seal: &[Seal::Absent], ..SEALED };
    const MISSING: Verdict = Corrupt("segment/missing");
    &[
        row("F1", LOST, Verdict::GoOn, Act::Rename),
        row("F2", ZEROS, Verdict::Whole, Act::Nothing),
        row("F2", SPARE, Verdict::LeftOver, Act::Discard),
        row("F3", GONE, MISSING, Act::Refuse),
        row("F3", NEITHER, MISSING, Act::Refuse),
        row("F4", FilePattern { raw: &[Raw::Whole], ..RAW }, Verdict::Whole, Act::Seal),
        row("F5", FilePattern { raw: &[Raw::Early], ..RAW }, MIXED, Act::Refuse),
        row("F5", RAW, Corrupt("frame/*"), Act::Refuse),
        row("F0", FilePattern { seal: &[Seal::Good], ..SEALED }, Verdict::Whole, Act::Nothing),
        row("F6", FilePattern { seal: &[Seal::Good], ..CLOSED }, Verdict::Whole, Act::Recycle),
        row("F7", FilePattern { raw: &[Raw::Whole], ..CLOSED }, SPOILT, Act::Quarantine),
        row("F9", FilePattern { seal: &[Seal::Damaged], ..SEALED }, Corrupt("seal/*"), SESSIONS),
        row("F10", FilePattern { seal: &[Seal::Unchained], ..SEALED }, UNCHAINED, SESSIONS),
        row("F11", SEALED, Corrupt("seal/hole"), SESSIONS),
        row("F8", CLOSED, Corrupt("frame/*"), Act::Refuse),
        row("F12", FilePattern { named: &[NamedIs::Earlier], ..NAMED }, STALE_SLOT, SLOT),
        row("F13", FilePattern { subject: &[Subject::Aside], ..ANY }, LEFT, Act::Discard),
        row("F0", ANY, Verdict::GoOn, Act::Nothing),
    ]
};

const LEFT: Verdict = Verdict::LeftOver;
const SESSIONS: Act = Act::RefuseSessions;
const SPOILT: Verdict = Verdict::Note("seal/spoilt");
const STALE_SLOT: Verdict = Verdict::Note("store/stale-slot");
const UNCHAINED: Verdict = Verdict::Corrupt("seal/chain");
