//! What each plug-in may use.

use super::Seen;
use crate::cli::powers::{Powers, leads_to, source};
use crate::config::PluginConfig;
use crate::plugin::Plugin;
use serde_json::{Value, json};

pub(super) fn print(seen: &Seen) -> anyhow::Result<()> {
    let mut powers = Powers::new();
    for plugin in seen.host.plugins() {
        powers.add(plugin, part(seen, plugin));
    }
    powers.print("no plug-in is granted anything")
}

pub(super) fn json(seen: &Seen) -> Value {
    let all = seen.host.plugins().iter().flat_map(|plugin| plugin.grants().iter().map(move |grant| (plugin, grant)));
    let told = all.map(|(plugin, grant)| {
        json!({
            "plugin": plugin.name(), "kind": grant.kind.name(), "what": grant.what,
            "is": Some(source(part(seen, plugin), grant)).filter(|source| !source.is_empty()),
            "leads_to": leads_to(part(seen, plugin), grant), "may": grant.may, "why": grant.why,
        })
    });
    told.collect()
}

fn part<'a>(seen: &'a Seen, plugin: &Plugin) -> Option<&'a PluginConfig> {
    seen.config.plugins.iter().find(|part| part.name == plugin.name())
}
