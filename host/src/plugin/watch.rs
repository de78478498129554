//! WASI's file system, observed: nothing that changes a file is entered unseen, nor before the run has been let through.
//!
//! Everything is delegated to wasmtime-wasi, whose directories know by themselves whether they are read-only. What is
//! added: what is no file is not opened; a second lock on every function that changes something, closed until a permit is there (a component's start
//! code runs before it), and a note that one was entered, which is what the host itself knows of a failed run's effect.
//! Directories are listed here, in steps, and files written in pieces: wasmtime-wasi holds a whole directory, and all that a
//! stream is handed.

use super::instance::State;
use super::listing::Listing;
use super::opened::Opened;
use super::piece::Piecewise;
use super::special;
use std::sync::Arc;
use wasmtime::component::{HasData, Linker, Resource};
use wasmtime_wasi::filesystem::{Descriptor, Dir, WasiFilesystemCtxView};
use wasmtime_wasi::p2::bindings::filesystem::preopens;
use wasmtime_wasi::p2::bindings::filesystem::types::{
    self, Advice, DescriptorFlags, DescriptorStat, DescriptorType, DirectoryEntry, ErrorCode, Filesize, HostDescriptor,
    HostDirectoryEntryStream, MetadataHashValue, NewTimestamp, OpenFlags, PathFlags,
};
use wasmtime_wasi::p2::{DynInputStream, DynOutputStream, FsError, FsResult, ReaddirIterator};

/// What an instance may change, and whether it has tried.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Changes {
    /// Whether the run has been let through with the power to change something.
    pub(super) allowed: bool,
    /// Whether a function that changes something was entered, and did not say for certain that nothing was changed.
    pub(super) entered: bool,
}

/// Listings of directories that a call may hold at once: of each a step is in the host's memory.
const LISTINGS: usize = 16;

/// What an instance has of the file system, beside what wasmtime-wasi keeps of it.
pub(super) struct Files {
    /// What is open to the guest, under its own names.
    dirs: Vec<(Dir, String)>,
    pub(super) changes: Changes,
    /// Listings of directories that the guest holds.
    listings: usize,
    opened: Opened,
}

impl Files {
    pub(super) fn new(dirs: Vec<(Dir, String)>, opened: Opened) -> Self {
        dirs.iter().for_each(|(dir, _)| opened.add(&dir.dir));
        Self { dirs, changes: Changes::default(), listings: 0, opened }
    }
}

/// The view of one call into the file system.
pub(super) struct Watched<'a> {
    files: WasiFilesystemCtxView<'a>,
    own: &'a mut Files,
}

struct Watching;

impl HasData for Watching {
    type Data<'a> = Watched<'a>;
}

/// Puts the observer in the place of `wasi:filesystem`.
pub(super) fn add_to_linker(linker: &mut Linker<State>) -> wasmtime::Result<()> {
    fn watched(state: &mut State) -> Watched<'_> {
        let (files, own) = state.files();
        Watched { files, own }
    }
    preopens::add_to_linker::<State, Watching>(linker, watched)?;
    types::add_to_linker::<State, Watching>(linker, watched)
}

impl Watched<'_> {
    fn enter(&mut self) -> FsResult<bool> {
        if !self.own.changes.allowed {
            return Err(ErrorCode::NotPermitted.into());
        }
        Ok(std::mem::replace(&mut self.own.changes.entered, true))
    }

    /// Whether opening this could wait for somebody for ever.
    async fn is_special(&mut self, fd: &Resource<Descriptor>, flags: PathFlags, path: &str) -> FsResult<bool> {
        let Descriptor::Dir(dir) = self.files.table.get(fd)? else { return Ok(false) };
        if let Some(special) = special::is_special(dir, flags, path).await {
            return Ok(special);
        }
        let found = self.files.stat_at(Resource::new_borrow(fd.rep()), flags, path.to_owned()).await;
        let plain = [DescriptorType::RegularFile, DescriptorType::Directory, DescriptorType::SymbolicLink];
        Ok(found.is_ok_and(|found| !plain.contains(&found.type_)))
    }

    /// Takes note of what was opened: it is in use as long as anything is done with it.
    fn note(&self, opened: FsResult<Resource<Descriptor>>) -> FsResult<Resource<Descriptor>> {
        if let Ok(fd) = &opened {
            match self.files.table.get(fd)? {
                Descriptor::File(file) => self.own.opened.add(&file.file),
                Descriptor::Dir(dir) => self.own.opened.add(&dir.dir),
            }
        }
        opened
    }

    /// Puts a stream that takes no more than a piece at once in the place of this one.
    fn piecewise(&mut self, stream: Resource<DynOutputStream>) -> FsResult<Resource<DynOutputStream>> {
        let stream: DynOutputStream = Box::new(Piecewise(self.files.table.delete(stream)?));
        Ok(self.files.table.push(stream)?)
    }

    /// For functions that do one thing or nothing: takes the note back when nothing was done.
    fn leave<T>(&mut self, before: bool, result: FsResult<T>) -> FsResult<T> {
        if let Err(error) = &result
            && error.downcast_ref().is_some_and(certain)
        {
            self.own.changes.entered = before;
        }
        result
    }
}

/// A listing under the name that the bindings have for it, where wasmtime-wasi's own would stand.
fn named(listing: &Resource<Listing>) -> Resource<ReaddirIterator> {
    Resource::new_own(listing.rep())
}

/// The listing of that name.
fn listing(stream: &Resource<ReaddirIterator>) -> Resource<Listing> {
    Resource::new_own(stream.rep())
}

/// Errors that the operating system gives before it changes anything.
fn certain(code: &ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::Access
            | ErrorCode::BadDescriptor
            | ErrorCode::Busy
            | ErrorCode::CrossDevice
            | ErrorCode::Exist
            | ErrorCode::IllegalByteSequence
            | ErrorCode::Invalid
            | ErrorCode::IsDirectory
            | ErrorCode::Loop
            | ErrorCode::NameTooLong
            | ErrorCode::NoEntry
            | ErrorCode::NotDirectory
            | ErrorCode::NotEmpty
            | ErrorCode::NotPermitted
            | ErrorCode::ReadOnly
            | ErrorCode::TooManyLinks
            | ErrorCode::Unsupported
    )
}

/// Ours, because wasmtime-wasi's opens its directories by path, and here they are open.
impl preopens::Host for Watched<'_> {
    fn get_directories(&mut self) -> wasmtime::Result<Vec<(Resource<Descriptor>, String)>> {
        let table = &mut *self.files.table;
        let given =
            self.own.dirs.iter().map(|(dir, guest)| Ok((table.push(Descriptor::Dir(dir.clone()))?, guest.clone())));
        given.collect()
    }
}

impl types::Host for Watched<'_> {
    fn convert_error_code(&mut self, error: FsError) -> wasmtime::Result<ErrorCode> {
        self.files.convert_error_code(error)
    }

    fn filesystem_error_code(&mut self, error: Resource<wasmtime::Error>) -> wasmtime::Result<Option<ErrorCode>> {
        self.files.filesystem_error_code(error)
    }
}

/// What only reads, handed on as it is.
macro_rules! reads {
    ($($name:ident($($argument:ident: $kind:ty),*) -> $result:ty;)*) => {
        $(async fn $name(&mut self, fd: Resource<Descriptor>, $($argument: $kind),*) -> $result {
            self.files.$name(fd, $($argument),*).await
        })*
    };
}

/// What does one change or none.
macro_rules! changes {
    ($($name:ident($($argument:ident: $kind:ty),*);)*) => {
        $(async fn $name(&mut self, fd: Resource<Descriptor>, $($argument: $kind),*) -> FsResult<()> {
            let before = self.enter()?;
            let result = self.files.$name(fd, $($argument),*).await;
            self.leave(before, result)
        })*
    };
}

impl HostDescriptor for Watched<'_> {
    reads! {
        advise(offset: Filesize, len: Filesize, advice: Advice) -> FsResult<()>;
        sync_data() -> FsResult<()>;
        get_flags() -> FsResult<DescriptorFlags>;
        get_type() -> FsResult<DescriptorType>;
        read(len: Filesize, offset: Filesize) -> FsResult<(Vec<u8>, bool)>;
        sync() -> FsResult<()>;
        stat() -> FsResult<DescriptorStat>;
        stat_at(flags: PathFlags, path: String) -> FsResult<DescriptorStat>;
        readlink_at(path: String) -> FsResult<String>;
        is_same_object(other: Resource<Descriptor>) -> wasmtime::Result<bool>;
        metadata_hash() -> FsResult<MetadataHashValue>;
        metadata_hash_at(flags: PathFlags, path: String) -> FsResult<MetadataHashValue>;
    }

    changes! {
        set_size(size: Filesize);
        set_times(accessed: NewTimestamp, modified: NewTimestamp);
        set_times_at(flags: PathFlags, path: String, accessed: NewTimestamp, modified: NewTimestamp);
        create_directory_at(path: String);
        link_at(flags: PathFlags, old: String, folder: Resource<Descriptor>, new: String);
        remove_directory_at(path: String);
        rename_at(old: String, folder: Resource<Descriptor>, new: String);
        symlink_at(target: String, path: String);
        unlink_file_at(path: String);
    }

    async fn read_directory(&mut self, fd: Resource<Descriptor>) -> FsResult<Resource<ReaddirIterator>> {
        if self.own.listings >= LISTINGS {
            return Err(ErrorCode::InsufficientMemory.into());
        }
        let Descriptor::Dir(dir) = self.files.table.get(&fd)? else { return Err(ErrorCode::NotDirectory.into()) };
        let listing = Listing::of(&Arc::clone(&dir.dir)).await?;
        let listing = self.files.table.push(listing)?;
        self.own.listings += 1;
        Ok(named(&listing))
    }

    async fn open_at(
        &mut self,
        fd: Resource<Descriptor>,
        path_flags: PathFlags,
        path: String,
        open: OpenFlags,
        flags: DescriptorFlags,
    ) -> FsResult<Resource<Descriptor>> {
        if self.is_special(&fd, path_flags, &path).await? {
            return Err(ErrorCode::NotPermitted.into());
        }
        if !open.intersects(OpenFlags::CREATE | OpenFlags::TRUNCATE) {
            let opened = self.files.open_at(fd, path_flags, path, open, flags).await;
            return self.note(opened);
        }
        let before = self.enter()?;
        let result = self.files.open_at(fd, path_flags, path, open, flags).await;
        let opened = self.note(result);
        self.leave(before, opened)
    }

    async fn write(&mut self, fd: Resource<Descriptor>, bytes: Vec<u8>, offset: Filesize) -> FsResult<Filesize> {
        let before = self.enter()?;
        let result = self.files.write(fd, bytes, offset).await;
        self.leave(before, result)
    }

    // What is written to a stream is seen by nobody here: opening one counts.
    fn write_via_stream(&mut self, fd: Resource<Descriptor>, offset: Filesize) -> FsResult<Resource<DynOutputStream>> {
        let before = self.enter()?;
        let result = self.files.write_via_stream(fd, offset).and_then(|stream| self.piecewise(stream));
        self.leave(before, result)
    }

    fn append_via_stream(&mut self, fd: Resource<Descriptor>) -> FsResult<Resource<DynOutputStream>> {
        let before = self.enter()?;
        let result = self.files.append_via_stream(fd).and_then(|stream| self.piecewise(stream));
        self.leave(before, result)
    }

    fn read_via_stream(&mut self, fd: Resource<Descriptor>, offset: Filesize) -> FsResult<Resource<DynInputStream>> {
        self.files.read_via_stream(fd, offset)
    }

    fn drop(&mut self, fd: Resource<Descriptor>) -> wasmtime::Result<()> {
        HostDescriptor::drop(&mut self.files, fd)
    }
}

impl HostDirectoryEntryStream for Watched<'_> {
    async fn read_directory_entry(&mut self, stream: Resource<ReaddirIterator>) -> FsResult<Option<DirectoryEntry>> {
        let stream = listing(&stream);
        loop {
            let listing = self.files.table.get_mut(&stream)?;
            if let Some(entry) = listing.pop() {
                return entry.map(Some).map_err(Into::into);
            }
            let Some(rest) = listing.rest() else { return Ok(None) };
            let step = rest.read().await;
            self.files.table.get_mut(&stream)?.goes_on(step);
        }
    }

    fn drop(&mut self, stream: Resource<ReaddirIterator>) -> wasmtime::Result<()> {
        self.own.listings = self.own.listings.saturating_sub(1);
        self.files.table.delete(listing(&stream))?;
        Ok(())
    }
}
