//! Keys as the host's `Map` and `Set` compare them: by value for what is not an object, and by
//! reference for what is.
//!
//! A number 1 and a string "1" are two keys, minus zero is zero, and an absent member is a key like
//! any other (`undefined`). An object or an array read from a log is a new reference each time, so
//! it equals nothing and has no key.

use gatelog_engine::json::Json;
use std::borrow::Borrow;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};

/// Keys up to this many bytes are looked up without an allocation.
const SHORT_KEY_BYTES: usize = 128;

/// A table that grew beyond this many places is given back when it is cleared.
const KEPT_CAPACITY: usize = 1024;

/// A key that owns its bytes: a tag for the kind of value, then the value, a long text in brief.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key(Box<[u8]>);

impl Key {
    /// Returns the key of a value, or nothing for an object or an array.
    pub(crate) fn of(value: Option<Json<'_>>) -> Option<Self> {
        with_bytes(value, |bytes| Self(bytes.into()))
    }
}

impl Borrow<[u8]> for Key {
    fn borrow(&self) -> &[u8] {
        &self.0
    }
}

/// Calls `act` with the bytes of a value's key; returns nothing for an object or an array.
fn with_bytes<R>(value: Option<Json<'_>>, act: impl FnOnce(&[u8]) -> R) -> Option<R> {
    let Some(json) = value else { return Some(act(b"u")) };
    if let Some(text) = json.as_text() {
        if let Some(brief) = text.brief() {
            return Some(act(&[b"l", brief.to_bytes().as_slice()].concat()));
        }
        let bytes = text.to_wtf8();
        let size_bytes = bytes.len() + 1;
        if size_bytes <= SHORT_KEY_BYTES {
            let mut short = [b's'; SHORT_KEY_BYTES];
            short[1..size_bytes].copy_from_slice(&bytes);
            return Some(act(&short[..size_bytes]));
        }
        return Some(act(&[b"s", &*bytes].concat()));
    }
    if let Some(number) = json.as_number() {
        // Adding zero turns minus zero into zero and changes nothing else.
        let bits = (number + 0.0).to_bits().to_be_bytes();
        let mut tagged = [b'n'; 9];
        tagged[1..].copy_from_slice(&bits);
        return Some(act(&tagged));
    }
    match json.as_bool() {
        Some(true) => Some(act(b"t")),
        Some(false) => Some(act(b"f")),
        None if json.is_null() => Some(act(b"0")),
        None => None,
    }
}

/// A map whose keys are values of the log; an object or an array is never found in it.
#[derive(Clone, Debug)]
pub(crate) struct KeyMap<V>(HashMap<Key, V>);

impl<V> Default for KeyMap<V> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<V> KeyMap<V> {
    /// Returns what is kept under a value.
    pub(crate) fn get(&self, value: Option<Json<'_>>) -> Option<&V> {
        with_bytes(value, |bytes| self.0.get(bytes)).flatten()
    }

    /// Returns whether anything is kept under a value.
    pub(crate) fn contains(&self, value: Option<Json<'_>>) -> bool {
        self.get(value).is_some()
    }

    /// Keeps `kept` under a value, and forgets what was there.
    pub(crate) fn insert(&mut self, value: Option<Json<'_>>, kept: V) {
        if let Some(key) = Key::of(value) {
            self.0.insert(key, kept);
        }
    }

    /// Returns what is kept under a key.
    pub(crate) fn get_key(&self, key: &Key) -> Option<&V> {
        self.0.get(key)
    }

    /// Keeps `kept` under a key, and forgets what was there.
    pub(crate) fn insert_key(&mut self, key: Key, kept: V) {
        self.0.insert(key, kept);
    }

    /// Takes out what is kept under a value.
    pub(crate) fn remove(&mut self, value: Option<Json<'_>>) -> Option<V> {
        with_bytes(value, |bytes| self.0.remove(bytes)).flatten()
    }

    /// Returns whether nothing is kept.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns how many values are kept.
    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    /// Returns everything that is kept, in no order.
    pub(crate) fn values(&self) -> impl Iterator<Item = &V> {
        self.0.values()
    }

    /// Moves everything into another map.
    pub(crate) fn drain_into(&mut self, other: &mut Self) {
        other.0.extend(std::mem::take(&mut self.0));
    }

    /// Forgets everything; a table that grew large is given back, so that clearing stays cheap.
    pub(crate) fn clear(&mut self) {
        if self.0.capacity() > KEPT_CAPACITY {
            self.0 = HashMap::new();
        } else {
            self.0.clear();
        }
    }
}

/// A set of values that are open now: its size is that of what is open.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeySet(KeyMap<()>);

impl KeySet {
    /// Returns whether a value is in the set.
    pub(crate) fn contains(&self, value: Option<Json<'_>>) -> bool {
        self.0.contains(value)
    }

    /// Puts a value in.
    pub(crate) fn insert(&mut self, value: Option<Json<'_>>) {
        self.0.insert(value, ());
    }

    /// Takes a value out, and returns whether it was in.
    pub(crate) fn remove(&mut self, value: Option<Json<'_>>) -> bool {
        self.0.remove(value).is_some()
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

/// A set of values that are remembered to the end of a log, at 16 bytes each.
///
/// It keeps a fingerprint of 128 bits in place of the value, made with keys that are drawn anew
/// for each set: among a billion ids two share one with a chance below one in 10^20, and nobody
/// can make a log that has such a pair.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    fingerprints: HashSet<u128>,
    high: RandomState,
    low: RandomState,
}

impl Seen {
    /// Returns whether a value was put in before.
    pub(crate) fn contains(&self, value: Option<Json<'_>>) -> bool {
        self.fingerprint(value).is_some_and(|print| self.fingerprints.contains(&print))
    }

    /// Puts a value in.
    pub(crate) fn insert(&mut self, value: Option<Json<'_>>) {
        if let Some(print) = self.fingerprint(value) {
            self.fingerprints.insert(print);
        }
    }

    /// Returns the fingerprint of a value, or nothing for an object or an array.
    fn fingerprint(&self, value: Option<Json<'_>>) -> Option<u128> {
        with_bytes(value, |bytes| {
            u128::from(self.high.hash_one(bytes)) << 64 | u128::from(self.low.hash_one(bytes))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gatelog_engine::json::Document;

    fn key(text: &str) -> Option<Key> {
        let document = Document::parse(text).expect("the case is JSON");
        Key::of(Some(document.root()))
    }

    #[test]
    fn values_are_keys_and_references_are_not() {
        assert_eq!(key("-0"), key("0"));
        assert_eq!(key("1e0"), key("1.0"));
        assert_eq!(key(r#""a""#), key(r#""\u0061""#));
        assert_ne!(key("1"), key(r#""1""#));
        assert_ne!(key("null"), Key::of(None));
        assert_ne!(key("null"), key("false"));
        assert_ne!(key("true"), key("false"));
        assert_ne!(key(r#""""#), Key::of(None));
        assert_eq!(key("{}"), None);
        assert_eq!(key("[]"), None);
    }

    #[test]
    fn a_lone_surrogate_is_no_replacement_character() {
        assert_ne!(key(r#""\ud800""#), key(r#""\ufffd""#));
        assert_eq!(key(r#""\ud83d\ude00""#), key("\"\u{1f600}\""));
    }

    #[test]
    fn long_and_short_keys_are_found_alike() {
        for count in [0, 1, SHORT_KEY_BYTES - 2, SHORT_KEY_BYTES - 1, SHORT_KEY_BYTES, 1000] {
            let document = Document::parse(format!("\"{}\"", "x".repeat(count))).expect("JSON");
            let value = Some(document.root());
            let (mut set, mut seen) = (KeySet::default(), Seen::default());
            assert!(!set.contains(value) && !seen.contains(value));
            set.insert(value);
            seen.insert(value);
            assert!(set.contains(value) && seen.contains(value));
            assert!(!set.contains(None) && !seen.contains(None));
            assert!(set.remove(value) && !set.remove(value));
        }
    }
}
