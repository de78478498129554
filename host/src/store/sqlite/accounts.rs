//! The accounts of the store in a file.

use super::Time;
use crate::store::{Account, Charge, Charging, Spent};
use rusqlite::{Transaction, params};

/// What counts of an account.
pub(super) const COUNTED: &str = "SELECT coalesce(sum(amount), 0) FROM account WHERE id = ?1 AND slot >= ?2";

pub(super) fn charge(t: &Transaction<'_>, charges: &[Charge]) -> rusqlite::Result<Charging> {
    for (at, charge) in charges.iter().enumerate() {
        let Time(spent) =
            t.prepare_cached(COUNTED)?.query_row(params![charge.account, Time(charge.since)], |row| row.get(0))?;
        if spent.saturating_add(charge.amount) > charge.at_most {
            return Ok(Charging::Over(at));
        }
    }
    let sql = "INSERT INTO account (id, slot, amount, purge_after) VALUES (?1, ?2, ?3, ?4)
        ON CONFLICT DO UPDATE SET amount = amount + excluded.amount";
    for charge in charges.iter().filter(|charge| charge.amount > 0) {
        let Charge { account, slot, amount, purge_after, .. } = charge;
        t.prepare_cached(sql)?.execute(params![account, Time(*slot), Time(*amount), Time(*purge_after)])?;
    }
    Ok(Charging::Charged)
}

pub(super) fn refund(t: &Transaction<'_>, charges: &[Charge]) -> rusqlite::Result<()> {
    let less = "UPDATE account SET amount = max(amount - ?3, 0) WHERE id = ?1 AND slot = ?2";
    let gone = "DELETE FROM account WHERE id = ?1 AND slot = ?2 AND amount = 0";
    for charge in charges {
        t.prepare_cached(less)?.execute(params![charge.account, Time(charge.slot), Time(charge.amount)])?;
        t.prepare_cached(gone)?.execute(params![charge.account, Time(charge.slot)])?;
    }
    Ok(())
}

pub(super) fn spent(t: &Transaction<'_>, account: &Account, since: u64) -> rusqlite::Result<Vec<Spent>> {
    let sql = "SELECT slot, amount FROM account WHERE id = ?1 AND slot >= ?2 ORDER BY slot";
    let time = |row: &rusqlite::Row<'_>, n| row.get(n).map(|Time(value)| value);
    t.prepare_cached(sql)?
        .query_map(params![account, Time(since)], |row| Ok(Spent { slot: time(row, 0)?, amount: time(row, 1)? }))?
        .collect()
}

pub(super) fn sweep(t: &Transaction<'_>, now: u64, limit: u32) -> rusqlite::Result<u32> {
    let sql = "DELETE FROM account WHERE (id, slot) IN
        (SELECT id, slot FROM account INDEXED BY account_due WHERE purge_after <= ?1 LIMIT ?2)";
    let swept = t.prepare_cached(sql)?.execute(params![Time(now), limit])?;
    Ok(u32::try_from(swept).unwrap_or(u32::MAX))
}
