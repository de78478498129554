//! Holds the files of a folder to their own chain and to the checkpoints. Changes nothing, and goes on behind whatever it
//! finds, so that one fault is one finding.

mod known;
mod rows;

use super::file;
use super::findings::{Fault, Findings, Remark};
use super::lines;
use super::ways::Ways;
use crate::private::resolved;
use crate::{Error, ErrorKind, others};
use known::Places;
use rows::{End, One};
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Looks at every file of a folder. `places`: where the checkpoints are, as they were given to [`AuditOptions`](super::AuditOptions).
///
/// # Errors
/// [`ErrorKind::Io`]: a folder cannot be listed.
pub fn verify(dir: &Path, places: &[PathBuf]) -> Result<Findings, Error> {
    let whole = resolved(dir);
    let failed =
        |what: &Path, e: io::Error| Error::new(ErrorKind::Io, format!("{} cannot be listed: {e}", what.display()));
    // The checkpoints before the files: each is made behind its file, so none that is listed may lack one.
    let mut known = Places::list(places, &whole).map_err(|(folder, e)| failed(&folder, e))?;
    let (names, others) = lines::names(&whole).map_err(|e| failed(dir, e))?;
    let mut findings = Findings::default();
    let keeper = keeper(&whole);
    for folder in std::iter::once(&whole).chain(places).chain(known.folders()) {
        if fs::metadata(folder).is_ok_and(|found| others::can_write_besides(keeper, folder, &found).is_some()) {
            findings.fault(&folder.display().to_string(), None, Fault::OpenToOthers);
        }
    }
    let ways = Ways::read(places).map_err(|e| Error::new(ErrorKind::Io, e.to_string()))?;
    for note in &ways.unusable {
        findings.fault(&note.display().to_string(), None, Fault::BadNote);
    }
    for astray in ways.astray(&whole, places) {
        findings.fault(&astray.path.display().to_string(), None, Fault::Astray(astray));
    }
    for name in &others {
        findings.remark(name, None, Remark::Stranger);
    }
    let all: BTreeSet<&str> = names.iter().map(String::as_str).collect();
    let mut before: Option<End> = None;
    for name in &names {
        if before.as_ref().is_some_and(|end| file::order(&end.name).0 != file::order(name).0)
            && let Some(end) = before.take()
        {
            findings.unended(end);
        }
        let empty = whole.join(name).symlink_metadata().is_ok_and(|found| found.is_file() && found.len() == 0);
        let heads = known.heads(&mut findings, name, empty);
        let one = One { name, heads: &heads, known: &known, all: &all };
        before = Some(one.check(&mut findings, &whole, before.take()));
    }
    if let Some(end) = before {
        findings.unended(end);
    }
    for name in known.files().iter().filter(|name| !all.contains(name.as_str())) {
        known.missing(&mut findings, name);
    }
    known.empty(&mut findings);
    Ok(findings)
}

/// Whose audit it is: who has its folder.
fn keeper(folder: &Path) -> u32 {
    fs::metadata(folder).map_or_else(|_| rustix::process::geteuid().as_raw(), |found| found.uid())
}
