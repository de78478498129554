//! `plugin inspect FILE`: what a plug-in file is and says of itself, before anything is granted to it.

mod markdown;

use super::exit;
use super::print::{Table, bold, inset, line, out};
use super::tools::what_happens;
use super::wait::{KEPT, wait};
use crate::config::Dirs;
use crate::plugin::{Plugin, PluginOptions, Sandbox, SandboxOptions};
use crate::text;
use std::path::PathBuf;

#[derive(clap::Subcommand)]
pub(super) enum Verb {
    /// Show a plug-in's digest, interfaces and tools; grants it nothing
    #[command(after_help = "\
Examples:
  counterfoil plugin inspect files.wasm
  counterfoil plugin inspect files.wasm --markdown > TOOLS.md")]
    Inspect {
        /// The component file
        file: PathBuf,
        /// Print JSON for programs
        #[arg(long, conflicts_with = "markdown")]
        json: bool,
        /// Print its tools as a reference page in Markdown
        #[arg(long)]
        markdown: bool,
    },
}

pub(super) async fn run(verb: Verb) -> anyhow::Result<u8> {
    let Verb::Inspect { file, json, markdown } = verb;
    let sandbox = Sandbox::new(SandboxOptions { cache: Dirs::of_user().ok().map(|dirs| dirs.cache) })?;
    let shown = text::escape(&file.display().to_string()).into_owned();
    let load = async move { Plugin::load(&sandbox, &file, PluginOptions::new("inspected")).await };
    let plugin = wait(format!("compiling {shown}{KEPT}"), load).await??;
    if markdown {
        out(&markdown::page(plugin.tools()))?;
        return Ok(exit::OK);
    }
    if json {
        let tools: Vec<_> = plugin.tools().iter().map(|tool| {
            serde_json::json!({
                "name": tool.name, "title": tool.title, "description": tool.description,
                "level": tool.level.name(), "critical": tool.critical,
                "input_schema": schema(&tool.input_schema), "output_schema": tool.output_schema.as_deref().map(schema),
            })
        }).collect();
        let whole = serde_json::json!({
            "digest": plugin.digest(), "exports": plugin.exports(), "imports": plugin.imports(), "tools": tools,
        });
        out(&serde_json::to_string_pretty(&whole)?)?;
        return Ok(exit::OK);
    }
    line(&format!("{} sha256:{}", bold(&shown), plugin.digest()))?;
    for (what, names) in [("exports", plugin.exports()), ("imports", plugin.imports())] {
        line(&format!("\n{}", bold(what)))?;
        out(&inset(&names.iter().map(|name| text::escape(name)).collect::<Vec<_>>().join("\n")))?;
    }
    let mut table = Table::new(["TOOL", "LEVEL", "A CALL"]);
    for tool in plugin.tools() {
        let level = if tool.critical { format!("{} (critical)", tool.level) } else { tool.level.to_string() };
        table.row([tool.name.clone(), level, what_happens(tool.level, tool.critical).to_owned()]);
    }
    line("")?;
    out(&table.to_string())?;
    line("\nThe levels are the plug-in's own word: raise those that you doubt under [plugins.NAME.levels].")?;
    Ok(exit::OK)
}

fn schema(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap_or_default()
}
