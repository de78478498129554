//! What the component imports: the store, the wall clock, randomness. Translates and decides nothing.

use super::Clock;
use super::bindings::counterfoil::gate::store as wit;
use super::bindings::wasi::clocks::wall_clock::{self, Datetime};
use super::bindings::wasi::random::random;
use super::instances::Ceiling;
use crate::store::{Cursor, Entry, Found, Index, Insertion, Replacement, Room, State, Store, Stored, Unavailable};
use std::sync::Arc;

/// Random bytes at a time: the gate needs a few dozen.
const MAX_RANDOM: u64 = 4096;

/// What an instance has of the host.
pub(super) struct Imports {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    pub(super) ceiling: Ceiling,
}

impl Imports {
    pub(super) fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>) -> Self {
        Self { store, clock, ceiling: Ceiling::default() }
    }
}

/// A backend's answer. What went wrong may name paths and hosts: it is for the operator's log, not for the caller.
fn answer<T, U: From<T>>(result: Result<T, Unavailable>) -> wasmtime::Result<Result<U, String>> {
    Ok(result.map(Into::into).map_err(|Unavailable(what)| {
        tracing::error!(what, "the store did not answer");
        "its error is in the host's log".to_owned()
    }))
}

fn answers<T, U: From<T>>(result: Result<Vec<T>, Unavailable>) -> wasmtime::Result<Result<Vec<U>, String>> {
    answer::<_, Vec<T>>(result).map(|rows| rows.map(|rows| rows.into_iter().map(Into::into).collect()))
}

/// A key or binding. Another length is a fault of the component.
fn digest(bytes: Vec<u8>) -> wasmtime::Result<[u8; 32]> {
    <[u8; 32]>::try_from(bytes).map_err(|_| wasmtime::Error::msg("a key or binding has not 32 bytes"))
}

impl wit::Host for Imports {
    async fn insert(
        &mut self,
        key: Vec<u8>,
        entry: wit::Entry,
        room: wit::Room,
    ) -> wasmtime::Result<Result<wit::Insertion, String>> {
        answer(self.store.insert(digest(key)?, entry.try_into()?, room.into()).await)
    }

    async fn load(&mut self, key: Vec<u8>) -> wasmtime::Result<Result<Option<wit::Stored>, String>> {
        let row = self.store.load(digest(key)?).await;
        answer(row.map(|row| row.map(Into::into)))
    }

    async fn load_by_approval_id(
        &mut self,
        approval_id: String,
    ) -> wasmtime::Result<Result<Option<wit::Stored>, String>> {
        let row = self.store.load_by_approval_id(&approval_id).await;
        answer(row.map(|row| row.map(Into::into)))
    }

    async fn replace(
        &mut self,
        key: Vec<u8>,
        version: u64,
        entry: wit::Entry,
    ) -> wasmtime::Result<Result<wit::Replacement, String>> {
        answer(self.store.replace(digest(key)?, version, entry.try_into()?).await)
    }

    async fn find(&mut self, binding: Vec<u8>, limit: u32) -> wasmtime::Result<Result<Vec<wit::Found>, String>> {
        answers(self.store.find(digest(binding)?, limit).await)
    }

    async fn list_by_state(
        &mut self,
        state: wit::State,
        after: Option<wit::Cursor>,
        limit: u32,
    ) -> wasmtime::Result<Result<Vec<wit::Stored>, String>> {
        let after = after.map(|c| Cursor { issued: c.issued, approval_id: c.approval_id });
        answers(self.store.list_by_state(state.into(), after, limit).await)
    }

    async fn due(&mut self, now: u64, limit: u32) -> wasmtime::Result<Result<Vec<wit::Found>, String>> {
        answers(self.store.due(now, limit).await)
    }

    async fn remove(&mut self, key: Vec<u8>, version: u64) -> wasmtime::Result<Result<bool, String>> {
        answer(self.store.remove(digest(key)?, version).await)
    }
}

impl wall_clock::Host for Imports {
    fn now(&mut self) -> wasmtime::Result<Datetime> {
        let millis = self.clock.now();
        // Below 10^9 by construction.
        let nanoseconds = u32::try_from(millis % 1000 * 1_000_000).unwrap_or_default();
        Ok(Datetime { seconds: millis / 1000, nanoseconds })
    }

    fn resolution(&mut self) -> wasmtime::Result<Datetime> {
        Ok(Datetime { seconds: 0, nanoseconds: 1_000_000 })
    }
}

/// Without randomness there are no tokens: the call traps and nothing is issued.
impl random::Host for Imports {
    fn get_random_bytes(&mut self, len: u64) -> wasmtime::Result<Vec<u8>> {
        if len > MAX_RANDOM {
            return Err(wasmtime::Error::msg(format!("more than {MAX_RANDOM} random bytes at a time")));
        }
        let mut bytes = vec![0; usize::try_from(len)?];
        getrandom::fill(&mut bytes)?;
        Ok(bytes)
    }

    fn get_random_u64(&mut self) -> wasmtime::Result<u64> {
        Ok(getrandom::u64()?)
    }
}

impl TryFrom<wit::Entry> for Entry {
    type Error = wasmtime::Error;

    fn try_from(entry: wit::Entry) -> wasmtime::Result<Self> {
        let wit::Index { state, owner, approval_id, binding, issued, changed, until, purge_after } = entry.index;
        let (state, binding) = (state.into(), digest(binding)?);
        let index = Index { state, owner, approval_id, binding, issued, changed, until, purge_after };
        Ok(Self { index, body: entry.body })
    }
}

impl From<Index> for wit::Index {
    fn from(index: Index) -> Self {
        let Index { state, owner, approval_id, binding, issued, changed, until, purge_after } = index;
        let (state, binding) = (state.into(), binding.to_vec());
        Self { state, owner, approval_id, binding, issued, changed, until, purge_after }
    }
}

impl From<Stored> for wit::Stored {
    fn from(row: Stored) -> Self {
        let entry = wit::Entry { index: row.entry.index.into(), body: row.entry.body };
        Self { key: row.key.to_vec(), version: row.version, entry }
    }
}

impl From<Found> for wit::Found {
    fn from(row: Found) -> Self {
        Self { key: row.key.to_vec(), version: row.version, index: row.index.into() }
    }
}

impl From<wit::Room> for Room {
    fn from(room: wit::Room) -> Self {
        Self { now: room.now, per_owner: room.per_owner, in_all: room.in_all }
    }
}

impl From<State> for wit::State {
    fn from(state: State) -> Self {
        match state {
            State::Pending => Self::Pending,
            State::InFlight => Self::InFlight,
            State::Completed => Self::Completed,
            State::Declined => Self::Declined,
            State::Settled => Self::Settled,
        }
    }
}

impl From<wit::State> for State {
    fn from(state: wit::State) -> Self {
        match state {
            wit::State::Pending => Self::Pending,
            wit::State::InFlight => Self::InFlight,
            wit::State::Completed => Self::Completed,
            wit::State::Declined => Self::Declined,
            wit::State::Settled => Self::Settled,
        }
    }
}

impl From<Insertion> for wit::Insertion {
    fn from(insertion: Insertion) -> Self {
        match insertion {
            Insertion::Inserted => Self::Inserted,
            Insertion::OwnerFull => Self::OwnerFull,
            Insertion::AllFull => Self::AllFull,
            Insertion::Exists => Self::Exists,
        }
    }
}

impl From<Replacement> for wit::Replacement {
    fn from(replacement: Replacement) -> Self {
        match replacement {
            Replacement::Replaced => Self::Replaced,
            Replacement::Stale => Self::Stale,
            Replacement::Held => Self::Held,
        }
    }
}
