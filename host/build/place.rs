//! Where things are and go. A file is either the old one or the new one, never half of one: other builds read them.

use crate::Result;
use std::path::{Path, PathBuf};
use std::{env, fs, process};

/// A path that cargo passes to build scripts.
pub fn from_env(name: &str) -> Result<PathBuf> {
    env::var_os(name).map(PathBuf::from).ok_or_else(|| format!("{name} is not set: build with cargo"))
}

/// The target folder, from `<target>/[<triple>/]<profile>/build/<package>/out`.
pub fn target_folder(out: &Path) -> Result<PathBuf> {
    let folder = out.ancestors().nth(4).ok_or_else(|| format!("{} is not in a target folder", out.display()))?;
    let cross = env::var_os("TARGET").is_some_and(|triple| folder.file_name() == Some(triple.as_os_str()));
    let folder = if cross { folder.parent().unwrap_or(folder) } else { folder };
    Ok(folder.to_path_buf())
}

/// Writes a file whole, if it is not like this already.
pub fn put(path: &Path, bytes: &[u8]) -> Result<()> {
    let failed = |e: std::io::Error| format!("{}: {e}", path.display());
    if fs::read(path).is_ok_and(|there| there == bytes) {
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    let new = path.with_extension(format!("{}.new", process::id()));
    fs::write(&new, bytes).map_err(failed)?;
    fs::rename(&new, path).map_err(failed)
}
