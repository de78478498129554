//! A client's file: read whole, written whole or not at all. Its mode, its links and its earlier backups are kept; a file
//! that somebody else can write is left alone, since whoever writes it decides what the client starts.

use crate::others;
use crate::text::{escape, shell};
use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _, fchown};
use std::path::{Path, PathBuf};

/// Longest file that is read: clients keep histories beside their servers.
const MAX: u64 = 64 << 20;

/// A client's file as it was read.
pub(in crate::cli) struct Source {
    /// As it was named.
    pub(in crate::cli) path: PathBuf,
    /// Where the links of `path` lead.
    target: PathBuf,
    /// What was read; none: there is no file yet.
    found: Option<(Vec<u8>, Metadata)>,
    /// Its text; empty where there is no file yet.
    pub(in crate::cli) text: String,
    /// It begins with a byte order mark.
    marked: bool,
}

/// What became of a file that was written.
pub(in crate::cli) struct Written {
    /// What was there before.
    pub(in crate::cli) backup: Option<PathBuf>,
    /// Why nobody knows whether a loss of power would undo it.
    pub(in crate::cli) unsettled: Option<String>,
}

const MARK: &str = "\u{feff}";

impl Source {
    /// Reads the file, or finds that it can be made.
    ///
    /// # Errors
    /// What is wrong with it: a link that leads nowhere, no file, not UTF-8, too long, not readable.
    pub(in crate::cli) fn read(path: &Path) -> Result<Self, String> {
        let path = std::path::absolute(path).map_err(|e| about(path, &e.to_string()))?;
        let link = path.symlink_metadata().is_ok_and(|found| found.is_symlink());
        let target = match path.canonicalize() {
            Ok(target) => target,
            Err(e) if e.kind() == io::ErrorKind::NotFound && !link => {
                return Ok(Self { target: path.clone(), path, found: None, text: String::new(), marked: false });
            }
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                return Err(about(&path, "is a link that leads nowhere: make the file that it names, or remove it"));
            }
            Err(e) => return Err(about(&path, &format!("cannot be read ({e})"))),
        };
        let (bytes, found) = content(&target).map_err(|e| about(&path, &format!("cannot be read: {e}")))?;
        let whole = std::str::from_utf8(&bytes).map_err(|e| {
            let line = bytes.iter().take(e.valid_up_to()).filter(|b| **b == b'\n').count() + 1;
            about(&path, &format!("is not UTF-8 in line {line}: save it as UTF-8"))
        })?;
        let text = whole.strip_prefix(MARK).unwrap_or(whole).to_owned();
        let marked = whole.starts_with(MARK);
        Ok(Self { path, target, found: Some((bytes, found)), text, marked })
    }

    /// Whether there is a file.
    pub(in crate::cli) fn exists(&self) -> bool {
        self.found.is_some()
    }

    /// Who else decides what is in the file, as far as that must not be. Others than its group: refused. Of a file that is
    /// not there yet: who else can put one, or a folder on the way to it, in its place.
    pub(in crate::cli) fn open_to_others(&self) -> Option<String> {
        let Some((_, found)) = self.found.as_ref() else {
            let first = self.target.ancestors().take_while(|path| path.symlink_metadata().is_err()).last();
            let first = first.unwrap_or(&self.target);
            return others::can_replace(first).map(|what| about(first, &what));
        };
        let group_only = found.mode() & 0o022 == 0o020 && found.uid() == rustix::process::geteuid().as_raw();
        if let Some(what) = others::can_write(&self.path, found).filter(|_| !group_only) {
            let remedy = others::remedy(&self.path, found);
            return Some(about(&self.path, &format!("{what}: whoever writes it decides what is started; {remedy}")));
        }
        others::can_replace(&self.path).map(|what| about(&self.path, &what))
    }

    /// The file that is written, where links lead from the one that was named.
    pub(in crate::cli) fn elsewhere(&self) -> Option<PathBuf> {
        let real = self.real().ok()?;
        let named = self.path.parent().and_then(|folder| folder.parent()).and_then(|up| up.canonicalize().ok());
        // Links on the way to a home or a project are how this machine is laid out.
        let end: PathBuf = self.path.components().rev().take(2).collect::<Vec<_>>().into_iter().rev().collect();
        named.filter(|up| up.join(end) != real).map(|_| real)
    }

    /// Where a write ends, links followed: those of folders too, whether or not there is a file yet.
    fn real(&self) -> io::Result<PathBuf> {
        let standing = self.path.ancestors().find(|path| path.symlink_metadata().is_ok()).unwrap_or(&self.path);
        let rest = self.path.strip_prefix(standing).unwrap_or(Path::new(""));
        let real = standing.canonicalize()?;
        Ok(if rest.as_os_str().is_empty() { real } else { real.join(rest) })
    }

    /// That the file lies in this project, and its folders are this user's own (or the system's).
    ///
    /// # Errors
    /// Where it lies instead, or whose the folder is.
    pub(in crate::cli) fn within(&self, project: &Path) -> Result<(), String> {
        let unreadable = |e: io::Error| about(&self.path, &format!("cannot be looked up: {e}"));
        let (real, project) = (self.real().map_err(unreadable)?, project.canonicalize().map_err(unreadable)?);
        if !real.starts_with(&project) {
            let real = escape(&real.display().to_string()).into_owned();
            let what = format!("leads to {real}, outside the project: remove the link, or name that file with --file");
            return Err(about(&self.path, &what));
        }
        let user = rustix::process::geteuid().as_raw();
        for folder in real.ancestors().skip(1).take_while(|folder| folder.starts_with(&project)) {
            if folder.metadata().is_ok_and(|found| ![user, 0].contains(&found.uid())) {
                return Err(about(folder, "belongs to another user, who decides what is in it; nothing was written"));
            }
        }
        Ok(())
    }

    /// Whether the file's group can write it, which is usual where each user has a group of their own.
    pub(in crate::cli) fn open_to_group(&self) -> bool {
        self.found.as_ref().is_some_and(|(_, found)| found.mode() & 0o020 != 0)
    }

    /// Whether the file has another name (a hard link), which stays with what is in it now.
    pub(in crate::cli) fn has_another_name(&self) -> bool {
        self.found.as_ref().is_some_and(|(_, found)| found.nlink() > 1)
    }

    /// The folder of the file, where it is not there.
    pub(in crate::cli) fn missing_folder(&self) -> Option<&Path> {
        self.target.parent().filter(|folder| !folder.is_dir())
    }

    /// Puts `text` in the file's place, whole. `shared`: a new file is for others to read as well.
    ///
    /// # Errors
    /// Nothing was changed, beyond a backup or a folder that may have been made.
    pub(in crate::cli) fn write(&self, text: &str, shared: bool) -> Result<Written, String> {
        let failed = |path: &Path, e: io::Error| about(path, &format!("cannot be written: {e}; nothing was changed"));
        let folder = self.target.parent().unwrap_or(Path::new("/"));
        let name = self.target.file_name().unwrap_or_default();
        fs::DirBuilder::new()
            .recursive(true)
            .mode(if shared { 0o777 } else { 0o700 })
            .create(folder)
            .map_err(|e| failed(folder, e))?;
        // Whatever is under a name of this kind was left by a process of this id that died.
        let draft = folder.join(format!(".{}.counterfoil-{}", name.to_string_lossy(), std::process::id()));
        let _ = fs::remove_file(&draft);
        let place = || -> io::Result<Option<PathBuf>> {
            let mut file = OpenOptions::new()
                .write(true)
                .create_new(true)
                .mode(if shared && self.found.is_none() { 0o666 } else { 0o600 })
                .open(&draft)?;
            if self.marked {
                file.write_all(MARK.as_bytes())?;
            }
            file.write_all(text.as_bytes())?;
            if let Some((_, found)) = &self.found {
                like(&file, found)?;
            }
            file.sync_all()?;
            let backup = self.found.as_ref().map(|found| back_up(folder, name, found)).transpose()?;
            self.unchanged()?;
            fs::rename(&draft, &self.target)?;
            Ok(backup)
        };
        let backup = place().map_err(|e| {
            let _ = fs::remove_file(&draft);
            failed(&self.path, e)
        })?;
        // From here on the file is another one, whatever happens.
        let unsettled = File::open(folder).and_then(|folder| folder.sync_all()).err().map(|e| e.to_string());
        Ok(Written { backup, unsettled })
    }

    /// The client may have written its file while somebody read what would change.
    fn unchanged(&self) -> io::Result<()> {
        let now = match content(&self.target) {
            Ok((bytes, _)) => Some(bytes),
            Err(e) if e.kind() == io::ErrorKind::NotFound => None,
            Err(e) => return Err(e),
        };
        match now.as_deref() == self.found.as_ref().map(|(bytes, _)| bytes.as_slice()) {
            true => Ok(()),
            false => Err(io::Error::other("it was changed in the meantime: run the command again")),
        }
    }
}

fn content(file: &Path) -> io::Result<(Vec<u8>, Metadata)> {
    let not_blocking = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let opened = OpenOptions::new().read(true).custom_flags(not_blocking).open(file)?;
    let found = opened.metadata()?;
    if !found.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    let mut bytes = Vec::new();
    opened.take(MAX + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > MAX {
        true => Err(io::Error::other("it is longer than 64 MiB")),
        false => Ok((bytes, found)),
    }
}

/// Gives a new file the group and the mode of the one that it follows; without the group, nothing for a group.
fn like(file: &File, found: &Metadata) -> io::Result<()> {
    let same = file.metadata()?.gid() == found.gid() || fchown(file, None, Some(found.gid())).is_ok();
    file.set_permissions(Permissions::from_mode(found.mode() & if same { 0o7777 } else { 0o7707 }))
}

/// A copy beside the file, under the first name that is free.
fn back_up(folder: &Path, name: &std::ffi::OsStr, (bytes, found): &(Vec<u8>, Metadata)) -> io::Result<PathBuf> {
    let mut number = 1_u32;
    loop {
        let mut copy = name.to_os_string();
        copy.push(format!(".counterfoil-backup-{number}"));
        let path = folder.join(copy);
        match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
            Ok(mut file) => {
                let written = file.write_all(bytes).and_then(|()| like(&file, found)).and_then(|()| file.sync_all());
                return match written {
                    Ok(()) => Ok(path),
                    Err(e) => {
                        let _ = fs::remove_file(&path);
                        Err(e)
                    }
                };
            }
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(e) => return Err(e),
        }
    }
}

fn about(path: &Path, what: &str) -> String {
    format!("{}: {what}", escape(&path.display().to_string()))
}

/// The command that puts a backup back.
pub(in crate::cli) fn restore(backup: &Path, file: &Path) -> String {
    format!("cp {} {}", shell(&backup.display().to_string()), shell(&file.display().to_string()))
}
