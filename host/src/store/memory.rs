//! The store in memory, gone with the process. Each row is in every index that applies to it, under the values that it
//! has now; so every operation takes logarithmic time in the number of rows.

mod accounts;
mod sharded;

use super::{
    Account, Binding, Charge, Charging, Cursor, Entry, Found, Index, Insertion, Key, Replacement, Room, Spent, State,
    Store, Stored, Unavailable,
};
use accounts::Accounts;
use async_trait::async_trait;
use sharded::Sharded;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Rows in memory, behind one lock that is held for microseconds and never while waiting.
#[derive(Default)]
pub struct MemoryStore(Mutex<Rows>);

impl MemoryStore {
    /// Without rows.
    pub fn new() -> Self {
        Self::default()
    }

    fn rows(&self) -> MutexGuard<'_, Rows> {
        // A panic while the lock was held cannot leave half a change: allocation failure aborts, nothing else can fail.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The rows and their indexes. What is found by its name alone is in hash tables, of which a row costs one access however
/// many there are; what has an order that matters, in trees, whose end, where time is, stays in the cache.
#[derive(Default)]
struct Rows {
    by_key: Sharded<Key, Row>,
    by_approval_id: Sharded<String, Key>,
    indexes: Indexes,
    accounts: Accounts,
}

struct Row {
    version: u64,
    entry: Entry,
}

/// What depends on more of a row than its names, and so changes with each version.
#[derive(Default)]
struct Indexes {
    /// In the order of `list_by_state`.
    by_state: BTreeMap<(State, u64, String), Key>,
    /// Neither pending nor in flight, by `changed`.
    ended: BTreeSet<(Binding, u64, Key)>,
    in_flight: Sharded<Binding, Key>,
    /// Not in flight, by `purge_after`.
    purgeable: BTreeSet<(u64, Key)>,
    pending: Expiries,
    pending_of: Sharded<String, Expiries>,
}

impl Rows {
    fn stored(&self, key: &Key) -> Option<Stored> {
        self.by_key.get(key).map(|row| Stored { key: *key, version: row.version, entry: row.entry.clone() })
    }

    fn found(&self, key: &Key) -> Option<Found> {
        self.by_key.get(key).map(|row| Found { key: *key, version: row.version, index: row.entry.index.clone() })
    }

    /// The version of a row, if it is this one.
    fn has(&self, key: &Key, version: u64) -> bool {
        self.by_key.get(key).is_some_and(|row| row.version == version)
    }

    fn add(&mut self, key: Key, entry: Entry) {
        self.indexes.add(key, &entry.index);
        self.by_approval_id.insert(entry.index.approval_id.clone(), key);
        self.by_key.insert(key, Row { version: 1, entry });
    }

    fn change(&mut self, key: &Key, entry: Entry) {
        let Some(row) = self.by_key.get_mut(key) else { return };
        self.indexes.take(key, &row.entry.index);
        self.indexes.add(*key, &entry.index);
        if row.entry.index.approval_id != entry.index.approval_id {
            self.by_approval_id.remove(&row.entry.index.approval_id);
            self.by_approval_id.insert(entry.index.approval_id.clone(), *key);
        }
        *row = Row { version: row.version + 1, entry };
    }

    fn take(&mut self, key: &Key) {
        let Some(row) = self.by_key.remove(key) else { return };
        self.indexes.take(key, &row.entry.index);
        self.by_approval_id.remove(&row.entry.index.approval_id);
    }
}

impl Indexes {
    fn add(&mut self, key: Key, index: &Index) {
        self.by_state.insert((index.state, index.issued, index.approval_id.clone()), key);
        match index.state {
            State::Pending => {
                self.pending.add((index.until, key));
                match self.pending_of.get_mut(&index.owner) {
                    Some(of) => of.add((index.until, key)),
                    None => {
                        let mut of = Expiries::default();
                        of.add((index.until, key));
                        self.pending_of.insert(index.owner.clone(), of);
                    }
                }
            }
            State::InFlight => {
                self.in_flight.insert(index.binding, key);
            }
            State::Completed | State::Declined | State::Settled => {
                self.ended.insert((index.binding, index.changed, key));
            }
        }
        if index.state != State::InFlight {
            self.purgeable.insert((index.purge_after, key));
        }
    }

    fn take(&mut self, key: &Key, index: &Index) {
        match index.state {
            State::Pending => {
                self.pending.take(&(index.until, *key));
                if let Some(of) = self.pending_of.get_mut(&index.owner) {
                    of.take(&(index.until, *key));
                    if of.is_empty() {
                        self.pending_of.remove(&index.owner);
                    }
                }
            }
            State::InFlight => {
                self.in_flight.remove(&index.binding);
            }
            State::Completed | State::Declined | State::Settled => {
                self.ended.remove(&(index.binding, index.changed, *key));
            }
        }
        self.purgeable.remove(&(index.purge_after, *key));
        self.by_state.remove(&(index.state, index.issued, index.approval_id.clone()));
    }
}

/// When pending rows expire. Counts those that have not without walking over them: each row is moved once, when time
/// passes it.
#[derive(Default)]
struct Expiries {
    /// The latest time that was asked about.
    at: u64,
    /// Until after `at`.
    live: BTreeSet<(u64, Key)>,
    /// Until `at` or before.
    expired: BTreeSet<(u64, Key)>,
}

impl Expiries {
    fn side(&mut self, until: u64) -> &mut BTreeSet<(u64, Key)> {
        if until > self.at { &mut self.live } else { &mut self.expired }
    }

    fn add(&mut self, row: (u64, Key)) {
        self.side(row.0).insert(row);
    }

    fn take(&mut self, row: &(u64, Key)) {
        self.side(row.0).remove(row);
    }

    fn is_empty(&self) -> bool {
        self.live.is_empty() && self.expired.is_empty()
    }

    /// Whether there is room for one more.
    fn has_room(&mut self, now: u64, limit: u32) -> bool {
        while let Some(row) = self.live.first().copied().filter(|row| row.0 <= now) {
            self.live.remove(&row);
            self.expired.insert(row);
        }
        // The clock may have been put back.
        while let Some(row) = self.expired.last().copied().filter(|row| row.0 > now) {
            self.expired.remove(&row);
            self.live.insert(row);
        }
        self.at = now;
        u32::try_from(self.live.len()).is_ok_and(|live| live < limit)
    }
}

#[async_trait]
impl Store for MemoryStore {
    async fn insert(&self, key: Key, entry: Entry, room: Room) -> Result<Insertion, Unavailable> {
        super::only_pending(&entry)?;
        let mut rows = self.rows();
        let rows = &mut *rows;
        if rows.by_key.get(&key).is_some() || rows.by_approval_id.get(&entry.index.approval_id).is_some() {
            return Ok(Insertion::Exists);
        }
        let owner_has_room = match rows.indexes.pending_of.get_mut(&entry.index.owner) {
            Some(of) => of.has_room(room.now, room.per_owner),
            None => room.per_owner > 0,
        };
        if !owner_has_room {
            return Ok(Insertion::OwnerFull);
        }
        if !rows.indexes.pending.has_room(room.now, room.in_all) {
            return Ok(Insertion::AllFull);
        }
        rows.add(key, entry);
        Ok(Insertion::Inserted)
    }

    async fn load(&self, key: Key) -> Result<Option<Stored>, Unavailable> {
        Ok(self.rows().stored(&key))
    }

    async fn load_by_approval_id(&self, approval_id: &str) -> Result<Option<Stored>, Unavailable> {
        let rows = self.rows();
        Ok(rows.by_approval_id.get(approval_id).and_then(|key| rows.stored(key)))
    }

    async fn replace(&self, key: Key, version: u64, entry: Entry) -> Result<Replacement, Unavailable> {
        let mut rows = self.rows();
        if !rows.has(&key, version) {
            return Ok(Replacement::Stale);
        }
        let index = &entry.index;
        if index.state == State::InFlight
            && rows.indexes.in_flight.get(&index.binding).is_some_and(|other| *other != key)
        {
            return Ok(Replacement::Held);
        }
        if rows.by_approval_id.get(&index.approval_id).is_some_and(|other| *other != key) {
            return Err(Unavailable("the approval id belongs to another row".into()));
        }
        rows.change(&key, entry);
        Ok(Replacement::Replaced)
    }

    async fn find(&self, binding: Binding, limit: u32) -> Result<Vec<Found>, Unavailable> {
        let rows = self.rows();
        let ended = rows.indexes.ended.range((binding, 0, [0; 32])..=(binding, u64::MAX, [255; 32]));
        let keys = rows.indexes.in_flight.get(&binding).into_iter().chain(ended.rev().map(|(_, _, key)| key));
        Ok(keys.take(many(limit)).filter_map(|key| rows.found(key)).collect())
    }

    async fn list_by_state(&self, state: State, after: Option<Cursor>, limit: u32) -> Result<Vec<Stored>, Unavailable> {
        let rows = self.rows();
        let from = match after {
            Some(Cursor { issued, approval_id }) => Bound::Excluded((state, issued, approval_id)),
            None => Bound::Included((state, 0, String::new())),
        };
        let range = rows.indexes.by_state.range((from, Bound::Unbounded)).take_while(|((of, _, _), _)| *of == state);
        Ok(range.take(many(limit)).filter_map(|(_, key)| rows.stored(key)).collect())
    }

    async fn due(&self, now: u64, limit: u32) -> Result<Vec<Found>, Unavailable> {
        let rows = self.rows();
        let due = rows.indexes.purgeable.range(..=(now, [255; 32]));
        Ok(due.take(many(limit)).filter_map(|(_, key)| rows.found(key)).collect())
    }

    async fn remove(&self, key: Key, version: u64) -> Result<bool, Unavailable> {
        let mut rows = self.rows();
        let there = rows.has(&key, version);
        if there {
            rows.take(&key);
        }
        Ok(there)
    }

    async fn charge(&self, charges: &[Charge]) -> Result<Charging, Unavailable> {
        super::accounts::once_each(charges)?;
        Ok(self.rows().accounts.charge(charges))
    }

    async fn refund(&self, charges: &[Charge]) -> Result<(), Unavailable> {
        self.rows().accounts.refund(charges);
        Ok(())
    }

    async fn spent(&self, account: Account, since: u64) -> Result<Vec<Spent>, Unavailable> {
        Ok(self.rows().accounts.spent(account, since))
    }

    async fn sweep_accounts(&self, now: u64, limit: u32) -> Result<u32, Unavailable> {
        Ok(self.rows().accounts.sweep(now, limit))
    }
}

fn many(limit: u32) -> usize {
    usize::try_from(limit).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::store::suite;
    use std::sync::Arc;

    #[tokio::test(flavor = "multi_thread")]
    async fn keeps_what_the_suite_asks_of_every_store() {
        suite::run(&|| Arc::new(MemoryStore::new())).await;
    }

    #[tokio::test]
    async fn nothing_stays_of_an_account_that_was_given_back_or_swept() {
        let store = MemoryStore::new();
        let charge = |n: u8| Charge { account: [n; 32], slot: 1, amount: 1, since: 0, at_most: 1, purge_after: 2 };
        assert_eq!(store.charge(&[charge(1), charge(2)]).await, Ok(Charging::Charged));
        store.refund(&[charge(1)]).await.unwrap();
        assert!(!store.rows().accounts.is_empty());
        assert_eq!(store.sweep_accounts(2, 9).await, Ok(1));
        assert!(store.rows().accounts.is_empty());
    }

    #[tokio::test]
    async fn nothing_stays_of_a_removed_row() {
        let store = MemoryStore::new();
        let (key, entry) = suite::row(1);
        store.insert(key, entry.clone(), suite::ROOM).await.unwrap();
        let states = [State::InFlight, State::Completed, State::Settled, State::Declined, State::Pending];
        for (version, state) in (1..).zip(states) {
            let index = Index { state, changed: version, until: 100 * version, ..entry.index.clone() };
            store.replace(key, version, Entry { index, body: Vec::new() }).await.unwrap();
        }
        assert!(store.remove(key, 6).await.unwrap());
        let rows = store.rows();
        let Indexes { by_state, ended, in_flight, purgeable, pending, pending_of } = &rows.indexes;
        assert!(rows.by_key.is_empty() && rows.by_approval_id.is_empty() && by_state.is_empty());
        assert!(ended.is_empty() && in_flight.is_empty() && purgeable.is_empty());
        assert!(pending.is_empty() && pending_of.is_empty());
    }
}
