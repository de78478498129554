//! Keeps other processes out of what a run may write to. A server is started for each client, so several of them may have
//! one directory: what a plug-in reads, compares and writes has to be one step for all of them. The lock is the system's
//! (`flock` on the directory), so it ends with the process that has it.

use super::grants::Granted;
use super::options::Access;
use crate::text;
use crate::tool::ToolError;
use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How often a lock that somebody else has is asked for: a run takes a millisecond at least.
const AGAIN: Duration = Duration::from_millis(2);

/// The directory that is waited for now, by its guest path, since somebody else has it.
#[derive(Default)]
pub(super) struct Waits(Mutex<Option<String>>);

impl Waits {
    fn set(&self, guest: Option<&str>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = guest.map(str::to_owned);
    }

    pub(super) fn now(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The locked directories, and the turn for them; dropping it lets others in.
pub(super) struct Alone<T> {
    _directories: Vec<OwnedFd>,
    _turn: Arc<T>,
}

/// Waits until no other run has one of the directories that may be written to. Everybody takes them in one order. A file system
/// that does not answer keeps a thread, and with it `turn`: so the next run waits for that, and not another thread.
pub(super) async fn alone<T: Send + Sync + 'static>(
    grants: &[Granted],
    turn: T,
    waits: &Waits,
) -> Result<Alone<T>, ToolError> {
    let turn = Arc::new(turn);
    let mut writable: Vec<&Granted> =
        grants.iter().filter(|granted| granted.grant.access == Access::ReadWrite).collect();
    writable.sort_by_key(|granted| granted.id());
    writable.dedup_by_key(|granted| granted.id());
    let mut directories = Vec::new();
    for granted in writable {
        directories.push(locked(granted, &turn, waits).await.map_err(|error| {
            tracing::error!(%error, "{} cannot be locked", text::escape(&granted.grant.host.display().to_string()));
            ToolError::Unavailable(format!(
                "the directory {} cannot be locked, and another process might write there at the same time: the operator has \
                 to put it on a file system with locks, or to set max_concurrent above 1 if the plug-in can stand that",
                granted.grant.guest
            ))
        })?);
    }
    Ok(Alone { _directories: directories, _turn: turn })
}

async fn locked<T: Send + Sync + 'static>(granted: &Granted, turn: &Arc<T>, waits: &Waits) -> io::Result<OwnedFd> {
    let mut directory: OwnedFd = granted.directory()?.into();
    let mut anew = true;
    loop {
        let turn = Arc::clone(turn);
        let asking = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            lock(directory, anew)
        });
        match asking.await?? {
            (directory, true) => {
                waits.set(None);
                return Ok(directory);
            }
            (waiting, false) => {
                waits.set(Some(&granted.grant.guest));
                (directory, anew) = (waiting, false);
            }
        }
        tokio::time::sleep(AGAIN).await;
    }
}

/// The directory, and whether it is locked now.
fn lock(directory: OwnedFd, anew: bool) -> io::Result<(OwnedFd, bool)> {
    let directory = if anew {
        // Opened anew: a lock belongs to one opening, and each call needs its own.
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        rustix::fs::openat(directory, ".", flags, Mode::empty())?
    } else {
        directory
    };
    match rustix::fs::flock(&directory, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok((directory, true)),
        Err(Errno::WOULDBLOCK | Errno::INTR) => Ok((directory, false)),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::plugin::DirGrant;
    use std::path::Path;
    use tokio::time::timeout;

    fn granted(host: &Path, guest: &str, access: Access) -> Granted {
        Granted::open(&DirGrant { host: host.into(), guest: guest.into(), access }).unwrap()
    }

    #[tokio::test]
    async fn a_directory_is_waited_for_until_whoever_has_it_is_done() {
        let folder = tempfile::tempdir().unwrap();
        let [one, other] = [(); 2].map(|()| [granted(folder.path(), "/data", Access::ReadWrite)]);
        let waits = Waits::default();
        let first = alone(&one, (), &Waits::default()).await.unwrap();
        assert!(timeout(20 * AGAIN, alone(&other, (), &waits)).await.is_err());
        assert_eq!(waits.now().as_deref(), Some("/data"));
        drop(first);
        assert!(alone(&other, (), &waits).await.is_ok());
        assert_eq!(waits.now(), None);
    }

    #[tokio::test]
    async fn what_is_only_read_and_what_is_granted_twice_holds_up_nobody() {
        let folder = tempfile::tempdir().unwrap();
        let twice = ["/a", "/b"].map(|guest| granted(folder.path(), guest, Access::ReadWrite));
        let _held = timeout(20 * AGAIN, alone(&twice, (), &Waits::default())).await.unwrap().unwrap();
        let read = [granted(folder.path(), "/data", Access::ReadOnly)];
        assert!(timeout(20 * AGAIN, alone(&read, (), &Waits::default())).await.is_ok());
    }
}
