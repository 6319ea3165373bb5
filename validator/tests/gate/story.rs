//! A session that is mostly lawful: what comes next is chosen by a tape, and now and then it is odd.

use gatelog_engine::rules::Draft;

/// Where the session is, as far as its next draft depends on it.
#[derive(Clone, Debug, Default)]
struct State {
    turns: u64,
    in_turn: bool,
    steps: u64,
    in_step: bool,
    ids: u64,
    /// Calls that were asked for, made, answered.
    asked_calls: Vec<u64>,
    made_calls: Vec<u64>,
    asks: Vec<u64>,
    runs: Vec<u64>,
    compaction: Option<(u64, bool)>,
    summarised: bool,
    nodes: Vec<u64>,
    hooks: Vec<u64>,
    retries: u64,
}

/// What becomes of the session if a draft is accepted.
type Effect = Box<dyn FnOnce(&mut State, u64)>;

/// Tells the drafts of one session.
pub struct Story<'a> {
    tape: &'a [u8],
    state: State,
    seq: u64,
    odd_one_in: usize,
    pending: Option<Effect>,
}

impl<'a> Story<'a> {
    /// Tells from a tape; about one draft in `odd_one_in` is odd.
    pub fn new(tape: &'a [u8], odd_one_in: usize) -> Self {
        Self { tape, state: State::default(), seq: 0, odd_one_in, pending: None }
    }

    fn pick(&mut self, count: usize) -> usize {
        let Some((first, rest)) = self.tape.split_first() else { return 0 };
        self.tape = rest;
        usize::from(*first) % count
    }

    /// Returns the next draft, or nothing at the end of the tape.
    pub fn propose(&mut self) -> Option<Draft> {
        if self.tape.is_empty() {
            return None;
        }
        let (draft, effect) = self.plan();
        self.pending = Some(effect);
        let draft = if self.pick(self.odd_one_in) == self.odd_one_in - 1 {
            self.spoil(draft)
        } else {
            draft
        };
        Some(draft)
    }

    /// Says that the last draft is in the log.
    pub fn accept(&mut self) {
        if let Some(effect) = self.pending.take() {
            effect(&mut self.state, self.seq);
        }
        self.seq += 1;
    }

    fn spoil(&mut self, draft: Draft) -> Draft {
        let text = String::from_utf8_lossy(&draft.data).into_owned();
        let (from, to) = [
            ("\"turn\":", "\"turn\":1"),
            ("\"step\":", "\"step\":1"),
            ("\"id\":\"", "\"id\":\"x"),
            ("\"callId\":\"", "\"callId\":\"x"),
            ("\"outcome\":\"", "\"outcome\":\"un"),
            ("\"policy\":\"", "\"policy\":\"x"),
            ("\"mode\":\"", "\"mode\":\"x"),
            ("\"compactionId\":\"", "\"compactionId\":\"y"),
            ("\"commandId\":\"", "\"commandId\":\"y"),
            ("\"kind\":\"", "\"kind\":\"x"),
            ("\"role\":\"", "\"role\":\"x"),
            ("\"content\":", "\"contents\":"),
            ("\"source\":{", "\"source\":{\"by\":1,"),
            ("{", "{\"id\":\"\",\"x\":"),
        ][self.pick(14)];
        let mut draft = draft;
        if let Some(at) = text.find(from) {
            let spoilt = [&text[..at], to, &text[at + from.len()..]].concat();
            let is_json = gatelog_engine::json::Document::parse(spoilt.as_str()).is_ok();
            draft.data = if is_json { spoilt.into() } else { b"null".to_vec() };
        } else if self.pick(2) == 0 {
            draft.surface = Some(b"\"append\"".to_vec());
        } else {
            draft.sources = Some(format!("[{}]", self.seq).into_bytes());
        }
        draft
    }

    #[expect(clippy::too_many_lines, reason = "one arm for each kind of draft")]
    fn plan(&mut self) -> (Draft, Effect) {
        let state = self.state.clone();
        let (turn, step, id) = (state.turns, state.steps, state.ids);
        let none: Effect = Box::new(|_, _| {});
        let plain = |kind: &str, data: String| (Draft::new(kind, data), none);
        // A session that nothing is open in starts a turn, most of the time.
        let choice = match self.pick(44) {
            0..=9 if !state.in_turn => 0,
            0..=9 if !state.in_step => 1,
            other => other,
        };
        match choice {
            0 => (
                Draft::new("turn/start", format!(r#"{{"turn":{}}}"#, turn + 1)),
                Box::new(|state, _| {
                    (state.turns, state.in_turn) = (state.turns + 1, true);
                    (state.steps, state.in_step) = (0, false);
                }),
            ),
            1 | 2 => (
                Draft::new("step/start", format!(r#"{{"turn":{turn},"step":{}}}"#, step + 1)),
                Box::new(|state, _| (state.steps, state.in_step) = (state.steps + 1, true)),
            ),
            3 | 4 => (
                Draft::new("step/end", format!(r#"{{"turn":{turn},"step":{step}}}"#)),
                Box::new(|state, _| {
                    state.in_step = false;
                    state.asked_calls.clear();
                    state.made_calls.clear();
                }),
            ),
            5 | 6 => {
                let reason = ["completed", "max-tokens", "later"][self.pick(3)];
                let data = format!(r#"{{"turn":{turn},"reason":{{"kind":"{reason}"}}}}"#);
                (Draft::new("turn/end", data), Box::new(|state, _| state.in_turn = false))
            }
            7 | 8 => {
                let data = format!(
                    r#"{{"id":"m{id}","role":"user","source":{{"kind":"user"}},"content":[]}}"#
                );
                let draft = self.on_surface(Draft::new("user/message", data));
                (draft, node())
            }
            9..=12 => {
                let calls = self.pick(3) as u64;
                let blocks: Vec<_> = (0..calls)
                    .map(|call| {
                        let call = id + call;
                        format!(r#"{{"type":"tool-call","id":"c{call}","name":"t"}}"#)
                    })
                    .collect();
                let usage = [
                    "",
                    r#","usage":{"inputTokens":10,"outputTokens":2}"#,
                    r#","usage":{"inputTokens":7,"outputTokens":1,"cacheReadTokens":3}"#,
                ][self.pick(3)];
                let data = format!(
                    r#"{{"turn":{turn},"step":{step},"message":{{"id":"a{id}","role":"assistant","content":[{}],"source":{{"kind":"model","provider":"p","model":"m"}}}}{usage}}}"#,
                    blocks.join(",")
                );
                let effect: Effect = Box::new(move |state, seq| {
                    state.asked_calls.extend((0..calls).map(|call| id + call));
                    state.ids += calls + 1;
                    state.nodes.push(seq);
                });
                (Draft::new("assistant/message", data).appended(), effect)
            }
            13..=15 => {
                let call = pop(&state.asked_calls, id);
                let data = format!(
                    r#"{{"turn":{turn},"step":{step},"callId":"c{call}","name":"t","arguments":"{{}}"}}"#
                );
                let effect: Effect = Box::new(move |state, _| {
                    state.asked_calls.retain(|other| *other != call);
                    state.made_calls.push(call);
                });
                (Draft::new("tool/call", data), effect)
            }
            16..=18 => {
                let call = pop(&state.made_calls, id);
                let error = ["", r#","isError":true"#][self.pick(2)];
                let data = format!(
                    r#"{{"turn":{turn},"step":{step},"message":{{"id":"r{id}","role":"user","source":{{"kind":"tool","callId":"c{call}"}},"content":[{{"type":"tool-result","toolCallId":"c{call}","content":[]{error}}}]}}}}"#
                );
                let effect: Effect = Box::new(move |state, seq| {
                    state.made_calls.retain(|other| *other != call);
                    state.ids += 1;
                    state.nodes.push(seq);
                });
                (Draft::new("tool/result", data).appended(), effect)
            }
            19..=21 => {
                let call = state.made_calls.last().copied().unwrap_or(id);
                let data = format!(r#"{{"id":"q{id}","toolName":"t","callId":"c{call}"}}"#);
                let effect: Effect = Box::new(move |state, _| {
                    state.asks.push(id);
                    state.ids += 1;
                });
                (Draft::new("approval/asked", data), effect)
            }
            22..=25 => {
                let ask = pop(&state.asks, id);
                let outcome =
                    ["allowed-once", "rejected", "cancelled", "unavailable"][self.pick(4)];
                let data = format!(r#"{{"id":"q{ask}","outcome":"{outcome}"}}"#);
                let effect: Effect =
                    Box::new(move |state, _| state.asks.retain(|other| *other != ask));
                (Draft::new("approval/decided", data), effect)
            }
            26 => {
                let policy = ["ask", "never"][self.pick(2)];
                plain("approval/policy", format!(r#"{{"policy":"{policy}"}}"#))
            }
            27 => {
                let mode = ["read-only", "workspace-write", "danger-full-access"][self.pick(3)];
                plain("sandbox/mode", format!(r#"{{"mode":"{mode}"}}"#))
            }
            28 => {
                let preset = ["read-only", "workspace-write", "danger-full-access", "mine"];
                let preset = preset[self.pick(4)];
                plain("permission/preset", format!(r#"{{"preset":"{preset}"}}"#))
            }
            29 | 30 => {
                let args = ["", r#","args":"x y""#][self.pick(2)];
                let data = format!(
                    r#"{{"commandId":"k{id}","name":"n"{args},"source":{{"kind":"user"}}}}"#
                );
                let effect: Effect = Box::new(move |state, _| {
                    state.runs.push(id);
                    state.ids += 1;
                });
                (Draft::new("command/run", data), effect)
            }
            31 | 32 => {
                let run = pop(&state.runs, id);
                let more = ["", r#","text":"done""#, r#","sourceEventSeq":0"#][self.pick(3)];
                let kind = ["success", "error"][self.pick(2)];
                let data = format!(r#"{{"commandId":"k{run}","kind":"{kind}"{more}}}"#);
                let effect: Effect =
                    Box::new(move |state, _| state.runs.retain(|other| *other != run));
                (Draft::new("command/done", data), effect)
            }
            33 => {
                let turn = if state.in_turn { turn.to_string() } else { "null".to_owned() };
                let data = format!(r#"{{"compactionId":"z{id}","turn":{turn}}}"#);
                let in_turn = state.in_turn;
                let effect: Effect = Box::new(move |state, _| {
                    state.compaction = Some((id, in_turn));
                    state.summarised = false;
                    state.ids += 1;
                });
                (Draft::new("compaction/start", data), effect)
            }
            34 | 35 => {
                let (compaction, in_turn) = state.compaction.unwrap_or((id, state.in_turn));
                let turn = if in_turn { turn.to_string() } else { "null".to_owned() };
                let data = format!(
                    r#"{{"compactionId":"z{compaction}","turn":{turn},"error":"it failed"}}"#
                );
                (Draft::new("compaction/end", data), Box::new(|state, _| state.compaction = None))
            }
            36 => {
                let status = ["pending", "completed"][self.pick(2)];
                let data = format!(r#"{{"todos":[{{"content":"a{id}","status":"{status}"}}]}}"#);
                plain("todo/write", data)
            }
            37 => {
                let model = ["m", "n"][self.pick(2)];
                let data = format!(
                    r#"{{"reason":"change","header":{{"config":{{"provider":"p","model":"{model}"}}}}}}"#
                );
                plain("request/header", data)
            }
            38 => {
                let data =
                    format!(r#"{{"title":"t{id}","messageSeqs":[],"source":{{"kind":"user"}}}}"#);
                plain("session/title", data)
            }
            39 => plain("session/end-seed", "{}".to_owned()),
            40 => plain("acme/note", format!(r#"{{"text":"n{id}"}}"#)),
            41 => {
                let (draft, effect) = plain("acme/unheard", "{}".to_owned());
                (Draft { ignorable: self.pick(2) == 0, ..draft }, effect)
            }
            42 => plain("plan/mode", r#"{"active":true}"#.to_owned()),
            _ => plain("feedback/record", r#"{"text":"good"}"#.to_owned()),
        }
    }

    /// Puts a message on the surface: at its end, or in place of another one.
    fn on_surface(&mut self, draft: Draft) -> Draft {
        let Some(last) = self.state.nodes.last().copied() else { return draft.appended() };
        if self.pick(6) != 5 {
            return draft.appended();
        }
        let op = format!(r#"{{"op":"replace","start":{last},"end":{last}}}"#);
        Draft { surface: Some(op.into_bytes()), ..draft }.citing(&[last])
    }
}

fn node() -> Effect {
    Box::new(|state, seq| {
        state.ids += 1;
        state.nodes.push(seq);
    })
}

/// Returns the last of what is open, or an id that nobody has.
fn pop(open: &[u64], unknown: u64) -> u64 {
    open.last().copied().unwrap_or(unknown + 1000)
}
