//! The text of a log: a header line and events, numbered and timed as the host's writer does it.

use std::fmt::Write as _;

/// When the sessions began, in milliseconds: 2025-10-09T08:53:20Z.
pub(crate) const CREATED_MS: u64 = 1_760_000_000_000;

/// The header line of the session `s` with the working directory `/p`, without its line feed.
pub(crate) const HEADER: &str = "{\"type\":\"session\",\"version\":0,\"id\":\"s\",\
    \"createdAt\":1760000000000,\"cwd\":\"/p\",\"delegationDepth\":0}";

/// Events with their places.
#[derive(Clone, Debug)]
pub(crate) struct Log {
    lines: Vec<String>,
    seq: u64,
    time_ms: u64,
    step_ms: u64,
}

impl Log {
    /// Starts at seq 0, one second between events.
    pub(crate) fn new() -> Self {
        Self { lines: Vec::new(), seq: 0, time_ms: CREATED_MS, step_ms: 1000 }
    }

    /// Goes on at another seq, as a stale writer does.
    pub(crate) fn at(&mut self, seq: u64) -> &mut Self {
        self.seq = seq;
        self
    }

    /// Lets another time pass between events, in milliseconds.
    pub(crate) fn every(&mut self, step_ms: u64) -> &mut Self {
        self.step_ms = step_ms;
        self
    }

    /// Returns the seq of the next event.
    pub(crate) fn next_seq(&self) -> u64 {
        self.seq
    }

    /// Adds an event that is on no surface.
    pub(crate) fn event(&mut self, kind: &str, data: &str) -> &mut Self {
        self.line(kind, data, "")
    }

    /// Adds an event that is appended to the surface.
    pub(crate) fn message(&mut self, kind: &str, data: &str) -> &mut Self {
        self.line(kind, data, ",\"surfaceOp\":\"append\"")
    }

    /// Adds an event with text behind its payload, such as its sources.
    pub(crate) fn line(&mut self, kind: &str, data: &str, rest: &str) -> &mut Self {
        self.time_ms += self.step_ms;
        let (seq, time) = (self.seq, self.time_ms);
        self.lines.push(format!(
            "{{\"type\":\"{kind}\",\"seq\":{seq},\"time\":{time},\"data\":{data}{rest}}}"
        ));
        self.seq += 1;
        self
    }

    /// Adds a packed row of text deltas of one step.
    pub(crate) fn packed(&mut self, tag: &str, turn: u64, step: u64, texts: &[&str]) -> &mut Self {
        let gaps = vec!["40"; texts.len() - 1].join(",");
        let texts_json = texts.iter().map(|text| format!("\"{text}\"")).collect::<Vec<_>>();
        let (seq, time) = (self.seq, self.time_ms + self.step_ms);
        self.lines.push(format!(
            "{{\"type\":\"{tag}\",\"seq0\":{seq},\"time0\":{time},\"data\":{{\"turn\":{turn},\
             \"step\":{step},\"index\":0,\"dt\":[{gaps}],\"texts\":[{}]}}}}",
            texts_json.join(",")
        ));
        let count = texts.len() as u64;
        self.seq += count;
        self.time_ms += self.step_ms + 40 * (count - 1);
        self
    }

    /// Adds a turn of six events: a question and its answer.
    pub(crate) fn turn(&mut self, turn: u64) -> &mut Self {
        self.open_turn(turn).close_turn(turn)
    }

    /// Adds the first four events of a turn.
    pub(crate) fn open_turn(&mut self, turn: u64) -> &mut Self {
        self.event("turn/start", &format!("{{\"turn\":{turn}}}"))
            .event("step/start", &format!("{{\"turn\":{turn},\"step\":1}}"))
            .message("user/message", &user(&format!("u{turn}"), "hello"))
            .message("assistant/message", &assistant(&format!("a{turn}"), turn, 1, &say("done")))
    }

    /// Adds the last two events of a turn.
    pub(crate) fn close_turn(&mut self, turn: u64) -> &mut Self {
        self.event("step/end", &format!("{{\"turn\":{turn},\"step\":1}}")).event(
            "turn/end",
            &format!("{{\"turn\":{turn},\"reason\":{{\"kind\":\"completed\"}}}}"),
        )
    }

    /// Returns the text of the events, each line with its line feed.
    pub(crate) fn text(&self) -> String {
        self.lines.iter().fold(String::new(), |mut text, line| {
            writeln!(text, "{line}").expect("a String takes all");
            text
        })
    }

    /// Returns the lines, without line feeds.
    pub(crate) fn lines(&self) -> &[String] {
        &self.lines
    }
}

/// Returns the text of some turns that begin at seq 0.
pub(crate) fn turns(count: u64) -> String {
    let mut log = Log::new();
    for turn in 1..=count {
        log.turn(turn);
    }
    log.text()
}

/// Returns a header line with its line feed and some turns.
pub(crate) fn whole(count: u64) -> String {
    format!("{HEADER}\n{}", turns(count))
}

/// The payload of a user's message.
pub(crate) fn user(id: &str, text: &str) -> String {
    format!(
        "{{\"role\":\"user\",\"id\":\"{id}\",\"content\":[{}],\"source\":{{\"kind\":\"user\"}}}}",
        say(text)
    )
}

/// The payload of an assistant's message with some content.
pub(crate) fn assistant(id: &str, turn: u64, step: u64, content: &str) -> String {
    format!(
        "{{\"turn\":{turn},\"step\":{step},\"message\":{{\"role\":\"assistant\",\"id\":\"{id}\",\
         \"content\":[{content}],\"source\":{{\"kind\":\"model\",\"provider\":\"deepseek\",\
         \"model\":\"deepseek-chat\"}}}},\"usage\":{{\"inputTokens\":1200,\"outputTokens\":80}}}}"
    )
}

/// A block of text.
pub(crate) fn say(text: &str) -> String {
    format!("{{\"type\":\"text\",\"text\":\"{text}\"}}")
}

/// A block that asks for a tool call; the arguments are given as the inside of a JSON text.
pub(crate) fn ask(call: &str, tool: &str, arguments: &str) -> String {
    format!(
        "{{\"type\":\"tool-call\",\"id\":\"{call}\",\"name\":\"{tool}\",\
         \"arguments\":\"{arguments}\"}}"
    )
}

/// The payload of a tool result; `failed` is an error's name and code.
pub(crate) fn result(
    call: &str,
    turn: u64,
    step: u64,
    text: &str,
    failed: Option<(&str, &str)>,
) -> String {
    let (flag, error) = failed.map_or((String::new(), String::new()), |(name, code)| {
        let error = format!(",\"error\":{{\"name\":\"{name}\",\"code\":\"{code}\"}}");
        (",\"isError\":true".to_owned(), error)
    });
    format!(
        "{{\"turn\":{turn},\"step\":{step},\"message\":{{\"source\":{{\"kind\":\"tool\",\
         \"callId\":\"{call}\"}},\"content\":[{{\"type\":\"tool-result\",\"toolCallId\":\"{call}\"\
         {flag},\"content\":[{}]}}],\"role\":\"user\",\"id\":\"result-{call}\"}}{error}}}",
        say(text)
    )
}
