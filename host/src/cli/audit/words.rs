//! What each finding means and what to do about it. Exhaustive: whoever finds something new says it here.

use super::number;
use crate::audit::{Astray, Fault, Remark};
use crate::text::escape;

/// A finding in words.
pub(super) struct Words {
    /// Its name, for programs.
    pub(super) kind: &'static str,
    pub(super) text: String,
    pub(super) advice: String,
}

fn words(kind: &'static str, text: impl Into<String>, advice: impl Into<String>) -> Words {
    Words { kind, text: text.into(), advice: advice.into() }
}

pub(super) fn fault(fault: &Fault) -> Words {
    const CHANGED: &str =
        "somebody changed the file, or its disk did: compare it with a copy, and ask who could write it";
    match fault {
        Fault::Unreadable(what) => words(
            "unreadable",
            format!("cannot be read: {}", escape(what)),
            "read it as the user who wrote it; what is no file has no place here",
        ),
        Fault::OpenToOthers => words(
            "open_to_others",
            "can be written by others",
            "`chmod go-w` it; what the checkpoints do not cover could be anybody's",
        ),
        Fault::BadRow(what) => words("bad_row", format!("no row: {what}"), CHANGED),
        Fault::NotOpened(what) => words("not_opened", *what, CHANGED),
        Fault::OtherFile => {
            words("other_file", "its first row is that of a file of another name", "somebody renamed or copied it here")
        }
        Fault::Sequence { expected, found } if found == &expected.saturating_add(1) => {
            words("sequence", format!("row {expected} is missing before it"), "it was removed: compare with a copy")
        }
        Fault::Sequence { expected, found } if found > expected => words(
            "sequence",
            format!("rows {expected} to {} are missing before it", found.saturating_sub(1)),
            "they were removed: compare with a copy",
        ),
        Fault::Sequence { expected, found } => words(
            "sequence",
            format!("is row {found} again, where {expected} was to follow"),
            "rows were inserted, doubled or exchanged: compare with a copy",
        ),
        Fault::Chain => words(
            "chain",
            "does not carry the hash of the line before",
            "the line before was changed, or lines were removed or inserted between: compare with a copy",
        ),
        Fault::Previous => words(
            "previous",
            "goes on from a file that does not end so",
            "the end of the file before was changed or cut: compare with a copy",
        ),
        Fault::Cut { known, last } => words(
            "cut",
            format!("ends with row {last}, and row {known} had been written"),
            "its tail was cut, or another file was put in its place: compare with a copy",
        ),
        Fault::Replaced { known } => words(
            "replaced",
            format!("row {known} is not the one whose hash the checkpoint has"),
            "the file was written anew, or another put in its place: compare with a copy",
        ),
        Fault::PutBack { place, known, last } => words(
            "put_back",
            format!(
                "was ended with row {last}, and its checkpoint in {} knows of row {known} as the last",
                escape(&place.display().to_string())
            ),
            "somebody put an older checkpoint back, or wrote the end of the file: compare both with copies, and ask who could \
             write them",
        ),
        Fault::Missing { known } => words(
            "missing",
            format!("is gone, and had {known} rows or more"),
            "put it back; files that you keep elsewhere take their checkpoints with them",
        ),
        Fault::Behind => words(
            "behind",
            "is behind the row that ends the file",
            "somebody else wrote it: the process had ended, or had gone on to another file. Compare with a copy",
        ),
        Fault::NoCheckpoint { place } => words(
            "no_checkpoint",
            format!("has no checkpoint in {}", escape(&place.display().to_string())),
            "the checkpoint was removed, or the file is none of this host's: that place does not vouch for its end. Where you \
             moved the folder: `counterfoil audit moved --from FOLDER`",
        ),
        Fault::EmptyPlace => words(
            "empty_place",
            "has no checkpoint of this audit",
            "mount it or put it back: without it only the other places vouch for the files. Where it is lost for good, name a \
             new one by another path",
        ),
        Fault::Astray(Astray { was, is, files, .. }) => {
            let [was, is] = [was, is].map(|path| escape(&path.display().to_string()).into_owned());
            let files = number(*files as u64, "file");
            words(
                "astray",
                format!("led to {was}, of which the checkpoints know {files}, and leads to {is} now"),
                format!(
                    "somebody turned it, or a folder above it, into a link to elsewhere: find the folder that was {was}, put it \
                     back, and ask who could do that. If you moved it: `counterfoil audit moved`"
                ),
            )
        }
        Fault::BadNote => words(
            "bad_note",
            "does not say any more where the audit's folder was",
            "the note was changed, or its disk failed: see whether the paths of your audits lead where they should, then \
             remove it. It is made anew",
        ),
        Fault::BadCheckpoint(what) => words(
            "bad_checkpoint",
            format!("its checkpoint cannot be used: {what}"),
            "the checkpoint was changed, or its disk failed: nothing vouches for the file's end",
        ),
    }
}

pub(super) fn remark(remark: &Remark) -> Words {
    match remark {
        Remark::Readable => words(
            "readable",
            "can be read by others",
            "`chmod go-r` it where they have no business in it; that changes nothing that is written",
        ),
        Remark::Torn => words(
            "torn",
            "its last line has no end",
            "a power cut or a full disk leaves this, and so does looking while a row is written; no checkpoint covers it",
        ),
        Remark::Empty => words("empty", "has no row", "its process ended, or the power, before the first was written"),
        Remark::NoEnd { tool, approval_id } => words(
            "no_end",
            format!("{}: no end recorded", escape(tool)),
            match approval_id {
                Some(id) => format!(
                    "it may be running still; else its process died: look at what it changed, then `counterfoil resolve` \
                     ({})",
                    escape(id)
                ),
                None => "it may be running still; else its process died: look at what it changed".to_owned(),
            },
        ),
        Remark::Uncovered(rows) => words(
            "uncovered",
            match rows {
                1 => "its last row came after the last checkpoint".to_owned(),
                rows => format!("its last {rows} rows came after the last checkpoint"),
            },
            "its process is at work, or was killed: nothing vouches that this is all",
        ),
        Remark::Begun => words(
            "begun",
            "was begun, and no row of it is known to have come to the disk",
            "a power cut at its very start leaves this",
        ),
        Remark::PreviousElsewhere(file) => words(
            "previous_elsewhere",
            format!("goes on from {}, which is not here", escape(file)),
            "that is in order if you keep old files elsewhere, with their checkpoints",
        ),
        Remark::Stranger => words("stranger", "is no file of the audit", "it was not looked at"),
    }
}
