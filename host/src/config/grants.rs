//! A grant must not reach the program's own files: whoever writes those decides what runs, and whoever reads them sees
//! what agents must not.

use crate::plugin::Access;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

/// A directory or file by what it is, so that a bind mount or another spelling is the same one.
type Id = (u64, u64);

/// The files and folders that no grant may reach.
#[derive(Default)]
pub(super) struct Protected {
    own: Vec<Own>,
}

struct Own {
    what: String,
    path: PathBuf,
    /// Every folder and link on the way to it, and itself.
    trail: HashSet<Id>,
    /// Reading it does no harm.
    readable: bool,
}

/// What of the kernel's looks like files and is not.
const SYSTEM: [&str; 3] = ["/proc", "/sys", "/dev"];

impl Protected {
    /// A file or folder that is to be out of reach, whether it exists already or not.
    pub(super) fn add(&mut self, what: impl Into<String>, path: &Path) {
        self.own.push(Own { what: what.into(), path: path.to_owned(), trail: trail(path), readable: false });
    }

    /// The same, where only writing does harm.
    pub(super) fn add_readable(&mut self, what: impl Into<String>, path: &Path) {
        self.own.push(Own { what: what.into(), path: path.to_owned(), trail: trail(path), readable: true });
    }

    /// Says what a grant of `host`, an existing directory, would reach.
    pub(super) fn reached(&self, host: &Path, access: Access) -> Option<String> {
        let real = host.canonicalize().unwrap_or_else(|_| host.to_owned());
        if let Some(system) = SYSTEM.iter().find(|system| real.starts_with(system)) {
            return Some(format!("{system}, through which the program itself can be changed"));
        }
        let id = real.metadata().ok().map(|found| (found.dev(), found.ino()));
        let own = self.own.iter().filter(|own| !own.readable || access == Access::ReadWrite);
        let mut reached = own.filter(|own| {
            id.is_some_and(|id| own.trail.contains(&id))
                || own.path.canonicalize().is_ok_and(|own| real.starts_with(own))
        });
        reached.next().map(|own| format!("{} ({})", own.what, own.path.display()))
    }
}

/// Every existing folder, link target and file that is passed on the way to `path`, itself included.
fn trail(path: &Path) -> HashSet<Id> {
    /// As many links as Linux follows.
    const LINKS: u32 = 40;
    let mut seen = HashSet::new();
    let mut links = LINKS;
    walk(&std::path::absolute(path).unwrap_or_else(|_| path.to_owned()), &mut seen, &mut links);
    seen
}

fn walk(path: &Path, seen: &mut HashSet<Id>, links: &mut u32) {
    let mut at = PathBuf::new();
    for part in path.components() {
        match part {
            // `..` of what a link leads to: the real parent.
            Component::ParentDir => at = at.canonicalize().unwrap_or_else(|_| at.clone()).join(OsStr::new("..")),
            part => at.push(part),
        }
        if let Ok(target) = at.read_link()
            && *links > 0
        {
            *links -= 1;
            let folder = at.parent().unwrap_or(Path::new("/"));
            walk(&folder.join(target), seen, links);
        }
        if let Ok(found) = at.metadata() {
            seen.insert((found.dev(), found.ino()));
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    struct Tree(tempfile::TempDir);

    impl Tree {
        fn new() -> Self {
            let tree = Self(tempfile::tempdir().unwrap());
            for dir in ["work/deep", "own", "hop", "cache/inner"] {
                fs::create_dir_all(tree.at(dir)).unwrap();
            }
            fs::write(tree.at("own/file"), "").unwrap();
            tree
        }
        fn at(&self, path: &str) -> PathBuf {
            self.0.path().join(path)
        }
        #[track_caller]
        fn check(&self, own: &str, grant: &str, reached: bool) {
            let mut protected = Protected::default();
            protected.add("the file", &self.at(own));
            assert_eq!(protected.reached(&self.at(grant), Access::ReadOnly).is_some(), reached, "{grant} to {own}");
        }
    }

    #[test]
    fn a_grant_reaches_what_lies_below_it() {
        let tree = Tree::new();
        tree.check("own/file", "own", true);
        tree.check("own/file", "", true);
        tree.check("own/file", "own/../own", true);
        tree.check("own/not-there-yet", "own", true);
        tree.check("own/not/there/yet", "own", true);
        tree.check("own/file", "work", false);
        tree.check("own/file", "work/deep", false);
    }

    #[test]
    fn a_grant_inside_a_folder_of_the_programs_own_reaches_it() {
        let tree = Tree::new();
        tree.check("cache", "cache/inner", true);
        tree.check("cache", "work", false);
    }

    #[test]
    fn links_on_either_side_are_followed() {
        let tree = Tree::new();
        symlink(tree.at("own"), tree.at("work/way")).unwrap();
        symlink(tree.at("own"), tree.at("alias")).unwrap();
        symlink("../own/file", tree.at("hop/link")).unwrap();
        symlink(tree.at("hop/link"), tree.at("config")).unwrap();
        tree.check("work/way/file", "work", true); // whoever writes `work` can turn the link elsewhere
        tree.check("own/file", "alias", true);
        tree.check("config", "hop", true);
        tree.check("config", "own", true);
        tree.check("config", "work", false);
    }

    #[test]
    fn what_may_be_read_is_only_kept_from_writers() {
        let tree = Tree::new();
        let mut protected = Protected::default();
        protected.add_readable("the program", &tree.at("own/file"));
        assert!(protected.reached(&tree.at("own"), Access::ReadOnly).is_none());
        assert!(protected.reached(&tree.at("own"), Access::ReadWrite).is_some());
        assert!(protected.reached(Path::new("/proc"), Access::ReadOnly).is_some());
    }
}
