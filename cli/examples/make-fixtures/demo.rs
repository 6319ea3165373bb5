//! The sessions root that ships: three sound sessions, one that two writers forked, one that a tool
//! framed anew.

use crate::Fixture;
use crate::frame::frame;
use crate::log::{Log, ask, assistant, result, say, user};

/// Returns the files of `fixtures/demo`.
pub(crate) fn fixtures() -> Vec<Fixture> {
    let shop = "/home/ann/shop";
    let sessions = [
        ("3f6c1d52-price-rounding", shop, rounding()),
        ("77a0b9e4-login-form", shop, login()),
        ("a81f0c3d-weekly-report", "/home/ann/notes", report()),
        ("c52e7f10-two-windows-open", shop, forked()),
    ];
    let mut all: Vec<Fixture> = sessions
        .into_iter()
        .map(|(id, cwd, log)| (path(id, cwd), batched(&header(id, cwd), &log)))
        .collect();
    let (id, cwd) = ("e09b4a66-compacted-by-a-script", "/home/ann/notes");
    let whole = format!("{}\n{}", header(id, cwd), login().text());
    all.push((path(id, cwd), frame(whole)));
    all
}

fn path(id: &str, cwd: &str) -> String {
    let project = cwd.trim_start_matches('/').replace('/', "-");
    format!("demo/--{project}--/{id}/session.jsonl.zstd")
}

fn header(id: &str, cwd: &str) -> String {
    format!(
        "{{\"type\":\"session\",\"version\":0,\"id\":\"{id}\",\"createdAt\":1760000000000,\
         \"cwd\":\"{cwd}\",\"delegationDepth\":0}}"
    )
}

/// The file as the host's writer leaves it: the header's frame, then one for every few records.
fn batched(header: &str, log: &Log) -> Vec<u8> {
    let batches = log.lines().chunks(4).map(|lines| frame(lines.join("\n") + "\n"));
    [frame(format!("{header}\n"))].into_iter().chain(batches).collect::<Vec<_>>().concat()
}

/// The start of each session: what is in force, before anybody spoke.
fn settings(log: &mut Log) -> &mut Log {
    log.event("permission/preset", "{\"preset\":\"workspace-write\"}")
        .event("sandbox/mode", "{\"mode\":\"workspace-write\"}")
        .event("approval/policy", "{\"policy\":\"ask\"}")
}

/// The start of a turn's first step, with the request that it makes.
fn begin<'a>(log: &'a mut Log, turn: u64, reason: &str, text: &str) -> &'a mut Log {
    let request = format!(
        "{{\"header\":{{\"config\":{{\"provider\":\"deepseek\",\"model\":\"deepseek-chat\"}},\
         \"system\":\"You are a careful engineer.\"}},\"reason\":\"{reason}\"}}"
    );
    log.event("turn/start", &format!("{{\"turn\":{turn}}}"))
        .event("step/start", &format!("{{\"turn\":{turn},\"step\":1}}"))
        .message("user/message", &user(&format!("msg-u{turn}"), text))
        .event("request/header", &request)
}

fn step(log: &mut Log, edge: &str, turn: u64, step: u64) {
    log.event(&format!("step/{edge}"), &format!("{{\"turn\":{turn},\"step\":{step}}}"));
}

fn end(log: &mut Log, turn: u64) {
    let data = format!("{{\"turn\":{turn},\"reason\":{{\"kind\":\"completed\"}}}}");
    log.event("turn/end", &data);
}

/// A call that the model asks for and that starts at once.
fn call(log: &mut Log, turn: u64, at: u64, id: &str, tool: &str, arguments: &str) {
    let message = format!("msg-a{turn}-{at}");
    let content = format!("{},{}", say("One moment."), ask(id, tool, arguments));
    log.message("assistant/message", &assistant(&message, turn, at, &content)).event(
        "tool/call",
        &format!(
            "{{\"turn\":{turn},\"step\":{at},\"callId\":\"{id}\",\"name\":\"{tool}\",\
             \"arguments\":\"{arguments}\"}}"
        ),
    );
}

/// The result of a call, which cites the event of the call.
fn answer(log: &mut Log, turn: u64, at: u64, id: &str, text: &str, called: u64) {
    let rest = format!(",\"sourceEventSeqs\":[{called}],\"surfaceOp\":\"append\"");
    log.line("tool/result", &result(id, turn, at, text, None), &rest);
}

/// The model's last words, streamed first: a packed row, then the message that cites it.
fn say_last(log: &mut Log, turn: u64, at: u64, words: &[&str]) {
    let first = log.next_seq();
    log.packed("text-chunks", turn, at, words);
    let cited = (first..log.next_seq()).map(|seq| seq.to_string()).collect::<Vec<_>>().join(",");
    let message = assistant(&format!("msg-a{turn}-{at}"), turn, at, &say(&words.concat()));
    let rest = format!(",\"sourceEventSeqs\":[{cited}],\"surfaceOp\":\"append\"");
    log.line("assistant/message", &message, &rest);
}

fn rounding() -> Log {
    let mut log = Log::new();
    begin(
        settings(&mut log),
        1,
        "initial",
        "The total of an order is off by a cent. Find out why.",
    );
    call(&mut log, 1, 1, "call_01", "grep", "{\\\"pattern\\\":\\\"round\\\"}");
    let called = log.next_seq() - 1;
    answer(&mut log, 1, 1, "call_01", "src/price.rs:41: (cents as f64 / 100.0).round()", called);
    step(&mut log, "end", 1, 1);
    step(&mut log, "start", 1, 2);
    call(&mut log, 1, 2, "call_02", "edit", "{\\\"path\\\":\\\"src/price.rs\\\"}");
    let called = log.next_seq() - 1;
    let asked = "{\"id\":\"ask-1\",\"toolName\":\"edit\",\"callId\":\"call_02\",\
        \"reason\":\"writes src/price.rs\"}";
    log.event("approval/asked", asked);
    log.event("approval/decided", "{\"id\":\"ask-1\",\"outcome\":\"allowed-once\"}");
    answer(&mut log, 1, 2, "call_02", "1 line changed", called);
    step(&mut log, "end", 1, 2);
    step(&mut log, "start", 1, 3);
    let words = ["The price ", "was rounded ", "twice. ", "Now it is ", "rounded once."];
    say_last(&mut log, 1, 3, &words);
    step(&mut log, "end", 1, 3);
    end(&mut log, 1);
    log.event(
        "session/title",
        "{\"title\":\"An order's total is off by a cent\",\"messageSeqs\":[5],\
         \"source\":{\"kind\":\"fallback\"}}",
    );
    log
}

fn login() -> Log {
    let mut log = Log::new();
    begin(settings(&mut log), 1, "initial", "Add a field for the second factor to the login form.");
    let todo = |first: &str, second: &str| {
        format!(
            "{{\"todos\":[{{\"content\":\"add the field\",\"status\":\"{first}\"}},\
             {{\"content\":\"test it\",\"status\":\"{second}\"}}]}}"
        )
    };
    log.event("todo/write", &todo("in_progress", "pending"));
    call(&mut log, 1, 1, "call_11", "read", "{\\\"path\\\":\\\"login.html\\\"}");
    let called = log.next_seq() - 1;
    answer(&mut log, 1, 1, "call_11", "<form>...</form>", called);
    log.event("todo/write", &todo("completed", "in_progress"));
    step(&mut log, "end", 1, 1);
    step(&mut log, "start", 1, 2);
    say_last(&mut log, 1, 2, &["The field ", "is there, ", "and tested."]);
    step(&mut log, "end", 1, 2);
    end(&mut log, 1);
    let run = "{\"commandId\":\"cmd-1\",\"name\":\"status\",\"source\":{\"kind\":\"user\"}}";
    log.event("command/run", run);
    log.event("command/done", "{\"commandId\":\"cmd-1\",\"kind\":\"success\",\"text\":\"idle\"}");
    log
}

fn report() -> Log {
    let mut log = Log::new();
    begin(settings(&mut log), 1, "initial", "Write the weekly report from my notes.");
    call(&mut log, 1, 1, "call_21", "shell", "{\\\"command\\\":\\\"mail -s report team\\\"}");
    let called = log.next_seq() - 1;
    log.event("approval/asked", "{\"id\":\"ask-7\",\"toolName\":\"shell\",\"callId\":\"call_21\"}");
    log.event("approval/decided", "{\"id\":\"ask-7\",\"outcome\":\"rejected\"}");
    let refused = Some(("ToolRejectedError", "TOOL_REJECTED"));
    let rest = format!(",\"sourceEventSeqs\":[{called}],\"surfaceOp\":\"append\"");
    log.line("tool/result", &result("call_21", 1, 1, "not allowed", refused), &rest);
    step(&mut log, "end", 1, 1);
    step(&mut log, "start", 1, 2);
    say_last(&mut log, 1, 2, &["Here is ", "the report; ", "I have not ", "mailed it."]);
    step(&mut log, "end", 1, 2);
    end(&mut log, 1);
    log.event("session/end-seed", "{}");
    begin(&mut log, 2, "resume", "Thanks. Make it shorter.");
    say_last(&mut log, 2, 1, &["All went ", "well this ", "week."]);
    step(&mut log, "end", 2, 1);
    end(&mut log, 2);
    log
}

/// A second window closed the turn of the first one, which then went on writing.
fn forked() -> Log {
    let mut log = Log::new();
    begin(settings(&mut log), 1, "initial", "Run the whole test suite, please.");
    call(&mut log, 1, 1, "call_31", "shell", "{\\\"command\\\":\\\"make test\\\"}");
    let called = log.next_seq() - 1;
    let fork = log.next_seq();
    let unknown = Some(("ToolOutcomeUnknownError", "TOOL_OUTCOME_UNKNOWN"));
    let text = "The tool call was interrupted after it was recorded, but no result was durably \
        recorded. Its outcome is unknown. Decide whether to retry from the tool semantics: retry \
        only if the operation is read-only or idempotent; if it may have side effects, first \
        verify external state or ask the user. Do not retry blindly.";
    let rest = format!(",\"surfaceOp\":\"append\",\"sourceEventSeqs\":[{called}]");
    log.every(0).line("tool/result", &result("call_31", 1, 1, text, unknown), &rest);
    step(&mut log, "end", 1, 1);
    log.event("turn/end", "{\"turn\":1,\"reason\":{\"kind\":\"interrupted\"}}");
    log.every(1000).event("session/end-seed", "{}");
    log.at(fork);
    answer(&mut log, 1, 1, "call_31", "212 passed, 1 failed", called);
    step(&mut log, "end", 1, 1);
    step(&mut log, "start", 1, 2);
    say_last(&mut log, 1, 2, &["One test ", "fails: ", "price rounding."]);
    step(&mut log, "end", 1, 2);
    end(&mut log, 1);
    begin(&mut log, 2, "change", "Fix it.");
    say_last(&mut log, 2, 1, &["It was ", "rounded ", "twice."]);
    step(&mut log, "end", 2, 1);
    end(&mut log, 2);
    log
}
