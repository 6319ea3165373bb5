//! The naive twin of the scanner: a tree, parsed by recursion over UTF-16 units, as slow and as
//! obvious as it can be made. It shares nothing with what it judges.
//!
//! The tests and the fuzz target include this file by its path; it must need nothing but std.

#![allow(dead_code, unreachable_pub, reason = "each of those who include it uses a part")]

/// A value, as the host would have it in memory.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Null,
    Bool(bool),
    Number(f64),
    String(Vec<u16>),
    Array(Vec<Value>),
    /// Distinct keys, each at its first place with its last value.
    Object(Vec<(Vec<u16>, Value)>),
}

/// Parses a text, or returns nothing when it is no JSON.
pub fn parse(text: &[u8]) -> Option<Value> {
    let units: Vec<u16> = String::from_utf8_lossy(text).encode_utf16().collect();
    let mut parser = Parser { units, place: 0 };
    let value = parser.value()?;
    parser.spaces();
    (parser.place == parser.units.len()).then_some(value)
}

struct Parser {
    units: Vec<u16>,
    place: usize,
}

impl Parser {
    /// The next unit, if it is ASCII; another one becomes a character that means nothing to JSON.
    fn peek(&self) -> Option<char> {
        let unit = *self.units.get(self.place)?;
        Some(if unit < 0x80 { char::from(unit as u8) } else { '\u{FFFF}' })
    }

    fn eat(&mut self, expected: char) -> Option<()> {
        if self.peek() != Some(expected) {
            return None;
        }
        self.place += 1;
        Some(())
    }

    fn spaces(&mut self) {
        while matches!(self.peek(), Some(' ' | '\t' | '\n' | '\r')) {
            self.place += 1;
        }
    }

    fn value(&mut self) -> Option<Value> {
        self.spaces();
        match self.peek()? {
            '{' => self.object(),
            '[' => self.array(),
            '"' => Some(Value::String(self.string()?)),
            'n' => self.word("null", Value::Null),
            't' => self.word("true", Value::Bool(true)),
            'f' => self.word("false", Value::Bool(false)),
            _ => self.number(),
        }
    }

    fn word(&mut self, word: &str, value: Value) -> Option<Value> {
        for character in word.chars() {
            self.eat(character)?;
        }
        Some(value)
    }

    fn object(&mut self) -> Option<Value> {
        self.eat('{')?;
        let mut members: Vec<(Vec<u16>, Value)> = Vec::new();
        self.spaces();
        if self.eat('}').is_some() {
            return Some(Value::Object(members));
        }
        loop {
            self.spaces();
            let key = self.string()?;
            self.spaces();
            self.eat(':')?;
            let value = self.value()?;
            match members.iter_mut().find(|(known, _)| *known == key) {
                Some(member) => member.1 = value,
                None => members.push((key, value)),
            }
            self.spaces();
            if self.eat(',').is_none() {
                self.eat('}')?;
                return Some(Value::Object(members));
            }
        }
    }

    fn array(&mut self) -> Option<Value> {
        self.eat('[')?;
        let mut elements = Vec::new();
        self.spaces();
        if self.eat(']').is_some() {
            return Some(Value::Array(elements));
        }
        loop {
            elements.push(self.value()?);
            self.spaces();
            if self.eat(',').is_none() {
                self.eat(']')?;
                return Some(Value::Array(elements));
            }
        }
    }

    fn string(&mut self) -> Option<Vec<u16>> {
        self.eat('"')?;
        let mut units = Vec::new();
        loop {
            let unit = *self.units.get(self.place)?;
            self.place += 1;
            match unit {
                0x22 => return Some(units),
                0x5C => units.push(self.escape()?),
                0..0x20 => return None,
                _ => units.push(unit),
            }
        }
    }

    fn escape(&mut self) -> Option<u16> {
        let escape = self.peek()?;
        self.place += 1;
        Some(match escape {
            '"' => 0x22,
            '\\' => 0x5C,
            '/' => 0x2F,
            'b' => 8,
            'f' => 12,
            'n' => 10,
            'r' => 13,
            't' => 9,
            'u' => {
                let mut unit = 0;
                for _ in 0..4 {
                    unit = unit * 16 + self.peek()?.to_digit(16)? as u16;
                    self.place += 1;
                }
                unit
            }
            _ => return None,
        })
    }

    fn number(&mut self) -> Option<Value> {
        let mut spelled = String::new();
        self.take(&mut spelled, |c| c == '-', 0, 1)?;
        if self.take(&mut spelled, |c| c == '0', 1, 1).is_none() {
            self.take(&mut spelled, |c| c.is_ascii_digit(), 1, usize::MAX)?;
        }
        if self.take(&mut spelled, |c| c == '.', 1, 1).is_some() {
            self.take(&mut spelled, |c| c.is_ascii_digit(), 1, usize::MAX)?;
        }
        if self.take(&mut spelled, |c| c == 'e' || c == 'E', 1, 1).is_some() {
            self.take(&mut spelled, |c| c == '+' || c == '-', 0, 1)?;
            self.take(&mut spelled, |c| c.is_ascii_digit(), 1, usize::MAX)?;
        }
        spelled.parse().ok().map(Value::Number)
    }

    /// Takes as many characters of a class as there are, if there are at least `min`.
    fn take(
        &mut self,
        to: &mut String,
        class: fn(char) -> bool,
        min: usize,
        max: usize,
    ) -> Option<()> {
        let mut count = 0;
        while count < max {
            let Some(character) = self.peek().filter(|c| class(*c)) else { break };
            to.push(character);
            self.place += 1;
            count += 1;
        }
        (count >= min).then_some(())
    }
}

impl Value {
    /// Deep equality that does not mind the order of keys.
    pub fn same(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Array(a), Value::Array(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(x, y)| x.same(y))
            }
            (Value::Object(a), Value::Object(b)) => {
                let in_b = |(key, x): &(Vec<u16>, Value)| {
                    b.iter().any(|(other_key, y)| key == other_key && x.same(y))
                };
                a.len() == b.len() && a.iter().all(in_b)
            }
            _ => self == other,
        }
    }

    /// `JSON.stringify`, given how numbers print.
    pub fn to_json(&self, number: fn(f64) -> String) -> String {
        match self {
            Value::Null => "null".to_owned(),
            Value::Bool(value) => value.to_string(),
            Value::Number(n) if n.is_infinite() => "null".to_owned(),
            Value::Number(n) => number(*n),
            Value::String(units) => quoted(units),
            Value::Array(elements) => {
                let elements: Vec<_> = elements.iter().map(|value| value.to_json(number)).collect();
                format!("[{}]", elements.join(","))
            }
            Value::Object(members) => {
                let mut indexes: Vec<_> = members
                    .iter()
                    .filter_map(|(key, value)| Some((index(key)?, key, value)))
                    .collect();
                indexes.sort_by_key(|(index, ..)| *index);
                let names = members.iter().filter(|(key, _)| index(key).is_none());
                let ordered = indexes.into_iter().map(|(_, key, value)| (key, value));
                let all = ordered.chain(names.map(|(key, value)| (key, value)));
                let members: Vec<_> = all
                    .map(|(key, value)| format!("{}:{}", quoted(key), value.to_json(number)))
                    .collect();
                format!("{{{}}}", members.join(","))
            }
        }
    }

    /// `String(x)`.
    pub fn to_js_string(&self, number: fn(f64) -> String) -> String {
        match self {
            Value::Null => "null".to_owned(),
            Value::Bool(value) => value.to_string(),
            Value::Number(n) => number(*n),
            Value::String(units) => String::from_utf16_lossy(units),
            Value::Array(elements) => {
                let shown = |element: &Value| match element {
                    Value::Null => String::new(),
                    other => other.to_js_string(number),
                };
                elements.iter().map(shown).collect::<Vec<_>>().join(",")
            }
            Value::Object(_) => "[object Object]".to_owned(),
        }
    }
}

/// The array index that a key spells, as an integer that prints as the key.
fn index(key: &[u16]) -> Option<u64> {
    let spelled = String::from_utf16(key).ok()?;
    let index: u64 = spelled.parse().ok()?;
    (index.to_string() == spelled && index < 0xFFFF_FFFF).then_some(index)
}

/// A string as `JSON.stringify` writes it.
pub fn quoted(units: &[u16]) -> String {
    let mut text = String::from("\"");
    for character in char::decode_utf16(units.iter().copied()) {
        match character {
            Ok('"') => text.push_str("\\\""),
            Ok('\\') => text.push_str("\\\\"),
            Ok('\u{8}') => text.push_str("\\b"),
            Ok('\u{C}') => text.push_str("\\f"),
            Ok('\n') => text.push_str("\\n"),
            Ok('\r') => text.push_str("\\r"),
            Ok('\t') => text.push_str("\\t"),
            Ok(control) if control < ' ' => text = format!("{text}\\u{:04x}", u32::from(control)),
            Ok(other) => text.push(other),
            Err(lone) => text = format!("{text}\\u{:04x}", lone.unpaired_surrogate()),
        }
    }
    text + "\""
}

/// A string in WTF-8.
pub fn wtf8(units: &[u16]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for character in char::decode_utf16(units.iter().copied()) {
        match character {
            Ok(character) => bytes.extend(character.to_string().into_bytes()),
            Err(lone) => {
                let unit = lone.unpaired_surrogate();
                bytes.push(0xE0 | (unit >> 12) as u8);
                bytes.push(0x80 | (unit >> 6 & 0x3F) as u8);
                bytes.push(0x80 | (unit & 0x3F) as u8);
            }
        }
    }
    bytes
}

/// What ECMAScript's `trim()` leaves of a string.
pub fn trim(units: &[u16]) -> &[u16] {
    const SPACES: [u16; 25] = [
        0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0x20, 0xA0, 0x1680, 0x2000, 0x2001, 0x2002, 0x2003, 0x2004,
        0x2005, 0x2006, 0x2007, 0x2008, 0x2009, 0x200A, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000,
        0xFEFF,
    ];
    let mut rest = units;
    while let [first, after @ ..] = rest
        && SPACES.contains(first)
    {
        rest = after;
    }
    while let [before @ .., last] = rest
        && SPACES.contains(last)
    {
        rest = before;
    }
    rest
}
