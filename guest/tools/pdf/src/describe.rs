//! The seven tools as agents see them: names, words, schemas, levels. Pure.

use crate::bindings::exports::counterfoil::tool::tools::{Level, Tool, ToolError};
use crate::limits::{MAX_IMAGE_BASE64, MAX_LABEL, MAX_SIDE, MAX_SIZE, MAX_TEXT, MIN_IMAGE, MIN_SIDE, MIN_SIZE};
use crate::paths::MAX_PATH;
use crate::schema::{closed as object, open};
use crate::shelf::PATTERN;
use serde_json::{Value, json};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    CreateDocument,
    AddText,
    AddImage,
    OutputPdf,
    GetDocument,
    ListDocuments,
    DeleteDocument,
}

const ALL: [Kind; 7] = [
    Kind::CreateDocument,
    Kind::AddText,
    Kind::AddImage,
    Kind::OutputPdf,
    Kind::GetDocument,
    Kind::ListDocuments,
    Kind::DeleteDocument,
];

const PATH: &str =
    "From the granted directory (\"out/a.pdf\") or absolute in the sandbox (\"/documents/out/a.pdf\"). No \"..\".";

impl Kind {
    pub fn of(name: &str) -> Result<Self, ToolError> {
        ALL.into_iter().find(|kind| kind.name() == name).ok_or(ToolError::UnknownTool)
    }

    fn name(self) -> &'static str {
        match self {
            Self::CreateDocument => "create_document",
            Self::AddText => "add_text",
            Self::AddImage => "add_image",
            Self::OutputPdf => "output_pdf",
            Self::GetDocument => "get_document",
            Self::ListDocuments => "list_documents",
            Self::DeleteDocument => "delete_document",
        }
    }

    fn title(self) -> &'static str {
        match self {
            Self::CreateDocument => "Begin a document",
            Self::AddText => "Add text",
            Self::AddImage => "Add an image",
            Self::OutputPdf => "Write the PDF",
            Self::GetDocument => "Look at a document",
            Self::ListDocuments => "List documents",
            Self::DeleteDocument => "Delete a document",
        }
    }

    fn description(self) -> &'static str {
        match self {
            Self::CreateDocument => {
                "Begins a document and returns its document_id; then add_text and add_image fill it and output_pdf writes it. \
                 The page is A4 unless page_size, or width and height, say otherwise. The language is that of the text: \
                 readers that speak use it."
            }
            Self::AddText => {
                "Adds text after what the document has: lines are wrapped, and what does not fit goes to further pages. A \
                 line end begins a paragraph. Latin, Greek and Cyrillic letters and common signs can be set; any other \
                 character is refused and named, and nothing is added. With x and y the text stands at that place of the \
                 current page and what follows goes on as if it were not there."
            }
            Self::AddImage => {
                "Adds a PNG or JPEG after what the document has, from base64 or from a file in a granted directory. Without \
                 width and height it has 96 pixels an inch, made smaller where it would not fit; with one of them it keeps its \
                 shape. A rotation that a camera noted in the file is not applied. The document keeps a copy."
            }
            Self::OutputPdf => {
                "Makes the PDF (PDF/A-2a). With file_path it is written there, which needs a confirmation and says so where a file would be \
                 overwritten; the path ends in .pdf and its directory exists. Without file_path the PDF is returned in \
                 base64 at once, up to 256 KiB. The document stays and can be added to."
            }
            Self::GetDocument => {
                "Says what a document is and holds: its title, page size, pages, and its texts and images with the page each \
                 begins on. The first 100 of them, each text by its beginning."
            }
            Self::ListDocuments => {
                "Lists the documents that were begun and not deleted, with their titles. At most 100."
            }
            Self::DeleteDocument => "Deletes a document and its images for good. PDFs that were written from it stay.",
        }
    }

    fn level(self) -> Level {
        match self {
            Self::GetDocument | Self::ListDocuments => Level::Safe,
            Self::CreateDocument | Self::AddText | Self::AddImage => Level::Caution,
            Self::OutputPdf | Self::DeleteDocument => Level::ApprovalRequired,
        }
    }

    fn input(self) -> Value {
        let id = (
            "document_id",
            json!({ "type": "string", "pattern": PATTERN, "maxLength": 20, "description": "What create_document returned." }),
        );
        let label = |words: &str| text(words, 1, MAX_LABEL);
        let path = |words: &str| text(&format!("{words} {PATH}"), 1, MAX_PATH);
        let side = |words: &str| points(words, MIN_SIDE, MAX_SIDE);
        let break_before = ("page_break", flag("Begin a new page first."));
        let x = ("x", points("From the left edge of the page, in points (72 an inch); with y.", 0.0, MAX_SIDE));
        let y = ("y", points("From the top of the page, in points; with x.", 0.0, MAX_SIDE));
        match self {
            Self::CreateDocument => object(
                &[("title", label("The title, as readers show it."))],
                &[
                    ("author", label("Who wrote it.")),
                    ("language", text("Language tag, \"en\" unless given: \"fr\", \"pt-BR\".", 2, 35)),
                    ("page_size", one_of("A4 unless given.", &["A3", "A4", "A5", "letter", "legal"])),
                    ("landscape", flag("Wide instead of high.")),
                    ("width", side("Width of the page in points, in place of page_size; with height.")),
                    ("height", side("Height of the page in points; with width.")),
                    ("margin", points("On all four sides, in points; 56.7 (2 cm) unless given.", 0.0, MAX_SIDE)),
                ],
            ),
            Self::AddText => object(
                &[id, ("text", text("The text. Each line is a paragraph.", 1, MAX_TEXT))],
                &[
                    (
                        "style",
                        one_of(
                            "body unless given. Headings are listed in the PDF's outline.",
                            &["body", "bold", "heading1", "heading2", "heading3"],
                        ),
                    ),
                    ("size", points("Size in points; that of the style unless given (body 11).", MIN_SIZE, MAX_SIZE)),
                    ("alignment", one_of("left unless given.", &["left", "center", "right", "justify"])),
                    break_before,
                    x,
                    y,
                    ("width", points("How wide lines may be, in points, where x and y are given.", 1.0, MAX_SIDE)),
                ],
            ),
            Self::AddImage => object(
                &[
                    id,
                    (
                        "alt_text",
                        text(
                            "What the image shows, for those who do not see it. Empty for a mere decoration.",
                            0,
                            MAX_LABEL,
                        ),
                    ),
                ],
                &[
                    ("image", text("The file in base64; or path.", 1, MAX_IMAGE_BASE64)),
                    ("path", path("Where the file is, up to 4 MiB; or image.")),
                    ("width", points("Width in points.", MIN_IMAGE, MAX_SIDE)),
                    ("height", points("Height in points.", MIN_IMAGE, MAX_SIDE)),
                    ("alignment", one_of("left unless given.", &["left", "center", "right"])),
                    break_before,
                    x,
                    y,
                ],
            ),
            Self::OutputPdf => {
                object(&[id], &[("file_path", path("Where to write it; not given: it is returned in base64."))])
            }
            Self::GetDocument | Self::DeleteDocument => object(&[id], &[]),
            Self::ListDocuments => object(&[], &[]),
        }
    }

    /// Of the outcome's details. Open: keys may be added later.
    fn output(self) -> Value {
        let (string, whole, yes) =
            (json!({ "type": "string" }), json!({ "type": "integer", "minimum": 0 }), json!({ "type": "boolean" }));
        let (thing, list) = (json!({ "type": "object" }), json!({ "type": "array", "items": { "type": "object" } }));
        let id = ("document_id", string.clone());
        let added = [id.clone(), ("page", whole.clone()), ("pages", whole.clone()), ("blocks", whole.clone())];
        match self {
            Self::CreateDocument => open(&[id, ("title", string), ("page_size", thing)], &[]),
            Self::AddText => open(&added, &[]),
            Self::AddImage => {
                let [id, page, pages, blocks] = added;
                open(&[id, page, pages, blocks, ("image", thing)], &[])
            }
            Self::OutputPdf => open(
                &[id, ("pages", whole.clone()), ("bytes", whole), ("sha256", string.clone())],
                &[
                    ("file_path", string.clone()),
                    ("overwritten", yes),
                    ("encoding", json!({ "const": "base64" })),
                    ("content", string),
                ],
            ),
            Self::GetDocument => {
                open(&[id, ("title", string), ("pages", whole), ("blocks", list), ("truncated", yes)], &[])
            }
            Self::ListDocuments => open(&[("documents", list), ("total", whole), ("truncated", yes)], &[]),
            Self::DeleteDocument => open(&[id, ("title", string), ("images", whole)], &[]),
        }
    }
}

fn text(description: &str, min: usize, max: usize) -> Value {
    json!({ "type": "string", "minLength": min, "maxLength": max, "description": description })
}

fn points(description: &str, min: f64, max: f64) -> Value {
    json!({ "type": "number", "minimum": min, "maximum": max, "description": description })
}

fn flag(description: &str) -> Value {
    json!({ "type": "boolean", "description": description })
}

fn one_of(description: &str, values: &[&str]) -> Value {
    json!({ "type": "string", "enum": values, "description": description })
}

pub fn tools() -> Vec<Tool> {
    let describe = |kind: Kind| Tool {
        name: kind.name().to_owned(),
        title: Some(kind.title().to_owned()),
        description: kind.description().to_owned(),
        input_schema: kind.input().to_string(),
        output_schema: Some(kind.output().to_string()),
        level: kind.level(),
        // No call of it is milder than its level; output_pdf without a path is.
        critical: kind == Kind::DeleteDocument,
    };
    ALL.into_iter().map(describe).collect()
}
