//! The contract through the official Python SDK: the program over stdio, with and without `initialize`.

use std::path::Path;
use std::process::Command;

#[test]
fn the_official_python_sdk_drives_the_whole_contract() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let python = root.join("target/venv/bin/python");
    assert!(python.exists(), "the Python SDK is missing in target/venv: run `just python`");
    let program = root.join("target/debug/counterfoil");
    assert!(program.exists(), "the program is missing: run `cargo build -p counterfoil`");
    let files = root.join("target/components/files.wasm");
    assert!(files.exists(), "the files plug-in is missing: run `just build-components`");
    let ran = Command::new(python)
        .arg(root.join("tests/python/contract.py"))
        .args([program, files])
        .output()
        .expect("python starts");
    assert!(
        ran.status.success(),
        "{}\n{}",
        String::from_utf8_lossy(&ran.stdout),
        String::from_utf8_lossy(&ran.stderr)
    );
}
