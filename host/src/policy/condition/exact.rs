//! Numbers of conditions as exact decimals: what is compared and calculated is what was written, never what a double rounds it
//! to. A result that neither an integer nor a double gives back digit by digit is none.

use std::cmp::Ordering;

/// A decimal: `digits × 10^exponent`, digits without zeros at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Exact {
    digits: i128,
    exponent: i32,
}

impl Exact {
    pub(super) fn of_integer(number: i128) -> Self {
        Self { digits: number, exponent: 0 }.trimmed()
    }

    /// What a double is written as, at its shortest; none where it is not finite.
    pub(super) fn of_double(number: f64) -> Option<Self> {
        if !number.is_finite() {
            return None;
        }
        let text = format!("{number:e}");
        let (mantissa, exponent) = text.split_once('e')?;
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = [whole, fraction].concat().parse().ok()?;
        let exponent: i32 = exponent.parse().ok()?;
        let behind = i32::try_from(fraction.len()).ok()?;
        Some(Self { digits, exponent: exponent.checked_sub(behind)? }.trimmed())
    }

    /// The double that is written so; none where none is.
    pub(super) fn as_double(self) -> Option<f64> {
        let double: f64 = format!("{}e{}", self.digits, self.exponent).parse().ok()?;
        (Self::of_double(double) == Some(self)).then_some(double)
    }

    pub(super) fn plus(self, other: Self) -> Option<Self> {
        let exponent = self.exponent.min(other.exponent);
        let digits = self.at(exponent)?.checked_add(other.at(exponent)?)?;
        Some(Self { digits, exponent }.trimmed())
    }

    pub(super) fn minus(self, other: Self) -> Option<Self> {
        self.plus(Self { digits: other.digits.checked_neg()?, ..other })
    }

    pub(super) fn times(self, other: Self) -> Option<Self> {
        let digits = self.digits.checked_mul(other.digits)?;
        Some(Self { digits, exponent: self.exponent.checked_add(other.exponent)? }.trimmed())
    }

    /// None where it does not end, as a third does not, or divides by zero.
    pub(super) fn over(self, other: Self) -> Option<Self> {
        if other.digits == 0 {
            return None;
        }
        let (mut digits, mut divisor) = (self.digits, other.digits);
        let mut exponent = self.exponent.checked_sub(other.exponent)?;
        loop {
            let common = common_factor(digits.unsigned_abs(), divisor.unsigned_abs())?;
            digits = digits.checked_div(common)?;
            divisor = divisor.checked_div(common)?;
            if divisor.unsigned_abs() == 1 {
                return Some(Self { digits: digits.checked_mul(divisor)?, exponent }.trimmed());
            }
            if divisor % 2 != 0 && divisor % 5 != 0 {
                return None;
            }
            digits = digits.checked_mul(10)?;
            exponent = exponent.checked_sub(1)?;
        }
    }

    /// None where one has more digits than can be told apart, which no integer and no double has.
    pub(super) fn compare(self, other: Self) -> Option<Ordering> {
        let by_sign = self.digits.signum().cmp(&other.digits.signum());
        if by_sign != Ordering::Equal || self.digits == 0 {
            return Some(by_sign);
        }
        // Of one sign: first by how many digits are before the point, then digit by digit.
        let size = |number: Self| {
            i64::from(number.exponent) + i64::from(number.digits.unsigned_abs().checked_ilog10().unwrap_or_default())
        };
        match size(self).cmp(&size(other)) {
            Ordering::Equal => {
                let exponent = self.exponent.min(other.exponent);
                Some(self.at(exponent)?.cmp(&other.at(exponent)?))
            }
            larger if self.digits < 0 => Some(larger.reverse()),
            larger => Some(larger),
        }
    }

    /// The digits with that exponent, which is no larger.
    fn at(self, exponent: i32) -> Option<i128> {
        let by = u32::try_from(self.exponent.checked_sub(exponent)?).ok()?;
        self.digits.checked_mul(10_i128.checked_pow(by)?)
    }

    fn trimmed(mut self) -> Self {
        if self.digits == 0 {
            return Self { digits: 0, exponent: 0 };
        }
        while self.digits % 10 == 0 {
            self.digits /= 10;
            self.exponent = self.exponent.saturating_add(1);
        }
        self
    }
}

/// None of zero and zero, and where it does not fit.
fn common_factor(mut one: u128, mut other: u128) -> Option<i128> {
    while other != 0 {
        (one, other) = (other, one % other);
    }
    i128::try_from(one).ok().filter(|factor| *factor != 0)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn exact(number: f64) -> Exact {
        Exact::of_double(number).unwrap()
    }

    #[test]
    fn sums_products_and_quotients_are_what_is_written() {
        let double = |number: Option<Exact>| number.and_then(Exact::as_double);
        assert_eq!(double(exact(0.1).plus(exact(0.2))), Some(0.3));
        assert_eq!(double(exact(0.3).minus(exact(0.1))), Some(0.2));
        assert_eq!(double(exact(1.1).times(exact(1.1))), Some(1.21));
        assert_eq!(double(exact(0.3).over(exact(0.1))), Some(3.0));
        assert_eq!(double(exact(-1.0).over(exact(-8.0))), Some(0.125));
        assert_eq!(double(exact(0.0).over(exact(-8.0))), Some(0.0));
        assert_eq!(double(exact(1.0).over(exact(3.0))), None);
        assert_eq!(double(exact(1.0).over(exact(0.0))), None);
        assert_eq!(double(exact(0.0).over(exact(0.0))), None);
        assert_eq!(double(exact(1e300).times(exact(1e300))), None);
        assert_eq!(double(exact(1e-300).times(exact(1e-300))), None);
        assert_eq!(double(exact(1e22).plus(exact(1.0))), None);
        assert_eq!(double(exact(1e300).plus(exact(1e-300))), None);
        assert_eq!(double(exact(9_007_199_254_740_992.0).plus(exact(1.0))), None);
        assert_eq!(double(exact(1.0).over(exact(9_007_199_254_740_991.0))), None);
        assert_eq!(Exact::of_double(f64::NAN), None);
        assert_eq!(Exact::of_double(f64::INFINITY), None);
    }

    #[test]
    fn any_two_are_compared_digit_by_digit() {
        let ascending = [
            exact(-1e300),
            Exact::of_integer(i64::MIN.into()),
            exact(-2.5),
            Exact::of_integer(-2),
            exact(-1e-300),
            exact(-0.0),
            exact(5e-324),
            exact(0.1),
            exact(0.100_000_000_000_000_02),
            Exact::of_integer(2),
            exact(10.0),
            Exact::of_integer(9_007_199_254_740_992),
            Exact::of_integer(9_007_199_254_740_993),
            Exact::of_integer(i64::MAX.into()),
            exact(9_223_372_036_854_775_808.0),
            Exact::of_integer(u64::MAX.into()),
            exact(f64::MAX),
        ];
        for (at, one) in ascending.iter().enumerate() {
            for (other_at, other) in ascending.iter().enumerate() {
                assert_eq!(one.compare(*other), Some(at.cmp(&other_at)), "{one:?} {other:?}");
            }
        }
        assert_eq!(exact(5.0), Exact::of_integer(5));
    }
}
