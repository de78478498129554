//! Which configurations the user chose: had made by `config init`, or named with `--config`. One that only lies in the working
//! directory is not taken. Whoever can write there, an agent or a repository that was cloned, would decide what runs.
//!
//! Each has a file of its own in the state directory, so that processes which note one at the same moment have nothing to
//! agree on. What is noted is where it lies, its real folder and its name in it, and not where a link of that name leads: its
//! paths and its lock are looked for beside the link.

use super::{Dirs, FILE_NAME};
use crate::digest::sha256;
use crate::{Error, ErrorKind, private, text};
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf, absolute};

/// Longest note that is read: systems take no longer path.
const LONGEST: u64 = 64 << 10;

/// The notes of a user.
#[derive(Clone, Debug)]
pub struct Chosen {
    folder: PathBuf,
}

impl Chosen {
    /// Those in a user's state directory.
    pub fn of(user: &Dirs) -> Self {
        Self { folder: user.state.join("configurations") }
    }

    /// The folder that they are in.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether the configuration that lies there was chosen.
    ///
    /// # Errors
    /// The notes cannot be read, or somebody else could have written them.
    pub fn has(&self, config: &Path) -> io::Result<bool> {
        private::existing_folder(&self.folder)?;
        let place = place(config)?;
        match private::read(&self.note_of(&place), LONGEST) {
            Ok(noted) => Ok(noted == place.as_os_str().as_bytes()),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(e) => Err(e),
        }
    }

    /// Takes note that it was, and forgets those that are gone.
    ///
    /// # Errors
    /// It cannot be written down.
    pub fn note(&self, config: &Path) -> io::Result<()> {
        if self.has(config)? {
            return Ok(());
        }
        private::folder(&self.folder)?;
        let place = place(config)?;
        // Whole under another name first: who reads it meanwhile finds all of it or nothing.
        let mut draft = tempfile::NamedTempFile::new_in(&self.folder)?;
        draft.write_all(place.as_os_str().as_bytes())?;
        draft.as_file().sync_all()?;
        draft.persist(self.note_of(&place)).map_err(|e| e.error)?;
        let gone = |place: &Path| place.symlink_metadata().is_err_and(|e| e.kind() == io::ErrorKind::NotFound);
        for (note, _) in self.all().into_iter().filter(|(_, place)| gone(place)) {
            // Another process may have been faster.
            let _ = fs::remove_file(note);
        }
        Ok(())
    }

    /// Each note, and the configuration that it is about.
    pub(super) fn all(&self) -> Vec<(PathBuf, PathBuf)> {
        let notes = fs::read_dir(&self.folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let read = |note: PathBuf| {
            let place = PathBuf::from(OsString::from_vec(private::read(&note, LONGEST).ok()?));
            (self.note_of(&place) == note).then_some((note, place))
        };
        notes.filter_map(read).collect()
    }

    fn note_of(&self, place: &Path) -> PathBuf {
        self.folder.join(sha256(place.as_os_str().as_bytes()))
    }
}

/// Where a configuration lies: in its real folder, under its own name.
fn place(config: &Path) -> io::Result<PathBuf> {
    let config = absolute(config)?;
    match (config.parent(), config.file_name()) {
        (Some(folder), Some(name)) => Ok(folder.canonicalize()?.join(name)),
        _ => Ok(config),
    }
}

/// The configuration that lies in the working directory, where it is one that was chosen, or the user's own.
pub(super) fn here(user: &Dirs) -> Result<PathBuf, Error> {
    let (here, of_user) = (PathBuf::from(FILE_NAME), user.config.join(FILE_NAME));
    let own = place(&of_user).is_ok_and(|own| place(&here).is_ok_and(|here| here == own));
    let doubt = match Chosen::of(user).has(&here) {
        _ if own => return Ok(here),
        Ok(true) => return Ok(here),
        Ok(false) => String::new(),
        Err(e) => format!(" (which ones you chose cannot be read: {})", text::escape(&e.to_string())),
    };
    let shown = |path: &Path| text::escape(&path.display().to_string()).into_owned();
    let other = match of_user.symlink_metadata() {
        Ok(_) => format!("--config, such as your own, {}", shown(&of_user)),
        Err(_) => "--config FILE".to_owned(),
    };
    let found = shown(&absolute(&here).unwrap_or(here));
    let message = format!(
        "{found} was found here, and you have not chosen it{doubt}: it decides what runs, and whoever can write here may have put it \
         there; look at it, and if you trust it run `counterfoil --config ./{FILE_NAME} config check` once, or name another one \
         with {other}"
    );
    Err(Error::new(ErrorKind::Config, message))
}
