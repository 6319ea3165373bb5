//! An append that was made before: is what stands at its place the same?

use super::sheet::Reader;
use crate::backend::{Backend, Error, Key, Keys, Stored};
use crate::rules::Draft;
use std::ops::ControlFlow;

/// What stands where a repeated append would have begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// The same drafts under the same key, in the frame with this lsn.
    Same {
        /// Place of the frame in the store.
        lsn: Option<u64>,
    },
    /// The same key with other drafts.
    OtherDrafts,
    /// Another batch, or the middle of one.
    Other,
}

/// Compares drafts with the batch of a session that begins at a seq.
pub(crate) fn find(
    backend: &dyn Backend,
    id: &str,
    first_seq: u64,
    key: &Key,
    drafts: &[Draft],
) -> Result<Found, Error> {
    let has_keys = backend.parts().keys == Keys::Always;
    let mut comparison = Comparison { first_seq, has_keys, key, drafts, ..Comparison::new() };
    backend.read(id, first_seq, &mut |stored| comparison.take(stored))?;
    Ok(comparison.found())
}

struct Comparison<'a> {
    first_seq: u64,
    /// Batches leave a trace, and their key with it.
    has_keys: bool,
    key: &'a Key,
    drafts: &'a [Draft],
    lsn: Option<u64>,
    same: usize,
    is_other: bool,
    differs: bool,
    reader: Reader,
}

impl Comparison<'_> {
    fn new() -> Self {
        Self {
            first_seq: 0,
            has_keys: false,
            key: &[0; 16],
            drafts: &[],
            lsn: None,
            same: 0,
            is_other: false,
            differs: false,
            reader: Reader::default(),
        }
    }

    fn take(&mut self, stored: &Stored<'_>) -> ControlFlow<()> {
        let is_in_batch = stored.batch_first_seq == self.first_seq;
        if self.has_keys && stored.seq == self.first_seq {
            self.is_other = !is_in_batch || stored.key != Some(*self.key);
        }
        if self.is_other || self.has_keys && !is_in_batch {
            return ControlFlow::Break(());
        }
        let Some(draft) = self.drafts.get(self.same) else {
            // The batch is longer. Where batches leave no trace, this is the next one.
            self.differs = self.has_keys;
            return ControlFlow::Break(());
        };
        if self.same == 0 {
            self.lsn = stored.lsn;
        }
        if is_same(&mut self.reader, self.has_keys, draft, stored) {
            self.same += 1;
            return ControlFlow::Continue(());
        }
        self.differs = true;
        ControlFlow::Break(())
    }

    fn found(&self) -> Found {
        let is_same = !self.differs && self.same == self.drafts.len();
        match (is_same, self.has_keys) {
            _ if self.is_other => Found::Other,
            (true, _) => Found::Same { lsn: self.lsn },
            (false, true) => Found::OtherDrafts,
            // Without a key nobody can say whose batch it is.
            (false, false) => Found::Other,
        }
    }
}

/// Returns whether a draft became a stored event. A store that keeps texts as they were given is
/// asked for the same bytes; one that writes them in its own way, for the same values.
fn is_same(reader: &mut Reader, by_bytes: bool, draft: &Draft, stored: &Stored<'_>) -> bool {
    if draft.kind != stored.kind
        || draft.ignorable != stored.ignorable
        || draft.time_ms.is_some_and(|time_ms| time_ms != stored.time_ms)
    {
        return false;
    }
    let (sources, surface) = (draft.sources.as_deref(), draft.surface.as_deref());
    if stored.data == draft.data && stored.sources == sources && stored.surface == surface {
        return true;
    }
    if by_bytes {
        return false;
    }
    let drafted = Stored { data: &draft.data, sources, surface, ..*stored };
    let mut other = Reader::default();
    let compared = reader.show(stored, |stored| {
        other.show(&drafted, |drafted| {
            let both = [(stored.sources, drafted.sources), (stored.surface, drafted.surface)];
            stored.data.same(&drafted.data)
                && both.iter().all(|(one, two)| match (one, two) {
                    (Some(one), Some(two)) => one.same(two),
                    (one, two) => one.is_none() && two.is_none(),
                })
        })
    });
    matches!(compared, Ok(Ok(true)))
}
