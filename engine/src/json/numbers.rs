//! The numbers of an array that holds nothing else, read straight from its text.
//!
//! Lists of seqs and of time gaps are most of what a log's numbers are, and most of them are short
//! whole ones: they are read digit by digit, without a token in between.

use super::lex;
use super::number;
use super::tape::Kind;
use super::value::Json;

/// The numbers of an array, in order; an iterator.
#[derive(Clone, Debug)]
pub struct Numbers<'a> {
    /// From the next number, or the closing bracket, on.
    rest: &'a [u8],
}

/// The number that follows the last long one by one, as most seqs of a list do.
#[derive(Clone, Copy, Debug)]
struct Successor {
    /// Its digits and the comma behind them, and which bits of a word they are.
    text: u64,
    mask: u64,
    number: u32,
    digits: usize,
}

impl Successor {
    /// What no number is.
    const NONE: Self = Self { text: 1, mask: 0, number: 0, digits: 0 };

    /// The successor of a number of at most seven digits, given the word that begins with it.
    #[inline]
    fn of(word: u64, number: u32, digits: usize) -> Self {
        let mask = u64::MAX >> (8 * (7 - digits));
        Self { text: word & mask, mask, number, digits }.next()
    }

    /// The one after it. Behind a nine comes a colon, which no number has.
    #[inline]
    fn next(self) -> Self {
        let text = self.text + (1 << (8 * (self.digits - 1)));
        Self { text, number: self.number + 1, ..self }
    }
}

impl<'a> Json<'a> {
    /// Returns the numbers of an array whose elements are all numbers; nothing for any other value
    /// and for an empty array.
    pub fn numbers(&self) -> Option<Numbers<'a>> {
        (self.element_kinds() == Kind::Number.bit()).then(|| Numbers { rest: &self.raw()[1..] })
    }
}

/// How many digits a number may have to be read here: fewer than a double holds exactly.
const DIGITS_MAX: usize = 15;

fn is_end(byte: u8) -> bool {
    matches!(byte, b',' | b']' | b' ' | b'\t' | b'\n' | b'\r')
}

impl Iterator for Numbers<'_> {
    type Item = f64;

    #[inline]
    fn next(&mut self) -> Option<f64> {
        self.next_whole()
    }
}

impl Numbers<'_> {
    /// Takes the next numbers as long as they are plain: at most seven digits and a comma behind
    /// them. What is not plain is left for the iterator, and so is the end of the list.
    #[inline]
    pub fn plain(&mut self, mut take: impl FnMut(u32)) {
        let mut rest = self.rest;
        let mut next = Successor::NONE;
        while let Some(bytes) = rest.first_chunk::<8>() {
            let word = u64::from_le_bytes(*bytes);
            let (first, second) = (bytes[0].wrapping_sub(b'0'), bytes[1].wrapping_sub(b'0'));
            // Gaps of time have one digit or two, so that it pays to look for those.
            let (number, count) = if first > 9 {
                break;
            } else if bytes[1] == b',' {
                (u32::from(first), 1)
            } else if bytes[2] == b',' && second <= 9 {
                (u32::from(first) * 10 + u32::from(second), 2)
            } else if word & next.mask == next.text {
                let Successor { number, digits, .. } = next;
                next = next.next();
                (number, digits)
            } else {
                let count = lex::digits(rest, 0);
                if count == 8 || bytes[count] != b',' {
                    break;
                }
                let number = number::from_digits(word << (8 * (8 - count))) as u32;
                next = Successor::of(word, number, count);
                (number, count)
            };
            take(number);
            rest = &rest[count + 1..];
        }
        self.rest = rest;
    }

    /// The next number when it is whole, digit by digit; else whatever it is.
    fn next_whole(&mut self) -> Option<f64> {
        let mut whole = 0u64;
        let mut count = 0;
        for byte in self.rest {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                break;
            }
            // What no longer fits is read again below.
            whole = whole.wrapping_mul(10).wrapping_add(u64::from(digit));
            count += 1;
        }
        match self.rest.get(count) {
            Some(b',') if count.wrapping_sub(1) < DIGITS_MAX => {
                self.rest = &self.rest[count + 1..];
                Some(whole as f64)
            }
            _ => self.slow(),
        }
    }

    /// The next number, whatever stands around it; nothing at the bracket.
    #[inline(never)]
    fn slow(&mut self) -> Option<f64> {
        let is_between = |byte: &u8| is_end(*byte) && *byte != b']';
        let start = self.rest.iter().position(|byte| !is_between(byte))?;
        let rest = &self.rest[start..];
        let end = rest.iter().position(|byte| is_end(*byte))?;
        self.rest = &rest[end..];
        (end > 0).then(|| number::parse(&rest[..end]))
    }
}

#[cfg(test)]
mod tests {
    use crate::json::Document;

    #[test]
    fn numbers_are_those_of_the_elements() {
        for text in [
            "[1]",
            "[0,12,3]",
            " [ 1 , 2\t,\r\n3 ] ",
            "[1,-0,1.5,1e3,9007199254740993,-7]",
            "[123456789012345,1234567890123456,12345678901234567890,1e400]",
            "[1 ,2]",
            "[1, 2 ,3]",
            "[1,22,333,4444,55555,666666,7777777,88888888,999999999,0,10,100,1000000,9999999]",
            "[8,9,10,98,99,100,101,102,998,999,1000,1001,1002,1003,1004,1005,1006,1007,1008,1009,\
             1010,1011,1013,1014,2014,2015,2016.0,2017,9999998,9999999,10000000,10000001]",
            "[-1,-12,1.5,12.5,123.5,1e1,12e1,123e1,1234567.5,1234567e1,12345678,1,22,3]",
        ] {
            let document = Document::parse(text).expect("the case is JSON");
            let slow: Vec<_> = document.root().elements().filter_map(|it| it.as_number()).collect();
            let mut numbers = document.root().numbers().expect("they are numbers");
            let fast: Vec<_> = numbers.clone().collect();
            let mut mixed = Vec::new();
            loop {
                numbers.plain(|number| mixed.push(f64::from(number)));
                match numbers.next() {
                    Some(number) => mixed.push(number),
                    None => break,
                }
            }
            let bits = |all: &[f64]| all.iter().map(|n| n.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&fast), bits(&slow), "{text}");
            assert_eq!(bits(&mixed), bits(&slow), "{text}");
        }
    }

    #[test]
    fn what_is_no_list_of_numbers_has_none() {
        for text in ["[]", "[1,\"2\"]", "[[1]]", "{}", "1", "[1,null]"] {
            let document = Document::parse(text).expect("the case is JSON");
            assert!(document.root().numbers().is_none(), "{text}");
        }
    }
}
