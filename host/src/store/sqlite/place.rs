//! Where the file is, and that it and what stands beside it are this user's own: looked at before SQLite comes near it.

use crate::private;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Device and inode.
pub(super) fn identity(path: &Path) -> std::io::Result<(u64, u64)> {
    let metadata = std::fs::symlink_metadata(path)?;
    Ok((metadata.dev(), metadata.ino()))
}

/// Refuses what is there and not ours alone to write. Changes nothing, and opens no file.
pub(super) fn there(path: &Path) -> std::io::Result<()> {
    private::existing_folder(folder_of(path))?;
    private::companion(path)?;
    beside(path).try_for_each(|file| private::companion(&file))
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// What SQLite may have beside the file.
fn beside(path: &Path) -> impl Iterator<Item = PathBuf> {
    ["-wal", "-shm", "-journal"].into_iter().map(|suffix| {
        let mut name = path.to_owned().into_os_string();
        name.push(suffix);
        PathBuf::from(name)
    })
}

/// The file's path without symbolic links in its folders; folder and file are there and private afterwards.
pub(super) fn place(path: &Path) -> std::io::Result<PathBuf> {
    let folder = folder_of(path);
    let name = path.file_name().ok_or(std::io::ErrorKind::InvalidFilename)?;
    private::folder(folder)?;
    let path = folder.canonicalize()?.join(name);
    private::state_file(&path)?;
    beside(&path).try_for_each(|file| private::closed(&file))?;
    Ok(path)
}
