//! One line of a story: an event of some kind, odd in some way or not.

use super::choices::Choices;

/// Where a story is.
#[derive(Default)]
pub(super) struct State {
    pub(super) seq: usize,
    pub(super) turn: usize,
    pub(super) step: usize,
    /// Calls that were advertised.
    pub(super) calls: Vec<String>,
    /// What may be on the surface, with the call of a result.
    pub(super) nodes: Vec<(usize, Option<String>)>,
}

/// Tells one line, with its line feed.
pub(super) fn line(state: &mut State, choices: &mut Choices<'_>) -> String {
    let (turn, step) = (state.turn, state.step);
    let one = match choices.usual(24, 22) {
        0 => {
            state.turn += 1;
            state.step = 0;
            event(state, choices, "turn/start", &format!("{{\"turn\":{}}}", state.turn))
        }
        1 | 2 => {
            state.step += 1;
            let data = format!("{{\"turn\":{turn},\"step\":{}}}", state.step);
            event(state, choices, "step/start", &data)
        }
        3 => event(state, choices, "step/end", &format!("{{\"turn\":{turn},\"step\":{step}}}")),
        4 => {
            let reason = choices.one_of(REASONS);
            let data = format!("{{\"turn\":{},\"reason\":{reason}}}", turn.max(1));
            event(state, choices, "turn/end", &data)
        }
        5 | 6 => user(state, choices),
        7..=9 => assistant(state, choices),
        10 | 11 => {
            let call = call(state, choices);
            let data =
                format!("{{\"turn\":{turn},\"step\":{step},\"callId\":{call},\"name\":\"t\"}}");
            event(state, choices, "tool/call", &data)
        }
        12..=14 => result(state, choices),
        15 | 16 => packed(state, choices),
        17 => {
            let chunk = "{\"type\":\"text-delta\",\"index\":0,\"text\":\"a\"}";
            let data = format!("{{\"turn\":{turn},\"step\":{step},\"chunk\":{chunk}}}");
            event(state, choices, "assistant/chunk", &data)
        }
        18 => {
            let kind =
                choices.one_of(&["x/y", "turn/started", "model/selection", "steering/message"]);
            let mark = choices.one_of(&[",\"ignorable\":true", "", ",\"ignorable\":false"]);
            envelope(state, choices, kind, "{}", mark)
        }
        19 => {
            let data = choices.one_of(REQUESTS);
            event(state, choices, "request/header", data)
        }
        20 => legacy(state, choices),
        21 => event(state, choices, "session/end-seed", "{}"),
        22 => {
            let kind =
                choices.one_of(&["mode/set", "request/header-delta", "todo/write", "goal/change"]);
            let data = choices.one_of(ODD);
            event(state, choices, kind, data)
        }
        _ => {
            let kind = choices.one_of(&[
                "turn/start",
                "turn/end",
                "step/start",
                "tool/call",
                "user/message",
            ]);
            let data = choices.one_of(ODD);
            event(state, choices, kind, data)
        }
    };
    one + "\n"
}

const REASONS: &[&str] = &[
    r#"{"kind":"completed"}"#,
    r#"{"kind":"aborted"}"#,
    r#"{"kind":"disposed"}"#,
    r#"{"kind":"aborted","reason":{"kind":"user"}}"#,
    r#"{"kind":"error","error":{"message":"m","code":"c"}}"#,
    r#"{"kind":"error","step":1,"message":"m"}"#,
    r#"{"kind":"error","step":-0,"message":"m","code":"c"}"#,
    r#"{"kind":"error","step":1,"failure":{"message":"m","code":"c","status":500}}"#,
    r#"{"kind":"error","step":1,"failure":{"message":"m"}}"#,
    r#"{"kind":"error","message":"m"}"#,
    r#"{"kind":"completed","x":1}"#,
    r#"{"kind":"later","x":1}"#,
    r#"{"kind":5}"#,
    "null",
];

const REQUESTS: &[&str] = &[
    r#"{"reason":"initial","header":{"config":{"provider":"p","model":"m"},"tools":[]}}"#,
    r#"{"reason":"fallback","header":{"config":{"provider":"p","model":"m"}}}"#,
    r#"{"header":{"config":{"provider":"p","model":"","reasoningEffort":"x"}}}"#,
    r#"{"header":{"config":{"provider":"p","model":"m","reasoningEffort":""}}}"#,
    concat!(
        r#"{"header":{"config":{"provider":"p","model":"m","maxTokens":null},"#,
        r#""adapterDefaults":{"maxTokens":true}}}"#
    ),
    r#"{"header":{"config":{"provider":"p","model":"m"},"adapterDefaults":{"maxTokens":true}}}"#,
    r#"{"header":{"config":{"provider":"p","model":"m"},"adapterDefaults":{}}}"#,
    r#"{"header":[]}"#,
    "null",
];

/// Payloads and values that are seldom what was expected.
pub(super) const ODD: &[&str] = &[
    "{}",
    "null",
    "[]",
    "0",
    "\"x\"",
    "true",
    "{\"turn\":null}",
    "{\"step\":null}",
    "-0",
    "1e400",
    "9007199254740993",
    "1.0",
    "{\"turn\":1,\"turn\":2}",
    "{\"\\u0074urn\":1}",
    "[null]",
    "{\"toString\":1}",
    "[[{\"toString\":null}]]",
    "\"\\ud800\"",
    "{\"__proto__\":{\"turn\":1}}",
    "{\"turn\":2,\"trigger\":{\"kind\":\"x\"}}",
    "{\"turn\":1,\"trigger\":{\"kind\":\"\"}}",
];

fn event(state: &mut State, choices: &mut Choices<'_>, kind: &str, data: &str) -> String {
    envelope(state, choices, kind, data, "")
}

fn envelope(
    state: &mut State,
    choices: &mut Choices<'_>,
    kind: &str,
    data: &str,
    more: &str,
) -> String {
    let seq = state.seq;
    state.seq += 1;
    let seq = match choices.usual(24, 23) {
        20 => format!("{seq}.0"),
        21 if seq == 0 => "-0".to_owned(),
        22 => format!("{seq}e0"),
        23 => {
            // A gap, an overlap or a restart; the story goes on from there or as if nothing had
            // been.
            let other = [seq + 1, seq.saturating_sub(1), 0, seq + 3][choices.pick(4)];
            if choices.pick(2) == 1 {
                state.seq = other + 1;
            }
            other.to_string()
        }
        _ => seq.to_string(),
    };
    let time = if choices.rarely(24) { choices.one_of(ODD) } else { "5" };
    match choices.pick(12) {
        10 => {
            format!("{{\"data\":{data},\"time\":{time},\"seq\":{seq}{more},\"type\":\"{kind}\"}}")
        }
        11 => format!(
            "{{\"type\":\"{kind}\" , \"seq\":{seq},\"time\":{time}\t,\"data\":{data}{more} }}\r"
        ),
        _ => format!("{{\"type\":\"{kind}\",\"seq\":{seq},\"time\":{time},\"data\":{data}{more}}}"),
    }
}

/// A call's id as JSON: a known one, or an odd one.
fn call(state: &State, choices: &mut Choices<'_>) -> String {
    match choices.usual(10, 9) {
        9 => choices.one_of(&["\"\"", "5", "null", "\"c0\"", "{}"]).to_owned(),
        at if state.calls.is_empty() => format!("\"c{}\"", at % 2),
        at => state.calls[state.calls.len() - 1 - at % state.calls.len()].clone(),
    }
}

/// What a surface event does, and the node that it names if it replaces one.
fn operation(state: &mut State, choices: &mut Choices<'_>, call: Option<&String>) -> String {
    let seq = state.seq;
    let kind = choices.usual(16, 15);
    // The result that this one rewrites, or any node at all.
    let like = state.nodes.iter().rposition(|(_, other)| call.is_some() && other.as_ref() == call);
    let is_lost = call.is_some() && like.is_none() && !choices.may_be_odd();
    if kind < 9 || state.nodes.is_empty() || is_lost {
        state.nodes.push((seq, call.cloned()));
        let sources = match choices.usual(8, 7) {
            6 if seq > 0 => format!(",\"sourceEventSeqs\":[{}]", seq - 1),
            7 => format!(
                ",\"sourceEventSeqs\":{}",
                choices.one_of(&["[]", "[0,-0]", "[[0,1]]", "null", "[99]"])
            ),
            _ => String::new(),
        };
        return format!(",\"surfaceOp\":\"append\"{sources}");
    }
    if kind == 15 {
        let odd = ["\"replace\"", "null", "{\"op\":\"replace\",\"startSeq\":0,\"endSeq\":0}", "{}"];
        return format!(",\"surfaceOp\":{}", choices.one_of(&odd));
    }
    let any = state.nodes.len() - 1 - choices.pick(state.nodes.len());
    let from = if choices.rarely(8) { any } else { like.unwrap_or(any) };
    let to =
        if call.is_some() { from } else { (from + choices.pick(3)).min(state.nodes.len() - 1) };
    let removed: Vec<usize> = state.nodes[from..=to].iter().map(|(seq, _)| *seq).collect();
    let mut sources: Vec<String> = removed.iter().rev().map(ToString::to_string).collect();
    if choices.rarely(8) {
        sources.pop();
    }
    let (start, end) = (removed[0], removed[removed.len() - 1]);
    state.nodes.splice(from..=to, [(seq, call.cloned())]);
    format!(
        ",\"surfaceOp\":{{\"op\":\"replace\",\"start\":{start},\"end\":{end}}},\
         \"sourceEventSeqs\":[{}]",
        sources.join(",")
    )
}

fn user(state: &mut State, choices: &mut Choices<'_>) -> String {
    let op = operation(state, choices, None);
    let content =
        choices.one_of(&["[]", "[{\"type\":\"text\",\"text\":\"\\u00e9\"}]", "[null]", "{}"]);
    let source = choices.one_of(&["{\"kind\":\"user\"}", "{\"kind\":\"user\"}", "{\"kind\":\"\"}"]);
    let data =
        format!("{{\"id\":\"m\",\"role\":\"user\",\"content\":{content},\"source\":{source}}}");
    envelope(state, choices, "user/message", &data, &op)
}

fn assistant(state: &mut State, choices: &mut Choices<'_>) -> String {
    let op = operation(state, choices, None);
    let mut blocks = Vec::new();
    for _ in 0..choices.pick(4) {
        let id = match choices.usual(9, 7) {
            7 => call(state, choices),
            8 => choices.one_of(&["\"\"", "5", "{}", "\"\\u0063\\u0030\""]).to_owned(),
            _ => format!("\"c{}\"", state.calls.len()),
        };
        state.calls.push(id.clone());
        blocks.push(format!("{{\"type\":\"tool-call\",\"id\":{id},\"name\":\"t\"}}"));
    }
    match choices.usual(12, 10) {
        9 => blocks.push("{\"type\":\"text\",\"text\":\"a\"}".into()),
        10 => blocks.push("{\"type\":\"tool-call\"}".into()),
        11 => blocks.push(choices.one_of(&["null", "1", "[]", "\"tool-call\""]).into()),
        _ => {}
    }
    let model = choices.one_of(&["\"m\"", "\"m\"", "\"m\"", "\"\""]);
    let (turn, step, blocks) = (state.turn, state.step, blocks.join(","));
    let data = format!(
        "{{\"turn\":{turn},\"step\":{step},\"message\":{{\"id\":\"a\",\"role\":\"assistant\",\
         \"content\":[{blocks}],\"source\":{{\"kind\":\"model\",\"provider\":\"p\",\
         \"model\":{model}}}}}}}"
    );
    envelope(state, choices, "assistant/message", &data, &op)
}

fn result(state: &mut State, choices: &mut Choices<'_>) -> String {
    let call = call(state, choices);
    let op = operation(state, choices, Some(&call));
    let other = if choices.rarely(12) { "\"other\"" } else { call.as_str() };
    let content = choices.one_of(&["[]", "[{\"type\":\"text\",\"text\":\"r\"}]", "[]", "null"]);
    let meta = choices.one_of(&[
        "",
        "",
        "",
        ",\"meta\":{\"a\":0,\"b\":1}",
        ",\"meta\":{\"b\":1,\"a\":-0}",
    ]);
    let (turn, step) = (state.turn.min(1), state.step.min(1));
    let data = format!(
        "{{\"turn\":{turn},\"step\":{step},\"message\":{{\"id\":\"r\",\"role\":\"user\",\
         \"source\":{{\"kind\":\"tool\",\"callId\":{call}}},\
         \"content\":[{{\"type\":\"tool-result\",\"toolCallId\":{other},\
         \"content\":{content}}}]}}{meta}}}"
    );
    envelope(state, choices, "tool/result", &data, &op)
}

fn packed(state: &mut State, choices: &mut Choices<'_>) -> String {
    let members = 1 + choices.pick(5);
    let seq = state.seq;
    state.seq += members;
    let gaps = vec!["-1"; members - 1].join(",");
    let texts = vec!["\"a\""; members].join(",");
    let tag = choices.one_of(&["text-chunks", "reasoning-chunks", "tool-call-chunks"]);
    let names = choices.one_of(&["", ",\"name\":\"n\"", ",\"name\":5"]);
    let (more, list) = match tag {
        "tool-call-chunks" => (format!(",\"id\":\"\"{names}"), "args"),
        _ => (String::new(), "texts"),
    };
    let row = format!(
        "{{\"type\":\"{tag}\",\"seq0\":{seq},\"time0\":0,\"data\":{{\"turn\":1,\"step\":1.5,\
         \"index\":0{more},\"dt\":[{gaps}],\"{list}\":[{texts}]}}}}"
    );
    if !choices.rarely(6) {
        return row;
    }
    let odd = [
        ("\"dt\":[", "\"dt\":[0,"),
        ("-1", "0.5"),
        ("-1", "9007199254740991"),
        ("\"a\"", "1"),
        ("\"time0\":0", "\"time0\":9007199254740993"),
        ("\"seq0\":", "\"seq0\":1"),
        ("\"index\":0", "\"index\":\"0\""),
        ("\"index\":0", "\"index\":0,\"x\":1"),
        ("\"time0\"", "\"time\":0,\"time0\""),
        ("text-chunks", "text\\u002dchunks"),
        ("[\"a\"]", "[]"),
        ("\"data\":{", "\"data\":null,\"data\":{"),
    ];
    let (from, to) = odd[choices.pick(odd.len())];
    row.replacen(from, to, 1)
}

fn legacy(state: &mut State, choices: &mut Choices<'_>) -> String {
    let kind = choices.pick(8);
    let call = call(state, choices);
    let op = match kind {
        0 | 1 => String::new(),
        _ => operation(state, choices, Some(&call).filter(|_| kind >= 6)),
    };
    let (kind, data) = match kind {
        0 | 1 => {
            state.turn += 1;
            let turn = state.turn;
            ("turn/start", format!("{{\"turn\":{turn},\"trigger\":{{\"kind\":\"message\"}}}}"))
        }
        2 => (
            "steering/message",
            "{\"turn\":1,\"content\":[],\"source\":{\"kind\":\"user\"}}".to_owned(),
        ),
        3 => (
            "steering/message",
            "{\"turn\":1,\"message\":{\"id\":\"m\",\"role\":\"user\",\"content\":[],\"source\":\
             {\"kind\":\"u\"}}}"
                .to_owned(),
        ),
        4 => ("user/message", "{\"content\":[],\"source\":{\"kind\":\"user\"}}".to_owned()),
        5 => {
            let provenance = choices.one_of(&[
                "{\"provider\":\"p\",\"model\":\"m\"}",
                "{\"provider\":\"p\"}",
                "\"pm\"",
                "null",
            ]);
            let content = "[{\"type\":\"tool-call\",\"id\":\"c0\"}]";
            (
                "assistant/message",
                format!("{{\"step\":1,\"content\":{content},\"provenance\":{provenance}}}"),
            )
        }
        _ => ("tool/result", format!("{{\"callId\":{call},\"content\":[],\"isError\":false}}")),
    };
    envelope(state, choices, kind, &data, &op)
}
