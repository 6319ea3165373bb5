//! The surface of format 0: the ordered list of events that produce model messages.
//!
//! `append` puts an event at the end; `replace` removes a run of nodes and puts the event in its
//! place. The rules, in their order, are S1 to S8 of the specification.
//!
//! # Source
//!
//! `docs/dsh-format.md`, section 8.1.

use crate::load::message::message_of;
use crate::load::order::{NoRange, Order, Range};
use gatelog_engine::companion::{Companion, End, Listens, RuleId, Violation};
use gatelog_engine::dsh::vocabulary::is_surface;
use gatelog_engine::event::{Event, SurfaceOp};
use gatelog_engine::json::{DigestKeys, Json, is_seq};
use std::collections::{HashMap, HashSet};

/// What is remembered of a `tool/result` on the surface.
#[derive(Clone, Debug)]
struct ResultNode {
    /// Digest of the payload without the content of its one block.
    digest: u128,
    /// The message id, as JSON text; a long one in brief.
    message_id: Vec<u8>,
}

/// The surface, folded along a log.
#[derive(Clone, Debug)]
pub struct Surface {
    nodes: Order,
    results: HashMap<u64, ResultNode>,
    /// Bit N says whether event N carries a message.
    messages: Vec<u64>,
    keys: DigestKeys,
}

impl Default for Surface {
    fn default() -> Self {
        Self {
            nodes: Order::default(),
            results: HashMap::new(),
            messages: Vec::new(),
            keys: DigestKeys::new(),
        }
    }
}

/// Returns the digest of a `tool/result` payload, the content of its first block left out.
fn digest(data: Json<'_>, keys: &DigestKeys) -> u128 {
    let content = data.get("message").and_then(|message| message.get("content"));
    let blank = content.and_then(|content| content.at(0)).and_then(|block| block.get("content"));
    data.digest(keys, blank)
}

fn flaw(rule: RuleId, message: impl Into<String>) -> Violation {
    Violation::new(rule, message)
}

/// Reads `surfaceOp`, judging rules S1 to S4.
fn operation(event: &Event<'_>) -> Result<Option<SurfaceOp>, Violation> {
    let kind = event.kind;
    if !is_surface(kind) {
        if event.surface.is_some() {
            let message = format!(
                "session event \"{kind}\" is not surface-eligible and cannot carry surfaceOp"
            );
            return Err(flaw("surface/not-eligible", message));
        }
        if event.sources.is_some() {
            let message = format!(
                "session event \"{kind}\" is not surface-eligible and cannot carry sourceEventSeqs"
            );
            return Err(flaw("surface/not-eligible", message));
        }
        return Ok(None);
    }
    let Some(op) = event.surface else {
        let message =
            format!("session event \"{kind}\" is surface-eligible and requires a surfaceOp marker");
        return Err(flaw("surface/missing-op", message));
    };
    if op.is_str("append") {
        return Ok(Some(SurfaceOp::Append));
    }
    if !op.is_object() {
        let message = format!("session event \"{kind}\" carries an invalid surfaceOp");
        return Err(flaw("surface/invalid-op", message));
    }
    let seq = |key| op.get(key).and_then(|seq| seq.as_number()).filter(|seq| is_seq(*seq));
    match (seq("start"), seq("end")) {
        (Some(start), Some(end))
            if op.has_exactly(&["op", "start", "end"], &[])
                && op.get("op").is_some_and(|op| op.is_str("replace")) =>
        {
            Ok(Some(SurfaceOp::Replace { start: start as u64, end: end as u64 }))
        }
        _ => {
            let message = format!("session event \"{kind}\" carries an invalid replace surfaceOp");
            Err(flaw("surface/invalid-replace", message))
        }
    }
}

impl Surface {
    /// Returns about how many bytes the state takes.
    pub fn state_bytes(&self) -> usize {
        let results = self.results.values().map(|node| node.message_id.len() + 64);
        self.nodes.state_bytes() + self.messages.len() * 8 + results.sum::<usize>()
    }

    /// Returns the message id, as JSON text, that the event at a seq carries.
    ///
    /// Of events that are no current `tool/result` only their being messages is remembered: then a
    /// stand-in is given.
    pub fn message_id(&self, seq: f64) -> Option<Vec<u8>> {
        let seq = is_seq(seq).then_some(seq as u64)?;
        if let Some(node) = self.results.get(&seq) {
            return Some(node.message_id.clone());
        }
        let word = self.messages.get(usize::try_from(seq / 64).ok()?)?;
        (word >> (seq % 64) & 1 == 1).then(|| b"\"earlier\"".to_vec())
    }

    /// Judges rule S6 and returns the range of nodes that a replacement removes.
    fn range(&self, start: u64, end: u64) -> Result<Range, Violation> {
        self.nodes.range(start, end).map_err(|why| match why {
            NoRange::NoStart => {
                let message = format!("surface replace: start seq {start} not found in surface");
                flaw("surface/unknown-node", message)
            }
            NoRange::NoEnd => {
                let message = format!("surface replace: end seq {end} not found in surface");
                flaw("surface/unknown-node", message)
            }
            NoRange::Reversed { start: from, end: to } => {
                let message = format!(
                    "surface replace: start seq {start} (index {from}) is after end seq {end} \
                     (index {to})"
                );
                flaw("surface/reversed-range", message)
            }
        })
    }

    /// Judges rule S8.
    fn rewrite(&self, event: &Event<'_>, removed: &[u64]) -> Result<(), Violation> {
        if event.kind != "tool/result" {
            return Ok(());
        }
        let [node] = removed else {
            let message = "tool/result surface replacement must rewrite exactly one current node";
            return Err(flaw("surface/result-rewrite", message));
        };
        let Some(original) = self.results.get(node) else {
            let message = "tool/result surface replacement must target a current tool/result";
            return Err(flaw("surface/result-rewrite", message));
        };
        if original.digest != digest(event.data, &self.keys) {
            let message = "tool/result surface replacement may change only content";
            return Err(flaw("surface/result-rewrite", message));
        }
        Ok(())
    }
}

/// Judges rules S5 and S7: what an event says it comes from.
fn provenance(event: &Event<'_>, removed: &[u64]) -> Result<(), Violation> {
    let mut sources = Sources { keep: !removed.is_empty(), ..Sources::default() };
    if let Some(raw) = event.sources {
        sources.read(event, raw)?;
    }
    let missing: Vec<String> =
        removed.iter().filter(|seq| !sources.contains(**seq)).map(ToString::to_string).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let message = format!(
        "surface replace: sourceEventSeqs must include every shadowed surface node; missing {}",
        missing.join(", ")
    );
    Err(flaw("surface/missing-sources", message))
}

/// A list of cited seqs; sorted in all logs that the host writes, which saves a set.
#[derive(Default)]
struct Sources {
    /// The seqs are looked up later; an append only has them judged.
    keep: bool,
    sorted: Vec<u64>,
    unsorted: Option<HashSet<u64>>,
}

impl Sources {
    fn contains(&self, seq: u64) -> bool {
        match &self.unsorted {
            Some(set) => set.contains(&seq),
            None => self.sorted.binary_search(&seq).is_ok(),
        }
    }

    fn read(&mut self, event: &Event<'_>, raw: Json<'_>) -> Result<(), Violation> {
        let (kind, seq) = (event.kind, event.seq);
        if !raw.is_array() {
            let message =
                format!("sourceEventSeqs on event at seq {seq} must be an array when present");
            return Err(flaw("surface/sources-shape", message));
        }
        if raw.is_empty() && kind != "assistant/message" {
            let message = "sourceEventSeqs must not be empty except on assistant/message";
            return Err(flaw("surface/sources-shape", message));
        }
        let (mut late, mut next) = (None, 0);
        let mut is_increasing = true;
        let mut numbers = raw.numbers();
        let mut is_dense = raw.is_empty() || numbers.is_some();
        let mut take = |source: u64| {
            if late.is_none() && source >= seq {
                late = Some(source);
            }
            is_increasing &= source >= next;
            next = source + 1;
            if self.keep {
                self.sorted.push(source);
            }
        };
        while let Some(numbers) = &mut numbers {
            numbers.plain(|source| take(u64::from(source)));
            match numbers.next() {
                Some(source) if is_seq(source) => take(source as u64),
                Some(_) => is_dense = false,
                None => break,
            }
        }
        if !is_dense {
            let message = format!(
                "session event \"{kind}\" sourceEventSeqs must densely contain non-negative safe \
                 integers"
            );
            return Err(flaw("surface/sources-shape", message));
        }
        if !is_increasing {
            let numbers = raw.elements().filter_map(|source| source.as_number());
            let set: HashSet<u64> = numbers.map(|source| source as u64).collect();
            if set.len() != raw.len() {
                let message = "sourceEventSeqs must not contain duplicates";
                return Err(flaw("surface/sources-repeated", message));
            }
            self.unsorted = Some(set);
        }
        if let Some(late) = late {
            let message = format!(
                "sourceEventSeqs must reference earlier events: {late} >= current seq {seq}"
            );
            return Err(flaw("surface/sources-late", message));
        }
        Ok(())
    }
}

impl Companion for Surface {
    fn name(&self) -> &'static str {
        "surface"
    }

    fn listens(&self) -> Listens {
        Listens::All
    }

    fn plan(&self, event: &Event<'_>) -> Result<(), Violation> {
        match operation(event)? {
            None => Ok(()),
            Some(SurfaceOp::Append) => provenance(event, &[]),
            Some(SurfaceOp::Replace { start, end }) => {
                let range = self.range(start, end)?;
                let removed: Vec<u64> = self.nodes.nodes(range).collect();
                provenance(event, &removed)?;
                self.rewrite(event, &removed)
            }
        }
    }

    fn apply(&mut self, event: &Event<'_>) {
        if !is_surface(event.kind) {
            return;
        }
        let seq = event.seq;
        let word = (seq / 64) as usize;
        if self.messages.len() <= word {
            self.messages.resize(word + 1, 0);
        }
        self.messages[word] |= 1 << (seq % 64);
        // A replacement that cannot be carried out is taken as an append, so that it is there.
        let range = match operation(event) {
            Ok(Some(SurfaceOp::Replace { start, end })) => self.range(start, end).ok(),
            _ => None,
        };
        match range {
            None => self.nodes.push(seq),
            Some(range) => {
                for node in self.nodes.nodes(range) {
                    self.results.remove(&node);
                }
                self.nodes.replace(range, seq);
            }
        }
        if event.kind == "tool/result" {
            let id = message_of(event).and_then(|message| message.get("id"));
            let message_id = id.map_or_else(|| b"null".to_vec(), |id| id.remembered());
            let digest = digest(event.data, &self.keys);
            self.results.insert(seq, ResultNode { digest, message_id });
        }
    }

    fn finish(&self, _end: &End, _report: &mut dyn FnMut(Violation)) {}
}
