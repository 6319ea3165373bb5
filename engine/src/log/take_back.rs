//! Taking back what was accepted and never will be in the log.

use super::group::{Mark, Waiting};
use super::order::{Item, Order};

impl Order {
    /// Takes back everything from `failed` on: groups that were accepted and never will be in the
    /// log. Returns those who wait for them. `failed` is the item that did not succeed.
    pub(crate) fn take_back(&mut self, failed: Item) -> Vec<Waiting> {
        let mut items: Vec<Item> = std::iter::once(failed).chain(self.queue.drain(..)).collect();
        items.extend(self.filling.take().map(Item::Group));
        let mut waiting = Vec::new();
        for item in items.iter_mut().rev() {
            match item {
                Item::Segment(header, before) => {
                    self.segment = (**before).clone();
                    self.mark = Mark {
                        end: header.prev_end_offset,
                        last_lsn: header.prev_last_lsn,
                        next_lsn: header.first_lsn,
                        digest: header.prev_digest,
                        ..self.mark
                    };
                }
                Item::Group(group) => {
                    for undo in group.undo.drain(..).rev() {
                        let here = (self.segment.first_lsn, &mut self.segment.shares);
                        self.sessions.take_back(&undo, here.0, here.1);
                        self.segment.table_offset = undo.table_offset;
                    }
                    self.mark = group.before;
                }
            }
        }
        for item in items {
            if let Item::Group(group) = item {
                waiting.extend(group.waiting);
            }
        }
        self.durable_ahead = self.progress.durable;
        waiting
    }

    /// Takes out everybody who waits: nobody will write what they wait for.
    pub(crate) fn give_up(&mut self, item: Option<Item>) -> Vec<Waiting> {
        let items = item.into_iter().chain(self.queue.drain(..));
        let groups = items.filter_map(|item| match item {
            Item::Group(group) => Some(group),
            Item::Segment(..) => None,
        });
        groups.chain(self.filling.take()).flat_map(|group| group.waiting).collect()
    }
}
