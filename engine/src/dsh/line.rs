//! Lines, whole and in order, whatever blocks they came in.
//!
//! A line that began in an earlier block is joined and scanned here. One that outgrows
//! [`GIANT_BYTES`] goes through a push validator; its bytes are kept until it is plain that its
//! payload is read by no rule, and no longer, so that memory does not grow with such a line.

use crate::dsh::fault::Fault;
use crate::dsh::row::{self, KEYS, Row};
use crate::dsh::text::{Block, Consumer};
use crate::event::Place;
use crate::json::{Defect, Push, Scanner, Tape};

/// Past this many bytes a line is no longer simply kept.
pub const GIANT_BYTES: usize = 8 << 20;

/// The longest line that is judged, in bytes: the host's runtime cannot hold a longer string.
pub const LINE_BYTES_MAX: u64 = 512 << 20;

/// How many first bytes of a giant line are kept to describe it by.
const HEAD_BYTES: usize = 4096;

/// One complete line.
#[derive(Clone, Copy, Debug)]
pub struct LineView<'a> {
    /// Its number, the header being line 1.
    pub number: u64,
    /// Its bytes without the line feed; of a giant line perhaps a stand-in that lacks the payload.
    pub text: &'a [u8],
    /// Its true length, in bytes, without the line feed.
    pub bytes: u64,
    /// What it holds.
    pub row: &'a Row,
    /// The nodes that `row` points into.
    pub tape: &'a Tape,
    /// Where it starts.
    pub place: Place,
    /// The payload was not kept, because no rule reads it.
    pub opaque: bool,
    /// It is larger than a limit of ours, and so not judged.
    pub over_limit: bool,
    /// It is not judged because its payload was not kept, and turned out to be read: who reads the
    /// log again and has this line kept can judge it.
    pub unkept: bool,
}

impl<'a> LineView<'a> {
    /// A line that is here whole.
    fn whole(number: u64, text: &'a [u8], row: &'a Row, tape: &'a Tape, place: Place) -> Self {
        Self {
            number,
            text,
            bytes: text.len() as u64,
            row,
            tape,
            place,
            opaque: false,
            over_limit: row.is_over_limit(),
            unkept: false,
        }
    }
}

/// Takes the lines of a log.
pub trait LineSink: Send {
    /// Takes one complete line.
    fn line(&mut self, line: LineView<'_>);

    /// Learns that the text breaks off here.
    fn fault(&mut self, fault: Fault);
}

/// What there is of a line that has not ended.
enum Carry {
    Nothing,
    Kept { text: Vec<u8>, place: Place },
    Giant(Box<Giant>),
}

/// A line past [`GIANT_BYTES`].
struct Giant {
    push: Option<Push>,
    defect: Option<Defect>,
    /// Its first bytes, by which damage is told.
    head: Vec<u8>,
    /// Its bytes so far, while they may be needed.
    kept: Option<Vec<u8>>,
    /// It is kept whatever its type.
    is_wanted: bool,
    bytes: u64,
    place: Place,
}

/// Joins blocks into lines and hands them on.
pub struct Lines<'s, S: LineSink> {
    sink: &'s mut S,
    packs: bool,
    /// Whether any rule reads the payload of a type, given the raw JSON text of the type.
    reads: fn(&[u8]) -> bool,
    /// Numbers of lines that are kept whatever their type.
    wanted: &'s [u64],
    scanner: Scanner,
    number: u64,
    carry: Carry,
}

/// An unterminated rest at the end of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rest {
    /// Its length, in bytes.
    pub bytes: u64,
    /// Where it starts.
    pub place: Place,
    /// It starts and ends with NUL bytes.
    pub is_nul: bool,
}

impl<'s, S: LineSink> Lines<'s, S> {
    /// Makes a joiner whose first line has the number `number`.
    pub fn new(sink: &'s mut S, packs: bool, reads: fn(&[u8]) -> bool, number: u64) -> Self {
        let (scanner, carry) = (Scanner::new(), Carry::Nothing);
        Self { sink, packs, reads, wanted: &[], scanner, number, carry }
    }

    /// Has the lines of these numbers kept whatever their type.
    #[must_use]
    pub fn wanting(self, wanted: &'s [u64]) -> Self {
        Self { wanted, ..self }
    }

    /// Returns the number of the next line, and the rest that no line feed ended.
    pub fn finish(self) -> (u64, Option<Rest>) {
        let rest = match self.carry {
            Carry::Nothing => None,
            Carry::Kept { text, place } => {
                let is_nul = text.first() == Some(&0) && text.last() == Some(&0);
                let bytes = text.len() as u64;
                Some(Rest { bytes, place, is_nul })
            }
            Carry::Giant(giant) => {
                let (bytes, place) = (giant.bytes, giant.place);
                Some(Rest { bytes, place, is_nul: giant.head.first() == Some(&0) })
            }
        };
        (self.number, rest.filter(|rest| rest.bytes > 0))
    }

    fn emit(&mut self, line: LineView<'_>) {
        self.number += 1;
        self.sink.line(line);
    }

    /// Adds text without a line feed to what is carried.
    fn keep(&mut self, piece: &[u8], place: Place) {
        if piece.is_empty() {
            return;
        }
        let carry = std::mem::replace(&mut self.carry, Carry::Nothing);
        self.carry = match carry {
            Carry::Nothing => Carry::Kept { text: piece.to_vec(), place },
            Carry::Kept { mut text, place } => {
                text.extend_from_slice(piece);
                if text.len() > GIANT_BYTES {
                    let is_wanted = self.wanted.contains(&self.number);
                    // Of a header other keys count.
                    let push =
                        if self.number == 1 { Push::new() } else { Push::new().asking(&KEYS) };
                    let giant = Giant::new(push, text, place, is_wanted, self.reads);
                    Carry::Giant(Box::new(giant))
                } else {
                    Carry::Kept { text, place }
                }
            }
            Carry::Giant(mut giant) => {
                giant.push(piece, self.reads);
                Carry::Giant(giant)
            }
        };
    }

    /// Scans the lines that the block left unscanned, from `start` on; gives where the rest begins.
    fn unscanned(&mut self, block: &Block, mut start: usize) -> usize {
        let mut tape = Tape::new();
        while let Some(length) = memchr::memchr(b'\n', &block.text[start..]) {
            let (text, place) = (&block.text[start..start + length], block.place(start));
            start += length + 1;
            if !matches!(self.carry, Carry::Nothing) {
                self.keep(text, place);
                self.end_carried();
                continue;
            }
            tape.clear();
            let row = row::read(&mut self.scanner, text, &mut tape, self.packs);
            self.emit(LineView::whole(self.number, text, &row, &tape, place));
        }
        start
    }

    /// Ends the carried line.
    fn end_carried(&mut self) {
        let mut tape = Tape::new();
        match std::mem::replace(&mut self.carry, Carry::Nothing) {
            Carry::Nothing => {}
            Carry::Kept { text, place } => {
                let row = row::read(&mut self.scanner, &text, &mut tape, self.packs);
                self.emit(LineView::whole(self.number, &text, &row, &tape, place));
            }
            Carry::Giant(giant) => self.end_giant(*giant, &mut tape),
        }
    }

    fn end_giant(&mut self, giant: Giant, tape: &mut Tape) {
        let (number, bytes, place) = (self.number, giant.bytes, giant.place);
        let head = giant.head.clone();
        let end = giant.finish(self.reads);
        let (text, opaque) = match &end {
            GiantEnd::Whole(text) => (text.as_slice(), false),
            GiantEnd::StandIn(text) => (text.as_slice(), true),
            GiantEnd::Bad(_) | GiantEnd::OverLimit | GiantEnd::Unkept => (head.as_slice(), false),
        };
        let row = match &end {
            GiantEnd::Bad(defect) => Row::Malformed(*defect),
            GiantEnd::OverLimit | GiantEnd::Unkept => Row::Scalar,
            _ => row::read(&mut self.scanner, text, tape, self.packs),
        };
        let line = LineView::whole(number, text, &row, tape, place);
        let unkept = matches!(end, GiantEnd::Unkept);
        let over_limit = unkept || matches!(end, GiantEnd::OverLimit) || line.over_limit;
        self.emit(LineView { bytes, opaque, over_limit, unkept, ..line });
    }
}

impl<S: LineSink> Consumer for Lines<'_, S> {
    fn block(&mut self, block: &Block) {
        let tail = block.tail_start();
        let mut lines = block.lines.iter();
        if !matches!(self.carry, Carry::Nothing)
            && let Some(first) = lines.next()
        {
            self.keep(&block.text[..first.end], block.place(0));
            self.end_carried();
        }
        for line in lines {
            let (text, place) = (&block.text[line.start..line.end], block.place(line.start));
            self.emit(LineView::whole(self.number, text, &line.row, &block.tape, place));
        }
        let tail = self.unscanned(block, tail);
        self.keep(&block.text[tail..], block.place(tail));
        if let Some(fault) = &block.fault {
            self.carry = Carry::Nothing;
            self.sink.fault(fault.clone());
        }
    }
}

/// How a giant line ended.
enum GiantEnd {
    /// All of it is here.
    Whole(Vec<u8>),
    /// Well-formed; all but its payload is here.
    StandIn(Vec<u8>),
    /// Not JSON.
    Bad(Defect),
    /// Not judged.
    OverLimit,
    /// What was kept is not enough to judge it.
    Unkept,
}

impl Giant {
    fn new(
        push: Push,
        text: Vec<u8>,
        place: Place,
        is_wanted: bool,
        reads: fn(&[u8]) -> bool,
    ) -> Self {
        let head = text[..text.len().min(HEAD_BYTES)].to_vec();
        let push = Some(push);
        let mut giant = Self { push, defect: None, head, kept: None, is_wanted, bytes: 0, place };
        giant.push(&text, reads);
        if giant.defect.is_none() && !giant.is_unread(reads) {
            giant.kept = Some(text);
        }
        giant
    }

    fn push(&mut self, piece: &[u8], reads: fn(&[u8]) -> bool) {
        self.bytes += piece.len() as u64;
        if self.bytes > LINE_BYTES_MAX {
            self.kept = None;
            self.push = None;
        }
        let Some(push) = &mut self.push else { return };
        push.push(piece);
        if let Some(defect) = push.defect() {
            // Nothing that follows makes it JSON again: only its length still counts.
            self.defect = Some(defect);
            self.push = None;
            self.kept = None;
            return;
        }
        if let Some(kept) = &mut self.kept {
            if is_blank(kept) {
                // White space before the value says nothing, however much there is.
                kept.clear();
            }
            kept.extend_from_slice(piece);
        }
        if self.kept.is_some() && self.is_unread(reads) {
            self.kept = None;
        }
    }

    /// Returns whether the line is inside its payload and no rule reads a payload of its type.
    fn is_unread(&self, reads: fn(&[u8]) -> bool) -> bool {
        let Some(push) = &self.push else { return true };
        if self.head.trim_ascii_start().first() == Some(&b'[') {
            // An array is no event, whatever it holds.
            return true;
        }
        !self.is_wanted && push.in_data() && push.kind_so_far().is_some_and(|kind| !reads(kind))
    }

    fn finish(self, reads: fn(&[u8]) -> bool) -> GiantEnd {
        if self.bytes > LINE_BYTES_MAX {
            return GiantEnd::OverLimit;
        }
        if let Some(defect) = self.defect {
            return GiantEnd::Bad(defect);
        }
        if let Some(kept) = self.kept {
            return GiantEnd::Whole(kept);
        }
        let Some(push) = self.push else { return GiantEnd::OverLimit };
        let is_read = push.kind_so_far().is_none_or(reads);
        match push.finish() {
            Err(defect) => GiantEnd::Bad(defect),
            Ok(skeleton) if skeleton.overflow() || (skeleton.retyped() && is_read) => {
                GiantEnd::Unkept
            }
            // Without an envelope it is a scalar or an array; which one does not matter.
            Ok(skeleton) => GiantEnd::StandIn(skeleton.envelope().unwrap_or(b"0".to_vec())),
        }
    }
}

fn is_blank(text: &[u8]) -> bool {
    text.iter().all(u8::is_ascii_whitespace)
}
