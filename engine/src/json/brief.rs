//! Long values remembered in brief: a stand-in that is equal to another where the values were.
//!
//! What a reader remembers of a log must not be as large as the log makes it. Of most texts only
//! whether they are equal is ever asked, so a text of more than 256 bytes is remembered as its
//! length and a print of 128 bits, made with keys that are drawn anew for each process: nobody can
//! write two texts of one print on purpose.
//!
//! A stand-in is itself a text, so that what is made of remembered values is JSON like any other.
//! [`Text::brief`] gives the same answer for a text and for its stand-in; everything that compares
//! texts by their briefs therefore need not know which of the two it has.

use std::sync::OnceLock;

use super::code_points::{self, CodePoints};
use super::digest::DigestKeys;
use super::tape::Kind;
use super::text::Text;
use super::value::Json;

/// Texts up to this many bytes, in WTF-8, are remembered whole.
const WHOLE_BYTES_MAX: usize = 256;

/// What a stand-in begins with: a character that no standard gives a meaning.
const SIGN: char = '\u{f8ff}';

/// How much of a text is made WTF-8 at a time; a multiple of the eight bytes of a word.
const PIECE_BYTES: usize = 1 << 12;

/// What is remembered of a long text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Brief {
    /// Its length in WTF-8.
    bytes: u64,
    print: u128,
}

impl Brief {
    /// Returns the brief as bytes, by which it can be a key.
    pub fn to_bytes(self) -> [u8; 24] {
        let mut bytes = [0; 24];
        bytes[..8].copy_from_slice(&self.bytes.to_le_bytes());
        bytes[8..].copy_from_slice(&self.print.to_le_bytes());
        bytes
    }

    fn stand_in(self) -> String {
        format!("{SIGN}a text of {} bytes, {:032x}", self.bytes, self.print)
    }

    fn of_stand_in(text: &str) -> Option<Self> {
        let rest = text.strip_prefix(SIGN)?.strip_prefix("a text of ")?;
        let (bytes, print) = rest.split_once(" bytes, ")?;
        let print = u128::from_str_radix(print, 16).ok()?;
        let brief = Self { bytes: bytes.parse().ok()?, print };
        // Only as it would be written, so that two texts never have one brief.
        (brief.stand_in() == text).then_some(brief)
    }
}

impl Text<'_> {
    /// Returns the brief of a text that is remembered in brief, or of the one that this text stands
    /// in for; nothing for a text that is remembered whole.
    pub fn brief(&self) -> Option<Brief> {
        // A byte that is no UTF-8 becomes three; all other spellings are as long as what they spell
        // or longer.
        let written = self.written_bytes();
        let may_grow_past = 3 * written > WHOLE_BYTES_MAX && self.as_wtf8().is_none();
        if written > WHOLE_BYTES_MAX || may_grow_past {
            let (bytes, print) = self.print();
            if bytes > WHOLE_BYTES_MAX as u64 {
                return Some(Brief { bytes, print });
            }
        }
        if self.starts_with(SIGN) { Brief::of_stand_in(&self.to_lossy()) } else { None }
    }

    /// Returns the length in WTF-8 and the print of a text, without decoding it whole.
    fn print(&self) -> (u64, u128) {
        static KEYS: OnceLock<DigestKeys> = OnceLock::new();
        let mut print = KEYS.get_or_init(DigestKeys::new).text();
        if let Some(body) = self.as_wtf8() {
            let whole = body.len() / PIECE_BYTES * PIECE_BYTES;
            print.words(&body[..whole]);
            print.write(&body[whole..]);
            return (body.len() as u64, print.finish());
        }
        let mut piece = Vec::with_capacity(2 * PIECE_BYTES);
        let mut bytes = 0;
        let mut flush = |piece: &mut Vec<u8>| {
            let whole = piece.len() / PIECE_BYTES * PIECE_BYTES;
            print.words(&piece[..whole]);
            piece.drain(..whole);
            bytes += whole as u64;
        };
        for part in self.parts() {
            if part.first() != Some(&b'\\') && str::from_utf8(part).is_ok() {
                for some in part.chunks(PIECE_BYTES) {
                    piece.extend_from_slice(some);
                    flush(&mut piece);
                }
                continue;
            }
            for point in CodePoints::new(part) {
                code_points::push_wtf8(&mut piece, point);
                if piece.len() >= PIECE_BYTES {
                    flush(&mut piece);
                }
            }
        }
        bytes += piece.len() as u64;
        print.write(&piece);
        (bytes, print.finish())
    }
}

impl<'a> Text<'a> {
    /// Returns the text as written in parts: runs of escapes, and what lies between them.
    fn parts(&self) -> impl Iterator<Item = &'a [u8]> {
        let mut rest = self.as_written();
        std::iter::from_fn(move || {
            let mut end = 0;
            while rest.get(end) == Some(&b'\\') {
                end += if rest.get(end + 1) == Some(&b'u') { 6 } else { 2 };
            }
            if end == 0 {
                end = memchr::memchr(b'\\', rest).unwrap_or(rest.len());
            }
            let part;
            (part, rest) = rest.split_at(end.min(rest.len()));
            (!part.is_empty()).then_some(part)
        })
    }
}

impl Json<'_> {
    /// Returns the JSON text by which a value is remembered: as it was written, or in brief.
    ///
    /// A long array or object, which is compared by reference and so equals nothing, is remembered
    /// as an empty one.
    pub fn remembered(&self) -> Vec<u8> {
        match self.kind() {
            Kind::String => match self.as_text().and_then(|text| text.brief()) {
                Some(brief) => [b"\"", brief.stand_in().as_bytes(), b"\""].concat(),
                None => self.raw().to_vec(),
            },
            _ => self.cut(WHOLE_BYTES_MAX),
        }
    }

    /// Returns the JSON text of a value, cut to be no longer than about `bytes_max` bytes: of a
    /// long text the beginning and an ellipsis, of a long array or object an empty one.
    pub fn cut(&self, bytes_max: usize) -> Vec<u8> {
        let raw = self.raw();
        if raw.len() <= bytes_max {
            return raw.to_vec();
        }
        match self.kind() {
            Kind::Array => b"[]".to_vec(),
            Kind::Object => b"{}".to_vec(),
            Kind::String => [&raw[..cut_point(raw, bytes_max)], "…\"".as_bytes()].concat(),
            _ => match self.as_number() {
                // A number that is longer than it need be; an infinite one stays so.
                Some(n) if n.is_finite() => super::display(n).into_bytes(),
                Some(n) if n > 0.0 => b"1e999".to_vec(),
                _ => b"-1e999".to_vec(),
            },
        }
    }
}

/// Returns where a string as written can be cut: not inside an escape or a character.
fn cut_point(raw: &[u8], bytes_max: usize) -> usize {
    let mut at = 1;
    loop {
        let step = match (raw.get(at), raw.get(at + 1)) {
            (Some(b'\\'), Some(b'u')) => 6,
            (Some(b'\\'), _) => 2,
            (Some(byte), _) if *byte >= 0x80 => {
                let is_inner = |byte: &&u8| **byte & 0xC0 == 0x80;
                1 + raw[at + 1..].iter().take(3).take_while(is_inner).count()
            }
            _ => 1,
        };
        if at + step > bytes_max.min(raw.len() - 1) {
            return at;
        }
        at += step;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Document;

    fn document(text: &str) -> Document {
        Document::parse(text).expect("the case is JSON")
    }

    fn brief(text: &str) -> Option<Brief> {
        document(text).root().as_text().and_then(|text| text.brief())
    }

    #[test]
    fn a_long_text_and_its_stand_in_have_one_brief() {
        for count in [257, 4095, 4096, 4097, 100_000] {
            let (plain, other) = ("x".repeat(count), "y".repeat(count));
            let (plain, other) = (format!("\"{plain}\""), format!("\"{other}\""));
            let escaped = format!("\"{}\"", "\\u0078".repeat(count));
            assert!(brief(&plain).is_some());
            assert_eq!(brief(&plain), brief(&escaped));
            assert_ne!(brief(&plain), brief(&other));
            let stand_in = document(&plain).root().remembered();
            assert!(stand_in.len() < 256);
            let stand_in = String::from_utf8(stand_in).expect("UTF-8");
            assert_eq!(brief(&stand_in), brief(&plain));
            let spelled = stand_in.replace(SIGN, "\\uf8ff");
            assert_eq!(brief(&spelled), brief(&plain));
            assert_eq!(document(&stand_in).root().remembered(), stand_in.as_bytes());
        }
    }

    #[test]
    fn a_long_text_has_one_brief_however_it_is_spelled() {
        for (one, other) in [("😀", "\\ud83d\\ude00"), ("ä", "\\u00e4"), ("/", "\\/")] {
            for between in ["", "x", "xyz", "é"] {
                let text = |it: &str| format!("\"{}\"", format!("{it}{between}").repeat(5000));
                assert_eq!(brief(&text(one)), brief(&text(other)), "{one} {between}");
            }
        }
    }

    #[test]
    fn a_text_that_is_short_only_as_it_was_written_has_the_brief_of_what_it_says() {
        for count in [84, 85, 86, 200] {
            let written = [b"\"", [0xFF].repeat(count).as_slice(), b"x\""].concat();
            let said = format!("\"{}x\"", "\u{FFFD}".repeat(count));
            let written = Document::parse(written).expect("the host reads bad UTF-8");
            let brief_written = written.root().as_text().and_then(|text| text.brief());
            assert_eq!(brief_written, brief(&said), "{count}");
            assert_eq!(brief_written.is_some(), count > 85, "{count}");
        }
    }

    #[test]
    fn short_texts_and_what_only_looks_like_a_stand_in_are_whole() {
        let hex = "0".repeat(32);
        for text in [
            "x".repeat(256),
            String::new(),
            format!("{SIGN}a text of 07 bytes, {hex}"),
            format!("{SIGN}a text of 7 bytes, {}", &hex[1..]),
            format!("{SIGN}a text of 7 bytes, {}A", &hex[1..]),
            format!("a text of 7 bytes, {hex}"),
        ] {
            let text = format!("\"{text}\"");
            assert_eq!(brief(&text), None, "{text}");
            assert_eq!(document(&text).root().remembered(), text.as_bytes());
        }
        let escaped = format!("\"{}\"", "\\u0078".repeat(256));
        assert_eq!(brief(&escaped), None);
    }

    #[test]
    fn what_is_cut_is_json_of_the_same_kind() {
        for text in [
            r#""aaaaaaaaaaaaaaaa""#,
            r#""aaaaaa\u0041\n\\\"aaaa""#,
            r#""ääääääääääääää""#,
            r#""😀😀😀😀😀😀""#,
            "[1,2,3,4,5,6,7,8,9,10]",
            r#"{"a":{"b":[1,2,3,4]}}"#,
            "100000000000000000000000000e-26",
            "1000000000000000000000000e999",
            "-1000000000000000000000000e999",
        ] {
            let value = document(text);
            for bytes_max in 1..text.len() {
                let cut = value.root().cut(bytes_max);
                let cut = Document::parse(cut).expect("what is cut is JSON");
                assert_eq!(cut.root().kind(), value.root().kind(), "{text} at {bytes_max}");
                assert_eq!(cut.root().as_number(), value.root().as_number());
            }
            assert_eq!(value.root().cut(text.len()), text.as_bytes());
        }
    }
}
