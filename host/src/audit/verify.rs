//! Holds the files of a folder to their own chain and to the checkpoints. Changes nothing, and goes on behind whatever it
//! finds, so that one fault is one finding.

use super::checkpoint::{self, AUDIT, CHECKPOINT, Head};
use super::file::{self, CLOSED, FORMAT};
use super::findings::{Checked, Fault, Findings, Remark};
use super::line::{self, Row, no_hash};
use super::lines::{self, Content, Lines};
use crate::{Error, ErrorKind, others};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// How many runs without an end are remembered at once: far more than run at once.
const MOST_OPEN: usize = 10_000;

/// Looks at every file of a folder. `places`: where the checkpoints are, as they were given to [`AuditOptions`](super::AuditOptions).
///
/// # Errors
/// [`ErrorKind::Io`]: a folder cannot be listed.
pub fn verify(dir: &Path, places: &[PathBuf]) -> Result<Findings, Error> {
    let whole = real(dir);
    let failed =
        |what: &Path, e: io::Error| Error::new(ErrorKind::Io, format!("{} cannot be listed: {e}", what.display()));
    let folders: Vec<PathBuf> = places.iter().map(|place| checkpoint::folder(place, &whole)).collect();
    // The checkpoints before the files: each is made behind its file, so none that is listed may lack one.
    let mut known: Vec<BTreeSet<String>> = Vec::with_capacity(folders.len());
    for folder in &folders {
        known.push(checkpointed(folder).map_err(|e| failed(folder, e))?);
    }
    let (names, others) = lines::names(&whole).map_err(|e| failed(dir, e))?;
    let mut findings = Findings::default();
    let keeper = keeper(&whole);
    for folder in std::iter::once(&whole).chain(places).chain(&folders) {
        if fs::metadata(folder).is_ok_and(|found| others::can_write_besides(keeper, folder, &found).is_some()) {
            findings.fault(&folder.display().to_string(), None, Fault::OpenToOthers);
        }
    }
    for name in &others {
        findings.remark(name, None, Remark::Stranger);
    }
    let all: BTreeSet<&str> = names.iter().map(String::as_str).collect();
    let mut before: Option<End> = None;
    let mut answered = vec![Answers::default(); folders.len()];
    for name in &names {
        if before.as_ref().is_some_and(|end| file::order(&end.name).0 != file::order(name).0)
            && let Some(end) = before.take()
        {
            findings.unended(end);
        }
        let empty = whole.join(name).symlink_metadata().is_ok_and(|found| found.is_file() && found.len() == 0);
        let heads = heads(&mut findings, name, &folders, &known, empty, &mut answered);
        before = Some(check(&mut findings, &whole, name, &heads, before.take(), &all));
    }
    if let Some(end) = before {
        findings.unended(end);
    }
    let gone: BTreeSet<&String> = known.iter().flatten().filter(|name| !all.contains(name.as_str())).collect();
    for name in gone {
        missing(&mut findings, name, &folders);
    }
    for (place, answers) in places.iter().zip(&answered) {
        if answers.is_empty() {
            findings.fault(&place.display().to_string(), None, Fault::EmptyPlace);
        }
    }
    Ok(findings)
}

/// The folder by its real path, also where it is gone.
pub(super) fn real(dir: &Path) -> PathBuf {
    dir.canonicalize().unwrap_or_else(|_| match (dir.parent().map(Path::canonicalize), dir.file_name()) {
        (Some(Ok(parent)), Some(name)) => parent.join(name),
        _ => std::path::absolute(dir).unwrap_or_else(|_| dir.to_owned()),
    })
}

/// The audit files that have a checkpoint in a folder.
fn checkpointed(folder: &Path) -> io::Result<BTreeSet<String>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(BTreeSet::new()),
        Err(e) => return Err(e),
    };
    let mut names = BTreeSet::new();
    for entry in entries {
        let name = entry?.file_name().to_string_lossy().into_owned();
        names.extend(name.strip_suffix(CHECKPOINT).map(|stem| format!("{stem}{AUDIT}")));
    }
    Ok(names)
}

/// A file of which there are only checkpoints: every place is asked, since one may have been made to say that nothing was lost.
fn missing(findings: &mut Findings, name: &str, folders: &[PathBuf]) {
    let mut known = None;
    for folder in folders {
        match checkpoint::read(folder, name) {
            Ok(Some(Ok(head))) => known = known.max(Some(head.seq)),
            Ok(Some(Err(what))) => findings.fault(name, None, Fault::BadCheckpoint(what)),
            Ok(None) => {}
            Err(e) => findings.fault(name, None, Fault::Unreadable(e.to_string())),
        }
    }
    match known {
        Some(0) => findings.remark(name, None, Remark::Begun),
        Some(known) => findings.fault(name, None, Fault::Missing { known }),
        None => {}
    }
}

/// Whether a place has said anything yet.
#[derive(Clone, Copy, Default)]
struct Answers {
    /// It has a checkpoint, usable or not.
    any: bool,
    /// It should have had one.
    owes: bool,
}

impl Answers {
    fn is_empty(self) -> bool {
        self.owes && !self.any
    }
}

/// What the checkpoints say of a file, read before the file itself: it can only have more rows then.
fn heads(
    findings: &mut Findings,
    name: &str,
    folders: &[PathBuf],
    known: &[BTreeSet<String>],
    empty: bool,
    answered: &mut [Answers],
) -> Vec<Head> {
    let mut heads = Vec::new();
    for (at, ((folder, known), answers)) in folders.iter().zip(known).zip(answered).enumerate() {
        let read = checkpoint::read(folder, name);
        answers.any |= !matches!(read, Ok(None));
        match read {
            Ok(Some(Ok(head))) => heads.push(head),
            Ok(Some(Err(what))) => findings.fault(name, None, Fault::BadCheckpoint(what)),
            // It is made a moment before its checkpoints.
            Ok(None) if empty => {}
            // One that has nothing at all is one fault, and not one for each file.
            Ok(None) if at > 0 && known.is_empty() => answers.owes = true,
            // A further place may have been named later: it has to know what came after its first.
            Ok(None) if at > 0 && known.iter().all(|first| first.as_str() > name) => {}
            Ok(None) => findings.fault(name, None, Fault::NoCheckpoint),
            Err(e) => findings.fault(name, None, Fault::Unreadable(e.to_string())),
        }
    }
    heads
}

/// How a file ended, for the one behind it.
struct End {
    name: String,
    seq: u64,
    head: String,
    /// Lines with which something began whose end is not there yet, by their number.
    open: BTreeMap<u64, (String, u64, Remark)>,
}

impl Findings {
    fn unended(&mut self, end: End) {
        for (file, line, remark) in end.open.into_values() {
            self.remark(&file, Some(line), remark);
        }
    }
}

fn check(
    findings: &mut Findings,
    dir: &Path,
    name: &str,
    heads: &[Head],
    before: Option<End>,
    all: &BTreeSet<&str>,
) -> End {
    let path = dir.join(name);
    let mut end = End { name: name.to_owned(), seq: 0, head: no_hash(), open: BTreeMap::new() };
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
    let mut closed = false;
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
        if std::mem::take(&mut closed) {
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
            let previous = opening(findings, name, &row, before.take(), all);
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
        closed = row.event == CLOSED;
        for (head, seen) in heads.iter().zip(&mut seen) {
            *seen |= head.seq == row.seq && head.head == end.head;
        }
        pair(&mut end.open, name, line.number, &row);
    }
    ended(findings, name, heads, &seen, &end, &checked, torn);
    findings.files.push(checked);
    end
}

/// Whose audit it is: who has its folder.
fn keeper(folder: &Path) -> u32 {
    fs::metadata(folder).map_or_else(|_| rustix::process::geteuid().as_raw(), |found| found.uid())
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

/// What the first row has to be. Returns where the file goes on from.
fn opening(findings: &mut Findings, name: &str, row: &Row, before: Option<End>, all: &BTreeSet<&str>) -> End {
    let none = End { name: String::new(), seq: 0, head: no_hash(), open: BTreeMap::new() };
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
            }
            End { seq, ..before }
        }
        before => {
            if !all.contains(other) {
                findings.remark(name, Some(1), Remark::PreviousElsewhere(other.chars().take(64).collect()));
            } else if before.is_none() {
                findings.fault(name, Some(1), Fault::Previous);
            }
            End { seq, ..none }
        }
    }
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

/// What can be said once the last line is read.
fn ended(
    findings: &mut Findings,
    name: &str,
    heads: &[Head],
    seen: &[bool],
    end: &End,
    checked: &Checked,
    torn: Option<u64>,
) {
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
