//! From a configuration to a host, the same way for every verb. What the gate or a plug-in finds wrong gets the line of
//! the configuration that it is about.

use super::locked;
use super::print::note;
use super::wait::{self, loading_file, wait, wait_for};
use crate::audit::Audit;
use crate::cache::Held;
use crate::config::{Admitted, AuditConfig, Chosen, Config, Dirs, PluginConfig, Raise, StoreConfig};
use crate::gate::{Gate, GateError, GateOptions, Settings, SystemClock};
use crate::plugin::{Plugin, PluginOptions, Sandbox, SandboxOptions, Secret};
use crate::store::{MemoryStore, SqliteStore, Store};
use crate::tool::Declaration;
use crate::{Error, ErrorKind, Host, text};
use std::collections::BTreeMap;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

/// Finds and reads the configuration. One that the user names is taken for chosen from then on.
pub(super) fn load(given: Option<&Path>) -> Result<Config, Error> {
    let config = read(given)?;
    if given.is_some()
        && let Err(error) = Chosen::of(&Dirs::of_user()?).note(config.places.file())
    {
        // It has to be named the next time, too.
        tracing::debug!(%error, "the choice of this configuration cannot be noted");
    }
    Ok(config)
}

/// The same, and notes nothing. Of one that was found the user hears which it is.
pub(super) fn read(given: Option<&Path>) -> Result<Config, Error> {
    let file = Config::find(given)?;
    if given.is_none() && file.is_relative() {
        let found = std::path::absolute(&file).unwrap_or_else(|_| file.clone());
        note(&format!("the configuration is {}", text::escape(&found.display().to_string())));
    }
    Config::load(&file)
}

/// The sizes and times that the configuration asks for; whether they can be had is the gate's word.
pub(super) fn settings(config: &Config) -> Settings {
    let mut settings = Settings::default();
    config.gate.apply(&mut settings);
    settings
}

/// The store.
pub(super) fn store(config: &Config) -> anyhow::Result<Arc<dyn Store>> {
    Ok(match &config.store {
        StoreConfig::Memory => Arc::new(MemoryStore::new()),
        StoreConfig::Sqlite(file) => {
            if let Some(folder) = file.parent() {
                // The default one may not exist yet; nobody else has business in it.
                std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(|e| {
                    Error::new(
                        ErrorKind::Io,
                        format!("the directory {} for the store cannot be made: {e}", folder.display()),
                    )
                })?;
            }
            Arc::new(SqliteStore::open(file)?)
        }
    })
}

/// The audit of this process. It makes nothing before its first row.
pub(super) fn audit(config: &Config) -> Result<Option<Audit>, Error> {
    config.audit.as_ref().map(|audit| Audit::open(audit.options(config.places.file()))).transpose()
}

/// The gate alone: for verbs that call no tool.
pub(super) async fn gate(config: &Config) -> anyhow::Result<Gate> {
    loaded_gate(config, load_gate(config, store(config)?)).await
}

fn load_gate(config: &Config, store: Arc<dyn Store>) -> JoinHandle<Result<Gate, Error>> {
    let (settings, cache) = (settings(config), config.cache.clone());
    let options = GateOptions { store, clock: Arc::new(SystemClock), settings, cache };
    tokio::task::spawn_blocking(move || Gate::new(options))
}

async fn loaded_gate(config: &Config, loading: JoinHandle<Result<Gate, Error>>) -> anyhow::Result<Gate> {
    let gate =
        wait_for(|| wait::loading("the gate", config.cache.as_deref(), |folder| Some(Gate::held(folder))), loading)
            .await?;
    Ok(gate.map_err(|e| if e.kind() == ErrorKind::Config { setting(config, &e) } else { e })?)
}

/// The error about the setting that it names, by the key that the configuration has for it.
fn setting(config: &Config, error: &Error) -> Error {
    let text = error.to_string();
    let mut words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '-'));
    let place = |word: &str| format!("gate.{}", word.replace('-', "_"));
    match words.find(|word| config.places.has(&place(word))) {
        Some(word) => config.places.error(&place(word), &text.replacen(word, &word.replace('-', "_"), 1)),
        None => config.places.error("gate", &text),
    }
}

/// Everything: gate, plug-ins, levels.
pub(super) async fn open(config: &Config) -> anyhow::Result<Host> {
    host(config, store(config)?).await
}

/// The same, with nothing written: no store is opened or made, and compiled code is taken from the cache as long as all of it
/// is there.
pub(super) async fn looking(config: &Config) -> anyhow::Result<Host> {
    let sandbox = Sandbox::new(SandboxOptions { cache: None })?;
    let all = |folder: &PathBuf| {
        compiled(folder, Some(&sandbox), &config.plugins).iter().all(|(_, held)| *held == Held::Usable)
    };
    let cache = config.cache.clone().filter(all);
    // The next one needs the room.
    drop(sandbox);
    let config = Config { store: StoreConfig::Memory, audit: None, cache, ..config.clone() };
    host(&config, store(&config)?).await
}

/// How a folder keeps the compiled code of the gate and of each plug-in, by their names. A plug-in that cannot be read is left
/// out: why is said where it is loaded.
pub(super) fn compiled(folder: &Path, sandbox: Option<&Sandbox>, plugins: &[PluginConfig]) -> Vec<(String, Held)> {
    let mut all = vec![("the gate".to_owned(), Gate::held(folder))];
    for (sandbox, part) in sandbox.into_iter().flat_map(|sandbox| plugins.iter().map(move |part| (sandbox, part))) {
        if let Ok(bytes) = Plugin::bytes(&part.source) {
            all.push((part.name.clone(), sandbox.held(folder, &bytes)));
        }
    }
    all
}

/// The same, over a store that is open.
pub(super) async fn host(config: &Config, store: Arc<dyn Store>) -> anyhow::Result<Host> {
    Ok(whole(config, store, None).await?.host)
}

/// A host, the sandbox of its plug-ins, and its audit.
#[derive(Clone)]
pub(super) struct Whole {
    pub(super) host: Host,
    sandbox: Arc<Sandbox>,
    audit: Option<(AuditConfig, Audit)>,
}

impl Whole {
    /// Whether its audit can be written: what is wrong is in the log, mostly before any call meets it. It waits for disks, so
    /// nobody waits for it.
    pub(super) fn look(&self) {
        if let Some((_, audit)) = &self.audit {
            let audit = audit.clone();
            tokio::task::spawn_blocking(move || audit.look());
        }
    }
}

/// The same, where `before` is what is in force now, if anything is. All parts are loaded at once; what is wrong with them
/// is told in their order.
pub(super) async fn whole(config: &Config, store: Arc<dyn Store>, before: Option<&Whole>) -> anyhow::Result<Whole> {
    let variables = variables(config)?;
    // As long as it is written to the same place, it is one audit.
    let same = before.and_then(|before| before.audit.clone()).filter(|(place, _)| Some(place) == config.audit.as_ref());
    let audit = match (same, &config.audit) {
        (None, Some(place)) => Some((place.clone(), Audit::open(place.options(config.places.file()))?)),
        (same, _) => same,
    };
    let gate = load_gate(config, store);
    let sandbox = match before {
        // Each reserves much address space; one is enough for plug-ins of any age.
        Some(before) => Ok(Arc::clone(&before.sandbox)),
        None => {
            let cache = config.cache.clone();
            tokio::task::spawn_blocking(move || Sandbox::new(SandboxOptions { cache })).await?
        }
    };
    let loading = sandbox.as_ref().map(|sandbox| load_plugins(config, sandbox, &variables)).unwrap_or_default();
    let (gate, sandbox) = (loaded_gate(config, gate).await?, sandbox?);
    let mut admitted = Admitted::default();
    let (mut plugins, mut raises) = (Vec::new(), Vec::new());
    for (part, loading) in config.plugins.iter().zip(loading) {
        let (plugin, levels) = plugin(config, part, loading, &sandbox, &mut admitted).await?;
        plugins.push(plugin);
        raises.extend(levels);
    }
    for raise in &raises {
        match gate.ceiling(raise.declared.into(), Some(raise.level.into())).await {
            Ok(_) => {}
            Err(GateError::Misuse(what)) => return Err(config.places.error(&raise.place, &what).into()),
            Err(e) => return Err(Error::new(ErrorKind::Gate, e.to_string()).into()),
        }
    }
    let mut builder = Host::builder(gate);
    if let Some((_, audit)) = &audit {
        builder = builder.audit(audit.clone());
    }
    if let Some(before) = before {
        builder = builder.succeeds(&before.host);
    }
    for plugin in plugins {
        builder = builder.plugin(plugin);
    }
    for raise in raises {
        builder = builder.level(raise.tool, raise.level);
    }
    for rule in &config.rules {
        builder = builder.rule(rule.clone());
    }
    for budget in &config.budgets {
        builder = builder.budget(budget.clone());
    }
    if let Some(name) = &config.gate.confirm_parameter {
        builder = builder.confirm_parameter(name);
    }
    let host = builder.build().await.map_err(|e| match e.kind() {
        ErrorKind::Config | ErrorKind::Policy | ErrorKind::Plugin => {
            config.about_policy(&e).unwrap_or_else(|| about_plugin(config, &e))
        }
        _ => e,
    })?;
    Ok(Whole { host, sandbox, audit })
}

/// The error about the plug-in that it names.
fn about_plugin(config: &Config, error: &Error) -> Error {
    let text = error.to_string();
    let named = config.plugins.iter().find(|part| text.contains(&format!("\"{}\"", part.name)));
    config.places.error(&named.map_or_else(|| "plugins".to_owned(), |part| format!("plugins.{}", part.name)), &text)
}

type Loading = JoinHandle<Result<Plugin, Error>>;

/// The values of each plug-in's variables.
pub(super) fn variables(config: &Config) -> Result<Vec<Variables>, Error> {
    config.plugins.iter().map(|part| config.variables(part)).collect()
}

type Variables = BTreeMap<String, Secret>;

/// Begins to load every plug-in: as many at a time as there are cores, the first ones first.
fn load_plugins(config: &Config, sandbox: &Arc<Sandbox>, variables: &[Variables]) -> Vec<Loading> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let turns = Arc::new(Semaphore::new(cores));
    let load = |(part, variables): (&PluginConfig, &Variables)| {
        let (sandbox, turns) = (Arc::clone(sandbox), Arc::clone(&turns));
        let (source, mut options) = (part.source.clone(), part.options.clone());
        options.env.clone_from(variables);
        tokio::spawn(async move {
            // It is never closed.
            let _turn = turns.acquire().await;
            Plugin::load(&sandbox, &source, options).await
        })
    };
    config.plugins.iter().zip(variables).map(load).collect()
}

fn loading_words(config: &Config, part: &PluginConfig, sandbox: &Sandbox) -> String {
    loading_file(&format!("plug-in {}", part.name), config.cache.as_deref(), sandbox, &part.source)
}

async fn plugin(
    config: &Config,
    part: &PluginConfig,
    loading: Loading,
    sandbox: &Arc<Sandbox>,
    admitted: &mut Admitted,
) -> anyhow::Result<(Plugin, Vec<Raise>)> {
    match wait_for(|| loading_words(config, part, sandbox), loading).await? {
        Ok(plugin) => {
            // The bytes are those that were locked. What they say of themselves may still be another thing each time.
            if let Some(difference) = locked::difference(config, &part.name, &plugin) {
                return Err(locked::refused(config, part, &difference).into());
            }
            let mut after = admitted.clone();
            match config.admit(part, &own_names(&plugin, &part.options), &mut after) {
                Ok(levels) => {
                    *admitted = after;
                    Ok((plugin, levels))
                }
                Err(e) => Err(explain(config, part, sandbox, admitted, e).await?.into()),
            }
        }
        Err(e) if e.kind() == ErrorKind::Config => Err(explain(config, part, sandbox, admitted, e).await?.into()),
        Err(e) => {
            let place = format!("plugins.{}.source", part.name);
            let told = || config.places.error(&place, &e.to_string());
            Err(changed(config, part, sandbox, &e).await?.unwrap_or_else(told).into())
        }
    }
}

/// What changed in a plug-in that is not what was locked, which `error` says: loads it with nothing granted, to see what it is now.
async fn changed(
    config: &Config,
    part: &PluginConfig,
    sandbox: &Arc<Sandbox>,
    error: &Error,
) -> anyhow::Result<Option<Error>> {
    if part.options.lock.is_none() {
        return Ok(None);
    }
    Ok(match bare(config, part, sandbox).await? {
        Ok(plugin) => {
            let difference = locked::difference(config, &part.name, &plugin);
            difference.map(|difference| locked::refused(config, part, &difference))
        }
        // There is nothing to look at, and nothing to lock.
        Err(now) if now.kind() == ErrorKind::Plugin && now.to_string() != error.to_string() => {
            let place = format!("plugins.{}.source", part.name);
            Some(
                config.places.error(&place, &format!("{now}; it is not the file that was locked: copy that one again")),
            )
        }
        Err(_) => None,
    })
}

/// A plug-in as it is, with nothing granted and nothing chosen: with the limits that it is served with, and with what is fixed.
async fn bare(config: &Config, part: &PluginConfig, sandbox: &Arc<Sandbox>) -> anyhow::Result<Result<Plugin, Error>> {
    let (sandbox, source) = (Arc::clone(sandbox), part.source.clone());
    let (limits, fixed) = (part.options.limits.clone(), part.options.fixed.clone());
    let at_hand = Arc::clone(&sandbox);
    let options = PluginOptions { limits, fixed, ..PluginOptions::new(&part.name) };
    wait(|| loading_words(config, part, &at_hand), async move { Plugin::load(&sandbox, &source, options).await }).await
}

/// The best error there is for options that do not fit: loads the plug-in without them, to see what it has.
async fn explain(
    config: &Config,
    part: &PluginConfig,
    sandbox: &Arc<Sandbox>,
    admitted: &Admitted,
    error: Error,
) -> anyhow::Result<Error> {
    let bare = bare(config, part, sandbox).await?;
    if let Ok(plugin) = &bare
        && plugin.declaration().is_some()
        && part.options.declares.is_some()
    {
        let what = "the component says itself what it needs (`counterfoil plugin inspect` shows it): take this out";
        return Ok(config.places.error(&format!("plugins.{}.declares", part.name), what));
    }
    if let Ok(plugin) = bare
        && let Err(better) = config.admit(part, plugin.tools(), &mut admitted.clone())
    {
        return Ok(better);
    }
    // An error that has its line already is as good as it gets.
    let text = error.to_string();
    let placed = text.starts_with(&*config.places.file().display().to_string());
    Ok(if placed { error } else { config.places.error(&format!("plugins.{}", part.name), &text) })
}

/// The tools that are switched on, under the plug-in's own names again.
fn own_names(plugin: &Plugin, options: &PluginOptions) -> Vec<Declaration> {
    let own = |listed: &str| {
        options
            .rename
            .iter()
            .find(|(_, name)| *name == listed)
            .map_or_else(|| listed.to_owned(), |(own, _)| own.clone())
    };
    plugin.tools().iter().map(|tool| Declaration { name: own(&tool.name), ..tool.clone() }).collect()
}
