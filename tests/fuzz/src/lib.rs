//! What the fuzz targets hold, each as a function of bytes that panics where it does not hold and otherwise says what the
//! bytes were. `guest/gate-core/tests/corpus.rs` and `host/src/fuzz/tests.rs` run the same functions over what is kept of
//! the inputs.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

pub mod arguments;
#[cfg(feature = "host")]
pub mod audit;
#[cfg(feature = "host")]
pub mod config;
pub mod entries;
#[cfg(feature = "host")]
pub mod lines;
#[cfg(feature = "host")]
pub mod lock;
