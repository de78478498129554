//! From a path that an agent wrote to a place inside one granted directory, or to the reason why there is none. Reads the
//! disk only to see whether a parent is a symbolic link.
//!
//! A granted directory is known by its guest name, whatever the operator chose: `/files`, `/`, `work`. With one granted
//! directory a relative path is inside it; an absolute path begins with a guest name, and the longest that fits counts.
//! With several, a relative path begins with a guest name without its slash.

use crate::bindings::exports::counterfoil::tool::tools::ToolError;
use crate::text::quote;
use crate::{invalid, io, refused};
use std::fs;
use std::io::ErrorKind;

/// Longest path, in bytes: what Linux takes.
pub const MAX_PATH: usize = 4096;

/// The granted directories.
pub struct Roots(Vec<Root>);

struct Root {
    /// The guest name as given.
    name: String,
    /// Its components.
    parts: Vec<String>,
}

/// A place in a granted directory.
#[derive(Clone, Debug)]
pub struct Place {
    /// What to open.
    pub full: String,
    /// What to show: from the granted directory where there is one, else with its guest name. Never with a slash at the end.
    pub shown: String,
    base: String,
    shown_base: String,
    parts: Vec<String>,
    /// Whether it was written with a slash at the end.
    slash: bool,
    /// Whether another granted directory lies below this place.
    covered: bool,
}

impl Roots {
    pub fn granted() -> Self {
        #[cfg(target_os = "wasi")]
        let names =
            wasip2::filesystem::preopens::get_directories().into_iter().map(|(_, name)| name).collect::<Vec<_>>();
        #[cfg(not(target_os = "wasi"))]
        let names = Vec::new();
        Self::new(names)
    }

    pub fn new(names: Vec<String>) -> Self {
        Self(
            names
                .into_iter()
                .map(|name| Root { parts: components(&name).map(str::to_owned).collect(), name })
                .collect(),
        )
    }

    /// The guest names where there are several: what a listing of `/` or `.` then shows.
    pub fn several(&self) -> Option<Vec<String>> {
        (self.0.len() > 1).then(|| self.0.iter().map(|root| root.name.clone()).collect())
    }

    pub fn resolve(&self, path: &str) -> Result<Place, ToolError> {
        if path.is_empty() {
            return Err(invalid("the path is empty; \".\" is the granted directory itself"));
        }
        if path.len() > MAX_PATH {
            return Err(invalid(format!("the path is longer than {MAX_PATH} bytes")));
        }
        if path.contains('\0') {
            return Err(invalid("the path has a NUL character"));
        }
        if path.split('/').any(|part| part == "..") {
            return Err(invalid(format!("{} has \"..\"; write the path from the granted directory", quote(path))));
        }
        let parts: Vec<String> = components(path).map(str::to_owned).collect();
        let slash = path.ends_with('/');
        let absolute = path.starts_with('/');
        match self.0.as_slice() {
            [] => {
                Err(refused("no directory is granted to this plug-in; the operator grants them in its configuration"))
            }
            [only] if !absolute => Ok(self.place(only, parts, slash)),
            roots => {
                let fitting =
                    roots.iter().filter(|root| parts.starts_with(&root.parts)).max_by_key(|root| root.parts.len());
                match fitting {
                    Some(root) => Ok(self.place(root, parts.iter().skip(root.parts.len()).cloned().collect(), slash)),
                    None => {
                        Err(refused(format!("{} is in no granted directory; they are {}", quote(path), self.names())))
                    }
                }
            }
        }
    }

    fn place(&self, root: &Root, parts: Vec<String>, slash: bool) -> Place {
        let base = root.name.trim_end_matches('/').to_owned();
        let shown_base = if self.0.len() > 1 { base.clone() } else { String::new() };
        let whole: Vec<&String> = root.parts.iter().chain(&parts).collect();
        let covered = self
            .0
            .iter()
            .any(|other| other.parts.len() > whole.len() && other.parts.iter().zip(&whole).all(|(a, b)| a == *b));
        Place {
            full: join(&base, &parts, "/"),
            shown: shown(&shown_base, &parts),
            base,
            shown_base,
            parts,
            slash,
            covered,
        }
    }

    fn names(&self) -> String {
        self.0.iter().map(|root| quote(&root.name)).collect::<Vec<_>>().join(", ")
    }
}

fn components(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|part| !part.is_empty() && *part != ".")
}

/// What std opens. Nothing below the base: the base itself, or `empty` where that is the root of everything.
fn join(base: &str, parts: &[String], empty: &str) -> String {
    match (base, parts) {
        ("", []) => empty.to_owned(),
        (base, []) => base.to_owned(),
        (base, parts) => format!("{base}/{}", parts.join("/")),
    }
}

fn shown(base: &str, parts: &[String]) -> String {
    if base.is_empty() && !parts.is_empty() { parts.join("/") } else { join(base, parts, ".") }
}

impl Place {
    /// The name between quotes, for people.
    pub fn quoted(&self) -> String {
        quote(&self.shown)
    }

    pub fn is_root(&self) -> bool {
        self.parts.is_empty()
    }

    /// The place of a child, or of something deeper: components joined by slashes.
    pub fn child(&self, below: &str) -> Self {
        let mut parts = self.parts.clone();
        parts.extend(components(below).map(str::to_owned));
        let (full, shown) = (join(&self.base, &parts, "/"), shown(&self.shown_base, &parts));
        Self { full, shown, parts, slash: false, covered: false, ..self.clone() }
    }

    /// Everything above it within the granted directory, outermost first, the granted directory itself left out.
    pub fn parents(&self) -> impl Iterator<Item = Self> + '_ {
        (1..self.parts.len()).map(|length| {
            let parts: Vec<String> = self.parts.iter().take(length).cloned().collect();
            let (full, shown) = (join(&self.base, &parts, "/"), shown(&self.shown_base, &parts));
            Self { full, shown, parts, slash: false, covered: false, ..self.clone() }
        })
    }

    /// The directory that holds it.
    pub fn parent(&self) -> Self {
        self.parents().last().unwrap_or_else(|| {
            let (full, shown) = (join(&self.base, &[], "/"), shown(&self.shown_base, &[]));
            Self { full, shown, parts: Vec::new(), slash: false, covered: false, ..self.clone() }
        })
    }

    /// Whether `other` is this place or lies below it.
    pub fn holds(&self, other: &Self) -> bool {
        self.base == other.base && other.parts.starts_with(&self.parts)
    }

    /// Refuses what cannot be a file's name.
    pub fn file(self) -> Result<Self, ToolError> {
        match self.slash || self.is_root() {
            true => Err(invalid(format!("{} names a directory; this tool needs the path of a file", self.quoted()))),
            false => Ok(self),
        }
    }

    /// Refuses a new name that would be hard to see or to type.
    pub fn new_name(self) -> Result<Self, ToolError> {
        match self.parts.iter().any(|part| part.chars().any(char::is_control)) {
            true => Err(invalid(format!("{} has control characters; choose another name", self.quoted()))),
            false => Ok(self),
        }
    }

    /// Refuses the granted directory itself, what holds another granted one, and what is reached through a symbolic link:
    /// a plan is to name what would really be touched. A parent that does not exist is left to the caller.
    pub fn changeable(self) -> Result<Self, ToolError> {
        if self.is_root() {
            return Err(refused(format!("{} is the granted directory itself; it stays where it is", self.quoted())));
        }
        if self.covered {
            return Err(refused(format!("another granted directory lies below {}", self.quoted())));
        }
        for parent in self.parents() {
            match fs::symlink_metadata(&parent.full) {
                Ok(metadata) if metadata.is_symlink() => {
                    return Err(refused(format!("{} is a symbolic link; give the path without it", parent.quoted())));
                }
                Ok(metadata) if metadata.is_dir() => {}
                Ok(_) => return Err(refused(format!("{} is not a directory", parent.quoted()))),
                Err(error) if error.kind() == ErrorKind::NotFound => break,
                Err(error) => return Err(io(&parent.quoted(), &error)),
            }
        }
        Ok(self)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn roots(names: &[&str]) -> Roots {
        Roots::new(names.iter().map(|name| (*name).to_owned()).collect())
    }

    /// What is opened and what is shown.
    #[track_caller]
    fn check(names: &[&str], path: &str, expected: (&str, &str)) {
        let place = roots(names).resolve(path).unwrap();
        assert_eq!((place.full.as_str(), place.shown.as_str()), expected);
    }

    #[test]
    fn a_path_is_found_in_one_granted_directory_whatever_its_name() {
        check(&["/files"], "a/b.txt", ("/files/a/b.txt", "a/b.txt"));
        check(&["/files"], "/files/a//./b.txt", ("/files/a/b.txt", "a/b.txt"));
        check(&["/files"], ".", ("/files", "."));
        check(&["/files/"], "/files/", ("/files", "."));
        check(&["/"], "/a", ("/a", "a"));
        check(&["/"], "a", ("/a", "a"));
        check(&["/"], "/", ("/", "."));
        check(&["work/area"], "a", ("work/area/a", "a"));
        check(&["work/area"], "/work/area/a", ("work/area/a", "a"));
        check(&["."], "a", ("./a", "a"));
    }

    #[test]
    fn with_several_granted_directories_the_longest_name_counts() {
        let names = ["/files", "/files/deep", "/other"];
        check(&names, "/files/a", ("/files/a", "/files/a"));
        check(&names, "files/a", ("/files/a", "/files/a"));
        check(&names, "/files/deep/a", ("/files/deep/a", "/files/deep/a"));
        check(&names, "/other", ("/other", "/other"));
        assert!(matches!(roots(&names).resolve("a"), Err(ToolError::Refused(text)) if text.contains("\"/other\"")));
        assert!(matches!(
            roots(&["/files", "/files/x/y"]).resolve("/files/x").unwrap().changeable(),
            Err(ToolError::Refused(_))
        ));
    }

    #[test]
    fn paths_that_leave_or_make_no_sense_are_refused() {
        for path in ["", "a\0b", "..", "../a", "a/../b", "/files/..", &"a/".repeat(3_000)] {
            assert!(matches!(roots(&["/files"]).resolve(path), Err(ToolError::InvalidArguments(_))), "{path:?}");
        }
        for path in ["/", "/etc/passwd", "/filesystem", "/file"] {
            assert!(matches!(roots(&["/files"]).resolve(path), Err(ToolError::Refused(_))), "{path:?}");
        }
        assert!(matches!(roots(&[]).resolve("a"), Err(ToolError::Refused(_))));
        let place = |path| roots(&["/files"]).resolve(path).unwrap();
        assert!(place("a/").file().is_err() && place(".").file().is_err() && place("a").file().is_ok());
        assert!(place("a\u{1b}b").new_name().is_err() && place("a b").new_name().is_ok());
        assert!(place("..a").file().is_ok());
    }

    #[test]
    fn parents_and_children_stay_in_the_granted_directory() {
        let place = roots(&["/files"]).resolve("a/b/c").unwrap();
        assert_eq!(place.parents().map(|parent| parent.full).collect::<Vec<_>>(), ["/files/a", "/files/a/b"]);
        assert_eq!((place.parent().shown.as_str(), place.parent().parent().parent().full.as_str()), ("a/b", "/files"));
        assert_eq!(place.child("d/e").shown, "a/b/c/d/e");
        assert!(place.parent().holds(&place) && !place.holds(&place.parent()));
    }
}
