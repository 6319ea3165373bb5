//! The tape: what one scan of a text lays down, a node for each container and member value.

use super::value::Json;

/// The kinds of JSON value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Kind {
    /// The literal `null`.
    #[default]
    Null,
    /// The literal `false`.
    False,
    /// The literal `true`.
    True,
    /// A number.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

impl Kind {
    /// Returns the bit that stands for this kind in a set of kinds.
    #[inline]
    pub const fn bit(self) -> u8 {
        1 << self as u8
    }

    /// Returns whether values of this kind hold no others.
    #[inline]
    pub const fn is_scalar(self) -> bool {
        !matches!(self, Self::Array | Self::Object)
    }
}

/// One value on the tape: its kind and its span, in bytes of the scanned text.
///
/// The children of a container follow it directly. A child of an object is two nodes: its key (a
/// string) and its value. An array whose elements are all scalars has no children on the tape:
/// they are lexed again, from its span, by whoever asks for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Node {
    /// The kind of the value.
    pub kind: Kind,
    /// For a string: it holds at least one backslash, or a byte at or above 0x80 that needs
    /// decoding. For an array: all its elements are scalars and are not on the tape.
    pub flag: bool,
    /// For an array: a bit for each kind (`1 << kind as u8`) that its elements have.
    pub kinds: u8,
    /// Nothing; with it, the four bytes above are written as one.
    pub(super) rest: u8,
    /// Where the value starts: its first byte, the quote of a string included.
    pub start: u32,
    /// Where it ends: one past its last byte, the closing quote included.
    pub end: u32,
    /// Elements of an array, or members of an object with duplicates counted.
    pub count: u32,
    /// For a container: how many nodes on the tape belong to it, itself included; else 1.
    pub span: u32,
}

impl Node {
    /// Makes this the node of a scalar, or of a container that has just been opened.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "it is a few stores in the hottest loop")]
    pub(super) fn set(&mut self, kind: Kind, flag: bool, start: usize, end: usize) {
        let (start, end) = (start as u32, end as u32);
        *self = Self { kind, flag, kinds: 0, rest: 0, start, end, count: 0, span: 1 };
    }
}

/// The nodes of one or many scanned values, reusable: clearing it keeps its memory.
#[derive(Clone, Debug, Default)]
pub struct Tape {
    /// The nodes, and behind them room for more that is already filled with something.
    pub(crate) nodes: Vec<Node>,
    /// How many of them count.
    pub(super) used: usize,
}

impl Tape {
    /// Makes an empty tape.
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets all nodes and keeps the memory.
    pub fn clear(&mut self) {
        self.used = 0;
    }

    /// Returns the number of nodes.
    pub fn len(&self) -> usize {
        self.used
    }

    /// Returns whether there is no node.
    pub fn is_empty(&self) -> bool {
        self.used == 0
    }

    /// Returns a cursor on the value whose root node is at `index`; `text` is what was scanned.
    ///
    /// # Panics
    /// When `index` is no node of the tape. With another text than the scanned one the cursor
    /// answers nonsense or panics later.
    pub fn json<'a>(&'a self, text: &'a [u8], index: u32) -> Json<'a> {
        Json::on(text, &self.nodes[..self.used], index as usize)
    }
}
