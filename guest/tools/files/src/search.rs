//! Searches a directory tree by name and by line. Follows no symbolic link below where it starts; every bound that it
//! meets is told. Changes nothing.

use crate::bindings::exports::counterfoil::tool::tools::{Outcome, Plan, ToolError};
use crate::describe::MAX_PATTERN;
use crate::paths::{Place, Roots};
use crate::pattern::Pattern;
use crate::read::directory;
use crate::snapshot::{Found, children, look};
use crate::text::{count, encoded, quote};
use crate::{harmless, invalid};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::fs;

/// Most entries looked at: up to ten of the host's thirty seconds on a busy machine.
const MAX_ENTRIES: usize = 50_000;
/// Most names and lines returned, and most bytes of both: the host takes 384 KiB for a whole answer.
const MAX_NAMES: usize = 500;
const MAX_LINES: usize = 200;
const MAX_BYTES: usize = 256 << 10;
/// Largest file that is searched, and most bytes of all files together: memory and time.
const MAX_FILE: u64 = 8 << 20;
const MAX_TOTAL: u64 = 128 << 20;
/// Most characters of a line shown on either side of what was found.
const AROUND: usize = 100;

fn subject(roots: &Roots, path: &str, pattern: &str) -> Result<Place, ToolError> {
    if pattern.is_empty() || pattern.chars().count() > MAX_PATTERN {
        return Err(invalid(format!("a pattern has 1 to {MAX_PATTERN} characters")));
    }
    if pattern.contains(['\n', '\0']) {
        return Err(invalid("a pattern is searched within one line: it cannot have a line break or a NUL character"));
    }
    directory(roots.resolve(path)?)
}

pub fn plan(roots: &Roots, path: &str, pattern: &str) -> Result<Plan, ToolError> {
    let place = subject(roots, path, pattern)?;
    let what = if Pattern::new(pattern).is_glob() { "names that match" } else { "names and lines with" };
    let summary = format!("Will search directory {} for {what} {}.", place.quoted(), quote(pattern));
    Ok(harmless(summary, json!({ "path": place.shown, "pattern": pattern })))
}

/// What has been found, and what had to be left out.
#[derive(Default)]
struct Finds {
    names: Vec<String>,
    lines: Vec<Value>,
    used: usize,
    read: u64,
    entries: usize,
    /// Something more may match.
    truncated: bool,
    too_large: u64,
    not_text: u64,
    unreadable: u64,
    unnameable: u64,
}

pub fn run(roots: &Roots, path: &str, pattern: &str) -> Result<Outcome, ToolError> {
    let top = subject(roots, path, pattern)?;
    let compiled = Pattern::new(pattern);
    let text = (!compiled.is_glob()).then_some(pattern);
    let mut finds = Finds::default();
    let mut open = VecDeque::from([String::new()]);
    'walk: while let Some(folder) = open.pop_front() {
        let place = top.child(&folder);
        let Ok(inside) = children(&place, MAX_ENTRIES) else {
            finds.unreadable += 1;
            continue;
        };
        finds.unnameable += inside.unnameable;
        finds.truncated |= !inside.complete;
        for name in inside.names {
            finds.entries += 1;
            if finds.entries > MAX_ENTRIES {
                finds.truncated = true;
                break 'walk;
            }
            let below = if folder.is_empty() { name } else { format!("{folder}/{name}") };
            let place = top.child(&below);
            if compiled.matches(&below) && !finds.name(&place.shown) {
                break 'walk;
            }
            match (look(&place), text) {
                (Ok(Found::Directory), _) => open.push_back(below),
                (Ok(Found::File { size, .. }), Some(text)) if !finds.file(&place, size, text) => break 'walk,
                (Err(_), _) => finds.unreadable += 1,
                _ => {}
            }
        }
    }
    Ok(finds.outcome(&top, text.is_some()))
}

impl Finds {
    /// False: there is no room for more.
    fn name(&mut self, name: &str) -> bool {
        let fits = self.names.len() < MAX_NAMES && self.room(encoded(name) + 1);
        if fits {
            self.names.push(name.to_owned());
        }
        self.truncated |= !fits;
        fits
    }

    fn room(&mut self, bytes: usize) -> bool {
        self.used += bytes;
        self.used <= MAX_BYTES
    }

    /// Looks for lines in one file. False: there is no room for more.
    fn file(&mut self, place: &Place, size: u64, wanted: &str) -> bool {
        if size > MAX_FILE {
            self.too_large += 1;
            return true;
        }
        if self.read + size > MAX_TOTAL {
            self.truncated = true;
            return false;
        }
        self.read += size;
        let Ok(content) = fs::read(&place.full) else {
            self.unreadable += 1;
            return true;
        };
        let Some(content) = String::from_utf8(content).ok().filter(|content| !content.contains('\0')) else {
            self.not_text += 1;
            return true;
        };
        // Most files do not match: one pass over the whole before looking line by line.
        if !content.contains(wanted) {
            return true;
        }
        for (at, line) in content.lines().enumerate() {
            let Some((before, after)) = line.split_once(wanted) else { continue };
            let text = around(before, wanted, after);
            if self.lines.len() == MAX_LINES || !self.room(encoded(&text) + encoded(&place.shown) + 40) {
                self.truncated = true;
                return false;
            }
            self.lines.push(json!({ "path": place.shown, "line": at + 1, "text": text }));
        }
        true
    }

    fn outcome(self, top: &Place, in_text: bool) -> Outcome {
        let mut message = format!("Found {}", count(self.names.len() as u64, "name", "names"));
        if in_text {
            message += &format!(" and {}", count(self.lines.len() as u64, "line", "lines"));
        }
        message += &format!(" below {}", top.quoted());
        if self.truncated {
            message += "; a limit was met, so there may be more: search a smaller directory or for something rarer";
        }
        let left_out = self.too_large + self.not_text + self.unreadable + self.unnameable;
        if left_out > 0 {
            message += &format!("; {} not searched", count(left_out, "file or name was", "files or names were"));
        }
        let details = json!({
            "path": top.shown, "searched": if in_text { "names_and_lines" } else { "names" },
            "names": self.names, "lines": self.lines, "truncated": self.truncated,
            "skipped": { "too_large": self.too_large, "not_text": self.not_text, "unreadable": self.unreadable, "unnameable": self.unnameable },
        });
        Outcome { message: message + ".", details: details.to_string() }
    }
}

/// The first find in a line with what is around it; `…` where something is left out.
fn around(before: &str, wanted: &str, after: &str) -> String {
    let start = before.char_indices().rev().nth(AROUND - 1).map_or(0, |(at, _)| at);
    let end = after.char_indices().nth(AROUND).map_or(after.len(), |(at, _)| at);
    let (left, right) = (before.get(start..).unwrap_or_default(), after.get(..end).unwrap_or_default());
    format!("{}{left}{wanted}{right}{}", if start > 0 { "…" } else { "" }, if end < after.len() { "…" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_shown_around_what_was_found() {
        assert_eq!(around("a ", "b", " c"), "a b c");
        let long = "é".repeat(AROUND + 1);
        let cut = "é".repeat(AROUND);
        assert_eq!(around(&long, "x", &long), format!("…{cut}x{cut}…"));
        assert_eq!(around(&cut, "x", &cut), format!("{cut}x{cut}"));
    }
}
