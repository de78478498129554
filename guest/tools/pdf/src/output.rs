//! output_pdf: to a file, which a person has to agree to, or back to the caller in base64, which only reads. Plan and run
//! make the same bytes; a run that makes others than its plan writes nothing.

use crate::bindings::exports::counterfoil::tool::tools::{Context, Level, Outcome, Plan, ToolError};
use crate::document::digest;
use crate::layout::Layout;
use crate::limits::MAX_RETURNED;
use crate::paths::{Place, Roots};
use crate::shelf::{Loaded, Shelf};
use crate::snapshot::{Found, MAX_HASHED, fingerprint, look};
use crate::text::{base64, bytes, count, quote};
use crate::{agreed, at_least, invalid, keep, pdf, refused};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Output {
    document_id: String,
    file_path: Option<String>,
}

/// A document and its PDF.
struct Made {
    loaded: Loaded,
    pdf: Vec<u8>,
    pages: usize,
    sha256: String,
}

impl Made {
    fn new(roots: &Roots, id: &str) -> Result<Self, ToolError> {
        let shelf = Shelf::granted(roots)?;
        let loaded = shelf.load(id)?;
        let layout = Layout::of(&loaded.document)?;
        let pdf = pdf::write(&loaded.document, &layout, &shelf.images(&loaded.document)?)?;
        Ok(Self { sha256: digest(&pdf), pages: layout.pages.len(), loaded, pdf })
    }

    fn length(&self) -> u64 {
        self.pdf.len() as u64
    }

    /// What it is, for a sentence: `3 pages, 12,345 bytes`.
    fn measure(&self) -> String {
        format!("{}, {}", count(self.pages as u64, "page", "pages"), bytes(self.length()))
    }

    fn details(&self) -> Value {
        json!({
            "document_id": self.loaded.document.id, "title": self.loaded.document.title, "pages": self.pages,
            "bytes": self.length(), "sha256": self.sha256,
        })
    }

    fn precondition(&self, target: Option<&Target>) -> String {
        let whole = format!("document {} pdf {}", self.loaded.digest, self.sha256);
        target.map_or_else(|| whole.clone(), |target| format!("{whole} target {}", target.mark))
    }

    fn returnable(&self) -> Result<(), ToolError> {
        match self.pdf.len() <= MAX_RETURNED {
            true => Ok(()),
            false => Err(refused(format!(
                "the PDF has {}; up to {} are returned in base64: give a file_path",
                bytes(self.length()),
                bytes(MAX_RETURNED as u64)
            ))),
        }
    }
}

/// Where the PDF goes, and what is there.
struct Target {
    place: Place,
    found: Found,
    /// By content, where that is not too large.
    mark: String,
}

impl Target {
    fn new(roots: &Roots, path: &str) -> Result<Self, ToolError> {
        let place = roots.resolve(path)?.file()?.changeable()?.new_name()?;
        if !place.shown.to_ascii_lowercase().ends_with(".pdf") {
            return Err(invalid(format!(
                "{} does not end in .pdf; a PDF is written under no other name",
                place.quoted()
            )));
        }
        let parent = place.parent();
        if look(&parent)? == Found::Absent {
            return Err(refused(format!("directory {} does not exist; the operator makes it", parent.quoted())));
        }
        let found = look(&place)?;
        match &found {
            Found::Absent | Found::File { .. } => Ok(Self { mark: fingerprint(&place, &found), place, found }),
            Found::Link { .. } => Err(refused(format!(
                "{} is a symbolic link{}; give the path that it leads to",
                place.quoted(),
                found.parenthesis()
            ))),
            other => Err(refused(format!("{} is a {}", place.quoted(), other.noun()))),
        }
    }

    fn overwrites(&self) -> bool {
        self.found != Found::Absent
    }

    fn replaced(&self) -> Value {
        if !self.overwrites() {
            return Value::Null;
        }
        let mut details = self.found.details();
        if let (Some(details), Some((_, sha256))) = (details.as_object_mut(), self.mark.rsplit_once(" sha256 ")) {
            details.insert("sha256".to_owned(), json!(sha256));
        }
        details
    }

    fn warnings(&self) -> Vec<String> {
        if !self.overwrites() {
            return Vec::new();
        }
        let name = self.place.quoted();
        let mut warnings = vec![format!(
            "File {name} exists already{} and would be overwritten; its content is lost.",
            self.found.parenthesis()
        )];
        if matches!(self.found, Found::File { size, .. } if size > MAX_HASHED) {
            warnings.push(format!(
                "{name} is too large to compare by content: a change that keeps its size and its time would go unseen."
            ));
        }
        warnings
    }
}

fn extended(mut details: Value, more: Value) -> String {
    if let (Some(details), Value::Object(more)) = (details.as_object_mut(), more) {
        details.extend(more);
    }
    details.to_string()
}

pub fn plan(roots: &Roots, arguments: &Output) -> Result<Plan, ToolError> {
    // The target first: it is quickly looked at.
    let target = arguments.file_path.as_ref().map(|path| Target::new(roots, path)).transpose()?;
    let made = Made::new(roots, &arguments.document_id)?;
    let precondition = Some(made.precondition(target.as_ref()));
    let (id, title, measure) = (&arguments.document_id, quote(&made.loaded.document.title), made.measure());
    let Some(target) = target else {
        made.returnable()?;
        return Ok(Plan {
            summary: format!("Will return the PDF of document {id}, {title}: {measure}."),
            details: extended(made.details(), json!({ "encoding": "base64" })),
            warnings: Vec::new(),
            level: Some(Level::Safe),
            precondition,
        });
    };
    let verb = if target.overwrites() { "overwrite" } else { "create" };
    let (name, was) = (target.place.quoted(), target.found.parenthesis());
    let more = json!({
        "file_path": arguments.file_path, "path": target.place.shown, "overwrites": target.overwrites(),
        "replaces": target.replaced(),
    });
    Ok(Plan {
        summary: format!("Will {verb} file {name}{was} with the PDF of document {id}, {title}: {measure}."),
        details: extended(made.details(), more),
        warnings: target.warnings(),
        level: Some(Level::ApprovalRequired),
        precondition,
    })
}

pub fn run(roots: &Roots, arguments: &Output, context: &Context) -> Result<Outcome, ToolError> {
    let Some(path) = &arguments.file_path else { return give(roots, arguments, context) };
    at_least(Level::ApprovalRequired, context, "writing a file")?;
    let target = Target::new(roots, path)?;
    let made = Made::new(roots, &arguments.document_id)?;
    if context.precondition.as_deref() != Some(&made.precondition(Some(&target))) {
        return Err(moved(context, &made, &target));
    }
    match target.overwrites() {
        true => keep::replace(&target.place, &target.found, &made.pdf, &context.operation_id)?,
        false => keep::create(&target.place, &made.pdf, &context.operation_id)?,
    }
    let verb = if target.overwrites() { "Overwrote" } else { "Created" };
    let more = json!({ "file_path": path, "path": target.place.shown, "overwritten": target.overwrites() });
    Ok(Outcome {
        message: format!("{verb} file {} with a PDF of {}.", target.place.quoted(), made.measure()),
        details: extended(made.details(), more),
    })
}

/// Says which of the two is no longer what the plan saw.
fn moved(context: &Context, made: &Made, target: &Target) -> ToolError {
    let seen = context.precondition.as_deref().unwrap_or_default();
    match seen.starts_with(&made.precondition(None)) {
        true => keep::changed(&target.place, &target.found),
        false => {
            refused(format!("document {} changed since the preview; nothing was written", made.loaded.document.id))
        }
    }
}

fn give(roots: &Roots, arguments: &Output, context: &Context) -> Result<Outcome, ToolError> {
    let made = Made::new(roots, &arguments.document_id)?;
    made.returnable()?;
    let changed = format!("document {} changed since the preview; ask again", made.loaded.document.id);
    agreed(context, &made.precondition(None), &changed)?;
    Ok(Outcome {
        message: format!("The PDF of document {}: {}.", made.loaded.document.id, made.measure()),
        details: extended(made.details(), json!({ "encoding": "base64", "content": base64(&made.pdf) })),
    })
}
