//! Keeps calls from what is no file, and from waiting for a file system. A named pipe, a device or a socket in a granted
//! directory can keep whoever opens it waiting for ever, and any path can where it leads to a server that is gone: what the
//! system does not know at once is asked where blocking is allowed.

use super::reach::Id;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use wasmtime_wasi::filesystem::Dir;
use wasmtime_wasi::p2::bindings::filesystem::types::PathFlags;

/// Whether something stands at this path that is neither file, directory nor link; `None` where this system cannot say it
/// without waiting for whoever is at the other end.
pub(super) async fn is_special(dir: &Dir, flags: PathFlags, path: &str) -> Option<bool> {
    let follow = flags.contains(PathFlags::SYMLINK_FOLLOW);
    if let Some(known) = at_once::is_special(&dir.dir, follow, path) {
        return Some(known);
    }
    let (dir, path): (Arc<File>, _) = (Arc::clone(&dir.dir), path.to_owned());
    tokio::task::spawn_blocking(move || in_time::is_special(&dir, follow, &path)).await.ok().flatten()
}

/// Which file is there, where the system knows it at once.
pub(super) fn id_at_once(path: &Path) -> Option<Id> {
    at_once::id(path)
}

/// What the system knows without asking a disk or a server.
#[cfg(target_os = "linux")]
mod at_once {
    use super::*;
    use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, StatxFlags, makedev, openat2, statx};
    use rustix::io::Errno;

    const FOUND: AtFlags = AtFlags::EMPTY_PATH.union(AtFlags::STATX_DONT_SYNC);

    pub(super) fn is_special(dir: &File, follow: bool, path: &str) -> Option<bool> {
        let resolve = in_time::WITHIN | ResolveFlags::CACHED;
        match openat2(dir, path, in_time::found(follow), Mode::empty(), resolve) {
            Ok(found) => {
                let found = statx(found, "", FOUND, StatxFlags::TYPE).ok()?;
                Some(in_time::is_none_of_ours(FileType::from_raw_mode(found.stx_mode.into())))
            }
            Err(Errno::NOENT) => Some(false),
            Err(_) => None,
        }
    }

    pub(super) fn id(path: &Path) -> Option<Id> {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let found = openat2(CWD, path, flags, Mode::empty(), ResolveFlags::CACHED).ok()?;
        let found = statx(found, "", FOUND, StatxFlags::INO).ok()?;
        Some((makedev(found.stx_dev_major, found.stx_dev_minor), found.stx_ino))
    }
}

#[cfg(not(target_os = "linux"))]
mod at_once {
    use super::*;

    pub(super) fn is_special(_: &File, _: bool, _: &str) -> Option<bool> {
        None
    }

    pub(super) fn id(_: &Path) -> Option<Id> {
        None
    }
}

/// What a disk or a server may have to be asked for.
#[cfg(target_os = "linux")]
mod in_time {
    use super::*;
    use rustix::fs::{FileType, Mode, OFlags, ResolveFlags, fstat, openat2};
    use rustix::io::Errno;

    pub(super) const WITHIN: ResolveFlags = ResolveFlags::BENEATH.union(ResolveFlags::NO_MAGICLINKS);

    /// `PATH` opens nothing, it only finds it.
    pub(super) fn found(follow: bool) -> OFlags {
        let last = if follow { OFlags::empty() } else { OFlags::NOFOLLOW };
        OFlags::PATH | OFlags::CLOEXEC | last
    }

    pub(super) fn is_none_of_ours(kind: FileType) -> bool {
        !matches!(kind, FileType::RegularFile | FileType::Directory | FileType::Symlink)
    }

    pub(super) fn is_special(dir: &File, follow: bool, path: &str) -> Option<bool> {
        match openat2(dir, path, found(follow), Mode::empty(), WITHIN).and_then(fstat) {
            Ok(found) => Some(is_none_of_ours(FileType::from_raw_mode(found.st_mode))),
            Err(Errno::NOENT) => Some(false),
            Err(_) => None,
        }
    }
}

/// Elsewhere the file system is asked, as a call of its own.
#[cfg(not(target_os = "linux"))]
mod in_time {
    use super::*;

    pub(super) fn is_special(_: &File, _: bool, _: &str) -> Option<bool> {
        None
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use std::os::unix::fs::MetadataExt as _;

    #[cfg(target_os = "linux")]
    #[test]
    fn what_has_just_been_seen_is_known_at_once_and_as_what_it_is() {
        let place = tempfile::tempdir().unwrap();
        std::fs::write(place.path().join("file"), "").unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(place.path().join("socket")).unwrap();
        let dir = File::open(place.path()).unwrap();
        for (name, special) in [("file", false), ("socket", true), (".", false), ("missing", false)] {
            assert_eq!(in_time::is_special(&dir, true, name), Some(special), "{name}");
            assert_eq!(at_once::is_special(&dir, true, name), Some(special), "{name}");
        }
        let found = place.path().metadata().unwrap();
        assert_eq!(id_at_once(place.path()), Some((found.dev(), found.ino())));
        assert_eq!(id_at_once(&place.path().join("missing")), None);
    }
}
