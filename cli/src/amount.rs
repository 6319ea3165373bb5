//! Amounts of bytes, as people write them.

/// The units that an amount may have, in lower case, and the bytes of one.
const UNITS: [(&str, u64); 16] = [
    ("", 1),
    ("b", 1),
    ("k", 1 << 10),
    ("kib", 1 << 10),
    ("kb", 1_000),
    ("m", 1 << 20),
    ("mib", 1 << 20),
    ("mb", 1_000_000),
    ("g", 1 << 30),
    ("gib", 1 << 30),
    ("gb", 1_000_000_000),
    ("t", 1 << 40),
    ("tib", 1 << 40),
    ("tb", 1_000_000_000_000),
    ("byte", 1),
    ("bytes", 1),
];

/// Reads an amount of at least one byte.
///
/// # Errors
///
/// A sentence that says which forms there are.
pub(crate) fn bytes(text: &str) -> Result<u64, String> {
    let lower = text.trim().to_ascii_lowercase();
    let digits = lower.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = lower.split_at(digits);
    let unit = UNITS.iter().find(|(name, _)| *name == unit.trim());
    let Some((number, (_, size))) = number.parse::<u64>().ok().zip(unit) else {
        return Err("write a whole number of bytes, or one with a unit: 500000, 64M, 1GiB".into());
    };
    match number.checked_mul(*size) {
        Some(0) => Err("at least one byte must be let through".into()),
        Some(bytes) => Ok(bytes),
        None => Err("that is more than a 64-bit number of bytes can say".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn a_number_may_have_a_unit() {
        for (text, amount) in [
            ("1", 1),
            ("1073741824", 1 << 30),
            ("1G", 1 << 30),
            ("1gib", 1 << 30),
            ("1 GiB", 1 << 30),
            ("64M", 64 << 20),
            ("8k", 8 << 10),
            ("2KB", 2_000),
            ("3tb", 3_000_000_000_000),
            ("100 bytes", 100),
        ] {
            assert_eq!(bytes(text), Ok(amount), "{text}");
        }
    }

    #[test]
    fn what_is_no_amount_is_told_which_form_is_meant() {
        for text in ["", "G", "1.5G", "-1", "1X", "0x10", "1G1", "\u{661}", "99999999999999999999"]
        {
            let error = bytes(text).expect_err(text);
            assert!(error.contains("1GiB"), "{text}: {error}");
        }
        for text in ["0", "0G", "99999999999G"] {
            assert!(bytes(text).is_err(), "{text}");
        }
    }
}
