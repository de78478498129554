//! A budget as the operator writes it, and what a call costs of it. Counts nothing itself: that is the store's part.
//!
//! A period is counted in stretches of a sixty-fourth of it, so that an account is a few dozen numbers however many calls there
//! are. A stretch counts until the last moment of it is older than the period: never too little, and too long by one stretch at
//! most.

mod written;

use self::written::{path, period};
use super::{Amount, Tools};
use crate::canonical::Json;
use crate::digest::Digest;
use crate::store::{Account, Charge, Spent};
use crate::{Error, ErrorKind};
use std::fmt;
use std::time::Duration;

/// Into how many stretches a period is cut.
const STRETCHES: u64 = 64;
/// Shortest and longest period.
const PERIODS: std::ops::RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_hours(366 * 24);

/// How much each owner may do in a period: so many calls, or a sum of one of their arguments.
///
/// ```
/// use counterfoil::policy::{Amount, Budget};
/// use std::time::Duration;
///
/// let day = Duration::from_hours(24);
/// Budget::calls("delete_file", 20, day)?;
/// Budget::sum("refund", "args.amount", Amount::parse("500.00")?, day)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Budget {
    pub(crate) tools: Tools,
    pub(crate) counts: Counts,
    pub(crate) per: Duration,
}

/// What a budget counts, and how much of it there may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Counts {
    /// Runs.
    Calls(u64),
    /// The sum of an argument.
    Sum {
        /// The names on the way to the argument.
        path: Vec<String>,
        /// The most.
        at_most: Amount,
    },
}

impl Budget {
    /// So many runs of these tools together, for each owner and period.
    ///
    /// # Errors
    /// [`ErrorKind::Policy`]: none at all (deny them by a rule), or a period under a second or over a year.
    pub fn calls(tools: impl Into<Tools>, at_most: u64, per: Duration) -> Result<Self, Error> {
        Self::of_calls(tools.into(), at_most, per).map_err(Error::from)
    }

    /// So much of one argument (`args.amount`, `args.payment.amount`), for each owner and period.
    ///
    /// # Errors
    /// [`ErrorKind::Policy`]: no path to an argument, nothing at all, or a period under a second or over a year.
    pub fn sum(tools: impl Into<Tools>, argument: &str, at_most: Amount, per: Duration) -> Result<Self, Error> {
        Self::of_sum(tools.into(), argument, at_most, per).map_err(Error::from)
    }

    pub(crate) fn of_calls(tools: Tools, at_most: u64, per: Duration) -> Result<Self, Wrong> {
        if at_most == 0 || i64::try_from(at_most).is_err() {
            return Err(Wrong::NoCalls);
        }
        Self { tools, counts: Counts::Calls(at_most), per }.checked()
    }

    pub(crate) fn of_sum(tools: Tools, argument: &str, at_most: Amount, per: Duration) -> Result<Self, Wrong> {
        let path = path(argument).ok_or(Wrong::Path)?;
        if at_most.millionths() == 0 {
            return Err(Wrong::Nothing);
        }
        Self { tools, counts: Counts::Sum { path, at_most }, per }.checked()
    }

    fn checked(self) -> Result<Self, Wrong> {
        if PERIODS.contains(&self.per) { Ok(self) } else { Err(Wrong::Period) }
    }

    /// The tools that it is about.
    pub fn tools(&self) -> &Tools {
        &self.tools
    }

    /// What it counts.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// In which time.
    pub fn per(&self) -> Duration {
        self.per
    }

    /// What it counts, without how much there may be: two budgets that count the same have one account.
    pub(crate) fn subject(&self) -> Vec<String> {
        let mut fields = vec![self.per.as_millis().to_string(), self.tools.to_string()];
        match &self.counts {
            Counts::Calls(_) => fields.push("calls".into()),
            Counts::Sum { path, .. } => {
                fields.push("sum".into());
                fields.extend(path.iter().cloned());
            }
        }
        fields
    }

    /// Where it is counted for an owner. The limit is not part of it, so that a changed one starts no new count.
    pub(crate) fn account(&self, owner: &str) -> Account {
        let mut digest = Digest::new("counterfoil budget");
        digest.field(owner);
        for field in self.subject() {
            digest.field(field);
        }
        digest.bytes()
    }

    /// What a call costs. The error says what is wrong with the argument and quotes nothing of it.
    pub(crate) fn cost(&self, arguments: &Json<'_>) -> Result<u64, String> {
        let Counts::Sum { path, .. } = &self.counts else { return Ok(1) };
        let mut value = Some(arguments);
        for name in path {
            value = match value {
                Some(Json::Object(entries)) => entries.iter().find(|(key, _)| key == name).map(|(_, value)| value),
                _ => None,
            };
        }
        let wrong = |what: &str| format!("args.{}, which it counts, {what}", path.join("."));
        match value {
            Some(Json::Number(text)) => Amount::parse(text).map(Amount::millionths).map_err(|e| wrong(&e.to_string())),
            Some(_) => Err(wrong("is not a number")),
            None => Err(wrong("is missing")),
        }
    }

    /// The most that there may be, in what [`cost`](Self::cost) counts.
    pub(crate) fn at_most(&self) -> u64 {
        match &self.counts {
            Counts::Calls(at_most) => *at_most,
            Counts::Sum { at_most, .. } => at_most.millionths(),
        }
    }

    fn per_millis(&self) -> u64 {
        u64::try_from(self.per.as_millis()).unwrap_or(u64::MAX)
    }

    fn stretch(&self) -> u64 {
        (self.per_millis() / STRETCHES).max(1)
    }

    /// Stretches that begin then or later count at this time.
    pub(crate) fn since(&self, now: u64) -> u64 {
        now.saturating_sub(self.per_millis().saturating_add(self.stretch())).saturating_add(1)
    }

    /// The charge of a call at this time.
    pub(crate) fn charge(&self, account: Account, amount: u64, now: u64) -> Charge {
        let slot = now - now % self.stretch();
        let purge_after = slot.saturating_add(self.stretch()).saturating_add(self.per_millis());
        Charge { account, slot, amount, since: self.since(now), at_most: self.at_most(), purge_after }
    }

    /// In how many milliseconds a call that costs so much fits, if nothing else is spent; none: never.
    pub(crate) fn fits_in(&self, spent: &[Spent], amount: u64, now: u64) -> Option<u64> {
        let mut total = spent.iter().fold(amount, |sum, spent| sum.saturating_add(spent.amount));
        if total <= self.at_most() {
            return Some(0);
        }
        for Spent { slot, amount } in spent {
            total = total.saturating_sub(*amount);
            if total <= self.at_most() {
                let free = slot.saturating_add(self.stretch()).saturating_add(self.per_millis());
                return Some(free.saturating_sub(now));
            }
        }
        None
    }

    /// An amount as a person reads it.
    pub(crate) fn shown(&self, amount: u64) -> String {
        match self.counts {
            Counts::Calls(_) => amount.to_string(),
            Counts::Sum { .. } => Amount::from_millionths(amount).to_string(),
        }
    }
}

/// What it allows: `20 calls in 24h`, `500 of args.amount in 24h`.
impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let per = period(self.per);
        match &self.counts {
            Counts::Calls(1) => write!(f, "1 call in {per}"),
            Counts::Calls(at_most) => write!(f, "{at_most} calls in {per}"),
            Counts::Sum { path, at_most } => write!(f, "{at_most} of args.{} in {per}", path.join(".")),
        }
    }
}

/// What is wrong with a budget, by the part of it that is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Wrong {
    /// How many calls.
    #[error("a budget allows at least one call: to allow none, write a rule with when = \"true\" and deny = true")]
    NoCalls,
    /// What is added up.
    #[error(
        "this is no path to an argument, and a sum calculates nothing: write for instance \"args.amount\", or \
         'args[\"the amount\"]' where the name is no word"
    )]
    Path,
    /// How much of it.
    #[error("a budget allows more than nothing: to allow nothing, write a rule that denies")]
    Nothing,
    /// The period.
    #[error("a period lasts from a second to a year: write for instance \"24h\"")]
    Period,
}

impl From<Wrong> for Error {
    fn from(wrong: Wrong) -> Self {
        Self::new(ErrorKind::Policy, wrong.to_string())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]
    use super::*;
    use crate::canonical;

    const HOUR: u64 = 3_600_000;

    fn hourly(at_most: u64) -> Budget {
        Budget::calls("pay", at_most, Duration::from_hours(1)).unwrap()
    }

    #[track_caller]
    fn cost(arguments: &str, expected: Result<u64, &str>) {
        let budget =
            Budget::sum("pay", "args.payment.amount", Amount::parse("5").unwrap(), Duration::from_hours(1)).unwrap();
        match (budget.cost(&canonical::read(arguments).unwrap()), expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{arguments}"),
            (Err(found), Err(expected)) => assert!(found.contains(expected), "{arguments}: {found}"),
            (found, _) => panic!("{arguments}: {found:?}"),
        }
    }

    #[test]
    fn a_call_costs_what_its_argument_says_exactly_or_has_no_cost() {
        cost(r#"{"payment":{"amount":0.1}}"#, Ok(100_000));
        cost(r#"{"payment":{"amount":9007199254740.993}}"#, Ok(9_007_199_254_740_993_000));
        cost(r#"{"payment":{"amount":"5"}}"#, Err("args.payment.amount, which it counts, is not a number"));
        cost(r#"{"payment":{"amount":-5}}"#, Err("is negative"));
        cost(r#"{"payment":{"amount":1e-7}}"#, Err("more than six digits"));
        cost(r#"{"payment":{"amount":1e+21}}"#, Err("too large"));
        cost(r#"{"payment":{}}"#, Err("is missing"));
        cost(r#"{"payment":5}"#, Err("is missing"));
        cost(r#"{"amount":5}"#, Err("is missing"));
    }

    #[test]
    fn a_stretch_counts_until_its_last_moment_is_older_than_the_period() {
        let budget = hourly(1);
        let stretch = HOUR / STRETCHES;
        for now in [10 * HOUR, 10 * HOUR + 1, 10 * HOUR + stretch - 1] {
            let charge = budget.charge([0; 32], 1, now);
            assert!(charge.slot <= now && now < charge.slot + stretch);
            assert!(charge.slot >= budget.since(now + HOUR), "it counts for the whole period");
            assert!(charge.slot >= budget.since(charge.purge_after - 1));
            assert!(charge.slot < budget.since(charge.purge_after), "and no longer than it is kept");
            assert!(charge.purge_after <= now + HOUR + stretch);
        }
        assert_eq!(budget.since(0), 1);
        assert_eq!(hourly(1).charge([0; 32], 1, 0).slot, 0);
    }

    #[test]
    fn what_is_told_of_waiting_is_when_it_fits() {
        let budget = hourly(3);
        let stretch = HOUR / STRETCHES;
        let spent = [Spent { slot: 0, amount: 1 }, Spent { slot: stretch, amount: 2 }];
        assert_eq!(budget.fits_in(&spent[..1], 2, 500), Some(0));
        assert_eq!(budget.fits_in(&spent, 1, 500), Some(HOUR + stretch - 500));
        assert_eq!(budget.fits_in(&spent, 2, 500), Some(HOUR + 2 * stretch - 500));
        assert_eq!(budget.fits_in(&spent, 4, 500), None);
    }

    #[test]
    fn an_account_is_of_what_is_counted_and_of_one_owner() {
        let one = hourly(1);
        assert_eq!(one.account("os:a"), hourly(9).account("os:a"), "a changed limit goes on counting");
        let day = Budget::calls("pay", 1, Duration::from_hours(24)).unwrap();
        let sum = Budget::sum("pay", "args.n", Amount::parse("1").unwrap(), Duration::from_hours(1)).unwrap();
        for other in [one.account("os:b"), day.account("os:a"), sum.account("os:a")] {
            assert_ne!(one.account("os:a"), other);
        }
    }

    #[test]
    fn what_allows_nothing_or_has_no_period_is_no_budget() {
        let hour = Duration::from_hours(1);
        let five = Amount::parse("5").unwrap();
        assert!(Budget::calls("pay", 0, hour).is_err());
        assert!(Budget::calls("pay", u64::MAX, hour).is_err());
        assert!(Budget::calls("pay", 1, Duration::from_millis(999)).is_err());
        assert!(Budget::calls("pay", 1, Duration::from_hours(367 * 24)).is_err());
        assert!(Budget::sum("pay", "args.amount", Amount::parse("0").unwrap(), hour).is_err());
        for path in ["", "amount", "args", "args.", "args..a", "args.a."] {
            let said = Budget::sum("pay", path, five, hour).unwrap_err().to_string();
            assert!(said.contains("no path to an argument"), "{path}: {said}");
        }
        assert_eq!(Budget::sum("pay", "args.a.b", five, hour).unwrap().to_string(), "5 of args.a.b in 1h");
    }
}
