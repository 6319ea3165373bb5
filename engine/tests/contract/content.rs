//! What is read of a store.

use gatelog_engine::backend::{Error, Key, Stored};
use gatelog_engine::store::Store;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// An event as it is read, but for what depends on the moment: whether it is confirmed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Owned {
    pub(crate) seq: u64,
    pub(crate) time_ms: u64,
    pub(crate) kind: String,
    pub(crate) data: String,
    pub(crate) sources: Option<String>,
    pub(crate) surface: Option<String>,
    pub(crate) ignorable: bool,
    pub(crate) lsn: Option<u64>,
    pub(crate) batch: u64,
    pub(crate) key: Option<Key>,
}

/// Every session with its events, by its id.
pub(crate) type Content = BTreeMap<String, Vec<Owned>>;

fn owned(stored: &Stored<'_>) -> Owned {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("UTF-8");
    Owned {
        seq: stored.seq,
        time_ms: stored.time_ms,
        kind: stored.kind.to_owned(),
        data: text(stored.data),
        sources: stored.sources.map(text),
        surface: stored.surface.map(text),
        ignorable: stored.ignorable,
        lsn: stored.lsn,
        batch: stored.batch_first_seq,
        key: stored.key,
    }
}

/// The events of a session from a seq on.
pub(crate) fn read_from(store: &Store, id: &str, from: u64) -> Result<Vec<Owned>, Error> {
    let mut events = Vec::new();
    store.read(id, from, &mut |stored| {
        events.push(owned(stored));
        ControlFlow::Continue(())
    })?;
    Ok(events)
}

/// All events of a session, whose seqs are checked to be dense.
pub(crate) fn read(store: &Store, id: &str) -> Vec<Owned> {
    let events = read_from(store, id, 0).expect("the session can be read");
    let seqs: Vec<_> = events.iter().map(|event| event.seq).collect();
    assert_eq!(seqs, (0..events.len() as u64).collect::<Vec<_>>(), "seqs of {id} are dense");
    events
}

/// All that is in a store; what the list says agrees with what is read.
pub(crate) fn content(store: &Store) -> Content {
    let infos = store.list().expect("the store can be listed");
    let mut content = Content::new();
    for info in infos {
        let events = read(store, &info.id);
        assert_eq!(info.next_seq, events.len() as u64, "{} as the list has it", info.id);
        assert_eq!(info.last_time_ms, events.last().map_or(0, |event| event.time_ms));
        assert_eq!(info.header.dialect, 0);
        assert!(content.insert(info.id, events).is_none(), "a session is listed once");
    }
    content
}

/// The numbers of all notes of a session, in order.
pub(crate) fn numbers(store: &Store, id: &str) -> Vec<u64> {
    let number = |event: &Owned| {
        let text = event.data.strip_prefix("{\"n\":")?.strip_suffix('}')?;
        text.parse().ok()
    };
    read(store, id).iter().filter_map(number).collect()
}
