//! Values as the loader looks at them.

use super::naive::Value;

/// Returns a member of an object.
pub fn get<'a>(value: &'a Value, key: &str) -> Option<&'a Value> {
    let Value::Object(members) = value else { return None };
    let is_it = |(own, _): &&(Vec<u16>, Value)| own.iter().copied().eq(key.encode_utf16());
    members.iter().find(is_it).map(|(_, value)| value)
}

pub fn number(value: Option<&Value>) -> Option<f64> {
    match value {
        Some(Value::Number(number)) => Some(*number),
        _ => None,
    }
}

/// Whether a double is a safe integer.
pub fn is_safe(number: f64) -> bool {
    number.fract() == 0.0 && number.abs() <= 9_007_199_254_740_991.0
}

pub fn is_text(value: &Value, text: &str) -> bool {
    matches!(value, Value::String(units) if units.iter().copied().eq(text.encode_utf16()))
}

pub fn has_exactly(value: &Value, needed: &[&str], allowed: &[&str]) -> bool {
    let Value::Object(members) = value else { return false };
    let is_one =
        |key: &[u16], of: &[&str]| of.iter().any(|it| key.iter().copied().eq(it.encode_utf16()));
    needed.iter().all(|key| get(value, key).is_some())
        && members.iter().all(|(key, _)| is_one(key, needed) || is_one(key, allowed))
}

pub fn is_object(value: Option<&Value>) -> bool {
    matches!(value, Some(Value::Object(_)))
}

pub fn is_string(value: Option<&Value>) -> bool {
    matches!(value, Some(Value::String(_)))
}

pub fn is_name(value: Option<&Value>) -> bool {
    matches!(value, Some(Value::String(units)) if !units.is_empty())
}

pub fn is_seq(value: Option<&Value>) -> bool {
    number(value).is_some_and(|number| is_safe(number) && number >= 0.0)
}

/// A whole number from 0 on that is not minus zero.
pub fn is_count(value: Option<&Value>) -> bool {
    is_seq(value) && number(value).is_some_and(|number| !number.is_sign_negative())
}

pub fn text(text: &str) -> Value {
    Value::String(text.encode_utf16().collect())
}

pub fn object(members: &[(&str, Value)]) -> Value {
    let member = |(key, value): &(&str, Value)| (key.encode_utf16().collect(), value.clone());
    Value::Object(members.iter().map(member).collect())
}

/// An object without some members and with others set.
pub fn changed(value: &Value, without: &[&str], with: &[(&str, Value)]) -> Value {
    let Value::Object(members) = value else { return value.clone() };
    let is = |key: &[u16], name: &str| key.iter().copied().eq(name.encode_utf16());
    let gone = |key: &[u16]| {
        without.iter().any(|it| is(key, it)) || with.iter().any(|(it, _)| is(key, it))
    };
    let mut kept: Vec<_> = members.iter().filter(|(key, _)| !gone(key)).cloned().collect();
    kept.extend(with.iter().map(|(key, value)| (key.encode_utf16().collect(), value.clone())));
    Value::Object(kept)
}
