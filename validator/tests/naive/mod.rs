//! Each projection once more, slow and obvious: the whole log is looked through for every answer.

use gatelog_engine::rules::Draft;
use serde_json::{Value, json};

/// One event of a log, as values.
pub(crate) struct Row {
    kind: String,
    data: Value,
    surface: bool,
}

/// Reads drafts into values.
pub(crate) fn rows(drafts: &[Draft]) -> Vec<Row> {
    let row = |draft: &Draft| Row {
        kind: draft.kind.clone(),
        data: serde_json::from_slice(&draft.data).expect("a draft is JSON"),
        surface: draft.surface.as_deref() == Some(b"\"append\""),
    };
    drafts.iter().map(row).collect()
}

/// Returns what a projection shows after all rows.
pub(crate) fn view(name: &str, rows: &[Row]) -> Value {
    match name {
        "policy" => knob(rows, "approval/policy", "policy", "ask"),
        "sandbox" => knob(rows, "sandbox/mode", "mode", "workspace-write"),
        "permissions" => permissions(rows),
        "approvals" => approvals(rows),
        "commands" => commands(rows),
        "turns" => turns(rows),
        "usage" => usage(rows),
        "title" => last(rows, "session/title", &["title", "source"]),
        "todo" => last(rows, "todo/write", &["todos"]),
        "request_header" => last(rows, "request/header", &["header", "reason"]),
        other => panic!("no projection is called {other}"),
    }
}

fn find_last(rows: &[Row], kind: &str) -> Option<usize> {
    (0..rows.len()).rev().find(|at| rows[*at].kind == kind)
}

fn last(rows: &[Row], kind: &str, keys: &[&str]) -> Value {
    let Some(at) = find_last(rows, kind) else { return Value::Null };
    let mut view = serde_json::Map::new();
    for key in keys {
        view.insert((*key).to_owned(), rows[at].data[*key].clone());
    }
    view.insert("seq".to_owned(), at.into());
    view.into()
}

fn knob(rows: &[Row], kind: &str, key: &str, composed: &str) -> Value {
    let Some(at) = find_last(rows, kind) else {
        return json!({"effective": composed, "set": null});
    };
    let value = &rows[at].data[key];
    let effective = if value.is_null() { json!(composed) } else { value.clone() };
    let set = json!({"value": value, "source": rows[at].data["source"], "seq": at});
    json!({"effective": effective, "set": set})
}

fn permissions(rows: &[Row]) -> Value {
    let sandbox = knob(rows, "sandbox/mode", "mode", "workspace-write")["effective"].clone();
    let approval = knob(rows, "approval/policy", "policy", "ask")["effective"].clone();
    let table = [("read-only", "ask"), ("workspace-write", "ask"), ("danger-full-access", "never")];
    let selected = find_last(rows, "permission/preset").map(|at| rows[at].data["preset"].clone());
    let fits = |(name, policy): &(&str, &str)| sandbox == *name && approval == *policy;
    // In the shipped table no two rows stand for the same, so that the selection decides nothing.
    let current = table.iter().find(|row| fits(row)).map_or("custom", |row| row.0);
    assert!(selected.is_none_or(|selected| selected != current || current != "custom"));
    let mut options: Vec<_> =
        table.iter().map(|(name, _)| json!({"value": name, "name": name})).collect();
    if current == "custom" {
        let text = "Current sandbox and approval settings do not match a preset.";
        options.push(json!({"value": "custom", "name": "Custom", "description": text}));
    }
    json!({
        "options": options, "currentValue": current, "sandbox": sandbox, "approval": approval,
        "seeded": find_last(rows, "session/end-seed").is_some(),
    })
}

/// Returns the number of what is open before a row: a turn, or a step of it.
fn open_before(rows: &[Row], what: &str) -> Value {
    let start = find_last(rows, &format!("{what}/start"));
    let ends = [format!("{what}/end"), "turn/end".to_owned(), "turn/start".to_owned()];
    let ends = if what == "turn" { &ends[..1] } else { &ends[..] };
    let end = ends.iter().filter_map(|end| find_last(rows, end)).max();
    match start {
        Some(start) if end.is_none_or(|end| end < start) => rows[start].data[what].clone(),
        _ => Value::Null,
    }
}

fn approvals(rows: &[Row]) -> Value {
    let (mut open, mut decided) = (Vec::new(), Vec::new());
    for (at, row) in rows.iter().enumerate().filter(|(_, row)| row.kind == "approval/asked") {
        let before = &rows[..at];
        let id = &row.data["id"];
        let same = |at: &usize| rows[*at].data["id"] == *id;
        let after = at + 1..rows.len();
        let answer = after.clone().find(|at| rows[*at].kind == "approval/decided" && same(at));
        let again = after.clone().find(|at| rows[*at].kind == "approval/asked" && same(at));
        if again.is_some_and(|again| answer.is_none_or(|answer| again < answer)) {
            // Another question took its id while it was open.
            continue;
        }
        let answered = answer.map(|at| (&rows[at].data["outcome"], at, 1000 + at));
        let view = json!({
            "id": id, "tool": row.data["toolName"], "call_id": row.data["callId"],
            "reason": row.data["reason"], "turn": open_before(before, "turn"),
            "step": open_before(before, "step"),
            "policy": knob(before, "approval/policy", "policy", "ask")["effective"],
            "asked_seq": at, "asked_time_ms": 1000 + at,
            "outcome": answered.map(|it| it.0), "decided_seq": answered.map(|it| it.1),
            "decided_time_ms": answered.map(|it| it.2),
        });
        match answered {
            None => open.push(view),
            Some((_, at, _)) => decided.push((at, view)),
        }
    }
    decided.sort_by_key(|(at, _)| *at);
    let decided: Vec<_> = decided.into_iter().map(|(_, view)| view).collect();
    json!({"open": open, "decided": decided})
}

fn commands(rows: &[Row]) -> Value {
    let mut views = Vec::new();
    for (at, row) in rows.iter().enumerate().filter(|(_, row)| row.kind == "command/run") {
        let id = &row.data["commandId"];
        let of_id = |at: &usize| rows[*at].data["commandId"] == *id;
        let next = (at + 1..rows.len())
            .find(|at| of_id(at) && ["command/run", "command/done"].contains(&&*rows[*at].kind));
        let done = next.filter(|at| rows[*at].kind == "command/done");
        let of_done = |key: &str| done.map_or(Value::Null, |at| rows[at].data[key].clone());
        views.push(json!({
            "id": id, "name": row.data["name"], "args": row.data["args"], "run_seq": at,
            "done_seq": done, "kind": of_done("kind"), "text": of_done("text"),
            "source_event_seq": of_done("sourceEventSeq"),
        }));
    }
    views.into()
}

fn turns(rows: &[Row]) -> Value {
    let starts: Vec<_> = (0..rows.len()).filter(|at| rows[*at].kind == "turn/start").collect();
    let mut views = Vec::new();
    for (index, start) in starts.iter().copied().enumerate() {
        let next = starts.get(index + 1).copied().unwrap_or(rows.len());
        let end = (start..next).find(|at| rows[*at].kind == "turn/end");
        let within = start..end.unwrap_or(next);
        let step_starts: Vec<_> =
            within.clone().filter(|at| rows[*at].kind == "step/start").collect();
        let mut steps = Vec::new();
        for (index, step) in step_starts.iter().copied().enumerate() {
            let next = step_starts.get(index + 1).copied().unwrap_or(within.end);
            let end = (step..next).find(|at| rows[*at].kind == "step/end");
            steps.push(json!({"step": rows[step].data["step"], "start_seq": step, "end_seq": end}));
        }
        views.push(json!({
            "turn": rows[start].data["turn"], "start_seq": start, "start_time_ms": 1000 + start,
            "end_seq": end, "end_time_ms": end.map(|end| 1000 + end),
            "reason": end.map_or(Value::Null, |end| rows[end].data["reason"].clone()),
            "steps": steps,
        }));
    }
    views.into()
}

fn usage(rows: &[Row]) -> Value {
    let counted: Vec<_> = rows
        .iter()
        .filter(|row| row.kind == "assistant/message" && row.surface)
        .filter(|row| row.data["usage"].is_object())
        .map(|row| &row.data["usage"])
        .collect();
    let sum = |key: &str| counted.iter().filter_map(|usage| usage[key].as_u64()).sum::<u64>();
    let tokens = json!({
        "input": sum("inputTokens"), "output": sum("outputTokens"),
        "cache_read": sum("cacheReadTokens"), "cache_write": 0, "reasoning": 0,
    });
    let requests = counted.len();
    let model = json!({"provider": "p", "model": "m", "requests": requests, "tokens": tokens});
    let models = if requests == 0 { Vec::new() } else { vec![model] };
    json!({"requests": requests, "tokens": tokens, "models": models})
}
