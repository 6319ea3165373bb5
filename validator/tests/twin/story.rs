//! Logs told from a tape of choices: mostly lawful ones, with breakage here and there.
//!
//! A tape of zeros is the dullest story, and where a tape ends so does the story; a shorter or
//! smaller tape is a simpler log, so that proptest and the fuzzer both shrink and mutate meanings,
//! not bytes.

pub use super::choices::Choices;
use super::kinds::{ODD, State, line};

/// Most lines that a story has.
const LINES_MAX: usize = 60;

/// Tells a log.
pub fn tell(choices: &mut Choices<'_>) -> Vec<u8> {
    choices.settle();
    let mut log = header(choices).into_bytes();
    log.push(b'\n');
    let mut state = State::default();
    for _ in 0..LINES_MAX {
        if choices.is_over() {
            break;
        }
        let line = broken(line(&mut state, choices), choices);
        log.extend(line);
    }
    for _ in 0..[0, 0, 0, 0, 0, 0, 1, 2][choices.usual(8, 7)] {
        spoil(&mut log, choices);
    }
    log
}

fn header(choices: &mut Choices<'_>) -> String {
    const WHOLE: &str =
        r#"{"type":"session","version":0,"id":"s","createdAt":1,"cwd":"/p","delegationDepth":0}"#;
    if !choices.rarely(6) {
        return WHOLE.to_owned();
    }
    let odd = [
        ("\"cwd\":\"/p\",", ""),
        ("\"cwd\":\"/p\",", "\"cwd\":\"p\","),
        ("\"cwd\":\"/p\",", "\"cwd\":null,"),
        ("\"version\":0", "\"version\":-0.0"),
        ("\"version\":0", "\"version\":1"),
        ("\"version\":0", "\"version\":\"0\""),
        ("\"version\":0", "\"version\":3,\"version\":0"),
        ("\"id\":\"s\"", "\"id\":5"),
        ("\"id\":\"s\"", "\"id\":\"\\ud800\""),
        ("\"createdAt\":1", "\"createdAt\":-0"),
        ("\"createdAt\":1", "\"createdAt\":1e3"),
        ("\"cwd\":\"/p\"", "\"seedLength\":-0,\"parentSession\":\"x\""),
        ("\"cwd\":\"/p\"", "\"seedLength\":0.5"),
        ("\"cwd\":\"/p\"", "\"parentSession\":7"),
        ("\"cwd\":\"/p\"", "\"sandboxMode\":null"),
        ("\"cwd\":\"/p\"", "\"origin\":\"subagent\",\"agentPreset\":\"\""),
        ("\"cwd\":\"/p\"", "\"origin\":null"),
        ("}", ""),
        ("{", " {"),
        ("{", "\u{FEFF}{"),
        ("\"session\"", "\"s\\u0065ssion\""),
    ];
    let (from, to) = odd[choices.pick(odd.len())];
    WHOLE.replacen(from, to, 1)
}

/// Breaks a line, now and then.
fn broken(line: String, choices: &mut Choices<'_>) -> Vec<u8> {
    let mut line = line.into_bytes();
    match choices.usual(32, 22) {
        22 => line.clear(),
        23 => line = [line.clone(), line].concat(),
        24 => {
            let odd =
                ["\n", "null\n", "0\n", "[1]\n", " \r\n", "\0\0\0\0\n", "{}\n", "{\n", "\"x\"\n"];
            line.extend(choices.one_of(&odd).bytes());
        }
        25 => {
            line.pop();
        }
        26 => {
            let at = choices.pick(line.len());
            line.insert(at, b'\n');
        }
        27 => {
            let at = choices.pick(line.len());
            line.truncate(at);
        }
        28 => line.splice(..0, *b"\xEF\xBB\xBF").for_each(drop),
        29 => {
            // A value becomes another one.
            let colons: Vec<usize> = (0..line.len()).filter(|at| line[*at] == b':').collect();
            if let Some(at) = colons.get(choices.pick(colons.len().max(1))) {
                let rest = &line[at + 1..];
                let end = rest.iter().position(|byte| matches!(byte, b',' | b'}')).unwrap_or(0);
                let odd = choices.one_of(ODD).bytes();
                line.splice(at + 1..at + 1 + end, odd).for_each(drop);
            }
        }
        30 => {
            // A key becomes another one.
            let keys = [
                "\"x\":",
                "\"seq\":",
                "\"data\":",
                "\"type\":",
                "\"surfaceOp\":",
                "\"sourceEventSeqs\":",
            ];
            let key = choices.one_of(&keys).as_bytes();
            let at = line.iter().position(|byte| *byte == b'{').map_or(0, |at| at + 1);
            let odd = choices.one_of(ODD).as_bytes();
            line.splice(at..at, [key, odd, b","].concat()).for_each(drop);
        }
        31 => spoil(&mut line, choices),
        _ => {}
    }
    line
}

/// Changes one byte, or cuts the end.
pub fn spoil(bytes: &mut Vec<u8>, choices: &mut Choices<'_>) {
    let at = choices.pick(256) * 256 + choices.pick(256);
    if bytes.is_empty() {
        return;
    }
    let at = at % bytes.len();
    match choices.pick(4) {
        0 => bytes.truncate(at),
        1 => bytes[at] ^= 1 << choices.pick(8),
        2 => bytes[at] = [0, b'\n', b'"', b'{', b'}', 0xFF, b' ', b'-'][choices.pick(8)],
        _ => {
            bytes.remove(at);
        }
    }
}

/// Puts a text into frames whose lengths the tape gives, the header in one of its own, mostly.
pub fn framed(text: &[u8], choices: &mut Choices<'_>) -> Vec<u8> {
    let header = text.iter().position(|byte| *byte == b'\n').map_or(text.len(), |at| at + 1);
    let header = if choices.rarely(16) { choices.pick(text.len() + 1) } else { header };
    let mut log = super::container::frame(&text[..header], 1 << 17, true);
    let mut rest = &text[header..];
    while !rest.is_empty() {
        let mut end = (choices.pick(256) * 8 + 1).min(rest.len());
        if !choices.rarely(8) {
            // Mostly at the end of a line.
            end = rest[end - 1..]
                .iter()
                .position(|byte| *byte == b'\n')
                .map_or(rest.len(), |at| at + end);
        }
        let block_bytes = [1 << 17, 7, 100, 1][choices.pick(4)];
        log.extend(super::container::frame(&rest[..end], block_bytes, choices.pick(4) != 3));
        rest = &rest[end..];
        if choices.rarely(16) {
            log.extend(super::container::frame(b"", 1, true));
        }
    }
    for _ in 0..[0, 0, 0, 0, 0, 1, 1, 2][choices.pick(8)] {
        spoil(&mut log, choices);
    }
    if choices.rarely(12) {
        log.extend(&b"(\xB5/\xFD"[..=choices.pick(3)]);
    }
    log
}
