//! Lists directories and reads files. Follows symbolic links as far as the sandbox does: never out of the granted
//! directory. Changes nothing.

use crate::bindings::exports::counterfoil::tool::tools::{Outcome, Plan, ToolError};
use crate::paths::{Place, Roots};
use crate::shown::hex;
use crate::snapshot::{children, look};
use crate::text::{base64, bytes, count, encoded, grouped};
use crate::{harmless, io, refused};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::Read;

/// Most entries of one listing, and most bytes that they may take: the host takes 384 KiB for a whole answer.
const MAX_ENTRIES: usize = 1_000;
const MAX_BYTES: usize = 256 << 10;

/// Most names that are looked at to count and sort them.
const MAX_NAMES: usize = 100_000;

/// Largest file that is returned: in base64 it fills 342 KiB of the 384 KiB of an answer.
const MAX_READ: u64 = 256 << 10;

/// Longest content as encoded, with room for the keys beside it.
const MAX_ENCODED: usize = 350 << 10;

/// What a listing lists: a directory, or the granted directories where there are several.
enum Listed {
    Directory(Place),
    Granted(Vec<String>),
}

fn listed(roots: &Roots, path: &str) -> Result<Listed, ToolError> {
    match roots.resolve(path) {
        Ok(place) => Ok(Listed::Directory(directory(place)?)),
        Err(error) => match roots.several().filter(|_| matches!(path, "." | "./" | "/")) {
            Some(names) => Ok(Listed::Granted(names)),
            None => Err(error),
        },
    }
}

/// Refuses what is no directory; a link to one is.
pub fn directory(place: Place) -> Result<Place, ToolError> {
    match fs::metadata(&place.full) {
        Ok(metadata) if metadata.is_dir() => Ok(place),
        Ok(_) => Err(refused(format!("{} is not a directory", place.quoted()))),
        Err(error) => Err(io(&place.quoted(), &error)),
    }
}

pub fn plan_list(roots: &Roots, path: &str) -> Result<Plan, ToolError> {
    Ok(match listed(roots, path)? {
        Listed::Directory(place) => {
            harmless(format!("Will list directory {}.", place.quoted()), json!({ "path": place.shown }))
        }
        Listed::Granted(_) => harmless("Will list the granted directories.".to_owned(), json!({ "path": "/" })),
    })
}

pub fn list(roots: &Roots, path: &str) -> Result<Outcome, ToolError> {
    let place = match listed(roots, path)? {
        Listed::Directory(place) => place,
        Listed::Granted(names) => {
            let entries: Vec<Value> = names.iter().map(|name| json!({ "name": name, "kind": "directory" })).collect();
            let details = json!({ "path": "/", "total": entries.len(), "entries": entries, "truncated": false });
            return Ok(Outcome { message: "Listed the granted directories.".to_owned(), details: details.to_string() });
        }
    };
    let inside = children(&place, MAX_NAMES)?;
    let (mut entries, mut room) = (Vec::new(), MAX_BYTES);
    for name in inside.names.iter().take(MAX_ENTRIES) {
        let mut entry = look(&place.child(name))?.details();
        if let Some(entry) = entry.as_object_mut() {
            entry.insert("name".to_owned(), json!(name));
        }
        match room.checked_sub(entry.to_string().len() + 1) {
            Some(left) => room = left,
            None => break,
        }
        entries.push(entry);
    }
    let truncated = !inside.complete || entries.len() < inside.names.len();
    let at_least = if inside.complete { "" } else { "at least " };
    let mut message = format!(
        "Directory {} holds {at_least}{}",
        place.quoted(),
        count(inside.names.len() as u64, "entry", "entries")
    );
    if truncated {
        message += &format!("; {} of them are listed", grouped(entries.len() as u64));
    }
    let mut details =
        json!({ "path": place.shown, "total": inside.names.len(), "truncated": truncated, "entries": entries });
    if let (true, Some(details)) = (inside.unnameable > 0, details.as_object_mut()) {
        message += &format!("; {} beside these cannot be shown: not UTF-8", count(inside.unnameable, "name", "names"));
        details.insert("unnameable".to_owned(), json!(inside.unnameable));
    }
    Ok(Outcome { message: message + ".", details: details.to_string() })
}

/// A file that may be returned, and its size.
fn readable(roots: &Roots, path: &str) -> Result<(Place, u64), ToolError> {
    let place = roots.resolve(path)?.file()?;
    match fs::metadata(&place.full) {
        Ok(metadata) if metadata.is_dir() => Err(refused(format!("{} is a directory; use list_files", place.quoted()))),
        Ok(metadata) if !metadata.is_file() => Err(refused(format!("{} is a special file", place.quoted()))),
        Ok(metadata) if metadata.len() > MAX_READ => Err(too_large(&place, metadata.len())),
        Ok(metadata) => Ok((place, metadata.len())),
        Err(error) => Err(io(&place.quoted(), &error)),
    }
}

fn too_large(place: &Place, size: u64) -> ToolError {
    refused(format!(
        "{} has {}, more than the {} that can be returned; search_files finds lines in it",
        place.quoted(),
        bytes(size),
        bytes(MAX_READ)
    ))
}

pub fn plan_read(roots: &Roots, path: &str) -> Result<Plan, ToolError> {
    let (place, size) = readable(roots, path)?;
    Ok(harmless(
        format!("Will read file {} ({}).", place.quoted(), bytes(size)),
        json!({ "path": place.shown, "bytes": size }),
    ))
}

pub fn read(roots: &Roots, path: &str) -> Result<Outcome, ToolError> {
    let (place, _) = readable(roots, path)?;
    let mut content = Vec::new();
    File::open(&place.full)
        .and_then(|file| file.take(MAX_READ + 1).read_to_end(&mut content))
        .map_err(|error| io(&place.quoted(), &error))?;
    let length = content.len() as u64;
    if length > MAX_READ {
        return Err(too_large(&place, length));
    }
    let sha256 = hex(&Sha256::digest(&content));
    let (text, encoding) = match String::from_utf8(content) {
        // Text full of control characters takes less room in base64.
        Ok(text) if encoded(&text) > MAX_ENCODED => (base64(text.as_bytes()), "base64"),
        Ok(text) => (text, "utf-8"),
        Err(error) => (base64(error.as_bytes()), "base64"),
    };
    let details =
        json!({ "path": place.shown, "content": text, "encoding": encoding, "bytes": length, "sha256": sha256 });
    Ok(Outcome { message: format!("Read file {} ({}).", place.quoted(), bytes(length)), details: details.to_string() })
}
