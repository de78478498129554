//! What a granted directory reaches, by identity and by every name that leads there, hard links among them. A grant must not reach the program's
//! own files: whoever writes those decides what runs, and whoever reads them sees what agents must not. Nor may it lie
//! where another grant can be written: whoever writes there could put another directory in its place.

use super::Access;
use super::linked::{Search, linked, search};
use crate::others::Steps;
use std::collections::HashSet;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

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
    /// Its files that have another name as well.
    linked: HashSet<Id>,
}

/// What of the kernel's looks like files and is not.
const SYSTEM: [&str; 3] = ["/proc", "/sys", "/dev"];

impl Protected {
    /// A file or folder that is to be out of reach, whether it exists already or not.
    pub(crate) fn add(&mut self, what: impl Into<String>, path: &Path) {
        self.push(what.into(), path, false);
    }

    /// The same, where only writing does harm.
    pub(crate) fn add_readable(&mut self, what: impl Into<String>, path: &Path) {
        self.push(what.into(), path, true);
    }

    fn push(&mut self, what: String, path: &Path, readable: bool) {
        let (way, linked) = (Way::of(path), linked(path));
        self.own.push(Own { what, path: path.to_owned(), way, readable, linked });
    }

    /// Says what a grant of `host`, an existing directory, would reach.
    pub(crate) fn reached(&self, host: &Path, access: Access) -> Option<String> {
        let real = host.canonicalize().unwrap_or_else(|_| host.to_owned());
        if let Some(system) = SYSTEM.iter().find(|system| real.starts_with(system)) {
            return Some(format!("{system}, through which the program itself can be changed"));
        }
        let id = real.metadata().ok().map(|found| id(&found));
        let own: Vec<&Own> = self.own.iter().filter(|own| !own.readable || access == Access::ReadWrite).collect();
        let mut reached = own.iter().filter(|own| {
            id.is_some_and(|id| own.way.folders.contains(&id) || own.way.end == Some(id))
                || own.path.canonicalize().is_ok_and(|own| real.starts_with(own))
        });
        reached
            .next()
            .map(|own| format!("{} ({})", own.what, own.path.display()))
            .or_else(|| by_another_name(&own, &real))
    }
}

/// What lies in a directory under another name than the one that it is known by.
fn by_another_name(own: &[&Own], real: &Path) -> Option<String> {
    let files = own.iter().flat_map(|own| own.linked.iter().copied()).collect();
    let of =
        |file: Option<Id>| own.iter().find(|own| file.map_or(!own.linked.is_empty(), |id| own.linked.contains(&id)));
    match search(real, &files) {
        Search::Nothing => None,
        Search::Found(name, id) => of(Some(id))
            .map(|own| format!("{} ({}) by another name, {} (a hard link)", own.what, own.path.display(), name.display())),
        Search::TooMuch => of(None).map(|own| {
            let (what, path) = (&own.what, own.path.display());
            format!("perhaps {what} ({path}), which has another name (a hard link) that is not among its first million files")
        }),
    }
}

impl Way {
    pub(crate) fn of(path: &Path) -> Self {
        let steps = Steps::of(path);
        let folders =
            steps.folders.iter().filter_map(|folder| folder.metadata().ok()).map(|found| id(&found)).collect();
        Self { folders, end: path.metadata().ok().map(|found| id(&found)) }
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

    #[test]
    fn a_hard_link_reaches_what_it_is_a_name_of() {
        let tree = Tree::new();
        tree.check("own/file", "work", false);
        fs::hard_link(tree.at("own/file"), tree.at("hop/name")).unwrap();
        tree.check("own/file", "work", false);
        tree.check("own/file", "hop", true);
        // A folder with such a file in it, as the audit's is.
        tree.check("own", "hop", true);
        let mut protected = Protected::default();
        protected.add_readable("the program", &tree.at("own/file"));
        assert!(protected.reached(&tree.at("hop"), Access::ReadOnly).is_none());
        let said = protected.reached(&tree.at("hop"), Access::ReadWrite).unwrap();
        assert!(said.contains("by another name") && said.contains("hop/name"), "{said}");
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
