//! A digest of a value that agrees with [`Json::same`].

use std::hash::{BuildHasher, RandomState};

use super::tape::Kind;
use super::value::Json;

/// The secret keys of digests: those of one set can be compared with each other, and only those.
///
/// They are random, so that nobody can write two values of one digest on purpose. A digest is for
/// this process alone and is never stored.
#[derive(Clone, Debug)]
pub struct DigestKeys([u64; 4]);

impl Default for DigestKeys {
    fn default() -> Self {
        Self::new()
    }
}

impl DigestKeys {
    /// Makes a set of fresh random keys.
    pub fn new() -> Self {
        // An odd factor loses nothing of what it multiplies.
        Self([0, 1, 2, 3].map(|number: u64| RandomState::new().hash_one(number) | 1))
    }

    /// Starts the print of a text.
    pub(super) fn text(&self) -> Pair<'_> {
        self.start(Tag::Text)
    }

    /// Starts the digest of a value of a kind.
    fn start(&self, tag: Tag) -> Pair<'_> {
        let mut pair = Pair { keys: &self.0, low: self.0[0], high: self.0[1] };
        pair.mix(tag as u64);
        pair
    }
}

/// Two hashes of the same words under different keys.
pub(super) struct Pair<'k> {
    keys: &'k [u64; 4],
    low: u64,
    high: u64,
}

impl Pair<'_> {
    fn mix(&mut self, word: u64) {
        self.low = fold(self.low ^ word, self.keys[2]);
        self.high = fold(self.high ^ word.rotate_left(32), self.keys[3]);
    }

    /// Takes bytes of which more follow; a rest of less than eight is left out.
    pub(super) fn words(&mut self, bytes: &[u8]) {
        for word in bytes.as_chunks::<8>().0 {
            self.mix(u64::from_le_bytes(*word));
        }
    }

    /// Takes bytes that nothing follows.
    pub(super) fn write(&mut self, bytes: &[u8]) {
        self.words(bytes);
        let rest = bytes.as_chunks::<8>().1;
        // At most seven bytes, and how many there are: texts that differ make words that do.
        let mut last = [0; 8];
        for (last, byte) in last.iter_mut().zip(rest) {
            *last = *byte;
        }
        last[7] = rest.len() as u8;
        self.mix(u64::from_le_bytes(last));
    }

    /// Takes the digest of a part; how many parts there are is told before them.
    fn part(&mut self, digest: u128) {
        self.mix(digest as u64);
        self.mix((digest >> 64) as u64);
    }

    pub(super) fn finish(&self) -> u128 {
        u128::from(fold(self.high, self.keys[2])) << 64 | u128::from(fold(self.low, self.keys[3]))
    }
}

/// Multiplies into twice the width and folds the halves together.
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ (product >> 64) as u64
}

/// What a digest begins with, so that values of different kinds differ.
#[derive(Clone, Copy)]
enum Tag {
    Scalar,
    Number,
    Text,
    /// A long text, or what stands in for one.
    Brief,
    Array,
    Object,
    Blank,
}

impl Json<'_> {
    /// Returns a digest of 128 bits: equal for values that are the [same](Json::same), and for
    /// others equal by a chance that can be left out of account.
    ///
    /// The value that starts where `blank` does, if it lies within this one and is of the same
    /// text, counts as if it were always the same.
    pub fn digest(&self, keys: &DigestKeys, blank: Option<Json<'_>>) -> u128 {
        let (text, nodes) = self.parts();
        let within = blank.map(|value| value.start() + 1..value.end());
        let blank = blank.map(|value| value.start());
        let done = Vec::with_capacity(nodes.len());
        let mut fold = Fold { keys, blank, done, members: Vec::new() };
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
    /// The keys and values of the object at hand.
    members: Vec<(u128, u128)>,
}

impl<'k> Fold<'k> {
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

    fn scalar(&self, value: Json<'_>) -> Pair<'k> {
        let started = |tag, bytes: &[u8]| {
            let mut pair = self.keys.start(tag);
            pair.write(bytes);
            pair
        };
        match (value.as_text(), value.as_number()) {
            (Some(text), _) => match text.brief() {
                Some(brief) => started(Tag::Brief, &brief.to_bytes()),
                None => started(Tag::Text, &text.to_wtf8()),
            },
            // Adding zero makes a plain zero of minus zero.
            (_, Some(n)) => started(Tag::Number, &(n + 0.0).to_bits().to_le_bytes()),
            _ => started(Tag::Scalar, &[value.kind() as u8]),
        }
    }

    fn array(&mut self, array: Json<'_>) -> Pair<'k> {
        let mut pair = self.keys.start(Tag::Array);
        pair.mix(array.len() as u64);
        let (_, nodes) = array.parts();
        if nodes.is_empty() {
            for element in array.elements() {
                pair.part(self.value(element));
            }
            return pair;
        }
        let first = self.done.len() - array.len();
        for element in self.done.drain(first..).rev() {
            pair.part(element);
        }
        pair
    }

    fn object(&mut self, object: Json<'_>) -> Pair<'k> {
        let first = self.done.len() - 2 * object.raw_count();
        // Keys and values, in the order of the text.
        let members = self.done[first..].rchunks_exact(2).map(|pair| (pair[1], pair[0]));
        self.members.clear();
        self.members.extend(members);
        self.done.truncate(first);
        self.members.sort_by_key(|(key, _)| *key);
        self.members.dedup_by(|later, earlier| {
            let equal = later.0 == earlier.0;
            if equal {
                earlier.1 = later.1;
            }
            equal
        });
        let mut pair = self.keys.start(Tag::Object);
        pair.mix(self.members.len() as u64);
        for (key, value) in &self.members {
            pair.part(*key);
            pair.part(*value);
        }
        pair
    }
}
