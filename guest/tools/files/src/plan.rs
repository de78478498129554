//! What a changing call would do, and the precondition that its run checks again. Changes nothing.

use crate::bindings::exports::counterfoil::tool::tools::{Level, Plan, ToolError};
use crate::paths::{Place, Roots};
use crate::shown::hex;
use crate::snapshot::{Found, MAX_HASHED, Tree, fingerprint, look};
use crate::text::{bytes, count, encoded};
use crate::{invalid, refused};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// Most names of a tree that a plan lists, and most bytes they may take: a plan is to be read, and has 64 KiB.
const MAX_NAMES: usize = 50;
const MAX_NAME_BYTES: usize = 16 << 10;

/// The directories that a create_directory makes, outermost first.
pub fn missing(roots: &Roots, path: &str) -> Result<(Place, Vec<Place>), ToolError> {
    let place = roots.resolve(path)?;
    if place.is_root() {
        return Err(refused(format!("{} is the granted directory itself; it exists", place.quoted())));
    }
    let place = place.changeable()?.new_name()?;
    if look(&place)? != Found::Absent {
        return Err(refused(format!("{} exists already", place.quoted())));
    }
    let mut missing = Vec::new();
    for parent in place.parents() {
        if look(&parent)? == Found::Absent {
            missing.push(parent);
        }
    }
    missing.push(place.clone());
    Ok((place, missing))
}

pub fn create_directory(roots: &Roots, path: &str) -> Result<Plan, ToolError> {
    let (place, missing) = missing(roots, path)?;
    let above = match missing.len() {
        0 | 1 => String::new(),
        many => format!(" and {} above it", count(many as u64 - 1, "missing directory", "missing directories")),
    };
    Ok(Plan {
        summary: format!("Will create directory {}{above}.", place.quoted()),
        details:
            json!({ "path": place.shown, "creates": missing.iter().map(|place| &place.shown).collect::<Vec<_>>() })
                .to_string(),
        warnings: Vec::new(),
        level: Some(Level::Caution),
        precondition: Some(Found::Absent.stamp()),
    })
}

/// The place that a write_file writes to and what is there: nothing, in a directory that exists, or a file.
pub fn writable(roots: &Roots, path: &str) -> Result<(Place, Found), ToolError> {
    let place = roots.resolve(path)?.file()?.changeable()?;
    let parent = place.parent();
    if look(&parent)? == Found::Absent {
        return Err(refused(format!(
            "directory {} does not exist; create it first with create_directory",
            parent.quoted()
        )));
    }
    match look(&place)? {
        Found::Absent => Ok((place.new_name()?, Found::Absent)),
        found @ Found::File { .. } => Ok((place, found)),
        found @ Found::Link { .. } => Err(refused(format!(
            "{} is a symbolic link{}; write to the path that it leads to",
            place.quoted(),
            found.parenthesis()
        ))),
        other => Err(refused(format!("{} is a {}", place.quoted(), other.noun()))),
    }
}

pub fn write_file(roots: &Roots, path: &str, content: &str) -> Result<Plan, ToolError> {
    let (place, found) = writable(roots, path)?;
    let length = content.len() as u64;
    let new = json!({ "bytes": length, "sha256": hex(&Sha256::digest(content)) });
    if found == Found::Absent {
        return Ok(Plan {
            summary: format!("Will create file {} with {}.", place.quoted(), bytes(length)),
            details: json!({ "path": place.shown, "action": "create", "new": new }).to_string(),
            warnings: Vec::new(),
            level: Some(Level::Caution),
            precondition: Some(found.stamp()),
        });
    }
    let mut warnings = vec![
        format!("The previous content of {} is lost.", place.quoted()),
        "The file is replaced as a whole: its permissions become those of a new file.".to_owned(),
    ];
    warn_unhashed(&found, &place, &mut warnings);
    Ok(Plan {
        summary: format!("Will overwrite file {}{} with {}.", place.quoted(), found.parenthesis(), bytes(length)),
        details: json!({ "path": place.shown, "action": "overwrite", "new": new, "overwritten": found.details() })
            .to_string(),
        warnings,
        level: Some(Level::ApprovalRequired),
        precondition: Some(fingerprint(&place, &found)),
    })
}

/// Both ends of a move, and what is there.
pub struct Ends {
    pub from: Place,
    pub source: Found,
    pub to: Place,
    pub target: Found,
}

pub fn ends(roots: &Roots, from: &str, to: &str) -> Result<Ends, ToolError> {
    let from = roots.resolve(from)?.changeable()?;
    let source = look(&from)?;
    let to = roots.resolve(to)?;
    let to = if source == Found::Directory { to } else { to.file()? }.changeable()?;
    match &source {
        Found::Absent => return Err(refused(format!("{} does not exist", from.quoted()))),
        Found::Special => return Err(refused(format!("{} is a special file", from.quoted()))),
        _ => {}
    }
    if from.full == to.full {
        return Err(invalid("from and to are the same path"));
    }
    if from.holds(&to) {
        return Err(invalid(format!("{} cannot be moved into itself", from.quoted())));
    }
    let parent = to.parent();
    if look(&parent)? == Found::Absent {
        return Err(refused(format!(
            "directory {} does not exist; create it first with create_directory",
            parent.quoted()
        )));
    }
    let target = look(&to)?;
    match (&source, &target) {
        (_, Found::Directory) => {
            Err(refused(format!("{} is a directory; give the full new path, the new name included", to.quoted())))
        }
        (_, Found::Special) => Err(refused(format!("{} is a special file", to.quoted()))),
        (Found::Directory, Found::File { .. } | Found::Link { .. }) => {
            Err(refused(format!("a {} is at {}; a directory cannot take its place", target.noun(), to.quoted())))
        }
        (_, Found::Absent) => Ok(Ends { from, source, to: to.new_name()?, target }),
        _ => Ok(Ends { from, source, to, target }),
    }
}

impl Ends {
    /// The precondition of a move: what both ends are. A directory is compared with all that is in it.
    pub fn precondition(&self) -> Result<(String, Option<Tree>), ToolError> {
        let tree = if self.source == Found::Directory { Some(Tree::of(&self.from)?) } else { None };
        let source = tree.as_ref().map_or_else(|| fingerprint(&self.from, &self.source), Tree::fingerprint);
        Ok((format!("from: {source}; to: {}", fingerprint(&self.to, &self.target)), tree))
    }
}

pub fn move_file(roots: &Roots, from: &str, to: &str) -> Result<Plan, ToolError> {
    let ends = ends(roots, from, to)?;
    let (precondition, tree) = ends.precondition()?;
    let Ends { from, source, to, target } = &ends;
    let mut details = json!({ "from": from.shown, "to": to.shown, "moved": source.details(), "overwrites": target != &Found::Absent });
    let mut warnings = Vec::new();
    let what = match &tree {
        Some(tree) => {
            merge(&mut details, tree_details(tree));
            format!(" ({})", tree.contents())
        }
        None => source.parenthesis(),
    };
    let mut summary = format!("Will move {} {}{what} to {}", source.noun(), from.quoted(), to.quoted());
    if target != &Found::Absent {
        summary += &format!(", overwriting the {} there{}", target.noun(), target.parenthesis());
        warnings.push(format!("The {} that is now at {} is lost.", target.noun(), to.quoted()));
        merge(&mut details, json!({ "overwritten": target.details() }));
    }
    if matches!(source, Found::Link { .. }) {
        warnings.push(
            "What moves is the symbolic link; if its target is relative it may lead elsewhere afterwards.".to_owned(),
        );
    }
    warn_unhashed(source, from, &mut warnings);
    warn_unhashed(target, to, &mut warnings);
    warn_tree(tree.as_ref(), &mut warnings);
    Ok(Plan {
        summary: summary + ".",
        details: details.to_string(),
        warnings,
        level: Some(Level::ApprovalRequired),
        precondition: Some(precondition),
    })
}

/// What a delete_file deletes.
pub fn deletable(roots: &Roots, path: &str) -> Result<(Place, Found), ToolError> {
    let place = roots.resolve(path)?.file()?.changeable()?;
    match look(&place)? {
        Found::Absent => Err(refused(format!("{} does not exist", place.quoted()))),
        Found::Directory => Err(refused(format!("{} is a directory; use delete_directory", place.quoted()))),
        found => Ok((place, found)),
    }
}

pub fn delete_file(roots: &Roots, path: &str) -> Result<Plan, ToolError> {
    let (place, found) = deletable(roots, path)?;
    let mut details = found.details();
    merge(&mut details, json!({ "path": place.shown }));
    let mut warnings = Vec::new();
    match found {
        Found::Link { .. } => warnings.push("What is deleted is the symbolic link; what it leads to stays.".to_owned()),
        Found::Special => warnings.push("This is a pipe, a socket or a device, not an ordinary file.".to_owned()),
        _ => warn_unhashed(&found, &place, &mut warnings),
    }
    Ok(Plan {
        summary: format!("Will delete {} {}{}.", found.noun(), place.quoted(), found.parenthesis()),
        details: details.to_string(),
        warnings,
        level: Some(Level::ApprovalRequired),
        precondition: Some(fingerprint(&place, &found)),
    })
}

/// What a delete_directory deletes.
pub fn removable(roots: &Roots, path: &str) -> Result<(Place, Tree), ToolError> {
    let place = roots.resolve(path)?.changeable()?;
    match look(&place)? {
        Found::Directory => {
            let tree = Tree::of(&place)?;
            Ok((place, tree))
        }
        Found::Absent => Err(refused(format!("{} does not exist", place.quoted()))),
        other => Err(refused(format!("{} is a {}, not a directory; use delete_file", place.quoted(), other.noun()))),
    }
}

pub fn delete_directory(roots: &Roots, path: &str) -> Result<Plan, ToolError> {
    let (place, tree) = removable(roots, path)?;
    let mut details = tree_details(&tree);
    merge(&mut details, json!({ "path": place.shown, "kind": "directory" }));
    let (summary, mut warnings) = match tree.nodes.is_empty() {
        true => (format!("Will delete directory {}, which is empty.", place.quoted()), Vec::new()),
        false => (
            format!("Will delete directory {} and everything in it: {}.", place.quoted(), tree.contents()),
            vec![format!(
                "The directory is not empty: {} {} with it.",
                count(tree.nodes.len() as u64, "entry", "entries"),
                if tree.nodes.len() == 1 { "goes" } else { "go" }
            )],
        ),
    };
    if tree.links > 0 {
        warnings.push("Of symbolic links in it the links are deleted; what they lead to stays.".to_owned());
    }
    if tree.others > 0 {
        warnings.push("It holds pipes, sockets or devices.".to_owned());
    }
    warn_tree(Some(&tree), &mut warnings);
    Ok(Plan {
        summary,
        details: details.to_string(),
        warnings,
        level: Some(Level::ApprovalRequired),
        precondition: Some(tree.fingerprint()),
    })
}

/// Counts, and the first names.
fn tree_details(tree: &Tree) -> Value {
    let mut room = MAX_NAME_BYTES;
    let mut names = Vec::new();
    for path in tree.nodes.iter().take(MAX_NAMES).map(|node| &node.path) {
        match room.checked_sub(encoded(path) + 1) {
            Some(left) => room = left,
            None => break,
        }
        names.push(path);
    }
    json!({
        "files": tree.files, "directories": tree.directories, "symbolic_links": tree.links, "special_files": tree.others,
        "bytes": tree.bytes, "more": tree.nodes.len() - names.len(), "entries": names,
    })
}

fn merge(into: &mut Value, from: Value) {
    if let (Some(into), Value::Object(from)) = (into.as_object_mut(), from) {
        into.extend(from);
    }
}

fn warn_unhashed(found: &Found, place: &Place, warnings: &mut Vec<String>) {
    if matches!(found, Found::File { size, .. } if *size > MAX_HASHED) {
        warnings.push(format!(
            "{} is too large to compare by content: a change that keeps its size and its time would go unseen.",
            place.quoted()
        ));
    }
}

fn warn_tree(tree: Option<&Tree>, warnings: &mut Vec<String>) {
    if let Some(tree) = tree.filter(|tree| tree.unhashed > 0) {
        let files = count(tree.unhashed, "file is", "files are");
        warnings.push(format!(
            "{files} compared by size and time instead of content: a change that keeps both would go unseen."
        ));
    }
}
