//! Values in messages, spelled as the host spells them.

use super::elements::Elements;
use super::number;
use super::tape::Kind;
use super::text::Text;
use super::value::Json;

/// The largest index of an array: keys up to it are listed first, in the order of numbers.
const ARRAY_INDEX_MAX: u32 = u32::MAX - 1;

impl<'a> Json<'a> {
    /// Returns the members of an object in the order of its properties: array indexes first.
    pub fn properties(&self) -> Vec<(Text<'a>, Json<'a>)> {
        let mut members: Vec<_> = self.members().collect();
        members.sort_by_key(|(key, _)| array_index(key).map_or(u64::from(u32::MAX), u64::from));
        members
    }
}

impl Json<'_> {
    /// Returns what the host's `String(x)` gives: a string as it is, `null`, `5`, `true`,
    /// `[object Object]`, and the elements of an array joined by commas, `null` being empty there.
    ///
    /// Lone surrogates are shown as U+FFFD. Where an object has a member `toString` the host throws
    /// instead; this does not. Missing values are no values: `undefined` is the caller's.
    pub fn to_js_string(&self) -> String {
        let mut shown = String::new();
        let mut open: Vec<(Elements<'_>, bool)> = Vec::new();
        write_js(&mut shown, self, &mut open);
        while let Some((elements, started)) = open.last_mut() {
            let Some(element) = elements.next() else {
                open.pop();
                continue;
            };
            if std::mem::replace(started, true) {
                shown.push(',');
            }
            if !element.is_null() {
                write_js(&mut shown, &element, &mut open);
            }
        }
        shown
    }

    /// Returns what the host's `JSON.stringify(x)` gives, without indentation: keys that are array
    /// indexes first and in their order, numbers in their shortest form, `-0` as `0`, infinities
    /// as `null`, lone surrogates as `\udxxx`.
    ///
    /// # Source
    /// ECMA-262, `JSON.stringify`; `docs/dsh-format.md`, section 4.2.
    pub fn to_json(&self) -> String {
        let mut printer = Printer { to: String::new(), open: Vec::new() };
        printer.value(self);
        while let Some(open) = printer.open.last_mut() {
            match open.next() {
                Some((comma, key, value)) => {
                    if comma {
                        printer.to.push(',');
                    }
                    if let Some(key) = key {
                        key.write_quoted(&mut printer.to);
                        printer.to.push(':');
                    }
                    printer.value(&value);
                }
                None => printer.close(),
            }
        }
        printer.to
    }
}

/// Writes a value for `String(x)`; an array is only opened.
fn write_js<'a>(to: &mut String, value: &Json<'a>, open: &mut Vec<(Elements<'a>, bool)>) {
    match value.kind() {
        Kind::Array => open.push((value.elements(), false)),
        Kind::Object => to.push_str("[object Object]"),
        _ => match value.as_text() {
            Some(text) => to.push_str(&text.to_lossy()),
            None => write_plain(to, value),
        },
    }
}

/// Writes a number, a boolean or null; `String(x)` and `JSON.stringify` differ in infinities only.
fn write_plain(to: &mut String, value: &Json<'_>) {
    match value.as_number() {
        Some(number) => to.push_str(&number::display(number)),
        None => to.push_str(&String::from_utf8_lossy(value.raw())),
    }
}

/// A value that is being printed as JSON.
struct Printer<'a> {
    to: String,
    open: Vec<Open<'a>>,
}

/// A container that is being printed.
struct Open<'a> {
    items: Items<'a>,
    started: bool,
}

enum Items<'a> {
    Elements(Elements<'a>),
    Members(std::vec::IntoIter<(Text<'a>, Json<'a>)>),
}

impl<'a> Open<'a> {
    /// Returns the next item: whether a comma goes before it, its key and its value.
    fn next(&mut self) -> Option<(bool, Option<Text<'a>>, Json<'a>)> {
        let (key, value) = match &mut self.items {
            Items::Elements(elements) => (None, elements.next()?),
            Items::Members(members) => members.next().map(|(key, value)| (Some(key), value))?,
        };
        Some((std::mem::replace(&mut self.started, true), key, value))
    }
}

impl<'a> Printer<'a> {
    /// Prints a value; a container is only opened.
    fn value(&mut self, value: &Json<'a>) {
        let items = match value.kind() {
            Kind::Array => {
                self.to.push('[');
                Items::Elements(value.elements())
            }
            Kind::Object => {
                self.to.push('{');
                Items::Members(value.properties().into_iter())
            }
            _ => return self.scalar(value),
        };
        self.open.push(Open { items, started: false });
    }

    fn scalar(&mut self, value: &Json<'a>) {
        match (value.as_text(), value.as_number()) {
            (Some(text), _) => text.write_quoted(&mut self.to),
            (_, Some(number)) if number.is_infinite() => self.to.push_str("null"),
            _ => write_plain(&mut self.to, value),
        }
    }

    fn close(&mut self) {
        match self.open.pop().map(|open| open.items) {
            Some(Items::Elements(_)) => self.to.push(']'),
            Some(Items::Members(_)) => self.to.push('}'),
            None => {}
        }
    }
}

/// Returns the array index that a key is the canonical spelling of.
fn array_index(key: &Text<'_>) -> Option<u32> {
    let spelled = key.to_wtf8();
    let canonical = match *spelled {
        [b'0'] => true,
        [b'1'..=b'9', ref rest @ ..] => rest.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    let index = canonical.then(|| str::from_utf8(&spelled).ok()?.parse().ok())??;
    (index <= ARRAY_INDEX_MAX).then_some(index)
}
