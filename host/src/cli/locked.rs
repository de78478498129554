//! What the lock says of the plug-ins that are loaded: one that changed since is refused with the difference, one that was
//! never locked is named, with what that means and how to lock it.

use super::itself::itself;
use super::plugin::asked;
use crate::config::{Config, Difference, FILE_NAME, Pinned, PluginConfig};
use crate::plugin::Plugin;
use crate::{Error, text};
use std::path::Path;

/// How a plug-in differs from what was locked under its name.
pub(super) fn difference(config: &Config, name: &str, plugin: &Plugin) -> Option<Difference> {
    Difference::between(config.lock.plugins.get(name)?, &pinned(plugin))
}

/// A plug-in as it would be locked.
pub(super) fn pinned(plugin: &Plugin) -> Pinned {
    let asks = plugin.declaration().map(asked::rows).unwrap_or_default();
    Pinned::of(plugin, asks.into_iter().map(|row| row.join(" ")).collect())
}

/// The error about a plug-in that is not what was locked.
pub(super) fn refused(config: &Config, part: &PluginConfig, difference: &Difference) -> Error {
    let command = command(config, &part.name);
    let message = format!(
        "plug-in {:?} is not the one that was locked: read what changed below, and if you trust it run `{command}`",
        part.name
    );
    let placed = config.places.error(&format!("plugins.{}.source", part.name), &message);
    Error::new(placed.kind(), format!("{placed}\n{}", difference.brief()))
}

/// The command that locks a plug-in.
pub(super) fn command(config: &Config, name: &str) -> String {
    let file = config.places.file();
    let option = match file == Path::new(FILE_NAME) {
        true => String::new(),
        false => format!(" --config {}", text::escape(&text::shell(&file.display().to_string()))),
    };
    format!("{}{option} plugin lock {name}", itself())
}

/// What to say of each plug-in that nobody has locked.
pub(super) fn unlocked(config: &Config) -> Vec<String> {
    config.plugins.iter().filter_map(|part| hint(config, &part.name)).collect()
}

/// The same, of one.
pub(super) fn hint(config: &Config, name: &str) -> Option<String> {
    let part = config.plugins.iter().find(|part| part.name == name && part.options.lock.is_none())?;
    Some(format!(
        "plug-in {name} is not locked: until it is, every call of a tool that is not declared safe needs a confirmation; \
         look at it and run `{}`",
        command(config, &part.name)
    ))
}

/// What to say of what is locked and no longer there.
pub(super) fn gone(config: &Config) -> Option<String> {
    let names = config.lock.plugins.keys().filter(|name| !config.plugins.iter().any(|part| part.name == **name));
    let names: Vec<&str> = names.map(String::as_str).collect();
    (!names.is_empty()).then(|| {
        format!(
            "{} locks what the configuration does not have: {}",
            text::escape(&config.lock.file().display().to_string()),
            names.join(", ")
        )
    })
}
