//! Keeps calls from what is no file. A named pipe, a device or a socket in a granted directory can keep whoever opens it waiting
//! for ever, on a thread of the host's that no deadline gets back.

use wasmtime_wasi::filesystem::Dir;
use wasmtime_wasi::p2::bindings::filesystem::types::PathFlags;

/// Whether something stands at this path that is neither file, directory nor link; `None` where this system cannot say it
/// without waiting.
#[cfg(target_os = "linux")]
pub(super) fn is_special(dir: &Dir, flags: PathFlags, path: &str) -> Option<bool> {
    use rustix::fs::{FileType, Mode, OFlags, ResolveFlags, fstat, openat2};
    use rustix::io::Errno;

    let last = if flags.contains(PathFlags::SYMLINK_FOLLOW) { OFlags::empty() } else { OFlags::NOFOLLOW };
    // `PATH` opens nothing, it only finds it.
    let found = openat2(
        &*dir.dir,
        path,
        OFlags::PATH | OFlags::CLOEXEC | last,
        Mode::empty(),
        ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS,
    );
    match found.and_then(fstat) {
        Ok(found) => {
            let kind = FileType::from_raw_mode(found.st_mode);
            Some(!matches!(kind, FileType::RegularFile | FileType::Directory | FileType::Symlink))
        }
        Err(Errno::NOENT) => Some(false),
        Err(_) => None,
    }
}

/// Elsewhere the file system is asked, as a call of its own.
#[cfg(not(target_os = "linux"))]
pub(super) fn is_special(_: &Dir, _: PathFlags, _: &str) -> Option<bool> {
    None
}
