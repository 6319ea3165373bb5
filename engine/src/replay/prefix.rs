//! The digest of a session up to some event.

use crate::event::Event;
use crate::rules::SessionHeader;

/// The digest of a session's header and of all its events up to some seq.
pub type PrefixDigest = [u8; 32];

/// Digests a session as its events go by: BLAKE3 of the header and of each event, every part led by
/// its length.
#[derive(Clone, Debug)]
pub(crate) struct Prefix {
    hasher: blake3::Hasher,
    next_seq: u64,
}

impl Prefix {
    /// Starts with the header.
    pub(crate) fn new(header: &SessionHeader) -> Self {
        let mut prefix = Self { hasher: blake3::Hasher::new(), next_seq: 0 };
        prefix.hasher.update(&header.dialect.to_le_bytes());
        prefix.part(Some(&header.json));
        prefix
    }

    fn part(&mut self, bytes: Option<&[u8]>) {
        let length = bytes.map_or(u64::MAX, |bytes| bytes.len() as u64);
        self.hasher.update(&length.to_le_bytes());
        self.hasher.update(bytes.unwrap_or_default());
    }

    /// Takes one event.
    pub(crate) fn take(&mut self, event: &Event<'_>) {
        self.hasher.update(&event.seq.to_le_bytes());
        self.hasher.update(&event.members.to_le_bytes());
        self.hasher.update(&event.time_ms.to_bits().to_le_bytes());
        self.hasher.update(&[u8::from(event.packed), u8::from(event.ignorable)]);
        self.part(Some(event.kind.as_bytes()));
        self.part(Some(event.data.raw()));
        self.part(event.sources.map(|sources| sources.raw()));
        self.part(event.surface.map(|surface| surface.raw()));
        self.next_seq = event.seq + event.members;
    }

    /// Returns the seq that comes next.
    pub(crate) fn next_seq(&self) -> u64 {
        self.next_seq
    }

    /// Returns the digest of what was taken.
    pub(crate) fn digest(&self) -> PrefixDigest {
        *self.hasher.finalize().as_bytes()
    }
}
