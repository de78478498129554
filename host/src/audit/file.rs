//! One audit file while it is written: rows behind each other, each with the hash of the one before. Only appended to, and
//! only as long as it is what it was when it was made.

use super::checkpoint::{self, AUDIT, Checkpoint, Head};
use super::event::{Previous, Row};
use super::line::{self, MAX_LINE};
use super::ways::Ways;
use crate::{others, private};
use rustix::fs::OFlags;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What the first row says of the form of a file.
pub(super) const FORMAT: &str = "counterfoil-audit 1";

/// What the last row of a file says that was ended in order.
pub(super) const CLOSED: &str = "closed";

/// Why a row stands there: the file is full, and the next goes on from it.
pub(super) const ROTATION: &str = "rotation";

/// Why a file ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// Nothing more comes. Everything before its last row is covered, and that outlives a power cut: so a checkpoint that knows
    /// less was put back.
    Over,
    /// The next goes on from it. It is covered to its last row, and that outlives a power cut, before any checkpoint of the next
    /// one counts a row.
    Full,
}

/// Why a row is not there.
#[derive(Debug)]
pub(super) enum Stop {
    /// Not this time: what was written of it is taken back.
    Now(io::Error),
    /// This file is not to be trusted with another row.
    ForGood(String),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Now(error)
    }
}

/// A file and how far it is.
pub(super) struct Current {
    pub(super) name: String,
    pub(super) file: Arc<File>,
    pub(super) checkpoints: Arc<[Checkpoint]>,
    /// Number of the last row, and its hash.
    pub(super) seq: u64,
    pub(super) head: String,
    pub(super) length: u64,
    /// Whether its name is known to be on the disk.
    pub(super) settled: bool,
    /// Whether its last row says that no other comes.
    pub(super) closed: bool,
    path: PathBuf,
    identity: (u64, u64),
}

impl Current {
    /// Makes the file `name` in `dir`, and its checkpoints. No row is in it yet.
    pub(super) fn create(dir: &Path, places: &[PathBuf], name: String, before: u64, time: &str) -> io::Result<Self> {
        let ways = Ways::read(places)?;
        ways.refuse(&private::resolved(dir))?;
        private::folder(dir)?;
        let whole = dir.canonicalize()?;
        ways.refuse(&whole)?;
        ways.note(places, dir, &whole)?;
        let path = whole.join(&name);
        let file = OpenOptions::new()
            .append(true)
            .create_new(true)
            .mode(0o600)
            .custom_flags(OFlags::NOFOLLOW.bits().cast_signed())
            .open(&path)?;
        let found = file.metadata()?;
        let kept_in = checkpoint::places(places);
        let mut checkpoints: Vec<Checkpoint> = Vec::with_capacity(places.len());
        for place in places {
            match Checkpoint::create(&checkpoint::folder(place, &whole), &name, time.to_owned(), &kept_in) {
                Ok(made) => checkpoints.push(made),
                Err(e) => {
                    checkpoints.iter().for_each(Checkpoint::forget);
                    let _ = fs::remove_file(&path);
                    return Err(e);
                }
            }
        }
        Ok(Self {
            name,
            file: Arc::new(file),
            checkpoints: checkpoints.into(),
            seq: before,
            head: line::no_hash(),
            length: 0,
            settled: false,
            closed: false,
            path,
            identity: (found.dev(), found.ino()),
        })
    }

    /// Takes away a file in which nothing is.
    pub(super) fn forget(self) {
        self.checkpoints.iter().for_each(Checkpoint::forget);
        let _ = fs::remove_file(&self.path);
    }

    /// The first row: which file this is, which one it goes on from, and which configuration its process has.
    pub(super) fn opening<'a>(name: &'a str, previous: Option<&'a Previous>, config: Option<&'a str>) -> Row<'a> {
        Row {
            event: "opened",
            format: Some(FORMAT),
            file: Some(name),
            program: Some(env!("CARGO_PKG_VERSION")),
            process: Some(std::process::id()),
            config,
            previous,
            ..Row::default()
        }
    }

    /// The last row: whatever is behind it is none of ours.
    pub(super) fn close(&mut self, why: End, time: String) -> Result<(), Stop> {
        if !self.closed {
            let cause = (why == End::Full).then_some(ROTATION);
            self.append(Row { event: CLOSED, cause, ..Row::default() }, time)?;
            self.closed = true;
        }
        Ok(())
    }

    /// Appends a row and returns its number. It is then with the system, and not yet certainly on the disk.
    pub(super) fn append(&mut self, row: Row<'_>, time: String) -> Result<u64, Stop> {
        self.unchanged()?;
        let seq = self.seq + 1;
        let row = Row { seq, time, prev: &self.head, ..row };
        // Nothing hidden is in it: what is shown of it is what is written.
        let text = serde_json::to_string(&row).map_err(io::Error::from)?;
        let mut bytes = crate::text::escape_json(&text).into_owned().into_bytes();
        if bytes.len() > MAX_LINE {
            return Err(Stop::Now(io::Error::other("a row is longer than a line may be")));
        }
        let head = line::hash(&bytes);
        bytes.push(b'\n');
        if let Err(e) = (&*self.file).write_all(&bytes) {
            // Part of it may be there: it must not stay, or the next row would be behind half a line.
            return Err(match self.file.set_len(self.length) {
                Ok(()) => Stop::Now(e),
                Err(also) => {
                    Stop::ForGood(format!("{e}, and what was written of the row could not be taken back: {also}"))
                }
            });
        }
        self.length += bytes.len() as u64;
        (self.seq, self.head) = (seq, head);
        Ok(seq)
    }

    /// Refuses where the path leads to something else than this file, or somebody else wrote to it.
    fn unchanged(&self) -> Result<(), Stop> {
        let gone = |what: &str| {
            let path = self.path.display();
            Stop::ForGood(format!("{path} {what}: find out by whom, run `counterfoil audit verify`, then restart"))
        };
        let found = match fs::symlink_metadata(&self.path) {
            Ok(found) => found,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Err(gone("was moved or removed")),
            Err(e) => return Err(Stop::Now(e)),
        };
        if (found.dev(), found.ino()) != self.identity {
            return Err(gone("was replaced by another file"));
        }
        if found.len() != self.length {
            return Err(gone("was changed by somebody else"));
        }
        if let Some(what) = others::can_write(&self.path, &found) {
            return Err(gone(&format!("{what} now")));
        }
        Ok(())
    }

    /// What is to be made durable of it.
    pub(super) fn written(&self) -> Written {
        Written {
            name: self.name.clone(),
            file: Arc::clone(&self.file),
            checkpoints: Arc::clone(&self.checkpoints),
            seq: self.seq,
            head: self.head.clone(),
            settled: self.settled,
            folder: self.path.parent().map(Path::to_owned).unwrap_or_default(),
        }
    }
}

/// A file up to a row.
#[derive(Clone)]
pub(super) struct Written {
    pub(super) name: String,
    pub(super) seq: u64,
    pub(super) head: String,
    file: Arc<File>,
    checkpoints: Arc<[Checkpoint]>,
    settled: bool,
    folder: PathBuf,
}

impl Written {
    /// Waits until it is on the disk; then its head is written down. Blocks.
    ///
    /// [`Stop::ForGood`]: the system could not say that it is, and after that nothing more can be said of this file.
    pub(super) fn sync(&self, time: String) -> Result<(), Stop> {
        let failed = |e: io::Error| Stop::ForGood(format!("{} could not be brought to the disk: {e}", self.name));
        if !self.settled {
            for checkpoint in &*self.checkpoints {
                checkpoint.sync()?;
            }
        }
        self.file.sync_data().map_err(failed)?;
        if !self.settled {
            File::open(&self.folder).and_then(|folder| folder.sync_all()).map_err(failed)?;
        }
        let head = Head::new(&self.name, self.seq, &self.head, time);
        for checkpoint in &*self.checkpoints {
            checkpoint.write(&head)?;
        }
        Ok(())
    }

    /// Makes its heads, as they are written down, outlive a power cut. Blocks.
    pub(super) fn keep(&self) -> io::Result<()> {
        self.checkpoints.iter().try_for_each(Checkpoint::keep)
    }
}

/// A name for the first file of a process: `20260518T143320123Z-0123456789ab-0001.jsonl`. Sorted, they are in order of time.
pub(super) fn first_name(time: &str) -> Result<String, getrandom::Error> {
    let mut random = [0; 6];
    getrandom::fill(&mut random)?;
    let id = random.iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
    let stamp: String = time.chars().take(23).filter(char::is_ascii_alphanumeric).collect();
    Ok(format!("{stamp}Z-{id}-0001{AUDIT}"))
}

/// The name of the file after this one.
pub(super) fn next_name(name: &str) -> String {
    let stem = name.strip_suffix(AUDIT).unwrap_or(name);
    let (process, part) = stem.rsplit_once('-').unwrap_or((stem, "1"));
    let part = part.parse::<u64>().unwrap_or(1).saturating_add(1);
    format!("{process}-{part:04}{AUDIT}")
}

/// What files are sorted by: the process that wrote it, and which of its files it is.
pub(super) fn order(name: &str) -> (&str, u64) {
    let stem = name.strip_suffix(AUDIT).unwrap_or(name);
    stem.rsplit_once('-').map_or((stem, 0), |(process, part)| (process, part.parse().unwrap_or(u64::MAX)))
}

/// Whether this can be the name of an audit file.
pub(super) fn is_name(name: &str) -> bool {
    let mut parts = name.strip_suffix(AUDIT).unwrap_or_default().split('-');
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let time = parts.next().is_some_and(|time| {
        time.len() == 19
            && time.bytes().enumerate().all(|(at, b)| match at {
                8 => b == b'T',
                18 => b == b'Z',
                _ => b.is_ascii_digit(),
            })
    });
    let id = parts.next().is_some_and(|id| id.len() == 12 && id.bytes().all(|b| b.is_ascii_hexdigit()));
    let part = parts.next().is_some_and(|part| (4..=20).contains(&part.len()) && digits(part));
    time && id && part && parts.next().is_none()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn names_are_in_order_of_time_and_of_their_parts() {
        let name = first_name("2026-05-18T14:33:20.123Z").unwrap();
        assert!(name.starts_with("20260518T143320123Z-") && name.ends_with("-0001.jsonl"), "{name}");
        let next = next_name(&name);
        assert!(next.ends_with("-0002.jsonl") && next > name, "{next}");
        assert!(is_name(&name) && is_name(&next) && is_name(&next_name(&next.replace("0002", "9999"))));
        for other in
            ["", "a.jsonl", "20260518T143320123Z-0123456789ab-0001", "20260518T143320123Z-0123456789ab-0001-2.jsonl"]
        {
            assert!(!is_name(other), "{other}");
        }
    }
}
