//! Variables of plug-ins whose values the server finds in its environment. A client passes on few of its own, so that the others
//! have to stand in its entry, where only a person puts a value.

use super::super::clients::GIVEN;
use crate::config::{Config, VariableSource};
use crate::text::escape;
use std::collections::BTreeMap;

/// The configuration without what is not set here. Loading a plug-in takes no variable, so that everything else is still looked at.
pub(super) fn without_unset(config: &Config) -> Config {
    let mut config = config.clone();
    for part in &mut config.plugins {
        part.env.retain(|variable| match &variable.source {
            VariableSource::Environment(name) => std::env::var_os(name).is_some(),
            VariableSource::File(_) => true,
        });
    }
    config
}

/// What is to be put into the entry by hand, where it has it not.
pub(super) fn left_to_the_entry(config: &Config, entry: Option<&BTreeMap<String, String>>) -> Vec<String> {
    let has = |name: &str| GIVEN.contains(&name) || entry.is_some_and(|entry| entry.contains_key(name));
    let left = config.plugins.iter().flat_map(|part| {
        part.env.iter().filter_map(move |variable| match &variable.source {
            VariableSource::Environment(name) if !has(name) => Some(format!(
                "the server will not start before {} is in the environment that the client gives it ({} of plug-in {} comes from \
                 there): write it under `env` of this entry, or use a file",
                escape(name),
                escape(&variable.name),
                escape(&part.name)
            )),
            VariableSource::Environment(_) | VariableSource::File(_) => None,
        })
    });
    left.collect()
}
