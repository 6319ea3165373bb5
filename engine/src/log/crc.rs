//! The checksum of everything on disk: CRC-32 of IEEE 802.3, reflected, as in gzip.
//!
//! The library chooses among vector instructions by the machine. Machines and libraries have been
//! wrong about that before, and a log written with a wrong checksum is lost on the next machine; so
//! a log that opens first compares it with one that nobody can get wrong.

use std::sync::OnceLock;

/// The polynomial, its bits reversed.
const POLYNOMIAL: u32 = 0xEDB8_8320;

/// The checksum of the nine digits `123456789`, as every description of this checksum has it.
const CHECK: u32 = 0xCBF4_3926;

/// Bytes of the pattern that the self-test goes over.
const PATTERN_BYTES: usize = 2048;

/// Bytes by which the start of the pattern is moved, up to the width of a vector.
const SHIFTS: usize = 16;

/// Returns the checksum of some bytes.
pub(crate) fn crc(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes)
}

/// Returns whether [`crc`] computes what it should on this machine. The answer is found once for
/// the process; a log does not open without it.
pub(crate) fn self_test() -> bool {
    static ANSWER: OnceLock<bool> = OnceLock::new();
    *ANSWER.get_or_init(|| agrees_with_bits(crc))
}

/// Returns whether a checksum agrees with the one taken bit by bit, over every length up to some
/// hundred bytes, some longer ones, and every place in a vector.
fn agrees_with_bits(crc: impl Fn(&[u8]) -> u32) -> bool {
    let mut state = 1_u32;
    let pattern: Vec<u8> = (0..PATTERN_BYTES + SHIFTS)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        })
        .collect();
    (0..SHIFTS).all(|shift| {
        let shifted = &pattern[shift..shift + PATTERN_BYTES];
        let mut register = !0;
        shifted.iter().enumerate().all(|(count, byte)| {
            let agrees = !is_compared(count) || crc(&shifted[..count]) == !register;
            register = push(register, *byte);
            agrees
        }) && crc(shifted) == !register
    }) && crc(b"123456789") == CHECK
}

/// Returns whether the self-test compares the checksums of so many bytes.
fn is_compared(count: usize) -> bool {
    count <= 160 || count % 64 < 2 || count % 64 == 63
}

/// Takes one byte into the register, bit by bit.
fn push(register: u32, byte: u8) -> u32 {
    (0..8).fold(register ^ u32::from(byte), |bits, _| {
        (bits >> 1) ^ if bits & 1 == 1 { POLYNOMIAL } else { 0 }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_library_agrees_with_the_bitwise_checksum_here() {
        assert!(self_test());
    }

    #[test]
    fn a_library_that_is_wrong_at_one_length_or_one_place_is_caught() {
        let pattern_wrong_at =
            |length: usize| move |bytes: &[u8]| crc(bytes) ^ u32::from(bytes.len() == length);
        for length in [0, 1, 9, 33, 159, 63, 64, 65, 127, 128, 129, 1023, 1024, 2048] {
            assert!(!agrees_with_bits(pattern_wrong_at(length)), "{length}");
        }
        // Wrong where the bytes are not aligned to 8: three quarters of a vector's places.
        assert!(!agrees_with_bits(|bytes| {
            crc(bytes) ^ u32::from(bytes.len() > 64 && bytes.as_ptr().addr() % 8 == 1)
        }));
        // The checksum of another polynomial.
        assert!(!agrees_with_bits(|bytes| crc(bytes).rotate_left(1)));
    }

    proptest! {
        #[test]
        fn every_text_has_its_bitwise_checksum(bytes: Vec<u8>) {
            let bits = !bytes.iter().fold(!0, |register, byte| push(register, *byte));
            prop_assert_eq!(crc(&bytes), bits);
        }
    }
}
