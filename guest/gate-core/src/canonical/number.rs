//! Numbers: the exact decimal value that was sent, in the layout of ECMAScript's `Number::toString`.

use alloc::string::String;
use core::ops::Range;

use super::Limits;
use super::fault::{Fault, Stop, What};
use crate::prose::push_decimal;

/// Up to this many digits before the point a number is written without an exponent (ECMA-262, `Number::toString`).
const PLAIN_DIGITS: i64 = 21;
/// Up to this many zeros between the point and the first digit a number is written without an exponent.
const PLAIN_ZEROS: i64 = 5;

/// A number as it is spelled: where its parts are in the text.
#[derive(Debug)]
pub(super) struct Number {
    pub(super) start: usize,
    pub(super) end: usize,
    negative: bool,
    whole: Range<usize>,
    fraction: Range<usize>,
    /// Saturates far above every limit.
    exponent: Option<i64>,
}

/// The length of the number at `start` if it is an integer that is its own canonical form. Else [`read`] has to look.
pub(super) fn plain_integer(bytes: &[u8], start: usize, limits: &Limits) -> Option<usize> {
    let rest = bytes.get(start..)?;
    let (sign, digits) = rest.strip_prefix(b"-").map_or((0, rest), |digits| (1, digits));
    let length = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let plain = match digits.first()? {
        b'1'..=b'9' => length as i64 <= PLAIN_DIGITS,
        b'0' => length == 1 && sign == 0,
        _ => false,
    };
    let ends = !matches!(digits.get(length), Some(b'.' | b'e' | b'E'));
    (plain && ends && sign + length <= limits.max_number as usize).then_some(sign + length)
}

/// Reads the number at `start`, within the limits as it is spelled.
pub(super) fn read(bytes: &[u8], start: usize, limits: &Limits) -> Result<Number, Stop> {
    let at = |place: usize| bytes.get(place).copied();
    let negative = at(start) == Some(b'-');
    let whole = digits(bytes, start + usize::from(negative))?;
    if whole.len() > 1 && at(whole.start) == Some(b'0') {
        return Err(Fault::new(whole.start, What::LeadingZero));
    }
    let mut end = whole.end;
    let mut fraction = end..end;
    if at(end) == Some(b'.') {
        fraction = digits(bytes, end + 1)?;
        end = fraction.end;
    }
    let mut exponent = None;
    if matches!(at(end), Some(b'e' | b'E')) {
        let sign = at(end + 1).filter(|byte| matches!(byte, b'+' | b'-'));
        let places = digits(bytes, end + 1 + usize::from(sign.is_some()))?;
        end = places.end;
        let magnitude = bytes.get(places).unwrap_or_default().iter().fold(0_i64, |value, digit| {
            value.saturating_mul(10).saturating_add(i64::from(digit & 0x0f)).min(i64::from(u32::MAX) + 1)
        });
        exponent = Some(if sign == Some(b'-') { -magnitude } else { magnitude });
    }
    let characters = end - start;
    if characters > limits.max_number as usize {
        return Err(Fault::new(start, What::NumberTooLong { characters }));
    }
    if exponent.is_some_and(|exponent| exponent.unsigned_abs() > u64::from(limits.max_exponent)) {
        return Err(Fault::new(start, What::Exponent));
    }
    Ok(Number { start, end, negative, whole, fraction, exponent })
}

/// One or more digits at `from`.
fn digits(bytes: &[u8], from: usize) -> Result<Range<usize>, Stop> {
    let rest = bytes.get(from..).unwrap_or_default();
    match rest.iter().take_while(|byte| byte.is_ascii_digit()).count() {
        0 if rest.is_empty() => Err(Fault::new(bytes.len(), What::End)),
        0 => Err(Fault::new(from, What::DigitExpected)),
        length => Ok(from..from + length),
    }
}

impl Number {
    /// Appends the canonical form. `digits` is room for work.
    pub(super) fn write(&self, text: &str, limits: &Limits, digits: &mut String, out: &mut String) -> Result<(), Stop> {
        let defect = || Fault::new(self.start, What::Defect);
        digits.clear();
        digits.push_str(text.get(self.whole.clone()).ok_or_else(defect)?);
        digits.push_str(text.get(self.fraction.clone()).ok_or_else(defect)?);
        let zeros = digits.bytes().take_while(|&digit| digit == b'0').count();
        let significant = digits.get(zeros..).ok_or_else(defect)?;
        // The value is 0.significant times ten to the power of `point`.
        let point = self.whole.len() as i64 - zeros as i64 + self.exponent.unwrap_or(0);
        let spare = significant.bytes().rev().take_while(|&digit| digit == b'0').count();
        let significant = significant.get(..significant.len() - spare).ok_or_else(defect)?;

        let start = out.len();
        let exponent = layout(significant, point, self.negative, out).ok_or_else(defect)?;
        if exponent.unsigned_abs() > u64::from(limits.max_exponent) {
            return Err(Fault::new(self.start, What::ExponentCanonical));
        }
        let characters = out.len() - start;
        if characters > limits.max_number as usize {
            return Err(Fault::new(self.start, What::NumberTooLongCanonical { characters }));
        }
        Ok(())
    }
}

/// ECMA-262, `Number::toString` with radix 10: `digits` are its s without zeros at either end, `point` is its n. Returns
/// the exponent that was written, 0 where none was.
fn layout(digits: &str, point: i64, negative: bool, out: &mut String) -> Option<i64> {
    let length = digits.len() as i64;
    if length == 0 {
        out.push('0');
        return Some(0);
    }
    if negative {
        out.push('-');
    }
    if !(-PLAIN_ZEROS..=PLAIN_DIGITS).contains(&point) {
        let (first, rest) = digits.split_at_checked(1)?;
        out.push_str(first);
        if !rest.is_empty() {
            out.push('.');
            out.push_str(rest);
        }
        out.push_str(if point > 0 { "e+" } else { "e-" });
        push_decimal(out, (point - 1).unsigned_abs(), 1);
        return Some(point - 1);
    }
    if point <= 0 {
        out.push_str("0.");
        out.extend((point..0).map(|_| '0'));
        out.push_str(digits);
    } else if point >= length {
        out.push_str(digits);
        out.extend((length..point).map(|_| '0'));
    } else {
        let (whole, fraction) = digits.split_at_checked(usize::try_from(point).ok()?)?;
        out.push_str(whole);
        out.push('.');
        out.push_str(fraction);
    }
    Some(0)
}
