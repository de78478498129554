//! The eight tools as agents see them: names, words, schemas, levels. Pure.

use crate::bindings::exports::counterfoil::tool::tools::{Level, Tool, ToolError};
use crate::paths::MAX_PATH;
use crate::schema::{self, Properties};
use serde_json::{Value, json};

/// Longest content of one write, in characters: what the host takes as arguments altogether.
const MAX_CONTENT: usize = 256 << 10;

/// Longest search pattern, in characters.
pub const MAX_PATTERN: usize = 256;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    ListFiles,
    ReadFile,
    SearchFiles,
    CreateDirectory,
    WriteFile,
    MoveFile,
    DeleteFile,
    DeleteDirectory,
}

const ALL: [Kind; 8] = [
    Kind::ListFiles,
    Kind::ReadFile,
    Kind::SearchFiles,
    Kind::CreateDirectory,
    Kind::WriteFile,
    Kind::MoveFile,
    Kind::DeleteFile,
    Kind::DeleteDirectory,
];

const PATH: &str = "Path, from the granted directory (\"notes/a.txt\") or absolute in the sandbox (\"/files/notes/a.txt\"). No \"..\".";

impl Kind {
    pub fn of(name: &str) -> Result<Self, ToolError> {
        ALL.into_iter().find(|kind| kind.name() == name).ok_or(ToolError::UnknownTool)
    }

    fn name(self) -> &'static str {
        match self {
            Self::ListFiles => "list_files",
            Self::ReadFile => "read_file",
            Self::SearchFiles => "search_files",
            Self::CreateDirectory => "create_directory",
            Self::WriteFile => "write_file",
            Self::MoveFile => "move_file",
            Self::DeleteFile => "delete_file",
            Self::DeleteDirectory => "delete_directory",
        }
    }

    /// Whether no call of it is milder than its level, so that its plans need not be asked.
    fn always(self) -> bool {
        matches!(self, Self::MoveFile | Self::DeleteFile | Self::DeleteDirectory)
    }

    fn title(self) -> &'static str {
        match self {
            Self::ListFiles => "List a directory",
            Self::ReadFile => "Read a file",
            Self::SearchFiles => "Search files",
            Self::CreateDirectory => "Create a directory",
            Self::WriteFile => "Write a file",
            Self::MoveFile => "Move or rename",
            Self::DeleteFile => "Delete a file",
            Self::DeleteDirectory => "Delete a directory",
        }
    }

    fn description(self) -> &'static str {
        match self {
            Self::ListFiles => {
                "Lists what one directory holds, by name, with kind, size and time of change; not what its directories hold. \
                 \".\" is the granted directory; where several are granted, \".\" lists them. Start here to find your way. \
                 At most 1,000 entries; `truncated` says whether some are missing."
            }
            Self::ReadFile => {
                "Returns the whole content of one file, up to 256 KiB: as text where it is UTF-8, else in base64; `encoding` says which. \
                 A larger file is refused; search_files finds lines in it."
            }
            Self::SearchFiles => {
                "Searches a directory and everything below it. A pattern with `*` or `?` is a glob for names: `*` and `?` stand \
                 for anything but `/`, `**` for anything; with a `/` it is matched against the path from the searched directory, \
                 else against the name alone. Any other pattern is looked for as it stands, in names and in the lines of text files. \
                 Case counts. Symbolic links are not followed. Results are bounded; `truncated` and `skipped` say what may be missing."
            }
            Self::CreateDirectory => {
                "Creates a directory, and those above it that are missing. Refuses a path where something is already."
            }
            Self::WriteFile => {
                "Writes a text file, whole. A new file is created at once, in a directory that exists; an existing file is overwritten \
                 only after a confirmation, and its previous content is lost. Nothing is appended."
            }
            Self::MoveFile => {
                "Moves or renames a file or a directory. `to` is the full new path, not the directory to move into. An existing file \
                 at `to` is overwritten, and the plan says so; an existing directory never is."
            }
            Self::DeleteFile => {
                "Deletes one file for good; there is no bin. Of a symbolic link it deletes the link, not what the link leads to."
            }
            Self::DeleteDirectory => {
                "Deletes a directory and everything in it for good; there is no bin. At most 10,000 entries: delete larger ones in parts."
            }
        }
    }

    fn level(self) -> Level {
        match self {
            Self::ListFiles | Self::ReadFile | Self::SearchFiles => Level::Safe,
            Self::CreateDirectory => Level::Caution,
            Self::WriteFile | Self::MoveFile | Self::DeleteFile | Self::DeleteDirectory => Level::ApprovalRequired,
        }
    }

    fn input(self) -> Value {
        let text = |description: &str, min: usize, max: usize| json!({ "type": "string", "minLength": min, "maxLength": max, "description": description });
        let path = |description: &str| text(&format!("{description} {PATH}"), 1, MAX_PATH);
        match self {
            Self::ListFiles => object(&[("path", path("The directory."))]),
            Self::ReadFile => object(&[("path", path("The file to read."))]),
            Self::SearchFiles => object(&[
                ("path", path("The directory to search.")),
                (
                    "pattern",
                    text(
                        "A glob for names (\"*.md\", \"src/**/*.rs\"), or a text to look for in names and lines.",
                        1,
                        MAX_PATTERN,
                    ),
                ),
            ]),
            Self::CreateDirectory => object(&[("path", path("The directory to create."))]),
            Self::WriteFile => object(&[
                ("path", path("The file to write.")),
                ("content", text("The whole new content, written as UTF-8.", 0, MAX_CONTENT)),
            ]),
            Self::MoveFile => {
                object(&[("from", path("What to move.")), ("to", path("Its new path, the new name included."))])
            }
            Self::DeleteFile => object(&[("path", path("The file to delete."))]),
            Self::DeleteDirectory => object(&[("path", path("The directory to delete."))]),
        }
    }

    /// Of the outcome's details. Open: keys may be added later.
    fn output(self) -> Value {
        let (text, whole, flag) =
            (json!({ "type": "string" }), json!({ "type": "integer", "minimum": 0 }), json!({ "type": "boolean" }));
        let list = |item: Value| json!({ "type": "array", "items": item });
        match self {
            Self::ListFiles => open(&[
                ("path", text.clone()),
                (
                    "entries",
                    list(open(&[
                        ("name", text.clone()),
                        ("kind", json!({ "enum": ["file", "directory", "symbolic_link", "special", "absent"] })),
                    ])),
                ),
                ("total", whole),
                ("truncated", flag),
            ]),
            Self::ReadFile => open(&[
                ("path", text.clone()),
                ("content", text.clone()),
                ("encoding", json!({ "enum": ["utf-8", "base64"] })),
                ("bytes", whole),
                ("sha256", text),
            ]),
            Self::SearchFiles => open(&[
                ("path", text.clone()),
                ("names", list(text.clone())),
                ("lines", list(open(&[("path", text.clone()), ("line", whole), ("text", text)]))),
                ("truncated", flag),
            ]),
            Self::CreateDirectory => open(&[("path", text.clone()), ("created", list(text))]),
            Self::WriteFile => open(&[
                ("path", text.clone()),
                ("action", json!({ "enum": ["created", "overwritten"] })),
                ("bytes", whole),
                ("sha256", text),
            ]),
            Self::MoveFile => open(&[("from", text.clone()), ("to", text), ("overwritten", flag)]),
            Self::DeleteFile => open(&[("path", text)]),
            Self::DeleteDirectory => {
                open(&[("path", text), ("files", whole.clone()), ("directories", whole.clone()), ("bytes", whole)])
            }
        }
    }
}

/// What every outcome has.
fn open(required: Properties) -> Value {
    schema::open(required, &[])
}

/// Arguments, all of them needed.
fn object(required: Properties) -> Value {
    schema::closed(required, &[])
}

pub fn tools() -> Vec<Tool> {
    let describe = |kind: Kind| Tool {
        name: kind.name().to_owned(),
        title: Some(kind.title().to_owned()),
        description: kind.description().to_owned(),
        input_schema: kind.input().to_string(),
        output_schema: Some(kind.output().to_string()),
        level: kind.level(),
        critical: kind.always(),
    };
    ALL.into_iter().map(describe).collect()
}
