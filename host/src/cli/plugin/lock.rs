//! `plugin lock [NAME…]`: shows what each plug-in is and what changed since it was locked, and writes it down.

use super::super::ask::agreed;
use super::super::locked;
use super::super::print::{Table, bold, inset, line, loud, note, out};
use super::super::tools::what_happens;
use super::super::wait::{KEPT, wait};
use super::super::{Usage, exit, open};
use crate::config::{Config, Difference, Lock, PluginConfig, guard};
use crate::plugin::{Access, Plugin, PluginOptions, Sandbox, SandboxOptions};
use crate::{Level, text};
use anyhow::Context as _;
use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::Arc;

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  counterfoil plugin lock
  counterfoil plugin lock files --yes
  counterfoil plugin lock --check")]
pub(in crate::cli) struct Args {
    /// Plug-ins of the configuration [default: all of them]
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Write nothing; exit code 2 where something is not as it was locked
    #[arg(long)]
    check: bool,
    /// Write without asking
    #[arg(long, short, conflicts_with = "check")]
    yes: bool,
}

pub(super) async fn run(args: Args, given: Option<&Path>) -> anyhow::Result<u8> {
    let config = open::load(given)?;
    if let Some(name) = args.names.iter().find(|name| !config.plugins.iter().any(|part| part.name == **name)) {
        let has: Vec<&str> = config.plugins.iter().map(|part| part.name.as_str()).collect();
        let has = if has.is_empty() { "no plug-in".to_owned() } else { has.join(", ") };
        return Err(Usage(format!("there is no plug-in {name:?}: the configuration has {has}")).into());
    }
    let sandbox = Sandbox::new(SandboxOptions { cache: config.cache.clone() })?;
    let mut lock = config.lock.clone();
    let mut differs = false;
    for part in config.plugins.iter().filter(|part| args.names.is_empty() || args.names.contains(&part.name)) {
        let plugin = load(&sandbox, part)
            .await
            .map_err(|e| config.places.error(&format!("plugins.{}.source", part.name), &e.to_string()))?;
        let found = locked::pinned(&plugin);
        let before = lock.plugins.get(&part.name);
        let difference = before.and_then(|before| Difference::between(before, &found));
        if before.is_some() && difference.is_none() {
            line(&format!("{} is as it was locked", bold(&part.name)))?;
            continue;
        }
        differs = true;
        show(part, &plugin, difference.as_ref())?;
        lock.plugins.insert(part.name.clone(), found);
    }
    if args.names.is_empty() {
        let before = lock.plugins.len();
        lock.plugins.retain(|name, _| config.plugins.iter().any(|part| part.name == *name));
        if let Some(what) = locked::gone(&config).filter(|_| lock.plugins.len() < before) {
            differs = true;
            note(&format!("{what}; this is taken out"));
        }
    }
    let shown = text::escape(&config.lock.file().display().to_string()).into_owned();
    if args.check {
        line(&if differs { format!("\n{shown} does not fit: read the above") } else { format!("{shown} fits") })?;
        return Ok(if differs { exit::USAGE } else { exit::OK });
    }
    if !differs {
        line(&format!("nothing to write: {shown} fits"))?;
        return Ok(exit::OK);
    }
    if !args.yes && !agreed(&format!("Lock this in {shown}?"))? {
        note("nothing was written");
        return Ok(exit::OTHER);
    }
    write(&config, &lock)?;
    line(&format!("\nwrote {}", bold(&shown)))?;
    line("a server that runs takes it up on SIGHUP, or when it is started again")?;
    Ok(exit::OK)
}

/// A plug-in with nothing granted: only what it says of itself is wanted.
async fn load(sandbox: &Arc<Sandbox>, part: &PluginConfig) -> anyhow::Result<Plugin> {
    let mut options = PluginOptions::new(&part.name);
    options.limits = part.options.limits.clone();
    // What it says of its tools may depend on it.
    options.fixed = part.options.fixed.clone();
    let (sandbox, source) = (Arc::clone(sandbox), part.source.clone());
    let load = async move { Plugin::load(&sandbox, &source, options).await };
    Ok(wait(format!("compiling plug-in {}{KEPT}", part.name), load).await??)
}

/// What is to be read before it is locked: first of all what will run without a confirmation.
fn show(part: &PluginConfig, plugin: &Plugin, difference: Option<&Difference>) -> anyhow::Result<()> {
    let source = text::escape(&part.source.display().to_string()).into_owned();
    let state = if difference.is_some() { "has changed since it was locked" } else { "is not locked" };
    line(&format!("\n{} {state}: {source} sha256:{}\n", bold(&part.name), plugin.digest()))?;
    if let Some(difference) = difference {
        out(&inset(&difference.lines().join("\n")))?;
        line("")?;
    }
    let level = |own: &str, declared: Level| part.levels.get(own).map_or(declared, |level| declared.max(*level));
    let mut tools: Vec<_> = plugin.own_tools().iter().collect();
    tools.sort_by_key(|tool| match level(&tool.name, tool.level) {
        Level::Review => 0,
        Level::Caution => 1,
        Level::ApprovalRequired => 2,
        Level::Safe => 3,
    });
    let mut table = Table::new(["TOOL", "LEVEL", "A CALL"]);
    for tool in &tools {
        let level = level(&tool.name, tool.level);
        let raised = level == Level::ApprovalRequired && part.levels.contains_key(&tool.name);
        let happens = what_happens(level, tool.critical || raised);
        table.row([tool.name.clone(), super::super::tools::level(level, tool.level), happens.to_owned()]);
    }
    out(&inset(&table.to_string()))?;
    let writes =
        |tool: &&&crate::tool::Declaration| matches!(level(&tool.name, tool.level), Level::Caution | Level::Review);
    let at_once: Vec<String> = tools.iter().filter(writes).map(|tool| text::escape(&tool.name).into_owned()).collect();
    let dirs: Vec<&str> =
        part.options.dirs.iter().filter(|dir| dir.access == Access::ReadWrite).map(|dir| dir.guest.as_str()).collect();
    let may = if dirs.is_empty() {
        "no directory that it may write is granted".to_owned()
    } else {
        format!("granted to write: {}", text::escape(&dirs.join(", ")))
    };
    line("")?;
    line(&if at_once.is_empty() {
        format!("no tool of it is declared to change something without a confirmation; {may}")
    } else {
        loud(&format!("once locked, these run at once and may change something: {}; {may}", at_once.join(", ")))
    })?;
    line("the levels are the plug-in's own word: raise what you doubt under [plugins.NAME.levels]")?;
    Ok(())
}

/// Puts the lock in its place, whole, with the mode of the one that it follows.
pub(in crate::cli) fn write(config: &Config, lock: &Lock) -> anyhow::Result<()> {
    put(config.lock.file(), &lock.text())
}

/// The same, for a text.
pub(in crate::cli) fn put(file: &Path, text: &str) -> anyhow::Result<()> {
    let shown = || text::escape(&file.display().to_string()).into_owned();
    if let Some(what) = guard::replaceable(file) {
        return Err(Usage(format!("{}: {what}", shown())).into());
    }
    // A link stays one: what it leads to is replaced.
    let target = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let place = || -> std::io::Result<()> {
        let mut draft = tempfile::Builder::new()
            .prefix(".counterfoil-lock-")
            .make_in(folder, |path| fs::OpenOptions::new().write(true).create_new(true).mode(0o644).open(path))?;
        draft.write_all(text.as_bytes())?;
        if let Ok(found) = target.metadata() {
            draft.as_file().set_permissions(found.permissions())?;
        }
        draft.as_file().sync_all()?;
        draft.persist(&target).map_err(|e| e.error)?;
        File::open(folder)?.sync_all()
    };
    place().with_context(|| format!("{} cannot be written", shown()))
}
