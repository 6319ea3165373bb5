//! The idempotency keys that a session remembers.

use super::config::KEYS_REMEMBERED;
use crate::backend::Key;
use std::collections::{HashMap, VecDeque};

/// The last keys of a session, each with the seq at which its batch begins.
#[derive(Default)]
pub(crate) struct Keys {
    order: VecDeque<(Key, u64)>,
    first_seqs: HashMap<Key, u64>,
}

impl Keys {
    /// Takes the key of a batch in.
    pub(crate) fn remember(&mut self, key: Key, first_seq: u64) {
        self.order.push_back((key, first_seq));
        self.first_seqs.insert(key, first_seq);
        if self.order.len() > KEYS_REMEMBERED
            && let Some((oldest, oldest_seq)) = self.order.pop_front()
            && self.first_seqs.get(&oldest) == Some(&oldest_seq)
        {
            self.first_seqs.remove(&oldest);
        }
    }

    /// Returns the seq at which the batch with a key begins, if it is remembered.
    pub(crate) fn first_seq(&self, key: &Key) -> Option<u64> {
        self.first_seqs.get(key).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(n: u64) -> Key {
        u128::from(n).to_le_bytes()
    }

    #[test]
    fn the_last_1024_keys_are_remembered_and_no_more() {
        let mut keys = Keys::default();
        for n in 0..=KEYS_REMEMBERED as u64 {
            keys.remember(key(n), 2 * n);
        }
        assert_eq!(keys.first_seq(&key(0)), None);
        assert_eq!(keys.first_seq(&key(1)), Some(2));
        assert_eq!(keys.first_seq(&key(1024)), Some(2048));
        assert_eq!(keys.first_seqs.len(), KEYS_REMEMBERED);
    }

    #[test]
    fn a_key_that_was_used_twice_is_the_later_one() {
        let mut keys = Keys::default();
        keys.remember(key(7), 0);
        for n in 100..100 + KEYS_REMEMBERED as u64 - 1 {
            keys.remember(key(n), n);
        }
        keys.remember(key(7), 5000);
        assert_eq!(keys.first_seq(&key(7)), Some(5000));
    }
}
