//! The heads of the files, kept outside their folder: what shows that a tail was cut, a file was removed or another was put
//! in its place.
//!
//! One small file for each audit file, with two places that are written in turn, so that a torn write leaves the one before.
//! Where several places keep the head of a file, each says which: a checkpoint that is missing in one of them is missed by the
//! others, and a place that was named later owes nothing.
//!
//! A head is written here only once its rows are on the disk: a power cut never makes a checkpoint claim rows that it took.

use super::line::{is_hash, no_hash};
use crate::private::{self, resolved};
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::{FileExt, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of one place: a whole number of sectors on any disk that tears writes at all.
const PLACE: usize = 512;
/// How many places there may be: each checkpoint names them all.
pub(super) const MOST_PLACES: usize = 8;
/// What the name of an audit file ends with.
pub(super) const AUDIT: &str = ".jsonl";
/// What a checkpoint's name ends with instead.
pub(super) const CHECKPOINT: &str = ".checkpoint";

/// How far a file is known to reach.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Head {
    /// The audit file's name.
    pub file: String,
    /// Number of its last row that is covered. Zero: it was begun, and nothing of it is known to be on the disk.
    pub seq: u64,
    /// Hash of that row.
    pub head: String,
    /// When that was written down: RFC 3339.
    pub time: String,
    /// The places that keep it, where there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    places: Vec<String>,
    /// The start of the SHA-256 of the fields before, so that a torn write is told from a change.
    sum: String,
}

impl Head {
    pub(super) fn new(file: &str, seq: u64, head: &str, time: String) -> Self {
        let head =
            Self { file: file.to_owned(), seq, head: head.to_owned(), time, places: Vec::new(), sum: String::new() };
        Self { sum: head.summed(), ..head }
    }

    fn kept_in(&self, places: &[String]) -> Self {
        let head = Self { places: places.to_vec(), ..self.clone() };
        Self { sum: head.summed(), ..head }
    }

    /// Whether a place keeps the head of this file, too.
    pub(super) fn is_kept_in(&self, place: &Ids) -> bool {
        self.places.iter().any(|id| place.0.contains(id))
    }

    fn summed(&self) -> String {
        let Self { file, seq, head, time, places, .. } = self;
        let places: String = places.iter().map(|place| format!("\n{place}")).collect();
        let whole = crate::digest::sha256(format!("{file}\n{seq}\n{head}\n{time}{places}").as_bytes());
        whole.get(..16).unwrap_or_default().to_owned()
    }

    /// One line of JSON.
    pub(super) fn line(&self) -> String {
        let mut line = serde_json::to_string(self).unwrap_or_default();
        line.push('\n');
        line
    }

    fn read(place: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(place).ok()?;
        let head: Self = serde_json::from_str(text.trim_end()).ok()?;
        let whole = is_hash(&head.head) && head.sum == head.summed();
        whole.then_some(head)
    }
}

/// The folder in `place` that holds the checkpoints of one audit folder: several may share a place.
pub(crate) fn folder(place: &Path, audit: &Path) -> PathBuf {
    let id = crate::digest::sha256(audit.as_os_str().as_encoded_bytes());
    place.join(id.get(..16).unwrap_or_default())
}

/// Which place one is: by where it is, and by the path that led there when it was asked.
pub(super) struct Ids([String; 2]);

impl Ids {
    pub(super) fn of(place: &Path) -> Self {
        let given = std::path::absolute(place).unwrap_or_else(|_| place.to_owned());
        Self([resolved(place), given].map(|path| {
            let id = crate::digest::sha256(path.as_os_str().as_encoded_bytes());
            id.get(..16).unwrap_or_default().to_owned()
        }))
    }

    /// What is written down: where it is.
    fn into_id(self) -> String {
        let [id, _] = self.0;
        id
    }
}

/// How the places of a file are written down in each of them: not at all, where there is one.
pub(super) fn places(places: &[PathBuf]) -> Arc<[String]> {
    let several = places.iter().filter(|_| places.len() > 1);
    several.map(|place| Ids::of(place).into_id()).collect()
}

/// The checkpoint's name of an audit file.
pub(super) fn name_for(file: &str) -> String {
    format!("{}{CHECKPOINT}", file.strip_suffix(AUDIT).unwrap_or(file))
}

/// A checkpoint that is written.
pub(super) struct Checkpoint {
    file: File,
    path: PathBuf,
    identity: (u64, u64),
    places: Arc<[String]>,
    turn: AtomicU64,
}

impl Checkpoint {
    /// Makes the checkpoint of a new file. `places`: every place that has one.
    pub(super) fn create(folder: &Path, file: &str, time: String, places: &Arc<[String]>) -> io::Result<Self> {
        // The place itself, too: whoever can write it can put another folder there.
        if let Some(place) = folder.parent() {
            private::folder(place)?;
        }
        private::folder(folder)?;
        let path = folder.join(name_for(file));
        let opened = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .custom_flags(OFlags::NOFOLLOW.bits().cast_signed())
            .open(&path)?;
        let found = opened.metadata()?;
        let (identity, places) = ((found.dev(), found.ino()), Arc::clone(places));
        let made = Self { file: opened, path, identity, places, turn: AtomicU64::new(0) };
        if let Err(e) = made.write(&Head::new(file, 0, &no_hash(), time)) {
            made.forget();
            return Err(e);
        }
        Ok(made)
    }

    /// Writes a head into the place whose turn it is.
    pub(super) fn write(&self, head: &Head) -> io::Result<()> {
        let found = fs::symlink_metadata(&self.path)?;
        if (found.dev(), found.ino()) != self.identity {
            let what = format!("{} was put in place of the checkpoint that was there", self.path.display());
            return Err(io::Error::other(what));
        }
        let mut line = head.kept_in(&self.places).line().into_bytes();
        if line.len() > PLACE {
            return Err(io::Error::other("a head does not fit into its checkpoint"));
        }
        // Spaces, then the end of the line: readable as it is.
        line.pop();
        line.resize(PLACE - 1, b' ');
        line.push(b'\n');
        let turn = self.turn.fetch_add(1, Ordering::Relaxed) % 2;
        self.file.write_all_at(&line, turn * PLACE as u64)
    }

    /// Makes it outlive a power cut, its name too.
    pub(super) fn sync(&self) -> io::Result<()> {
        self.file.sync_all()?;
        self.path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
    }

    /// Makes the head that was written last outlive a power cut.
    pub(super) fn keep(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    /// Takes away the checkpoint of a file that was never begun.
    pub(super) fn forget(&self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// What a checkpoint says. None: there is none of that name.
pub(super) fn read(folder: &Path, file: &str) -> io::Result<Option<Result<Head, &'static str>>> {
    let path = folder.join(name_for(file));
    let opened = OpenOptions::new()
        .read(true)
        .custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed())
        .open(&path);
    let opened = match opened {
        Ok(opened) => opened,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(e),
    };
    if !opened.metadata()?.is_file() {
        return Ok(Some(Err("it is no file")));
    }
    let mut bytes = Vec::new();
    opened.take(2 * PLACE as u64 + 1).read_to_end(&mut bytes)?;
    let heads = bytes.chunks(PLACE).filter_map(Head::read);
    let latest = heads.max_by_key(|head| head.seq);
    Ok(Some(match latest {
        Some(head) if head.file == file && bytes.len() <= 2 * PLACE => Ok(head),
        Some(_) => Err("it is about another file"),
        None => Err("neither of its two places can be read"),
    }))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;

    const FILE: &str = "20260518T143320123Z-0123456789ab-0001.jsonl";

    fn head(seq: u64) -> Head {
        Head::new(FILE, seq, &"a".repeat(64), "2026-05-18T14:33:20.000Z".into())
    }

    fn made(folder: &Path) -> Checkpoint {
        Checkpoint::create(folder, FILE, "2026-05-18T14:33:20.000Z".into(), &Arc::default()).unwrap()
    }

    #[test]
    fn the_latest_head_is_read_back() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("c");
        assert_eq!(read(&folder, FILE).unwrap(), None);
        let checkpoint = made(&folder);
        assert_eq!(read(&folder, FILE).unwrap().unwrap().unwrap().seq, 0);
        for seq in 1..6 {
            checkpoint.write(&head(seq)).unwrap();
            assert_eq!(read(&folder, FILE).unwrap().unwrap().unwrap(), head(seq));
        }
    }

    #[test]
    fn a_torn_write_leaves_the_head_before_and_a_change_is_seen() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("c");
        let checkpoint = made(&folder);
        checkpoint.write(&head(1)).unwrap();
        checkpoint.write(&head(2)).unwrap();
        let path = folder.join(name_for(FILE));
        let whole = fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut torn = whole.clone();
            *torn.get_mut(at).unwrap() ^= 0x10;
            fs::write(&path, &torn).unwrap();
            let seq = read(&folder, FILE).unwrap().unwrap().unwrap().seq;
            // Padding is no part of it, but is held to be padding: the other place answers.
            assert!((1..=2).contains(&seq), "byte {at}: {seq}");
        }
        fs::write(&path, vec![b'x'; 2 * PLACE]).unwrap();
        assert!(read(&folder, FILE).unwrap().unwrap().is_err());
    }

    #[test]
    fn as_many_places_as_there_may_be_fit_into_a_checkpoint_and_are_read_back() {
        let dir = tempfile::tempdir().unwrap();
        let all: Vec<PathBuf> = (0..MOST_PLACES).map(|at| dir.path().join(at.to_string())).collect();
        let checkpoint = Checkpoint::create(&dir.path().join("c"), FILE, head(0).time, &places(&all)).unwrap();
        checkpoint.write(&head(u64::MAX)).unwrap();
        let read = read(&dir.path().join("c"), FILE).unwrap().unwrap().unwrap();
        assert_eq!((read.seq, read.places.len()), (u64::MAX, MOST_PLACES));
        assert!(all.iter().all(|place| read.is_kept_in(&Ids::of(place))));
        assert!(!read.is_kept_in(&Ids::of(dir.path())));
        assert!(places(&all[..1]).is_empty());
    }

    #[test]
    fn a_checkpoint_that_was_replaced_is_not_written_to() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("c");
        let checkpoint = made(&folder);
        let path = folder.join(name_for(FILE));
        fs::remove_file(&path).unwrap();
        assert!(checkpoint.write(&head(1)).is_err(), "it is gone");
        fs::write(&path, b"").unwrap();
        assert!(checkpoint.write(&head(1)).unwrap_err().to_string().contains("in place"));
    }
}
