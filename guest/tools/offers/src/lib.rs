//! The offers plug-in: a marketing desk on one JSON data file in the directory that the operator grants as `/data`. Money
//! is exact decimal, a preview is the run itself on data in memory, and what nobody here knows stays in the file.

mod bulk;
mod campaigns;
mod data;
mod describe;
mod email;
mod json;
mod kinds;
mod money;
mod offers;
mod read;
mod say;
mod secret;
mod shop;
mod smtp;
mod sources;
mod text;
mod what;
mod work;

// What is hidden in a text does not depend on the plug-in that shows it: each has its own bindings, so they share the source
// and not a crate.
#[path = "../../files/src/shown.rs"]
mod shown;

#[expect(unsafe_code, reason = "generated")]
#[allow(clippy::indexing_slicing, reason = "generated")]
mod bindings {
    use super::Offers;
    wit_bindgen::generate!({ path: "../../../wit/tool", world: "plugin" });
    export!(Offers);
}

/// What the plug-in asks for: a section of the component, which the host reads before anything of it runs.
#[cfg(target_family = "wasm")]
#[expect(unsafe_code, reason = "names a section")]
#[used]
#[unsafe(link_section = "counterfoil:manifest")]
static MANIFEST: [u8; include_bytes!("../manifest.json").len()] = *include_bytes!("../manifest.json");

use bindings::exports::counterfoil::tool::tools::{
    self as wit, Context, Effect, Failure, Guest, Level, Outcome, Plan, ToolError,
};
use data::Data;
use describe::Tool;
use std::time::SystemTime;
use work::{Change, Work};

struct Offers;

/// Every tool, by area.
fn tools() -> impl Iterator<Item = &'static Tool> {
    [read::TOOLS, offers::TOOLS, campaigns::TOOLS, email::TOOLS, smtp::TOOLS, shop::TOOLS, sources::TOOLS, bulk::TOOLS]
        .into_iter()
        .flatten()
}

impl Guest for Offers {
    fn list_tools() -> Vec<wit::Tool> {
        tools().map(Tool::wit).collect()
    }

    fn preview(tool: String, arguments: String) -> Result<Plan, ToolError> {
        let (_, work, change) = run(&tool, &arguments, None)?;
        let precondition = Some(work.precondition(&change));
        let Change { summary, details, warnings, .. } = change;
        Ok(Plan { summary, details: details.to_string(), warnings, level: None, precondition })
    }

    fn execute(tool: String, arguments: String, context: Context) -> Result<Outcome, ToolError> {
        let (tool, work, change) = run(&tool, &arguments, Some(&context.operation_id))?;
        allowed(tool, &context, &work.precondition(&change))?;
        if tool.level != Level::Safe {
            work.data.save(&context.operation_id)?;
        }
        Ok(Outcome { message: change.message, details: change.outcome.to_string() })
    }
}

/// Does it to the data in memory.
fn run(tool: &str, arguments: &str, operation: Option<&str>) -> Result<(&'static Tool, Work, Change), ToolError> {
    let tool = tools().find(|known| known.name == tool).ok_or(ToolError::UnknownTool)?;
    let arguments = tool.arguments(arguments)?;
    let now = text::timestamp(SystemTime::now());
    let mut work = Work::new(Data::load(data::DIRECTORY)?, arguments, now, operation.map(str::to_owned));
    let change = (tool.run)(&mut work)?;
    Ok((tool, work, change))
}

/// Whether a run may keep what it did: at the level that its tool needs, and only what its plan said.
fn allowed(tool: &Tool, context: &Context, now: &str) -> Result<(), ToolError> {
    if context.level < tool.level {
        return Err(refused(format!("{} needs a higher level than this call was let through at", tool.name)));
    }
    match &context.precondition {
        Some(then) if then != now => Err(refused(
            "what this would change, or what its preview showed, has changed since the preview: ask for a new one, without the token",
        )),
        None if context.level == Level::ApprovalRequired => {
            Err(refused("this run has no preview to compare with: nothing was done"))
        }
        _ => Ok(()),
    }
}

fn invalid(text: impl Into<String>) -> ToolError {
    ToolError::InvalidArguments(text.into())
}

fn refused(text: impl Into<String>) -> ToolError {
    ToolError::Refused(text.into())
}

/// It went wrong before anything was changed.
fn failed_before(message: impl Into<String>) -> ToolError {
    ToolError::Failed(Failure { message: message.into(), effect: Effect::None })
}

/// The data is as it was, and something lies beside it.
fn left_over(message: impl Into<String>) -> ToolError {
    ToolError::Failed(Failure { message: message.into(), effect: Effect::Partial })
}
