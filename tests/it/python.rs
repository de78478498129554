//! The contract through the official Python SDK: the program over stdio, with and without `initialize`.

use std::path::{Path, PathBuf};
use std::process::Command;

#[test]
fn the_official_python_sdk_drives_the_whole_contract() {
    // This test stands in `<target>/debug/deps`.
    let built = std::env::current_exe().unwrap();
    let debug = built.ancestors().nth(2).unwrap();
    let target = debug.parent().unwrap();
    let piece = |path: PathBuf, command: &str| {
        assert!(path.exists(), "{} is missing: run `{command}`", path.display());
        path
    };
    let python = piece(target.join("venv/bin/python"), "just python");
    let program = piece(debug.join("counterfoil"), "cargo build -p counterfoil");
    let files = piece(target.join("components/files.wasm"), "just build-components");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("python/contract.py");
    let ran = Command::new(python).arg(script).args([program, files]).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{out}\n{err}");
}
