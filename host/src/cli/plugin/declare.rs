//! `plugin declare FILE MANIFEST`: the manifest goes in at the component's end, and nothing else of it changes.

use super::super::print::line;
use crate::cli::exit;
use crate::plugin::Plugin;
use crate::{Error, ErrorKind, text};
use std::fs;
use std::io::Write as _;
use std::path::Path;

/// Longest file that is read: no manifest is as long.
const MAX: u64 = 1 << 20;

pub(super) fn run(file: &Path, manifest: &Path, output: Option<&Path>) -> anyhow::Result<u8> {
    let component = Plugin::bytes(file).map_err(|what| about(file, &what))?;
    let size = manifest.metadata().map_err(|e| about(manifest, &format!("cannot be read: {e}")))?.len();
    if size > MAX {
        return Err(about(manifest, "is longer than any manifest: name the right file").into());
    }
    let asked = fs::read_to_string(manifest).map_err(|e| about(manifest, &format!("cannot be read: {e}")))?;
    let whole = Plugin::with_manifest(&component, &asked).map_err(|what| match what {
        Ok(what) => about(file, &what),
        Err(what) => about(manifest, &what),
    })?;
    let output = output.unwrap_or(file);
    write(output, &whole).map_err(|e| about(output, &format!("cannot be written: {e}")))?;
    let shown = text::shell(&output.display().to_string());
    line(&format!("{shown} says now what it needs; see `counterfoil plugin inspect {shown}`"))?;
    Ok(exit::OK)
}

/// The old file or the new one, never half of one.
fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder = real.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut new = tempfile::Builder::new().prefix(".counterfoil-").tempfile_in(folder)?;
    new.write_all(bytes)?;
    let permissions = match real.metadata() {
        Ok(found) => found.permissions(),
        Err(_) => std::os::unix::fs::PermissionsExt::from_mode(0o644),
    };
    new.as_file().set_permissions(permissions)?;
    new.persist(&real).map_err(|e| e.error)?;
    Ok(())
}

fn about(path: &Path, what: &str) -> Error {
    Error::new(ErrorKind::Plugin, format!("{}: {what}", text::escape(&path.display().to_string())))
}
