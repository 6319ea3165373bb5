//! The scanner: one pass over a text that decides whether it is JSON and lays down its tape.
//!
//! It is a loop with an explicit stack of open containers, so depth costs four bytes a level and
//! no recursion. A malformed text is only known to be malformed here; where and why is found by
//! a second, slow pass over it, by the machine that also judges texts in pieces.

#![expect(clippy::inline_always, reason = "these are the body of one loop, which is hot")]

use super::defect::{Defect, DefectKind};
use super::elements::Elements;
use super::grammar;
use super::lex::{self, Scalar};
use super::tape::{Kind, Node, Tape};

/// Nodes that any text may have, whatever its length.
const NODES_ALWAYS: usize = 4 << 20;

/// Bytes of text for each further node: about the size of a node, so that a tape is seldom larger
/// than its text.
const BYTES_PER_NODE: usize = 24;

/// Scans texts onto tapes; reusable, for the sake of its memory.
#[derive(Clone, Debug, Default)]
pub struct Scanner {
    /// Indexes of the nodes of the containers that are open.
    open: Vec<u32>,
    node_limit: Option<usize>,
}

impl Scanner {
    /// Makes a scanner with the default limit.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how many nodes one text may have. The default is the larger of 4 Mi and one for each
    /// 24 bytes of text.
    #[must_use]
    pub fn node_limit(mut self, nodes: usize) -> Self {
        self.node_limit = Some(nodes);
        self
    }

    /// Scans one text that must hold exactly one JSON value, with white space around it or not.
    /// Appends its nodes to `tape`, the root first, and returns the index of the root.
    ///
    /// # Errors
    /// [`DefectKind::Malformed`] when the text is no JSON, [`DefectKind::TooManyNodes`] when it has
    /// more values than the limit, before anything is known about the rest of it, and
    /// [`DefectKind::TooLong`] when it is 4 GiB or longer. The tape is then as it was before.
    pub fn scan(&mut self, text: &[u8], tape: &mut Tape) -> Result<u32, Defect> {
        if u32::try_from(text.len()).is_err() {
            let what = "the text is longer than 4 GiB";
            return Err(Defect { offset: 0, what, kind: DefectKind::TooLong });
        }
        let root = tape.nodes.len();
        let limit = self.node_limit.unwrap_or(NODES_ALWAYS.max(text.len() / BYTES_PER_NODE));
        self.open.clear();
        let mut run = Run {
            text,
            nodes: &mut tape.nodes,
            open: &mut self.open,
            nodes_max: root.saturating_add(limit).min(u32::MAX as usize),
        };
        match run.value() {
            Ok(()) => Ok(root as u32),
            Err(stop) => {
                tape.nodes.truncate(root);
                Err(explain(text, &stop))
            }
        }
    }
}

/// Why a scan stopped, and where it was.
#[derive(Clone, Copy)]
enum Stop {
    Malformed(usize),
    Full(usize),
}

/// Finds the words for a stop.
#[cold]
fn explain(text: &[u8], stop: &Stop) -> Defect {
    match *stop {
        Stop::Malformed(offset) => grammar::judge(text)
            .err()
            .unwrap_or(Defect::malformed(offset, "the text is not JSON")),
        Stop::Full(offset) => {
            let what = "the text holds more values than the limit";
            Defect { offset, what, kind: DefectKind::TooManyNodes }
        }
    }
}

/// One scan under way.
struct Run<'r> {
    text: &'r [u8],
    nodes: &'r mut Vec<Node>,
    open: &'r mut Vec<u32>,
    /// Nodes that the tape may have in all.
    nodes_max: usize,
}

/// Where the elements of an array end that was read as scalars.
struct Flat {
    /// At the bracket, or at the first element that is a container.
    position: usize,
    count: u32,
    kinds: u8,
    closed: bool,
}

impl Run<'_> {
    /// Scans the whole text.
    fn value(&mut self) -> Result<(), Stop> {
        let text = self.text;
        let mut position = lex::skip_space(text, 0);
        // Whether the innermost open container is an object.
        let mut in_object = false;
        'value: loop {
            let first = *text.get(position).ok_or(Stop::Malformed(position))?;
            match first {
                b'{' => {
                    self.open(Kind::Object, position)?;
                    position = lex::skip_space(text, position + 1);
                    if text.get(position) != Some(&b'}') {
                        position = self.key(position)?;
                        in_object = true;
                        continue 'value;
                    }
                    position += 1;
                    in_object = self.close(position);
                }
                b'[' => {
                    let flat = flat_elements(text, position + 1)?;
                    let index = self.open(Kind::Array, position)?;
                    if flat.closed {
                        let array = &mut self.nodes[index];
                        (array.flag, array.count, array.kinds) = (true, flat.count, flat.kinds);
                        position = flat.position + 1;
                        in_object = self.close(position);
                    } else {
                        self.unflatten(index, &flat)?;
                        position = flat.position;
                        in_object = false;
                        self.count_element(position);
                        continue 'value;
                    }
                }
                _ => {
                    let scalar = lex::scalar(text, position, first).ok_or(Stop::Malformed(position))?;
                    self.push_scalar(position, scalar)?;
                    position = scalar.end;
                }
            }
            // A value has just ended; close what closes, and find the next value.
            loop {
                position = lex::skip_space(text, position);
                if self.open.is_empty() {
                    let end = position == text.len();
                    return if end { Ok(()) } else { Err(Stop::Malformed(position)) };
                }
                let byte = *text.get(position).ok_or(Stop::Malformed(position))?;
                match byte {
                    b',' if in_object => {
                        position = self.key(lex::skip_space(text, position + 1))?;
                        continue 'value;
                    }
                    b',' => {
                        position = lex::skip_space(text, position + 1);
                        self.count_element(position);
                        continue 'value;
                    }
                    b'}' if in_object => {}
                    b']' if !in_object => {}
                    _ => return Err(Stop::Malformed(position)),
                }
                position += 1;
                in_object = self.close(position);
            }
        }
    }

    /// Scans a member's key and colon; returns where its value starts.
    #[inline(always)]
    fn key(&mut self, start: usize) -> Result<usize, Stop> {
        let text = self.text;
        if text.get(start) != Some(&b'"') {
            return Err(Stop::Malformed(start));
        }
        let (end, flag) = lex::string(text, start).ok_or(Stop::Malformed(start))?;
        self.push_scalar(start, Scalar { kind: Kind::String, flag, end })?;
        if let Some(&object) = self.open.last() {
            self.nodes[object as usize].count += 1;
        }
        let colon = lex::skip_space(text, end);
        if text.get(colon) != Some(&b':') {
            return Err(Stop::Malformed(colon));
        }
        Ok(lex::skip_space(text, colon + 1))
    }

    /// Counts the element that starts at `position` in the innermost array, which is not flat.
    #[inline(always)]
    fn count_element(&mut self, position: usize) {
        let kind = match self.text.get(position) {
            Some(b'"') => Kind::String,
            Some(b'{') => Kind::Object,
            Some(b'[') => Kind::Array,
            Some(b'n') => Kind::Null,
            Some(b't') => Kind::True,
            Some(b'f') => Kind::False,
            _ => Kind::Number,
        };
        if let Some(&array) = self.open.last() {
            let array = &mut self.nodes[array as usize];
            array.count += 1;
            array.kinds |= kind.bit();
        }
    }

    /// Opens a container; returns the index of its node.
    #[inline(always)]
    fn open(&mut self, kind: Kind, position: usize) -> Result<usize, Stop> {
        let index = self.nodes.len();
        let start = position as u32;
        self.push(Node { kind, flag: false, kinds: 0, start, end: start, count: 0, span: 1 })?;
        self.open.push(index as u32);
        Ok(index)
    }

    /// Closes the innermost container, which ends before `end`; returns whether the one around it
    /// is an object.
    #[inline(always)]
    fn close(&mut self, end: usize) -> bool {
        if let Some(index) = self.open.pop() {
            let count = self.nodes.len() as u32;
            let node = &mut self.nodes[index as usize];
            node.end = end as u32;
            node.span = count - index;
        }
        self.open.last().is_some_and(|&outer| self.nodes[outer as usize].kind == Kind::Object)
    }

    /// Puts the scalars on the tape that an array begins with which has a container after them.
    #[cold]
    fn unflatten(&mut self, index: usize, flat: &Flat) -> Result<(), Stop> {
        let mut elements = Elements::flat(self.text, self.nodes[index].start as usize + 1, flat.count);
        while let Some((start, scalar)) = elements.next_scalar() {
            self.push_scalar(start, scalar)?;
        }
        let array = &mut self.nodes[index];
        (array.count, array.kinds) = (flat.count, flat.kinds);
        Ok(())
    }

    #[inline(always)]
    fn push_scalar(&mut self, start: usize, scalar: Scalar) -> Result<(), Stop> {
        self.push(Node {
            kind: scalar.kind,
            flag: scalar.flag,
            kinds: 0,
            start: start as u32,
            end: scalar.end as u32,
            count: 0,
            span: 1,
        })
    }

    #[inline(always)]
    fn push(&mut self, node: Node) -> Result<(), Stop> {
        if self.nodes.len() >= self.nodes_max {
            return Err(Stop::Full(node.start as usize));
        }
        self.nodes.push(node);
        Ok(())
    }
}

/// Scans elements that are scalars, from behind the opening bracket of an array.
#[inline]
fn flat_elements(text: &[u8], start: usize) -> Result<Flat, Stop> {
    let mut position = lex::skip_space(text, start);
    let (mut count, mut kinds) = (0, 0);
    if text.get(position) == Some(&b']') {
        return Ok(Flat { position, count, kinds, closed: true });
    }
    loop {
        let first = *text.get(position).ok_or(Stop::Malformed(position))?;
        if matches!(first, b'{' | b'[') {
            return Ok(Flat { position, count, kinds, closed: false });
        }
        let scalar = lex::scalar(text, position, first).ok_or(Stop::Malformed(position))?;
        count += 1;
        kinds |= scalar.kind.bit();
        position = lex::skip_space(text, scalar.end);
        match text.get(position) {
            Some(b',') => position = lex::skip_space(text, position + 1),
            Some(b']') => return Ok(Flat { position, count, kinds, closed: true }),
            _ => return Err(Stop::Malformed(position)),
        }
    }
}
