//! Files and folders of the program's own. One that another user owns, can write or can replace is refused, never repaired:
//! what it says can't be trusted any more.

use crate::others;
use rustix::process::geteuid;
use std::fs::{self, DirBuilder, File, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

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
    ours(path, &metadata)?;
    in_place(path)
}

/// Refuses what somebody else can put another in the place of.
fn in_place(path: &Path) -> io::Result<()> {
    match others::can_replace(path) {
        Some(what) => Err(io::Error::new(io::ErrorKind::PermissionDenied, format!("{}: {what}", path.display()))),
        None => Ok(()),
    }
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

/// Whether one of two places lies in the other, or both are one, whatever links lead there. What is not there yet is taken to be
/// made where its path leads now.
pub(crate) fn within_one_another(one: &Path, other: &Path) -> bool {
    let (one, other) = (resolved(one), resolved(other));
    one.starts_with(&other) || other.starts_with(&one)
}

/// Where a path leads, by whatever links; what is not there yet is where its path leads now.
pub(crate) fn resolved(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let there = path.ancestors().find_map(|above| Some((above.canonicalize().ok()?, above)));
    match there {
        Some((real, above)) => real.join(path.strip_prefix(above).unwrap_or(Path::new(""))).components().collect(),
        None => path,
    }
}

/// The same check of a folder that may not be there yet. Makes nothing.
pub(crate) fn existing_folder(path: &Path) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => ours(path, &metadata).and_then(|()| in_place(path)),
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
    if others::can_write(path, metadata).is_some() {
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

/// What a file of ours says, up to so many bytes.
#[cfg(feature = "program")]
pub(crate) fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    use std::io::Read as _;
    let mut bytes = Vec::new();
    open(path)?.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
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
pub(crate) fn companion(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_file() => ours(path, &metadata),
        Ok(_) => Err(refused(path, "is no file: remove it")),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(e) => Err(e),
    }
}

/// The same, and others cannot read it either from here on.
#[cfg_attr(not(feature = "sqlite"), expect(dead_code, reason = "for the store in a file"))]
pub(crate) fn closed(path: &Path) -> io::Result<()> {
    companion(path)?;
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.mode() & OTHERS != 0 => fs::set_permissions(path, Permissions::from_mode(0o600)),
        _ => Ok(()),
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
        for bad in [0o622, 0o602] {
            mode(&file, bad);
            assert!(state_file(&file).unwrap_err().to_string().contains("other users"));
        }
        let inner = base.path().join("a");
        folder(&inner).unwrap();
        mode(base.path(), 0o777);
        assert!(folder(base.path()).unwrap_err().to_string().contains("other users"));
        for refused in [folder(&inner), existing_folder(&inner)] {
            assert!(refused.unwrap_err().to_string().contains("everybody can replace it"));
        }
        mode(base.path(), 0o1777);
        folder(&inner).unwrap();
    }

    #[test]
    fn two_places_are_one_whatever_links_lead_there() {
        let base = tempfile::tempdir().unwrap();
        let at = |path: &str| base.path().join(path);
        fs::create_dir_all(at("state/audit")).unwrap();
        fs::create_dir(at("other")).unwrap();
        std::os::unix::fs::symlink(at("state"), at("way")).unwrap();
        let check = |one: &str, other: &str, within: bool| {
            assert_eq!(within_one_another(&at(one), &at(other)), within, "{one} {other}");
            assert_eq!(within_one_another(&at(other), &at(one)), within, "{other} {one}");
        };
        check("state/audit", "way/audit/heads", true);
        check("state/audit", "way/audit", true);
        check("state/audit", "other/../way/audit/a/b", true);
        check("state/audit", "way/heads", false);
        check("state/audit", "state/audit-heads", false);
        check("other", "state", false);
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
