//! A digest of a value that agrees with [`Json::same`].

use std::borrow::Cow;
use std::hash::{BuildHasher, DefaultHasher, Hasher, RandomState};

use super::tape::Kind;
use super::value::Json;

/// The secret keys of digests: those of one set can be compared with each other, and only those.
///
/// They are random, so that nobody can write two values of one digest on purpose. A digest is for
/// this process alone and is never stored.
#[derive(Clone, Debug, Default)]
pub struct DigestKeys {
    low: RandomState,
    high: RandomState,
}

impl DigestKeys {
    /// Makes a set of fresh random keys.
    pub fn new() -> Self {
        Self::default()
    }

    /// Starts the digest of a value of a kind.
    fn start(&self, tag: Tag) -> Pair {
        let mut pair = Pair { low: self.low.build_hasher(), high: self.high.build_hasher() };
        pair.write(&[tag as u8]);
        pair
    }
}

/// Two hashers that see the same bytes under different keys.
struct Pair {
    low: DefaultHasher,
    high: DefaultHasher,
}

impl Pair {
    fn write(&mut self, bytes: &[u8]) {
        self.low.write(bytes);
        self.high.write(bytes);
    }

    fn finish(&self) -> u128 {
        u128::from(self.high.finish()) << 64 | u128::from(self.low.finish())
    }
}

/// What a digest begins with, so that values of different kinds differ.
#[derive(Clone, Copy)]
enum Tag {
    Scalar,
    Number,
    Text,
    Array,
    Object,
    Blank,
}

impl Json<'_> {
    /// Returns a digest of 128 bits: equal for values that are the [same](Json::same), and for
    /// others equal by a chance that can be left out of account.
    ///
    /// The value that starts where `blank` does, if it lies within this one and is of the same text,
    /// counts as if it were always the same.
    pub fn digest(&self, keys: &DigestKeys, blank: Option<Json<'_>>) -> u128 {
        let (text, nodes) = self.parts();
        let within = blank.map(|value| value.start() + 1..value.end());
        let blank = blank.map(|value| value.start());
        let mut fold = Fold { keys, blank, done: Vec::new() };
        // From the last node to the first, so that children come before what contains them.
        for (index, node) in nodes.iter().enumerate().rev() {
            if within.as_ref().is_some_and(|within| within.contains(&(node.start as usize))) {
                continue;
            }
            let value = Json::on(text, &nodes[index..index + node.span as usize], 0);
            let digest = fold.value(value);
            fold.done.push(digest);
        }
        fold.value(*self)
    }
}

/// A digest under way.
struct Fold<'k> {
    keys: &'k DigestKeys,
    blank: Option<usize>,
    /// Digests of nodes whose container is still to come; the first child is on top.
    done: Vec<u128>,
}

impl Fold<'_> {
    /// Digests a value whose children have been done, and takes them off.
    fn value(&mut self, value: Json<'_>) -> u128 {
        if self.blank == Some(value.start()) {
            // What lies within it was not done.
            return self.keys.start(Tag::Blank).finish();
        }
        let pair = match value.kind() {
            Kind::Array => self.array(value),
            Kind::Object => self.object(value),
            _ => self.scalar(value),
        };
        pair.finish()
    }

    fn scalar(&self, value: Json<'_>) -> Pair {
        let (tag, bytes) = match (value.as_text(), value.as_number()) {
            (Some(text), _) => (Tag::Text, text.to_wtf8()),
            // Adding zero makes a plain zero of minus zero.
            (_, Some(n)) => (Tag::Number, Cow::Owned((n + 0.0).to_bits().to_le_bytes().to_vec())),
            _ => (Tag::Scalar, Cow::Owned(vec![value.kind() as u8])),
        };
        let mut pair = self.keys.start(tag);
        pair.write(&bytes);
        pair
    }

    fn array(&mut self, array: Json<'_>) -> Pair {
        let mut pair = self.keys.start(Tag::Array);
        let (_, nodes) = array.parts();
        if nodes.is_empty() {
            for element in array.elements() {
                pair.write(&self.value(element).to_le_bytes());
            }
            return pair;
        }
        let first = self.done.len() - array.len();
        for element in self.done.drain(first..).rev() {
            pair.write(&element.to_le_bytes());
        }
        pair
    }

    fn object(&mut self, object: Json<'_>) -> Pair {
        let first = self.done.len() - 2 * object.raw_count();
        // Keys and values, in the order of the text.
        let members = self.done[first..].rchunks_exact(2).map(|pair| (pair[1], pair[0]));
        let mut members: Vec<(u128, u128)> = members.collect();
        self.done.truncate(first);
        members.sort_by_key(|(key, _)| *key);
        members.dedup_by(|later, earlier| {
            let equal = later.0 == earlier.0;
            if equal {
                earlier.1 = later.1;
            }
            equal
        });
        let mut pair = self.keys.start(Tag::Object);
        for (key, value) in members {
            pair.write(&key.to_le_bytes());
            pair.write(&value.to_le_bytes());
        }
        pair
    }
}
