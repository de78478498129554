//! create_document: a page, words about the document, and an id that nobody guesses.

use crate::at_least;
use crate::bindings::exports::counterfoil::tool::tools::{Context, Level, Outcome, Plan, ToolError};
use crate::document::{Document, FORM, Page};
use crate::invalid;
use crate::paths::Roots;
use crate::shelf::{self, Shelf};
use crate::text::{quote, timestamp};
use serde::Deserialize;
use serde_json::json;
use std::time::SystemTime;
use unicode_normalization::UnicodeNormalization;

/// Two centimetres.
const MARGIN: f64 = 56.7;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Create {
    title: String,
    author: Option<String>,
    language: Option<String>,
    page_size: Option<Paper>,
    landscape: Option<bool>,
    width: Option<f64>,
    height: Option<f64>,
    margin: Option<f64>,
}

#[derive(Clone, Copy, Deserialize)]
enum Paper {
    A3,
    A4,
    A5,
    #[serde(rename = "letter")]
    Letter,
    #[serde(rename = "legal")]
    Legal,
}

impl Paper {
    fn sides(self) -> (f64, f64) {
        match self {
            Self::A3 => (841.89, 1190.55),
            Self::A4 => (595.28, 841.89),
            Self::A5 => (419.53, 595.28),
            Self::Letter => (612.0, 792.0),
            Self::Legal => (612.0, 1008.0),
        }
    }
}

impl Create {
    fn page(&self) -> Result<Page, ToolError> {
        let (width, height) = match (self.page_size, self.width, self.height) {
            (paper, None, None) => paper.unwrap_or(Paper::A4).sides(),
            (None, Some(width), Some(height)) => (width, height),
            _ => return Err(invalid("give page_size, or both width and height")),
        };
        let (width, height) = if self.landscape == Some(true) { (height, width) } else { (width, height) };
        Page { width, height, margin: self.margin.unwrap_or(MARGIN) }.checked()
    }

    fn document(&self, id: String, created: String) -> Result<Document, ToolError> {
        let document = Document {
            form: FORM,
            id,
            title: self.title.nfc().collect(),
            author: self.author.as_ref().map(|author| author.nfc().collect()),
            language: self.language.clone().unwrap_or_else(|| "en".to_owned()),
            created,
            page: self.page()?,
            blocks: Vec::new(),
        };
        document.check()?;
        Ok(document)
    }
}

pub fn plan(arguments: &Create) -> Result<Plan, ToolError> {
    let document = arguments.document(String::new(), String::new())?;
    let page = document.page;
    Ok(Plan {
        summary: format!("Will begin document {}, {} by {} points.", quote(&document.title), page.width, page.height),
        details: json!({
            "title": document.title, "author": document.author, "language": document.language, "page_size": page,
        })
        .to_string(),
        warnings: Vec::new(),
        level: Some(Level::Caution),
        precondition: None,
    })
}

pub fn run(roots: &Roots, arguments: &Create, context: &Context) -> Result<Outcome, ToolError> {
    at_least(Level::Caution, context, "beginning a document")?;
    let shelf = Shelf::granted(roots)?;
    let created = timestamp(SystemTime::now()).unwrap_or_else(|| "1970-01-01T00:00:00Z".to_owned());
    let document = arguments.document(shelf::id(random()), created)?;
    shelf.create(&document, &context.operation_id)?;
    Ok(Outcome {
        message: format!("Began document {}, {}.", document.id, quote(&document.title)),
        details: json!({ "document_id": document.id, "title": document.title, "page_size": document.page }).to_string(),
    })
}

#[cfg(target_os = "wasi")]
fn random() -> [u8; 10] {
    let mut random = [0; 10];
    let bytes = wasip2::random::random::get_random_bytes(random.len() as u64);
    random.iter_mut().zip(bytes).for_each(|(to, from)| *to = from);
    random
}

#[cfg(not(target_os = "wasi"))]
fn random() -> [u8; 10] {
    [0; 10]
}
