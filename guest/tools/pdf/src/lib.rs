//! The PDF plug-in: an agent builds a document step by step and writes it out once a person has agreed.
//!
//! | tool | level | |
//! | --- | --- | --- |
//! | `create_document` | `caution` | begins a document and returns its id |
//! | `add_text` | `caution` | adds paragraphs, wrapped and flowing over pages |
//! | `add_image` | `caution` | adds a PNG or JPEG, from base64 or from a granted directory |
//! | `output_pdf` | `approval_required` | writes the PDF to `file_path`; without one returns it in base64, which is `safe` |
//! | `get_document`, `list_documents` | `safe` | say what there is |
//! | `delete_document` | `approval_required` | deletes a document and its images |
//!
//! # Where things are
//!
//! Between calls a document is a small JSON file, `ID.json`, beside it its images. It lives in the directory that is granted
//! as `/documents`, or in the only granted one. The operator may grant further directories under any guest name, and
//! `output_pdf` writes into all of them:
//!
//! ```toml
//! [plugins.pdf]
//! source = "pdf.wasm"
//! dirs = [
//!   { host = "./documents", guest = "/documents", access = "read-write" },
//!   { host = "./out", guest = "/var/lib/reports", access = "read-write" },
//! ]
//! ```
//!
//! A PDF is written only to a name that ends in `.pdf`, in a directory that exists, past no symbolic link. So the documents
//! themselves, and whatever else is there, cannot be overwritten.
//!
//! # What a confirmation stands for
//!
//! The preview of `output_pdf` makes the whole PDF and shows its pages, size and SHA-256. The library is given no clock (the
//! date is that of the document's creation), so the run makes the same bytes again and compares them, the document, and what
//! was at the target: what changed since the preview is not written.
//!
//! # What comes out
//!
//! PDF/A-2a as krilla validates it: tagged, with headings, outline, alternative texts and embedded fonts. Whether headings
//! are in a sensible order and alternative texts say what is seen is the author's part of that standard.
//!
//! Characters that the font lacks, that would not be seen, or that run from right to left are refused by name: no text is
//! lost in silence. `limits.rs` holds every limit with its reason.

mod add;
mod add_image;
mod create;
mod describe;
mod document;
mod font;
mod keep;
mod layout;
mod limits;
mod lines;
mod manage;
mod output;
mod pdf;
mod picture;
mod shelf;

// How a path is read, a file looked at and a name shown is one thing in all of our plug-ins; each has its own bindings, so
// they share the source and not a crate.
#[path = "../../files/src/error.rs"]
mod error;
#[path = "../../files/src/paths.rs"]
#[cfg_attr(not(test), expect(dead_code, reason = "shared"))]
mod paths;
#[path = "../../files/src/schema.rs"]
mod schema;
#[path = "../../files/src/shown.rs"]
mod shown;
#[path = "../../files/src/snapshot.rs"]
#[expect(dead_code, reason = "shared")]
mod snapshot;
#[path = "../../files/src/text.rs"]
#[cfg_attr(not(test), expect(dead_code, reason = "shared"))]
mod text;

#[expect(unsafe_code, reason = "generated")]
#[allow(clippy::indexing_slicing, reason = "generated")]
mod bindings {
    use super::Pdf;
    wit_bindgen::generate!({ path: "../../../wit/tool", world: "plugin" });
    export!(Pdf);
}

/// What the plug-in asks for: a section of the component, which the host reads before anything of it runs.
#[cfg(target_family = "wasm")]
#[expect(unsafe_code, reason = "names a section")]
#[used]
#[unsafe(link_section = "counterfoil:manifest")]
static MANIFEST: [u8; include_bytes!("../manifest.json").len()] = *include_bytes!("../manifest.json");

use bindings::exports::counterfoil::tool::tools::{Context, Guest, Level, Outcome, Plan, Tool, ToolError};
use describe::Kind;
use error::{failed, invalid, io, parse, refused};
use paths::Roots;

struct Pdf;

impl Guest for Pdf {
    fn list_tools() -> Vec<Tool> {
        describe::tools()
    }

    fn preview(tool: String, arguments: String) -> Result<Plan, ToolError> {
        let roots = Roots::granted();
        match Kind::of(&tool)? {
            Kind::CreateDocument => create::plan(&parse(&arguments)?),
            Kind::AddText => add::plan(&roots, &parse(&arguments)?),
            Kind::AddImage => add_image::plan(&roots, &parse(&arguments)?),
            Kind::OutputPdf => output::plan(&roots, &parse(&arguments)?),
            Kind::GetDocument => manage::get(&roots, &parse(&arguments)?).map(harmless),
            Kind::ListDocuments => manage::list(&roots, &parse(&arguments)?).map(harmless),
            Kind::DeleteDocument => manage::plan_delete(&roots, &parse(&arguments)?),
        }
    }

    fn execute(tool: String, arguments: String, context: Context) -> Result<Outcome, ToolError> {
        let roots = Roots::granted();
        match Kind::of(&tool)? {
            Kind::CreateDocument => create::run(&roots, &parse(&arguments)?, &context),
            Kind::AddText => add::run(&roots, &parse(&arguments)?, &context),
            Kind::AddImage => add_image::run(&roots, &parse(&arguments)?, &context),
            Kind::OutputPdf => output::run(&roots, &parse(&arguments)?, &context),
            Kind::GetDocument => manage::get(&roots, &parse(&arguments)?),
            Kind::ListDocuments => manage::list(&roots, &parse(&arguments)?),
            Kind::DeleteDocument => manage::delete(&roots, &parse(&arguments)?, &context),
        }
    }
}

/// The plan of a call that only reads: what it will say, said already.
fn harmless(outcome: Outcome) -> Plan {
    Plan {
        summary: outcome.message,
        details: outcome.details,
        warnings: Vec::new(),
        level: Some(Level::Safe),
        precondition: None,
    }
}

/// Refuses a run at a level that its tool does not begin at.
fn at_least(level: Level, context: &Context, what: &str) -> Result<(), ToolError> {
    let rank = |level: Level| match level {
        Level::Safe => 0,
        Level::Caution => 1,
        Level::Review => 2,
        Level::ApprovalRequired => 3,
    };
    match rank(context.level) >= rank(level) {
        true => Ok(()),
        false => Err(refused(format!("{what} needs a higher level than this call was let through at"))),
    }
}

/// Refuses a run whose preview was about something else, and one at the highest level that had no preview.
fn agreed(context: &Context, now: &str, changed: &str) -> Result<(), ToolError> {
    match context.precondition.as_deref() {
        Some(seen) if seen != now => Err(refused(changed)),
        None if context.level == Level::ApprovalRequired => {
            Err(refused("this run has no preview to compare with: nothing was done"))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(level: Level, precondition: Option<&str>, refusal: Option<&str>) {
        let precondition = precondition.map(str::to_owned);
        let context = Context { operation_id: "op".to_owned(), level, precondition };
        let words = match agreed(&context, "document 1", "it changed") {
            Ok(()) => None,
            Err(ToolError::Refused(words)) => Some(words),
            Err(other) => Some(format!("{other:?}")),
        };
        assert_eq!(words.as_deref(), refusal);
    }

    #[test]
    fn what_was_confirmed_is_what_runs_and_nothing_is_confirmed_without_a_preview() {
        check(Level::Caution, None, None);
        check(Level::Caution, Some("document 1"), None);
        check(Level::ApprovalRequired, Some("document 1"), None);
        check(Level::Caution, Some("document 2"), Some("it changed"));
        check(Level::ApprovalRequired, Some("document 2"), Some("it changed"));
        let none = "this run has no preview to compare with: nothing was done";
        check(Level::ApprovalRequired, None, Some(none));
    }
}
