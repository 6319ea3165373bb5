//! Reads one log: container, lines, header, rows, end; everything but what the events mean.

use crate::dsh::bytes::read_full;
use crate::dsh::damage::Defective;
use crate::dsh::decode::Decoder;
use crate::dsh::fault::{Fault, FaultKind};
use crate::dsh::frame::Frame;
use crate::dsh::header::{Header, Judged};
use crate::dsh::intake::Intake;
use crate::dsh::line::{LineSink, Lines, Rest};
use crate::dsh::pipe;
use crate::dsh::scan::LogScan;
use crate::dsh::source::{Framed, Plain, Stream};
use crate::dsh::text::{self, Source};
use crate::event::Place;
use crate::storage::File;
use std::io;

pub use crate::dsh::intake::HeaderSink;

/// How a log is to be read.
#[derive(Clone, Debug)]
pub struct Options {
    /// It is a concatenation of Zstandard frames.
    pub zstd: bool,
    /// The format that its file name states, when it states one.
    pub generation: Option<u64>,
    /// A frame whose text is longer than this, in bytes, is not judged.
    pub frame_bytes_max: u64,
    /// Whether any rule reads the payload of events of a type, given its raw JSON text.
    pub reads: fn(&[u8]) -> bool,
    /// Numbers of lines that are kept whatever their type: what an earlier reading said of
    /// [`Reading::unkept`].
    pub wanted: Vec<u64>,
}

/// What recovery would cut.
#[derive(Clone, Debug, PartialEq)]
pub struct Torn {
    /// Offset on disk from which on the file is cut.
    pub cut: u64,
    /// Records that give no event, the partial one included.
    pub lines: u64,
    /// The rule that names what was found.
    pub rule: &'static str,
    /// What was found, in a sentence.
    pub message: String,
    /// Where.
    pub place: Place,
}

/// What reading a log found.
#[derive(Debug)]
pub struct Reading {
    /// The header, when its reader accepts it.
    pub header: Option<Header>,
    /// The version that the header states.
    pub version: Option<u64>,
    /// The id that the header states, for messages.
    pub shown_id: Option<String>,
    /// Complete frames, in a Zstandard log.
    pub frames: u64,
    /// Logical events of the lawful prefix.
    pub events: u64,
    /// Bytes of all complete lines, the header's left out.
    pub text_bytes: u64,
    /// The first reason for which the host refuses the log.
    pub fault: Option<Fault>,
    /// What recovery would cut; nothing when the host refuses.
    pub torn: Option<Torn>,
    /// What ended the lawful prefix, in a sentence, and in which line; nothing where all complete
    /// lines belong to it.
    pub issue: Option<(String, Option<u64>)>,
    /// Lines that were not judged because their payload was not kept and is read after all. A log
    /// that has such lines is judged by reading it again, with these lines wanted.
    pub unkept: Vec<u64>,
}

/// Reads a log of `bytes` bytes and hands its records on.
///
/// `begin` is called once with the accepted header, before the first record.
///
/// # Errors
///
/// Any error of reading the file.
pub fn read(
    file: &dyn File,
    bytes: u64,
    options: &Options,
    sink: &mut dyn HeaderSink,
) -> io::Result<Reading> {
    if options.zstd {
        framed(file, bytes, options, sink)
    } else {
        plain(file, bytes, options, sink)
    }
}

/// Formats 0 and 1 pack chunks into rows. The format is known by the name, or by peeking at line 1.
fn packs(generation: Option<u64>) -> bool {
    generation.is_none_or(|generation| generation <= 1)
}

fn plain(
    file: &dyn File,
    bytes: u64,
    options: &Options,
    sink: &mut dyn HeaderSink,
) -> io::Result<Reading> {
    let mut intake = Intake::new(options.generation, sink);
    let rest = run(&mut Plain::new(file, bytes), options, &mut intake, 1)?.1;
    let Some(mut scan) = intake.scan else {
        let host = "empty or header-less session log";
        let message = match bytes {
            0 => "the file is empty",
            _ => "there is no complete first line, so there is no header",
        };
        let place = Place { line: Some(1), byte: Some(0), ..Place::default() };
        let (kind, host) = (FaultKind::Corrupt, Some(host.to_owned()));
        let fault = Fault::new(kind, "header/missing", message, host, place);
        return Ok(headless(intake.early.unwrap_or(fault)));
    };
    scan.finish();
    let torn = (scan.kept_bytes < bytes).then(|| plain_torn(&scan, rest, bytes));
    Ok(reading((intake.judged, intake.unkept), scan, torn, 0))
}

/// Runs a source through the joiner; gives the next line's number and the unterminated rest.
fn run<S: LineSink>(
    source: &mut dyn Source,
    options: &Options,
    sink: &mut S,
    number: u64,
) -> io::Result<(u64, Option<Rest>)> {
    let packs = packs(options.generation);
    let mut lines = Lines::new(sink, packs, options.reads, number).wanting(&options.wanted);
    pipe::run(source, packs, &mut lines)?;
    Ok(lines.finish())
}

fn headless(fault: Fault) -> Reading {
    Reading {
        header: None,
        version: None,
        shown_id: None,
        frames: 0,
        events: 0,
        text_bytes: 0,
        fault: Some(fault),
        torn: None,
        issue: None,
        unkept: Vec::new(),
    }
}

/// What an intake leaves.
type Left = (Option<Judged>, Vec<u64>);

fn reading(left: Left, scan: LogScan<'_>, torn: Option<Torn>, frames: u64) -> Reading {
    let (judged, unkept) = left;
    let (header, version, shown_id) = match judged {
        Some(judged) => (judged.header.ok(), judged.version, judged.shown_id),
        None => (None, None, None),
    };
    let issue = scan.describe_issue().zip(scan.issue.as_ref().map(|issue| issue.place.line));
    let judge_seed = || header.as_ref().and_then(|header| header.judge_seed(scan.events));
    let fault = scan.fault.or_else(judge_seed);
    let torn = torn.filter(|_| fault.is_none());
    Reading {
        header,
        version,
        shown_id,
        frames,
        events: scan.events,
        text_bytes: scan.text_bytes,
        issue,
        fault,
        torn,
        unkept,
    }
}

fn plain_torn(scan: &LogScan<'_>, rest: Option<Rest>, bytes: u64) -> Torn {
    let partial = u64::from(rest.is_some());
    let lines = scan.lines - scan.kept_lines + partial;
    let cut = scan.kept_bytes;
    if let Some(issue) = &scan.issue {
        let what = scan.damage.describe(&issue.why, issue.expected);
        let whole = lines - partial;
        let events = scan.damage.events;
        let message = format!(
            "{what}; no turn/end follows, so recovery would drop everything from here on: {whole} \
             complete line(s), {events} event(s) among them"
        );
        let rule = match issue.why {
            Defective::Nuls => "tail/nul-run",
            Defective::Seq(_) => "tail/dropped-events",
            _ => "tail/dropped-lines",
        };
        return Torn { cut, lines, rule, message, place: issue.place };
    }
    let place = Place { line: Some(scan.lines + 1), byte: Some(cut), ..Place::default() };
    let left = bytes - cut;
    if rest.is_some_and(|rest| rest.is_nul) {
        let message = "the end is a run of NUL bytes: space that was allocated and never written";
        let message = message.to_owned();
        return Torn { cut, lines, rule: "tail/nul-run", message, place };
    }
    let message =
        format!("the last record was cut: {left} byte(s) without a line feed at their end");
    Torn { cut, lines, rule: "tail/partial-line", message, place }
}

fn framed(
    file: &dyn File,
    bytes: u64,
    options: &Options,
    sink: &mut dyn HeaderSink,
) -> io::Result<Reading> {
    let mut source = Framed::new(file, bytes, options.frame_bytes_max)?;
    let Some(first) = source.peek() else {
        return Ok(headless(source.walk.fault.unwrap_or_else(|| no_frame(bytes))));
    };
    let mut intake = Intake::new(options.generation, sink);
    intake.early = first_frame(file, first, options)?;
    let (number, rest) = run(&mut source, options, &mut intake, 1)?;
    let walk = source.walk;
    let frames = walk.frames;
    let Some(scan) = &mut intake.scan else {
        let place = Place { line: Some(1), frame: Some(0), byte: Some(0), ..Place::default() };
        let fault = Fault::corrupt("header/missing", FIRST_FRAME, place);
        return Ok(headless(walk.fault.or(intake.early).unwrap_or(fault)));
    };
    scan.end_complete(rest);
    if walk.fault.is_some() {
        // The host walks the whole structure before it decodes anything.
        scan.fault = walk.fault;
    }
    let mut torn = None;
    if walk.torn && scan.fault.is_none() {
        let end =
            TornEnd { frame: frames, cut: walk.complete_bytes, left: bytes - walk.complete_bytes };
        torn = Some(torn_frame(file, end, options, &mut intake, number)?);
    }
    let Some(mut scan) = intake.scan else { return Ok(headless(no_frame(bytes))) };
    scan.finish();
    Ok(reading((intake.judged, intake.unkept), scan, torn, frames))
}

const FIRST_FRAME: &str =
    "corrupt Zstandard session log: first frame is not exactly one header line";

fn no_frame(bytes: u64) -> Fault {
    let place = Place { frame: Some(0), byte: Some(0), ..Place::default() };
    let message = match bytes {
        0 => "the file is empty",
        _ => "the first frame is not complete, so there is no header",
    };
    let host = Some("empty or header-less Zstandard session log".to_owned());
    Fault::new(FaultKind::Corrupt, "header/missing", message, host, place)
}

/// Judges the first frame: its text must be exactly one line.
fn first_frame(file: &dyn File, first: Frame, options: &Options) -> io::Result<Option<Fault>> {
    let place = Place { line: Some(1), frame: Some(0), byte: Some(0), ..Place::default() };
    let (mut newlines, mut text_bytes, mut last) = (0usize, 0u64, 0u8);
    let mut look = |text: &[u8]| {
        newlines += memchr::memchr_iter(b'\n', text).count();
        text_bytes += text.len() as u64;
        last = text.last().copied().unwrap_or(last);
    };
    if first.bound <= text::LARGE_FRAME_BYTES {
        let mut input = vec![0; first.bytes as usize];
        read_full(file, 0, &mut input)?;
        let mut out = Vec::new();
        let max = options.frame_bytes_max;
        let text_bytes_max = u64::from(first.bound).min(max) as usize;
        if let Err(error) = Decoder::new().frame(&input, &mut out, text_bytes_max) {
            return Ok(Some(text::frame_fault(error, 0, 0, max)));
        }
        look(&out);
    } else {
        let (bytes, max) = (u64::from(first.bytes), options.frame_bytes_max);
        let mut stream = Stream::new(file, 0, bytes, Some(0), max);
        while let Some(block) = stream.next_block()? {
            if let Some(fault) = block.fault {
                return Ok(Some(fault));
            }
            look(&block.text);
        }
    }
    if newlines == 1 && last == b'\n' {
        return Ok(None);
    }
    let (rule, message) = match (text_bytes, newlines) {
        (0, _) => ("container/first-frame-empty", "the first frame holds no text"),
        (_, 0) => ("container/first-frame-open", "the header line has no line feed in its frame"),
        _ => (
            "container/first-frame-merged",
            "the first frame holds more than the header line: a tool wrote the log's frames anew",
        ),
    };
    let host = Some(FIRST_FRAME.to_owned());
    Ok(Some(Fault::new(FaultKind::Corrupt, rule, message, host, place)))
}

/// An incomplete last frame.
#[derive(Clone, Copy)]
struct TornEnd {
    /// Its number.
    frame: u64,
    /// Where it starts.
    cut: u64,
    /// How many bytes of it there are.
    left: u64,
}

/// Takes what an incomplete last frame still gives.
fn torn_frame(
    file: &dyn File,
    end: TornEnd,
    options: &Options,
    intake: &mut Intake<'_>,
    number: u64,
) -> io::Result<Torn> {
    let TornEnd { frame, cut, left } = end;
    let before = intake.scan.as_ref().map_or(0, |scan| scan.events);
    let stream = || Stream::torn(file, cut, left, frame, options.frame_bytes_max);
    // The host keeps nothing of a prefix on which its decoder breaks off, so look first.
    let mut probe = stream();
    let mut broken = None;
    while let Some(block) = probe.next_block()? {
        broken = broken.or(block.fault);
    }
    let mut rest = None;
    match broken {
        None => rest = run(&mut stream(), options, intake, number)?.1,
        Some(fault) if fault.kind == FaultKind::Limit => intake.fault(fault),
        Some(_) => {}
    }
    let place = Place { frame: Some(frame), byte: Some(cut), ..Place::default() };
    let Some(scan) = &intake.scan else {
        let message = "the last frame was cut".to_owned();
        return Ok(Torn { cut, lines: 0, rule: "tail/torn-frame", message, place });
    };
    let lines = scan.lines - scan.kept_lines + u64::from(rest.is_some());
    let recovered = scan.events - before;
    if left < 4 {
        let message = format!("{left} stray byte(s) after the last frame");
        return Ok(Torn { cut, lines, rule: "tail/stray-bytes", message, place });
    }
    let mut message = format!(
        "the last frame was cut: {left} byte(s) of it are there, and {recovered} event(s) can be \
         read from them"
    );
    if let Some(issue) = scan.describe_issue() {
        message = format!("{message}; then {issue}");
    }
    Ok(Torn { cut, lines, rule: "tail/torn-frame", message, place })
}
