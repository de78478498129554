//! Where confirmations are kept. One async trait, any number of backends; every rule is the gate's.
//!
//! The types mirror `wit/gate` (`interface store`), whose comments are the specification.

mod accounts;
mod memory;
#[cfg(feature = "sqlite")]
pub(crate) mod sqlite;
#[cfg(any(test, feature = "store-suite"))]
pub mod suite;

pub use accounts::{Account, Charge, Charging, Spent};
pub use memory::MemoryStore;
#[cfg(feature = "sqlite")]
pub use sqlite::SqliteStore;

use async_trait::async_trait;

/// SHA-256 of a token.
pub type Key = [u8; 32];
/// SHA-256 that names a call.
pub type Binding = [u8; 32];

/// How far a confirmation is, as a backend has to know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum State {
    /// Not spent.
    Pending,
    /// A run has started and has not been recorded. Never purged.
    InFlight,
    /// An outcome has been recorded.
    Completed,
    /// A person refused.
    Declined,
    /// The operator said what became of a lost run.
    Settled,
}

/// What a backend sees of a confirmation. Times in milliseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Index {
    /// How far it is.
    pub state: State,
    /// The principal that it was issued to.
    pub owner: String,
    /// Unique among all rows.
    pub approval_id: String,
    /// Names the call.
    pub binding: Binding,
    /// When it was issued.
    pub issued: u64,
    /// When it came into this state.
    pub changed: u64,
    /// Pending: expiry; in flight: the run's deadline; completed: the end of replay.
    pub until: u64,
    /// When the row is due for a sweep.
    pub purge_after: u64,
}

/// A row as it is written.
#[derive(Clone, PartialEq, Eq)]
pub struct Entry {
    /// What the backend sees.
    pub index: Index,
    /// The gate's own bytes.
    pub body: Vec<u8>,
}

/// A row as it is read.
#[derive(Clone, PartialEq, Eq)]
pub struct Stored {
    /// Its key.
    pub key: Key,
    /// 1 after insert, one more after each replace.
    pub version: u64,
    /// The row.
    pub entry: Entry,
}

/// A row without its body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its key.
    pub key: Key,
    /// Its version.
    pub version: u64,
    /// What the backend sees.
    pub index: Index,
}

/// How many unexpired pending rows there may be, the new one included. A pending row counts while `until > now`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// The gate's time.
    pub now: u64,
    /// Of one owner.
    pub per_owner: u32,
    /// Of all owners.
    pub in_all: u32,
}

/// What became of an insert.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Insertion {
    /// The row is there, version 1.
    Inserted,
    /// The owner has no room left.
    OwnerFull,
    /// Nobody has.
    AllFull,
    /// The key or the approval id is taken.
    Exists,
}

/// What became of a replace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replacement {
    /// Done, durably.
    Replaced,
    /// Another version, or gone: nothing was changed.
    Stale,
    /// Another row of the same binding is in flight: nothing was changed.
    Held,
}

/// A place in [`Store::list_by_state`]: the last row that was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// Its time of issue.
    pub issued: u64,
    /// Its approval id.
    pub approval_id: String,
}

/// The store could not be reached or did not answer: the change may or may not have been made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unavailable(pub String);

/// A place for confirmations, and for what budgets count. Each function is atomic; `wit/gate` says what those of
/// confirmations must do, and the gate sees no others.
#[async_trait]
pub trait Store: Send + Sync + 'static {
    /// Adds a pending row, if there is room.
    async fn insert(&self, key: Key, entry: Entry, room: Room) -> Result<Insertion, Unavailable>;
    /// The row of a key.
    async fn load(&self, key: Key) -> Result<Option<Stored>, Unavailable>;
    /// The row of an approval id.
    async fn load_by_approval_id(&self, approval_id: &str) -> Result<Option<Stored>, Unavailable>;
    /// Compare-and-swap; at most one row of a binding is in flight.
    async fn replace(&self, key: Key, version: u64, entry: Entry) -> Result<Replacement, Unavailable>;
    /// Rows of a binding that are not pending: in flight first, then the latest `changed` first.
    async fn find(&self, binding: Binding, limit: u32) -> Result<Vec<Found>, Unavailable>;
    /// Rows in a state by `issued`, then approval id, behind `after`.
    async fn list_by_state(&self, state: State, after: Option<Cursor>, limit: u32) -> Result<Vec<Stored>, Unavailable>;
    /// Rows not in flight whose `purge_after` is at or before `now`.
    async fn due(&self, now: u64, limit: u32) -> Result<Vec<Found>, Unavailable>;
    /// Removes a row of this version.
    async fn remove(&self, key: Key, version: u64) -> Result<bool, Unavailable>;
    /// Adds an amount to each account, durably, where every one of them stays within its limit; to none otherwise. An
    /// account may be in it once.
    async fn charge(&self, charges: &[Charge]) -> Result<Charging, Unavailable>;
    /// Takes amounts back, down to nothing at most.
    async fn refund(&self, charges: &[Charge]) -> Result<(), Unavailable>;
    /// What an account holds of the stretches of time that begin at `since` or later, in their order.
    async fn spent(&self, account: Account, since: u64) -> Result<Vec<Spent>, Unavailable>;
    /// Removes at most `limit` stretches of time whose `purge_after` is at or before `now`; how many it removed.
    async fn sweep_accounts(&self, now: u64, limit: u32) -> Result<u32, Unavailable>;
}

/// What both backends say to a caller that adds a row in another state.
fn only_pending(entry: &Entry) -> Result<(), Unavailable> {
    match entry.index.state {
        State::Pending => Ok(()),
        _ => Err(Unavailable("a row can only be added as pending".into())),
    }
}
