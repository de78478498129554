//! Where the path of an audit's folder led, noted beside its checkpoints. Those go by where a path leads, so whoever turns it,
//! or a folder above it, into a link to another place would leave them behind unseen. A noted path that leads elsewhere is said,
//! and nothing is written there, until the operator says that the folder was moved.

use super::checkpoint::{self, AUDIT, CHECKPOINT};
use crate::private::{self, resolved};
use crate::{Error, ErrorKind, digest};
use rustix::fs::OFlags;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Component, Path, PathBuf, absolute};

/// What the name of a note ends with.
const NOTE: &str = ".way";
/// How a note begins. Its parts are apart by a zero byte, which is in no path.
const FORM: &str = "counterfoil-way 1";
/// Longest note that is read: two paths as long as a system takes them, and some more.
const LONGEST: u64 = 16 * 1024;

/// A path that leads to another folder than it did.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Astray {
    /// The path, as it was given.
    pub path: PathBuf,
    /// Where it led when it was noted.
    pub was: PathBuf,
    /// Where it leads now.
    pub is: PathBuf,
    /// How many files the checkpoints know in the folder where it led.
    pub files: usize,
}

/// A path and where it led.
#[derive(PartialEq, Eq)]
struct Way {
    path: PathBuf,
    folder: PathBuf,
}

impl Way {
    fn bytes(&self) -> Vec<u8> {
        let [path, folder] = [&self.path, &self.folder].map(|path| path.as_os_str().as_bytes());
        let mut bytes = [FORM.as_bytes(), path, folder].join(&0);
        let sum = digest::sha256(&bytes);
        bytes.push(0);
        bytes.extend(sum.as_bytes());
        bytes.push(b'\n');
        bytes
    }

    fn read(file: &Path) -> io::Result<Option<Self>> {
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
        let opened = OpenOptions::new().read(true).custom_flags(flags).open(file)?;
        let mut bytes = Vec::new();
        opened.take(LONGEST + 1).read_to_end(&mut bytes)?;
        let mut parts = bytes.split(|b| *b == 0).skip(1).map(|part| PathBuf::from(OsStr::from_bytes(part)));
        let way = parts.next().zip(parts.next()).map(|(path, folder)| Self { path, folder });
        Ok(way.filter(|way| way.bytes() == bytes))
    }
}

/// What is noted in every place.
pub(super) struct Ways {
    notes: Vec<(PathBuf, Way)>,
    /// Notes that cannot be used.
    pub(super) unusable: Vec<PathBuf>,
}

impl Ways {
    pub(super) fn read(places: &[PathBuf]) -> io::Result<Self> {
        let mut ways = Self { notes: Vec::new(), unusable: Vec::new() };
        for place in places {
            let entries = match fs::read_dir(place) {
                Ok(entries) => entries,
                Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
                Err(e) => return Err(e),
            };
            for entry in entries {
                let file = entry?.path();
                if !file.as_os_str().as_encoded_bytes().ends_with(NOTE.as_bytes()) {
                    continue;
                }
                match Way::read(&file) {
                    Ok(Some(way)) => ways.notes.push((file, way)),
                    Ok(None) | Err(_) => ways.unusable.push(file),
                }
            }
        }
        Ok(ways)
    }

    /// The paths that lead to this folder now and led to another one.
    pub(super) fn astray(&self, folder: &Path, places: &[PathBuf]) -> BTreeSet<Astray> {
        let other = self.notes.iter().map(|(_, way)| way).filter(|way| way.folder != folder);
        other
            .filter(|way| resolved(&way.path) == folder)
            .map(|way| {
                let names = places.iter().flat_map(|place| checkpoints(&checkpoint::folder(place, &way.folder)));
                let files = names.collect::<BTreeSet<_>>().len();
                Astray { path: way.path.clone(), was: way.folder.clone(), is: folder.to_owned(), files }
            })
            .collect()
    }

    /// Refuses a folder that a path leads to which led to another one.
    pub(super) fn refuse(&self, folder: &Path) -> io::Result<()> {
        if let Some(file) = self.unusable.first() {
            let what = format!(
                "{} does not say any more where the audit's folder was: run `counterfoil audit verify`, then remove that note",
                file.display()
            );
            return Err(io::Error::other(what));
        }
        match self.astray(folder, &[]).first() {
            None => Ok(()),
            Some(astray) => Err(io::Error::other(format!(
                "{} led to {} and leads to {} now: whoever did that hides what was recorded; undo it, or run \
                 `counterfoil audit moved` if it was you",
                astray.path.display(),
                astray.was.display(),
                astray.is.display()
            ))),
        }
    }

    /// Notes in each place that `dir` leads to `folder`, where that is not noted yet.
    pub(super) fn note(&self, places: &[PathBuf], dir: &Path, folder: &Path) -> io::Result<()> {
        for place in places {
            for path in BTreeSet::from([plain(dir), folder.to_owned()]) {
                let file = place.join(name(&path));
                let way = Way { path, folder: folder.to_owned() };
                if !self.notes.iter().any(|(at, noted)| *at == file && *noted == way) {
                    put(place, &file, &way)?;
                }
            }
        }
        Ok(())
    }
}

/// Paths of the audit's folder that lead to another one than they did. None: nobody turned one away.
///
/// # Errors
/// [`ErrorKind::Io`]: a place cannot be read.
pub fn astray(dir: &Path, places: &[PathBuf]) -> Result<BTreeSet<Astray>, Error> {
    let ways = Ways::read(places).map_err(|e| Error::new(ErrorKind::Io, e.to_string()).with_source(e))?;
    Ok(ways.astray(&resolved(dir), places))
}

/// What was done for a folder that was moved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// Where it was.
    pub from: BTreeSet<PathBuf>,
    /// Of how many files the checkpoints went along.
    pub along: usize,
    /// Of how many they stay, since these files are still where it was.
    pub stay: usize,
}

/// The operator says that the folder of the audit is `dir` now, and was moved there: from `from`, and from wherever its path led
/// before. Checkpoints go along, unless their files are still there; and that is where the path leads from now on. Nothing
/// should write to the folder meanwhile.
///
/// # Errors
/// [`ErrorKind::Io`]: a folder, or a place, cannot be used.
pub fn moved(dir: &Path, from: Option<&Path>, places: &[PathBuf]) -> Result<Moved, Error> {
    let failed =
        |e: io::Error| Error::new(ErrorKind::Io, format!("the checkpoints cannot go along: {e}")).with_source(e);
    let folder = resolved(dir);
    if !folder.is_dir() {
        return Err(Error::new(ErrorKind::Io, format!("{} is no folder: move it there first", dir.display())));
    }
    private::existing_folder(&folder).map_err(failed)?;
    let ways = Ways::read(places).map_err(failed)?;
    let mut done = Moved::default();
    done.from.extend(ways.astray(&folder, &[]).into_iter().map(|astray| astray.was));
    // It may be a link by now that leads to where it was moved.
    done.from.extend(from.into_iter().flat_map(|from| [plain(from), resolved(from)]).filter(|from| *from != folder));
    for was in &done.from {
        let (mut along, mut stay) = (BTreeSet::new(), BTreeSet::new());
        for place in places {
            let (old, new) = (checkpoint::folder(place, was), checkpoint::folder(place, &folder));
            go_along(was, &old, &new, &mut along, &mut stay).map_err(failed)?;
        }
        // A folder that is not used any more has no way.
        for (file, _) in ways.notes.iter().filter(|(_, way)| way.folder == *was && stay.is_empty()) {
            fs::remove_file(file).map_err(failed)?;
        }
        done.along += along.len();
        done.stay += stay.len();
    }
    let known = Ways::read(places).map_err(failed)?;
    // Other paths that lead there lead there from now on.
    for astray in known.astray(&folder, &[]) {
        known.note(places, &astray.path, &folder).map_err(failed)?;
    }
    known.note(places, dir, &folder).map_err(failed)?;
    Ok(done)
}

/// Checkpoints of files that are not in the folder `was` any more go from `old` to `new`.
fn go_along(
    was: &Path,
    old: &Path,
    new: &Path,
    along: &mut BTreeSet<String>,
    stay: &mut BTreeSet<String>,
) -> io::Result<()> {
    for name in checkpoints(old) {
        let stem = name.strip_suffix(CHECKPOINT).unwrap_or(&name);
        let is_there = was.join(format!("{stem}{AUDIT}")).symlink_metadata().is_ok_and(|found| found.is_file());
        // Where a link leads is another folder.
        if is_there && resolved(was) == *was {
            stay.insert(name);
            continue;
        }
        private::folder(new)?;
        let to = new.join(&name);
        if to.symlink_metadata().is_ok() {
            return Err(io::Error::other(format!("{} is there already", to.display())));
        }
        fs::rename(old.join(&name), &to)?;
        along.insert(name);
    }
    if old.is_dir() {
        // Kept as long as anything is in it.
        let _ = fs::remove_dir(old);
    }
    if new.is_dir() { File::open(new)?.sync_all() } else { Ok(()) }
}

/// The names of the checkpoints in a folder.
fn checkpoints(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
    let names = names.map(|name| name.to_string_lossy().into_owned());
    names.filter(|name| name.ends_with(CHECKPOINT)).collect()
}

/// The path as it is given, from the root on. Where it goes back up it is clear what it goes back from; through which links it
/// leads otherwise is followed each time anew.
fn plain(path: &Path) -> PathBuf {
    let whole = absolute(path).unwrap_or_else(|_| path.to_owned());
    whole.components().fold(PathBuf::new(), |mut plain, part| {
        if part == Component::ParentDir {
            plain = resolved(&plain);
            plain.pop();
        } else {
            plain.push(part);
        }
        plain
    })
}

fn name(path: &Path) -> String {
    let id = digest::sha256(path.as_os_str().as_bytes());
    format!("{}{NOTE}", id.get(..16).unwrap_or_default())
}

/// Puts a note in its place, whole, so that it outlives a power cut.
fn put(place: &Path, file: &Path, way: &Way) -> io::Result<()> {
    private::folder(place)?;
    let mut random = [0; 8];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    let draft = file.with_extension(format!("{:016x}", u64::from_ne_bytes(random)));
    let mut made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft)?;
    let written = made.write_all(&way.bytes()).and_then(|()| made.sync_all()).and_then(|()| fs::rename(&draft, file));
    if let Err(e) = written {
        let _ = fs::remove_file(&draft);
        return Err(e);
    }
    File::open(place)?.sync_all()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_note_is_read_as_it_was_written_whatever_the_paths_are_and_a_change_is_seen() {
        let dir = tempfile::tempdir().unwrap();
        for path in [b"/a".as_slice(), b"/with\nline", b"/no text \xff\xfe", b"/"] {
            let way = Way { path: OsStr::from_bytes(path).into(), folder: "/real".into() };
            let file = dir.path().join(name(&way.path));
            put(dir.path(), &file, &way).unwrap();
            assert!(Way::read(&file).unwrap().unwrap() == way);
            let bytes = fs::read(&file).unwrap();
            for at in 0..bytes.len() {
                let mut other = bytes.clone();
                *other.get_mut(at).unwrap() ^= 1;
                fs::write(&file, &other).unwrap();
                assert!(Way::read(&file).unwrap().is_none(), "byte {at}");
            }
        }
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 4, "no draft is left");
    }

    #[test]
    fn going_back_up_is_decided_where_the_path_leads_and_links_are_left_in_it() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        fs::create_dir_all(base.join("deep/er")).unwrap();
        std::os::unix::fs::symlink(base.join("deep/er"), base.join("way")).unwrap();
        let check = |path: &str, expected: &str| assert_eq!(plain(&base.join(path)), base.join(expected), "{path}");
        check("way/audit", "way/audit");
        check("way/../audit", "deep/audit");
        check("deep/./er/../audit", "deep/audit");
        check("not/there/../audit", "not/audit");
    }
}
