//! From a configuration to a host, the same way for every verb. What the gate or a plug-in finds wrong gets the line of
//! the configuration that it is about.

use super::wait::wait;
use crate::config::{Admitted, Config, PluginConfig, Raise, StoreConfig};
use crate::gate::{Gate, GateError, GateOptions, Settings, SystemClock};
use crate::plugin::{Plugin, PluginOptions, Sandbox, SandboxOptions};
use crate::store::{MemoryStore, SqliteStore, Store};
use crate::tool::Declaration;
use crate::{Error, ErrorKind, Host};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;
use std::sync::Arc;

/// Finds and reads the configuration.
pub(super) fn load(given: Option<&Path>) -> Result<Config, Error> {
    Config::load(&Config::find(given)?)
}

/// The gate alone: for verbs that call no tool.
pub(super) async fn gate(config: &Config) -> anyhow::Result<Gate> {
    let store: Arc<dyn Store> = match &config.store {
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
    };
    let mut settings = Settings::default();
    config.gate.apply(&mut settings);
    let options = GateOptions { store, clock: Arc::new(SystemClock), settings, cache: config.cache.clone() };
    let gate = wait("compiling the gate".into(), async move { Gate::new(options) }).await?;
    Ok(gate.map_err(|e| if e.kind() == ErrorKind::Config { setting(config, &e) } else { e })?)
}

/// The error about the setting that it names.
fn setting(config: &Config, error: &Error) -> Error {
    let text = error.to_string();
    let words =
        text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '-')).map(|word| word.replace('-', "_"));
    let place = words.map(|word| format!("gate.{word}")).find(|place| config.places.has(place));
    config.places.error(place.as_deref().unwrap_or("gate"), &text)
}

/// Everything: gate, plug-ins, levels.
pub(super) async fn open(config: &Config) -> anyhow::Result<Host> {
    let gate = gate(config).await?;
    let sandbox = Sandbox::new(SandboxOptions { cache: config.cache.clone() })?;
    let mut admitted = Admitted::default();
    let (mut plugins, mut raises) = (Vec::new(), Vec::new());
    for part in &config.plugins {
        let (plugin, levels) = plugin(config, part, &sandbox, &mut admitted).await?;
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
    for plugin in plugins {
        builder = builder.plugin(plugin);
    }
    for raise in raises {
        builder = builder.level(raise.tool, raise.level);
    }
    if let Some(name) = &config.gate.confirm_parameter {
        builder = builder.confirm_parameter(name);
    }
    Ok(builder.build().await.map_err(|e| match e.kind() {
        ErrorKind::Config | ErrorKind::Policy | ErrorKind::Plugin => about_plugin(config, &e),
        _ => e,
    })?)
}

/// The error about the plug-in that it names.
fn about_plugin(config: &Config, error: &Error) -> Error {
    let text = error.to_string();
    let named = config.plugins.iter().find(|part| text.contains(&format!("\"{}\"", part.name)));
    config.places.error(&named.map_or_else(|| "plugins".to_owned(), |part| format!("plugins.{}", part.name)), &text)
}

async fn plugin(
    config: &Config,
    part: &PluginConfig,
    sandbox: &Arc<Sandbox>,
    admitted: &mut Admitted,
) -> anyhow::Result<(Plugin, Vec<Raise>)> {
    match loaded(part, sandbox, part.options.clone()).await? {
        Ok(plugin) => {
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
        Err(e) => Err(config.places.error(&format!("plugins.{}.source", part.name), &e.to_string()).into()),
    }
}

async fn loaded(
    part: &PluginConfig,
    sandbox: &Arc<Sandbox>,
    options: PluginOptions,
) -> anyhow::Result<Result<Plugin, Error>> {
    let (sandbox, source) = (Arc::clone(sandbox), part.source.clone());
    wait(format!("compiling plug-in {}", part.name), async move { Plugin::load(&sandbox, &source, options).await })
        .await
}

/// The best error there is for options that do not fit: loads the plug-in without them, to see what it has.
async fn explain(
    config: &Config,
    part: &PluginConfig,
    sandbox: &Arc<Sandbox>,
    admitted: &Admitted,
    error: Error,
) -> anyhow::Result<Error> {
    if let Ok(plugin) = loaded(part, sandbox, PluginOptions::new(&part.name)).await?
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
