//! What budgets ask of a store: all accounts of a charge or none, and never more than the limit, whoever comes at once.

use crate::store::{Account, Charge, Charging, Spent, Store};
use std::sync::Arc;
use tokio::task::JoinSet;

const A: Account = [1; 32];
const B: Account = [2; 32];

/// One more of ten since 1,000.
fn charge(account: Account, slot: u64, amount: u64) -> Charge {
    Charge { account, slot, amount, since: 1_000, at_most: 10, purge_after: slot + 5_000 }
}

async fn amounts(store: &dyn Store, account: Account) -> Vec<(u64, u64)> {
    store.spent(account, 0).await.unwrap().into_iter().map(|Spent { slot, amount }| (slot, amount)).collect()
}

pub(super) async fn a_limit_counts_its_period(store: &dyn Store) {
    assert_eq!(amounts(store, A).await, []);
    for (slot, amount, expected) in [
        (500, 9, Charging::Charged),
        (1_000, 4, Charging::Charged),
        (2_000, 6, Charging::Charged),
        (2_000, 1, Charging::Over(0)),
        (2_000, 0, Charging::Charged),
        (500, 1, Charging::Over(0)),
    ] {
        assert_eq!(store.charge(&[charge(A, slot, amount)]).await, Ok(expected), "{slot}: {amount}");
    }
    assert_eq!(amounts(store, A).await, [(500, 9), (1_000, 4), (2_000, 6)]);
    assert_eq!(store.spent(A, 1_000).await.unwrap().len(), 2);
    // Time passes: what was spent at 1,000 is free again.
    let later = Charge { since: 1_001, ..charge(A, 3_000, 4) };
    assert_eq!(store.charge(&[later]).await, Ok(Charging::Charged));
    // Another account has all of its own.
    assert_eq!(store.charge(&[charge(B, 2_000, 10)]).await, Ok(Charging::Charged));
    assert_eq!(store.charge(&[charge(B, 2_000, 11)]).await, Ok(Charging::Over(0)));
    let huge = Charge { at_most: i64::MAX as u64, ..charge([3; 32], 1_000, i64::MAX as u64) };
    assert_eq!(store.charge(std::slice::from_ref(&huge)).await, Ok(Charging::Charged));
    assert_eq!(store.charge(&[Charge { amount: 1, ..huge }]).await, Ok(Charging::Over(0)));
}

pub(super) async fn all_accounts_are_charged_or_none(store: &dyn Store) {
    assert_eq!(store.charge(&[charge(B, 1_000, 8)]).await, Ok(Charging::Charged));
    assert_eq!(store.charge(&[charge(A, 1_000, 3), charge(B, 1_000, 3)]).await, Ok(Charging::Over(1)));
    assert_eq!(amounts(store, A).await, []);
    assert_eq!(store.charge(&[charge(A, 1_000, 2), charge(B, 1_000, 2)]).await, Ok(Charging::Charged));
    assert_eq!((amounts(store, A).await, amounts(store, B).await), (vec![(1_000, 2)], vec![(1_000, 10)]));
    assert!(
        store.charge(&[charge(A, 1_000, 1), charge(A, 1_000, 1)]).await.is_err(),
        "the two would not see each other"
    );
    assert_eq!(amounts(store, A).await, [(1_000, 2)]);
    assert_eq!(store.charge(&[]).await, Ok(Charging::Charged));
}

pub(super) async fn what_is_given_back_is_free(store: &dyn Store) {
    assert_eq!(store.charge(&[charge(A, 1_000, 7), charge(B, 1_000, 10)]).await, Ok(Charging::Charged));
    assert_eq!(store.refund(&[charge(A, 1_000, 3), charge(B, 1_000, 10)]).await, Ok(()));
    assert_eq!((amounts(store, A).await, amounts(store, B).await), (vec![(1_000, 4)], vec![]));
    // Never more than there is, and nothing where nothing is.
    assert_eq!(store.refund(&[charge(A, 1_000, 9), charge(A, 2_000, 1)]).await, Ok(()));
    assert_eq!(amounts(store, A).await, []);
    assert_eq!(store.charge(&[charge(A, 1_000, 10)]).await, Ok(Charging::Charged));
}

pub(super) async fn what_no_period_needs_is_swept_in_batches(store: &dyn Store) {
    for slot in [1_000, 2_000, 3_000, 4_000] {
        assert_eq!(store.charge(&[charge(A, slot, 1)]).await, Ok(Charging::Charged));
    }
    assert_eq!(store.sweep_accounts(5_999, 10).await, Ok(0));
    assert_eq!(store.sweep_accounts(8_000, 2).await, Ok(2));
    assert_eq!(amounts(store, A).await.len(), 2);
    assert_eq!(store.sweep_accounts(8_000, 2).await, Ok(1));
    assert_eq!(store.sweep_accounts(8_000, 2).await, Ok(0));
    assert_eq!(amounts(store, A).await, [(4_000, 1)]);
}

/// Sixty-four at once, through as many handles as there are: ten have room.
pub(super) async fn never_more_than_the_limit(stores: &[Arc<dyn Store>]) {
    let mut tasks = JoinSet::new();
    for (n, store) in (0..64).zip(stores.iter().cycle()) {
        let store = Arc::clone(store);
        tasks.spawn(async move { store.charge(&[charge([9; 32], 1_000 + n % 3, 1)]).await.unwrap() });
    }
    let results = tasks.join_all().await;
    assert_eq!(results.iter().filter(|result| **result == Charging::Charged).count(), 10);
    assert_eq!(amounts(&*stores[0], [9; 32]).await.iter().map(|(_, amount)| amount).sum::<u64>(), 10);
}
