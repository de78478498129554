//! Puts files in place whole or not at all, and only where what was seen is still there.
//!
//! What is left: between the last look and the act another program may change the place; some microseconds. Creating has no
//! such gap where the file system has hard links.

use crate::bindings::exports::counterfoil::tool::tools::{Effect, ToolError};
use crate::paths::Place;
use crate::shown::hex;
use crate::snapshot::{Found, look};
use crate::{failed, io, refused};
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{ErrorKind, Write};

/// Writes a file where there is none.
pub fn create(place: &Place, content: &[u8], operation: &str) -> Result<(), ToolError> {
    let beside = beside(place, content, operation)?;
    match fs::hard_link(&beside.full, &place.full) {
        Ok(()) => {
            let removed = fs::remove_file(&beside.full).map_err(|_| left_over(&beside));
            settle(place);
            removed
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(taken_back(&beside, place)),
        // Not every file system has such links: then a look, and a rename.
        Err(_) => rename(&beside, place, &Found::Absent),
    }
}

/// Writes a file in the place of one that still has this stamp.
pub fn replace(place: &Place, found: &Found, content: &[u8], operation: &str) -> Result<(), ToolError> {
    rename(&beside(place, content, operation)?, place, found)
}

fn rename(beside: &Place, place: &Place, found: &Found) -> Result<(), ToolError> {
    match look(place) {
        Ok(now) if now.stamp() == found.stamp() => {
            fs::rename(&beside.full, &place.full).map_err(|error| abandon(place, beside, &error))?;
            settle(place);
            Ok(())
        }
        Ok(_) => Err(taken_back(beside, place)),
        Err(error) => match fs::remove_file(&beside.full) {
            Ok(()) => Err(error),
            Err(_) => Err(left_over(beside)),
        },
    }
}

/// Brings a name that came or went to the disk. Not every file system can: then what is there after a power cut is whole, if
/// perhaps what was there before.
pub fn settle(place: &Place) {
    let _ = File::open(&place.parent().full).and_then(|directory| directory.sync_all());
}

/// The whole content in a new file of ours, in the same directory.
fn beside(place: &Place, content: &[u8], operation: &str) -> Result<Place, ToolError> {
    let mark = hex(&Sha256::digest(operation));
    let beside = place.parent().child(&format!(".counterfoil-{}.tmp", mark.get(..16).unwrap_or_default()));
    let mut file = File::create_new(&beside.full).map_err(|error| io(&place.quoted(), &error))?;
    let filled = file.write_all(content).and_then(|()| file.sync_data());
    filled.map_err(|error| abandon(place, &beside, &error))?;
    Ok(beside)
}

fn taken_back(beside: &Place, place: &Place) -> ToolError {
    match fs::remove_file(&beside.full) {
        Ok(()) => changed(place, &look(place).unwrap_or(Found::Special)),
        Err(_) => left_over(beside),
    }
}

fn abandon(place: &Place, ours: &Place, error: &std::io::Error) -> ToolError {
    match fs::remove_file(&ours.full) {
        Ok(()) => failed(format!("{} is as it was: {error}", place.quoted()), Effect::None),
        Err(_) => left_over(ours),
    }
}

fn left_over(ours: &Place) -> ToolError {
    failed(format!("a file of ours is left at {}", ours.quoted()), Effect::Partial)
}

pub fn changed(place: &Place, now: &Found) -> ToolError {
    let state = match now {
        Found::Absent => "there is nothing there now".to_owned(),
        now => format!("there is a {}{} now", now.noun(), now.parenthesis()),
    };
    refused(format!("{} changed since the preview; {state}; nothing was written", place.quoted()))
}
