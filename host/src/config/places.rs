//! Where each value of a configuration was written, so that a mistake that is found late still names its line.

use crate::text;
use crate::{Error, ErrorKind};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;
use std::path::PathBuf;

/// A configuration file's text, and the places of its values by dotted path (`plugins.files.levels.write_file`).
#[derive(Clone, Default)]
pub struct Places {
    file: PathBuf,
    text: String,
    spans: BTreeMap<String, Range<usize>>,
}

impl std::fmt::Debug for Places {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Places({})", self.file.display())
    }
}

impl Places {
    pub(super) fn new(file: PathBuf, text: String) -> Self {
        Self { file, text, spans: BTreeMap::new() }
    }

    /// The file that was read. Empty for a configuration that was made in code.
    pub fn file(&self) -> &std::path::Path {
        &self.file
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn note(&mut self, path: impl Into<String>, span: Range<usize>) {
        self.spans.insert(path.into(), span);
    }

    /// Whether something was written at `path`.
    pub fn has(&self, path: &str) -> bool {
        self.spans.contains_key(path)
    }

    /// An error about the value at `path`, or about the nearest table around it that has a place.
    pub fn error(&self, path: &str, message: &str) -> Error {
        let mut part = path;
        loop {
            if let Some(span) = self.spans.get(part) {
                return self.error_at(span.clone(), message);
            }
            match part.rsplit_once('.') {
                Some((outer, _)) => part = outer,
                None => return self.error_in_file(message),
            }
        }
    }

    /// An error about the file as a whole.
    pub(super) fn error_in_file(&self, message: &str) -> Error {
        let file = self.file.display().to_string();
        Error::new(
            ErrorKind::Config,
            if file.is_empty() { message.to_owned() } else { format!("{}: {message}", text::escape(&file)) },
        )
    }

    /// An error about a stretch of the file, with the line it begins in.
    pub(super) fn error_at(&self, span: Range<usize>, message: &str) -> Error {
        Error::new(ErrorKind::Config, self.excerpt(span, message))
    }

    /// The same for a text of which not everything is known yet: where it may hold the value of a variable, which somebody wrote
    /// in a place where none belongs, neither the line nor what the reader quotes of it is shown.
    pub(super) fn error_unread(&self, span: Range<usize>, message: &str) -> Error {
        if !self.is_about_variables(span.start) {
            return self.error_at(span, message);
        }
        let quotes = message.starts_with("invalid type") || message.starts_with("invalid value");
        let message = if quotes { "this is not what belongs here" } else { message };
        self.error_unshown(span, message)
    }

    /// An error about a stretch of a line that may hold the value of a variable: with the place, without the line.
    pub(super) fn error_unshown(&self, span: Range<usize>, message: &str) -> Error {
        let shown = self.excerpt(span, message);
        let first = shown.lines().next().unwrap_or_default();
        Error::new(
            ErrorKind::Config,
            format!("{first} (the line is not shown: it is about variables, and may hold a value)"),
        )
    }

    /// The same, about the value at `path`.
    pub(super) fn error_of_variable(&self, path: &str, message: &str) -> Error {
        match self.spans.get(path) {
            Some(span) => self.error_unshown(span.clone(), message),
            None => self.error_in_file(message),
        }
    }

    /// Whether the table around a place, or what of it stands before that, speaks of variables.
    fn is_about_variables(&self, place: usize) -> bool {
        let before = self.text.get(..place).unwrap_or(&self.text);
        let end = place + self.text.get(place..).and_then(|rest| rest.find('\n')).unwrap_or(0);
        let table = before.rfind("\n[").unwrap_or(0);
        self.text.get(table..end.max(place)).unwrap_or(&self.text).contains("env")
    }

    fn excerpt(&self, span: Range<usize>, message: &str) -> String {
        let start = span.start.min(self.text.len());
        let before = self.text.get(..start).unwrap_or_default();
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let number = before.bytes().filter(|b| *b == b'\n').count() + 1;
        let rest = self.text.get(line_start..).unwrap_or_default();
        let line = rest.lines().next().unwrap_or_default();
        let (head, tail) = line.split_at_checked(start - line_start).unwrap_or((line, ""));
        let marked = tail.split_at_checked(span.end.saturating_sub(start)).map_or(tail, |(marked, _)| marked);
        // Both are measured as they are shown: tabs and hidden characters take the room of their escapes.
        let width = |part: &str| text::escape(part).chars().count();
        let margin = number.to_string().len();
        let mut shown =
            format!("{}:{number}:{}: {message}", text::escape(&self.file.display().to_string()), width(head) + 1);
        let _ = write!(shown, "\n{:margin$} |\n{number} | {}", "", text::escape(line));
        // Repeated and not padded: a format's width ends at 65535, and a line need not.
        let (indent, marks) = (" ".repeat(width(head)), "^".repeat(width(marked).max(1)));
        let _ = write!(shown, "\n{:margin$} | {indent}{marks}", "");
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_shows_its_line_and_marks_the_value() {
        let mut places = Places::new("a.toml".into(), "[gate]\nttl = \"5s\"\n".into());
        places.note("gate.ttl", 13..17);
        let expected = "a.toml:2:7: too short\n  |\n2 | ttl = \"5s\"\n  |       ^^^^";
        assert_eq!(places.error("gate.ttl", "too short").to_string(), expected);
        assert_eq!(places.error("gate.ttl.deeper", "too short").to_string(), expected);
        assert_eq!(places.error("store", "x").to_string(), "a.toml: x");
    }

    #[test]
    fn a_mistake_far_out_on_a_long_line_is_shown_all_the_same() {
        let long = format!("{}x", " ".repeat(70_000));
        let places = Places::new("a.toml".into(), long.clone());
        let shown = places.error_at(70_000..70_001, "x").to_string();
        assert!(shown.starts_with("a.toml:1:70001: x") && shown.ends_with(&format!("  | {}^", " ".repeat(70_000))));
    }

    #[test]
    fn a_line_that_may_hold_a_value_is_not_shown() {
        let shown = |text: &str| {
            let places = Places::new("a.toml".into(), text.into());
            let at = text.find("hunter2").unwrap_or(text.len());
            places.error_unread(at..at + 1, "invalid type: string \"hunter2\"").to_string()
        };
        for text in
            ["env = { KEY = \"hunter2\" }", "[a.env]\nOTHER = 1\nKEY = \"hunter2", "[a]\nenv.K = hunter2\n[b]\n"]
        {
            let shown = shown(text);
            assert!(!shown.contains("hunter2") && shown.starts_with("a.toml:"), "{shown}");
            assert!(shown.contains("not what belongs here (the line is not shown"), "{shown}");
        }
        assert!(shown("[a.env]\nKEY = 1\n[b]\nx = \"hunter2\"").contains("4 | x = \"hunter2\""));
    }

    #[test]
    fn a_place_at_the_end_or_out_of_the_file_is_shown_all_the_same() {
        let places = Places::new("a.toml".into(), "é\n".into());
        assert!(places.error_at(3..9, "x").to_string().starts_with("a.toml:2:1: x"));
        assert!(places.error_at(99..100, "x").to_string().starts_with("a.toml:2:1: x"));
        assert!(places.error_at(1..2, "x").to_string().starts_with("a.toml:1:"));
    }
}
