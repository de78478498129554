//! What surrounds a gate in a vector: a clock that stands, randomness from a seed, a store in memory whose faults are
//! part of the case. Nothing here decides anything about confirmations.

use counterfoil_gate_core::confirmation::{Index, Phase, UnixMillis};
use counterfoil_gate_core::digest::{Sha, sha256};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A row of the store.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// 1 after insert, one more after each replace.
    pub version: u64,
    /// What a backend sees.
    pub index: Index,
    /// The gate's own bytes.
    pub body: Vec<u8>,
}

/// A function of the store, to which a fault can be bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    /// `insert`
    Insert,
    /// `load`
    Load,
    /// `load-by-approval-id`
    LoadByApprovalId,
    /// `replace`
    Replace,
    /// `find`
    Find,
    /// `list-by-state`
    ListByState,
    /// `due`
    Due,
    /// `remove`
    Remove,
}

impl On {
    /// By its name in a vector.
    pub fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "insert" => Self::Insert,
            "load" => Self::Load,
            "load_by_approval_id" => Self::LoadByApprovalId,
            "replace" => Self::Replace,
            "find" => Self::Find,
            "list_by_state" => Self::ListByState,
            "due" => Self::Due,
            "remove" => Self::Remove,
            _ => return None,
        })
    }
}

/// What goes wrong.
pub enum Kind {
    /// Nothing is done, and the answer is an error.
    Fail,
    /// It is done, and the answer is an error all the same.
    LoseAck,
    /// Somebody else gets in before it is done.
    Meanwhile(Box<dyn FnOnce() + Send>),
}

/// A fault that waits for its call.
pub struct Fault {
    /// What goes wrong.
    pub kind: Kind,
    /// With which function.
    pub on: On,
    /// How many calls of that function go well before.
    pub after: u32,
    /// How many go wrong then.
    pub times: u32,
}

/// What became of an insert.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Insertion {
    /// The row is there.
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
    /// Done.
    Replaced,
    /// Another version.
    Stale,
    /// Another row of the binding is in flight.
    Held,
}

/// How many unexpired pending rows there may be.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// The gate's time.
    pub now: UnixMillis,
    /// Of one owner.
    pub per_owner: u32,
    /// In all.
    pub in_all: u32,
}

struct State {
    now: UnixMillis,
    seed: Vec<u8>,
    drawn: u64,
    rows: BTreeMap<Sha, Row>,
    faults: Vec<Fault>,
}

/// Clock, randomness and store of one case, shared by every gate instance in it.
#[derive(Clone)]
pub struct World(Arc<Mutex<State>>);

impl World {
    /// An empty store; randomness from a seed.
    pub fn new(now: UnixMillis, seed: &str) -> Self {
        let (seed, rows) = (seed.as_bytes().to_vec(), BTreeMap::new());
        Self(Arc::new(Mutex::new(State { now, seed, drawn: 0, rows, faults: Vec::new() })))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The time.
    pub fn now(&self) -> UnixMillis {
        self.state().now
    }

    /// Sets the clock.
    pub fn set(&self, now: UnixMillis) {
        self.state().now = now;
    }

    /// The next bytes of SHA-256(seed, 0), SHA-256(seed, 1), …, the counter in eight bytes, big-endian.
    pub fn random(&self, length: u64) -> Vec<u8> {
        let mut state = self.state();
        let from = state.drawn;
        state.drawn += length;
        (from..from + length)
            .map(|at| {
                let mut block = state.seed.clone();
                block.extend_from_slice(&(at / 32).to_be_bytes());
                sha256(&block)[(at % 32) as usize]
            })
            .collect()
    }

    /// Arms a fault.
    pub fn arm(&self, fault: Fault) {
        self.state().faults.push(fault);
    }

    /// Disarms every fault.
    pub fn heal(&self) {
        self.state().faults.clear();
    }

    /// Whether something is about to go wrong.
    pub fn is_armed(&self) -> bool {
        !self.state().faults.is_empty()
    }

    /// Every row, by time of issue and approval id.
    pub fn rows(&self) -> Vec<(Sha, Row)> {
        let mut rows: Vec<_> = self.state().rows.iter().map(|(key, row)| (*key, row.clone())).collect();
        rows.sort_by_key(|(_, row)| place(&row.index));
        rows
    }

    /// Lets the faults of a function happen; says whether its acknowledgement is to be lost.
    fn enter(&self, on: On) -> Result<bool, String> {
        loop {
            let mut state = self.state();
            let Some(at) = state.faults.iter().position(|fault| fault.on == on) else { return Ok(false) };
            let fault = &mut state.faults[at];
            if fault.after > 0 {
                fault.after -= 1;
                return Ok(false);
            }
            fault.times = fault.times.saturating_sub(1);
            let last = fault.times == 0;
            match &fault.kind {
                Kind::Fail => {
                    if last {
                        state.faults.remove(at);
                    }
                    return Err("the store is away".to_string());
                }
                Kind::LoseAck => {
                    if last {
                        state.faults.remove(at);
                    }
                    return Ok(true);
                }
                Kind::Meanwhile(_) => {
                    let fault = state.faults.remove(at);
                    drop(state);
                    if let Kind::Meanwhile(run) = fault.kind {
                        run();
                    }
                }
            }
        }
    }

    fn leave<T>(lost: bool, value: T) -> Result<T, String> {
        if lost { Err("the store did not answer".to_string()) } else { Ok(value) }
    }

    /// `insert`
    pub fn insert(&self, key: Sha, index: Index, body: Vec<u8>, room: Room) -> Result<Insertion, String> {
        let lost = self.enter(On::Insert)?;
        let mut state = self.state();
        let taken = |row: &Row| row.index.approval_id == index.approval_id;
        let waits = |row: &&Row| row.index.phase == Phase::Pending && row.index.until > room.now;
        let pending = state.rows.values().filter(waits);
        let (all, own) =
            pending.fold((0, 0), |(all, own), row| (all + 1, own + u32::from(row.index.owner == index.owner)));
        let answer = if state.rows.contains_key(&key) || state.rows.values().any(taken) {
            Insertion::Exists
        } else if own >= room.per_owner {
            Insertion::OwnerFull
        } else if all >= room.in_all {
            Insertion::AllFull
        } else {
            state.rows.insert(key, Row { version: 1, index, body });
            Insertion::Inserted
        };
        Self::leave(lost, answer)
    }

    /// `load`
    pub fn load(&self, key: &Sha) -> Result<Option<Row>, String> {
        let lost = self.enter(On::Load)?;
        Self::leave(lost, self.state().rows.get(key).cloned())
    }

    /// `load-by-approval-id`
    pub fn load_by_approval_id(&self, approval_id: &str) -> Result<Option<(Sha, Row)>, String> {
        let lost = self.enter(On::LoadByApprovalId)?;
        Self::leave(lost, self.rows().into_iter().find(|(_, row)| row.index.approval_id == approval_id))
    }

    /// `replace`
    pub fn replace(&self, key: &Sha, version: u64, index: Index, body: Vec<u8>) -> Result<Replacement, String> {
        let lost = self.enter(On::Replace)?;
        let mut state = self.state();
        let held = index.phase == Phase::InFlight
            && state.rows.iter().any(|(other, row)| {
                other != key && row.index.phase == Phase::InFlight && row.index.binding == index.binding
            });
        let answer = match state.rows.get_mut(key) {
            Some(row) if row.version == version && held => {
                let _ = row;
                Replacement::Held
            }
            Some(row) if row.version == version => {
                *row = Row { version: version + 1, index, body };
                Replacement::Replaced
            }
            _ => Replacement::Stale,
        };
        Self::leave(lost, answer)
    }

    /// `find`
    pub fn find(&self, binding: &Sha, limit: u32) -> Result<Vec<(Sha, Row)>, String> {
        let lost = self.enter(On::Find)?;
        let mut found = self.rows();
        found.retain(|(_, row)| row.index.binding == *binding && row.index.phase != Phase::Pending);
        found.sort_by_key(|(_, row)| (row.index.phase != Phase::InFlight, std::cmp::Reverse(row.index.changed)));
        found.truncate(limit as usize);
        Self::leave(lost, found)
    }

    /// `list-by-state`
    pub fn list(&self, phase: Phase, after: Option<(u64, String)>, limit: u32) -> Result<Vec<(Sha, Row)>, String> {
        let lost = self.enter(On::ListByState)?;
        let mut found = self.rows();
        found.retain(|(_, row)| {
            row.index.phase == phase && after.as_ref().is_none_or(|after| place(&row.index) > *after)
        });
        found.truncate(limit as usize);
        Self::leave(lost, found)
    }

    /// `due`
    pub fn due(&self, now: UnixMillis, limit: u32) -> Result<Vec<(Sha, Row)>, String> {
        let lost = self.enter(On::Due)?;
        let mut found = self.rows();
        found.retain(|(_, row)| row.index.phase != Phase::InFlight && row.index.purge_after <= now);
        found.truncate(limit as usize);
        Self::leave(lost, found)
    }

    /// `remove`
    pub fn remove(&self, key: &Sha, version: u64) -> Result<bool, String> {
        let lost = self.enter(On::Remove)?;
        let mut state = self.state();
        let there = state.rows.get(key).is_some_and(|row| row.version == version);
        if there {
            state.rows.remove(key);
        }
        Self::leave(lost, there)
    }
}

fn place(index: &Index) -> (u64, String) {
    (index.issued, index.approval_id.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn randomness_is_the_digests_of_seed_and_counter() {
        let world = World::new(0, "seed");
        let whole: Vec<u8> = [0u64, 1].iter().flat_map(|n| sha256(&[b"seed", &n.to_be_bytes()[..]].concat())).collect();
        let drawn = [world.random(15), world.random(15), world.random(20)].concat();
        assert_eq!(drawn, whole[..50]);
    }
}
