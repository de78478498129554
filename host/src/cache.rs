//! Compiled code on disk, keyed by the component's bytes and the engine's settings. Compiled code is machine code: a file
//! is used only when it and its folder are this user's and nobody else can write or replace them. Anything else is passed over, said
//! in the log, and compiled anew; the cache can make a start slow, never wrong.

use crate::digest::{Digest, sha256};
use crate::others;
use std::hash::{Hash, Hasher};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use wasmtime::Engine;
use wasmtime::component::Component;

/// How the ending of a file's name begins while it is written.
const DRAFT: &str = "tmp-";
/// When a file of such a name is nobody's any more.
const STALE: Duration = Duration::from_secs(3600);

/// Where compiled components are kept; without a folder each start compiles.
#[derive(Clone, Debug)]
pub(crate) struct CodeCache {
    folder: Option<PathBuf>,
}

impl CodeCache {
    /// The folder is made, 0700, when it is first written to.
    pub(crate) fn new(folder: Option<PathBuf>) -> Self {
        Self { folder }
    }

    /// Where the code is.
    pub(crate) fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// The compiled component of these very bytes, whose SHA-256 is `digest`. Compiling takes from 50 ms to many seconds and
    /// uses every core: call it where blocking is allowed.
    pub(crate) fn component(&self, engine: &Engine, bytes: &[u8], digest: &str) -> wasmtime::Result<Component> {
        let Some(folder) = self.folder.as_deref() else { return Component::new(engine, bytes) };
        let path = file(folder, engine, digest);
        match usable(folder, &path) {
            Ok(true) => match load(engine, &path) {
                Ok(component) => return Ok(component),
                Err(error) => tracing::debug!(path = %path.display(), %error, "compiled code does not fit; compiling"),
            },
            Ok(false) => {}
            Err(reason) => tracing::warn!(path = %path.display(), reason, "compiled code is not trusted; compiling"),
        }
        let component = Component::new(engine, bytes)?;
        if let Err(error) = store(folder, &path, &component) {
            tracing::warn!(path = %path.display(), %error, "compiled code could not be kept");
        }
        Ok(component)
    }

    /// How the compiled code of these bytes is kept; what is kept is loaded, as a start would.
    #[cfg(feature = "program")]
    pub(crate) fn held(&self, engine: &Engine, bytes: &[u8]) -> Held {
        let Some(folder) = self.folder.as_deref() else { return Held::Missing };
        let path = file(folder, engine, &sha256(bytes));
        match usable(folder, &path) {
            Ok(true) if load(engine, &path).is_ok() => Held::Usable,
            Ok(true) => Held::Unfit,
            Ok(false) => Held::Missing,
            Err(why) => Held::Untrusted(why),
        }
    }

    /// Whether [`CodeCache::component`] will find these bytes compiled: for a message before a long wait.
    pub(crate) fn holds(&self, engine: &Engine, bytes: &[u8]) -> bool {
        self.folder
            .as_deref()
            .is_some_and(|folder| usable(folder, &file(folder, engine, &sha256(bytes))).unwrap_or(false))
    }
}

fn file(folder: &Path, engine: &Engine, digest: &str) -> PathBuf {
    folder.join(format!("{digest}-{}.cwasm", settings(engine)))
}

/// How compiled code is kept.
#[cfg(feature = "program")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Held {
    /// It is loaded at a start.
    Usable,
    /// It is not there.
    Missing,
    /// It is there and not used; says why.
    Untrusted(&'static str),
    /// It is there and cannot be loaded.
    Unfit,
}

#[expect(
    unsafe_code,
    reason = "wasmtime's deserialize_file: `usable` has checked that only this user can have written it"
)]
fn load(engine: &Engine, path: &Path) -> wasmtime::Result<Component> {
    // SAFETY: the file came from `Component::serialize` in this program: it and its folder are owned by this user and not
    // writable by others, and it got its name when it was whole.
    unsafe { Component::deserialize_file(engine, path) }
}

/// Whether there is a file that may be loaded; an error says why one that exists must not be.
fn usable(folder: &Path, path: &Path) -> Result<bool, &'static str> {
    let Ok(place) = std::fs::metadata(folder) else { return Ok(false) };
    private(folder, &place).map_err(|()| "its folder belongs to or is writable by others: make it 0700")?;
    if others::can_replace(folder).is_some() {
        return Err("its folder can be replaced by others: they can write one that it lies in");
    }
    match std::fs::symlink_metadata(path) {
        Ok(file) if !file.is_file() => Err("it is not a regular file"),
        Ok(file) if file.nlink() > 1 => Err("it has another name (a hard link), by which it could be changed"),
        Ok(file) => {
            private(path, &file).map(|()| file.len() > 0).map_err(|()| "it belongs to or is writable by others")
        }
        Err(_) => Ok(false),
    }
}

fn private(path: &Path, found: &std::fs::Metadata) -> Result<(), ()> {
    let ours = found.uid() == rustix::process::geteuid().as_raw();
    if ours && others::can_write(path, found).is_none() { Ok(()) } else { Err(()) }
}

fn store(folder: &Path, path: &Path, component: &Component) -> io::Result<()> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    private(folder, &std::fs::metadata(folder)?)
        .map_err(|()| io::Error::other("the folder belongs to or is writable by others: make it 0700"))?;
    let code = component.serialize().map_err(io::Error::other)?;
    sweep(folder);
    let unique = format!("{DRAFT}{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let draft = path.with_extension(unique);
    #[cfg(target_os = "linux")]
    if nameless(folder, path, &draft, &code).is_ok() {
        return Ok(());
    }
    let file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft);
    let written = file.and_then(|file| fill(&file, &code)).and_then(|()| std::fs::rename(&draft, path));
    if written.is_err() {
        let _ = std::fs::remove_file(&draft);
    }
    written
}

/// Removes what processes that died have left of files that they were writing. Nothing is written for as long as `STALE`.
fn sweep(folder: &Path) {
    let draft = |name: &Path| name.extension().and_then(|end| end.to_str()).is_some_and(|end| end.starts_with(DRAFT));
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let old = || entry.metadata().ok()?.modified().ok()?.elapsed().ok().map(|age| age > STALE);
        if draft(Path::new(&entry.file_name())) && old() == Some(true) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

fn fill(mut file: &std::fs::File, code: &[u8]) -> io::Result<()> {
    file.write_all(code)?;
    // Without this a crash could leave the name on an empty or half-written file.
    file.sync_data()
}

/// Writes a file that has no name until it is whole: a process that ends while it writes, which a server does when its client
/// leaves, leaves nothing behind. One that ends between the two steps of replacing a file that is there already leaves a
/// whole draft, which [`sweep`] finds. Not every file system has such files.
#[cfg(target_os = "linux")]
fn nameless(folder: &Path, path: &Path, draft: &Path, code: &[u8]) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, OFlags, linkat};
    use std::os::fd::AsRawFd as _;
    let flags = OFlags::TMPFILE.bits().cast_signed();
    let file = std::fs::OpenOptions::new().write(true).mode(0o600).custom_flags(flags).open(folder)?;
    fill(&file, code)?;
    let open = format!("/proc/self/fd/{}", file.as_raw_fd());
    let link = |name: &Path| linkat(CWD, open.as_str(), CWD, name, AtFlags::SYMLINK_FOLLOW).map_err(io::Error::from);
    match link(path) {
        // A link replaces nothing.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            link(draft)?;
            std::fs::rename(draft, path)
        }
        linked => linked,
    }
}

/// What compiled code depends on besides the bytes: wasmtime's version, the target, its features and our settings.
fn settings(engine: &Engine) -> String {
    let mut fields = Fields(Digest::new("counterfoil compiled code"));
    engine.precompile_compatibility_hash().hash(&mut fields);
    fields.0.finish().chars().take(32).collect()
}

/// Lets what can only be hashed be digested: the standard hasher may change with the compiler.
struct Fields(Digest);

impl Hasher for Fields {
    fn write(&mut self, bytes: &[u8]) {
        self.0.field(bytes);
    }

    fn finish(&self) -> u64 {
        0
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    const EMPTY: &[u8] = b"\0asm\x0d\0\x01\0";

    fn files(folder: &Path) -> Vec<PathBuf> {
        std::fs::read_dir(folder).map(|found| found.map(|entry| entry.unwrap().path()).collect()).unwrap_or_default()
    }

    #[test]
    fn code_is_kept_and_found_again() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("code");
        let (engine, cache) = (Engine::default(), CodeCache::new(Some(folder.clone())));
        assert!(!cache.holds(&engine, EMPTY));
        cache.component(&engine, EMPTY, &sha256(EMPTY)).unwrap();
        assert!(cache.holds(&engine, EMPTY));
        let file = files(&folder).pop().unwrap();
        assert_eq!(std::fs::metadata(&file).unwrap().mode() & 0o777, 0o600);
        assert_eq!(std::fs::metadata(&folder).unwrap().mode() & 0o777, 0o700);
        cache.component(&engine, EMPTY, &sha256(EMPTY)).unwrap();
        assert_eq!(files(&folder).len(), 1);
    }

    #[test]
    fn what_others_can_write_is_passed_over_and_replaced() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("code");
        let (engine, cache) = (Engine::default(), CodeCache::new(Some(folder.clone())));
        cache.component(&engine, EMPTY, &sha256(EMPTY)).unwrap();
        let file = files(&folder).pop().unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o666)).unwrap();
        assert!(!cache.holds(&engine, EMPTY));
        cache.component(&engine, EMPTY, &sha256(EMPTY)).unwrap();
        assert_eq!(std::fs::metadata(&file).unwrap().mode() & 0o777, 0o600);

        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o777)).unwrap();
        assert!(!cache.holds(&engine, EMPTY));
        cache.component(&engine, EMPTY, &sha256(EMPTY)).unwrap();
        assert_eq!(files(&folder), [file]);

        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o700)).unwrap();
        assert!(cache.holds(&engine, EMPTY));
        std::fs::set_permissions(place.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
        assert!(!cache.holds(&engine, EMPTY));
    }

    #[test]
    fn what_a_process_that_died_was_writing_is_removed_when_the_next_one_writes() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("code");
        std::fs::DirBuilder::new().mode(0o700).create(&folder).unwrap();
        let [stale, young, other] = ["a-b.tmp-1-0", "a-b.tmp-2-0", "tmp-notes.txt"].map(|name| folder.join(name));
        for (path, age) in [(&stale, 2 * STALE), (&young, STALE / 2), (&other, 2 * STALE)] {
            let file = std::fs::File::create(path).unwrap();
            file.set_modified(std::time::SystemTime::now() - age).unwrap();
        }
        let (engine, cache) = (Engine::default(), CodeCache::new(Some(folder.clone())));
        cache.component(&engine, EMPTY, &sha256(EMPTY)).unwrap();
        assert!(!stale.exists() && young.exists() && other.exists(), "{:?}", files(&folder));
    }

    #[test]
    fn a_damaged_or_linked_file_is_compiled_anew() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("code");
        let (engine, cache) = (Engine::default(), CodeCache::new(Some(folder.clone())));
        cache.component(&engine, EMPTY, &sha256(EMPTY)).unwrap();
        let file = files(&folder).pop().unwrap();
        std::fs::write(&file, b"not code").unwrap();
        cache.component(&engine, EMPTY, &sha256(EMPTY)).unwrap();
        assert!(std::fs::metadata(&file).unwrap().len() > 100);

        #[cfg(feature = "program")]
        {
            assert_eq!(cache.held(&engine, EMPTY), Held::Usable);
            std::fs::write(&file, b"not code").unwrap();
            assert_eq!(cache.held(&engine, EMPTY), Held::Unfit);
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o622)).unwrap();
            assert!(matches!(cache.held(&engine, EMPTY), Held::Untrusted(_)));
            assert_eq!(cache.held(&engine, b"other"), Held::Missing);
        }

        let second = place.path().join("second name");
        std::fs::hard_link(&file, &second).unwrap();
        assert!(!cache.holds(&engine, EMPTY));
        cache.component(&engine, EMPTY, &sha256(EMPTY)).unwrap();
        assert_eq!((cache.holds(&engine, EMPTY), std::fs::metadata(&second).unwrap().nlink()), (true, 1));

        let elsewhere = place.path().join("elsewhere");
        std::fs::rename(&file, &elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &file).unwrap();
        assert!(!cache.holds(&engine, EMPTY));
        cache.component(&engine, EMPTY, &sha256(EMPTY)).unwrap();
        assert!(std::fs::symlink_metadata(&file).unwrap().is_file());
    }
}
