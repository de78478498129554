//! Who else could change a file that decides what runs. Such a file is not read.

use crate::{Error, ErrorKind, text};
use std::fs::{File, Metadata};
use std::io::Read as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

fn error(file: &Path, message: &str) -> Error {
    Error::new(ErrorKind::Config, format!("{}: {message}", text::escape(&file.display().to_string())))
}

/// Reads a configuration file of at most `limit` bytes that only its user can write.
pub(crate) fn read(file: &Path, limit: u64) -> Result<String, Error> {
    let unreadable = |e: std::io::Error| {
        error(file, &format!("cannot be read ({}): check the path and its permissions", e.kind())).with_source(e)
    };
    // Without waiting for a writer, should it be a pipe; what was opened is what is checked and read.
    let opened = File::options()
        .read(true)
        .custom_flags(rustix::fs::OFlags::NONBLOCK.bits() as i32)
        .open(file)
        .map_err(unreadable)?;
    let found = opened.metadata().map_err(unreadable)?;
    if !found.is_file() {
        return Err(error(file, "is not a file: name a configuration file"));
    }
    if let Some(what) = open_to_others(&found) {
        return Err(error(file, &format!("{what}: whoever writes it decides what runs; {}", remedy(file, &found))));
    }
    if let Some(what) = replaceable(file) {
        return Err(error(file, &what));
    }
    let mut bytes = Vec::new();
    opened.take(limit + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > limit {
        return Err(error(file, &format!("is longer than {}: shorten it", text::bytes(limit))));
    }
    String::from_utf8(bytes).map_err(|e| {
        let before = e.as_bytes().get(..e.utf8_error().valid_up_to()).unwrap_or_default();
        let line = before.iter().filter(|b| **b == b'\n').count() + 1;
        Error::new(
            ErrorKind::Config,
            format!("{}:{line}: is not UTF-8: save it as UTF-8", text::escape(&file.display().to_string())),
        )
    })
}

/// Says that everybody may put another file in this one's place, where that is so, and how to end it.
pub(crate) fn replaceable(file: &Path) -> Option<String> {
    let real = file.canonicalize().ok();
    [Some(file), real.as_deref()].into_iter().flatten().find_map(|file| {
        let dir = file.parent().map(|dir| if dir.as_os_str().is_empty() { Path::new(".") } else { dir })?;
        (dir.metadata().ok()?.mode() & 0o1002 == 0o0002)
            .then(|| format!("everybody can replace it: run `chmod o-w {}`", text::shell(&dir.display().to_string())))
    })
}

/// Says who else may write a file, where somebody may.
pub(crate) fn open_to_others(found: &Metadata) -> Option<&'static str> {
    let user = rustix::process::geteuid().as_raw();
    match found.mode() & 0o022 {
        0 if found.uid() == user || found.uid() == 0 => None,
        0 => Some("belongs to another user"),
        0o020 => Some("can be written by its group"),
        _ => Some("can be written by everybody"),
    }
}

/// The command that takes the others' right away.
pub(crate) fn remedy(file: &Path, found: &Metadata) -> String {
    let name = text::shell(&file.display().to_string());
    if found.mode() & 0o022 == 0 {
        format!("run `chown \"$(id -u)\" {name}`, or use a file of your own")
    } else {
        format!("run `chmod go-w {name}`")
    }
}
