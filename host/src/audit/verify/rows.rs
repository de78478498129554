//! Holds the rows of one file to each other, to the file before and to the checkpoints.

use super::super::checkpoint::Head;
use super::super::file::{CLOSED, FORMAT, ROTATION};
use super::super::findings::{Checked, Fault, Findings, Remark};
use super::super::line::{self, Row, no_hash};
use super::super::lines::{Content, Lines};
use super::keeper;
use super::known::Places;
use crate::others;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// How many runs without an end are remembered at once: far more than run at once.
const MOST_OPEN: usize = 10_000;

/// How a file ended, for the one behind it.
pub(super) struct End {
    pub(super) name: String,
    seq: u64,
    head: String,
    /// Whether its last row says that its process ended in order.
    is_over: bool,
    /// Lines with which something began whose end is not there yet, by their number.
    open: BTreeMap<u64, (String, u64, Remark)>,
}

impl Findings {
    pub(super) fn unended(&mut self, end: End) {
        for (file, line, remark) in end.open.into_values() {
            self.remark(&file, Some(line), remark);
        }
    }

    /// Checkpoints of a file that say less than they did.
    fn put_back(&mut self, name: &str, last: u64, places: Vec<(PathBuf, u64)>) {
        if !places.is_empty() {
            self.remarks.retain(|remark| remark.file != name || !matches!(remark.what, Remark::Uncovered(_)));
        }
        for (place, known) in places {
            self.fault(name, None, Fault::PutBack { place, known, last });
        }
    }
}

/// A file, and what is known of it.
pub(super) struct One<'a> {
    pub(super) name: &'a str,
    pub(super) heads: &'a [Head],
    pub(super) known: &'a Places<'a>,
    /// The files that are there.
    pub(super) all: &'a BTreeSet<&'a str>,
}

impl One<'_> {
    /// `before`: the file before it, of the same process.
    pub(super) fn check(&self, findings: &mut Findings, dir: &Path, before: Option<End>) -> End {
        let (name, heads) = (self.name, self.heads);
        let path = dir.join(name);
        let mut end = End { name: name.to_owned(), seq: 0, head: no_hash(), is_over: false, open: BTreeMap::new() };
        let mut checked = Checked { file: name.to_owned(), rows: 0, span: None };
        let mut lines = match open(findings, name, &path) {
            Ok(lines) => lines,
            Err(e) => {
                findings.fault(name, None, Fault::Unreadable(e.to_string()));
                findings.files.push(checked);
                return before.unwrap_or(end);
            }
        };
        let mut before = before;
        let mut seen = vec![false; heads.len()];
        let mut torn = None;
        // Whether the line before ends the file, and whether that is because another goes on from it.
        let mut closed = None;
        loop {
            let line = match lines.next() {
                Ok(Some(line)) => line,
                Ok(None) => break,
                Err(e) => {
                    findings.fault(name, None, Fault::Unreadable(e.to_string()));
                    break;
                }
            };
            let number = Some(line.number);
            if closed.take().is_some() {
                findings.fault(name, number, Fault::Behind);
            }
            let bytes = match line.content {
                Content::Whole(bytes) => bytes,
                Content::Long => {
                    findings.fault(name, number, Fault::BadRow("it is longer than any row"));
                    continue;
                }
                Content::Torn => {
                    torn = number;
                    continue;
                }
            };
            let row = match line::read(&bytes) {
                Ok(row) => row,
                Err(what) => {
                    findings.fault(name, number, Fault::BadRow(what));
                    end.head = line::hash(&bytes);
                    end.seq = end.seq.saturating_add(1);
                    continue;
                }
            };
            checked.rows += 1;
            let first = checked.span.as_ref().map_or_else(|| row.time.clone(), |(first, _)| first.clone());
            checked.span = Some((first, row.time.clone()));
            if line.number == 1 {
                let previous = self.opening(findings, &row, before.take());
                (end.seq, end.open) = (previous.seq, previous.open);
            } else if row.prev != end.head {
                findings.fault(name, number, Fault::Chain);
            }
            // Numbers are whatever somebody wrote there: none follows on the last that there can be.
            if end.seq.checked_add(1) != Some(row.seq) {
                let expected = end.seq.saturating_add(1);
                findings.fault(name, number, Fault::Sequence { expected, found: row.seq });
            }
            (end.seq, end.head) = (row.seq, line::hash(&bytes));
            closed = (row.event == CLOSED).then(|| row.text("cause") == Some(ROTATION));
            for (head, seen) in heads.iter().zip(&mut seen) {
                *seen |= head.seq == row.seq && head.head == end.head;
            }
            pair(&mut end.open, name, line.number, &row);
        }
        self.ended(findings, &seen, &end, &checked, torn);
        if closed == Some(false) {
            // All but that row was covered before it was written, in every place.
            findings.put_back(name, end.seq, self.known.short_of(name, end.seq.saturating_sub(1)));
            end.is_over = true;
        }
        findings.files.push(checked);
        end
    }

    /// What the first row has to be. Returns where the file goes on from.
    fn opening(&self, findings: &mut Findings, row: &Row, before: Option<End>) -> End {
        let name = self.name;
        let none = End { name: String::new(), seq: 0, head: no_hash(), is_over: false, open: BTreeMap::new() };
        if row.event != "opened" {
            findings.fault(name, Some(1), Fault::NotOpened("its first row opens no file"));
            return before.unwrap_or(none);
        }
        if row.text("format") != Some(FORMAT) {
            findings.fault(name, Some(1), Fault::NotOpened("it has a form that this version does not know"));
        }
        if row.prev != no_hash() {
            findings.fault(name, Some(1), Fault::Chain);
        }
        if row.text("file") != Some(name) {
            findings.fault(name, Some(1), Fault::OtherFile);
        }
        let Some(previous) = row.fields.get("previous") else { return none };
        let text = |field: &str| previous.get(field).and_then(serde_json::Value::as_str).unwrap_or_default();
        let (other, head) = (text("file"), text("head"));
        let seq = previous.get("seq").and_then(serde_json::Value::as_u64).unwrap_or_default();
        match before {
            Some(before) if before.name == other => {
                if before.seq != seq || before.head != head {
                    findings.fault(name, Some(1), Fault::Previous);
                } else if self.heads.iter().any(|head| head.seq > seq) {
                    // That one was covered to its end, in every place, before any counted a row of this one.
                    let mut short = self.known.short_of(&before.name, seq);
                    // What it lacks more than its last row has been told.
                    short.retain(|(_, known)| !before.is_over || known.saturating_add(1) == seq);
                    findings.put_back(&before.name, seq, short);
                }
                End { seq, ..before }
            }
            before => {
                if !self.all.contains(other) {
                    findings.remark(name, Some(1), Remark::PreviousElsewhere(other.chars().take(64).collect()));
                } else if before.is_none() {
                    findings.fault(name, Some(1), Fault::Previous);
                }
                End { seq, ..none }
            }
        }
    }

    /// What can be said once the last line is read.
    fn ended(&self, findings: &mut Findings, seen: &[bool], end: &End, checked: &Checked, torn: Option<u64>) {
        let (name, heads) = (self.name, self.heads);
        let mut covered = 0;
        for (head, seen) in heads.iter().zip(seen) {
            covered = covered.max(head.seq);
            if head.seq == 0 || *seen {
                continue;
            }
            let known = head.seq;
            let fault = if end.seq < known { Fault::Cut { known, last: end.seq } } else { Fault::Replaced { known } };
            findings.fault(name, None, fault);
        }
        if torn.is_some() {
            findings.remark(name, torn, Remark::Torn);
        } else if checked.rows == 0 {
            findings.remark(name, None, Remark::Empty);
        }
        let behind = end.seq.saturating_sub(covered).min(checked.rows);
        if behind > 0 && !heads.is_empty() {
            findings.remark(name, None, Remark::Uncovered(behind));
        }
    }
}

fn open(findings: &mut Findings, name: &str, path: &Path) -> io::Result<Lines> {
    let found = fs::symlink_metadata(path)?;
    let keeper = path.parent().map_or(found.uid(), keeper);
    if found.is_file() && others::can_write_besides(keeper, path, &found).is_some() {
        findings.fault(name, None, Fault::OpenToOthers);
    } else if found.is_file() && found.mode() & 0o044 != 0 {
        findings.remark(name, None, Remark::Readable);
    }
    Lines::open(path)
}

/// Keeps what has begun until it ends.
fn pair(open: &mut BTreeMap<u64, (String, u64, Remark)>, file: &str, line: u64, row: &Row) {
    if let Some(started) = row.count("started") {
        open.remove(&started);
    }
    if matches!(row.event.as_str(), "started" | "settling") && open.len() < MOST_OPEN {
        let short = |field: &str| row.text(field).map(|text| text.chars().take(128).collect::<String>());
        let remark = Remark::NoEnd { tool: short("tool").unwrap_or_default(), approval_id: short("approval_id") };
        open.insert(row.seq, (file.to_owned(), line, remark));
    }
}
