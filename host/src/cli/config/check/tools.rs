//! Every tool, with what a call of it does.

use super::Seen;
use crate::cli::print::{Table, line, out};
use crate::cli::tools::{MEANING, level, list, what_a_call_does};
use serde_json::Value;

pub(super) fn print(seen: &Seen) -> anyhow::Result<()> {
    let mut tools = Table::new(["TOOL", "A CALL", "LEVEL", "PLUG-IN"]);
    for tool in seen.host.tools() {
        tools.row([
            tool.name.clone(),
            what_a_call_does(seen.host, tool),
            level(tool.level, tool.declared),
            tool.backend.clone(),
        ]);
    }
    out(&tools.to_string())?;
    if seen.host.tools().is_empty() {
        let off = seen.config.plugins.iter().find(|plugin| plugin.options.tools.as_ref().is_some_and(Vec::is_empty));
        line(&match off {
            Some(plugin) => format!(
                "there is no tool: `tools` of [plugins.{}] is empty; name some in it, or take the line out for all",
                plugin.name
            ),
            None => "there is no tool: add a plug-in under [plugins.NAME]".to_owned(),
        })?;
    }
    line("")?;
    line(MEANING)?;
    Ok(())
}

pub(super) fn json(seen: &Seen) -> Value {
    list(seen.host)
}
