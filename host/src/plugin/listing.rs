//! A directory that is being listed. It is read as far as the guest has asked for it, in steps, of which the host holds one:
//! how many entries there are is a matter of whoever filled the directory, and not of the host's memory.

use rustix::fs::{AtFlags, Dir, FileType, statat};
use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::sync::Arc;
use wasmtime_wasi::p2::bindings::filesystem::types::{DescriptorType, DirectoryEntry, ErrorCode};
use wasmtime_wasi::runtime::spawn_blocking;

/// Entries of one step: an ordinary directory is read in one, and the names of a step need no more than some 256 KiB.
const STEP: usize = 1024;

/// What is held of one listing.
pub(super) struct Listing {
    step: VecDeque<Entry>,
    /// `None` at the end.
    rest: Option<Rest>,
}

/// One entry, or why there is none that the guest could be told.
type Entry = Result<DirectoryEntry, ErrorCode>;

/// What has not been read.
pub(super) struct Rest {
    dir: Dir,
    /// What is listed is in use as long as a thread reads it.
    _listed: Arc<File>,
}

impl Listing {
    /// A listing from the beginning of the directory, whose first step is read.
    pub(super) async fn of(directory: &Arc<File>) -> Result<Self, ErrorCode> {
        let listed = Arc::clone(directory);
        let begun = spawn_blocking(move || Dir::read_from(&*listed).map(|dir| Rest { dir, _listed: listed }.step()));
        let (step, rest) = begun.await.map_err(|error| ErrorCode::from(io::Error::from(error)))?;
        Ok(Self { step, rest })
    }

    /// The next entry of the step.
    pub(super) fn pop(&mut self) -> Option<Entry> {
        self.step.pop_front()
    }

    /// What has to be read for the next step.
    pub(super) fn rest(&mut self) -> Option<Rest> {
        self.rest.take()
    }

    /// Takes the next step.
    pub(super) fn goes_on(&mut self, (step, rest): (VecDeque<Entry>, Option<Rest>)) {
        (self.step, self.rest) = (step, rest);
    }
}

impl Rest {
    /// Reads one step, where blocking is allowed.
    pub(super) async fn read(self) -> (VecDeque<Entry>, Option<Self>) {
        spawn_blocking(move || self.step()).await
    }

    fn step(mut self) -> (VecDeque<Entry>, Option<Self>) {
        let mut step = VecDeque::new();
        while step.len() < STEP {
            let Some(found) = self.dir.read() else { return (step, None) };
            match found {
                Ok(found) if matches!(found.file_name().to_bytes(), b"." | b"..") => {}
                Ok(found) => step.push_back(self.entry(&found)),
                Err(error) => step.push_back(Err(io::Error::from(error).into())),
            }
        }
        (step, Some(self))
    }

    fn entry(&self, found: &rustix::fs::DirEntry) -> Entry {
        let kind = match found.file_type() {
            // Some file systems do not say it here.
            FileType::Unknown => self.kind(found).map_err(io::Error::from)?,
            known => known,
        };
        let name = found.file_name().to_str().map_err(|_| ErrorCode::IllegalByteSequence)?;
        Ok(DirectoryEntry { type_: described(kind), name: name.to_owned() })
    }

    fn kind(&self, found: &rustix::fs::DirEntry) -> rustix::io::Result<FileType> {
        let stat = statat(self.dir.fd()?, found.file_name(), AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(FileType::from_raw_mode(stat.st_mode as _))
    }
}

fn described(kind: FileType) -> DescriptorType {
    match kind {
        FileType::RegularFile => DescriptorType::RegularFile,
        FileType::Directory => DescriptorType::Directory,
        FileType::Symlink => DescriptorType::SymbolicLink,
        FileType::BlockDevice => DescriptorType::BlockDevice,
        FileType::CharacterDevice => DescriptorType::CharacterDevice,
        FileType::Fifo => DescriptorType::Fifo,
        FileType::Socket | FileType::Unknown => DescriptorType::Unknown,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]

    use super::*;
    use std::collections::BTreeMap;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    /// Everything that a listing gives, and the most that it held at once.
    async fn whole(path: &std::path::Path) -> (Vec<Entry>, usize) {
        let directory = Arc::new(File::open(path).unwrap());
        let mut listing = Listing::of(&directory).await.unwrap();
        let (mut all, mut most) = (Vec::new(), listing.step.len());
        loop {
            while let Some(entry) = listing.pop() {
                all.push(entry);
            }
            let Some(rest) = listing.rest() else { return (all, most) };
            listing.goes_on(rest.read().await);
            most = most.max(listing.step.len());
        }
    }

    #[tokio::test]
    async fn of_a_large_directory_every_entry_is_there_once_and_one_step_is_held() {
        let place = tempfile::tempdir().unwrap();
        let names: Vec<String> = (0..3 * STEP + 1).map(|number| format!("{number:06}")).collect();
        for name in &names {
            std::fs::write(place.path().join(name), "").unwrap();
        }
        let (entries, most) = whole(place.path()).await;
        let mut found: Vec<String> = entries.into_iter().map(|entry| entry.unwrap().name).collect();
        found.sort_unstable();
        assert_eq!((found, most), (names, STEP));
    }

    #[tokio::test]
    async fn what_each_entry_is_stands_there_and_a_name_that_is_no_text_is_an_error_of_its_own() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        assert_eq!(whole(place.path()).await.0.len(), 0);
        std::fs::write(at("file"), "").unwrap();
        std::fs::create_dir(at("folder")).unwrap();
        symlink("nowhere", at("link")).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
        let _socket = UnixListener::bind(at("socket")).unwrap();
        let (entries, _) = whole(place.path()).await;
        let found: BTreeMap<String, DescriptorType> =
            entries.into_iter().map(|entry| entry.unwrap()).map(|entry| (entry.name, entry.type_)).collect();
        let expected = [
            ("file", DescriptorType::RegularFile),
            ("folder", DescriptorType::Directory),
            ("link", DescriptorType::SymbolicLink),
            ("pipe", DescriptorType::Fifo),
            ("socket", DescriptorType::Unknown),
        ];
        assert_eq!(found, expected.map(|(name, kind)| (name.to_owned(), kind)).into());
        // Not every file system takes such a name.
        if std::fs::write(place.path().join(OsStr::from_bytes(b"\xff")), "").is_ok() {
            let (entries, _) = whole(place.path()).await;
            let none: Vec<&ErrorCode> = entries.iter().filter_map(|entry| entry.as_ref().err()).collect();
            assert!(matches!(none.as_slice(), [ErrorCode::IllegalByteSequence]), "{none:?}");
            assert_eq!(entries.len(), 6);
        }
    }
}
