//! What the tests share.

pub mod clients;
pub mod program;
pub mod refunds;

use std::path::{Path, PathBuf};
use std::time::SystemTime;

pub mod runners;

/// The built component of that name: `gate` or a plug-in that ships with the project.
///
/// # Panics
/// Where it has not been built.
#[must_use]
pub fn component(name: &str) -> PathBuf {
    // The host's build script keeps it like its source, before any test is built.
    there(target().join("components").join(format!("{name}.wasm")), &[], "just build-components")
}

/// The component of a fixture plug-in: a file under `tests/fixtures/examples`.
///
/// # Panics
/// Where it has not been built, or not since its source changed.
#[must_use]
pub fn fixture(name: &str) -> PathBuf {
    let name = name.replace('-', "_");
    built(&name, &name)
}

/// The component of a hostile plug-in: a file under `tests/fixtures/examples/hostile`.
///
/// # Panics
/// Where it has not been built, or not since its source changed.
#[must_use]
pub fn hostile(name: &str) -> PathBuf {
    built(&format!("hostile_{name}"), &format!("hostile/{name}"))
}

fn built(name: &str, source: &str) -> PathBuf {
    let file = target().join(format!("guest/wasm32-wasip2/guest/examples/{name}.wasm"));
    let source = format!("tests/fixtures/examples/{source}.rs");
    there(file, &[&source, "tests/fixtures/src", "wit/tool"], "just fixtures")
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

/// A built file that is no older than its sources, files and folders of the repository: a test of an older one would say
/// nothing about them. Cargo compares the same times, so what makes the file always makes it new enough; what is compiled
/// for unit tests only is part of no file, and does not count.
#[allow(clippy::panic, reason = "a missing piece fails the test and names what makes it")]
fn there(path: PathBuf, sources: &[&str], made_by: &str) -> PathBuf {
    let Ok(made) = path.metadata().and_then(|file| file.modified()) else {
        panic!("{} is missing: run `{made_by}`", path.display())
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    if let Some(newer) = sources.iter().find_map(|source| newer(&root.join(source), made)) {
        panic!("{} is older than {}: run `{made_by}`", path.display(), newer.display())
    }
    path
}

/// A source in this file or folder that was changed later than that.
fn newer(source: &Path, made: SystemTime) -> Option<PathBuf> {
    if source.is_dir() {
        let entries = std::fs::read_dir(source).into_iter().flatten().flatten();
        let part = |name: &str| !name.starts_with('.') && !["tests", "tests.rs", "suite.rs"].contains(&name);
        let seen = entries.filter(|entry| part(&entry.file_name().to_string_lossy()));
        return seen.map(|entry| entry.path()).find_map(|path| newer(&path, made));
    }
    let changed = source.metadata().and_then(|file| file.modified()).ok();
    changed.is_none_or(|changed| changed > made).then(|| source.to_path_buf())
}

/// The built example of the crate `counterfoil` of that name. `cargo test` of the workspace builds it.
///
/// # Panics
/// Where it has not been built, or not since its source changed.
#[must_use]
#[allow(clippy::panic, reason = "a missing piece fails the test and names what makes it")]
pub fn example(name: &str) -> PathBuf {
    let tests = std::env::current_exe().unwrap_or_else(|error| panic!("no path of the tests' own: {error}"));
    let profile = tests.ancestors().nth(2).unwrap_or(Path::new(""));
    let source = format!("host/examples/{name}.rs");
    there(profile.join("examples").join(name), &[&source, "host/src"], "cargo build -p counterfoil --examples")
}
