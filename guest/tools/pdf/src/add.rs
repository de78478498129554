//! add_text, and what it has in common with add_image: the document is laid out with what is new in it, and kept only where
//! that worked. Where a preview was confirmed, it has to have been about this very document.

use crate::bindings::exports::counterfoil::tool::tools::{Context, Level, Outcome, Plan, ToolError};
use crate::document::{Alignment, Block, Page, Spot, Style, Text, digest};
use crate::layout::Layout;
use crate::limits::{MAX_PLANNED_TEXT, MAX_TEXT};
use crate::paths::Roots;
use crate::shelf::{Loaded, Shelf};
use crate::text::{count, quote};
use crate::{agreed, at_least, invalid};
use serde::Deserialize;
use serde_json::json;
use unicode_normalization::UnicodeNormalization;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AddText {
    document_id: String,
    text: String,
    style: Option<Style>,
    size: Option<f64>,
    alignment: Option<Alignment>,
    page_break: Option<bool>,
    x: Option<f64>,
    y: Option<f64>,
    width: Option<f64>,
}

/// What a run says whose preview was about something else.
pub const CHANGED: &str = "the document or the image changed since the preview; nothing was added";

impl AddText {
    fn text(&self, page: &Page) -> Result<Text, ToolError> {
        let text: String = self.text.replace("\r\n", "\n").replace('\r', "\n").replace('\t', "    ").nfc().collect();
        if text.chars().count() > MAX_TEXT {
            return Err(invalid(format!("text has up to {MAX_TEXT} characters a call")));
        }
        let place = match (self.x, self.y, self.width) {
            (None, None, None) => None,
            (Some(x), Some(y), Some(width)) => Some(Spot { x, y, width }),
            // Up to the right margin, or to the edge of the page where it begins beyond.
            (Some(x), Some(y), None) => {
                let end = if x < page.width - page.margin { page.width - page.margin } else { page.width };
                Some(Spot { x, y, width: end - x })
            }
            _ => return Err(invalid("give both x and y, with or without width, or none of them")),
        };
        let style = self.style.unwrap_or_default();
        Ok(Text {
            text,
            style,
            size: self.size.unwrap_or(style.size()),
            alignment: self.alignment.unwrap_or_default(),
            page_break: self.page_break.unwrap_or_default(),
            place,
        })
    }
}

/// What would be added, for a person who is asked: a text of any length by its beginning and its digest.
fn shown(text: &Text) -> serde_json::Value {
    let (beginning, whole) = text.beginning(MAX_PLANNED_TEXT);
    json!({
        "text": beginning, "whole": whole, "characters": text.text.chars().count(), "sha256": digest(text.text.as_bytes()),
        "style": text.style, "size": text.size, "alignment": text.alignment, "page_break": text.page_break,
        "place": text.place,
    })
}

/// A document with one more block, laid out.
pub struct Added {
    pub loaded: Loaded,
    layout: Layout,
}

impl Added {
    pub fn new(mut loaded: Loaded, block: Block) -> Result<Self, ToolError> {
        block.check(&loaded.document.page)?;
        loaded.document.blocks.push(block);
        loaded.document.check()?;
        let layout = Layout::of(&loaded.document)?;
        Ok(Self { loaded, layout })
    }

    /// The page on which the new block begins, from 1.
    fn page(&self) -> usize {
        self.layout.begins.last().map_or(1, |page| page + 1)
    }

    fn details(&self, more: serde_json::Value) -> String {
        let mut details = json!({
            "document_id": self.loaded.document.id, "page": self.page(), "pages": self.layout.pages.len(),
            "blocks": self.loaded.document.blocks.len(),
        });
        if let (Some(details), serde_json::Value::Object(more)) = (details.as_object_mut(), more) {
            details.extend(more);
        }
        details.to_string()
    }

    pub fn plan(&self, what: &str, more: serde_json::Value, precondition: String) -> Plan {
        let (id, title) = (&self.loaded.document.id, quote(&self.loaded.document.title));
        Plan {
            summary: format!("Will add {what} to document {id}, {title}, on page {}.", self.page()),
            details: self.details(more),
            warnings: Vec::new(),
            level: Some(Level::Caution),
            precondition: Some(precondition),
        }
    }

    pub fn outcome(&self, what: &str, more: serde_json::Value) -> Outcome {
        let pages = count(self.layout.pages.len() as u64, "page", "pages");
        let message =
            format!("Added {what} to document {} on page {}; it has {pages}.", self.loaded.document.id, self.page());
        Outcome { message, details: self.details(more) }
    }
}

struct WithText {
    shelf: Shelf,
    added: Added,
    text: Text,
}

impl WithText {
    fn new(roots: &Roots, arguments: &AddText) -> Result<Self, ToolError> {
        let shelf = Shelf::granted(roots)?;
        let loaded = shelf.load(&arguments.document_id)?;
        let text = arguments.text(&loaded.document.page)?;
        let added = Added::new(loaded, Block::Text(text.clone()))?;
        Ok(Self { shelf, added, text })
    }

    fn what(&self) -> String {
        format!("{} of text", count(self.text.text.chars().count() as u64, "character", "characters"))
    }

    fn precondition(&self) -> String {
        format!("document {}", self.added.loaded.digest)
    }
}

pub fn plan(roots: &Roots, arguments: &AddText) -> Result<Plan, ToolError> {
    let with = WithText::new(roots, arguments)?;
    Ok(with.added.plan(&with.what(), shown(&with.text), with.precondition()))
}

pub fn run(roots: &Roots, arguments: &AddText, context: &Context) -> Result<Outcome, ToolError> {
    at_least(Level::Caution, context, "adding text")?;
    let with = WithText::new(roots, arguments)?;
    agreed(context, &with.precondition(), CHANGED)?;
    with.shelf.update(&with.added.loaded, &context.operation_id)?;
    Ok(with.added.outcome(&with.what(), json!({})))
}
