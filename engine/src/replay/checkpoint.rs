//! The state of a projection at some seq, kept as a cache.
//!
//! ```text
//! 0   8  "gatelogP"
//! 8   4  version of these bytes, 1
//! 12  4  version of the projection
//! 16  8  seq of the next event
//! 24 32  digest of the session up to there
//! 56  2  length of the name        58  6  zero
//! 64  8  length of the state
//! 72     name, state, BLAKE3 of all that precedes (32)
//! ```
//!
//! A checkpoint is valid if and only if its lengths add up and its digest holds. It fits a
//! projection over a session if and only if name and version are those of the projection and the
//! session has the digest at its seq. One that is not valid or does not fit is left aside: a
//! checkpoint can only save time.

use super::prefix::PrefixDigest;

const MAGIC: &[u8; 8] = b"gatelogP";
const VERSION: u32 = 1;
const HEAD_BYTES: usize = 72;
const CHECK_BYTES: usize = 32;

/// The state of a projection after the events below a seq.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// Name of the projection.
    pub name: String,
    /// Version of the projection.
    pub version: u32,
    /// Seq of the next event.
    pub seq: u64,
    /// Digest of the session up to there.
    pub digest: PrefixDigest,
    /// The state.
    pub state: Vec<u8>,
}

impl Checkpoint {
    /// Writes the checkpoint; a name of more than 65,535 bytes is cut and so fits nothing.
    pub fn encode(&self) -> Vec<u8> {
        let name = &self.name.as_bytes()[..self.name.len().min(usize::from(u16::MAX))];
        let mut bytes = Vec::with_capacity(HEAD_BYTES + name.len() + self.state.len() + 32);
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&self.version.to_le_bytes());
        bytes.extend_from_slice(&self.seq.to_le_bytes());
        bytes.extend_from_slice(&self.digest);
        bytes.extend_from_slice(&(name.len() as u16).to_le_bytes());
        bytes.extend_from_slice(&[0; 6]);
        bytes.extend_from_slice(&(self.state.len() as u64).to_le_bytes());
        bytes.extend_from_slice(name);
        bytes.extend_from_slice(&self.state);
        bytes.extend_from_slice(blake3::hash(&bytes).as_bytes());
        bytes
    }

    /// Reads a checkpoint; nothing if the bytes are no valid one.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let (body, check) = bytes.split_at_checked(bytes.len().checked_sub(CHECK_BYTES)?)?;
        let (head, rest) = body.split_at_checked(HEAD_BYTES)?;
        let long = |from: usize| {
            u64::from_le_bytes([0, 1, 2, 3, 4, 5, 6, 7].map(|byte| head[from + byte]))
        };
        let half = |from: usize| u32::from_le_bytes([0, 1, 2, 3].map(|byte| head[from + byte]));
        let name_bytes = usize::from(u16::from_le_bytes([head[56], head[57]]));
        let state_bytes = long(64);
        let is_valid = head.starts_with(MAGIC)
            && half(8) == VERSION
            && head[58..64] == [0; 6]
            && rest.len().checked_sub(name_bytes).map(|bytes| bytes as u64) == Some(state_bytes)
            && blake3::hash(body).as_bytes() == check;
        if !is_valid {
            return None;
        }
        let (name, state) = rest.split_at(name_bytes);
        let mut digest = PrefixDigest::default();
        digest.copy_from_slice(&head[24..56]);
        Some(Self {
            name: String::from_utf8(name.to_vec()).ok()?,
            version: half(12),
            seq: long(16),
            digest,
            state: state.to_vec(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checkpoint() -> Checkpoint {
        let (name, state) = ("title".to_owned(), b"{}".to_vec());
        Checkpoint { name, version: 3, seq: 1 << 40, digest: [7; 32], state }
    }

    #[test]
    fn what_is_written_is_read() {
        let written = checkpoint().encode();
        assert_eq!(Checkpoint::decode(&written), Some(checkpoint()));
        let empty = Checkpoint { name: String::new(), state: Vec::new(), ..checkpoint() };
        assert_eq!(Checkpoint::decode(&empty.encode()), Some(empty));
    }

    #[test]
    fn no_flip_and_no_cut_goes_unnoticed() {
        let written = checkpoint().encode();
        for bit in 0..written.len() * 8 {
            let mut flipped = written.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Checkpoint::decode(&flipped), None, "bit {bit}");
        }
        for end in 0..written.len() {
            assert_eq!(Checkpoint::decode(&written[..end]), None, "cut to {end}");
        }
        assert_eq!(Checkpoint::decode(&[written.as_slice(), &[0]].concat()), None);
    }
}
