//! What the codec of format 1 asks of a row before it looks at the row's seq.
//!
//! A row decodes if and only if it is an object and
//!
//! * it is a packed row by the rules of [`row`](mod@crate::dsh::row), and also `seq0`, `turn`,
//!   `step`, `index` and the seq of its last member are whole numbers from 0 on, no number is -0,
//!   and the `id` of a tool call is not empty; or
//! * it bears no packed tag, and its `sourceEventSeqs`, where it has them, are a list of seqs and
//!   pairs `[first, last]` that stands for no more seqs than there are events before it, strictly
//!   increasing where it holds a pair; its own seq then is a whole number from 0 on.
//!
//! Whether the seqs of a list without pairs are earlier and unique is not asked here. A row that
//! does not decode is passed over behind a damaged one, even where it is a `turn/end`.
//!
//! # Source
//!
//! `docs/dsh-format.md`, sections 3.5, 7.1 and 7.3.

use crate::dsh::line::LineView;
use crate::dsh::row::Envelope;
use crate::json::{Json, Kind, is_count, is_safe_integer};

/// Why a row does not decode, in the host's words.
pub type Undecodable = String;

/// Judges an event row that is number `row` behind the header, counted from 0.
///
/// # Errors
///
/// The host's words.
pub fn event(envelope: &Envelope, line: &LineView<'_>, row: u64) -> Result<(), Undecodable> {
    let Some(sources) = envelope.sources(line.text, line.tape) else { return Ok(()) };
    let seq =
        count(envelope.seq(line.text, line.tape), || format!("released Session row {row} seq"))?;
    judge_sources(sources, seq)
}

/// Returns the words for a row that is no object.
pub fn no_object(row: u64) -> Undecodable {
    format!("released Session row {row} must be a JSON object")
}

fn count(value: Option<Json<'_>>, label: impl Fn() -> String) -> Result<f64, Undecodable> {
    let number = value.and_then(|value| value.as_number()).filter(|n| is_count(*n));
    number.ok_or_else(|| format!("{} must be a non-negative safe integer", label()))
}

fn whole(value: Option<f64>, label: impl Fn() -> String) -> Result<f64, Undecodable> {
    let number = value.filter(|n| is_safe_integer(*n) && !(*n == 0.0 && n.is_sign_negative()));
    number.ok_or_else(|| format!("{} must be a safe integer", label()))
}

/// Judges the stored form of `sourceEventSeqs` of a row that may have `seqs_max` of them.
fn judge_sources(sources: Json<'_>, seqs_max: f64) -> Result<(), Undecodable> {
    if !sources.is_array() {
        return Err("sourceEventSeqs must be an array".into());
    }
    let (mut seqs, mut last, mut has_pair, mut is_increasing) = (0.0, -1.0, false, true);
    for entry in sources.elements() {
        let (first, end) = if entry.is_number() {
            if seqs >= seqs_max {
                return Err("sourceEventSeqs exceeds its event seq".into());
            }
            let seq = count(Some(entry), || "sourceEventSeqs member".into())?;
            (seq, seq)
        } else {
            if !entry.is_array() || entry.len() != 2 {
                return Err("sourceEventSeqs range must be a [start, end] pair".into());
            }
            has_pair = true;
            let start = count(entry.at(0), || "sourceEventSeqs range start".into())?;
            let end = count(entry.at(1), || "sourceEventSeqs range end".into())?;
            if end < start || end - start + 1.0 > seqs_max - seqs {
                return Err("sourceEventSeqs range exceeds its event seq".into());
            }
            (start, end)
        };
        is_increasing &= last < first;
        last = end;
        seqs += end - first + 1.0;
    }
    if has_pair && !is_increasing {
        return Err("sourceEventSeqs ranges must be strictly increasing".into());
    }
    Ok(())
}

/// Judges a row that bears a packed tag and is number `row` behind the header, counted from 0.
///
/// # Errors
///
/// The host's words.
pub fn packed(value: Json<'_>, row: u64) -> Result<(), Undecodable> {
    let tag = value.get("type").map(|tag| tag.to_js_string()).unwrap_or_default();
    let label = || format!("released {tag} row {row}");
    keys(value, &["type", "seq0", "time0", "data"], &[], label)?;
    let seq0 = count(value.get("seq0"), || format!("{} seq0", label()))?;
    let number = |key| value.get(key).and_then(|value| value.as_number());
    let mut time = whole(number("time0"), || format!("{} time0", label()))?;
    let data = value.get("data").filter(Json::is_object);
    let data = data.ok_or_else(|| format!("{} data must be a JSON object", label()))?;
    let is_tool = tag == "tool-call-chunks";
    let (texts_key, optional): (_, &[&str]) =
        if is_tool { ("args", &["name"]) } else { ("texts", &[]) };
    let required = ["turn", "step", "index", "dt", texts_key, "id"];
    let required = if is_tool { &required[..] } else { &required[..5] };
    keys(data, required, optional, || format!("{} data", label()))?;
    let is_texts =
        |texts: &Json<'_>| texts.is_array() && texts.element_kinds() == 1 << Kind::String as u8;
    let texts = data.get(texts_key).filter(is_texts);
    let texts =
        texts.ok_or_else(|| format!("{} payload must be a non-empty string array", label()))?;
    let gaps = data.get("dt").filter(|gaps| gaps.is_array() && gaps.len() + 1 == texts.len());
    let gaps = gaps.ok_or_else(|| format!("{} dt length must match its payload", label()))?;
    for gap in gaps.elements() {
        let gap = whole(gap.as_number(), || format!("{} dt member", label()))?;
        time = whole(Some(time + gap), || format!("{} member time", label()))?;
    }
    for key in ["turn", "step", "index"] {
        count(data.get(key), || format!("{} {key}", label()))?;
    }
    let is_named = data.get("id").is_some_and(|id| id.is_nonempty_string())
        && data.get("name").is_none_or(|name| name.is_string());
    if is_tool && !is_named {
        return Err(format!("{} id and optional name must be strings", label()));
    }
    if !is_count(seq0 + texts.len() as f64 - 1.0) {
        return Err(format!("{} final seq must be a non-negative safe integer", label()));
    }
    Ok(())
}

/// Judges the keys of an object: first that there is no other, then that all are there.
fn keys(
    value: Json<'_>,
    required: &[&str],
    optional: &[&str],
    label: impl Fn() -> String,
) -> Result<(), Undecodable> {
    let is_allowed =
        |key: &crate::json::Text<'_>| required.iter().chain(optional).any(|it| key.eq_str(it));
    if let Some((key, _)) = value.members().find(|(key, _)| !is_allowed(key)) {
        return Err(format!("{} has unexpected member {}", label(), key.quoted()));
    }
    match required.iter().find(|key| value.get(key).is_none()) {
        Some(key) => Err(format!("{} lacks required member \"{key}\"", label())),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Document;

    fn sources(text: &str, seqs_max: f64) -> Result<(), Undecodable> {
        judge_sources(Document::parse(text).expect("the case is JSON").root(), seqs_max)
    }

    #[test]
    fn sources_decode_as_the_codec_decodes_them() {
        for lawful in ["[]", "[3,1,2]", "[1,1]", "[99]", "[[0,8]]", "[0,[1,3],8]", "[[5,5]]"] {
            assert_eq!(sources(lawful, 9.0), Ok(()), "{lawful}");
        }
        for (broken, why) in [
            ("null", "sourceEventSeqs must be an array"),
            ("[0,1,2]", "sourceEventSeqs exceeds its event seq"),
            ("[-1]", "sourceEventSeqs member must be a non-negative safe integer"),
            ("[-0]", "sourceEventSeqs member must be a non-negative safe integer"),
            ("[\"1\"]", "sourceEventSeqs range must be a [start, end] pair"),
            ("[[1]]", "sourceEventSeqs range must be a [start, end] pair"),
            ("[[\"a\",1]]", "sourceEventSeqs range start must be a non-negative safe integer"),
            ("[[0,1.5]]", "sourceEventSeqs range end must be a non-negative safe integer"),
            ("[[1,0]]", "sourceEventSeqs range exceeds its event seq"),
            ("[[0,2]]", "sourceEventSeqs range exceeds its event seq"),
            ("[[1,1],0]", "sourceEventSeqs ranges must be strictly increasing"),
        ] {
            assert_eq!(sources(broken, 2.0), Err(why.into()), "{broken}");
        }
    }

    #[test]
    fn packed_rows_decode_as_the_codec_decodes_them() {
        let text = r#"{"type":"text-chunks","seq0":0,"time0":1,"data":{"turn":1,"step":1,"index":0,
            "dt":[1],"texts":["a","b"]}}"#;
        let tool = r#"{"type":"tool-call-chunks","seq0":0,"time0":1,"data":{"turn":1,"step":1,
            "index":0,"id":"c","name":"","dt":[],"args":[""]}}"#;
        let judge = |text: &str| packed(Document::parse(text).expect("JSON").root(), 7);
        assert_eq!(judge(text), Ok(()));
        assert_eq!(judge(tool), Ok(()));
        for (case, from, to, why) in [
            (text, "{\"type", "{\"a\":1,\"type", " has unexpected member \"a\""),
            (text, "\"time0\":1,", "", " lacks required member \"time0\""),
            (text, "\"seq0\":0", "\"seq0\":-0", " seq0 must be a non-negative safe integer"),
            (text, "\"time0\":1", "\"time0\":-0", " time0 must be a safe integer"),
            (text, "\"turn\":1", "\"id\":1", " data has unexpected member \"id\""),
            (text, "\"turn\":1,", "", " data lacks required member \"turn\""),
            (text, "\"b\"", "1", " payload must be a non-empty string array"),
            (text, "[1]", "[1,1]", " dt length must match its payload"),
            (text, "[1]", "[-0]", " dt member must be a safe integer"),
            (text, "[1]", "[9007199254740991]", " member time must be a safe integer"),
            (text, "\"turn\":1", "\"turn\":1.5", " turn must be a non-negative safe integer"),
            (text, "\"step\":1", "\"step\":-2", " step must be a non-negative safe integer"),
            (text, "\"index\":0", "\"index\":-0", " index must be a non-negative safe integer"),
            (tool, "\"c\"", "\"\"", " id and optional name must be strings"),
            (tool, "\"name\":\"\"", "\"name\":1", " id and optional name must be strings"),
        ] {
            let tag = if case == text { "text-chunks" } else { "tool-call-chunks" };
            let broken = case.replacen(from, to, 1);
            assert_ne!(broken, case, "{from}");
            assert_eq!(judge(&broken), Err(format!("released {tag} row 7{why}")), "{broken}");
        }
        // The host adds before it subtracts, so that two more than the greatest come out safe.
        let greatest = text.replacen("\"seq0\":0", "\"seq0\":9007199254740991", 1);
        assert_eq!(judge(&greatest), Ok(()));
        let late = greatest.replacen("[1]", "[1,1]", 1).replacen("\"b\"", "\"b\",\"c\"", 1);
        let why = "released text-chunks row 7 final seq must be a non-negative safe integer";
        assert_eq!(judge(&late), Err(why.into()));
    }
}
