//! The offers plug-in: a marketing desk on one JSON data file in the directory that the operator grants as `/data`. Money
//! is exact decimal, a preview and a run are the same function of the data, and what nobody here knows stays in the file.

mod data;
mod describe;
mod json;
mod read;
mod text;
mod work;

#[expect(unsafe_code, reason = "generated")]
#[allow(clippy::indexing_slicing, reason = "generated")]
mod bindings {
    use super::Offers;
    wit_bindgen::generate!({ path: "../../../wit/tool", world: "plugin" });
    export!(Offers);
}

use bindings::exports::counterfoil::tool::tools::{
    self as wit, Context, Effect, Failure, Guest, Outcome, Plan, ToolError,
};
use data::Data;
use describe::Tool;
use work::{Change, Work};

struct Offers;

/// Every tool, by area.
fn tools() -> impl Iterator<Item = &'static Tool> {
    [read::TOOLS].into_iter().flatten()
}

impl Guest for Offers {
    fn list_tools() -> Vec<wit::Tool> {
        tools().map(Tool::wit).collect()
    }

    fn preview(tool: String, arguments: String) -> Result<Plan, ToolError> {
        let Change { summary, details, warnings, .. } = run(&tool, &arguments)?;
        Ok(Plan { summary, details: details.to_string(), warnings, level: None, precondition: None })
    }

    fn execute(tool: String, arguments: String, _context: Context) -> Result<Outcome, ToolError> {
        let Change { message, outcome, .. } = run(&tool, &arguments)?;
        Ok(Outcome { message, details: outcome.to_string() })
    }
}

fn run(tool: &str, arguments: &str) -> Result<Change, ToolError> {
    let tool = tools().find(|known| known.name == tool).ok_or(ToolError::UnknownTool)?;
    let arguments = tool.arguments(arguments)?;
    (tool.run)(&mut Work::new(Data::load()?, arguments))
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
