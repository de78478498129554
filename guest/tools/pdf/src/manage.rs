//! get_document, list_documents, delete_document.

use crate::bindings::exports::counterfoil::tool::tools::{Context, Effect, Level, Outcome, Plan, ToolError};
use crate::document::{Block, digest};
use crate::layout::Layout;
use crate::limits::{MAX_LISTED, MAX_LISTED_TEXT, MAX_SHOWN_BLOCKS};
use crate::paths::{Place, Roots};
use crate::shelf::{Loaded, Shelf};
use crate::text::{count, quote};
use crate::{agreed, at_least, failed, io, keep};
use serde::Deserialize;
use serde_json::{Value, json};
use std::fs;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct One {
    document_id: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct All {}

pub fn get(roots: &Roots, arguments: &One) -> Result<Outcome, ToolError> {
    let Loaded { document, .. } = Shelf::granted(roots)?.load(&arguments.document_id)?;
    let layout = Layout::of(&document)?;
    let show = |(block, page): (&Block, &usize)| match block {
        Block::Text(text) => {
            let (beginning, whole) = text.beginning(MAX_LISTED_TEXT);
            json!({ "kind": "text", "page": page + 1, "style": text.style, "text": beginning, "whole": whole })
        }
        Block::Image(image) => {
            json!({ "kind": "image", "page": page + 1, "format": image.format, "alt_text": image.alt_text })
        }
    };
    let blocks: Vec<Value> = document.blocks.iter().zip(&layout.begins).take(MAX_SHOWN_BLOCKS).map(show).collect();
    let pages = layout.pages.len();
    Ok(Outcome {
        message: format!(
            "Document {}, {}, has {}.",
            document.id,
            quote(&document.title),
            count(pages as u64, "page", "pages")
        ),
        details: json!({
            "document_id": document.id, "title": document.title, "author": document.author, "language": document.language,
            "created": document.created, "page_size": document.page, "pages": pages, "characters": document.characters(),
            "images": document.images().count(), "truncated": blocks.len() < document.blocks.len(), "blocks": blocks,
        })
        .to_string(),
    })
}

pub fn list(roots: &Roots, _: &All) -> Result<Outcome, ToolError> {
    let shelf = Shelf::granted(roots)?;
    let (ids, complete) = shelf.ids()?;
    let show = |id: &String| match shelf.load(id) {
        Ok(Loaded { document, .. }) => {
            json!({ "document_id": id, "title": document.title, "created": document.created, "blocks": document.blocks.len() })
        }
        Err(_) => json!({ "document_id": id, "damaged": true }),
    };
    let documents: Vec<Value> = ids.iter().take(MAX_LISTED).map(show).collect();
    let total = ids.len();
    Ok(Outcome {
        message: format!(
            "There {} {}.",
            if total == 1 { "is" } else { "are" },
            count(total as u64, "document", "documents")
        ),
        details: json!({ "truncated": !complete || documents.len() < total, "documents": documents, "total": total })
            .to_string(),
    })
}

/// A document, the places of its images, and what a deletion rests on.
fn doomed(roots: &Roots, id: &str) -> Result<(Loaded, Vec<Place>, String), ToolError> {
    let shelf = Shelf::granted(roots)?;
    let loaded = shelf.load(id)?;
    let images = shelf.leftovers(id)?;
    // A digest of the names, which have those of the images in them.
    let names: Vec<&str> = images.iter().map(|image| image.shown.as_str()).collect();
    let precondition = format!("document {} images {}", loaded.digest, digest(names.join("\n").as_bytes()));
    Ok((loaded, images, precondition))
}

pub fn plan_delete(roots: &Roots, arguments: &One) -> Result<Plan, ToolError> {
    let (loaded, images, precondition) = doomed(roots, &arguments.document_id)?;
    let document = &loaded.document;
    let (blocks, files) = (document.blocks.len(), images.len());
    Ok(Plan {
        summary: format!(
            "Will delete document {}, {}, with {} and {}.",
            document.id,
            quote(&document.title),
            count(blocks as u64, "block", "blocks"),
            count(files as u64, "image", "images")
        ),
        details: json!({ "document_id": document.id, "title": document.title, "blocks": blocks, "images": files })
            .to_string(),
        warnings: vec!["The document is lost; PDFs that were written from it stay.".to_owned()],
        level: Some(Level::ApprovalRequired),
        precondition: Some(precondition),
    })
}

pub fn delete(roots: &Roots, arguments: &One, context: &Context) -> Result<Outcome, ToolError> {
    at_least(Level::ApprovalRequired, context, "deleting a document")?;
    let (loaded, images, precondition) = doomed(roots, &arguments.document_id)?;
    let changed = format!("document {} changed since the preview; nothing was deleted", arguments.document_id);
    agreed(context, &precondition, &changed)?;
    // The document last: where one of them stays, it can be deleted again.
    for (gone, place) in images.iter().chain([&loaded.place]).enumerate() {
        fs::remove_file(&place.full).map_err(|error| match gone {
            0 => io(&place.quoted(), &error),
            _ => failed(
                format!(
                    "deleted {gone} of {}, and then not {}: {error}; the document can be deleted again",
                    count(images.len() as u64, "image", "images"),
                    place.quoted()
                ),
                Effect::Partial,
            ),
        })?;
    }
    keep::settle(&loaded.place);
    let document = &loaded.document;
    Ok(Outcome {
        message: format!("Deleted document {}, {}.", document.id, quote(&document.title)),
        details: json!({ "document_id": document.id, "title": document.title, "images": images.len() }).to_string(),
    })
}
