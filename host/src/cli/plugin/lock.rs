//! `plugin lock [NAME…]`: shows what each plug-in is and what changed since it was locked, and writes it down.

mod shown;

use super::super::ask::agreed;
use super::super::locked;
use super::super::print::{bold, line, note};
use super::super::wait::{loading_file, wait};
use super::super::{Usage, exit, open};
use crate::config::{Config, Difference, Lock, PluginConfig};
use crate::plugin::{Plugin, PluginOptions, Sandbox, SandboxOptions, Secret};
use crate::{Error, ErrorKind, others, text};
use anyhow::Context as _;
use shown::Shown;
use std::collections::BTreeMap;
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
    /// Show long descriptions whole
    #[arg(long)]
    full: bool,
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
        let plugin = load(&sandbox, config.cache.as_deref(), part).await?.map_err(|e| {
            let key = if e.kind() == ErrorKind::Config { "" } else { ".source" };
            config.places.error(&format!("plugins.{}{key}", part.name), &e.to_string())
        })?;
        let found = locked::pinned(&plugin);
        let before = lock.plugins.get(&part.name);
        let difference = before.and_then(|before| Difference::between(before, &found));
        if before.is_some() && difference.is_none() {
            line(&format!("{} is as it was locked", bold(&part.name)))?;
            continue;
        }
        differs = true;
        let shown = Shown { part, plugin: &plugin, before, difference: difference.as_ref(), full: args.full };
        shown.print()?;
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
    unchanged(&config)?;
    put(config.lock.file(), &lock.text())?;
    line(&format!("\nwrote {}", bold(&shown)))?;
    line("a server that runs takes it up on SIGHUP, or when it is started again")?;
    Ok(exit::OK)
}

/// A plug-in with what the configuration grants it, whatever was locked before: to see what it says, and what it may use. No
/// value of a variable is read for that, the names say it.
async fn load(
    sandbox: &Arc<Sandbox>,
    cache: Option<&Path>,
    part: &PluginConfig,
) -> anyhow::Result<Result<Plugin, Error>> {
    let mut options = PluginOptions { lock: None, tools: None, rename: BTreeMap::new(), ..part.options.clone() };
    options.env = part.env.iter().map(|variable| (variable.name.clone(), Secret::new("-"))).collect();
    let (at_hand, sandbox, source) = (Arc::clone(sandbox), Arc::clone(sandbox), part.source.clone());
    let load = async move { Plugin::load(&sandbox, &source, options).await };
    wait(|| loading_file(&format!("plug-in {}", part.name), cache, &at_hand, &part.source), load).await
}

/// Refuses where the lock is another by now than the one that everything was held to and that is about to be replaced.
fn unchanged(config: &Config) -> anyhow::Result<()> {
    if Lock::read(config.places.file())? == config.lock {
        return Ok(());
    }
    let shown = text::escape(&config.lock.file().display().to_string()).into_owned();
    Err(Usage(format!("{shown} was changed meanwhile, and stays as it is: look at the plug-ins again")).into())
}

/// Puts the text of a lock in its place, whole, with the mode of the one that it follows.
pub(in crate::cli) fn put(file: &Path, text: &str) -> anyhow::Result<()> {
    let shown = || text::escape(&file.display().to_string()).into_owned();
    if let Some(what) = others::can_replace(file) {
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
