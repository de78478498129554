//! Other names of a file: whoever may use the directory that one of them (a hard link) lies in reaches the file, wherever
//! the name lies that it is known by.

use super::reach::{Id, id};
use std::collections::HashSet;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Names that are looked at before a search is given up: a few seconds of work, and nothing where no file has two names.
const MOST: usize = 1_000_000;

/// What became of a search.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Search {
    /// None of the files has a name there.
    Nothing,
    /// This is one of them.
    Found(PathBuf, Id),
    /// There is more than can be looked at.
    TooMuch,
}

/// The files at a path that have another name somewhere: the path itself, or what lies directly in it.
pub(super) fn linked(path: &Path) -> HashSet<Id> {
    let several = |found: &Metadata| found.is_file() && found.nlink() > 1;
    match path.metadata() {
        Ok(found) if several(&found) => HashSet::from([id(&found)]),
        Ok(found) if found.is_dir() => {
            let entries = path.read_dir().into_iter().flatten().flatten();
            entries.filter_map(|entry| entry.metadata().ok()).filter(several).map(|found| id(&found)).collect()
        }
        _ => HashSet::new(),
    }
}

/// Looks for a name of one of these files below a directory. A hard link never leads to another file system.
pub(super) fn search(directory: &Path, files: &HashSet<Id>) -> Search {
    search_in(directory, files, MOST)
}

fn search_in(directory: &Path, files: &HashSet<Id>, most: usize) -> Search {
    let here = |found: &Metadata| files.iter().any(|(device, _)| *device == found.dev());
    let mut folders = vec![directory.to_owned()];
    let mut seen = 0;
    if files.is_empty() {
        return Search::Nothing;
    }
    while let Some(folder) = folders.pop() {
        // What cannot be listed by this user, no plug-in can list either.
        for entry in folder.read_dir().into_iter().flatten().flatten() {
            seen += 1;
            if seen > most {
                return Search::TooMuch;
            }
            let Ok(found) = entry.metadata() else { continue };
            if found.is_dir() && here(&found) {
                folders.push(entry.path());
            } else if found.is_file() && files.contains(&id(&found)) {
                return Search::Found(entry.path(), id(&found));
            }
        }
    }
    Search::Nothing
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use std::fs;

    #[test]
    fn a_name_of_a_file_is_found_wherever_it_lies_below() {
        let place = tempfile::tempdir().unwrap();
        let at = |path: &str| place.path().join(path);
        for folder in ["own", "work/deep/deeper"] {
            fs::create_dir_all(at(folder)).unwrap();
        }
        for file in ["own/one", "own/two", "work/deep/other", "work/deep/deeper/other"] {
            fs::write(at(file), "").unwrap();
        }
        fs::hard_link(at("work/deep/other"), at("work/deep/again")).unwrap();
        std::os::unix::fs::symlink(at("own"), at("work/way")).unwrap();
        assert!(linked(&at("own")).is_empty() && linked(&at("own/one")).is_empty() && linked(&at("none")).is_empty());
        fs::hard_link(at("own/one"), at("own/elsewhere")).unwrap();
        let files = linked(&at("own"));
        assert_eq!((files.len(), &files), (1, &linked(&at("own/one"))));
        assert_eq!(search(&at("work"), &files), Search::Nothing);
        assert_eq!(search(&at("work"), &HashSet::new()), Search::Nothing);
        fs::hard_link(at("own/one"), at("work/deep/deeper/name")).unwrap();
        let one = id(&at("own/one").metadata().unwrap());
        assert_eq!(search(&at("work"), &files), Search::Found(at("work/deep/deeper/name"), one));
        assert_eq!(search_in(&at("work"), &files, 3), Search::TooMuch);
    }
}
