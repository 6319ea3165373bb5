//! The surface, section 8.1.

use super::loader::Event;
use super::naive::Value;
use super::value::{changed, get, has_exactly, is_seq, is_text, number};
use std::collections::BTreeSet;

/// Rules S1 to S8.
pub(super) fn fold_surface(events: &[Event]) -> bool {
    let mut nodes: Vec<usize> = Vec::new();
    for (seq, event) in events.iter().enumerate() {
        let op = get(&event.envelope, "surfaceOp");
        let sources = get(&event.envelope, "sourceEventSeqs");
        if !["user/message", "assistant/message", "tool/result"].contains(&event.kind.as_str()) {
            if op.is_some() || sources.is_some() {
                return false;
            }
            continue;
        }
        let Some(op) = op else { return false };
        let Some(sources) = sources_of(event, sources, seq) else { return false };
        if is_text(op, "append") {
            nodes.push(seq);
            continue;
        }
        let is_replace = has_exactly(op, &["op", "start", "end"], &[])
            && get(op, "op").is_some_and(|it| is_text(it, "replace"))
            && is_seq(get(op, "start"))
            && is_seq(get(op, "end"));
        let find = |key| {
            let seq = number(get(op, key));
            nodes.iter().position(|node| Some(*node as f64) == seq)
        };
        let (Some(start), Some(end)) = (find("start"), find("end")) else { return false };
        if !is_replace || start > end {
            return false;
        }
        let removed = &nodes[start..=end];
        if !removed.iter().all(|node| sources.contains(&(*node as u64))) {
            return false;
        }
        if event.kind == "tool/result" {
            let original = &events[removed[0]];
            if removed.len() != 1
                || original.kind != "tool/result"
                || !blanked(original).same(&blanked(event))
            {
                return false;
            }
        }
        nodes.splice(start..=end, [seq]);
    }
    true
}

fn sources_of(event: &Event, sources: Option<&Value>, seq: usize) -> Option<BTreeSet<u64>> {
    let Some(sources) = sources else { return Some(BTreeSet::new()) };
    let Value::Array(list) = sources else { return None };
    if list.is_empty() && event.kind != "assistant/message"
        || !list.iter().all(|it| is_seq(Some(it)))
    {
        return None;
    }
    let set: BTreeSet<u64> =
        list.iter().filter_map(|it| number(Some(it))).map(|it| it as u64).collect();
    (set.len() == list.len() && set.iter().all(|source| *source < seq as u64)).then_some(set)
}

/// The payload of a `tool/result` without the content of its one block.
fn blanked(event: &Event) -> Value {
    let data = event.data.clone().unwrap_or(Value::Null);
    let Some(message) = get(&data, "message") else { return data };
    let Some(Value::Array(content)) = get(message, "content") else { return data };
    let block = changed(&content[0], &[], &[("content", Value::Null)]);
    let message = changed(message, &[], &[("content", Value::Array(vec![block]))]);
    changed(&data, &[], &[("message", message)])
}
