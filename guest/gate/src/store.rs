//! The store as `gate-core` speaks of it. Reads and writes rows; decides nothing.

use crate::bindings::counterfoil::gate::store as wit;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use counterfoil_gate_core::answer::Rejection;
use counterfoil_gate_core::body;
use counterfoil_gate_core::confirmation::{Confirmation, Index, Phase};
use counterfoil_gate_core::contract::Found;
use counterfoil_gate_core::digest::Sha;
use counterfoil_gate_core::prose::say;
use counterfoil_gate_core::settings::Settings;

pub use wit::Cursor;

/// Rows of a page: with the largest bodies still well within memory.
const PAGE: u32 = 32;

/// A row that was read.
pub struct Row {
    pub key: Sha,
    pub version: u64,
    pub confirmation: Box<Confirmation>,
}

/// Why there is no decision. Small, since nearly every function may return it; it becomes an answer in one place.
pub enum Stop {
    /// The store did not answer.
    Unreachable(String),
    /// It answered what cannot be.
    Damaged(&'static str),
    /// There is no room.
    Full(&'static str),
    /// The contract says no.
    Rejected(Box<Rejection>),
    /// The host used the gate wrongly.
    Misuse(String),
}

impl From<String> for Stop {
    fn from(error: String) -> Self {
        Self::Unreachable(error)
    }
}

/// What became of a swap.
pub enum Swap {
    Done,
    Stale,
    Held,
}

pub fn insert(settings: &Settings, now: u64, key: &Sha, c: &Confirmation) -> Result<(), Stop> {
    let room = wit::Room { now, per_owner: settings.pending_per_owner, in_all: settings.pending_in_all };
    match wit::insert(key, &entry(settings, c), room)? {
        wit::Insertion::Inserted => Ok(()),
        wit::Insertion::OwnerFull => Err(Stop::Full("you have as many confirmations waiting as one caller may have")),
        wit::Insertion::AllFull => Err(Stop::Full("the table of confirmations is full")),
        wit::Insertion::Exists => Err(Stop::Damaged("a token was drawn twice, which randomness does not do")),
    }
}

pub fn load(key: &Sha) -> Result<Option<Row>, Stop> {
    wit::load(key)?.map(row).transpose()
}

/// As `load`, but a row that does not read is an answer: nobody can use it.
pub fn load_for_sweep(key: &Sha) -> Result<Option<Result<Row, ()>>, Stop> {
    Ok(wit::load(key)?.map(|stored| row(stored).map_err(|_| ())))
}

pub fn load_by_approval_id(approval_id: &str) -> Result<Option<Row>, Stop> {
    wit::load_by_approval_id(approval_id)?.map(row).transpose()
}

pub fn replace(settings: &Settings, key: &Sha, version: u64, c: &Confirmation) -> Result<Swap, Stop> {
    Ok(match wit::replace(key, version, &entry(settings, c))? {
        wit::Replacement::Replaced => Swap::Done,
        wit::Replacement::Stale => Swap::Stale,
        wit::Replacement::Held => Swap::Held,
    })
}

pub fn find(binding: &Sha, limit: u32) -> Result<Vec<Found>, Stop> {
    let mut out = Vec::new();
    for found in wit::find(binding, limit)? {
        out.push(Found { key: sha(&found.key)?, index: index_in(found.index)? });
    }
    Ok(out)
}

/// One page: what reads of it, and the place of its last row, if there may be more.
pub fn list(phase: Phase, after: Option<&Cursor>) -> Result<(Vec<Row>, Option<Cursor>), Stop> {
    let rows = wit::list_by_state(state_out(phase), after, PAGE)?;
    let last = rows
        .get(PAGE as usize - 1)
        .map(|row| Cursor { issued: row.entry.index.issued, approval_id: say(&row.entry.index.approval_id) });
    Ok((rows.into_iter().filter_map(|stored| row(stored).ok()).collect(), last))
}

pub fn due(now: u64, limit: u32) -> Result<Vec<(Sha, u64)>, Stop> {
    let mut out = Vec::new();
    for found in wit::due(now, limit)? {
        out.push((sha(&found.key)?, found.version));
    }
    Ok(out)
}

pub fn remove(key: &Sha, version: u64) -> Result<bool, Stop> {
    Ok(wit::remove(key, version)?)
}

fn row(stored: wit::Stored) -> Result<Row, Stop> {
    let index = index_in(stored.entry.index)?;
    let confirmation = body::decode_row(&index, &stored.entry.body).map_err(Stop::Damaged)?;
    Ok(Row { key: sha(&stored.key)?, version: stored.version, confirmation })
}

fn sha(bytes: &[u8]) -> Result<Sha, Stop> {
    bytes.try_into().map_err(|_| Stop::Damaged("the store returned a digest that is none"))
}

fn entry(settings: &Settings, c: &Confirmation) -> wit::Entry {
    let index = c.index(settings);
    wit::Entry {
        index: wit::Index {
            state: state_out(index.phase),
            owner: index.owner,
            approval_id: index.approval_id,
            binding: index.binding.to_vec(),
            issued: index.issued,
            changed: index.changed,
            until: index.until,
            purge_after: index.purge_after,
        },
        body: body::encode(c),
    }
}

fn index_in(index: wit::Index) -> Result<Index, Stop> {
    Ok(Index {
        phase: match index.state {
            wit::State::Pending => Phase::Pending,
            wit::State::InFlight => Phase::InFlight,
            wit::State::Completed => Phase::Completed,
            wit::State::Declined => Phase::Declined,
            wit::State::Settled => Phase::Settled,
        },
        owner: index.owner,
        approval_id: index.approval_id,
        binding: sha(&index.binding)?,
        issued: index.issued,
        changed: index.changed,
        until: index.until,
        purge_after: index.purge_after,
    })
}

fn state_out(phase: Phase) -> wit::State {
    match phase {
        Phase::Pending => wit::State::Pending,
        Phase::InFlight => wit::State::InFlight,
        Phase::Completed => wit::State::Completed,
        Phase::Declined => wit::State::Declined,
        Phase::Settled => wit::State::Settled,
    }
}
