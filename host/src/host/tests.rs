//! The contract as a library user meets it: native tools, a store in memory, a clock that the test sets.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod answers;
mod audit;
pub(crate) mod backends;
mod calls;
mod contract;
mod fits;
pub(crate) mod kit;
mod levels;
#[cfg(feature = "rules")]
mod policy;
mod runs;
mod secrets;
mod start;
