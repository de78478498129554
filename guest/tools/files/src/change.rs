//! Changes what the plan named. Every change looks again immediately before it, and does nothing where it no longer finds
//! what the plan saw.
//!
//! What is left: between that last look and the act another program may still change the place. The gap is some
//! microseconds, since the content is compared first and size and time once more at the very end. Where the act itself can
//! refuse (creating a new file, a link to a new name, removing a directory that is not empty) there is no gap.

use crate::bindings::exports::counterfoil::tool::tools::{Context, Effect, Level, Outcome, ToolError};
use crate::paths::{Place, Roots};
use crate::plan::{Ends, deletable, ends, missing, removable, writable};
use crate::shown::hex;
use crate::snapshot::{Found, Tree, fingerprint, look};
use crate::text::{bytes, count};
use crate::{Report, failed, io, refused};
use serde_json::json;
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{ErrorKind, Write};

pub fn create_directory(roots: &Roots, path: &str, context: &Context) -> Result<Outcome, ToolError> {
    let (place, missing) = missing(roots, path)?;
    if context.level == Level::Safe {
        return Err(level("creating a directory"));
    }
    let mut created: Vec<&str> = Vec::new();
    for place in &missing {
        match fs::create_dir(&place.full) {
            Ok(()) => created.push(&place.shown),
            Err(error) if created.is_empty() => return Err(io(&place.quoted(), &error)),
            Err(error) => {
                let text = format!(
                    "created {} and then not {}: {error}",
                    count(created.len() as u64, "directory", "directories"),
                    place.quoted()
                );
                return Err(failed(text, Effect::Partial));
            }
        }
    }
    let details = json!({ "path": place.shown, "created": created });
    Ok(Outcome { message: format!("Created directory {}.", place.quoted()), details: details.to_string() })
}

pub fn write_file(roots: &Roots, path: &str, content: &str, context: &Context) -> Result<Outcome, ToolError> {
    let (place, found) = writable(roots, path)?;
    let confirmed = context.level == Level::ApprovalRequired;
    match (&found, confirmed, &context.precondition) {
        _ if context.level == Level::Safe => return Err(level("writing a file")),
        (Found::Absent, _, None) => {}
        (Found::Absent, _, Some(expected)) if *expected == found.stamp() => {}
        (Found::File { .. }, true, Some(expected)) if *expected == fingerprint(&place, &found) => {}
        (Found::File { .. }, false, None) => return Err(level("overwriting a file")),
        _ => return Err(changed(&place, &found)),
    }
    if found == Found::Absent {
        let file = File::create_new(&place.full).map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => changed(&place, &look(&place).unwrap_or(Found::Special)),
            _ => io(&place.quoted(), &error),
        })?;
        fill(file, content).map_err(|error| abandon(&place, &place, &error))?;
    } else {
        replace(&place, &found, content, context)?;
    }
    let action = if found == Found::Absent { "created" } else { "overwritten" };
    let length = content.len() as u64;
    let details =
        json!({ "path": place.shown, "action": action, "bytes": length, "sha256": hex(&Sha256::digest(content)) });
    let verb = if found == Found::Absent { "Created" } else { "Overwrote" };
    Ok(Outcome {
        message: format!("{verb} file {} with {}.", place.quoted(), bytes(length)),
        details: details.to_string(),
    })
}

/// Writes beside the file, looks a last time, and lets the new one take its place in one step.
fn replace(place: &Place, found: &Found, content: &str, context: &Context) -> Result<(), ToolError> {
    let mark = hex(&Sha256::digest(&context.operation_id));
    let beside = place.parent().child(&format!(".counterfoil-{}.tmp", mark.get(..16).unwrap_or_default()));
    let file = File::create_new(&beside.full).map_err(|error| io(&place.quoted(), &error))?;
    fill(file, content).map_err(|error| abandon(place, &beside, &error))?;
    let now = look(place)?;
    if now.stamp() != found.stamp() {
        return Err(match fs::remove_file(&beside.full) {
            Ok(()) => changed(place, &now),
            Err(_) => left_over(&beside),
        });
    }
    fs::rename(&beside.full, &place.full).map_err(|error| abandon(place, &beside, &error))
}

fn fill(mut file: File, content: &str) -> std::io::Result<()> {
    file.write_all(content.as_bytes())?;
    file.sync_data()
}

/// Takes back a file of ours that is not complete.
fn abandon(place: &Place, ours: &Place, error: &std::io::Error) -> ToolError {
    match fs::remove_file(&ours.full) {
        Ok(()) => failed(format!("{} is as it was: {error}", place.quoted()), Effect::None),
        Err(_) => left_over(ours),
    }
}

fn left_over(ours: &Place) -> ToolError {
    failed(format!("an incomplete file is left at {}", ours.quoted()), Effect::Partial)
}

pub fn move_file(roots: &Roots, from: &str, to: &str, context: &Context) -> Result<Outcome, ToolError> {
    confirmed(context, "moving")?;
    let ends = ends(roots, from, to)?;
    let (now, _) = ends.precondition()?;
    if context.precondition.as_ref() != Some(&now) {
        return Err(refused(format!("{} or {} changed since the preview", ends.from.quoted(), ends.to.quoted())));
    }
    rename(&ends)?;
    let Ends { from, source, to, target } = &ends;
    let overwritten = target != &Found::Absent;
    let message = match overwritten {
        true => format!(
            "Moved {} {} to {}, overwriting the {} there.",
            source.noun(),
            from.quoted(),
            to.quoted(),
            target.noun()
        ),
        false => format!("Moved {} {} to {}.", source.noun(), from.quoted(), to.quoted()),
    };
    Ok(Outcome {
        message,
        details: json!({ "from": from.shown, "to": to.shown, "overwritten": overwritten }).to_string(),
    })
}

fn rename(ends: &Ends) -> Result<(), ToolError> {
    let Ends { from, source, to, target } = ends;
    if *target == Found::Absent && matches!(source, Found::File { .. }) {
        // A second name for the file cannot overwrite anything; then the first goes.
        match fs::hard_link(&from.full, &to.full) {
            Ok(()) => {
                return fs::remove_file(&from.full).map_err(|error| match fs::remove_file(&to.full) {
                    Ok(()) => failed(format!("{} stays where it was: {error}", from.quoted()), Effect::None),
                    Err(_) => failed(
                        format!("the file is at {} and still at {}: {error}", to.quoted(), from.quoted()),
                        Effect::Partial,
                    ),
                });
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => return Err(changed(to, &look(to)?)),
            // Not every file system has such links; then as below.
            Err(_) => {}
        }
    }
    let (source_now, target_now) = (look(from)?, look(to)?);
    if source_now.stamp() != source.stamp() {
        return Err(changed(from, &source_now));
    }
    if target_now.stamp() != target.stamp() {
        return Err(changed(to, &target_now));
    }
    fs::rename(&from.full, &to.full).map_err(|error| match error.kind() {
        ErrorKind::CrossesDevices => refused(format!(
            "{} and {} are on different file systems; write a copy and delete the first",
            from.quoted(),
            to.quoted()
        )),
        _ => io(&from.quoted(), &error),
    })
}

pub fn delete_file(roots: &Roots, path: &str, context: &Context) -> Result<Outcome, ToolError> {
    confirmed(context, "deleting")?;
    let (place, found) = deletable(roots, path)?;
    if context.precondition.as_ref() != Some(&fingerprint(&place, &found)) {
        return Err(changed(&place, &found));
    }
    remove(&place, &found)?;
    let mut details = found.details();
    if let Some(details) = details.as_object_mut() {
        details.insert("path".to_owned(), json!(place.shown));
    }
    Ok(Outcome {
        message: format!("Deleted {} {}{}.", found.noun(), place.quoted(), found.parenthesis()),
        details: details.to_string(),
    })
}

/// Deletes one thing that is no directory, where it is still what it was.
fn remove(place: &Place, found: &Found) -> Result<(), ToolError> {
    let now = look(place)?;
    if now.stamp() != found.stamp() {
        return Err(changed(place, &now));
    }
    fs::remove_file(&place.full).map_err(|error| io(&place.quoted(), &error))
}

pub fn delete_directory(roots: &Roots, path: &str, context: &Context, report: Report) -> Result<Outcome, ToolError> {
    confirmed(context, "deleting")?;
    let (place, tree) = removable(roots, path)?;
    if context.precondition.as_ref() != Some(&tree.fingerprint()) {
        return Err(changed(&place, &Found::Directory));
    }
    remove_tree(&place, &tree, report)?;
    let details = json!({
        "path": place.shown, "files": tree.files, "directories": tree.directories, "symbolic_links": tree.links,
        "special_files": tree.others, "bytes": tree.bytes,
    });
    Ok(Outcome {
        message: format!("Deleted directory {} and what was in it: {}.", place.quoted(), tree.contents()),
        details: details.to_string(),
    })
}

/// Deletes exactly what was looked at, children first: what has come since stays, and with it the directories that hold it.
fn remove_tree(top: &Place, tree: &Tree, report: Report) -> Result<(), ToolError> {
    let total = tree.nodes.len() + 1;
    for (gone, node) in tree.nodes.iter().rev().enumerate() {
        if gone > 0 && gone % 500 == 0 {
            report(
                Some(gone as f64 / total as f64),
                &format!("Deleted {} of {}.", gone, count(total as u64, "entry", "entries")),
            );
        }
        let place = top.child(&node.path);
        let result = match node.found {
            Found::Directory => fs::remove_dir(&place.full).map_err(|error| io(&place.quoted(), &error)),
            _ => remove(&place, &node.found),
        };
        result.map_err(|error| stopped(error, gone, total))?;
    }
    fs::remove_dir(&top.full).map_err(|error| stopped(io(&top.quoted(), &error), total - 1, total))
}

/// A failure in the middle says how far it came.
fn stopped(error: ToolError, gone: usize, total: usize) -> ToolError {
    let why = match error {
        ToolError::Refused(text) | ToolError::InvalidArguments(text) => text,
        ToolError::Failed(failure) => failure.message,
        ToolError::UnknownTool => String::new(),
    };
    match gone {
        0 => failed(format!("nothing was deleted: {why}"), Effect::None),
        gone => failed(
            format!("deleted {gone} of {} and stopped: {why}", count(total as u64, "entry", "entries")),
            Effect::Partial,
        ),
    }
}

/// What destroys runs only at the level that needs a confirmation.
fn confirmed(context: &Context, what: &str) -> Result<(), ToolError> {
    if context.level == Level::ApprovalRequired { Ok(()) } else { Err(level(what)) }
}

fn level(what: &str) -> ToolError {
    refused(format!("{what} needs a higher level than this call was let through at"))
}

fn changed(place: &Place, now: &Found) -> ToolError {
    let state = match now {
        Found::Absent => "there is nothing there now".to_owned(),
        now => format!("there is a {}{} now", now.noun(), now.parenthesis()),
    };
    refused(format!("{} changed since the preview; {state}", place.quoted()))
}
