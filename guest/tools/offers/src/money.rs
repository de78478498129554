//! Exact decimals: amounts of money and percentages. Six decimals, up to a million million; nothing else is read, and
//! nothing is rounded but where a function says so.

use crate::json::Json;
use std::fmt;

const DECIMALS: usize = 6;
const ONE: i128 = 1_000_000;
/// What one cent is in units.
const CENT: i128 = ONE / 100;
/// Greatest amount, in units. Products of two stay far from the end of the type.
const MAX: i128 = 1_000_000_000_000 * ONE;
/// Longest number that is looked at: canonical arguments may have a thousand digits.
const MAX_TEXT: usize = 64;

/// In millionths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Decimal(i128);

impl Decimal {
    pub const ZERO: Self = Self(0);

    pub const fn whole(number: u64) -> Self {
        Self(number as i128 * ONE)
    }

    /// A JSON number in any spelling (`6.2`, `62e-1`), or a text that is a plain decimal (`"6.20"`).
    pub fn of(json: &Json) -> Option<Self> {
        match json {
            Json::Number(text) => Self::parse(text),
            Json::Text(text) if !text.contains(['e', 'E', '+']) => Self::parse(text),
            _ => None,
        }
    }

    fn parse(text: &str) -> Option<Self> {
        if text.len() > MAX_TEXT {
            return None;
        }
        let (negative, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
            None => (text, 0),
        };
        let (whole, fraction) = match mantissa.split_once('.') {
            Some((_, "")) => return None,
            Some(parts) => parts,
            None => (mantissa, ""),
        };
        if whole.is_empty() || !whole.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let digits = format!("{whole}{fraction}");
        let significant = digits.trim_end_matches('0');
        if significant.is_empty() {
            return Some(Self::ZERO);
        }
        let dropped = i32::try_from(digits.len() - significant.len()).ok()?;
        let scale = exponent.checked_sub(i32::try_from(fraction.len()).ok()?)?.checked_add(dropped)?;
        let shift = u32::try_from(scale.checked_add(i32::try_from(DECIMALS).ok()?)?).ok()?;
        let units = significant.parse::<i128>().ok()?.checked_mul(10i128.checked_pow(shift)?)?;
        (units <= MAX).then_some(Self(if negative { -units } else { units }))
    }

    pub fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    pub fn minus(self, other: Self) -> Self {
        self.plus(Self(-other.0))
    }

    pub fn abs(self) -> Self {
        Self(self.0.abs())
    }

    pub fn is_positive(self) -> bool {
        self.0 > 0
    }

    pub fn is_whole_cents(self) -> bool {
        self.0 % CENT == 0
    }

    /// Changed by so many percent, to whole cents, half away from zero. Nothing where that is more than an amount can be.
    pub fn changed_by(self, percent: Self) -> Option<Self> {
        let exact = self.0.checked_mul(100 * ONE + percent.0)?;
        let units = rounded(exact, 100 * ONE * CENT).checked_mul(CENT)?;
        (units.abs() <= MAX).then_some(Self(units))
    }

    /// From this to another in tenths of a percent, half away from zero. Nothing where this is zero.
    pub fn change_to(self, new: Self) -> Option<Tenths> {
        (self.0 != 0).then(|| Tenths(rounded((new.0 - self.0).saturating_mul(1_000), self.0.abs())))
    }

    /// Without decimals where it is whole, else as always: for figures that are no price.
    pub fn short(self) -> String {
        if self.0 % ONE == 0 { (self.0 / ONE).to_string() } else { self.to_string() }
    }

    /// As the data and the details have it.
    pub fn json(self) -> Json {
        Json::text(self.to_string())
    }
}

/// At least two decimals, more where it has them: `4.50`, `0.0375`.
impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let (whole, fraction) =
            (self.0.unsigned_abs() / ONE.unsigned_abs(), self.0.unsigned_abs() % ONE.unsigned_abs());
        let fraction = format!("{fraction:06}");
        let (always, rest) = fraction.split_at(2);
        write!(f, "{sign}{whole}.{always}{}", rest.trim_end_matches('0'))
    }
}

/// Tenths of a percent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tenths(i128);

impl Tenths {
    /// `37.8`, `-5`.
    pub fn json(self) -> Json {
        let text = self.digits();
        Json::Number(text.strip_suffix(".0").unwrap_or(&text).to_owned())
    }

    fn digits(self) -> String {
        let size = self.0.unsigned_abs();
        format!("{}{}.{}", if self.0 < 0 { "-" } else { "" }, size / 10, size % 10)
    }
}

/// `+37.8%`.
impl fmt::Display for Tenths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}%", if self.0 < 0 { "" } else { "+" }, self.digits())
    }
}

/// A quotient, half away from zero. The divisor is positive.
fn rounded(number: i128, divisor: i128) -> i128 {
    let (size, divisor) = (number.unsigned_abs(), divisor.unsigned_abs());
    let size = size / divisor + u128::from(size % divisor >= divisor.div_ceil(2));
    let size = i128::try_from(size).unwrap_or(i128::MAX);
    if number < 0 { -size } else { size }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Decimal {
        Decimal::parse(text).unwrap()
    }

    #[test]
    fn every_spelling_of_a_number_is_the_same_amount() {
        for text in ["6.2", "6.20", "62e-1", "0.62e1", "6.2000000000", "620E-2", "0.0062e+3"] {
            assert_eq!(decimal(text).to_string(), "6.20", "{text}");
        }
        for (text, shown) in [
            ("0", "0.00"),
            ("-0", "0.00"),
            ("0e9999", "0.00"),
            ("1e3", "1000.00"),
            ("0.0375", "0.0375"),
            ("0.000001", "0.000001"),
            ("-12.5", "-12.50"),
            ("1000000000000", "1000000000000.00"),
            ("9007199254.740993", "9007199254.740993"),
        ] {
            assert_eq!(decimal(text).to_string(), shown);
        }
    }

    #[test]
    fn what_would_have_to_be_rounded_or_is_no_number_is_not_read() {
        let long = "1".repeat(65);
        for text in [
            "",
            "-",
            ".5",
            "5.",
            "1.0000001",
            "1e-7",
            "1000000000000.01",
            "1e13",
            "1e99999999999",
            "1,5",
            "٣",
            "0x1",
            " 1",
            &long,
        ] {
            assert_eq!(Decimal::parse(text), None, "{text}");
        }
        assert_eq!(Decimal::of(&Json::text("62e-1")), None);
        assert_eq!(Decimal::of(&Json::text("6.20")), Some(decimal("6.2")));
        assert_eq!(Decimal::of(&Json::Number("6.2".to_owned())), Some(decimal("6.2")));
        assert_eq!(Decimal::of(&Json::Null), None);
    }

    #[test]
    fn a_change_is_told_in_tenths_half_away_from_zero() {
        for (old, new, number, shown) in [
            ("4.50", "6.20", "37.8", "+37.8%"),
            ("6.20", "4.50", "-27.4", "-27.4%"),
            ("1", "1.5", "50", "+50.0%"),
            ("2", "2.001", "0.1", "+0.1%"),
            ("2", "1.999", "-0.1", "-0.1%"),
            ("2", "2.000999", "0", "+0.0%"),
            ("3", "3.0015", "0.1", "+0.1%"),
            ("0.000003", "0.000004", "33.3", "+33.3%"),
            ("0.000007", "0.000008", "14.3", "+14.3%"),
            ("1", "0", "-100", "-100.0%"),
        ] {
            let change = decimal(old).change_to(decimal(new)).unwrap();
            assert_eq!(
                (change.json().to_string().as_str(), change.to_string().as_str()),
                (number, shown),
                "{old} {new}"
            );
        }
        assert_eq!(Decimal::ZERO.change_to(decimal("1")), None);
    }

    #[test]
    fn a_percentage_of_an_amount_is_whole_cents() {
        for (amount, percent, expected) in [
            ("19.90", "10", "21.89"),
            ("0.05", "10", "0.06"),
            ("0.05", "-10", "0.05"),
            ("0.04", "-10", "0.04"),
            ("33.33", "-33.33", "22.22"),
            ("100", "0.01", "100.01"),
        ] {
            let changed = decimal(amount).changed_by(decimal(percent)).unwrap();
            assert_eq!(changed.to_string(), expected, "{amount} {percent}");
        }
        assert_eq!(decimal("1000000000000").changed_by(decimal("1")), None);
    }

    #[test]
    fn quotients_are_rounded_half_away_from_zero() {
        for (number, divisor, expected) in [
            (5, 10, 1),
            (4, 10, 0),
            (-5, 10, -1),
            (1, 3, 0),
            (2, 3, 1),
            (-2, 3, -1),
            (7, 7, 1),
            (3, 7, 0),
            (4, 7, 1),
            (0, 7, 0),
        ] {
            assert_eq!(rounded(number, divisor), expected, "{number}/{divisor}");
        }
    }

    #[test]
    fn figures_are_short_where_they_are_whole() {
        assert_eq!((decimal("1247").short(), decimal("1247.5").short()), ("1247".into(), "1247.50".into()));
        assert_eq!(decimal("0.1").plus(decimal("0.2")), decimal("0.3"));
        assert!(decimal("0.000001").is_positive() && !Decimal::ZERO.is_positive());
    }
}
