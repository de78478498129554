//! The files plug-in: eight tools over the directories that the operator granted. Knows no directory by itself, follows
//! no symbolic link to change something, and destroys nothing that its plan did not see.

mod change;
mod describe;
mod paths;
mod pattern;
mod plan;
mod read;
mod search;
mod snapshot;
mod text;

#[expect(unsafe_code, reason = "generated")]
#[allow(clippy::indexing_slicing, reason = "generated")]
mod bindings {
    use super::Files;
    wit_bindgen::generate!({ path: "../../../wit/tool", world: "plugin" });
    export!(Files);
}

use bindings::counterfoil::tool::progress;
use bindings::exports::counterfoil::tool::tools::{
    Context, Effect, Failure, Guest, Level, Outcome, Plan, Tool, ToolError,
};
use describe::Kind;
use paths::Roots;
use serde::de::DeserializeOwned;

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

/// The arguments hold nothing but strings, which serde_json reads exactly.
fn parse<T: DeserializeOwned>(arguments: &str) -> Result<T, ToolError> {
    serde_json::from_str(arguments)
        .map_err(|error| ToolError::InvalidArguments(format!("the arguments do not fit: {error}")))
}

fn invalid(text: impl Into<String>) -> ToolError {
    ToolError::InvalidArguments(text.into())
}

fn refused(text: impl Into<String>) -> ToolError {
    ToolError::Refused(text.into())
}

fn failed(message: impl Into<String>, effect: Effect) -> ToolError {
    ToolError::Failed(Failure { message: message.into(), effect })
}

/// What to tell about an error of the file system before anything was changed.
fn io(what: &str, error: &std::io::Error) -> ToolError {
    use std::io::ErrorKind as E;
    match error.kind() {
        E::NotFound => refused(format!("{what}: it does not exist")),
        E::PermissionDenied | E::ReadOnlyFilesystem => refused(format!(
            "{what}: not permitted; the path leads out of the granted directories, or the grant or the file is read-only"
        )),
        E::InvalidFilename => {
            refused(format!("{what}: the name is too long or has characters that the file system does not take"))
        }
        _ => failed(format!("{what}: {error}"), Effect::None),
    }
}

/// One call that needs no confirmation and changes nothing.
fn harmless(summary: String, details: serde_json::Value) -> Plan {
    Plan { summary, details: details.to_string(), warnings: Vec::new(), level: Some(Level::Safe), precondition: None }
}
