//! The rules of a packed row, judged on the nodes that were found with its envelope.
//!
//! It is valid if and only if
//!
//! * its keys are exactly `type`, `seq0`, `time0`, `data`, and those of `data` exactly `turn`,
//!   `step`, `index`, `dt` and `texts` (for `tool-call-chunks` `id`, perhaps `name`, and `args`
//!   instead);
//! * `seq0` is a safe integer from 0 on, `time0` and each member of `dt` are safe integers, `turn`,
//!   `step` and `index` are numbers, `id` and `name` strings, `texts` or `args` one or more
//!   strings;
//! * `dt` has one member less than the texts, and every running seq and time is a safe integer.
//!
//! # Source
//!
//! `docs/dsh-format.md`, section 7.1.

use super::{ABSENT, Envelope, Packed, Start, at, key_bytes};
use crate::json::{Json, Kind, Numbers, Tape, is_safe_integer, is_seq};

/// Judges a packed row; its nodes and its tag are left for the caller to fill in.
pub(super) fn judge(
    envelope: &Envelope,
    start: &Start,
    line: &[u8],
    tape: &Tape,
    tag: &str,
) -> Result<Packed, &'static str> {
    let Envelope { data_node, seq_node, time_node, .. } = *envelope;
    let Envelope { ignorable_node, sources_node, surface_node, .. } = *envelope;
    let absent = [seq_node, time_node, ignorable_node, sources_node, surface_node];
    if [data_node, start.seq0_node, start.time0_node].contains(&ABSENT)
        || absent.iter().any(|node| *node != ABSENT)
        || start.extra_key
    {
        return Err("envelope must be exactly {type, seq0, time0, data}");
    }
    let number = |node| at(node, line, tape).and_then(|value| value.as_number());
    let seq0 = number(start.seq0_node).filter(|n| is_seq(*n));
    let seq0 = seq0.ok_or("seq0 must be a non-negative safe integer")?;
    let time0 = number(start.time0_node).filter(|n| is_safe_integer(*n));
    let time0 = time0.ok_or("time0 must be a safe integer")?;
    let data = envelope.data(line, tape).filter(|data| data.is_object() || data.is_array());
    data.ok_or("data must be an object")?;
    let data = RunData::of(data_node, line, tape);
    let has_all = data.turn.is_some()
        && data.step.is_some()
        && data.index.is_some()
        && data.gaps.is_some()
        && !data.extra_key;
    if tag == "tool-call-chunks" {
        if !has_all || data.id.is_none() || data.args.is_none() || data.texts.is_some() {
            return Err("data must be exactly {turn, step, index, id, name?, dt, args}");
        }
        let is_string = |value: Option<Json<'_>>| value.is_none_or(|value| value.is_string());
        if !is_string(data.id) || !is_string(data.name) {
            return Err("id (and name when present) must be strings");
        }
    } else if !has_all
        || data.texts.is_none()
        || data.id.is_some()
        || data.name.is_some()
        || data.args.is_some()
    {
        return Err("data must be exactly {turn, step, index, dt, texts}");
    }
    run(&data, seq0, time0)
}

/// The members of a packed row's `data`, found in one pass.
#[derive(Default)]
struct RunData<'a> {
    turn: Option<Json<'a>>,
    step: Option<Json<'a>>,
    index: Option<Json<'a>>,
    id: Option<Json<'a>>,
    name: Option<Json<'a>>,
    gaps: Option<Json<'a>>,
    texts: Option<Json<'a>>,
    args: Option<Json<'a>>,
    extra_key: bool,
}

impl<'a> RunData<'a> {
    /// Locates the members; of duplicates the last one counts.
    fn of(data: u32, line: &'a [u8], tape: &'a Tape) -> Self {
        let mut found = Self::default();
        let node = &tape.nodes[data as usize];
        let end = if node.kind == Kind::Object { data + node.span } else { data };
        let mut key_node = data + 1;
        let mut decoded = Vec::new();
        while key_node < end {
            let node = key_node + 1;
            let key = key_bytes(line, tape, key_node, &mut decoded);
            key_node = node + tape.nodes[node as usize].span;
            let slot = match key {
                b"turn" => &mut found.turn,
                b"step" => &mut found.step,
                b"index" => &mut found.index,
                b"id" => &mut found.id,
                b"name" => &mut found.name,
                b"dt" => &mut found.gaps,
                b"texts" => &mut found.texts,
                b"args" => &mut found.args,
                _ => {
                    found.extra_key = true;
                    continue;
                }
            };
            *slot = Some(tape.json(line, node));
        }
        found
    }
}

fn run(data: &RunData<'_>, seq0: f64, time0: f64) -> Result<Packed, &'static str> {
    let is_number = |value: Option<Json<'_>>| value.is_some_and(|value| value.is_number());
    if !is_number(data.turn) || !is_number(data.step) || !is_number(data.index) {
        return Err("turn/step/index must be numbers");
    }
    let texts = data.texts.or(data.args).filter(Json::is_array).ok_or("members must be strings")?;
    if texts.is_empty() || texts.element_kinds() != 1 << Kind::String as u8 {
        return Err("members must be a non-empty string array");
    }
    let gaps = data.gaps.filter(Json::is_array).ok_or("dt must be an array")?;
    let numbers = gaps.numbers();
    if !gaps.is_empty() && numbers.is_none() {
        return Err("dt must be an array of safe integers");
    }
    let members = texts.len() as u64;
    if gaps.len() as u64 != members - 1 {
        return Err("dt length does not match the members");
    }
    if !is_safe_integer(seq0 + (members as f64) - 1.0) {
        return Err("member seqs must stay safe integers");
    }
    let time = last_time(time0, numbers)?;
    Ok(Packed { root: ABSENT, data_node: ABSENT, tag: "", seq0, time0, members, last_time: time })
}

/// Returns the time of the last member, every running time being a safe integer.
fn last_time(time0: f64, gaps: Option<Numbers<'_>>) -> Result<f64, &'static str> {
    const UNSAFE_TIME: &str = "member times must stay safe integers";
    let mut time = time0;
    let Some(mut gaps) = gaps else { return Ok(time) };
    loop {
        // Gaps that are not negative only add up: the time behind them is the greatest.
        let (mut sum, mut some) = (0, false);
        gaps.plain(|gap| {
            sum += i64::from(gap);
            some = true;
        });
        if some {
            // Below 2^53 and 2^56, so that nothing overflows.
            time = (time as i64 + sum) as f64;
            if !is_safe_integer(time) {
                return Err(UNSAFE_TIME);
            }
        }
        let Some(gap) = gaps.next() else { return Ok(time) };
        if !is_safe_integer(gap) {
            return Err("dt must be an array of safe integers");
        }
        time += gap;
        if !is_safe_integer(time) {
            return Err(UNSAFE_TIME);
        }
    }
}
