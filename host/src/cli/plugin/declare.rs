//! `plugin declare FILE MANIFEST`: the manifest goes in at the component's end, and nothing else of it changes.

use super::super::print::line;
use crate::cli::exit;
use crate::plugin::Plugin;
use crate::{Error, ErrorKind, text};
use std::fs;
use std::io::{Read as _, Write as _};
use std::path::Path;

/// Longest file that is read: no manifest is as long.
const MAX: u64 = 1 << 20;

pub(super) fn run(file: &Path, manifest: &Path, output: Option<&Path>) -> anyhow::Result<u8> {
    there(file)?;
    let component = Plugin::bytes(file).map_err(|what| about(file, &what))?;
    let size = manifest.metadata().map_err(|e| about(manifest, &unread(&e)))?.len();
    if size > MAX {
        return Err(about(manifest, "is longer than any manifest: name the right file").into());
    }
    let asked = fs::read_to_string(manifest).map_err(|e| about(manifest, &unread(&e)))?;
    let whole = Plugin::with_manifest(&component, &asked).map_err(|what| match what {
        Ok(what) => about(file, &what),
        Err(what) => about(manifest, &what),
    })?;
    if let Some(output) = output {
        replaceable(output, manifest)?;
    }
    let output = output.unwrap_or(file);
    write(output, &whole).map_err(|e| about(output, &format!("cannot be written: {e}")))?;
    let shown = text::shell(&output.display().to_string());
    line(&format!("{shown} says now what it needs; see `counterfoil plugin inspect {shown}`"))?;
    Ok(exit::OK)
}

/// What the output may take the place of: nothing, or WebAssembly, which can be built anew.
fn replaceable(output: &Path, manifest: &Path) -> Result<(), Error> {
    const MAGIC: &[u8] = b"\0asm";
    let Ok(there) = output.canonicalize() else { return Ok(()) };
    if manifest.canonicalize().is_ok_and(|manifest| manifest == there) {
        return Err(about(output, "is the manifest itself: name another file for the output"));
    }
    let mut begins = Vec::new();
    let read = fs::File::open(&there).and_then(|file| file.take(MAGIC.len() as u64).read_to_end(&mut begins));
    match read {
        Ok(_) if begins == MAGIC => Ok(()),
        Ok(_) => Err(about(output, "is there and no WebAssembly, so it stays: name another file for the output")),
        Err(e) => Err(about(output, &format!("is there and cannot be read ({e}): name another file for the output"))),
    }
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

/// Says so where a file is not there, whatever reads it.
pub(super) fn there(file: &Path) -> Result<(), Error> {
    match file.metadata() {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Err(about(file, &unread(&e))),
        _ => Ok(()),
    }
}

fn unread(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file: correct the path".to_owned(),
        std::io::ErrorKind::InvalidData => {
            "is no text: name the manifest, which is JSON, after the component".to_owned()
        }
        _ => format!("cannot be read: {error}"),
    }
}

fn about(path: &Path, what: &str) -> Error {
    Error::new(ErrorKind::Plugin, format!("{}: {what}", text::escape(&path.display().to_string())))
}
