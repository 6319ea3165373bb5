//! Texts in pieces: whether they are JSON, and their envelope, in memory that does not grow with
//! them.

use std::collections::HashMap;

use super::block::{self, Window};
use super::defect::Defect;
use super::grammar::{Machine, Step};
use super::skeleton::{Member, Skeleton};
use super::tape::Kind;
use super::text::Text;

/// The longest key or value at the top level that is kept, in bytes.
const CAPTURE_BYTES_MAX: usize = 1 << 20;

/// How many distinct keys at the top level are kept.
const KEYS_MAX: usize = 64;

/// Judges a text that is pushed piece by piece, exactly as a [`Scanner`](super::Scanner) judges it
/// whole, and keeps the envelope of an object: its top-level members but for `data`.
///
/// It holds one bit for each open container, and of the text at most 64 keys with values of at
/// most 1 MiB each; where that is too little the [`Skeleton`] says so.
#[derive(Clone, Debug)]
pub struct Push {
    machine: Machine,
    /// The keys that are asked for; nothing when all are.
    asked: Option<&'static [&'static str]>,
    /// A key that nobody asks for was kept, in place of all of them.
    has_other: bool,
    /// Bytes pushed before the current piece are counted here; the rest fills as they come.
    skeleton: Skeleton,
    failed: Option<Defect>,
    capture: Capture,
    /// Bytes of what is being captured.
    buffer: Vec<u8>,
    /// Where each distinct key is among the members, by its text in WTF-8: a search through all of
    /// them for each key would let a hostile text make sixty-four of each of its bytes.
    known: HashMap<Vec<u8>, usize>,
    /// The member whose value comes next or is under way.
    current: Option<usize>,
    in_data: bool,
    data_seen: bool,
}

/// What happens to the bytes that pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Capture {
    No,
    Yes,
    /// They would be kept, but there are too many.
    TooLong,
}

impl Default for Push {
    fn default() -> Self {
        Self::new()
    }
}

impl Push {
    /// Makes a validator that has seen nothing.
    pub fn new() -> Self {
        Self {
            machine: Machine::new(),
            asked: None,
            has_other: false,
            skeleton: Skeleton {
                root: Kind::Null,
                bytes: 0,
                members: Vec::new(),
                overflow: false,
                retyped: false,
            },
            failed: None,
            capture: Capture::No,
            buffer: Vec::new(),
            known: HashMap::new(),
            current: None,
            in_data: false,
            data_seen: false,
        }
    }

    /// Keeps the members of these keys only, and of all others one key, with `null`: what else
    /// there is then costs nothing and is no overflow.
    #[must_use]
    pub fn asking(self, keys: &'static [&'static str]) -> Self {
        Self { asked: Some(keys), ..self }
    }

    /// Takes the next piece of the text; pieces may end anywhere. After a defect the rest is
    /// counted and not looked at.
    pub fn push(&mut self, piece: &[u8]) {
        let before = self.skeleton.bytes as usize;
        if self.failed.is_none()
            && let Err((offset, what)) = self.take(piece)
        {
            self.failed = Some(Defect::malformed(before + offset, what));
        }
        self.skeleton.bytes += piece.len() as u64;
    }

    /// Returns what is wrong with the text so far, if no continuation can make it JSON.
    pub fn defect(&self) -> Option<Defect> {
        self.failed
    }

    /// Returns the raw value of the top-level `type`, the last one so far, once it is complete.
    pub fn kind_so_far(&self) -> Option<&[u8]> {
        self.skeleton.members[*self.known.get(&b"type"[..])?].value.as_deref()
    }

    /// Returns whether the text so far ends within the value of the top-level `data`, or between
    /// its key and its value.
    pub fn in_data(&self) -> bool {
        self.in_data
    }

    /// Ends the text.
    ///
    /// # Errors
    /// [`Malformed`](super::DefectKind::Malformed) when the text is no JSON; there is no other
    /// kind.
    pub fn finish(self) -> Result<Skeleton, Defect> {
        if let Some(defect) = self.failed {
            return Err(defect);
        }
        let end = self.skeleton.bytes as usize;
        self.machine.finish().map_err(|what| Defect::malformed(end, what))?;
        Ok(self.skeleton)
    }

    fn take(&mut self, piece: &[u8]) -> Result<(), (usize, &'static str)> {
        let mut window = Window::new(piece);
        let mut offset = 0;
        while let Some(&byte) = piece.get(offset) {
            if self.machine.in_string() && !block::is_string_stop(byte) {
                let stop = window.stop_from(offset).min(piece.len());
                self.keep(&piece[offset..stop]);
                offset = stop;
                continue;
            }
            let mut step = self.machine.step(byte).map_err(|what| (offset, what))?;
            if let Step::NumberEnded { depth } = step {
                self.value_ended(depth);
                step = self.machine.step(byte).map_err(|what| (offset, what))?;
            }
            self.follow(step, byte);
            offset += 1;
        }
        Ok(())
    }

    /// Does what a step asks for, with the byte that made it.
    fn follow(&mut self, step: Step, byte: u8) {
        match step {
            Step::ValueBegins { kind, depth } => {
                self.value_begins(kind, depth);
                self.keep(&[byte]);
            }
            Step::ValueEnds { depth } => {
                self.keep(&[byte]);
                self.value_ended(depth);
            }
            Step::KeyBegins => {
                if self.machine.depth() == 1 {
                    self.start();
                }
                self.keep(&[byte]);
            }
            Step::KeyEnds => {
                self.keep(&[byte]);
                if self.machine.depth() == 1 {
                    self.key_ended();
                }
            }
            Step::Inside | Step::NumberEnded { .. } => self.keep(&[byte]),
        }
    }

    fn start(&mut self) {
        self.capture = Capture::Yes;
        self.buffer.clear();
    }

    fn keep(&mut self, bytes: &[u8]) {
        if self.capture != Capture::Yes {
            return;
        }
        if self.buffer.len() + bytes.len() > CAPTURE_BYTES_MAX {
            self.capture = Capture::TooLong;
            self.buffer = Vec::new();
            return;
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// Ends a capture; returns what was kept, if it was all.
    fn stop(&mut self) -> Option<Vec<u8>> {
        let complete = self.capture == Capture::Yes;
        self.skeleton.overflow |= self.capture == Capture::TooLong;
        self.capture = Capture::No;
        complete.then(|| self.buffer.as_slice().to_vec())
    }

    fn key_ended(&mut self) {
        (self.current, self.in_data) = (None, false);
        if self.asked.is_some() && self.capture == Capture::TooLong {
            self.capture = Capture::No;
            self.keep_other(b"\"\"".to_vec());
            return;
        }
        let Some(key) = self.stop() else { return };
        let text = Text::of_raw(&key);
        if self.asked.is_some_and(|asked| !asked.iter().any(|asked| text.eq_str(asked))) {
            self.keep_other(key);
            return;
        }
        let text = text.to_wtf8().into_owned();
        let is_data = text == b"data";
        self.in_data = is_data;
        self.data_seen |= is_data;
        let (count, members) = (self.skeleton.members.len(), &mut self.skeleton.members);
        match self.known.get(&text) {
            Some(place) => self.current = Some(*place),
            None if count == KEYS_MAX => self.skeleton.overflow = true,
            None => {
                members.push(Member { key, is_data, kind: Kind::Null, value: None });
                self.known.insert(text, count);
                self.current = Some(count);
            }
        }
    }

    /// Keeps a key that nobody asks for, if it is the first.
    fn keep_other(&mut self, key: Vec<u8>) {
        if !std::mem::replace(&mut self.has_other, true) {
            let member = Member { key, is_data: false, kind: Kind::Null, value: None };
            self.skeleton.members.push(member);
        }
    }

    fn value_begins(&mut self, kind: Kind, depth: usize) {
        if depth == 0 {
            self.skeleton.root = kind;
            return;
        }
        if depth > 1 || self.skeleton.root != Kind::Object {
            return;
        }
        self.skeleton.retyped |= self.data_seen
            && self.kind_so_far().is_some()
            && self.current.is_some_and(|current| self.known.get(&b"type"[..]) == Some(&current));
        let Some(current) = self.current else { return };
        self.skeleton.members[current].kind = kind;
        if !self.in_data {
            self.start();
        }
    }

    fn value_ended(&mut self, depth: usize) {
        if depth != 1 || self.skeleton.root != Kind::Object {
            return;
        }
        self.in_data = false;
        if self.capture == Capture::No {
            return;
        }
        let value = self.stop();
        if let Some(current) = self.current.take() {
            self.skeleton.members[current].value = value;
        }
    }
}
