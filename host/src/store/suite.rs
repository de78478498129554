//! What every store has to hold, as one function that each backend's tests call. A backend of your own calls it too, with
//! feature `store-suite`.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "these are tests")]

mod accounts;

use super::{
    Binding, Cursor, Entry, Found, Index, Insertion, Key, Replacement, Room, State, Store, Stored, Unavailable,
};
use std::sync::Arc;
use tokio::task::JoinSet;

/// Room enough for whatever the suite adds.
pub const ROOM: Room = Room { now: 1_000, per_owner: 1_000, in_all: 1_000 };

/// Makes the stores that the suite looks at.
pub type Make<'a> = &'a (dyn Fn() -> Arc<dyn Store> + Sync);

/// Looks at everything. `make` makes an empty store each time.
///
/// # Panics
/// Where the store does not do what `wit/gate` says.
pub async fn run(make: Make<'_>) {
    insert_and_load(&*make()).await;
    every_field_comes_back(&*make()).await;
    keys_and_approval_ids_are_unique(&*make()).await;
    only_pending_rows_are_added(&*make()).await;
    room_counts_unexpired_rows_only(&*make()).await;
    room_is_one_transaction(make()).await;
    replace_is_compare_and_swap(&*make()).await;
    one_row_of_a_binding_is_in_flight(&*make()).await;
    find_puts_in_flight_first(&*make()).await;
    lists_are_ordered_and_paged(&*make()).await;
    due_leaves_out_what_is_in_flight(&*make()).await;
    remove_is_compare_and_swap(&*make()).await;
    one_of_many_wins(make(), make).await;
    accounts::a_limit_counts_its_period(&*make()).await;
    accounts::all_accounts_are_charged_or_none(&*make()).await;
    accounts::what_is_given_back_is_free(&*make()).await;
    accounts::what_no_period_needs_is_swept_in_batches(&*make()).await;
    accounts::never_more_than_the_limit(&[make()]).await;
}

/// Two handles on one store, such as two connections to one file.
///
/// # Panics
/// Where they do not see one another's changes, or both win.
pub async fn run_shared(one: Arc<dyn Store>, other: Arc<dyn Store>) {
    let (key, entry) = row(1);
    assert_eq!(one.insert(key, entry.clone(), ROOM).await, Ok(Insertion::Inserted));
    assert_eq!(other.insert(key, entry.clone(), ROOM).await, Ok(Insertion::Exists));
    assert_eq!(other.load(key).await.unwrap().unwrap().version, 1);
    assert_eq!(other.replace(key, 1, moved(&entry, State::InFlight, 1_001)).await, Ok(Replacement::Replaced));
    assert_eq!(one.replace(key, 1, moved(&entry, State::InFlight, 1_002)).await, Ok(Replacement::Stale));
    assert_eq!(one.load(key).await.unwrap().unwrap().entry.index.changed, 1_001);
    for n in 2..12 {
        let (key, entry) = row(n);
        one.insert(key, entry.clone(), ROOM).await.unwrap();
        assert_eq!(race(&[Arc::clone(&one), Arc::clone(&other)], key, &entry).await, 1);
    }
    accounts::never_more_than_the_limit(&[one, other]).await;
}

/// A row of its own: key, owner, approval id and binding all follow from `n`.
pub fn row(n: u8) -> (Key, Entry) {
    let index = Index {
        state: State::Pending,
        owner: format!("name:{n}"),
        approval_id: format!("apr_{n:03}"),
        binding: [n; 32],
        issued: 1_000,
        changed: 1_000,
        until: 2_000,
        purge_after: 3_000,
    };
    ([n; 32], Entry { index, body: vec![n, 0, 255] })
}

/// The same row in another state.
fn moved(entry: &Entry, state: State, changed: u64) -> Entry {
    Entry { index: Index { state, changed, ..entry.index.clone() }, body: vec![9] }
}

async fn add(store: &dyn Store, n: u8, change: impl FnOnce(&mut Index)) -> (Key, Entry) {
    let (key, mut entry) = row(n);
    change(&mut entry.index);
    assert_eq!(store.insert(key, entry.clone(), ROOM).await, Ok(Insertion::Inserted));
    (key, entry)
}

async fn put(store: &dyn Store, n: u8, state: State, change: impl FnOnce(&mut Index)) -> (Key, Entry) {
    let (key, entry) = add(store, n, change).await;
    let entry = moved(&entry, state, entry.index.changed);
    assert_eq!(store.replace(key, 1, entry.clone()).await, Ok(Replacement::Replaced));
    (key, entry)
}

fn keys(rows: Result<Vec<Found>, Unavailable>) -> Vec<u8> {
    rows.unwrap().iter().map(|row| row.key[0]).collect()
}

async fn insert_and_load(store: &dyn Store) {
    assert!(store.load([1; 32]).await.unwrap().is_none());
    assert!(store.load_by_approval_id("apr_001").await.unwrap().is_none());
    let (key, entry) = add(store, 1, |_| ()).await;
    add(store, 2, |_| ()).await;
    let expected = Stored { key, version: 1, entry };
    assert!(store.load(key).await.unwrap().unwrap() == expected);
    assert!(store.load_by_approval_id("apr_001").await.unwrap().unwrap() == expected);
    assert!(store.load_by_approval_id("APR_001").await.unwrap().is_none(), "exact case");
}

async fn every_field_comes_back(store: &dyn Store) {
    let index = Index {
        state: State::Pending,
        owner: "jwt:https://issuer#süß\u{1F600}'\"".into(),
        approval_id: "apr_'; --".into(),
        binding: std::array::from_fn(|n| u8::try_from(n).unwrap()),
        issued: 1,
        changed: 2,
        until: 3_000_000_000_000,
        purge_after: 4_000_000_000_000,
    };
    let entry = Entry { index, body: (0..=255).cycle().take(400_000).collect() };
    assert_eq!(store.insert([7; 32], entry.clone(), ROOM).await, Ok(Insertion::Inserted));
    assert!(store.load([7; 32]).await.unwrap().unwrap().entry == entry);
    for (version, state) in (1..).zip([State::Declined, State::Settled, State::Completed, State::InFlight]) {
        let entry = moved(&entry, state, version);
        assert_eq!(store.replace([7; 32], version, entry.clone()).await, Ok(Replacement::Replaced));
        let row = store.load([7; 32]).await.unwrap().unwrap();
        assert!(row == Stored { key: [7; 32], version: version + 1, entry });
    }
}

async fn keys_and_approval_ids_are_unique(store: &dyn Store) {
    let (key, entry) = add(store, 1, |_| ()).await;
    let (other_key, other) = row(2);
    let full = Room { now: 1_000, per_owner: 0, in_all: 0 };
    assert_eq!(store.insert(key, other.clone(), ROOM).await, Ok(Insertion::Exists));
    assert_eq!(store.insert(other_key, entry.clone(), ROOM).await, Ok(Insertion::Exists));
    assert_eq!(store.insert(key, entry.clone(), full).await, Ok(Insertion::Exists), "told before room is");
    assert!(store.load(other_key).await.unwrap().is_none());
    add(store, 2, |_| ()).await;
    assert!(store.replace(other_key, 1, entry).await.is_err());
    assert!(store.load(other_key).await.unwrap().unwrap().entry == other);
}

async fn only_pending_rows_are_added(store: &dyn Store) {
    let (key, entry) = row(1);
    for state in [State::InFlight, State::Completed, State::Declined, State::Settled] {
        assert!(store.insert(key, moved(&entry, state, 1_000), ROOM).await.is_err());
    }
    assert!(store.load(key).await.unwrap().is_none());
}

async fn room_counts_unexpired_rows_only(store: &dyn Store) {
    let mine = |index: &mut Index| index.owner = "name:me".into();
    let room = Room { now: 1_000, per_owner: 2, in_all: 3 };
    let try_one = async |n: u8, room: Room| {
        let (key, mut entry) = row(n);
        mine(&mut entry.index);
        store.insert(key, entry, room).await.unwrap()
    };
    assert_eq!(try_one(1, Room { per_owner: 0, ..room }).await, Insertion::OwnerFull);
    assert_eq!(try_one(1, Room { in_all: 0, ..room }).await, Insertion::AllFull);
    assert_eq!(try_one(1, Room { per_owner: 0, in_all: 0, ..room }).await, Insertion::OwnerFull, "the nearer one");
    assert_eq!(try_one(1, room).await, Insertion::Inserted);
    assert_eq!(try_one(2, room).await, Insertion::Inserted);
    assert_eq!(try_one(3, room).await, Insertion::OwnerFull);
    add(store, 4, |index| index.until = 5_000).await;
    // Three pending rows: two until 2 000, one until 5 000.
    assert_eq!(try_one(3, Room { per_owner: 9, ..room }).await, Insertion::AllFull);
    assert_eq!(try_one(3, Room { now: 1_999, ..room }).await, Insertion::OwnerFull, "until is later than now");
    assert_eq!(try_one(3, Room { now: 2_000, in_all: 1, ..room }).await, Insertion::AllFull);
    let later = Room { now: 2_000, ..room };
    let (key, mut entry) = row(3);
    mine(&mut entry.index);
    entry.index.until = 9_000;
    assert_eq!(store.insert(key, entry, later).await, Ok(Insertion::Inserted), "expired rows hold no room");
    // The clock goes back: the two expired rows count again.
    assert_eq!(try_one(5, Room { per_owner: 3, in_all: 9, ..room }).await, Insertion::OwnerFull);
    // Rows that are spent or gone hold no room.
    let row = store.load([1; 32]).await.unwrap().unwrap();
    let spent = moved(&row.entry, State::InFlight, 1_001);
    assert_eq!(store.replace([1; 32], 1, spent).await, Ok(Replacement::Replaced));
    assert!(store.remove([2; 32], 1).await.unwrap());
    assert_eq!(try_one(5, Room { per_owner: 2, in_all: 3, ..room }).await, Insertion::Inserted);
}

async fn room_is_one_transaction(store: Arc<dyn Store>) {
    let room = Room { now: 1_000, per_owner: 5, in_all: 12 };
    let mut tasks = JoinSet::new();
    for n in 0..64 {
        let store = Arc::clone(&store);
        tasks.spawn(async move {
            let (key, mut entry) = row(n);
            entry.index.owner = format!("name:{}", n % 3);
            store.insert(key, entry, room).await.unwrap()
        });
    }
    let results = tasks.join_all().await;
    assert_eq!(results.iter().filter(|result| **result == Insertion::Inserted).count(), 12);
    for owner in 0..3 {
        let rows = store.list_by_state(State::Pending, None, 100).await.unwrap();
        assert!(rows.iter().filter(|row| row.entry.index.owner == format!("name:{owner}")).count() <= 5);
    }
}

async fn replace_is_compare_and_swap(store: &dyn Store) {
    let (key, entry) = row(1);
    assert_eq!(store.replace(key, 1, entry.clone()).await, Ok(Replacement::Stale), "no such row");
    add(store, 1, |_| ()).await;
    for version in [0, 2, u64::MAX >> 1, u64::MAX] {
        assert_eq!(store.replace(key, version, entry.clone()).await, Ok(Replacement::Stale));
    }
    let started = moved(&entry, State::InFlight, 1_500);
    assert_eq!(store.replace(key, 1, started.clone()).await, Ok(Replacement::Replaced));
    assert_eq!(store.replace(key, 1, entry).await, Ok(Replacement::Stale));
    assert!(store.load(key).await.unwrap().unwrap() == Stored { key, version: 2, entry: started });
    assert!(store.list_by_state(State::Pending, None, 10).await.unwrap().is_empty());
    assert_eq!(store.list_by_state(State::InFlight, None, 10).await.unwrap().len(), 1);
}

async fn one_row_of_a_binding_is_in_flight(store: &dyn Store) {
    let same = |index: &mut Index| index.binding = [5; 32];
    let (_, first) = put(store, 1, State::InFlight, same).await;
    let (second_key, second) = add(store, 2, same).await;
    let start = moved(&second, State::InFlight, 1_100);
    assert_eq!(store.replace(second_key, 1, start.clone()).await, Ok(Replacement::Held));
    assert!(store.load(second_key).await.unwrap().unwrap() == Stored { key: second_key, version: 1, entry: second });
    assert_eq!(store.replace(second_key, 7, start.clone()).await, Ok(Replacement::Stale), "told before held is");
    // A row does not hold itself: it may be written again while in flight.
    assert_eq!(store.replace([1; 32], 2, moved(&first, State::InFlight, 1_200)).await, Ok(Replacement::Replaced));
    let (third_key, third) = add(store, 3, |_| ()).await;
    let other_call = moved(&third, State::InFlight, 1_100);
    assert_eq!(store.replace(third_key, 1, other_call).await, Ok(Replacement::Replaced));
    assert_eq!(store.replace([1; 32], 3, moved(&first, State::Completed, 1_300)).await, Ok(Replacement::Replaced));
    assert_eq!(store.replace(second_key, 1, start).await, Ok(Replacement::Replaced));
}

async fn find_puts_in_flight_first(store: &dyn Store) {
    let at = |changed: u64| move |index: &mut Index| (index.binding, index.changed) = ([5; 32], changed);
    put(store, 1, State::Completed, at(1_100)).await;
    put(store, 2, State::InFlight, at(1_050)).await;
    put(store, 3, State::Settled, at(1_300)).await;
    put(store, 4, State::Declined, at(1_200)).await;
    add(store, 5, at(1_400)).await;
    put(store, 6, State::Completed, |_| ()).await;
    assert_eq!(keys(store.find([5; 32], 10).await), [2, 3, 4, 1], "not the pending one, not another call's");
    assert_eq!(keys(store.find([5; 32], 2).await), [2, 3]);
    assert_eq!(keys(store.find([5; 32], 0).await), [0; 0]);
    assert_eq!(keys(store.find([7; 32], 10).await), [0; 0]);
    let found = store.find([6; 32], 1).await.unwrap();
    let row = store.load([6; 32]).await.unwrap().unwrap();
    assert_eq!(found, [Found { key: row.key, version: 2, index: row.entry.index }]);
}

async fn lists_are_ordered_and_paged(store: &dyn Store) {
    let order: [(u8, u64); 7] = [(3, 10), (1, 20), (4, 20), (5, 20), (9, 20), (2, 30), (6, 40)];
    for (n, issued) in [order[4], order[1], order[6], order[0], order[3], order[5], order[2]] {
        add(store, n, |index| index.issued = issued).await;
    }
    put(store, 8, State::Completed, |index| index.issued = 20).await;
    for limit in [1, 2, 3, 100] {
        let (mut seen, mut after) = (Vec::new(), None);
        loop {
            let page = store.list_by_state(State::Pending, after, limit).await.unwrap();
            let Some(last) = page.last() else { break };
            assert!(page.len() <= usize::try_from(limit).unwrap());
            let index = &last.entry.index;
            after = Some(Cursor { issued: index.issued, approval_id: index.approval_id.clone() });
            seen.extend(page.iter().map(|row| (row.key[0], row.entry.index.issued)));
        }
        assert_eq!(seen, order);
    }
    let between = Cursor { issued: 20, approval_id: "apr_004x".into() };
    let page = store.list_by_state(State::Pending, Some(between), 1).await.unwrap();
    assert_eq!(page[0].key[0], 5, "the row of a cursor need not be there any more");
    let done = store.list_by_state(State::Completed, None, 10).await.unwrap();
    assert_eq!(done.len(), 1);
    assert_eq!(done[0].version, 2);
    assert!(store.list_by_state(State::Settled, None, 10).await.unwrap().is_empty());
    assert!(store.list_by_state(State::Pending, None, 0).await.unwrap().is_empty());
}

async fn due_leaves_out_what_is_in_flight(store: &dyn Store) {
    let at = |purge_after: u64| move |index: &mut Index| index.purge_after = purge_after;
    add(store, 1, at(100)).await;
    put(store, 2, State::InFlight, at(100)).await;
    put(store, 3, State::Completed, at(200)).await;
    put(store, 4, State::Declined, at(201)).await;
    let due = async |now, limit| {
        let mut keys = keys(store.due(now, limit).await);
        keys.sort_unstable();
        keys
    };
    assert_eq!(due(99, 10).await, [0; 0]);
    assert_eq!(due(100, 10).await, [1]);
    assert_eq!(due(200, 10).await, [1, 3]);
    assert_eq!(due(u64::MAX, 10).await, [1, 3, 4]);
    assert_eq!(due(u64::MAX, 2).await.len(), 2);
    assert_eq!(due(u64::MAX, 0).await, [0; 0]);
}

async fn remove_is_compare_and_swap(store: &dyn Store) {
    let (key, entry) = add(store, 1, |_| ()).await;
    assert!(!store.remove(key, 2).await.unwrap());
    assert!(!store.remove([9; 32], 1).await.unwrap());
    assert!(store.remove(key, 1).await.unwrap());
    assert!(!store.remove(key, 1).await.unwrap());
    assert!(store.load(key).await.unwrap().is_none());
    assert!(store.load_by_approval_id("apr_001").await.unwrap().is_none());
    assert!(store.find([1; 32], 10).await.unwrap().is_empty());
    assert!(store.due(u64::MAX, 10).await.unwrap().is_empty());
    assert_eq!(store.insert(key, entry, ROOM).await, Ok(Insertion::Inserted), "key and approval id are free again");
}

async fn one_of_many_wins(store: Arc<dyn Store>, make: Make<'_>) {
    for n in 0..20 {
        let (key, entry) = add(&*store, n, |_| ()).await;
        assert_eq!(race(&[Arc::clone(&store)], key, &entry).await, 1);
    }
    // The same race for a binding: sixty-four rows of one call, one of which may start.
    let store = make();
    let binding: Binding = [77; 32];
    let mut tasks = JoinSet::new();
    for n in 0..64 {
        let (key, entry) = add(&*store, n, |index| index.binding = binding).await;
        let store = Arc::clone(&store);
        tasks.spawn(async move { store.replace(key, 1, moved(&entry, State::InFlight, 1_001)).await.unwrap() });
    }
    let results = tasks.join_all().await;
    assert_eq!(results.iter().filter(|result| **result == Replacement::Replaced).count(), 1);
    assert_eq!(results.iter().filter(|result| **result == Replacement::Held).count(), 63);
}

/// Sixty-four tasks start one row; how many won.
async fn race(stores: &[Arc<dyn Store>], key: Key, entry: &Entry) -> usize {
    let mut tasks = JoinSet::new();
    for (n, store) in (0..64).zip(stores.iter().cycle()) {
        let (store, entry) = (Arc::clone(store), moved(entry, State::InFlight, 1_001 + n));
        tasks.spawn(async move { (entry.index.changed, store.replace(key, 1, entry).await.unwrap()) });
    }
    let results = tasks.join_all().await;
    let winners: Vec<u64> = results.iter().filter(|(_, r)| *r == Replacement::Replaced).map(|(at, _)| *at).collect();
    assert!(results.iter().all(|(_, r)| matches!(r, Replacement::Replaced | Replacement::Stale)));
    let row = stores[0].load(key).await.unwrap().unwrap();
    assert_eq!((row.version, row.entry.index.changed), (2, winners[0]));
    winners.len()
}
