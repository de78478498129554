//! Whether a row could be written, tried where it would be. Leaves nothing behind.

use super::{Audit, Inner, checkpoint};
use crate::{Error, ErrorKind, private};
use rustix::fs::OFlags;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

impl Audit {
    /// Whether a row could be written now: tries a file in each folder, or where the folder would be made, and leaves none.
    ///
    /// # Errors
    /// [`ErrorKind::Io`]: a folder that others can write, or that cannot be made or written; a disk that is full. It says what
    /// to do.
    pub fn check(&self) -> Result<(), Error> {
        let Inner { options, .. } = &*self.inner;
        let whole = private::resolved(&options.dir);
        let own = options.checkpoints.iter().flat_map(|place| [place.clone(), checkpoint::folder(place, &whole)]);
        for folder in std::iter::once(options.dir.clone()).chain(own) {
            private::existing_folder(&folder).and_then(|()| writable(&folder)).map_err(|e| {
                let what = format!("the audit cannot be written to {}: {e}{}", folder.display(), remedy(&folder, &e));
                Error::new(ErrorKind::Io, what)
            })?;
        }
        Ok(())
    }

    /// The same at a start: what is wrong is in the log, once.
    #[cfg(feature = "program")]
    pub(crate) fn look(&self) {
        if let Err(error) = self.check() {
            let mut state = self.inner.state();
            let last = state.last();
            let news = state.failing.is_news(&error.to_string(), last, std::time::Instant::now());
            drop(state);
            if news {
                tracing::error!("{error}; what is not safe is refused until it can be");
            }
        }
    }
}

/// The folder, or the one in which it would be made.
fn ground(folder: &Path) -> PathBuf {
    let there = folder.ancestors().find(|folder| !folder.as_os_str().is_empty() && folder.exists());
    there.map_or_else(|| PathBuf::from("."), Path::to_owned)
}

/// Writes a file of some length in a folder, or where it would be made, and leaves nothing of it.
fn writable(folder: &Path) -> io::Result<()> {
    /// More than fits beside a file's own record: it takes room of its own.
    const LENGTH: usize = 16 * 1024;
    let ground = ground(folder);
    let filled = |mut file: File| file.write_all(&[b' '; LENGTH]).and_then(|()| file.sync_data());
    match OpenOptions::new().write(true).mode(0o600).custom_flags(unnamed()).open(&ground) {
        Ok(file) => filled(file),
        // Not every file system has files without a name.
        Err(e) if matches!(e.raw_os_error(), Some(code) if no_such_files(code)) => {
            let path = ground.join(format!(".counterfoil-{}", std::process::id()));
            let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
            let done = filled(file);
            fs::remove_file(&path).and(done)
        }
        Err(e) => Err(e),
    }
}

#[cfg(target_os = "linux")]
fn unnamed() -> i32 {
    OFlags::TMPFILE.bits().cast_signed()
}

/// There are none: a folder cannot be opened for writing.
#[cfg(not(target_os = "linux"))]
fn unnamed() -> i32 {
    OFlags::DIRECTORY.bits().cast_signed()
}

fn no_such_files(code: i32) -> bool {
    use rustix::io::Errno;
    [Errno::OPNOTSUPP, Errno::ISDIR, Errno::INVAL].into_iter().any(|errno| errno.raw_os_error() == code)
}

/// What to do about it.
fn remedy(folder: &Path, error: &io::Error) -> String {
    let ground = ground(folder);
    let ground = ground.display();
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => format!("; make room where {ground} is"),
        io::ErrorKind::ReadOnlyFilesystem => {
            format!("; {ground} is mounted read-only: mount it writable, or name another place")
        }
        // Its own words say it.
        io::ErrorKind::PermissionDenied if error.raw_os_error().is_none() => String::new(),
        io::ErrorKind::PermissionDenied => format!("; `chmod u+rwx {ground}` if it is yours, or name another place"),
        _ => "; name another place".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn what_is_tried_leaves_nothing_behind() {
        let dir = tempfile::tempdir().unwrap();
        writable(dir.path()).unwrap();
        writable(&dir.path().join("a/b/c")).unwrap();
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_folder_where_nobody_makes_files_cannot_be_written_whoever_asks() {
        // Permissions do not stop root; a file system that has no files of ours does.
        writable(Path::new("/proc/self")).unwrap_err();
        writable(Path::new("/proc/self/audit")).unwrap_err();
    }
}
