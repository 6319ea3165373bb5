//! Numbers as the host has them: doubles, with the tests it makes on them and its way to print
//! them.

/// The largest integer that the host calls safe: 2^53 - 1.
const SAFE_INTEGER_MAX: f64 = 9_007_199_254_740_991.0;

/// Digits that a double holds exactly whatever they are: below 10^15.
const EXACT_DIGITS: usize = 15;

/// Digits that suffice to write any double exactly.
const EXACT_DIGITS_MAX: usize = 767;

/// Returns whether a number is what `Number.isSafeInteger` accepts; minus zero is.
///
/// # Source
/// `docs/dsh-format.md`, section 0.4, *safe int*.
pub fn is_safe_integer(n: f64) -> bool {
    // The cast saturates, and cuts a fraction off; what comes back unchanged was whole.
    n.abs() <= SAFE_INTEGER_MAX && n as i64 as f64 == n
}

/// Returns whether a number is a safe integer, not negative, and not minus zero.
///
/// # Source
/// `docs/dsh-format.md`, section 0.4, *count*.
pub fn is_count(n: f64) -> bool {
    is_safe_integer(n) && n.is_sign_positive()
}

/// Returns whether a number is a safe integer and not below zero; minus zero is allowed.
///
/// # Source
/// `docs/dsh-format.md`, section 0.4, *seq0*.
pub fn is_seq(n: f64) -> bool {
    is_safe_integer(n) && n >= 0.0
}

/// Returns a number as the host prints it: `1`, `0.5`, `1e+21`, `0` for minus zero, `Infinity`.
///
/// # Source
/// ECMA-262, `Number::toString` in base ten.
pub fn display(n: f64) -> String {
    if n.is_nan() {
        return "NaN".to_owned();
    }
    if n == 0.0 {
        return "0".to_owned();
    }
    let sign = if n < 0.0 { "-" } else { "" };
    if n.is_infinite() {
        return format!("{sign}Infinity");
    }
    let (digits, exponent) = scientific(format!("{:e}", n.abs()));
    format!("{sign}{}", place_point(&even_of_two(n.abs(), digits), exponent))
}

/// Splits a number in scientific form into its digits and its exponent.
fn scientific(form: String) -> (String, i32) {
    match form.split_once('e') {
        Some((mantissa, exponent)) => (mantissa.replace('.', ""), exponent.parse().unwrap_or(0)),
        None => (form, 0),
    }
}

/// Returns the digits that ECMAScript chooses, given those that Rust does.
///
/// Both take the fewest digits that read back as the same double, and of those the closest to it.
/// Where two are equally close, Rust takes the larger and ECMAScript the even one: 2^-2 above
/// 794450129900868 is `794450129900868.2` there.
fn even_of_two(n: f64, digits: String) -> String {
    let count = digits.len();
    // One digit more ends with a 5 if it is halfway between the two, and then it is exact.
    let (longer, _) = scientific(format!("{n:.count$e}"));
    let is_odd = digits.ends_with(['1', '3', '5', '7', '9']);
    if !is_odd || !longer.ends_with('5') || longer.starts_with(&digits) {
        return digits;
    }
    let (exact, _) = scientific(format!("{n:.EXACT_DIGITS_MAX$e}"));
    if exact.trim_end_matches('0') == longer { longer[..count].to_owned() } else { digits }
}

/// Lays out decimal digits whose first one stands for `10^exponent`.
fn place_point(digits: &str, exponent: i32) -> String {
    let count = digits.len();
    match exponent {
        0..=20 => {
            let whole = exponent.unsigned_abs() as usize + 1;
            if count <= whole {
                format!("{digits}{}", "0".repeat(whole - count))
            } else {
                format!("{}.{}", &digits[..whole], &digits[whole..])
            }
        }
        -6..=-1 => format!("0.{}{digits}", "0".repeat(exponent.unsigned_abs() as usize - 1)),
        _ => {
            let sign = if exponent < 0 { '-' } else { '+' };
            let point = if count == 1 { "" } else { "." };
            format!("{}{point}{}e{sign}{}", &digits[..1], &digits[1..], exponent.unsigned_abs())
        }
    }
}

/// Returns the double that a JSON number stands for.
pub(super) fn parse(raw: &[u8]) -> f64 {
    if raw.len() <= EXACT_DIGITS
        && let Some(n) = digits(raw)
    {
        return n as f64;
    }
    let text = str::from_utf8(raw).expect("a scanned number is ASCII");
    text.parse().expect("a scanned number has the form of a Rust float")
}

/// Returns the number that at most 16 digits write, or nothing where not all are digits.
fn digits(raw: &[u8]) -> Option<u64> {
    let (head, tail) = raw.split_at(raw.len().saturating_sub(8));
    let tail = eight_digits(tail)?;
    if head.is_empty() { Some(tail) } else { Some(eight_digits(head)? * 100_000_000 + tail) }
}

/// Reads up to eight digits at once: pairs, then pairs of pairs, then both halves.
fn eight_digits(raw: &[u8]) -> Option<u64> {
    let mut bytes = [b'0'; 8];
    bytes[8 - raw.len()..].copy_from_slice(raw);
    let word = u64::from_le_bytes(bytes);
    let high_halves = word & 0xF0F0_F0F0_F0F0_F0F0;
    let carried = word.wrapping_add(0x0606_0606_0606_0606) & 0xF0F0_F0F0_F0F0_F0F0;
    if high_halves != 0x3030_3030_3030_3030 || carried != 0x3030_3030_3030_3030 {
        return None;
    }
    let ones = word & 0x0F0F_0F0F_0F0F_0F0F;
    let pairs = (ones.wrapping_mul(10) + (ones >> 8)) & 0x00FF_00FF_00FF_00FF;
    let fours = (pairs.wrapping_mul(100) + (pairs >> 16)) & 0x0000_FFFF_0000_FFFF;
    Some((fours.wrapping_mul(10_000) + (fours >> 32)) & 0xFFFF_FFFF)
}
