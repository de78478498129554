//! The directories of a plug-in, opened once, when it is loaded. A call gets what was opened then, whatever the path has come
//! to lead to, and is refused when it leads elsewhere.

use super::opened::Opened;
use super::options::{Access, DirGrant};
use super::reach::{Among, Id, Protected, Way, id, nested};
use super::{Plugin, Sandbox, special};
use crate::audit::Audit;
use crate::tool::Power;
use crate::{Error, ErrorKind, others, text};
use std::fs::File;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use wasmtime_wasi::filesystem::Dir;
use wasmtime_wasi::{FsPerms, OpenMode};

/// A granted directory.
pub(super) struct Granted {
    /// With its host path resolved: absolute, without links.
    pub(super) grant: DirGrant,
    directory: File,
    /// The host path as it was given: links in it may be turned.
    written: PathBuf,
    id: Id,
    /// To the host path as it was given.
    way: Way,
}

impl Granted {
    /// Opens an existing directory that can be read.
    pub(super) fn open(grant: &DirGrant) -> Result<Self, Error> {
        let refused = |error: std::io::Error| {
            let message = format!(
                "directory {} cannot be granted: {error}; it must be a readable one, or make it",
                text::escape(&grant.host.display().to_string())
            );
            Error::new(ErrorKind::Config, message).with_source(error)
        };
        if grant.host.as_os_str().is_empty() {
            return refuse("the path of a granted directory is empty: name a directory".to_owned());
        }
        let host = grant.host.canonicalize().map_err(refused)?;
        let directory = rustix::fs::OFlags::DIRECTORY.bits() as i32;
        let opened = std::fs::OpenOptions::new().read(true).custom_flags(directory).open(&host).map_err(refused)?;
        let id = id(&opened.metadata().map_err(refused)?);
        // Whoever can put another one in its place would choose what the plug-in reads and writes.
        if let Some(what) = others::can_replace_folder(&grant.host) {
            let shown = grant.host.display().to_string();
            let message = format!("directory {} cannot be granted: {what}", text::escape(&shown));
            return Err(Error::new(ErrorKind::Config, message));
        }
        let way = Way::of(&grant.host);
        let written = std::path::absolute(&grant.host).map_err(refused)?;
        Ok(Self { grant: DirGrant { host, ..grant.clone() }, directory: opened, written, id, way })
    }

    /// Which directory it is.
    pub(super) fn id(&self) -> Id {
        self.id
    }

    /// The directory as it was opened.
    pub(super) fn directory(&self) -> std::io::Result<File> {
        self.directory.try_clone()
    }

    /// Its path as it was given, and with its links as they were, where it has any.
    fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        let real = (self.written != self.grant.host).then_some(&self.grant.host);
        std::iter::once(&self.written).chain(real)
    }

    /// Whether the system knows at once that it is where it was granted.
    pub(super) fn is_in_place(&self) -> bool {
        self.paths().all(|path| special::id_at_once(path) == Some(self.id))
    }

    /// The path that no longer leads to the directory that was granted: as it was given, or with its links as they were. What
    /// waits for a file system is noted in `opened`.
    pub(super) async fn moved(&self, opened: &Opened) -> Option<&Path> {
        for path in self.paths() {
            let looking = Arc::new(path.clone());
            opened.add(&looking);
            let found = tokio::task::spawn_blocking(move || looking.metadata().map(|found| id(&found)));
            if !found.await.is_ok_and(|found| found.is_ok_and(|found| found == self.id)) {
                return Some(path);
            }
        }
        None
    }

    /// The directory for a call, under the plug-in's name for it: an opening of the call's own, so that it shows what of it is
    /// in use.
    pub(super) fn for_call(&self, power: Power) -> std::io::Result<(Dir, String)> {
        let (perms, mode) = match (power, self.grant.access) {
            (Power::Granted, Access::ReadWrite) => (FsPerms::ReadWrite, OpenMode::READ | OpenMode::WRITE),
            (Power::ReadOnly, _) | (Power::Granted, Access::ReadOnly) => (FsPerms::ReadOnly, OpenMode::READ),
        };
        Ok((Dir::new(self.directory.try_clone()?, perms, mode, false), self.grant.guest.clone()))
    }
}

/// What no grant of a plug-in in this sandbox may reach, as far as the library knows files.
pub(super) fn protected(sandbox: &Sandbox, source: Option<&Path>) -> Protected {
    let mut protected = Protected::default();
    protect(&mut protected, sandbox, source);
    protected
}

fn protect(protected: &mut Protected, sandbox: &Sandbox, source: Option<&Path>) {
    if let Some(source) = source {
        protected.add("a plug-in file", source);
    }
    if let Some(cache) = sandbox.cache.folder() {
        protected.add("the cache of compiled plug-ins", cache);
    }
}

/// Refuses a grant that reaches what it must not.
pub(super) fn out_of_reach(protected: &Protected, plugin: &str, grants: &[Granted]) -> Result<(), Error> {
    for Granted { grant, .. } in grants {
        if let Some(what) = protected.reached(&grant.host, grant.access) {
            return refuse(format!(
                "plug-in \"{}\": directory {} reaches {}: grant one that holds the plug-in's data and nothing else",
                text::escape(plugin),
                text::escape(&grant.host.display().to_string()),
                text::escape(&what)
            ));
        }
    }
    Ok(())
}

/// Refuses what the grants of several plug-ins make possible together: one that reaches another's file or the compiled
/// code (the gate's is in `gate_cache`) or the audit, and one that lies inside what another can write.
pub(crate) fn check_together(
    plugins: &[Plugin],
    gate_cache: Option<&Path>,
    audit: Option<&Audit>,
) -> Result<(), Error> {
    let mut protected = Protected::default();
    if let Some(cache) = gate_cache {
        protected.add("the cache of compiled code", cache);
    }
    if let Some(audit) = audit {
        audit.protect(&mut protected);
    }
    for plugin in plugins {
        protect(&mut protected, &plugin.inner.sandbox, plugin.inner.source.as_deref());
    }
    let mut grants = Vec::new();
    for plugin in plugins {
        out_of_reach(&protected, &plugin.inner.name, &plugin.inner.given.dirs)?;
        grants.extend(plugin.inner.given.dirs.iter().map(|granted| Among {
            plugin: plugin.inner.name.clone(),
            host: granted.grant.host.clone(),
            access: granted.grant.access,
            way: granted.way.clone(),
        }));
    }
    match nested(&grants) {
        Some((_, what)) => refuse(text::escape(&what).into_owned()),
        None => Ok(()),
    }
}

fn refuse<T>(message: String) -> Result<T, Error> {
    Err(Error::new(ErrorKind::Config, message))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

    use super::*;

    #[tokio::test]
    async fn a_call_gets_the_directory_that_was_opened_wherever_the_path_leads() {
        let place = tempfile::tempdir().unwrap();
        let (host, elsewhere) = (place.path().join("granted"), place.path().join("elsewhere"));
        std::fs::create_dir_all(&host).unwrap();
        std::fs::create_dir_all(&elsewhere).unwrap();
        let grant = DirGrant { host: host.clone(), guest: "/data".into(), access: Access::ReadWrite };
        let granted = Granted::open(&grant).unwrap();
        assert_eq!(granted.moved(&Opened::default()).await, None);
        std::fs::rename(&host, place.path().join("aside")).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &host).unwrap();
        assert!(!granted.is_in_place());
        assert_eq!(granted.moved(&Opened::default()).await, Some(&*host));
        let (dir, _) = granted.for_call(Power::Granted).unwrap();
        assert_eq!(id(&dir.dir.metadata().unwrap()), granted.id);
        assert_eq!(
            (dir.perms, granted.for_call(Power::ReadOnly).unwrap().0.perms),
            (FsPerms::ReadWrite, FsPerms::ReadOnly)
        );
    }

    #[tokio::test]
    async fn a_link_that_is_turned_is_seen_wherever_it_lies_in_the_path() {
        let place = tempfile::tempdir().unwrap();
        let at = |path: &str| place.path().join(path);
        let turn = |link: &str, to: &str| {
            let _ = std::fs::remove_file(at(link));
            std::os::unix::fs::symlink(at(to), at(link)).unwrap();
        };
        for folder in ["one/data", "two/data"] {
            std::fs::create_dir_all(at(folder)).unwrap();
        }
        turn("current", "one");
        turn("last", "one/data");
        for (written, link, back) in [("current/data", "current", "one"), ("last", "last", "one/data")] {
            let grant = DirGrant { host: at(written), guest: "/data".into(), access: Access::ReadWrite };
            let granted = Granted::open(&grant).unwrap();
            assert_eq!(granted.moved(&Opened::default()).await, None);
            turn(link, &back.replace("one", "two"));
            assert!(!granted.is_in_place());
            assert_eq!(granted.moved(&Opened::default()).await, Some(&*at(written)));
            turn(link, back);
            assert_eq!(granted.moved(&Opened::default()).await, None);
        }
    }
}
