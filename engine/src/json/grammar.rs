//! The grammar of JSON as a machine over single bytes: slow, plain, and able to stop anywhere.
//!
//! It judges texts that come in pieces, and says what is wrong with those that the scanner refuses.

use super::block::{self, Window};
use super::defect::Defect;
use super::lex;
use super::tape::Kind;

/// What a byte did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Nothing that an onlooker has to know.
    Inside,
    /// The byte opens a key of an object.
    KeyBegins,
    /// The byte closes a key.
    KeyEnds,
    /// The byte is the first one of a value of this kind, with `depth` containers around it.
    ValueBegins { kind: Kind, depth: usize },
    /// The byte is the last one of a value with `depth` containers around it.
    ValueEnds { depth: usize },
    /// A number with `depth` containers around it has ended before this byte, which was not taken:
    /// it must be given again.
    NumberEnded { depth: usize },
}

/// What may come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Value,
    FirstElement,
    FirstKey,
    Key,
    Colon,
    AfterValue,
    String(Role),
    Escape(Role),
    /// Behind `\u` and this many digits.
    Hex(Role, u8),
    /// Within this literal, behind this many of its bytes.
    Literal(&'static [u8], u8),
    Minus,
    Zero,
    Whole,
    Point,
    Fraction,
    Exponent,
    ExponentSign,
    ExponentDigits,
}

/// What a string is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Key,
    Value,
}

/// The machine. It holds one bit for each open container and nothing of the text.
#[derive(Clone, Debug)]
pub(super) struct Machine {
    state: State,
    open: Containers,
}

impl Machine {
    pub(super) fn new() -> Self {
        Self { state: State::Value, open: Containers::default() }
    }

    /// Returns how many containers are open.
    pub(super) fn depth(&self) -> usize {
        self.open.len()
    }

    /// Returns whether the machine is inside a string, where bytes for which
    /// [`is_string_stop`](super::block::is_string_stop) does not hold change nothing.
    #[inline]
    pub(super) fn in_string(&self) -> bool {
        matches!(self.state, State::String(_))
    }

    /// Takes one byte, or says in words why no text can go on with it.
    pub(super) fn step(&mut self, byte: u8) -> Result<Step, &'static str> {
        let state = self.state;
        match state {
            State::String(role) => self.in_string_step(role, byte),
            State::Escape(role) => self.escape(role, byte),
            State::Hex(role, digits) => self.hex(role, digits, byte),
            State::Literal(word, done) => self.literal(word, done, byte),
            State::Minus
            | State::Zero
            | State::Whole
            | State::Point
            | State::Fraction
            | State::Exponent
            | State::ExponentSign
            | State::ExponentDigits => self.number(byte),
            _ if lex::is_space(byte) => Ok(Step::Inside),
            State::FirstElement if byte == b']' => Ok(self.close()),
            State::Value | State::FirstElement => self.begin(byte),
            State::FirstKey if byte == b'}' => Ok(self.close()),
            State::FirstKey | State::Key if byte == b'"' => {
                self.state = State::String(Role::Key);
                Ok(Step::KeyBegins)
            }
            State::FirstKey => Err("a key or a closing brace is expected"),
            State::Key => Err("a key is expected"),
            State::Colon if byte == b':' => {
                self.state = State::Value;
                Ok(Step::Inside)
            }
            State::Colon => Err("a colon is expected"),
            State::AfterValue => self.after_value(byte),
        }
    }

    /// Ends the text, or says in words why it cannot end here.
    pub(super) fn finish(&self) -> Result<(), &'static str> {
        // A number at the very end needs nothing behind it.
        let ended = matches!(
            self.state,
            State::AfterValue
                | State::Zero
                | State::Whole
                | State::Fraction
                | State::ExponentDigits
        );
        if ended && self.open.is_empty() { Ok(()) } else { Err("the text ends too early") }
    }

    /// Goes on behind a value that has just ended with this byte.
    fn end_value(&mut self) -> Step {
        self.state = State::AfterValue;
        Step::ValueEnds { depth: self.open.len() }
    }

    fn begin(&mut self, byte: u8) -> Result<Step, &'static str> {
        let depth = self.open.len();
        let (kind, state) = match byte {
            b'"' => (Kind::String, State::String(Role::Value)),
            b'-' => (Kind::Number, State::Minus),
            b'0' => (Kind::Number, State::Zero),
            b'1'..=b'9' => (Kind::Number, State::Whole),
            b'n' => (Kind::Null, State::Literal(b"null", 1)),
            b't' => (Kind::True, State::Literal(b"true", 1)),
            b'f' => (Kind::False, State::Literal(b"false", 1)),
            b'[' => (Kind::Array, State::FirstElement),
            b'{' => (Kind::Object, State::FirstKey),
            0xEF if depth == 0 => return Err("a byte order mark or another foreign byte"),
            _ => return Err("a value is expected"),
        };
        if !kind.is_scalar() {
            self.open.push(kind == Kind::Object);
        }
        self.state = state;
        Ok(Step::ValueBegins { kind, depth })
    }

    fn after_value(&mut self, byte: u8) -> Result<Step, &'static str> {
        let in_object = self.open.innermost_is_object();
        match (byte, in_object) {
            (_, None) => Err("something follows the value"),
            (b',', Some(true)) => {
                self.state = State::Key;
                Ok(Step::Inside)
            }
            (b',', Some(false)) => {
                self.state = State::Value;
                Ok(Step::Inside)
            }
            (b'}', Some(true)) | (b']', Some(false)) => Ok(self.close()),
            (_, Some(true)) => Err("a comma or a closing brace is expected"),
            (_, Some(false)) => Err("a comma or a closing bracket is expected"),
        }
    }

    fn close(&mut self) -> Step {
        self.open.pop();
        self.end_value()
    }

    fn in_string_step(&mut self, role: Role, byte: u8) -> Result<Step, &'static str> {
        match byte {
            b'"' if role == Role::Key => {
                self.state = State::Colon;
                Ok(Step::KeyEnds)
            }
            b'"' => Ok(self.end_value()),
            b'\\' => {
                self.state = State::Escape(role);
                Ok(Step::Inside)
            }
            0..0x20 => Err("a control character in a string"),
            _ => Ok(Step::Inside),
        }
    }

    fn escape(&mut self, role: Role, byte: u8) -> Result<Step, &'static str> {
        self.state = match byte {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => State::String(role),
            b'u' => State::Hex(role, 0),
            _ => return Err("no escape begins like this"),
        };
        Ok(Step::Inside)
    }

    fn hex(&mut self, role: Role, digits: u8, byte: u8) -> Result<Step, &'static str> {
        if !byte.is_ascii_hexdigit() {
            return Err("a hexadecimal digit is expected");
        }
        self.state = if digits == 3 { State::String(role) } else { State::Hex(role, digits + 1) };
        Ok(Step::Inside)
    }

    fn literal(&mut self, word: &'static [u8], done: u8, byte: u8) -> Result<Step, &'static str> {
        if word[usize::from(done)] != byte {
            return Err("a literal is misspelled");
        }
        if usize::from(done) + 1 == word.len() {
            return Ok(self.end_value());
        }
        self.state = State::Literal(word, done + 1);
        Ok(Step::Inside)
    }

    fn number(&mut self, byte: u8) -> Result<Step, &'static str> {
        self.state = match (self.state, byte) {
            (State::Minus, b'0') => State::Zero,
            (State::Minus, b'1'..=b'9') | (State::Whole, b'0'..=b'9') => State::Whole,
            (State::Zero | State::Whole, b'.') => State::Point,
            (State::Point | State::Fraction, b'0'..=b'9') => State::Fraction,
            (State::Zero | State::Whole | State::Fraction, b'e' | b'E') => State::Exponent,
            (State::Exponent, b'+' | b'-') => State::ExponentSign,
            (State::Exponent | State::ExponentSign | State::ExponentDigits, b'0'..=b'9') => {
                State::ExponentDigits
            }
            (State::Zero, b'0'..=b'9') => return Err("a number begins with a zero too many"),
            (State::Zero | State::Whole | State::Fraction | State::ExponentDigits, _) => {
                self.state = State::AfterValue;
                return Ok(Step::NumberEnded { depth: self.open.len() });
            }
            _ => return Err("a digit is expected"),
        };
        Ok(Step::Inside)
    }
}

/// Decides whether a whole text is JSON, and where and why it is not.
pub(super) fn judge(text: &[u8]) -> Result<(), Defect> {
    let (mut machine, mut window) = (Machine::new(), Window::new(text));
    let mut offset = 0;
    while let Some(&byte) = text.get(offset) {
        if machine.in_string() && !block::is_string_stop(byte) {
            offset = window.stop_from(offset);
            continue;
        }
        let at = |what| Defect::malformed(offset, what);
        if let Step::NumberEnded { .. } = machine.step(byte).map_err(at)? {
            machine.step(byte).map_err(at)?;
        }
        offset += 1;
    }
    machine.finish().map_err(|what| Defect::malformed(text.len(), what))
}

/// The open containers, a bit for each: set for an object.
#[derive(Clone, Debug, Default)]
struct Containers {
    words: Vec<u64>,
    count: usize,
}

impl Containers {
    fn len(&self) -> usize {
        self.count
    }

    fn is_empty(&self) -> bool {
        self.count == 0
    }

    fn push(&mut self, is_object: bool) {
        let (word, bit) = (self.count / 64, self.count % 64);
        if word == self.words.len() {
            self.words.push(0);
        }
        self.words[word] = self.words[word] & !(1 << bit) | u64::from(is_object) << bit;
        self.count += 1;
    }

    fn pop(&mut self) {
        self.count = self.count.saturating_sub(1);
    }

    fn innermost_is_object(&self) -> Option<bool> {
        let place = self.count.checked_sub(1)?;
        Some(self.words[place / 64] >> (place % 64) & 1 == 1)
    }
}
