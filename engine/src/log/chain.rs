//! The chain of digests over what frames mean, and the keys of sessions.
//!
//! `digest = BLAKE3-128( prev ‖ lsn ‖ kind ‖ flags ‖ session ‖ first_seq ‖ record_count ‖
//! BLAKE3-128(body) )`, numbers little-endian, 70 bytes in all; BLAKE3-128 is the first 16 bytes of
//! the BLAKE3 hash. `prev` is the digest of the frame with the next smaller lsn in the store,
//! across segments and cuts; before the first frame it is `BLAKE3-128(store_id)`. Nothing physical
//! goes in, so that a raw, a sealed and a copied store have the same chain.

use super::field::{put, put_u32, put_u64};
use super::kind::Kind;
use std::fmt;

/// Identity of a store: random, made with it.
pub(crate) type StoreId = [u8; 16];

/// The first 16 bytes of a BLAKE3 hash.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Digest(pub(crate) [u8; 16]);

impl Digest {
    /// Returns the digest that the first frame of a store has for that of the frame before it.
    pub(crate) fn before_first(store_id: &StoreId) -> Self {
        Self(short(blake3::hash(store_id)))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex(&self.0, f)
    }
}

/// Who a session is in the log: its id never reaches a fixed field.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct SessionKey(pub(crate) [u8; 16]);

impl SessionKey {
    /// The key of frames that are the store's own.
    pub(crate) const STORE: Self = Self([0; 16]);

    /// Returns the key of a session: `BLAKE3-128(store_id ‖ id)`.
    pub(crate) fn of(store_id: &StoreId, id: &str) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(store_id).update(id.as_bytes());
        Self(short(hasher.finalize()))
    }
}

impl fmt::Debug for SessionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex(&self.0, f)
    }
}

/// Returns the digest of a body, without its padding. The thread that appends takes it, outside of
/// every lock.
pub(crate) fn body_hash(body: &[u8]) -> Digest {
    Digest(short(blake3::hash(body)))
}

/// Returns the digest of a frame.
#[expect(clippy::too_many_arguments, reason = "each is a field of the digest, in its order")]
pub(crate) fn frame_digest(
    prev: Digest,
    lsn: u64,
    kind: Kind,
    flags: u8,
    session: SessionKey,
    first_seq: u64,
    record_count: u32,
    body_hash: Digest,
) -> Digest {
    let mut meaning = [0; 70];
    put(&mut meaning, 0, &prev.0);
    put_u64(&mut meaning, 16, lsn);
    put(&mut meaning, 24, &[kind as u8, flags]);
    put(&mut meaning, 26, &session.0);
    put_u64(&mut meaning, 42, first_seq);
    put_u32(&mut meaning, 50, record_count);
    put(&mut meaning, 54, &body_hash.0);
    Digest(short(blake3::hash(&meaning)))
}

fn short(hash: blake3::Hash) -> [u8; 16] {
    *hash.as_bytes().first_chunk().expect("a hash has 32 bytes")
}

fn hex(bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
}
