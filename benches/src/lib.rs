//! What the benches of gatelog share: logs like those the host writes, made from a seed.
//!
//! A generated log has the host's own shapes in the host's own proportions: streamed text in packed
//! rows of a fifth of a second each, tool calls with results of some kilobytes, messages that cite
//! their chunks, an approval now and then; each durable batch is one Zstandard frame with a
//! checksum.

pub mod progress;
pub mod trial;

use std::fmt::Write as _;
use zstd_safe::{CCtx, CParameter};

/// A small generator of pseudo-random numbers, the same on every machine.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Starts from a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed ^ 0x9E37_79B9_7F4A_7C15)
    }

    /// Returns a number below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % end
    }
}

/// How a log's bytes are encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// One frame a batch.
    Zstd,
    /// Plain lines.
    Plain,
}

/// Writes a lawful log of format 0.
pub struct LogWriter {
    random: Random,
    words: Vec<String>,
    seq: u64,
    time: u64,
    batch: String,
    out: Vec<u8>,
    encoding: Encoding,
    compressor: CCtx<'static>,
    /// Bytes of text so far.
    pub text_bytes: u64,
}

/// Returns a log of at least `bytes` bytes on disk, and the length of its text.
pub fn log(seed: u64, bytes: usize, encoding: Encoding) -> (Vec<u8>, u64) {
    let mut writer = LogWriter::new(seed, encoding);
    let mut turn = 1;
    while writer.out.len() < bytes {
        writer.turn(turn);
        turn += 1;
    }
    (writer.out, writer.text_bytes)
}

impl LogWriter {
    /// Starts a log with its header.
    ///
    /// # Panics
    ///
    /// When libzstd takes no checksum flag.
    pub fn new(seed: u64, encoding: Encoding) -> Self {
        let mut random = Random::new(seed);
        let syllables =
            ["re", "con", "ti", "al", "ment", "er", "in", "pro", "de", "ex", "file", "a"];
        let word = |random: &mut Random| {
            let count = 1 + random.below(3);
            (0..count).map(|_| syllables[random.below(12) as usize]).collect::<String>()
        };
        let words = (0..4000).map(|_| word(&mut random)).collect();
        let mut compressor = CCtx::create();
        compressor.set_parameter(CParameter::ChecksumFlag(true)).expect("a flag can be set");
        let mut writer = Self {
            random,
            words,
            seq: 0,
            time: 1_790_000_000_000,
            batch: String::new(),
            out: Vec::new(),
            encoding,
            compressor,
            text_bytes: 0,
        };
        writer.batch.push_str(
            "{\"type\":\"session\",\"version\":0,\"id\":\"bench\",\"createdAt\":1790000000000,\
             \"delegationDepth\":0}\n",
        );
        writer.flush();
        writer
    }

    /// Ends a batch: one frame.
    fn flush(&mut self) {
        let text = std::mem::take(&mut self.batch);
        self.text_bytes += text.len() as u64;
        if self.encoding == Encoding::Plain {
            self.out.extend_from_slice(text.as_bytes());
            return;
        }
        let mut frame: Vec<u8> = Vec::with_capacity(zstd_safe::compress_bound(text.len()));
        self.compressor.compress2(&mut frame, text.as_bytes()).expect("the frame has room");
        self.out.extend_from_slice(&frame);
    }

    fn event(&mut self, kind: &str, data: &str, rest: &str) -> u64 {
        let (seq, time) = (self.seq, self.time);
        let _ = writeln!(
            self.batch,
            "{{\"type\":\"{kind}\",\"seq\":{seq},\"time\":{time},\"data\":{data}{rest}}}"
        );
        self.seq += 1;
        self.time += self.random.below(30);
        seq
    }

    fn words(&mut self, count: u64) -> String {
        let mut text = String::new();
        for _ in 0..count {
            let at = self.random.below(4000).min(self.random.below(4000)) as usize;
            text.push_str(&self.words[at]);
            text.push_str(match self.random.below(14) {
                0 => ",\\n    ",
                1 => " = ",
                2 => "(\\\"",
                _ => " ",
            });
        }
        text
    }

    /// One packed row of streamed text; the text it holds.
    fn chunks(&mut self, kind: &str, turn: u64, step: u64, index: u64) -> String {
        let members = 8 + self.random.below(40);
        let (mut gaps, mut texts, mut all) = (String::new(), String::new(), String::new());
        let (seq, time) = (self.seq, self.time);
        for member in 0..members {
            let text = self.words(1);
            if member > 0 {
                let gap = self.random.below(12);
                self.time += gap;
                let _ = write!(gaps, "{gap},");
            }
            let _ = write!(texts, "\"{text}\",");
            all.push_str(&text);
        }
        gaps.pop();
        texts.pop();
        let _ = writeln!(
            self.batch,
            "{{\"type\":\"{kind}\",\"seq0\":{seq},\"time0\":{time},\"data\":{{\"turn\":{turn},\
             \"step\":{step},\"index\":{index},\"dt\":[{gaps}],\"texts\":[{texts}]}}}}"
        );
        self.seq += members;
        self.flush();
        all
    }

    fn turn(&mut self, turn: u64) {
        self.event("turn/start", &format!("{{\"turn\":{turn}}}"), "");
        let steps = 1 + self.random.below(6);
        for step in 1..=steps {
            self.step(turn, step, step < steps);
        }
        let data = format!("{{\"turn\":{turn},\"reason\":{{\"kind\":\"completed\"}}}}");
        self.event("turn/end", &data, "");
        self.flush();
    }

    fn step(&mut self, turn: u64, step: u64, calls: bool) {
        self.event("step/start", &format!("{{\"turn\":{turn},\"step\":{step}}}"), "");
        if step == 1 {
            let text = self.words(20);
            let seq = self.seq;
            let data = format!(
                "{{\"role\":\"user\",\"id\":\"m{seq}\",\"content\":[{{\"type\":\"text\",\"text\":\
                 \"{text}\"}}],\"source\":{{\"kind\":\"user\"}}}}"
            );
            self.event("user/message", &data, ",\"surfaceOp\":\"append\"");
        }
        let header =
            "{\"header\":{\"config\":{\"provider\":\"p\",\"model\":\"m\"}},\"reason\":\"initial\"}";
        self.event("request/header", header, "");
        self.flush();
        let first = self.seq;
        let mut text = String::new();
        for _ in 0..2 + self.random.below(8) {
            let kind = if self.random.below(3) == 0 { "reasoning-chunks" } else { "text-chunks" };
            text.push_str(&self.chunks(kind, turn, step, 0));
        }
        let sources: Vec<String> = (first..self.seq).map(|seq| seq.to_string()).collect();
        let seq = self.seq;
        let call = format!("call_{seq}");
        let block = if calls {
            format!(
                ",{{\"type\":\"tool-call\",\"id\":\"{call}\",\"name\":\"read\",\
                 \"arguments\":\"{{}}\"}}"
            )
        } else {
            String::new()
        };
        let data = format!(
            "{{\"turn\":{turn},\"step\":{step},\"message\":{{\"role\":\"assistant\",\
             \"id\":\"m{seq}\",\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}{block}],\
             \"source\":{{\"kind\":\"model\",\"provider\":\"p\",\"model\":\"m\"}}}},\
             \"usage\":{{\"inputTokens\":{seq},\"outputTokens\":20}}}}"
        );
        let sources = sources.join(",");
        let rest = format!(",\"sourceEventSeqs\":[{sources}],\"surfaceOp\":\"append\"");
        self.event("assistant/message", &data, &rest);
        if calls {
            self.call(turn, step, &call);
        }
        self.event("step/end", &format!("{{\"turn\":{turn},\"step\":{step}}}"), "");
    }

    fn call(&mut self, turn: u64, step: u64, call: &str) {
        let data = format!(
            "{{\"turn\":{turn},\"step\":{step},\"callId\":\"{call}\",\"name\":\"read\",\
             \"arguments\":\"{{}}\"}}"
        );
        let seq = self.event("tool/call", &data, "");
        if self.random.below(4) == 0 {
            let asked =
                format!("{{\"id\":\"a{seq}\",\"toolName\":\"read\",\"callId\":\"{call}\"}}");
            self.event("approval/asked", &asked, "");
            let decided = format!("{{\"id\":\"a{seq}\",\"outcome\":\"allowed-once\"}}");
            self.event("approval/decided", &decided, "");
        }
        self.flush();
        let length = 30 + self.random.below(900);
        let text = self.words(length);
        let data = format!(
            "{{\"turn\":{turn},\"step\":{step},\"message\":{{\"source\":{{\"kind\":\"tool\",\
             \"callId\":\"{call}\"}},\"content\":[{{\"type\":\"tool-result\",\
             \"toolCallId\":\"{call}\",\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}]}}],\
             \"role\":\"user\",\"id\":\"r{seq}\"}}}}"
        );
        let rest = format!(",\"sourceEventSeqs\":[{seq}],\"surfaceOp\":\"append\"");
        self.event("tool/result", &data, &rest);
        self.flush();
    }
}
