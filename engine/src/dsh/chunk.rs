//! The members of a packed row, each as the row of its own that the host's writer would have made
//! of it: so that a packed row can be compared with loose ones.
//!
//! # Source
//!
//! `docs/dsh-format.md`, sections 4.2 and 7.1.

use crate::dsh::row::Packed;
use crate::json::{Elements, Json, Numbers, display};

/// The rows of the members, in order; an iterator.
#[derive(Clone, Debug)]
pub struct Chunks<'a> {
    seq: f64,
    time: f64,
    /// From `data` up to the member's text.
    middle: String,
    texts: Elements<'a>,
    gaps: Option<Numbers<'a>>,
}

impl<'a> Chunks<'a> {
    /// Returns the members of a packed row, given its `data`; nothing if that was not kept.
    pub fn of(packed: &Packed, data: Json<'a>) -> Option<Self> {
        let printed = |key: &str| data.get(key).map(|value| value.to_json());
        let (kind, texts, text_key) = match packed.tag {
            "text-chunks" => ("text-delta", "texts", "text"),
            "reasoning-chunks" => ("reasoning-delta", "texts", "text"),
            _ => ("tool-call-delta", "args", "argumentsDelta"),
        };
        let (turn, step, index) = (printed("turn")?, printed("step")?, printed("index")?);
        let member = |key: &str| {
            printed(key).map_or_else(String::new, |value| format!("\"{key}\":{value},"))
        };
        let (id, name) = (member("id"), member("name"));
        let middle = format!(
            "{{\"turn\":{turn},\"step\":{step},\"chunk\":{{\"type\":\"{kind}\",\
             \"index\":{index},{id}{name}\"{text_key}\":"
        );
        let (texts, gaps) = (data.get(texts)?.elements(), data.get("dt")?.numbers());
        Some(Self { seq: packed.seq0, time: packed.time0, middle, texts, gaps })
    }
}

impl Iterator for Chunks<'_> {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        let text = self.texts.next()?.to_json();
        let (seq, time, middle) = (display(self.seq), display(self.time), &self.middle);
        let row = format!(
            "{{\"type\":\"assistant/chunk\",\"seq\":{seq},\"time\":{time},\
             \"data\":{middle}{text}}}}}}}"
        );
        self.seq += 1.0;
        self.time += self.gaps.as_mut().and_then(Numbers::next).unwrap_or(0.0);
        Some(row)
    }
}

#[cfg(test)]
mod tests {
    use super::Chunks;
    use crate::dsh::row::{Row, read};
    use crate::json::{Scanner, Tape};

    fn rows(packed: &str) -> Vec<String> {
        let (mut scanner, mut tape) = (Scanner::new(), Tape::default());
        let row = read(&mut scanner, packed.as_bytes(), &mut tape, true);
        let Row::Packed(row) = row else { panic!("{packed} is {row:?}") };
        let chunks = Chunks::of(&row, row.data(packed.as_bytes(), &tape));
        chunks.expect("the data is there").collect()
    }

    /// A chunk's row as the host's writer spells it.
    fn row(seq: u64, time: u64, step: u64, chunk: &str) -> String {
        let data = format!("{{\"turn\":1,\"step\":{step},\"chunk\":{{{chunk}}}}}");
        format!("{{\"type\":\"assistant/chunk\",\"seq\":{seq},\"time\":{time},\"data\":{data}}}")
    }

    #[test]
    fn a_text_row_is_its_members() {
        let packed = r#"{"type":"reasoning-chunks","seq0":5,"time0":70,"data":{"turn":1,
            "step":2,"index":0,"dt":[3],"texts":["a\u0041","b\n"]}}"#;
        let chunk = |text: &str| format!(r#""type":"reasoning-delta","index":0,"text":"{text}""#);
        assert_eq!(rows(packed), [row(5, 70, 2, &chunk("aA")), row(6, 73, 2, &chunk("b\\n"))]);
    }

    #[test]
    fn a_call_row_names_its_call_in_each_member() {
        let packed = r#"{"type":"tool-call-chunks","seq0":0,"time0":1,"data":{"turn":1,"step":1,
            "index":3,"id":"c","name":"ls","dt":[],"args":["{"]}}"#;
        let chunk =
            r#""type":"tool-call-delta","index":3,"id":"c","name":"ls","argumentsDelta":"{""#;
        assert_eq!(rows(packed), [row(0, 1, 1, chunk)]);
    }
}
