//! What is there: looked at without following symbolic links, and written down as a short text that two looks can be
//! compared by. Changes nothing.

use crate::bindings::exports::counterfoil::tool::tools::ToolError;
use crate::paths::Place;
use crate::shown::hex;
use crate::text::{bytes, count, grouped, quote, timestamp};
use crate::{io, refused};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::VecDeque;
use std::fs::{self, File, Metadata};
use std::io::{ErrorKind, Read};
use std::time::{SystemTime, UNIX_EPOCH};

/// A file up to this size is compared by its content, a larger one by size and time: hashing takes up to 20 ms a MiB on a
/// busy machine, and a preview has five seconds. Files of one directory share the allowance.
pub const MAX_HASHED: u64 = 32 << 20;

/// Most entries of a directory tree that a plan takes in: up to two seconds on a busy machine. What cannot be looked at
/// whole is not approved.
pub const MAX_TREE: usize = 10_000;

/// WASI's `errno::ilseq`.
const ILLEGAL_BYTE_SEQUENCE: i32 = 25;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    Absent,
    File {
        size: u64,
        modified: Option<SystemTime>,
    },
    Directory,
    /// Where it leads, as written in it, where that can be read.
    Link {
        target: Option<String>,
    },
    /// A pipe, a socket, a device.
    Special,
}

/// What is at this place.
pub fn look(place: &Place) -> Result<Found, ToolError> {
    match fs::symlink_metadata(&place.full) {
        Ok(metadata) => Ok(Found::of(&place.full, &metadata)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Found::Absent),
        Err(error) => Err(io(&place.quoted(), &error)),
    }
}

impl Found {
    fn of(path: &str, metadata: &Metadata) -> Self {
        let kind = metadata.file_type();
        if kind.is_symlink() {
            Self::Link {
                target: fs::read_link(path).ok().and_then(|target| target.into_os_string().into_string().ok()),
            }
        } else if kind.is_dir() {
            Self::Directory
        } else if kind.is_file() {
            Self::File { size: metadata.len(), modified: metadata.modified().ok() }
        } else {
            Self::Special
        }
    }

    /// `file`, `directory`, … as in details.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Absent => "absent",
            Self::File { .. } => "file",
            Self::Directory => "directory",
            Self::Link { .. } => "symbolic_link",
            Self::Special => "special",
        }
    }

    /// `(1,204 bytes, modified 2026-01-31T12:00:00Z)`, with a space before it; nothing where nothing is known.
    pub fn parenthesis(&self) -> String {
        match self {
            Self::File { size, modified: Some(time) } if timestamp(*time).is_some() => {
                format!(" ({}, modified {})", bytes(*size), timestamp(*time).unwrap_or_default())
            }
            Self::File { size, .. } => format!(" ({})", bytes(*size)),
            Self::Link { target: Some(target) } => format!(" (to {})", quote(target)),
            _ => String::new(),
        }
    }

    /// The noun for a sentence.
    pub fn noun(&self) -> &'static str {
        match self {
            Self::Absent => "nothing",
            Self::File { .. } => "file",
            Self::Directory => "directory",
            Self::Link { .. } => "symbolic link",
            Self::Special => "special file",
        }
    }

    /// Kind, size and time for details.
    pub fn details(&self) -> Value {
        match self {
            Self::File { size, modified } => {
                json!({ "kind": "file", "bytes": size, "modified": modified.and_then(timestamp) })
            }
            Self::Link { target } => json!({ "kind": "symbolic_link", "target": target }),
            other => json!({ "kind": other.kind() }),
        }
    }

    /// What can be compared without reading a file: kind, size, time.
    pub fn stamp(&self) -> String {
        match self {
            Self::File { size, modified } => format!("file {size} modified {}", nanoseconds(*modified)),
            Self::Link { target } => {
                format!("symbolic_link {}", hex(&Sha256::digest(target.as_deref().unwrap_or_default())))
            }
            other => other.kind().to_owned(),
        }
    }
}

fn nanoseconds(time: Option<SystemTime>) -> String {
    match time.and_then(|time| time.duration_since(UNIX_EPOCH).ok()) {
        Some(since) => since.as_nanos().to_string(),
        None => "unknown".to_owned(),
    }
}

/// A text of at most 120 bytes that changes when what is there changes: a file by its content where it is small enough and
/// can be read, else by size and time; a symbolic link by its target.
pub fn fingerprint(place: &Place, found: &Found) -> String {
    match found {
        Found::File { size, .. } => content(&place.full, *size, MAX_HASHED).unwrap_or_else(|| found.stamp()),
        other => other.stamp(),
    }
}

/// `file SIZE sha256 DIGEST`, where the file is at most that long and can be read.
fn content(path: &str, size: u64, limit: u64) -> Option<String> {
    if size > limit {
        return None;
    }
    let mut file = File::open(path).ok()?.take(limit + 1);
    let (mut hash, mut buffer, mut length) = (Sha256::new(), vec![0; 64 << 10], 0);
    loop {
        match file.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => {
                hash.update(buffer.get(..read)?);
                length += read as u64;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
    (length <= limit).then(|| format!("file {length} sha256 {}", hex(&hash.finalize())))
}

/// The names in a directory, sorted, at most `limit`; whether these are all; how many have a name that is not UTF-8.
pub struct Children {
    pub names: Vec<String>,
    pub complete: bool,
    pub unnameable: u64,
}

pub fn children(place: &Place, limit: usize) -> Result<Children, ToolError> {
    let mut found = Children { names: Vec::new(), complete: true, unnameable: 0 };
    for entry in fs::read_dir(&place.full).map_err(|error| io(&place.quoted(), &error))? {
        if found.names.len() == limit || found.unnameable > limit as u64 {
            found.complete = false;
            break;
        }
        // The sandbox hands over UTF-8 only, and an error in place of any other name.
        match entry.map(|entry| entry.file_name().into_string()) {
            Ok(Ok(name)) => found.names.push(name),
            Ok(Err(_)) => found.unnameable += 1,
            Err(error) if error.raw_os_error() == Some(ILLEGAL_BYTE_SEQUENCE) => found.unnameable += 1,
            Err(error) => return Err(io(&place.quoted(), &error)),
        }
    }
    found.names.sort_unstable();
    Ok(found)
}

/// One entry of a tree: its path from the top of the tree.
pub struct Node {
    pub path: String,
    pub found: Found,
}

/// A directory with everything in it, parents before children.
pub struct Tree {
    pub nodes: Vec<Node>,
    pub files: u64,
    pub directories: u64,
    pub others: u64,
    pub links: u64,
    pub bytes: u64,
    /// How many files were compared by size and time alone.
    pub unhashed: u64,
    digest: String,
}

impl Tree {
    /// Looks at the whole tree, or refuses.
    pub fn of(top: &Place) -> Result<Self, ToolError> {
        let mut tree = Self {
            nodes: Vec::new(),
            files: 0,
            directories: 0,
            others: 0,
            links: 0,
            bytes: 0,
            unhashed: 0,
            digest: String::new(),
        };
        let (mut hash, mut allowance) = (Sha256::new(), MAX_HASHED);
        let mut open = VecDeque::from([String::new()]);
        while let Some(directory) = open.pop_front() {
            let inside = children(&top.child(&directory), MAX_TREE)?;
            if inside.unnameable > 0 {
                let names = count(inside.unnameable, "name that is", "names that are");
                return Err(refused(format!(
                    "{} holds {names} not UTF-8; this plug-in cannot see or touch what has them",
                    top.child(&directory).quoted()
                )));
            }
            if !inside.complete || tree.nodes.len() + inside.names.len() > MAX_TREE {
                let limit = grouped(MAX_TREE as u64);
                return Err(refused(format!(
                    "{} holds more than {limit} entries, more than can be looked at for one confirmation; do it in parts",
                    top.quoted()
                )));
            }
            for name in inside.names {
                let path = if directory.is_empty() { name } else { format!("{directory}/{name}") };
                let place = top.child(&path);
                let found = look(&place)?;
                let mut mark = found.stamp();
                match &found {
                    Found::File { size, .. } => {
                        tree.files += 1;
                        tree.bytes = tree.bytes.saturating_add(*size);
                        match content(&place.full, *size, allowance) {
                            Some(text) => mark = text,
                            None => tree.unhashed += 1,
                        }
                        allowance = allowance.saturating_sub(*size);
                    }
                    Found::Directory => {
                        tree.directories += 1;
                        open.push_back(path.clone());
                    }
                    Found::Link { .. } => tree.links += 1,
                    Found::Special | Found::Absent => tree.others += 1,
                }
                for field in [&path, &mark] {
                    hash.update((field.len() as u64).to_be_bytes());
                    hash.update(field);
                }
                tree.nodes.push(Node { path, found });
            }
        }
        tree.digest = hex(&hash.finalize());
        Ok(tree)
    }

    /// As of a single place: changes when anything in the tree changes.
    pub fn fingerprint(&self) -> String {
        format!("directory {} entries sha256 {}", self.nodes.len(), self.digest)
    }

    /// `2 files, 1 directory and 1 symbolic link, 1,204 bytes in all`.
    pub fn contents(&self) -> String {
        let mut parts = vec![count(self.files, "file", "files"), count(self.directories, "directory", "directories")];
        if self.links > 0 {
            parts.push(count(self.links, "symbolic link", "symbolic links"));
        }
        if self.others > 0 {
            parts.push(count(self.others, "special file", "special files"));
        }
        let last = parts.pop().unwrap_or_default();
        format!("{} and {last}, {} in all", parts.join(", "), bytes(self.bytes))
    }
}
