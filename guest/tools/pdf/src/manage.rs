//! get_document, list_documents, delete_document.

use crate::bindings::exports::counterfoil::tool::tools::{Context, Effect, Level, Outcome, Plan, ToolError};
use crate::document::Block;
use crate::layout::Layout;
use crate::limits::{MAX_LISTED, MAX_SHOWN_BLOCKS};
use crate::paths::{Place, Roots};
use crate::shelf::{Loaded, Shelf};
use crate::text::{count, quote};
use crate::{at_least, failed, io, refused};
use serde::Deserialize;
use serde_json::{Value, json};
use std::fs;

/// Characters of a text that get_document shows.
const BEGINNING: usize = 80;

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
            let beginning: String = text.text.chars().take(BEGINNING).collect();
            let whole = beginning.len() == text.text.len();
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
    let precondition = format!("document {} images {}", loaded.digest, images.len());
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
    if context.precondition.as_ref() != Some(&precondition) {
        return Err(refused(format!(
            "document {} changed since the preview; nothing was deleted",
            arguments.document_id
        )));
    }
    fs::remove_file(&loaded.place.full).map_err(|error| io(&loaded.place.quoted(), &error))?;
    for (gone, image) in images.iter().enumerate() {
        fs::remove_file(&image.full).map_err(|error| {
            failed(
                format!(
                    "deleted the document and {gone} of {} images, and then not {}: {error}",
                    images.len(),
                    image.quoted()
                ),
                Effect::Partial,
            )
        })?;
    }
    let document = &loaded.document;
    Ok(Outcome {
        message: format!("Deleted document {}, {}.", document.id, quote(&document.title)),
        details: json!({ "document_id": document.id, "title": document.title, "images": images.len() }).to_string(),
    })
}
