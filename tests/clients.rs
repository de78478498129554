//! The scripts that drive the program with the official MCP clients, run to their end.

#![allow(clippy::expect_used, clippy::panic, reason = "a missing piece fails the test and says what makes it")]

use crate::program::program;
use std::path::Path;
use std::process::Command;

/// Runs `tests/node/SCRIPT WORDS… PROGRAM COMPONENT` and holds it to the number of cases that have to pass.
///
/// # Panics
/// Where a piece is missing, where a case failed, and where another number of them ran.
#[track_caller]
pub fn node(script: &str, words: &[&str], component: &Path, cases: usize) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("node");
    let read = |path: &str| std::fs::read(folder.join(path)).ok();
    let installed = read("node_modules/.locked").is_some_and(|locked| Some(locked) == read("package-lock.json"));
    assert!(installed, "the MCP clients for Node are missing or of another version: run `just node`");
    passed("node", &folder.join(script), words, component, cases);
}

/// The same with `tests/python/SCRIPT`, in the environment that `just python` makes.
///
/// # Panics
/// Where a piece is missing, where a case failed, and where another number of them ran.
#[track_caller]
pub fn python(script: &str, words: &[&str], component: &Path, cases: usize) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("python");
    let environment = crate::target().join("venv");
    let python = environment.join("bin/python");
    let asked = std::fs::read(folder.join("requirements.txt")).ok();
    let installed = python.is_file() && asked.is_some() && asked == std::fs::read(environment.join(".installed")).ok();
    assert!(installed, "the Python SDK is missing or of another version: run `just python`");
    passed(&python.to_string_lossy(), &folder.join(script), words, component, cases);
}

#[track_caller]
fn passed(interpreter: &str, script: &Path, words: &[&str], component: &Path, cases: usize) {
    let mut command = Command::new(interpreter);
    command.arg(script).args(words).arg(program()).arg(component);
    // Each component is compiled once, for all of these tests.
    command.env("COUNTERFOIL_TEST_CACHE", program().with_file_name("test-cache"));
    let ran = command.output().unwrap_or_else(|error| panic!("{interpreter} does not start ({error}): install it"));
    let (out, err) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{out}\n{err}");
    let last = out.lines().last().unwrap_or_default();
    assert_eq!(last, format!("{cases} of {cases} passed"), "{out}");
}
