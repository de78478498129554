//! What the tests share.

pub mod program;

use std::path::{Path, PathBuf};

pub mod runners;

/// The built component of that name: `gate` or `files`.
///
/// # Panics
/// Where it has not been built.
#[must_use]
#[allow(clippy::panic, reason = "a missing piece fails the test and names what makes it")]
pub fn component(name: &str) -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../target"), PathBuf::from);
    let path = target.join("components").join(format!("{name}.wasm"));
    assert!(path.is_file(), "{} is missing: run `just build-components`", path.display());
    path
}
