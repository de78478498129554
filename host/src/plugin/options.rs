//! What the operator gives a plug-in: directories, limits, names. Nothing is granted by omission, and no limit is switched
//! off by a zero.

use crate::{Error, ErrorKind};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

/// What a plug-in may do with a granted directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// List and read.
    ReadOnly,
    /// Change, too: in runs that are not safe, never in previews.
    ReadWrite,
}

/// A directory of the host that a plug-in sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirGrant {
    /// Where it is: an existing directory.
    pub host: PathBuf,
    /// What the plug-in calls it: an absolute path such as `/files`, without `.` or `..`.
    pub guest: String,
    /// What the plug-in may do there.
    pub access: Access,
}

/// What one call of a plug-in may use. A zero is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How long a preview may take. 5 s.
    pub preview: Duration,
    /// How long a run may take. 30 s.
    pub execute: Duration,
    /// Linear memory, in bytes, all memories of the instance together. 256 MiB: a JavaScript or Python engine fits.
    pub memory: u64,
    /// Message and details of an outcome, in bytes. 8 MiB: what can be delivered at all.
    pub output: u64,
    /// Elements of all tables together. 100 000: what the instance pool has.
    pub table_elements: u64,
    /// Core instances that one component may consist of. 64.
    pub instances: u32,
    /// Handles that a call may hold at once: open files, streams, timers. 1024, so that no plug-in uses up the process's.
    pub handles: u32,
    /// What is kept of standard output and of standard error, each, in bytes. 16 KiB.
    pub log: u64,
    /// Runs with the power to change something at once. 1: the next waits.
    pub max_concurrent: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            preview: Duration::from_secs(5),
            execute: Duration::from_secs(30),
            memory: 256 << 20,
            output: 8 << 20,
            table_elements: 100_000,
            instances: 64,
            handles: 1024,
            log: 16 << 10,
            max_concurrent: 1,
        }
    }
}

impl Limits {
    fn check(&self) -> Result<(), Error> {
        let zero = [
            ("preview", self.preview.is_zero()),
            ("execute", self.execute.is_zero()),
            ("memory", self.memory == 0),
            ("output", self.output == 0),
            ("table_elements", self.table_elements == 0),
            ("instances", self.instances == 0),
            ("handles", self.handles == 0),
            ("log", self.log == 0),
            ("max_concurrent", self.max_concurrent == 0),
        ];
        match zero.iter().find(|(_, zero)| *zero) {
            Some((name, _)) => refuse(format!("limit {name} is zero: give a limit above zero, or leave it out")),
            None => Ok(()),
        }
    }
}

/// How a plug-in is loaded.
#[derive(Clone, Debug)]
pub struct PluginOptions {
    /// The operator's name for it: `files` for `[plugins.files]`.
    pub name: String,
    /// The directories that it sees.
    pub dirs: Vec<DirGrant>,
    /// What one call may use.
    pub limits: Limits,
    /// The tools that are switched on, by the plug-in's own names; all of them where it is `None`.
    pub tools: Option<Vec<String>>,
    /// From a plug-in's own name to the one that is listed.
    pub rename: BTreeMap<String, String>,
}

impl PluginOptions {
    /// Every tool under its own name, the usual limits, no grants.
    pub fn new(name: impl Into<String>) -> Self {
        let (limits, tools, rename) = (Limits::default(), None, BTreeMap::new());
        Self { name: name.into(), dirs: Vec::new(), limits, tools, rename }
    }

    /// The grants with their host paths resolved: absolute, without links, each an existing directory that opens.
    pub(super) fn check(&self) -> Result<Vec<DirGrant>, Error> {
        self.limits.check()?;
        let mut seen = BTreeSet::new();
        self.dirs.iter().map(|grant| resolve(grant, &mut seen)).collect()
    }
}

fn resolve<'a>(grant: &'a DirGrant, seen: &mut BTreeSet<&'a str>) -> Result<DirGrant, Error> {
    let (host, guest) = (grant.host.display(), &grant.guest);
    let plain = guest.strip_prefix('/').is_some_and(|rest| {
        rest.is_empty() || rest.split('/').all(|part| !matches!(part, "" | "." | "..") && !part.contains('\0'))
    });
    if !plain {
        return refuse(format!("guest path {guest:?} is not absolute and plain: write it like \"/files\""));
    }
    if !seen.insert(guest) {
        return refuse(format!("guest path {guest:?} is granted twice: give each directory a path of its own"));
    }
    let path = grant.host.canonicalize().map_err(|error| {
        Error::new(ErrorKind::Config, format!("directory {host} cannot be granted: {error}; make it, or name another"))
    })?;
    // Opened as it will be for each call: a missing right shows at the start.
    std::fs::read_dir(&path).map_err(|error| {
        Error::new(ErrorKind::Config, format!("directory {host} cannot be granted: {error}; it must be a readable one"))
    })?;
    Ok(DirGrant { host: path, guest: guest.clone(), access: grant.access })
}

fn refuse<T>(message: String) -> Result<T, Error> {
    Err(Error::new(ErrorKind::Config, message))
}

/// Whether a granted directory reaches a file or folder of the program's own: it is inside the grant, or the grant is
/// inside it, links followed on both sides. A path that does not exist yet is judged by its deepest existing parent.
pub fn grant_reaches(grant: &Path, protected: &Path) -> bool {
    let (grant, protected) = (settle(grant), settle(protected));
    protected.starts_with(&grant) || grant.starts_with(&protected)
}

/// The canonical path, also of what does not exist yet.
fn settle(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut missing = Vec::new();
    for parent in path.ancestors() {
        if let Ok(real) = parent.canonicalize() {
            return missing.iter().rev().fold(real, |path, part: &Component<'_>| match part {
                Component::ParentDir => path.parent().map(Path::to_owned).unwrap_or(path),
                Component::CurDir => path,
                _ => path.join(part),
            });
        }
        missing.extend(parent.components().next_back());
    }
    path
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

    use super::*;

    #[test]
    fn a_grant_reaches_what_is_inside_it_or_around_it_also_by_a_link() {
        let place = tempfile::tempdir().unwrap();
        let at = |path: &str| place.path().join(path);
        std::fs::create_dir_all(at("work/inner")).unwrap();
        std::fs::create_dir_all(at("state")).unwrap();
        std::fs::write(at("state/state.db"), "").unwrap();
        std::os::unix::fs::symlink(at("state"), at("work/link")).unwrap();
        std::os::unix::fs::symlink(at("work"), at("alias")).unwrap();
        #[track_caller]
        fn check(grant: PathBuf, protected: PathBuf, expected: bool) {
            assert_eq!(grant_reaches(&grant, &protected), expected, "{} {}", grant.display(), protected.display());
        }
        check(at("work"), at("state/state.db"), false);
        check(at("state"), at("state/state.db"), true);
        check(at(""), at("state/state.db"), true);
        check(at("work/link"), at("state/state.db"), true);
        check(at("alias"), at("work/counterfoil.toml"), true);
        check(at("work/inner"), at("work"), true);
        check(at("work"), at("work/not/yet/there.db"), true);
        check(at("work"), at("working"), false);
        check(at("work/inner"), at("work/other.db"), false);
        check(at("work"), at("state/missing/../../work/x.db"), true);
    }

    #[track_caller]
    fn refused(options: PluginOptions, with: &str) {
        let error = options.check().expect_err("refused");
        assert!(error.to_string().contains(with), "{error}");
    }

    #[test]
    fn a_zero_limit_is_refused_by_name() {
        let with = |change: fn(&mut Limits)| {
            let mut options = PluginOptions::new("x");
            change(&mut options.limits);
            options
        };
        refused(with(|limits| limits.memory = 0), "limit memory");
        refused(with(|limits| limits.preview = Duration::ZERO), "limit preview");
        refused(with(|limits| limits.max_concurrent = 0), "limit max_concurrent");
        assert!(with(|_| ()).check().is_ok());
    }

    #[test]
    fn a_directory_must_exist_and_its_guest_path_be_absolute_and_unique() {
        let place = tempfile::tempdir().unwrap();
        std::fs::write(place.path().join("file"), "").unwrap();
        let with = |grants: &[(&str, &str)]| {
            let mut options = PluginOptions::new("x");
            options.dirs = grants
                .iter()
                .map(|(host, guest)| DirGrant {
                    host: place.path().join(host),
                    guest: (*guest).into(),
                    access: Access::ReadOnly,
                })
                .collect();
            options
        };
        assert!(with(&[("", "/a"), ("", "/a/b"), ("", "/")]).check().is_ok());
        refused(with(&[("", "/a"), ("", "/a")]), "granted twice");
        for bad in ["a", "", "./a", "/a/../b", "/a//b", "/a/", "/./a"] {
            refused(with(&[("", bad)]), "not absolute and plain");
        }
        refused(with(&[("missing", "/a")]), "cannot be granted");
        refused(with(&[("file", "/a")]), "cannot be granted");
    }
}
