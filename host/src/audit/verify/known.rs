//! What the places for checkpoints say of the files of one folder.

use super::super::checkpoint::{self, AUDIT, CHECKPOINT, Head, Ids};
use super::super::findings::{Fault, Findings, Remark};
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Every place, as it was given.
pub(super) struct Places<'a>(Vec<Place<'a>>);

struct Place<'a> {
    path: &'a Path,
    /// The folder in it.
    folder: PathBuf,
    ids: Ids,
    /// The audit files that have a checkpoint there.
    known: BTreeSet<String>,
    /// It has a checkpoint, usable or not.
    any: bool,
    /// It should have had one.
    owes: bool,
}

impl<'a> Places<'a> {
    /// Lists them. An error names the folder.
    pub(super) fn list(places: &'a [PathBuf], audit: &Path) -> Result<Self, (PathBuf, io::Error)> {
        let place = |path: &'a PathBuf| {
            let folder = checkpoint::folder(path, audit);
            match checkpointed(&folder) {
                Ok(known) => Ok(Place { path, folder, ids: Ids::of(path), known, any: false, owes: false }),
                Err(e) => Err((folder, e)),
            }
        };
        places.iter().map(place).collect::<Result<_, _>>().map(Self)
    }

    /// The folders in them.
    pub(super) fn folders(&self) -> impl Iterator<Item = &PathBuf> {
        self.0.iter().map(|place| &place.folder)
    }

    /// The files that any of them knows.
    pub(super) fn files(&self) -> BTreeSet<String> {
        self.0.iter().flat_map(|place| &place.known).cloned().collect()
    }

    /// What they say of a file, read before the file itself: it can only have more rows then. `empty`: nothing is in it.
    pub(super) fn heads(&mut self, findings: &mut Findings, name: &str, empty: bool) -> Vec<Head> {
        let mut heads = Vec::new();
        let mut without = Vec::new();
        for (at, place) in self.0.iter_mut().enumerate() {
            let read = checkpoint::read(&place.folder, name);
            place.any |= !matches!(read, Ok(None));
            match read {
                Ok(Some(Ok(head))) => heads.push(head),
                Ok(Some(Err(what))) => findings.fault(name, None, Fault::BadCheckpoint(what)),
                // It is made a moment before its checkpoints.
                Ok(None) if empty => {}
                Ok(None) => without.push((at, place)),
                Err(e) => findings.fault(name, None, Fault::Unreadable(e.to_string())),
            }
        }
        for (at, place) in without {
            // The first place always had one; a further one, which may have been named later, where another says so.
            if at > 0 && !heads.iter().any(|head| head.is_kept_in(&place.ids)) {
                continue;
            }
            // One that has nothing at all is one fault, and not one for each file.
            if at > 0 && place.known.is_empty() {
                place.owes = true;
            } else {
                findings.fault(name, None, Fault::NoCheckpoint { place: place.path.to_owned() });
            }
        }
        heads
    }

    /// The places that know less of a file than `last`, and how much: read anew, since what was read before the file may have
    /// been true then.
    pub(super) fn short_of(&self, name: &str, last: u64) -> Vec<(PathBuf, u64)> {
        let known = |place: &Place| match checkpoint::read(&place.folder, name) {
            Ok(Some(Ok(head))) if head.seq < last => Some((place.path.to_owned(), head.seq)),
            _ => None,
        };
        self.0.iter().filter_map(known).collect()
    }

    /// A file of which there are only checkpoints: every place is asked, since one may have been made to say that nothing was
    /// lost.
    pub(super) fn missing(&self, findings: &mut Findings, name: &str) {
        let mut known = None;
        for folder in self.folders() {
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

    /// Tells of places that have nothing where they should have something.
    pub(super) fn empty(&self, findings: &mut Findings) {
        for place in self.0.iter().filter(|place| place.owes && !place.any) {
            findings.fault(&place.path.display().to_string(), None, Fault::EmptyPlace);
        }
    }
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
