//! What is kept of a record whose text was too large to keep.

use super::tape::Kind;
use super::text::Text;

/// The envelope of a text that went through a [`Push`](super::Push): everything at the top level
/// of its object but the payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skeleton {
    pub(super) root: Kind,
    pub(super) bytes: u64,
    pub(super) members: Vec<Member>,
    pub(super) overflow: bool,
    pub(super) retyped: bool,
}

/// One distinct key at the top level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Member {
    /// As first written, quotes included.
    pub(super) key: Vec<u8>,
    /// The key is `data`.
    pub(super) is_data: bool,
    /// The kind of its last value.
    pub(super) kind: Kind,
    /// Its last value as written, if it was kept.
    pub(super) value: Option<Vec<u8>>,
}

impl Skeleton {
    /// Returns the kind of the whole value. Only an object has members here.
    pub fn kind(&self) -> Kind {
        self.root
    }

    /// Returns the length of the text, in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns whether some members or values were not kept, there being too many or too large
    /// ones. Those that were kept are right, but may not be all.
    pub fn overflow(&self) -> bool {
        self.overflow
    }

    /// Returns whether a `type` came behind a `data` although one had come before: then
    /// [`Push::kind_so_far`](super::Push::kind_so_far) was not the last word while the payload
    /// passed.
    pub fn retyped(&self) -> bool {
        self.retyped
    }

    /// Returns the kind of the payload, the last one of duplicates, or nothing without one.
    pub fn data(&self) -> Option<Kind> {
        let data = self.members.iter().find(|member| member.is_data);
        data.map(|member| member.kind)
    }

    /// Returns the value of a top-level member as it was written, the last one of duplicates;
    /// nothing for one that is absent or was not kept, and for `data`.
    pub fn get(&self, key: &str) -> Option<&[u8]> {
        let member = self.members.iter().find(|member| Text::of_raw(&member.key).eq_str(key))?;
        member.value.as_deref()
    }

    /// Returns the distinct keys in the order of their first places, `data` included.
    pub fn keys(&self) -> impl Iterator<Item = Text<'_>> {
        self.members.iter().map(|member| Text::of_raw(&member.key))
    }

    /// Returns the object as a text again, with the payload emptied: `{}`, `[]`, `""`, `0`, or the
    /// literal that it was. What it says of the envelope is what the whole text said, unless there
    /// was an [overflow](Skeleton::overflow). Nothing when the text was no object.
    pub fn envelope(&self) -> Option<Vec<u8>> {
        if self.root != Kind::Object {
            return None;
        }
        let mut text = vec![b'{'];
        for (index, member) in self.members.iter().enumerate() {
            if index > 0 {
                text.push(b',');
            }
            text.extend_from_slice(&member.key);
            text.push(b':');
            text.extend_from_slice(member.value.as_deref().unwrap_or(emptied(member.kind)));
        }
        text.push(b'}');
        Some(text)
    }
}

/// The smallest text of a kind.
fn emptied(kind: Kind) -> &'static [u8] {
    match kind {
        Kind::Null => b"null",
        Kind::False => b"false",
        Kind::True => b"true",
        Kind::Number => b"0",
        Kind::String => b"\"\"",
        Kind::Array => b"[]",
        Kind::Object => b"{}",
    }
}
