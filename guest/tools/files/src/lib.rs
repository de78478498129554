//! The files plug-in: eight tools over the directories that the operator granted. Knows no directory by itself, follows
//! no symbolic link to change something, and destroys nothing that its plan did not see.

mod change;
mod describe;
mod error;
mod paths;
mod pattern;
mod plan;
mod read;
mod schema;
mod search;
mod shown;
mod snapshot;
mod text;

#[expect(unsafe_code, reason = "generated")]
#[allow(clippy::indexing_slicing, reason = "generated")]
mod bindings {
    use super::Files;
    wit_bindgen::generate!({ path: "../../../wit/tool", world: "plugin" });
    export!(Files);
}

/// What the plug-in asks for: a section of the component, which the host reads before anything of it runs.
#[cfg(target_family = "wasm")]
#[expect(unsafe_code, reason = "names a section")]
#[used]
#[unsafe(link_section = "counterfoil:manifest")]
static MANIFEST: [u8; include_bytes!("../manifest.json").len()] = *include_bytes!("../manifest.json");

use bindings::counterfoil::tool::progress;
use bindings::exports::counterfoil::tool::tools::{Context, Guest, Level, Outcome, Plan, Tool, ToolError};
use describe::Kind;
use error::{failed, invalid, io, parse, refused};
use paths::Roots;

struct Files;

impl Guest for Files {
    fn list_tools() -> Vec<Tool> {
        describe::tools()
    }

    fn preview(tool: String, arguments: String) -> Result<Plan, ToolError> {
        preview(&Roots::granted(), &tool, &arguments)
    }

    fn execute(tool: String, arguments: String, context: Context) -> Result<Outcome, ToolError> {
        execute(&Roots::granted(), &tool, &arguments, &context, &progress::report)
    }
}

/// Tells how far a call is: a fraction from 0 to 1 where one is known, and a sentence.
type Report<'a> = &'a dyn Fn(Option<f64>, &str);

/// The arguments of the tools that take a path and nothing else.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct OnPath {
    path: String,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Search {
    path: String,
    pattern: String,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Write {
    path: String,
    content: String,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Move {
    from: String,
    to: String,
}

fn preview(roots: &Roots, tool: &str, arguments: &str) -> Result<Plan, ToolError> {
    match Kind::of(tool)? {
        Kind::ListFiles => read::plan_list(roots, &parse::<OnPath>(arguments)?.path),
        Kind::ReadFile => read::plan_read(roots, &parse::<OnPath>(arguments)?.path),
        Kind::SearchFiles => {
            let Search { path, pattern } = parse(arguments)?;
            search::plan(roots, &path, &pattern)
        }
        Kind::CreateDirectory => plan::create_directory(roots, &parse::<OnPath>(arguments)?.path),
        Kind::WriteFile => {
            let Write { path, content } = parse(arguments)?;
            plan::write_file(roots, &path, &content)
        }
        Kind::MoveFile => {
            let Move { from, to } = parse(arguments)?;
            plan::move_file(roots, &from, &to)
        }
        Kind::DeleteFile => plan::delete_file(roots, &parse::<OnPath>(arguments)?.path),
        Kind::DeleteDirectory => plan::delete_directory(roots, &parse::<OnPath>(arguments)?.path),
    }
}

fn execute(
    roots: &Roots,
    tool: &str,
    arguments: &str,
    context: &Context,
    report: Report,
) -> Result<Outcome, ToolError> {
    match Kind::of(tool)? {
        Kind::ListFiles => read::list(roots, &parse::<OnPath>(arguments)?.path),
        Kind::ReadFile => read::read(roots, &parse::<OnPath>(arguments)?.path),
        Kind::SearchFiles => {
            let Search { path, pattern } = parse(arguments)?;
            search::run(roots, &path, &pattern)
        }
        Kind::CreateDirectory => change::create_directory(roots, &parse::<OnPath>(arguments)?.path, context),
        Kind::WriteFile => {
            let Write { path, content } = parse(arguments)?;
            change::write_file(roots, &path, &content, context)
        }
        Kind::MoveFile => {
            let Move { from, to } = parse(arguments)?;
            change::move_file(roots, &from, &to, context)
        }
        Kind::DeleteFile => change::delete_file(roots, &parse::<OnPath>(arguments)?.path, context),
        Kind::DeleteDirectory => change::delete_directory(roots, &parse::<OnPath>(arguments)?.path, context, report),
    }
}

/// One call that needs no confirmation and changes nothing.
fn harmless(summary: String, details: serde_json::Value) -> Plan {
    Plan { summary, details: details.to_string(), warnings: Vec::new(), level: Some(Level::Safe), precondition: None }
}
