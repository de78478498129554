//! What budgets are counted in: for each account an amount in each stretch of time, changed for several accounts at once or
//! for none.

use super::Unavailable;

/// Names what one budget counts for one owner: a digest.
pub type Account = [u8; 32];

/// An amount that is added to an account, or taken back from it. Times in milliseconds since 1970-01-01T00:00:00Z;
/// amounts and limits below 2^63.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Charge {
    /// The account.
    pub account: Account,
    /// When the stretch of time began in which it is counted.
    pub slot: u64,
    /// How much.
    pub amount: u64,
    /// Stretches that begin at this time or later count, those to come among them: a clock that was put back frees nothing.
    pub since: u64,
    /// The most that these may come to, this amount included.
    pub at_most: u64,
    /// When the stretch is due for a sweep.
    pub purge_after: u64,
}

/// What became of a charge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charging {
    /// Every account has its amount, durably.
    Charged,
    /// The charge at this place would have gone over its limit: nothing was changed.
    Over(usize),
}

/// What an account holds of one stretch of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spent {
    /// When it began.
    pub slot: u64,
    /// How much.
    pub amount: u64,
}

/// What both backends say to a caller whose charges would not see each other.
pub(super) fn once_each(charges: &[Charge]) -> Result<(), Unavailable> {
    let twice = |(at, charge): (usize, &Charge)| charges.iter().take(at).any(|other| other.account == charge.account);
    match charges.iter().enumerate().any(twice) {
        true => Err(Unavailable("an account cannot be charged twice at once".into())),
        false => Ok(()),
    }
}
