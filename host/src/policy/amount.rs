//! Amounts that budgets add up: exact decimals, never a double.

use std::fmt;

/// Digits behind the point that are counted.
const DECIMALS: usize = 6;

/// A decimal from 0 to about nine million millions, exact to a millionth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Amount(u64);

/// Why a number is no amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoAmount {
    /// It is below zero.
    #[error("is negative")]
    Negative,
    /// It has more digits behind the point than are counted.
    #[error("has more than six digits behind the point")]
    TooFine,
    /// It is larger than can be counted.
    #[error("is too large to be counted")]
    TooLarge,
    /// It is no plain decimal number.
    #[error("is not a number")]
    NotANumber,
}

impl Amount {
    /// Millionths.
    pub(crate) fn millionths(self) -> u64 {
        self.0
    }

    pub(crate) fn from_millionths(millionths: u64) -> Self {
        Self(millionths)
    }

    /// A decimal number as JSON writes it.
    ///
    /// # Errors
    /// It is none that can be counted.
    pub fn parse(text: &str) -> Result<Self, NoAmount> {
        let (negative, rest) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().map_err(|_| NoAmount::NotANumber)?),
            None => (rest, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || !digits(whole) || !digits(fraction) || mantissa.ends_with('.') {
            return Err(NoAmount::NotANumber);
        }
        let all = [whole, fraction].concat();
        let significant = all.trim_end_matches('0');
        let digits = significant.trim_start_matches('0');
        if digits.is_empty() {
            return Ok(Self(0));
        }
        if negative {
            return Err(NoAmount::Negative);
        }
        // digits × 10^shift millionths.
        let length = |text: &str| i64::try_from(text.len()).unwrap_or(i64::MAX);
        let dropped = length(&all).saturating_sub(length(significant));
        let decimals = i64::try_from(DECIMALS).unwrap_or_default();
        let shift = exponent.saturating_sub(length(fraction)).saturating_add(dropped).saturating_add(decimals);
        if shift < 0 {
            return Err(NoAmount::TooFine);
        }
        let scaled = u32::try_from(shift).ok().and_then(|shift| 10_u64.checked_pow(shift));
        let value = digits.parse::<u64>().ok().zip(scaled).and_then(|(digits, scale)| digits.checked_mul(scale));
        value.filter(|value| i64::try_from(*value).is_ok()).map(Self).ok_or(NoAmount::TooLarge)
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, fraction) = (self.0 / 1_000_000, self.0 % 1_000_000);
        match fraction {
            0 => write!(f, "{whole}"),
            _ => f.write_str(format!("{whole}.{fraction:06}").trim_end_matches('0')),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Result<&str, NoAmount>) {
        assert_eq!(Amount::parse(text).map(|amount| amount.to_string()), expected.map(str::to_owned), "{text}");
    }

    #[test]
    fn an_amount_is_exact_or_none() {
        for (text, shown) in [
            ("0", "0"),
            ("-0", "0"),
            ("0.000", "0"),
            ("1", "1"),
            ("6.20", "6.2"),
            ("62e-1", "6.2"),
            ("0.1", "0.1"),
            ("0.000001", "0.000001"),
            ("1e6", "1000000"),
            ("1E+3", "1000"),
            ("10.0000000", "10"),
            ("007.5", "7.5"),
            ("9223372036854.775807", "9223372036854.775807"),
        ] {
            check(text, Ok(shown));
        }
        for (text, why) in [
            ("-1", NoAmount::Negative),
            ("-0.0000001", NoAmount::Negative),
            ("0.0000001", NoAmount::TooFine),
            ("1e-7", NoAmount::TooFine),
            ("1e-99999999", NoAmount::TooFine),
            ("9223372036854.775808", NoAmount::TooLarge),
            ("1e21", NoAmount::TooLarge),
            ("1e99999999", NoAmount::TooLarge),
            ("99999999999999999999999999999999", NoAmount::TooLarge),
            ("1e99999999999999999999", NoAmount::NotANumber),
            ("", NoAmount::NotANumber),
            ("-", NoAmount::NotANumber),
            (".5", NoAmount::NotANumber),
            ("5.", NoAmount::NotANumber),
            ("1,5", NoAmount::NotANumber),
            ("+1", NoAmount::NotANumber),
            ("0x1", NoAmount::NotANumber),
            ("NaN", NoAmount::NotANumber),
        ] {
            check(text, Err(why));
        }
    }
}
