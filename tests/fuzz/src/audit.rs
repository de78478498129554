//! Audit files: a line is a row as another reader of JSON sees it, or is none; and a file of which anything but the end was
//! changed is found out by its own chain, without a checkpoint.

use counterfoil::audit::{Filter, line, search, verify};
use input::Input;
use serde_json::{Map, Value, json};
use std::fs::File;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::PathBuf;
use std::sync::LazyLock;

#[path = "input.rs"]
mod input;

/// A folder with one file, which each input writes anew: beside this program, where nothing else is.
static PLACE: LazyLock<PathBuf> = LazyLock::new(|| {
    let place = std::env::current_exe().unwrap().with_extension("audited");
    std::fs::create_dir_all(&place).unwrap();
    std::fs::write(place.join(NAME), "").unwrap();
    std::fs::set_permissions(place.join(NAME), PermissionsExt::from_mode(0o600)).unwrap();
    place
});
const NAME: &str = "20260518T143320123Z-0123456789ab-0001.jsonl";
const ZEROS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// Holds the first line of the input, and a file that is made and changed as the input says. Says what became of the file.
pub fn check(bytes: &[u8]) -> &'static str {
    row(bytes.split(|byte| *byte == b'\n').next().unwrap_or_default());
    let mut input = Input(bytes);
    let written = file(&mut input);
    let mut changed = written.clone();
    input.change(&mut changed);

    // Not emptied first: a file system may write such a file to the disk at once, which takes longer than all of the rest.
    let file = File::options().write(true).open(PLACE.join(NAME)).unwrap();
    file.set_len(changed.len() as u64).unwrap();
    file.write_all_at(&changed, 0).unwrap();
    let findings = verify(&PLACE, &[]).unwrap();
    let (before, after) = (lines(&written), lines(&changed));
    let mut hits = Vec::new();
    let filter = Filter { last: 1000, ..Filter::default() };
    let more = search(&PLACE, &filter, |hit| {
        hits.push(hit.text.into_bytes());
        Ok(())
    });
    more.unwrap();
    hits.sort();
    let mut rows: Vec<_> = after.iter().filter(|line| line::read(line).is_ok()).map(|line| line.to_vec()).collect();
    rows.sort();
    assert_eq!(hits, rows, "each row is found once, as it is written");

    let differs = after.iter().enumerate().find(|(at, line)| before.get(*at) != Some(*line)).map(|(at, _)| at);
    match differs {
        None => {
            assert!(findings.is_whole(), "{:?}, and only the end is gone", findings.faults);
            if after.len() == before.len() { "whole" } else { "cut" }
        }
        Some(at) if at + 1 < after.len() => {
            assert!(!findings.is_whole(), "line {} is another, and nothing is found", at + 1);
            "changed"
        }
        // Of the last line only its form, its number and what it follows can be told without a checkpoint.
        Some(_) => {
            if rows.len() < after.len() {
                assert!(!findings.is_whole(), "the last line is no row, and nothing is found");
            }
            "changed at its end"
        }
    }
}

/// Lines that are whole.
fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    let mut lines: Vec<_> = bytes.split(|byte| *byte == b'\n').collect();
    lines.pop();
    lines
}

/// A line alone: the same row to a reader of JSON that knows no audit, or no row.
fn row(line: &[u8]) {
    let other = serde_json::from_slice::<Map<String, Value>>(line);
    match (line::read(line), other) {
        (Ok(row), other) => {
            let other = other.expect("a row is JSON");
            assert_eq!(
                (row.fields.get("seq"), row.fields.get("prev")),
                (Some(&row.seq.into()), Some(&row.prev.into()))
            );
            assert_eq!(row.fields, other, "it has the same fields to another reader");
            assert!(line.len() <= line::MAX_LINE);
        }
        (Err(what), Ok(other)) => {
            // Written anew, in which no key can stand twice, it is a row if that was all, and never another one.
            if let Ok(row) = line::read(&serde_json::to_vec(&other).unwrap()) {
                assert_eq!(row.fields, other);
                assert!(what.contains("each key once"), "{what}");
            }
        }
        (Err(_), Err(_)) => {}
    }
}

/// A file as a process writes it, by this target's own word.
fn file(input: &mut Input<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut prev = ZEROS.to_owned();
    for seq in 1..=2 + input.below(6) {
        let mut row = json!({ "seq": seq, "time": format!("2026-05-18T14:33:20.{:03}Z", input.byte()) });
        let more = match input.below(4) {
            _ if seq == 1 => json!({ "event": "opened", "format": "counterfoil-audit 1", "file": NAME }),
            0 => json!({ "event": "started", "tool": input.text(), "approval_id": input.text() }),
            1 => json!({ "event": "ended", "started": input.below(seq) }),
            2 => json!({ "event": "refused", "owner": input.text(), "level": "caution" }),
            _ => json!({ "event": "settling", "tool": input.text() }),
        };
        row.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        row["prev"] = json!(prev);
        let line = row.to_string();
        prev = line::hash(line.as_bytes());
        bytes.extend_from_slice(line.as_bytes());
        bytes.push(b'\n');
    }
    bytes
}
