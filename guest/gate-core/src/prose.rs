//! Puts names and numbers into sentences. `core::fmt` can do more, and would be a tenth of the component.

use alloc::string::String;

/// A text of its own. One copy of the copying, instead of one at each place that answers with a fixed sentence.
#[inline(never)]
pub fn say(text: &str) -> String {
    String::from(text)
}

/// A sentence with each `%` replaced by the next value. Values are not looked into.
#[inline(never)]
pub fn fill(sentence: &str, values: &[&str]) -> String {
    let mut out = String::with_capacity(sentence.len() + values.iter().map(|value| value.len()).sum::<usize>());
    let mut values = values.iter();
    for character in sentence.chars() {
        match character {
            '%' => out.push_str(values.next().copied().unwrap_or_default()),
            _ => out.push(character),
        }
    }
    out
}

/// A whole number in decimal digits.
pub(crate) fn decimal(number: u64) -> String {
    let mut out = String::new();
    push_decimal(&mut out, number, 1);
    out
}

/// Adds a whole number in decimal digits, with zeros in front up to `width` digits.
#[inline(never)]
pub(crate) fn push_decimal(out: &mut String, number: u64, width: usize) {
    // As many digits as the largest number has.
    let mut unit: u64 = 10_000_000_000_000_000_000;
    for place in (0..20).rev() {
        if number >= unit || place < width {
            out.push(char::from(b'0' + (number.checked_div(unit).unwrap_or_default() % 10) as u8));
        }
        unit /= 10;
    }
}

/// A clause that something may follow: without the full stops, spaces and line ends at its end.
pub(crate) fn clause(text: &str) -> &str {
    let last = text.bytes().rposition(|byte| !matches!(byte, b'.' | b' ' | b'\n'));
    last.and_then(|last| text.get(..=last)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_takes_its_values_in_order_and_does_not_look_into_them() {
        assert_eq!(fill("%: é % {}", &["a%b", "c"]), "a%b: é c {}");
        assert_eq!(fill("no values", &[]), "no values");
    }

    #[test]
    fn numbers_have_no_spare_zeros_unless_asked_for() {
        for number in [0, 7, 10, 1_000_000, u64::from(u32::MAX), u64::MAX - 5, u64::MAX] {
            assert_eq!(decimal(number), alloc::format!("{number}"));
        }
        let mut out = String::new();
        push_decimal(&mut out, 7, 2);
        push_decimal(&mut out, 123, 2);
        assert_eq!(out, "07123");
    }

    #[test]
    fn a_clause_ends_before_its_full_stop() {
        for (text, expected) in [("a b. \n", "a b"), ("a", "a"), (" . ", ""), ("", ""), ("x.é", "x.é")] {
            assert_eq!(clause(text), expected);
        }
    }
}
