//! Files and folders of the program's own. One that another user owns or can write is refused, never repaired: what it
//! says can't be trusted any more.

use rustix::process::geteuid;
use std::fs::{self, DirBuilder, File, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Write permission for the group or for everybody.
const OTHERS_WRITE: u32 = 0o022;
/// Any permission for the group or for everybody.
const OTHERS: u32 = 0o077;

/// A folder that only this user can change: made with mode 0700 if it is not there, else checked. What is made outlives a
/// power cut: whatever is brought to the disk in it is nowhere if its own name is not.
pub(crate) fn folder(path: &Path) -> io::Result<()> {
    let parents = parents_of_new(path);
    DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    for parent in parents {
        File::open(parent)?.sync_all()?;
    }
    let metadata = fs::metadata(path)?;
    if !metadata.is_dir() {
        return Err(refused(path, "is no folder: choose another path"));
    }
    ours(path, &metadata)
}

/// The folders that get a new name in them where `path` is made: none where it is there.
fn parents_of_new(path: &Path) -> Vec<PathBuf> {
    let new = path.ancestors().take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists());
    let parent = |folder: &Path| match folder.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    };
    new.map(parent).collect()
}

/// The same check of a folder that may not be there yet. Makes nothing.
pub(crate) fn existing_folder(path: &Path) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => ours(path, &metadata),
        Ok(_) => Err(refused(path, "is no folder: choose another path")),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(e) => Err(e),
    }
}

/// Refuses a file or folder that another user owns or can write.
fn ours(path: &Path, metadata: &Metadata) -> io::Result<()> {
    if metadata.uid() != geteuid().as_raw() {
        return Err(refused(path, "belongs to another user: remove it or choose another path"));
    }
    if metadata.mode() & OTHERS_WRITE != 0 {
        return Err(refused(path, "can be written by other users: look at what is in it, then `chmod go-w` it"));
    }
    Ok(())
}

/// Opens a file of ours for reading; symbolic links are refused.
fn open(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).custom_flags(no_follow()).open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(refused(path, "is no file: choose another path"));
    }
    ours(path, &metadata)?;
    Ok(file)
}

/// Makes sure that a state file is there, ours, and that others can neither write nor read it (mode 0600).
#[cfg_attr(not(feature = "sqlite"), expect(dead_code, reason = "for the store in a file"))]
pub(crate) fn state_file(path: &Path) -> io::Result<()> {
    let new =
        OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).custom_flags(no_follow()).open(path);
    let file = match new {
        Ok(file) => file,
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => open(path)?,
        Err(e) => return Err(e),
    };
    if file.metadata()?.mode() & OTHERS != 0 {
        file.set_permissions(Permissions::from_mode(0o600))?;
    }
    Ok(())
}

/// Refuses what stands beside a state file, under a name that the store will use, and is not ours alone to write. Looks only:
/// opening and closing such a file would take away the locks that this process has on it.
#[cfg_attr(not(feature = "sqlite"), expect(dead_code, reason = "for the store in a file"))]
pub(crate) fn companion(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_file() => ours(path, &metadata),
        Ok(_) => Err(refused(path, "is no file: remove it")),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(e) => Err(e),
    }
}

fn no_follow() -> i32 {
    rustix::fs::OFlags::NOFOLLOW.bits().cast_signed()
}

fn refused(path: &Path, what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, format!("{} {what}", path.display()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn mode(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn what_it_makes_is_closed_to_others() {
        let base = tempfile::tempdir().unwrap();
        let inner = base.path().join("a/b");
        folder(&inner).unwrap();
        assert_eq!(fs::metadata(&inner).unwrap().mode() & 0o777, 0o700);
        let file = inner.join("x");
        state_file(&file).unwrap();
        state_file(&file).unwrap();
        assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o600);
    }

    #[test]
    fn every_folder_that_gets_a_new_name_is_brought_to_the_disk() {
        let base = tempfile::tempdir().unwrap();
        let inner = base.path().join("a/b/c");
        let expected = [base.path().join("a/b"), base.path().join("a"), base.path().to_owned()];
        assert_eq!(parents_of_new(&inner), expected);
        folder(&inner).unwrap();
        assert_eq!(parents_of_new(&inner), [] as [PathBuf; 0]);
        assert_eq!(parents_of_new(&inner.join("d")), [inner]);
        assert_eq!(parents_of_new(Path::new("not there at all")), [PathBuf::from(".")]);
    }

    #[test]
    fn what_others_can_write_is_refused() {
        let base = tempfile::tempdir().unwrap();
        let file = base.path().join("x");
        fs::write(&file, b"one").unwrap();
        for bad in [0o620, 0o602] {
            mode(&file, bad);
            assert!(state_file(&file).unwrap_err().to_string().contains("other users"));
        }
        mode(base.path(), 0o777);
        assert!(folder(base.path()).unwrap_err().to_string().contains("other users"));
    }

    #[test]
    fn a_state_file_that_others_can_read_is_closed() {
        let base = tempfile::tempdir().unwrap();
        let file = base.path().join("x");
        fs::write(&file, b"one").unwrap();
        mode(&file, 0o644);
        state_file(&file).unwrap();
        assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o600);
        assert_eq!(fs::read(&file).unwrap(), b"one");
    }

    #[test]
    fn what_stands_beside_a_state_file_is_ours_too() {
        let base = tempfile::tempdir().unwrap();
        let file = base.path().join("x-wal");
        assert!(companion(&file).is_ok());
        fs::write(&file, b"").unwrap();
        assert!(companion(&file).is_ok());
        mode(&file, 0o646);
        assert!(companion(&file).unwrap_err().to_string().contains("other users"));
        let link = base.path().join("y-wal");
        std::os::unix::fs::symlink(base.path().join("nowhere"), &link).unwrap();
        assert!(companion(&link).unwrap_err().to_string().contains("no file"));
    }

    #[test]
    fn a_symbolic_link_is_refused() {
        let base = tempfile::tempdir().unwrap();
        fs::write(base.path().join("x"), b"one").unwrap();
        let link = base.path().join("y");
        std::os::unix::fs::symlink(base.path().join("x"), &link).unwrap();
        assert!(state_file(&link).is_err());
    }
}
