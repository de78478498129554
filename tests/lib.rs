//! What the tests share.

pub mod clients;
pub mod program;
pub mod refunds;

use std::path::{Path, PathBuf};

pub mod runners;

/// The built component of that name: `gate` or a plug-in that ships with the project.
///
/// # Panics
/// Where it has not been built.
#[must_use]
pub fn component(name: &str) -> PathBuf {
    there(target().join("components").join(format!("{name}.wasm")), "just build-components")
}

/// The component of a fixture plug-in: a file under `tests/fixtures/examples`.
///
/// # Panics
/// Where it has not been built.
#[must_use]
pub fn fixture(name: &str) -> PathBuf {
    let file = format!("{}.wasm", name.replace('-', "_"));
    there(target().join("guest/wasm32-wasip2/guest/examples").join(file), "just fixtures")
}

/// A folder for compiled code that all tests share, so that each component is compiled once.
#[must_use]
pub fn code() -> PathBuf {
    target().join("test-code")
}

/// Cargo's target folder.
fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../target"), PathBuf::from)
}

#[allow(clippy::panic, reason = "a missing piece fails the test and names what makes it")]
fn there(path: PathBuf, made_by: &str) -> PathBuf {
    assert!(path.is_file(), "{} is missing: run `{made_by}`", path.display());
    path
}

/// The built example of the crate `counterfoil` of that name. `cargo test` of the workspace builds it.
///
/// # Panics
/// Where it has not been built.
#[must_use]
#[allow(clippy::panic, reason = "a missing piece fails the test and names what makes it")]
pub fn example(name: &str) -> PathBuf {
    let tests = std::env::current_exe().unwrap_or_else(|error| panic!("no path of the tests' own: {error}"));
    let profile = tests.ancestors().nth(2).unwrap_or(Path::new(""));
    let path = profile.join("examples").join(name);
    assert!(path.is_file(), "{} is missing: run `cargo build -p counterfoil --examples`", path.display());
    path
}
