//! The accounts of the store in memory.

use crate::store::{Account, Charge, Charging, Spent};
use std::collections::{BTreeMap, BTreeSet};

/// Amounts by account and stretch of time, and when each is due.
#[derive(Default)]
pub(super) struct Accounts {
    slots: BTreeMap<(Account, u64), Slot>,
    due: BTreeSet<(u64, Account, u64)>,
}

struct Slot {
    amount: u64,
    purge_after: u64,
}

impl Accounts {
    pub(super) fn charge(&mut self, charges: &[Charge]) -> Charging {
        for (at, charge) in charges.iter().enumerate() {
            let spent =
                self.since(charge.account, charge.since).fold(0, |sum: u64, spent| sum.saturating_add(spent.amount));
            if spent.saturating_add(charge.amount) > charge.at_most {
                return Charging::Over(at);
            }
        }
        for charge in charges.iter().filter(|charge| charge.amount > 0) {
            let place = (charge.account, charge.slot);
            let slot = self.slots.entry(place).or_insert(Slot { amount: 0, purge_after: charge.purge_after });
            slot.amount = slot.amount.saturating_add(charge.amount);
            self.due.insert((slot.purge_after, charge.account, charge.slot));
        }
        Charging::Charged
    }

    pub(super) fn refund(&mut self, charges: &[Charge]) {
        for charge in charges {
            let place = (charge.account, charge.slot);
            let Some(slot) = self.slots.get_mut(&place) else { continue };
            slot.amount = slot.amount.saturating_sub(charge.amount);
            if slot.amount == 0 {
                self.due.remove(&(slot.purge_after, charge.account, charge.slot));
                self.slots.remove(&place);
            }
        }
    }

    pub(super) fn spent(&self, account: Account, since: u64) -> Vec<Spent> {
        self.since(account, since).collect()
    }

    fn since(&self, account: Account, since: u64) -> impl Iterator<Item = Spent> {
        self.slots
            .range((account, since)..=(account, u64::MAX))
            .map(|((_, slot), held)| Spent { slot: *slot, amount: held.amount })
    }

    pub(super) fn sweep(&mut self, now: u64, limit: u32) -> u32 {
        let mut swept = 0;
        while swept < limit
            && let Some((due, account, slot)) = self.due.first().copied().filter(|(due, _, _)| *due <= now)
        {
            self.due.remove(&(due, account, slot));
            self.slots.remove(&(account, slot));
            swept += 1;
        }
        swept
    }

    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.slots.is_empty() && self.due.is_empty()
    }
}
