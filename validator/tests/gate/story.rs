//! A session that is mostly lawful: a tape chooses what comes next, and now and then it is odd.

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
    nodes: Vec<u64>,
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

    /// Chooses what comes next, and says what becomes of the session if it is accepted.
    fn plan(&mut self) -> (Draft, Effect) {
        // A session that nothing is open in starts a turn, most of the time.
        let choice = match self.pick(44) {
            0..=9 if !self.state.in_turn => 0,
            0..=9 if !self.state.in_step => 1,
            other => other,
        };
        match choice {
            0..=6 => self.boundary(choice),
            7 | 8 => self.user(),
            9..=12 => self.assistant(),
            13..=15 => self.call(),
            16..=18 => self.result(),
            19..=25 => self.approval(choice),
            29..=32 => self.command(choice),
            33..=35 => self.compaction(choice),
            _ => self.setting(choice),
        }
    }

    fn boundary(&mut self, choice: usize) -> (Draft, Effect) {
        let (turn, step) = (self.state.turns, self.state.steps);
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
            _ => {
                let reason = ["completed", "max-tokens", "later"][self.pick(3)];
                let data = format!(r#"{{"turn":{turn},"reason":{{"kind":"{reason}"}}}}"#);
                (Draft::new("turn/end", data), Box::new(|state, _| state.in_turn = false))
            }
        }
    }

    fn user(&mut self) -> (Draft, Effect) {
        let id = self.state.ids;
        let source = r#"{"kind":"user"}"#;
        let data = format!(r#"{{"id":"m{id}","role":"user","source":{source},"content":[]}}"#);
        (self.on_surface(Draft::new("user/message", data)), node())
    }

    fn assistant(&mut self) -> (Draft, Effect) {
        let (turn, step, id) = (self.state.turns, self.state.steps, self.state.ids);
        let calls = self.pick(3) as u64;
        let block = |call| format!(r#"{{"type":"tool-call","id":"c{call}","name":"t"}}"#);
        let blocks: Vec<_> = (id..id + calls).map(block).collect();
        let blocks = blocks.join(",");
        let usage = [
            "",
            r#","usage":{"inputTokens":10,"outputTokens":2}"#,
            r#","usage":{"inputTokens":7,"outputTokens":1,"cacheReadTokens":3}"#,
        ][self.pick(3)];
        let source = r#"{"kind":"model","provider":"p","model":"m"}"#;
        let message = format!(
            r#"{{"id":"a{id}","role":"assistant","content":[{blocks}],"source":{source}}}"#
        );
        let data = format!(r#"{{"turn":{turn},"step":{step},"message":{message}{usage}}}"#);
        let effect: Effect = Box::new(move |state, seq| {
            state.asked_calls.extend(id..id + calls);
            state.ids += calls + 1;
            state.nodes.push(seq);
        });
        (Draft::new("assistant/message", data).appended(), effect)
    }

    fn call(&mut self) -> (Draft, Effect) {
        let (turn, step) = (self.state.turns, self.state.steps);
        let call = pop(&self.state.asked_calls, self.state.ids);
        let data = format!(
            r#"{{"turn":{turn},"step":{step},"callId":"c{call}","name":"t","arguments":"x"}}"#
        );
        let effect: Effect = Box::new(move |state, _| {
            state.asked_calls.retain(|other| *other != call);
            state.made_calls.push(call);
        });
        (Draft::new("tool/call", data), effect)
    }

    fn result(&mut self) -> (Draft, Effect) {
        let (turn, step, id) = (self.state.turns, self.state.steps, self.state.ids);
        let call = pop(&self.state.made_calls, id);
        let error = ["", r#","isError":true"#][self.pick(2)];
        let source = format!(r#"{{"kind":"tool","callId":"c{call}"}}"#);
        let block =
            format!(r#"{{"type":"tool-result","toolCallId":"c{call}","content":[]{error}}}"#);
        let message =
            format!(r#"{{"id":"r{id}","role":"user","source":{source},"content":[{block}]}}"#);
        let data = format!(r#"{{"turn":{turn},"step":{step},"message":{message}}}"#);
        let effect: Effect = Box::new(move |state, seq| {
            state.made_calls.retain(|other| *other != call);
            state.ids += 1;
            state.nodes.push(seq);
        });
        (Draft::new("tool/result", data).appended(), effect)
    }

    fn approval(&mut self, choice: usize) -> (Draft, Effect) {
        let id = self.state.ids;
        if choice <= 21 {
            let call = self.state.made_calls.last().copied().unwrap_or(id);
            let data = format!(r#"{{"id":"q{id}","toolName":"t","callId":"c{call}"}}"#);
            let effect: Effect = Box::new(move |state, _| {
                state.asks.push(id);
                state.ids += 1;
            });
            return (Draft::new("approval/asked", data), effect);
        }
        let ask = pop(&self.state.asks, id);
        let outcome = ["allowed-once", "rejected", "cancelled", "unavailable"][self.pick(4)];
        let data = format!(r#"{{"id":"q{ask}","outcome":"{outcome}"}}"#);
        let effect: Effect = Box::new(move |state, _| state.asks.retain(|other| *other != ask));
        (Draft::new("approval/decided", data), effect)
    }

    fn command(&mut self, choice: usize) -> (Draft, Effect) {
        let id = self.state.ids;
        if choice <= 30 {
            let args = ["", r#","args":"x y""#][self.pick(2)];
            let source = r#"{"kind":"user"}"#;
            let data = format!(r#"{{"commandId":"k{id}","name":"n"{args},"source":{source}}}"#);
            let effect: Effect = Box::new(move |state, _| {
                state.runs.push(id);
                state.ids += 1;
            });
            return (Draft::new("command/run", data), effect);
        }
        let run = pop(&self.state.runs, id);
        let more = ["", r#","text":"done""#, r#","sourceEventSeq":0"#][self.pick(3)];
        let kind = ["success", "error"][self.pick(2)];
        let data = format!(r#"{{"commandId":"k{run}","kind":"{kind}"{more}}}"#);
        let effect: Effect = Box::new(move |state, _| state.runs.retain(|other| *other != run));
        (Draft::new("command/done", data), effect)
    }

    fn compaction(&mut self, choice: usize) -> (Draft, Effect) {
        let State { turns, in_turn, ids, compaction, .. } = self.state;
        let turn = |in_turn| if in_turn { turns.to_string() } else { "null".to_owned() };
        if choice == 33 {
            let data = format!(r#"{{"compactionId":"z{ids}","turn":{}}}"#, turn(in_turn));
            let effect: Effect = Box::new(move |state, _| {
                state.compaction = Some((ids, in_turn));
                state.ids += 1;
            });
            return (Draft::new("compaction/start", data), effect);
        }
        let (id, in_turn) = compaction.unwrap_or((ids, in_turn));
        let data =
            format!(r#"{{"compactionId":"z{id}","turn":{},"error":"it failed"}}"#, turn(in_turn));
        (Draft::new("compaction/end", data), Box::new(|state, _| state.compaction = None))
    }

    fn setting(&mut self, choice: usize) -> (Draft, Effect) {
        const MODES: [&str; 4] = ["read-only", "workspace-write", "danger-full-access", "mine"];
        let id = self.state.ids;
        let (kind, data) = match choice {
            26 => {
                let policy = ["ask", "never"][self.pick(2)];
                ("approval/policy", format!(r#"{{"policy":"{policy}"}}"#))
            }
            27 => ("sandbox/mode", format!(r#"{{"mode":"{}"}}"#, MODES[self.pick(3)])),
            28 => ("permission/preset", format!(r#"{{"preset":"{}"}}"#, MODES[self.pick(4)])),
            36 => {
                let status = ["pending", "completed"][self.pick(2)];
                let todo = format!(r#"{{"content":"a{id}","status":"{status}"}}"#);
                ("todo/write", format!(r#"{{"todos":[{todo}]}}"#))
            }
            37 => {
                let model = ["m", "n"][self.pick(2)];
                let config = format!(r#"{{"provider":"p","model":"{model}"}}"#);
                let header = format!(r#"{{"reason":"change","header":{{"config":{config}}}}}"#);
                ("request/header", header)
            }
            38 => {
                let source = r#"{"kind":"user"}"#;
                let title = format!(r#"{{"title":"t{id}","messageSeqs":[],"source":{source}}}"#);
                ("session/title", title)
            }
            39 => ("session/end-seed", "{}".to_owned()),
            40 => ("acme/note", format!(r#"{{"text":"n{id}"}}"#)),
            41 => ("acme/unheard", "{}".to_owned()),
            42 => ("plan/mode", r#"{"active":true}"#.to_owned()),
            _ => ("feedback/record", r#"{"text":"good"}"#.to_owned()),
        };
        let ignorable = choice == 41 && self.pick(2) == 0;
        (Draft { ignorable, ..Draft::new(kind, data) }, Box::new(|_, _| {}))
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
