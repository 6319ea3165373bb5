//! The scanner: one pass over a text that decides whether it is JSON and lays down its tape.
//!
//! It is a loop over what comes next, with a stack of open containers, so depth costs four bytes a
//! level and no recursion. Two shortcuts take what nearly all of a log is made of: members written
//! without white space ([`plain`](super::plain)), and arrays of scalars ([`flat`](super::flat));
//! they may leave any of it to the loop, which can do everything.
//!
//! A malformed text is only known to be malformed here; where and why is found by a second, slow
//! pass over it, by the machine that also judges texts in pieces.

#![expect(clippy::inline_always, reason = "these are the body of one loop, which is hot")]

use super::block::Window;
use super::defect::{Defect, DefectKind};
use super::elements::Elements;
use super::flat::{self, Flat};
use super::grammar;
use super::lex::{self, Scalar};
use super::plain;
use super::tape::{Kind, Node, Tape};

/// Nodes that any text may have, whatever its length.
const NODES_ALWAYS: usize = 4 << 20;

/// Bytes of text for each further node: about the size of a node, so that a tape is seldom larger
/// than its text.
const BYTES_PER_NODE: usize = 24;

/// Nodes that a tape has room for when it gets its first one.
const NODES_AT_FIRST: usize = 64;

/// Scans texts onto tapes; reusable, for the sake of its memory.
#[derive(Clone, Debug, Default)]
pub struct Scanner {
    /// Places on the tape of the containers that are open.
    open: Vec<u32>,
    node_limit: Option<usize>,
}

impl Scanner {
    /// Makes a scanner with the default limit.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how many nodes one text may have: one for each container, two for each member, and one
    /// for each element of an array that has a container among its elements. The default is the
    /// larger of 4 Mi and one for each 24 bytes of text.
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
        let root = tape.used;
        let limit = self.node_limit.unwrap_or(NODES_ALWAYS.max(text.len() / BYTES_PER_NODE));
        self.open.clear();
        let mut run = Run {
            window: Window::new(text),
            nodes: &mut tape.nodes,
            open: &mut self.open,
            at: At { position: 0, used: root, count: 0 },
            nodes_max: root.saturating_add(limit).min(u32::MAX as usize),
        };
        let stop = run.text().err();
        // Looked at last, so that it does not depend on the room that the tape already had.
        let stop = if run.at.used > run.nodes_max { Some(Stop::Full) } else { stop };
        let At { position, used, .. } = run.at;
        match stop {
            None => {
                tape.used = used;
                Ok(root as u32)
            }
            Some(stop) => Err(explain(text, stop, position)),
        }
    }
}

/// Why a scan stopped.
#[derive(Clone, Copy)]
pub(super) enum Stop {
    /// The text is no JSON.
    Malformed,
    /// There are more nodes than there may be.
    Full,
}

/// Finds the words for a stop.
#[cold]
fn explain(text: &[u8], stop: Stop, offset: usize) -> Defect {
    match stop {
        Stop::Malformed => {
            grammar::judge(text).err().unwrap_or(Defect::malformed(offset, "the text is not JSON"))
        }
        Stop::Full => {
            let what = "the text holds more values than the limit";
            Defect { offset, what, kind: DefectKind::TooManyNodes }
        }
    }
}

/// Where a scan is.
#[derive(Clone, Copy)]
pub(super) struct At {
    /// In the text.
    pub(super) position: usize,
    /// On the tape: how many nodes count.
    pub(super) used: usize,
    /// In the innermost open container: its members or elements so far.
    pub(super) count: u32,
}

/// What comes next.
#[derive(Clone, Copy)]
pub(super) enum Next {
    /// The key of a member.
    Key,
    /// An element.
    Element,
    /// What follows a member.
    AfterMember,
    /// What follows an element.
    AfterElement,
    /// What follows the root.
    End,
}

/// The key of a member.
#[derive(Clone, Copy)]
struct Key {
    flag: bool,
    start: usize,
    end: usize,
}

/// One scan under way.
struct Run<'r> {
    window: Window<'r>,
    /// The tape, and room behind what is used of it.
    nodes: &'r mut Vec<Node>,
    open: &'r mut Vec<u32>,
    at: At,
    /// Nodes that the tape may have in all.
    nodes_max: usize,
}

impl Run<'_> {
    /// Scans the whole text.
    fn text(&mut self) -> Result<(), Stop> {
        self.skip_space();
        let mut next = self.value(None)?;
        loop {
            next = match next {
                Next::Key => {
                    match plain::members(&mut self.window, self.nodes, self.open, &mut self.at) {
                        Some(next) => next,
                        None => self.member()?,
                    }
                }
                Next::Element => {
                    self.at.count += 1;
                    self.value(None)?
                }
                Next::AfterMember => self.after(b'}', Next::Key)?,
                Next::AfterElement => self.after(b']', Next::Element)?,
                Next::End => {
                    self.skip_space();
                    return self.peek().map_or(Ok(()), |_| Err(Stop::Malformed));
                }
            }
        }
    }

    #[inline(always)]
    fn skip_space(&mut self) {
        self.at.position = lex::skip_space(self.window.text, self.at.position);
    }

    #[inline(always)]
    fn peek(&self) -> Option<u8> {
        self.window.text.get(self.at.position).copied()
    }

    /// Takes one byte and the white space behind it.
    #[inline(always)]
    fn take(&mut self, byte: u8) -> Result<(), Stop> {
        if self.peek() != Some(byte) {
            return Err(Stop::Malformed);
        }
        self.at.position += 1;
        self.skip_space();
        Ok(())
    }

    /// Goes on behind a member or an element: to the next `item`, or behind the closing `bracket`.
    #[inline(always)]
    fn after(&mut self, bracket: u8, item: Next) -> Result<Next, Stop> {
        self.skip_space();
        if self.peek() == Some(bracket) {
            return Ok(self.close());
        }
        self.take(b',')?;
        Ok(item)
    }

    /// Scans any member.
    #[inline(never)]
    fn member(&mut self) -> Result<Next, Stop> {
        let start = self.at.position;
        if self.peek() != Some(b'"') {
            return Err(Stop::Malformed);
        }
        let (end, flag) = lex::string(&mut self.window, start).ok_or(Stop::Malformed)?;
        self.at.position = end;
        self.skip_space();
        self.take(b':')?;
        self.at.count += 1;
        self.value(Some(Key { flag, start, end }))
    }

    /// Scans a value: a scalar whole, of an array the elements that are scalars, of an object the
    /// brace.
    #[inline(always)]
    fn value(&mut self, key: Option<Key>) -> Result<Next, Stop> {
        let start = self.at.position;
        match self.peek().ok_or(Stop::Malformed)? {
            b'{' => {
                self.lay(key, Scalar { kind: Kind::Object, flag: false, end: start })?;
                self.open();
                self.take(b'{')?;
                return Ok(if self.peek() == Some(b'}') { self.close() } else { Next::Key });
            }
            b'[' => return self.array(key),
            first => {
                let scalar = lex::scalar(&mut self.window, start, first).ok_or(Stop::Malformed)?;
                self.lay(key, scalar)?;
                self.at.position = scalar.end;
            }
        }
        Ok(match key {
            Some(_) => Next::AfterMember,
            None if self.open.is_empty() => Next::End,
            None => Next::AfterElement,
        })
    }

    /// Scans an array up to its first element that is a container, or whole.
    #[inline(always)]
    fn array(&mut self, key: Option<Key>) -> Result<Next, Stop> {
        let start = self.at.position;
        let flat = flat::elements(&mut self.window, start + 1).ok_or(Stop::Malformed)?;
        self.lay(key, Scalar { kind: Kind::Array, flag: flat.closed, end: start })?;
        self.nodes[self.at.used - 1].kinds = flat.kinds;
        self.open();
        self.at.count = flat.count;
        if flat.closed {
            self.at.position = flat.position;
            return Ok(self.close());
        }
        self.lay_elements(start + 1, &flat)?;
        self.at.position = flat.position;
        Ok(Next::Element)
    }

    /// Puts the elements on the tape after all that come before a container.
    fn lay_elements(&mut self, start: usize, flat: &Flat) -> Result<(), Stop> {
        let mut elements = Elements::flat(self.window.text, start, flat.count);
        while let Some((start, scalar)) = elements.next_scalar() {
            let [element] = self.room()?;
            element.set(scalar.kind, scalar.flag, start, scalar.end);
        }
        Ok(())
    }

    /// Lays down the value at the current position, behind its key if it has one.
    #[inline(always)]
    fn lay(&mut self, key: Option<Key>, value: Scalar) -> Result<(), Stop> {
        let start = self.at.position;
        if let Some(key) = key {
            let [key_node, node] = self.room()?;
            key_node.set(Kind::String, key.flag, key.start, key.end);
            node.set(value.kind, value.flag, start, value.end);
            return Ok(());
        }
        let [node] = self.room()?;
        node.set(value.kind, value.flag, start, value.end);
        if let Some(&array) = self.open.last() {
            self.nodes[array as usize].kinds |= value.kind.bit();
        }
        Ok(())
    }

    /// Returns where the next nodes go, and counts them.
    #[inline(always)]
    fn room<const N: usize>(&mut self) -> Result<&mut [Node; N], Stop> {
        let used = self.at.used;
        if self.nodes.len() - used < N {
            grow(self.nodes, used + N, self.nodes_max);
        }
        let room = self.nodes[used..].first_chunk_mut().ok_or(Stop::Full)?;
        self.at.used += N;
        Ok(room)
    }

    /// Opens the container whose node was the last one laid.
    #[inline(always)]
    fn open(&mut self) {
        open(self.nodes, self.open, self.at.used - 1, self.at.count);
        self.at.count = 0;
    }

    /// Closes the innermost container with the bracket that is next, and goes on around it.
    #[inline(always)]
    fn close(&mut self) -> Next {
        self.at.position += 1;
        close(self.nodes, self.open, &mut self.at)
    }
}

/// Makes room for nodes, but not for more than the maximum.
#[cold]
#[inline(never)]
fn grow(nodes: &mut Vec<Node>, needed: usize, max: usize) {
    let count = needed.max(NODES_AT_FIRST).max(nodes.len() * 2).min(max);
    nodes.resize(count.max(nodes.len()), Node::default());
}

/// Opens the container whose node is at `index`; keeps the `count` of the one around it.
#[inline(always)]
pub(super) fn open(nodes: &mut [Node], open: &mut Vec<u32>, index: usize, count: u32) {
    if let Some(&outer) = open.last() {
        nodes[outer as usize].count = count;
    }
    open.push(index as u32);
}

/// Closes the innermost container, which ends before the current position, and takes up the count
/// of the one around it.
#[inline(always)]
pub(super) fn close(nodes: &mut [Node], open: &mut Vec<u32>, at: &mut At) -> Next {
    if let Some(index) = open.pop() {
        let node = &mut nodes[index as usize];
        node.end = at.position as u32;
        node.span = at.used as u32 - index;
        node.count = at.count;
    }
    let Some(&outer) = open.last() else { return Next::End };
    let outer = &nodes[outer as usize];
    at.count = outer.count;
    if outer.kind == Kind::Object { Next::AfterMember } else { Next::AfterElement }
}
