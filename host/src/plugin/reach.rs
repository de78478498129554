//! What a granted directory reaches, by identity and by every name that leads there. A grant must not reach the program's
//! own files: whoever writes those decides what runs, and whoever reads them sees what agents must not. Nor may it lie
//! where another grant can be written: whoever writes there could put another directory in its place.

use super::Access;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

/// A directory or file by what it is, so that a bind mount or another spelling is the same one.
pub(crate) type Id = (u64, u64);

pub(super) fn id(found: &Metadata) -> Id {
    (found.dev(), found.ino())
}

/// How a path is found.
#[derive(Clone, Debug, Default)]
pub(crate) struct Way {
    /// Every existing folder in which a name is looked up, links followed: whoever writes one decides where the path leads.
    folders: HashSet<Id>,
    /// What it leads to, where that exists.
    end: Option<Id>,
}

/// A grant among those of all plug-ins.
pub(crate) struct Among {
    pub(crate) plugin: String,
    pub(crate) host: PathBuf,
    pub(crate) access: Access,
    pub(crate) way: Way,
}

/// The first grant that lies inside another that can be written, by the same plug-in or by another one: which, and why it
/// is refused. The very same directory may be granted twice, to be written, too: nobody who holds only the directory can
/// put another in its place, and that each sees what the other writes is what the operator asked for.
pub(crate) fn nested(grants: &[Among]) -> Option<(usize, String)> {
    grants.iter().enumerate().find_map(|(at, inner)| {
        let writable = grants.iter().filter(|outer| outer.access == Access::ReadWrite);
        let outer = writable.into_iter().find(|outer| outer.way.end.is_some_and(|id| inner.way.folders.contains(&id)))?;
        let text = format!(
            "the directory {} for plug-in \"{}\" lies inside {}, which plug-in \"{}\" may write and so could replace it: \
             grant directories that do not lie inside each other, or the outer one read-only",
            inner.host.display(),
            inner.plugin,
            outer.host.display(),
            outer.plugin
        );
        Some((at, text))
    })
}

/// The files and folders that no grant may reach.
#[derive(Default)]
pub(crate) struct Protected {
    own: Vec<Own>,
}

struct Own {
    what: String,
    path: PathBuf,
    way: Way,
    /// Reading it does no harm.
    readable: bool,
}

/// What of the kernel's looks like files and is not.
const SYSTEM: [&str; 3] = ["/proc", "/sys", "/dev"];

impl Protected {
    /// A file or folder that is to be out of reach, whether it exists already or not.
    pub(crate) fn add(&mut self, what: impl Into<String>, path: &Path) {
        self.own.push(Own { what: what.into(), path: path.to_owned(), way: Way::of(path), readable: false });
    }

    /// The same, where only writing does harm.
    pub(crate) fn add_readable(&mut self, what: impl Into<String>, path: &Path) {
        self.own.push(Own { what: what.into(), path: path.to_owned(), way: Way::of(path), readable: true });
    }

    /// Says what a grant of `host`, an existing directory, would reach.
    pub(crate) fn reached(&self, host: &Path, access: Access) -> Option<String> {
        let real = host.canonicalize().unwrap_or_else(|_| host.to_owned());
        if let Some(system) = SYSTEM.iter().find(|system| real.starts_with(system)) {
            return Some(format!("{system}, through which the program itself can be changed"));
        }
        let id = real.metadata().ok().map(|found| id(&found));
        let own = self.own.iter().filter(|own| !own.readable || access == Access::ReadWrite);
        let mut reached = own.filter(|own| {
            id.is_some_and(|id| own.way.folders.contains(&id) || own.way.end == Some(id))
                || own.path.canonicalize().is_ok_and(|own| real.starts_with(own))
        });
        reached.next().map(|own| format!("{} ({})", own.what, own.path.display()))
    }
}

impl Way {
    pub(crate) fn of(path: &Path) -> Self {
        /// As many links as Linux follows.
        const LINKS: u32 = 40;
        let mut folders = HashSet::new();
        let mut links = LINKS;
        walk(&std::path::absolute(path).unwrap_or_else(|_| path.to_owned()), &mut folders, &mut links);
        Self { folders, end: path.metadata().ok().map(|found| id(&found)) }
    }
}

fn walk(path: &Path, folders: &mut HashSet<Id>, links: &mut u32) {
    let mut at = PathBuf::new();
    for part in path.components() {
        folders.extend(at.metadata().ok().map(|found| id(&found)));
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
            walk(&folder.join(target), folders, links);
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

    /// Whether a grant of the first path lies inside a grant to write the second one.
    #[track_caller]
    fn lies_inside(tree: &Tree, inner: &str, outer: &str, expected: bool) {
        let grant = |plugin: &str, path: &str, access| {
            let (host, way) = (tree.at(path), Way::of(&tree.at(path)));
            Among { plugin: plugin.to_owned(), host, access, way }
        };
        let grants = [grant("a", outer, Access::ReadWrite), grant("b", inner, Access::ReadOnly)];
        assert_eq!(nested(&grants).map(|(at, _)| at), expected.then_some(1), "{inner} in {outer}");
        let grants = [grant("a", outer, Access::ReadOnly), grant("b", inner, Access::ReadOnly)];
        assert!(nested(&grants).is_none(), "{inner} in {outer}, only read");
    }

    #[test]
    fn a_grant_must_not_be_found_through_what_another_can_write() {
        let tree = Tree::new();
        symlink(tree.at("own"), tree.at("work/way")).unwrap();
        symlink(tree.at("work"), tree.at("work/self")).unwrap();
        symlink(tree.at("work"), tree.at("alias")).unwrap();
        lies_inside(&tree, "work/deep", "work", true);
        lies_inside(&tree, "alias/deep", "work", true);
        lies_inside(&tree, "work/deep", "alias", true);
        lies_inside(&tree, "work/way", "work", true); // the link can be turned elsewhere
        lies_inside(&tree, "work/self", "work", true);
        lies_inside(&tree, "work/deep/../../own", "work", true);
        lies_inside(&tree, "work", "work", false);
        lies_inside(&tree, "alias", "work", false);
        lies_inside(&tree, "own", "work", false);
        lies_inside(&tree, "work", "work/deep", false);
    }
}
