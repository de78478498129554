//! Plug-ins: what each may use, and its tools.

use super::super::base::{LOCKED, Place};
use super::super::order::Fact::{self, AtLeast, AtMost, Is, Label, Power};
use super::super::order::Facts;
use super::keys::Keys;
use super::{beside, requests, words};
use std::collections::BTreeMap;
use std::path::PathBuf;
use toml::Value;

/// Limits with their defaults: those in milliseconds, those that may be written as sizes, and counts.
const LIMITS: [(&str, u64, Unit); 16] = [
    ("preview", 5000, Unit::Time),
    ("execute", 30_000, Unit::Time),
    ("queue", 60_000, Unit::Time),
    ("memory", 268_435_456, Unit::Size),
    ("output", 8_388_608, Unit::Size),
    ("log", 16_384, Unit::Size),
    ("log_per_minute", 1_048_576, Unit::Size),
    ("stack", 1_048_576, Unit::Size),
    ("http_body", 16_777_216, Unit::Size),
    ("table_elements", 100_000, Unit::Count),
    ("instances", 64, Unit::Count),
    ("handles", 1024, Unit::Count),
    ("http_requests", 64, Unit::Count),
    ("max_concurrent", 1, Unit::Count),
    ("reading", 8, Unit::Count),
    ("per_owner", 64, Unit::Count),
];

#[derive(Clone, Copy)]
enum Unit {
    Time,
    Size,
    Count,
}

/// What the plug-ins have to do with the rest of the file.
#[derive(Default)]
pub struct Parts {
    /// The files that no grant may reach.
    pub files: Vec<PathBuf>,
    /// The directories that are granted, by their real paths, and whether they may be written.
    pub grants: Vec<(PathBuf, bool)>,
    /// The tools that are listed.
    listed: Vec<String>,
}

pub fn all(plugins: Vec<(String, Value)>, place: &Place, facts: &mut Facts) -> Result<Parts, String> {
    let mut parts = Parts::default();
    let mut seen: BTreeMap<PathBuf, usize> = BTreeMap::new();
    for (name, value) in plugins {
        words::name(&name)?;
        if name.eq_ignore_ascii_case("native") {
            return Err("a plug-in with the name of the program's own tools".into());
        }
        let mut table = Keys::of(&name, value)?;
        let source = beside(place, &table.needed("source")?);
        if !source.is_file() {
            return Err(format!("{} is no file", source.display()));
        }
        let count = seen.entry(source.clone()).or_default();
        let of = format!("{} ({count})", source.display());
        *count += 1;
        parts.files.push(source.clone());
        let mut put = |what: String, fact: Fact| drop(facts.insert(format!("{of}: {what}"), fact));
        put("name".into(), Label(name.clone()));
        if name == LOCKED.0 {
            put(format!("is not raised while it is {}", LOCKED.1), Power);
        }
        surroundings(&mut table, place, &mut parts, &mut put)?;
        limits(table.table("limits")?, &mut put)?;
        let levels = tools(&mut table, place.tools(&source), &mut parts.listed, &mut put)?;
        table.end()?;
        facts.extend(levels.into_iter().map(|(tool, level)| (format!("level of {tool}"), AtLeast(level))));
    }
    Ok(parts)
}

/// Directories, requests, variables, what is fixed, and what it is declared to need of them.
fn surroundings(
    table: &mut Keys,
    place: &Place,
    parts: &mut Parts,
    put: &mut dyn FnMut(String, Fact),
) -> Result<(), String> {
    let mut paths = Vec::new();
    for dir in table.list("dirs")? {
        let mut dir = Keys::of("dirs", dir)?;
        let (host, guest) = (dir.needed("host")?, dir.needed("guest")?);
        let writes = requests::writes(dir.text("access")?)?;
        dir.end()?;
        words::guest(&guest)?;
        let real = beside(place, &host).canonicalize().map_err(|error| format!("{host}: {error}"))?;
        if host.is_empty() || !real.is_dir() || paths.contains(&guest) {
            return Err(format!("{host:?} is no directory, or {guest} is taken"));
        }
        put(format!("reads {} as {guest}", real.display()), Power);
        if writes {
            put(format!("writes {} as {guest}", real.display()), Power);
        }
        parts.grants.push((real, writes));
        paths.push(guest);
    }
    for entry in table.list("http")? {
        requests::granted(entry, put)?;
    }
    for (name, value) in table.named("env")? {
        words::variable(&name)?;
        let mut entry = Keys::of(&name, value)?;
        let source = match (entry.text("env")?, entry.text("file")?) {
            (Some(from), None) => format!("{from} of the environment"),
            (None, Some(file)) => {
                let file = beside(place, &file);
                parts.files.push(file.clone());
                file.display().to_string()
            }
            _ => return Err(format!("{name} has no source, or two")),
        };
        entry.end()?;
        put(format!("sees {source}"), Power);
        put(format!("variable {name}"), Label(source));
    }
    let mut fixed = table.table("fixed")?;
    if let Some(moment) = fixed.text("clock")? {
        put("clock".into(), Is(format!("{} ns", words::moment(&moment)?)));
    }
    if let Some(value) = fixed.value("random") {
        let number = value.as_integer().filter(|number| *number >= 0).ok_or(format!("{value} is no seed"))?;
        put("randomness".into(), Is(number.to_string()));
    }
    fixed.end()?;
    if let Some(value) = table.value("declares") {
        requests::declared(value, put)?;
    }
    Ok(())
}

fn limits(mut table: Keys, put: &mut dyn FnMut(String, Fact)) -> Result<(), String> {
    for (key, usual, unit) in LIMITS {
        let value = match unit {
            Unit::Time => table.text(key)?.map(|text| words::time(&text)).transpose()?,
            Unit::Size => table.number(key, true)?.map(u128::from),
            Unit::Count => table.number(key, false)?.map(u128::from),
        };
        put(format!("limit {key}"), AtMost(value.unwrap_or(usual.into())));
    }
    table.end()
}

/// The tools that are listed, under which names, and the levels that the operator wrote for them.
fn tools(
    table: &mut Keys,
    has: &[(&str, counterfoil::Level)],
    listed: &mut Vec<String>,
    put: &mut dyn FnMut(String, Fact),
) -> Result<Vec<(String, u128)>, String> {
    let only = table.texts("tools")?;
    match &only {
        None => put("every tool".into(), Power),
        Some(only) => only.iter().for_each(|tool| put(format!("tool {tool}"), Power)),
    }
    let on = |tool: &str| only.as_ref().is_none_or(|only| only.iter().any(|on| on == tool));
    let known = |tool: &str| has.iter().find(|(name, _)| *name == tool && on(name)).ok_or(format!("no tool {tool:?}"));
    only.iter().flatten().try_for_each(|tool| known(tool).map(drop))?;
    let mut names = BTreeMap::new();
    for (own, new) in table.named("rename")? {
        known(&own)?;
        let new = new.as_str().ok_or(format!("{new} is no name"))?.to_owned();
        words::name(&new)?;
        put(format!("{own} is listed as"), Is(new.clone()));
        names.insert(own, new);
    }
    for (own, _) in has.iter().filter(|(own, _)| on(own)) {
        let name = names.get(*own).cloned().unwrap_or_else(|| (*own).to_owned());
        if listed.contains(&name) {
            return Err(format!("two tools are {name:?}"));
        }
        listed.push(name);
    }
    let mut levels = Vec::new();
    for (own, level) in table.named("levels")? {
        let ((_, declared), level) = (known(&own)?, words::level(&level)?);
        put(format!("level of {own}"), AtLeast(level));
        levels.push((names.get(&own).cloned().unwrap_or(own), level.max(declared.number().into())));
    }
    Ok(levels)
}
