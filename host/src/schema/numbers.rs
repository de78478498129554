//! Numbers of any size in front of a checker that only knows doubles.

use serde_json::Value;
use std::borrow::Cow;
use std::ops::Range;

/// Keywords whose answer depends on a number's value.
const WEIGHING: [&str; 5] = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];

/// Whether a schema, anywhere, weighs a number: bounds one, names one, or compares items with each other.
pub(super) fn weighed(schema: &Value) -> bool {
    match schema {
        Value::Object(entries) => entries.iter().any(|(key, value)| match key.as_str() {
            key if WEIGHING.contains(&key) => true,
            "uniqueItems" => value != &Value::Bool(false),
            "const" | "enum" => names_number(value),
            _ => weighed(value),
        }),
        Value::Array(items) => items.iter().any(weighed),
        _ => false,
    }
}

fn names_number(value: &Value) -> bool {
    match value {
        Value::Number(_) => true,
        Value::Array(items) => items.iter().any(names_number),
        Value::Object(entries) => entries.values().any(names_number),
        _ => false,
    }
}

/// The first number of a JSON text that is not exactly the shortest decimal of its double.
pub(super) fn unfaithful(text: &str) -> Option<&str> {
    numbers(text).filter_map(|range| text.get(range)).find(|number| !faithful(number))
}

/// The text with numbers that JSON readers choke on, or round to an integer, replaced by others of their kind: an integer
/// by an integer, a fraction by a fraction. For schemas that look no closer than that.
pub(super) fn tamed(text: &str) -> Cow<'_, str> {
    let mut out: Option<(String, usize)> = None;
    for range in numbers(text) {
        let Some(number) = text.get(range.clone()) else { continue };
        if faithful(number) {
            continue;
        }
        let (tamed, copied) = out.get_or_insert_with(|| (String::with_capacity(text.len()), 0));
        tamed.push_str(text.get(*copied..range.start).unwrap_or_default());
        // An integer is one whose decimal has no digit behind the point.
        tamed.push_str(if decimal(number).is_some_and(|decimal| decimal.exponent >= 0) { "1" } else { "0.5" });
        *copied = range.end;
    }
    match out {
        Some((mut tamed, copied)) => {
            tamed.push_str(text.get(copied..).unwrap_or_default());
            Cow::Owned(tamed)
        }
        None => Cow::Borrowed(text),
    }
}

/// Whether a double holds a number: its shortest decimal is that very number.
pub(super) fn faithful(number: &str) -> bool {
    let Ok(double) = number.parse::<f64>() else { return false };
    double.is_finite() && decimal(number).is_some_and(|exact| Some(exact) == decimal(&format!("{double:e}")))
}

/// Where the numbers of a valid JSON text are.
fn numbers(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while let Some(byte) = bytes.get(at) {
            match byte {
                b'"' => at = end_of_string(bytes, at),
                b'-' | b'0'..=b'9' => {
                    let start = at;
                    while matches!(bytes.get(at), Some(b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9')) {
                        at += 1;
                    }
                    return Some(start..at);
                }
                _ => at += 1,
            }
        }
        None
    })
}

fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    at
}

/// An exact decimal: `digits × 10^exponent`, digits without zeros at either end; zero has none and is never negative.
#[derive(Debug, PartialEq, Eq)]
struct Decimal {
    negative: bool,
    digits: String,
    exponent: i64,
}

fn decimal(number: &str) -> Option<Decimal> {
    let (negative, rest) = number.strip_prefix('-').map_or((false, number), |rest| (true, rest));
    let (mantissa, exponent) = rest.split_once(['e', 'E']).unwrap_or((rest, "0"));
    let exponent: i64 = exponent.parse().ok()?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = [whole, fraction].concat();
    let significant = all.trim_start_matches('0');
    let digits = significant.trim_end_matches('0');
    if digits.is_empty() {
        return Some(Decimal { negative: false, digits: String::new(), exponent: 0 });
    }
    let exponent = exponent.checked_sub(fraction.len() as i64)?;
    let exponent = exponent.checked_add((significant.len() - digits.len()) as i64)?;
    Some(Decimal { negative, digits: digits.to_owned(), exponent })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(number: &str, expected: bool) {
        assert_eq!(faithful(number), expected, "{number}");
    }

    #[test]
    fn a_number_is_faithful_when_its_double_gives_it_back() {
        for number in
            ["0", "-0", "0.0", "1", "-1", "6.20", "62e-1", "0.1", "1e21", "1E+21", "5e-324", "9007199254740992"]
        {
            check(number, true);
        }
        for number in ["9007199254740993", "1e400", "-1e400", "1e-400", "0.30000000000000001", "1e99999999999999999999"]
        {
            check(number, false);
        }
    }

    #[test]
    fn numbers_are_found_outside_strings_only() {
        let text = r#"{"a1":[1,-2.5e+3,"4 \" 5"],"b":6}"#;
        let found: Vec<_> = numbers(text).filter_map(|range| text.get(range)).collect();
        assert_eq!(found, ["1", "-2.5e+3", "6"]);
    }
}
