//! What qpdf and PDFium find in a PDF: `tests/python/read_pdf.py` in the Python of `just python`.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What the readers say about a file. Fails the test where one of them finds anything wrong.
#[track_caller]
pub fn read(pdf: &Path) -> Value {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| here.join("../target"), PathBuf::from);
    let python = target.join("venv/bin/python");
    assert!(python.exists(), "{} is missing: run `just python`", python.display());
    let ran = Command::new(python).arg(here.join("python/read_pdf.py")).arg(pdf).output().unwrap();
    let err = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "run `just python` where a module is missing\n{err}");
    let read: Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(read["problems"], serde_json::json!([]));
    assert_eq!(read["conforms"], "PDF/A-2a");
    assert!(read["marked"] == true && read["fonts"].as_object().unwrap().values().all(|embedded| embedded == true));
    read
}

/// The text of all pages with one space for each run of white space.
pub fn text(read: &Value) -> String {
    let pages = read["pages"].as_array().unwrap();
    let text = pages.iter().map(|page| page["text"].as_str().unwrap()).collect::<Vec<_>>().join(" ");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
