//! How a path is found. Looks only.

use std::path::{Component, Path, PathBuf, absolute};

/// How a path is found: every folder in which a name is looked up, and every link that is followed.
#[derive(Debug, Default)]
pub(crate) struct Steps {
    pub(crate) folders: Vec<PathBuf>,
    pub(crate) links: Vec<PathBuf>,
}

impl Steps {
    pub(crate) fn of(path: &Path) -> Self {
        let mut steps = Self::default();
        steps.walk(&absolute(path).unwrap_or_else(|_| path.to_owned()));
        steps
    }

    fn walk(&mut self, path: &Path) {
        /// As many links as Linux follows.
        const LINKS: usize = 40;
        let mut at = PathBuf::new();
        for part in path.components() {
            if !at.as_os_str().is_empty() {
                self.folders.push(at.clone());
            }
            match part {
                // `..` of what a link leads to: the real parent.
                Component::ParentDir => at = at.canonicalize().unwrap_or_else(|_| at.clone()).join(".."),
                part => at.push(part),
            }
            if let Ok(target) = at.read_link()
                && self.links.len() < LINKS
            {
                self.links.push(at.clone());
                let folder = at.parent().unwrap_or(Path::new("/"));
                self.walk(&folder.join(target));
            }
        }
    }
}
