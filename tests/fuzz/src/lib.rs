//! What the fuzz targets hold, each as a function of bytes that panics where it does not hold and otherwise says what the
//! bytes were. `guest/gate-core/tests/corpus.rs` runs the same functions over what is kept of the inputs.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

pub mod arguments;
pub mod entries;
