//! Names of folders: how the host makes one path segment of a session id and of a working
//! directory.
//!
//! Both work on the UTF-16 units of a JavaScript string, which may hold lone surrogates; ours are
//! the same string in WTF-8. A safe unit, one of `[A-Za-z0-9._-]`, stands for itself; any other,
//! `~` included, is `~` and four upper-case hexadecimal digits.
//!
//! A session's folder names its id and no other ([`encode_segment`] is injective, so there is a
//! [`decode_segment`]). A project's folder does not name its directory: [`project_key`] makes one
//! `-` of every run of separators, drops leading ones and cuts the rest.
//!
//! # Source
//!
//! `docs/dsh-format.md`, sections 1.2 and 1.3; `encodeSegment` and `projectKey` of the host.

use std::fmt::Write as _;

/// Characters of a project's folder name between its two pairs of dashes.
const SLUG_CHARS_MAX: usize = 251;

/// Returns the folder name of a session id given in WTF-8.
///
/// # Errors
///
/// The host's message for the empty id, which has no name.
pub fn encode_segment(wtf8: &[u8]) -> Result<String, &'static str> {
    encode_segment_within(wtf8, usize::MAX)
}

/// As [`encode_segment`], but stops once the name is longer than `bytes_max`: an id read from a
/// disk must not size what we build.
pub(super) fn encode_segment_within(wtf8: &[u8], bytes_max: usize) -> Result<String, &'static str> {
    match wtf8 {
        b"" => return Err("cannot encode an empty path segment"),
        b"." => return Ok("~002E".to_owned()),
        b".." => return Ok("~002E~002E".to_owned()),
        _ => {}
    }
    let mut name = String::new();
    for unit in Units::new(wtf8) {
        push_unit(&mut name, unit);
        if name.len() > bytes_max {
            break;
        }
    }
    Ok(name)
}

/// Returns the folder name of a working directory given in WTF-8.
///
/// # Errors
///
/// The host's message for the empty path, which has no name.
pub fn project_key(wtf8: &[u8]) -> Result<String, &'static str> {
    if wtf8.is_empty() {
        return Err("cannot encode an empty project path");
    }
    let mut slug = String::new();
    let mut in_separators = false;
    for unit in Units::new(wtf8) {
        let is_separator = [b'/', b'\\', b':'].iter().any(|byte| u16::from(*byte) == unit);
        let is_dash = is_separator || unit == u16::from(b'-');
        // Leading dashes go, whether they were separators or not.
        if is_separator && in_separators || is_dash && slug.is_empty() {
            in_separators = is_separator;
            continue;
        }
        in_separators = is_separator;
        if is_separator {
            slug.push('-');
        } else {
            push_unit(&mut slug, unit);
        }
        if slug.len() >= SLUG_CHARS_MAX {
            break;
        }
    }
    if slug.is_empty() {
        slug.push_str("root");
    }
    // The slug is ASCII, and the cut may fall inside an escape, as the host's does.
    slug.truncate(SLUG_CHARS_MAX);
    Ok(format!("--{slug}--"))
}

/// Returns the session id, in WTF-8, whose folder has this name; `None` if no id has such a folder.
pub fn decode_segment(name: &[u8]) -> Option<Vec<u8>> {
    let mut units = Vec::new();
    let mut rest = name;
    while let Some((&byte, behind)) = rest.split_first() {
        rest = behind;
        if byte == b'~' {
            let digits = std::str::from_utf8(rest.get(..4)?).ok()?;
            units.push(u16::from_str_radix(digits, 16).ok()?);
            rest = &rest[4..];
        } else {
            units.push(u16::from(byte));
        }
    }
    let mut wtf8 = Vec::with_capacity(name.len());
    for unit in char::decode_utf16(units) {
        match unit {
            Ok(character) => {
                wtf8.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            }
            Err(lone) => {
                let unit = lone.unpaired_surrogate();
                let low = |bits: u16| 0x80 | (bits & 0x3F) as u8;
                wtf8.extend_from_slice(&[0xE0 | (unit >> 12) as u8, low(unit >> 6), low(unit)]);
            }
        }
    }
    // Lower-case digits, an escaped safe unit, a sign among digits: nothing that the host writes.
    (encode_segment(&wtf8).ok()?.as_bytes() == name).then_some(wtf8)
}

fn push_unit(name: &mut String, unit: u16) {
    match u8::try_from(unit) {
        Ok(byte) if byte.is_ascii_alphanumeric() || b"._-".contains(&byte) => {
            name.push(char::from(byte));
        }
        _ => {
            // Writing to a string cannot fail.
            let _ = write!(name, "~{unit:04X}");
        }
    }
}

/// The UTF-16 units of a text in WTF-8. A byte that cannot stand where it stands is U+FFFD.
struct Units<'a> {
    rest: &'a [u8],
    /// The second half of a pair whose first half has been given.
    low: Option<u16>,
}

impl<'a> Units<'a> {
    fn new(wtf8: &'a [u8]) -> Self {
        Self { rest: wtf8, low: None }
    }

    /// Takes the bytes of one code point and returns it.
    fn point(&mut self) -> Option<u32> {
        let (&first, behind) = self.rest.split_first()?;
        let (more, bits) = match first {
            0x00..0x80 => (0, first),
            0xC2..0xE0 => (1, first & 0x1F),
            0xE0..0xF0 => (2, first & 0x0F),
            0xF0..0xF5 => (3, first & 0x07),
            _ => (0, 0xFF),
        };
        let tail = behind.get(..more).filter(|tail| tail.iter().all(|byte| byte >> 6 == 0b10));
        let Some(tail) = tail.filter(|_| bits != 0xFF) else {
            self.rest = behind;
            return Some(0xFFFD);
        };
        self.rest = &behind[more..];
        Some(tail.iter().fold(u32::from(bits), |point, byte| point << 6 | u32::from(byte & 0x3F)))
    }
}

impl Iterator for Units<'_> {
    type Item = u16;

    fn next(&mut self) -> Option<u16> {
        if let Some(low) = self.low.take() {
            return Some(low);
        }
        let point = self.point()?;
        let Ok(unit) = u16::try_from(point) else {
            let above = point - 0x1_0000;
            self.low = Some(0xDC00 | (above & 0x3FF) as u16);
            return Some(0xD800 | (above >> 10 & 0x3FF) as u16);
        };
        Some(unit)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ids_become_segments_as_in_the_format_document() {
        let long = "a".repeat(300);
        let cases: [(&[u8], &str); 13] = [
            (b"a/b", "a~002Fb"),
            ("\u{e9}".as_bytes(), "~00E9"),
            ("\u{1F600}".as_bytes(), "~D83D~DE00"),
            (b".", "~002E"),
            (b"..", "~002E~002E"),
            (b"...", "..."),
            (b"a~b", "a~007Eb"),
            (b"../../etc", "..~002F..~002Fetc"),
            (b"A-Z_0.9", "A-Z_0.9"),
            (b"\0\n ", "~0000~000A~0020"),
            // Lone surrogates, first and second halves.
            (b"\xED\xA0\x80", "~D800"),
            (b"x\xED\xBF\xBFy", "x~DFFFy"),
            (long.as_bytes(), &long),
        ];
        for (id, name) in cases {
            assert_eq!(encode_segment(id).as_deref(), Ok(name));
            assert_eq!(decode_segment(name.as_bytes()).as_deref(), Some(id), "{name}");
        }
        assert_eq!(encode_segment(b""), Err("cannot encode an empty path segment"));
    }

    #[test]
    fn a_folder_that_no_id_makes_has_no_id() {
        for name in ["", ".", "..", "~00e9", "~0041", "~", "~00E", "a b", "~+041", "~00\u{e9}"] {
            assert_eq!(decode_segment(name.as_bytes()), None, "{name}");
        }
        assert_eq!(decode_segment(b"\xFF"), None);
    }

    #[test]
    fn directories_become_project_keys_as_in_the_format_document() {
        let e_acute = "\u{e9}".repeat(300);
        let cut = format!("--{}--", &"~00E9".repeat(51)[..251]);
        let cases: [(&str, &str); 14] = [
            ("/home/u/my proj", "--home-u-my~0020proj--"),
            ("C:\\w", "--C-w--"),
            ("/a//b", "--a-b--"),
            ("/a/b", "--a-b--"),
            ("/", "--root--"),
            ("-", "--root--"),
            ("/-x", "--x--"),
            ("/-/-/x", "--x--"),
            ("/a/-b", "--a--b--"),
            ("/a-/b", "--a--b--"),
            ("/a/", "--a---"),
            ("/~", "--~007E--"),
            ("a", "--a--"),
            (&e_acute, &cut),
        ];
        for (cwd, key) in cases {
            assert_eq!(project_key(cwd.as_bytes()).as_deref(), Ok(key), "{cwd}");
        }
        assert_eq!(project_key(b""), Err("cannot encode an empty project path"));
        assert_eq!(project_key(&b"x/".repeat(1 << 20)).expect("not empty").len(), 255);
    }

    #[test]
    fn a_bounded_segment_stops_where_it_is_too_long() {
        assert_eq!(encode_segment_within(b"abc", 3).as_deref(), Ok("abc"));
        assert_eq!(
            encode_segment_within(&b"/".repeat(1 << 20), 255).map(|name| name.len()),
            Ok(260)
        );
    }

    /// The host's two functions, written as they stand there, on all units at once.
    mod twin {
        pub(super) fn encode_segment(raw: &[u16]) -> Option<String> {
            match raw {
                [] => None,
                [0x2E] => Some("~002E".into()),
                [0x2E, 0x2E] => Some("~002E~002E".into()),
                _ => Some(raw.iter().map(|unit| literal(*unit)).collect()),
            }
        }

        pub(super) fn project_key(cwd: &[u16]) -> Option<String> {
            let mut readable = String::new();
            let mut separator_run = false;
            for unit in cwd {
                let is_separator = [0x2F, 0x5C, 0x3A].contains(unit);
                if !is_separator {
                    readable += &literal(*unit);
                } else if !separator_run {
                    readable += "-";
                }
                separator_run = is_separator;
            }
            let stripped = readable.trim_start_matches('-');
            let named = if stripped.is_empty() { "root" } else { stripped };
            let slug: String = named.chars().take(251).collect();
            (!cwd.is_empty()).then(|| format!("--{slug}--"))
        }

        fn literal(unit: u16) -> String {
            match char::from_u32(u32::from(unit)) {
                Some(c) if c.is_ascii_alphanumeric() || "._-".contains(c) => c.to_string(),
                _ => format!("~{unit:04X}"),
            }
        }
    }

    fn wtf8(units: &[u16]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for unit in char::decode_utf16(units.iter().copied()) {
            match unit.map_err(|lone| u32::from(lone.unpaired_surrogate())) {
                Ok(c) => bytes.extend(c.to_string().bytes()),
                Err(lone) => bytes.extend([
                    0xE0 | (lone >> 12) as u8,
                    0x80 | (lone >> 6 & 63) as u8,
                    0x80 | (lone & 63) as u8,
                ]),
            }
        }
        bytes
    }

    fn unit() -> impl Strategy<Value = u16> {
        let names = "/\\:--..~aZ09_ é".encode_utf16().collect::<Vec<_>>();
        prop_oneof![
            6 => proptest::sample::select(names),
            2 => 0xD7F0u16..0xE010,
            1 => any::<u16>(),
        ]
    }

    proptest! {
        #[test]
        fn both_names_equal_those_of_a_naive_twin(
            units in proptest::collection::vec(unit(), 0..400)
        ) {
            let text = wtf8(&units);
            prop_assert_eq!(encode_segment(&text).ok(), twin::encode_segment(&units));
            prop_assert_eq!(project_key(&text).ok(), twin::project_key(&units));
            if let Ok(name) = encode_segment(&text) {
                prop_assert_eq!(decode_segment(name.as_bytes()), Some(text));
            }
        }

        #[test]
        fn any_bytes_have_names(bytes in proptest::collection::vec(any::<u8>(), 1..40)) {
            prop_assert!(encode_segment(&bytes).is_ok_and(|name| name.is_ascii()));
            prop_assert!(project_key(&bytes).is_ok_and(|name| name.is_ascii()));
            let _ = decode_segment(&bytes);
        }
    }
}
