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
        self.next_plain().map(f64::from).or_else(|| self.next_whole())
    }
}

impl Numbers<'_> {
    /// Takes the next number when it is plain: at most seven digits and a comma behind them. What
    /// is not plain is left for the iterator, and so are the last number and the list's end.
    #[inline]
    pub fn next_plain(&mut self) -> Option<u32> {
        let word: &[u8; 8] = self.rest.first_chunk()?;
        let (first, second) = (word[0].wrapping_sub(b'0'), word[1].wrapping_sub(b'0'));
        // Gaps of time have one digit or two, so that it pays to look for those.
        let (number, count) = if first > 9 {
            return None;
        } else if word[1] == b',' {
            (u32::from(first), 1)
        } else if word[2] == b',' && second <= 9 {
            (u32::from(first) * 10 + u32::from(second), 2)
        } else {
            let count = lex::digits(self.rest, 0);
            if count == 8 || word[count] != b',' {
                return None;
            }
            let digits = u64::from_le_bytes(*word) << (8 * (8 - count));
            (number::from_digits(digits) as u32, count)
        };
        self.rest = &self.rest[count + 1..];
        Some(number)
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
            "[-1,-12,1.5,12.5,123.5,1e1,12e1,123e1,1234567.5,1234567e1,12345678,1,22,3]",
        ] {
            let document = Document::parse(text).expect("the case is JSON");
            let slow: Vec<_> = document.root().elements().filter_map(|it| it.as_number()).collect();
            let fast: Vec<_> = document.root().numbers().expect("they are numbers").collect();
            let bits = |all: &[f64]| all.iter().map(|n| n.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&fast), bits(&slow), "{text}");
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
