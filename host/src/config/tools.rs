//! What the operator says of tools against the tools that the loaded plug-ins have. Whether a level raises is the gate's
//! decision: here it only gets its place.

use super::{Config, PluginConfig};
use crate::names::Names;
use crate::tool::{Declaration, NAME_RULE, is_name};
use crate::{Error, Level, text};
use std::collections::{BTreeMap, BTreeSet};

/// The tools that were let in so far, of all plug-ins.
#[derive(Clone, Debug, Default)]
pub struct Admitted {
    /// The plug-in of each listed name.
    names: BTreeMap<String, String>,
    /// The same, as people tell them apart.
    looks: Names,
}

/// A level that the operator wrote for a tool.
#[derive(Debug, PartialEq, Eq)]
pub struct Raise {
    /// The listed name.
    pub tool: String,
    /// What the plug-in declares.
    pub declared: Level,
    /// What the operator wrote.
    pub level: Level,
    /// Where, for [`Places::error`](super::Places::error).
    pub place: String,
}

impl Config {
    /// Checks one plug-in's part against the tools that it declares (all of them, under its own names), and returns the
    /// operator's levels by listed name.
    ///
    /// # Errors
    /// [`ErrorKind::Config`](crate::ErrorKind::Config), with the line: a tool that the plug-in does not have or that is
    /// switched off, a name that is taken twice, that people would take for another, or that is none.
    pub fn admit(
        &self,
        plugin: &PluginConfig,
        declared: &[Declaration],
        admitted: &mut Admitted,
    ) -> Result<Vec<Raise>, Error> {
        let of = |part: &str, tool: &str| format!("plugins.{}.{part}.{tool}", plugin.name);
        let own: BTreeSet<&str> = declared.iter().map(|tool| tool.name.as_str()).collect();
        let on = |tool: &str| plugin.options.tools.as_ref().is_none_or(|tools| tools.iter().any(|on| on == tool));
        if let Some(tool) = plugin.options.tools.iter().flatten().find(|tool| !own.contains(tool.as_str())) {
            return Err(self.places.error(&of("tools", tool), &unknown(tool, &own)));
        }
        let renamed = plugin.options.rename.keys().map(|tool| ("rename", tool));
        for (part, tool) in renamed.chain(plugin.levels.keys().map(|tool| ("levels", tool))) {
            if !own.contains(tool.as_str()) {
                return Err(self.places.error(&of(part, tool), &unknown(tool, &own)));
            }
            if !on(tool) {
                let message = format!(
                    "the tool {} is switched off: add it to `tools` of this plug-in, or take this line out",
                    quoted(tool)
                );
                return Err(self.places.error(&of(part, tool), &message));
            }
        }
        let mut levels = Vec::new();
        for tool in declared.iter().filter(|tool| on(&tool.name)) {
            let listed = plugin.options.rename.get(&tool.name).unwrap_or(&tool.name);
            if !is_name(listed) {
                let message = format!(
                    "its tool {} has a name that clients cannot call: {NAME_RULE}; give it another with `rename`, or switch it off",
                    quoted(listed)
                );
                return Err(self.places.error(&format!("plugins.{}", plugin.name), &message));
            }
            if let Some(other) = admitted.names.insert(listed.clone(), plugin.name.clone()) {
                let message = if other == plugin.name {
                    format!("two of its tools are named {}: give one another name with `rename`", quoted(listed))
                } else {
                    format!(
                        "the plug-in {other:?} has a tool {} already: give one another name with `rename`, or switch it off",
                        quoted(listed)
                    )
                };
                // At the line that gave one of them the name.
                let given = plugin.options.rename.iter().find(|(_, name)| *name == listed).map(|(own, _)| own);
                return Err(self.places.error(&of("rename", given.unwrap_or(&tool.name)), &message));
            }
            if let Err(like) = admitted.looks.take(listed) {
                let other = admitted.names.get(&like).filter(|other| **other != plugin.name);
                let of_other = other.map(|other| format!(" of the plug-in {other:?}")).unwrap_or_default();
                let message = format!(
                    "its tool {} is easily taken for {}{of_other}: give one another name with `rename`, or switch it off",
                    quoted(listed),
                    quoted(&like)
                );
                return Err(self.places.error(&of("rename", &tool.name), &message));
            }
            if let Some(level) = plugin.levels.get(&tool.name) {
                levels.push(Raise {
                    tool: listed.clone(),
                    declared: tool.level,
                    level: *level,
                    place: of("levels", &tool.name),
                });
            }
        }
        Ok(levels)
    }
}

fn unknown(tool: &str, own: &BTreeSet<&str>) -> String {
    let names: Vec<String> = own.iter().map(|name| text::escape(name).into_owned()).collect();
    format!("the plug-in has no tool {}: it has {}; correct the name or take it out", quoted(tool), names.join(", "))
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", text::escape(name))
}
