//! The rules of the two-step contract, as functions of values.
//!
//! What this crate does *not* do: read a clock, draw randomness, keep or fetch anything, or know how it is called. Time,
//! random bytes and stored state are arguments; what is to be stored, and what is to be answered, are results. The
//! component in `guest/gate` adds the bindings and the load-decide-swap loop.
//!
//! - [`canonical`] reads arguments strictly and writes them so that equal values are equal bytes.
//! - [`contract`] decides: issue, check, start, record, sweep.
//! - [`approvals`] is what people decide: approve, decline, resolve.
//! - [`confirmation`] is the record of one issued token; [`body`] is how it is stored.
//! - [`responses`] are the wire shapes, [`answer`] the closed sets of reasons with their advice.
//! - [`level`] is the risk model: raise only. [`prose`] makes sentences.
#![no_std]

extern crate alloc;

pub mod answer;
pub mod approvals;
pub mod body;
pub mod canonical;
pub mod confirmation;
pub mod contract;
pub mod digest;
pub mod level;
pub mod prose;
pub mod responses;
pub mod settings;
pub mod token;

mod calendar;
mod json;
