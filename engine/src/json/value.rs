//! The cursor: a value of a scanned text, as the host would see it after parsing.

use super::elements::Elements;
use super::lex::Scalar;
use super::members::{self, Members, RawMembers};
use super::number;
use super::tape::{Kind, Node};
use super::text::Text;

/// A value in a scanned text. Small, and copied freely.
#[derive(Clone, Copy, Debug)]
pub struct Json<'a> {
    text: &'a [u8],
    /// The nodes that belong to a container, itself not included.
    below: &'a [Node],
    node: Node,
}

impl<'a> Json<'a> {
    /// The value whose node is at `index`.
    #[inline]
    pub(super) fn on(text: &'a [u8], nodes: &'a [Node], index: usize) -> Self {
        let node = nodes[index];
        Self { text, below: &nodes[index + 1..index + node.span as usize], node }
    }

    /// A scalar that has no node.
    #[inline]
    pub(super) fn scalar(text: &'a [u8], start: usize, scalar: Scalar) -> Self {
        let Scalar { kind, flag, end } = scalar;
        let mut node = Node::default();
        node.set(kind, flag, start, end);
        Self { text, below: &[], node }
    }

    /// Returns how many nodes the value has on its tape, itself included.
    #[inline]
    pub(super) fn span(&self) -> usize {
        self.node.span as usize
    }

    /// Returns the text and the nodes below this one.
    #[inline]
    pub(super) fn parts(&self) -> (&'a [u8], &'a [Node]) {
        (self.text, self.below)
    }

    /// Returns the kind of the value.
    #[inline]
    pub fn kind(&self) -> Kind {
        self.node.kind
    }

    /// Returns whether the value is `null`.
    pub fn is_null(&self) -> bool {
        self.kind() == Kind::Null
    }

    /// Returns whether the value is `true` or `false`.
    pub fn is_bool(&self) -> bool {
        matches!(self.kind(), Kind::True | Kind::False)
    }

    /// Returns whether the value is a number.
    pub fn is_number(&self) -> bool {
        self.kind() == Kind::Number
    }

    /// Returns whether the value is a string.
    pub fn is_string(&self) -> bool {
        self.kind() == Kind::String
    }

    /// Returns whether the value is an array.
    pub fn is_array(&self) -> bool {
        self.kind() == Kind::Array
    }

    /// Returns whether the value is an object: the host's *record*.
    pub fn is_object(&self) -> bool {
        self.kind() == Kind::Object
    }

    /// Returns whether the value is a string with at least one UTF-16 unit.
    pub fn is_nonempty_string(&self) -> bool {
        self.is_string() && self.node.end - self.node.start > 2
    }

    /// Returns the value of a boolean, or nothing for another kind.
    pub fn as_bool(&self) -> Option<bool> {
        match self.kind() {
            Kind::True => Some(true),
            Kind::False => Some(false),
            _ => None,
        }
    }

    /// Returns the double that a number is, or nothing for another kind. It may be infinite or
    /// minus zero.
    #[inline]
    pub fn as_number(&self) -> Option<f64> {
        let (start, end) = (self.start(), self.end());
        self.is_number().then(|| number::parse_within(self.text, start, end))
    }

    /// Returns the text of a string, or nothing for another kind.
    #[inline]
    pub fn as_text(&self) -> Option<Text<'a>> {
        self.is_string().then(|| Text::of(self.text, &self.node))
    }

    /// Returns whether the value is a string equal to `s`.
    pub fn is_str(&self, s: &str) -> bool {
        self.as_text().is_some_and(|text| text.eq_str(s))
    }

    /// Returns the number of elements of an array or of distinct keys of an object; 0 for the rest.
    pub fn len(&self) -> usize {
        match self.kind() {
            Kind::Object => self.members().len(),
            _ => self.node.count as usize,
        }
    }

    /// Returns whether the value holds no others: true for every scalar, a long string included.
    pub fn is_empty(&self) -> bool {
        self.node.count == 0
    }

    /// Returns the kinds that the elements of an array have, a bit ([`Kind::bit`]) for each; 0 for
    /// an empty array and for what is none.
    pub fn element_kinds(&self) -> u8 {
        self.node.kinds
    }

    /// Returns the own member of an object whose key is `key`, the last one of duplicates; nothing
    /// where there is none, and for what is no object.
    #[inline]
    pub fn get(&self, key: &str) -> Option<Json<'a>> {
        let mut nodes = if self.is_object() { self.below } else { &[] };
        let quoted_bytes = key.len() as u32 + 2;
        let mut found = None;
        while let [own, rest @ ..] = nodes {
            // A plain key, and nearly all are, is told by its length or by its bytes as they stand.
            if (own.end - own.start == quoted_bytes || own.flag)
                && Text::of(self.text, own).eq_str(key)
            {
                found = Some(rest);
            }
            let [value, ..] = rest else { break };
            nodes = rest.get(value.span as usize..).unwrap_or_default();
        }
        found.map(|nodes| Self::on(self.text, nodes, 0))
    }

    /// Returns the element of an array at `index`, counted from 0; nothing past its end, and for
    /// what is no array. It walks there: iterate with [`Json::elements`] rather than count.
    pub fn at(&self, index: usize) -> Option<Json<'a>> {
        self.elements().nth(index)
    }

    /// Returns the elements of an array, in order; none for what is no array.
    pub fn elements(&self) -> Elements<'a> {
        match self.kind() {
            Kind::Array if self.node.flag => {
                Elements::flat(self.text, self.node.start as usize + 1, self.node.count)
            }
            Kind::Array => Elements::taped(self.text, self.below, self.node.count),
            _ => Elements::none(),
        }
    }

    /// Returns the members of an object, each key once: at its first place, with its last value.
    /// None for what is no object.
    pub fn members(&self) -> Members<'a> {
        Members::of(self)
    }

    /// Returns the members as they were written, with duplicates.
    #[inline]
    pub(super) fn raw_members(&self) -> RawMembers<'a> {
        let nodes = if self.is_object() { self.below } else { &[] };
        RawMembers::new(self.text, nodes)
    }

    /// Returns the number of members, with duplicates.
    #[inline]
    pub(super) fn raw_count(&self) -> usize {
        self.node.count as usize
    }

    /// Returns whether this is an object that has each of the `required` keys, and no key that is
    /// neither among them nor among the `optional` ones.
    pub fn has_exactly(&self, required: &[&str], optional: &[&str]) -> bool {
        self.is_object() && members::has_exactly(&self.raw_members(), required, optional)
    }

    /// Returns whether an object was written with one key more than once.
    pub fn repeats_a_key(&self) -> bool {
        self.is_object() && self.len() != self.raw_count()
    }

    /// Returns the bytes of the value as written, the quotes of a string included.
    #[inline]
    pub fn raw(&self) -> &'a [u8] {
        &self.text[self.node.start as usize..self.node.end as usize]
    }

    /// Returns the offset of the value in the text, in bytes.
    #[inline]
    pub fn start(&self) -> usize {
        self.node.start as usize
    }

    /// Returns the offset of the first byte behind the value in the text.
    #[inline]
    pub fn end(&self) -> usize {
        self.node.end as usize
    }
}
