//! The reader of arguments against a slow model of it, and the time it takes for hostile shapes.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod model;
mod properties;
mod spelling;
mod time;
mod values;
