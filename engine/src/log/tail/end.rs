//! What is judged last: the header and the end of the last segment, and what a reader may say of
//! them beside a writer.

use super::{Act, Row, Ruling, Verdict, row};

block! {
    /// H: the header of the last segment.
    HeaderFacts, HeaderPattern, HEADERS;
    /// The header.
    header: HeaderIs {
        /// Valid; name, size and predecessor agree.
        Valid,
        /// Valid, and the file is smaller than it says.
        Short,
        /// Valid, and name, size or predecessor are otherwise wrong.
        Foreign,
        /// Not valid.
        Invalid }
    /// What lies behind it.
    body: Body {
        /// Zeros only.
        Zeros,
        /// Something.
        Something }
    /// Whether a witness vouches for the lsn expected next: here, after the segment before.
    vouched: Vouched {
        /// Yes: it was synced, and somebody may have been told so.
        Yes,
        /// No.
        No }
    /// Whether `STORE` calls it active.
    called: Called {
        /// Yes.
        Active,
        /// No.
        Not }
}

pub(crate) static HEADERS: &[Row<HeaderPattern>] = {
    use Verdict::Corrupt;
    const ANY: HeaderPattern = HeaderPattern::ANY;
    const VALID: HeaderPattern = HeaderPattern { header: &[HeaderIs::Valid], ..ANY };
    const SHORT: HeaderPattern = HeaderPattern { header: &[HeaderIs::Short], ..ANY };
    const FOREIGN: HeaderPattern = HeaderPattern { header: &[HeaderIs::Foreign], ..ANY };
    const WRITTEN: HeaderPattern = HeaderPattern { body: &[Body::Something], ..ANY };
    const VOUCHED: HeaderPattern = HeaderPattern { vouched: &[Vouched::Yes], ..ANY };
    const ACTIVE: HeaderPattern = HeaderPattern { called: &[Called::Active], ..ANY };
    &[
        row("H1", VALID, Verdict::GoOn, Act::Nothing),
        row("H2", SHORT, Corrupt("segment/short"), Act::Refuse),
        row("H3", FOREIGN, Corrupt("segment/foreign"), Act::Refuse),
        row("H4", WRITTEN, Corrupt("segment/header"), Act::Refuse),
        row("H5", VOUCHED, Corrupt("segment/header"), Act::Refuse),
        row("H5", ACTIVE, Corrupt("segment/header"), Act::Refuse),
        row("H6", ANY, Verdict::Note("segment/empty"), Act::Quarantine),
    ]
};

block! {
    /// P: the end of the last segment. "There" is the first place in it that does not hold a valid
    /// frame that follows.
    EndFacts, EndPattern, ENDS, vouched: Vouched;
    /// What is there.
    at: At {
        /// The file ends.
        EndOfFile,
        /// Zeros to the end of the file.
        Zeros,
        /// A frame that is valid at its place, and whose lsn or previous digest is wrong.
        Unchained,
        /// A frame's valid header; its body does not check.
        BadBody,
        /// A valid frame of another segment.
        Stale,
        /// A valid frame of this segment that belongs at another offset.
        Misdirected,
        /// Zeros, then other bytes, valid frames among them or not.
        ZerosThenBytes,
        /// Any other bytes, valid frames behind them or not.
        Bytes }
    /// The frame before.
    last: LastFrame {
        /// There is none in the file.
        Absent,
        /// The one that ends a clean stop.
        Close,
        /// The one that ends a full segment.
        Rotate,
        /// Any other.
        Other }
    /// What `STORE` says of the stop.
    stop: Stop {
        /// Clean, and it ended here.
        Clean,
        /// Anything else.
        Open }
    /// What the cache shows and what the device shows, above W; alike for a reader, who cannot ask.
    images: Images {
        /// The same bytes.
        Alike,
        /// Not the same: a sync failed once.
        Differ }
}

pub(crate) static ENDS: &[Row<EndPattern>] = {
    use Verdict::{Clean, Corrupt, Note, Torn};
    const ANY: EndPattern = EndPattern::ANY;
    const CHAIN: EndPattern = EndPattern { at: &[At::Unchained], ..ANY };
    const SYNCED: EndPattern = EndPattern { vouched: &[Vouched::Yes], ..ANY };
    const LOST: EndPattern = EndPattern { at: &[At::EndOfFile, At::Zeros], ..SYNCED };
    const BODY: EndPattern = EndPattern { at: &[At::BadBody], ..SYNCED };
    const ZEROS: EndPattern = EndPattern { at: &[At::Zeros], ..ANY };
    const STOPPED: EndPattern =
        EndPattern { last: &[LastFrame::Close], stop: &[Stop::Clean], ..ANY };
    const FRESH: EndPattern =
        EndPattern { last: &[LastFrame::Absent], images: &[Images::Alike], ..ZEROS };
    const CLOSED: EndPattern = EndPattern { at: &[At::Zeros], images: &[Images::Alike], ..STOPPED };
    &[
        row("P1", CHAIN, Corrupt("frame/chain"), Act::Refuse),
        row("P2", LOST, Corrupt("log/lost-tail"), Act::Refuse),
        row("P2", BODY, Corrupt("frame/body"), Act::Refuse),
        row("P2", SYNCED, Corrupt("frame/header"), Act::Refuse),
        row("P3", EndPattern { at: &[At::EndOfFile], ..ANY }, Clean, Act::Rotate),
        row("P4", FRESH, Clean, Act::Use),
        row("P5", CLOSED, Clean, Act::Use),
        row("P6", ZEROS, Clean, Act::Follow),
        row("P7", STOPPED, Note("segment/residue"), Act::Cut),
        row("P8", EndPattern { at: &[At::BadBody], ..ANY }, Torn, Act::Cut),
        row("P9", EndPattern { at: &[At::Stale, At::Misdirected], ..ANY }, Torn, Act::Cut),
        row("P10", EndPattern { at: &[At::ZerosThenBytes], ..ANY }, Torn, Act::Cut),
        row("P11", ANY, Torn, Act::Cut),
    ]
};

block! {
    /// R: what a reader beside a live writer may say of a place where no valid frame follows.
    LiveFacts, LivePattern, LIVE;
    /// Where the place is.
    place: Placed {
        /// Above the durable end.
        Above,
        /// At or below it.
        Below }
    /// How often these bytes were seen there under this segment id.
    seen: Seen {
        /// For the first time.
        Once,
        /// Before as well.
        Twice }
    /// The file.
    file: FileIs {
        /// Still the one under its name.
        Same,
        /// Gone, or another segment has the name.
        Moved }
}

pub(crate) static LIVE: &[Row<LivePattern>] = {
    const ANY: LivePattern = LivePattern::ANY;
    const ABOVE: LivePattern = LivePattern { place: &[Placed::Above], ..ANY };
    const ONCE: LivePattern = LivePattern { seen: &[Seen::Once], ..ANY };
    const SAME: LivePattern = LivePattern { file: &[FileIs::Same], ..ANY };
    &[
        row("R1", ABOVE, Verdict::InProgress, Act::Nothing),
        row("R2", ONCE, Verdict::Provisional, Act::Again),
        row("R3", SAME, Verdict::GoOn, Act::Nothing),
        row("R4", ANY, Verdict::Provisional, Act::Again),
    ]
};
