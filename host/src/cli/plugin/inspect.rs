//! `plugin inspect FILE`: loads it without a grant and shows what it is.

use super::super::print::{self, Table, bold, inset, line, out};
use super::super::tools::what_happens;
use super::super::wait::{loading_file, wait};
use super::declare::there;
use super::{asked, markdown};
use crate::cli::exit;
use crate::config::Dirs;
use crate::plugin::{Plugin, PluginOptions, Sandbox, SandboxOptions};
use crate::text;
use serde_json::{Value, json};
use std::path::PathBuf;

pub(super) async fn run(file: PathBuf, as_json: bool, as_markdown: bool) -> anyhow::Result<u8> {
    there(&file)?;
    let cache = Dirs::of_user().ok().map(|dirs| dirs.cache);
    let sandbox = Sandbox::new(SandboxOptions { cache: cache.clone() })?;
    let (at_hand, source) = (sandbox.clone(), file.clone());
    let shown = text::escape(&file.display().to_string()).into_owned();
    let load = async move { Plugin::load(&sandbox, &file, PluginOptions::new("inspected")).await };
    let plugin = wait(|| loading_file(&shown, cache.as_deref(), &at_hand, &source), load).await??;
    if as_markdown {
        out(&markdown::page(plugin.declaration(), plugin.tools()))?;
    } else if as_json {
        print::json(&serde_json::to_string_pretty(&whole(&plugin))?)?;
    } else {
        print(&shown, &plugin)?;
    }
    Ok(exit::OK)
}

fn whole(plugin: &Plugin) -> Value {
    let tools: Vec<_> = plugin
        .tools()
        .iter()
        .map(|tool| {
            json!({
                "name": tool.name, "title": tool.title, "description": tool.description,
                "level": tool.level.name(), "critical": tool.critical,
                "input_schema": schema(&tool.input_schema), "output_schema": tool.output_schema.as_deref().map(schema),
            })
        })
        .collect();
    json!({
        "digest": plugin.digest(), "exports": plugin.exports(), "imports": plugin.imports(),
        "declaration": plugin.declaration().map(asked::json), "tools": tools,
    })
}

fn schema(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}

fn print(shown: &str, plugin: &Plugin) -> anyhow::Result<()> {
    line(&format!("{} sha256:{}", bold(shown), plugin.digest()))?;
    for (what, names) in [("exports", plugin.exports()), ("imports", plugin.imports())] {
        line(&format!("\n{}", bold(what)))?;
        out(&inset(&names.iter().map(|name| text::escape(name)).collect::<Vec<_>>().join("\n")))?;
    }
    line(&format!("\n{}", bold("asks for")))?;
    match plugin.declaration() {
        None => line(
            "  nothing: it gets none of what is granted, unless you say what it needs under [plugins.NAME.declares]",
        )?,
        Some(declared) if declared.is_empty() => line("  nothing")?,
        Some(declared) => {
            let mut table = Table::new(["", "WHICH", "AT MOST"]);
            for row in asked::rows(declared) {
                table.row(row.map(|cell| if cell == "*" { "any".to_owned() } else { cell }));
            }
            out(&inset(&table.to_string()))?;
        }
    }
    let mut table = Table::new(["TOOL", "LEVEL", "A CALL"]);
    for tool in plugin.tools() {
        let level = if tool.critical { format!("{} (critical)", tool.level) } else { tool.level.to_string() };
        table.row([tool.name.clone(), level, what_happens(tool.level, tool.critical).to_owned()]);
    }
    line("")?;
    out(&table.to_string())?;
    line("\nThe levels are the plug-in's own word: raise those that you doubt under [plugins.NAME.levels].")?;
    Ok(())
}
