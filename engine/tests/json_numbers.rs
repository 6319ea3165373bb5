//! Numbers as the host has them: doubles, however they are written.
//!
//! The answers were taken from Node 24.22 (`JSON.parse`, `Number.isSafeInteger`, `String`).

use gatelog_engine::json::{Document, display, is_count, is_safe_integer, is_seq};

fn number(text: &str) -> f64 {
    let document = Document::parse(text).unwrap_or_else(|defect| panic!("{text}: {defect}"));
    document.root().as_number().expect("a number")
}

#[test]
fn numbers_are_doubles() {
    let numbers = [
        ("0", 0.0),
        ("1.0", 1.0),
        ("1e0", 1.0),
        ("-1E+2", -100.0),
        ("1e400", f64::INFINITY),
        ("-1e400", f64::NEG_INFINITY),
        ("1e99999999999999999999", f64::INFINITY),
        ("0e99999999999999999999", 0.0),
        ("1e-99999999999999999999", 0.0),
        ("9007199254740993", 9_007_199_254_740_992.0),
        ("9007199254740991.2", 9_007_199_254_740_991.0),
        ("123456789012345", 123_456_789_012_345.0),
        ("1234567890123456", 1_234_567_890_123_456.0),
        ("123456789012345678", 123_456_789_012_345_680.0),
        ("0.1", 0.1),
        ("5e-324", 5e-324),
        ("2.4703282292062327e-324", 0.0),
        ("2.4703282292062328e-324", 5e-324),
    ];
    for (text, expected) in numbers {
        assert_eq!(number(text), expected, "{text}");
    }
    for text in ["-0", "-0.0", "-0e5", "-1e-400"] {
        assert!(number(text) == 0.0 && number(text).is_sign_negative(), "{text} is minus zero");
    }
}

#[test]
fn numbers_are_judged_by_their_doubles() {
    // Whether it is a safe integer, a count, and a seq.
    let judged = [
        ("0", true, true, true),
        ("-0", true, false, true),
        ("-1e-400", true, false, true),
        ("1.0", true, true, true),
        ("1e0", true, true, true),
        ("-1", true, false, false),
        ("0.5", false, false, false),
        ("9007199254740991", true, true, true),
        ("9007199254740991.2", true, true, true),
        ("9007199254740992", false, false, false),
        ("9007199254740993", false, false, false),
        ("-9007199254740991", true, false, false),
        ("-9007199254740992", false, false, false),
        ("1e400", false, false, false),
        ("-1e400", false, false, false),
        ("5e-324", false, false, false),
        ("1790000000000", true, true, true),
    ];
    for (text, safe, count, seq) in judged {
        let n = number(text);
        assert_eq!((is_safe_integer(n), is_count(n), is_seq(n)), (safe, count, seq), "{text}");
    }
    assert!(!is_safe_integer(f64::NAN) && !is_count(f64::NAN) && !is_seq(f64::NAN));
}

#[test]
fn numbers_print_as_the_host_prints_them() {
    let printed = [
        (0.0, "0"),
        (-0.0, "0"),
        (1.0, "1"),
        (-1.0, "-1"),
        (0.5, "0.5"),
        (-1.5, "-1.5"),
        (1e20, "100000000000000000000"),
        (123_456_789_012_345_680_000.0, "123456789012345680000"),
        (1e21, "1e+21"),
        (-1.25e21, "-1.25e+21"),
        (1e-6, "0.000001"),
        (1.5e-6, "0.0000015"),
        (1e-7, "1e-7"),
        (-1.25e-7, "-1.25e-7"),
        (5e-324, "5e-324"),
        (f64::MAX, "1.7976931348623157e+308"),
        (9_007_199_254_740_993.0, "9007199254740992"),
        (0.1 + 0.2, "0.30000000000000004"),
        (1_790_000_000_000.25, "1790000000000.25"),
        // Halfway between two shortest forms the even one is taken, upwards or downwards.
        (number("794450129900868.25"), "794450129900868.2"),
        (number("794450129900868.75"), "794450129900868.8"),
        (number("32360734766114.8125"), "32360734766114.812"),
        (number("-1306360469902090.25"), "-1306360469902090.2"),
        (f64::INFINITY, "Infinity"),
        (f64::NEG_INFINITY, "-Infinity"),
        (f64::NAN, "NaN"),
    ];
    for (n, expected) in printed {
        assert_eq!(display(n), expected);
    }
}
