//! Numbers as the host has them: doubles, with the tests it makes on them and its way to print them.

/// The largest integer that the host calls safe: 2^53 - 1.
const SAFE_INTEGER_MAX: f64 = 9_007_199_254_740_991.0;

/// Digits that a double holds exactly whatever they are: below 10^15.
const EXACT_DIGITS: usize = 15;

/// Returns whether a number is what `Number.isSafeInteger` accepts; minus zero is.
///
/// # Source
/// `spec/dsh-format.md` section 0.4, *safe int*.
pub fn is_safe_integer(n: f64) -> bool {
    n.abs() <= SAFE_INTEGER_MAX && n.fract() == 0.0
}

/// Returns whether a number is a safe integer, not negative, and not minus zero.
///
/// # Source
/// `spec/dsh-format.md` section 0.4, *count*.
pub fn is_count(n: f64) -> bool {
    is_safe_integer(n) && n.is_sign_positive()
}

/// Returns whether a number is a safe integer and not below zero; minus zero is allowed.
///
/// # Source
/// `spec/dsh-format.md` section 0.4, *seq0*.
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
    // Both languages print the shortest digits that read back as the same double, and of those the
    // ones closest to it; only where the point goes differs.
    let scientific = format!("{:e}", n.abs());
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let digits = mantissa.replace('.', "");
    format!("{sign}{}", place_point(&digits, exponent.parse().unwrap_or(0)))
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
    if raw.len() <= EXACT_DIGITS && raw.iter().all(u8::is_ascii_digit) {
        return raw.iter().fold(0, |n, digit| n * 10 + u64::from(digit - b'0')) as f64;
    }
    let text = str::from_utf8(raw).expect("a scanned number is ASCII");
    text.parse().expect("a scanned number has the form of a Rust float")
}
