//! Locks: a text is refused with its file, or is a lock that reads as itself once it is written, whatever the texts of
//! tools in it are.

use counterfoil::{ErrorKind, fuzz};
use std::path::Path;

const FILE: &str = "/nowhere/counterfoil.lock";

/// Holds one text to that. Says what it was.
pub fn check(bytes: &[u8]) -> &'static str {
    let Ok(text) = std::str::from_utf8(bytes) else { return "not UTF-8" };
    match fuzz::lock(Path::new(FILE), text) {
        Err(error) => {
            let said = error.to_string();
            assert_eq!(error.kind(), ErrorKind::Config, "{said}");
            assert!(said.starts_with(FILE), "names its file: {said}");
            assert!(!said.contains(|c: char| c.is_control() && c != '\n'), "is safe to show: {said:?}");
            if text.parse::<toml::Table>().is_ok() { "refused" } else { "no TOML" }
        }
        Ok(lock) => {
            let written = lock.text();
            let again = fuzz::lock(Path::new(FILE), &written);
            assert_eq!(again.as_ref().ok(), Some(&lock), "{written}: {again:?}");
            assert_eq!(lock.text(), written, "written again");
            let tools = lock.plugins.values().any(|plugin| !plugin.tools.is_empty());
            if tools { "with tools" } else { "without tools" }
        }
    }
}
