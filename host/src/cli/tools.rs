//! `tools`: what an agent would be offered, and how dangerous each is.

use super::print::{Table, json, line, note, out};
use super::{exit, locked, open};
use crate::host::Listing;
use crate::{Host, Level};
use std::path::Path;

#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  counterfoil tools\n  counterfoil tools --json | jq '.[] | select(.needs_confirmation)'"
)]
pub(super) struct Args {
    /// Print JSON for programs
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(args: Args, config: Option<&Path>) -> anyhow::Result<u8> {
    let config = open::load(config)?;
    let host = open::open(&config).await?;
    let tools = host.tools();
    if args.json {
        json(&serde_json::to_string_pretty(&list(&host))?)?;
        return Ok(exit::OK);
    }
    let mut table = Table::new(["TOOL", "LEVEL", "PLUG-IN", "A CALL"]);
    for tool in tools {
        table.row([
            tool.name.clone(),
            level(tool.level, tool.declared),
            tool.backend.clone(),
            what_a_call_does(&host, tool),
        ]);
    }
    out(&table.to_string())?;
    line("")?;
    line(MEANING)?;
    for what in locked::unlocked(&config) {
        note(&what);
    }
    Ok(exit::OK)
}

/// The same, for programs.
pub(super) fn list(host: &Host) -> serde_json::Value {
    let tool = |tool: &Listing| {
        serde_json::json!({
            "name": tool.name, "title": tool.title, "description": tool.description,
            "level": tool.level.name(), "declared": tool.declared.name(),
            "a_call": what_a_call_does(host, tool), "denied_by_rule": host.denied_by(&tool.name).map(|denied| denied.rule),
            "needs_confirmation": tool.needs_confirmation, "always_confirmed": tool.always_confirmed,
            "confirmed_by_rule": tool.confirmed_by_rule, "plugin": tool.backend, "locked": tool.locked, "preview_enforced": tool.enforced,
        })
    };
    host.tools().iter().map(tool).collect()
}

/// What the table's last column does not say.
pub(super) const MEANING: &str = "\
approval_required (3): a call can destroy, spend or expose. The first call changes nothing and answers with a preview and
a single-use token; only a second call with the same arguments and that token runs. A tool may find one call milder than
its level (a new file is created, none overwritten): that one runs at once, unless you raised the tool's level yourself.
The token orders the two calls; it does not prove that a person agreed.";

/// A level with where it comes from, where the operator raised it.
pub(super) fn level(level: Level, declared: Level) -> String {
    if level == declared { level.to_string() } else { format!("{level} (raised from {declared})") }
}

/// What a call of a listed tool does.
pub(super) fn what_a_call_does(host: &Host, tool: &Listing) -> String {
    match host.denied_by(&tool.name) {
        Some(denied) if denied.no_answer => format!("denied: rule {} has no answer", denied.rule),
        Some(denied) => format!("denied by rule {}", denied.rule),
        None if tool.confirmed_by_rule => "runs at once, unless a rule asks for a confirmation".to_owned(),
        None => what_happens(tool.level, tool.always_confirmed).to_owned(),
    }
}

/// What a call of a tool with this ceiling does. `always`: whatever its plan says.
pub(super) fn what_happens(level: Level, always: bool) -> &'static str {
    match level {
        Level::Safe => "runs at once, read-only",
        Level::Caution | Level::Review => "runs at once, recorded",
        Level::ApprovalRequired if always => "always needs a confirmation",
        Level::ApprovalRequired => "needs a confirmation, unless its plan is milder",
    }
}
