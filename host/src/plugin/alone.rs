//! Keeps other processes out of what a run may write to. A server is started for each client, so several of them may have
//! one directory: what a plug-in reads, compares and writes has to be one step for all of them. The lock is the system's
//! (`flock` on the directory), so it ends with the process that has it.

use super::grants::Granted;
use super::options::Access;
use crate::text;
use crate::tool::ToolError;
use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use std::os::fd::OwnedFd;
use std::time::Duration;

/// How often a lock that somebody else has is asked for: a run takes a millisecond at least.
const AGAIN: Duration = Duration::from_millis(2);

/// The locked directories; dropping it lets others in.
pub(super) struct Alone {
    _directories: Vec<OwnedFd>,
}

/// Waits until no other run has one of the directories that may be written to. Everybody takes them in one order.
pub(super) async fn alone(grants: &[Granted]) -> Result<Alone, ToolError> {
    let mut writable: Vec<&Granted> =
        grants.iter().filter(|granted| granted.grant.access == Access::ReadWrite).collect();
    writable.sort_by_key(|granted| granted.id());
    writable.dedup_by_key(|granted| granted.id());
    let mut directories = Vec::new();
    for granted in writable {
        directories.push(locked(granted).await.map_err(|error| {
            tracing::error!(%error, "{} cannot be locked", text::escape(&granted.grant.host.display().to_string()));
            ToolError::Unavailable(format!(
                "the directory {} cannot be locked, and another process might write there at the same time: the operator has \
                 to put it on a file system with locks, or to set max_concurrent above 1 if the plug-in can stand that",
                granted.grant.guest
            ))
        })?);
    }
    Ok(Alone { _directories: directories })
}

async fn locked(granted: &Granted) -> Result<OwnedFd, Errno> {
    // Opened anew: a lock belongs to one opening, and each call needs its own.
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let directory = rustix::fs::openat(granted.directory(), ".", flags, Mode::empty())?;
    loop {
        match rustix::fs::flock(&directory, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(directory),
            Err(Errno::WOULDBLOCK | Errno::INTR) => tokio::time::sleep(AGAIN).await,
            Err(error) => return Err(error),
        }
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
        let first = alone(&one).await.unwrap();
        assert!(timeout(20 * AGAIN, alone(&other)).await.is_err());
        drop(first);
        assert!(alone(&other).await.is_ok());
    }

    #[tokio::test]
    async fn what_is_only_read_and_what_is_granted_twice_holds_up_nobody() {
        let folder = tempfile::tempdir().unwrap();
        let twice = ["/a", "/b"].map(|guest| granted(folder.path(), guest, Access::ReadWrite));
        let _held = timeout(20 * AGAIN, alone(&twice)).await.unwrap().unwrap();
        let read = [granted(folder.path(), "/data", Access::ReadOnly)];
        assert!(timeout(20 * AGAIN, alone(&read)).await.is_ok());
    }
}
