//! Reads what decides what runs, where nobody else could have changed it.

use crate::{Error, ErrorKind, others, text};
use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

fn error(file: &Path, message: &str) -> Error {
    Error::new(ErrorKind::Config, format!("{}: {message}", text::escape(&file.display().to_string())))
}

/// The link in a path that leads nowhere.
fn nowhere(file: &Path) -> Option<&Path> {
    file.ancestors().find(|part| part.is_symlink() && !part.exists())
}

/// Reads a configuration file of at most `limit` bytes that only its user can write.
pub(crate) fn read(file: &Path, limit: u64) -> Result<String, Error> {
    let unreadable = |e: std::io::Error| match e.kind() {
        std::io::ErrorKind::NotFound => match nowhere(file) {
            Some(link) if link == file => {
                error(file, "is a link that leads nowhere: put back what it leads to, or remove the link")
            }
            Some(link) => {
                let link = text::escape(&link.display().to_string()).into_owned();
                error(
                    file,
                    &format!("{link} is a link that leads nowhere: put back what it leads to, or correct the path"),
                )
            }
            None => error(file, "there is no such file: correct the path"),
        },
        kind => error(file, &format!("cannot be read ({kind}): check the path and its permissions")),
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
    if let Some(what) = others::can_write(file, &found) {
        return Err(error(
            file,
            &format!("{what}: whoever writes it decides what runs; {}", others::remedy(file, &found)),
        ));
    }
    if let Some(what) = others::can_replace(file) {
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn what_is_not_there_is_told_from_a_link_that_leads_nowhere() {
        let dir = tempfile::tempdir().unwrap();
        let at = |path: &str| dir.path().join(path);
        symlink("gone", at("link")).unwrap();
        symlink("link", at("further")).unwrap();
        std::fs::write(at("there"), "x").unwrap();
        symlink("there", at("good")).unwrap();
        let refused = |path: &str| read(&at(path), 100).unwrap_err().to_string();
        assert!(refused("none").ends_with("none: there is no such file: correct the path"));
        assert!(refused("there/none").contains("cannot be read"));
        assert!(
            refused("link")
                .ends_with("link: is a link that leads nowhere: put back what it leads to, or remove the link")
        );
        assert!(refused("further").contains("further: is a link that leads nowhere"));
        let deep = refused("link/a/b");
        assert!(deep.contains("link/a/b: ") && deep.contains("link is a link that leads nowhere"), "{deep}");
        assert_eq!(read(&at("good"), 100).unwrap(), "x");
    }
}
