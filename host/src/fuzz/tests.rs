//! What the fuzz targets `audit`, `config`, `lines` and `lock` found, and what is kept of their inputs, still holds.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::collections::BTreeMap;
use std::path::Path;

#[path = "../../../tests/fuzz/src/audit.rs"]
mod audit;
#[path = "../../../tests/fuzz/src/config.rs"]
mod config;
#[path = "../../../tests/fuzz/src/kept.rs"]
mod kept;
#[path = "../../../tests/fuzz/src/lines.rs"]
mod lines;
#[path = "../../../tests/fuzz/src/lock.rs"]
mod lock;

fn kept(target: &str, check: fn(&[u8]) -> &'static str) -> BTreeMap<&'static str, usize> {
    kept::run(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fuzz"), target, check)
}

#[test]
fn kept_lines_are_what_they_are_to_another_reader() {
    let expected = [
        ("blank", 2),
        ("call", 3),
        ("no JSON", 14),
        ("no fitting parameters", 2),
        ("no message", 12),
        ("not UTF-8", 9),
        ("notification", 1),
        ("request", 4),
        ("response", 1),
    ];
    assert_eq!(kept("lines", lines::check), BTreeMap::from(expected));
}

#[test]
fn kept_configurations_are_refused_with_their_file_or_keep_every_promise() {
    let expected = [("accepted", 3), ("accepted, with plug-ins", 3), ("no TOML", 23), ("refused", 19)];
    assert_eq!(kept("config", config::check), BTreeMap::from(expected));
}

#[test]
fn kept_locks_read_as_themselves_once_they_are_written() {
    let expected = [("no TOML", 35), ("refused", 10), ("with tools", 2), ("without tools", 1)];
    assert_eq!(kept("lock", lock::check), BTreeMap::from(expected));
}

#[test]
fn kept_audit_files_are_found_out_where_they_were_changed() {
    let expected = [("changed", 21), ("changed at its end", 1), ("cut", 6), ("whole", 20)];
    assert_eq!(kept("audit", audit::check), BTreeMap::from(expected));
}
