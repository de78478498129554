//! What the fuzz targets `arguments` and `entries` found, and what is kept of their inputs, still holds.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::collections::BTreeMap;
use std::path::Path;

#[path = "../../../tests/fuzz/src/arguments.rs"]
mod arguments;
#[path = "../../../tests/fuzz/src/entries.rs"]
mod entries;
#[path = "../../../tests/fuzz/src/kept.rs"]
mod kept;

fn kept(target: &str, check: fn(&[u8]) -> &'static str) -> BTreeMap<&'static str, usize> {
    kept::run(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fuzz"), target, check)
}

#[test]
fn kept_arguments_get_the_answers_of_the_model() {
    let expected = [("invalid", 29), ("with a malformed token", 1), ("with a token", 1), ("without a token", 17)];
    assert_eq!(kept("arguments", arguments::check), BTreeMap::from(expected));
}

#[test]
fn kept_entries_open_no_more_when_they_are_changed() {
    let expected = [
        ("completed", 3),
        ("completed, damaged", 4),
        ("declined", 1),
        ("declined, damaged", 3),
        ("in flight", 1),
        ("in flight, damaged", 2),
        ("pending", 21),
        ("pending, changed", 1),
        ("pending, damaged", 10),
        ("settled", 1),
        ("settled, damaged", 2),
    ];
    assert_eq!(kept("entries", entries::check), BTreeMap::from(expected));
}
