//! The configuration and what it names. A mistake that stops the reading does not hide the files that are missing as well.

use super::super::powers::elsewhere;
use super::super::{locked, open};
use super::report::{Part, Report};
use super::{Place, shown};
use crate::config::{Config, FILE_NAME, StoreConfig, guard};
use crate::plugin::{Access, Plugin, PluginOptions, Sandbox, SandboxOptions};
use crate::text;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Which configuration is used, and why that one.
pub(super) fn find(report: &mut Report, place: &Place, given: Option<&Path>) -> Option<PathBuf> {
    let file = match Config::find(given) {
        Ok(file) => file,
        Err(e) => {
            report.wrong(Part::Configuration, e.to_string(), "");
            return None;
        }
    };
    let of_user = place.dirs.config.join(FILE_NAME);
    let file = std::path::absolute(&file).unwrap_or(file);
    let why = match given {
        Some(_) => "that --config names",
        None if file == of_user => "of your configuration directory, since there is none in the working directory",
        None => "of the working directory, which you chose",
    };
    report.ok(Part::Configuration, format!("{} is used: the one {why}", shown(&file)));
    let same = |other: &Path| other.canonicalize().ok() == file.canonicalize().ok();
    if given.is_none() && file != of_user && of_user.exists() && !same(&of_user) {
        let what = format!("{} is there too, and not used here", shown(&of_user));
        report.warning(Part::Configuration, what, "a server that is started elsewhere without --config uses that one");
    }
    Some(file)
}

/// Reads it by every rule that needs no plug-in.
pub(super) fn load(report: &mut Report, file: &Path) -> Option<Config> {
    match Config::load(file) {
        Ok(config) => {
            let count = config.plugins.len();
            report.ok(Part::Configuration, format!("it can be read; nobody else can write it; plug-ins: {count}"));
            if count == 0 {
                report.warning(Part::Configuration, "there is no plug-in", "add one under [plugins.NAME]");
            }
            Some(config)
        }
        Err(e) => {
            let said = e.to_string();
            report.wrong(Part::Configuration, said.clone(), "");
            further(report, file, &said);
            None
        }
    }
}

/// What else is missing: reading ended with the first mistake.
fn further(report: &mut Report, file: &Path, said: &str) {
    const MAX: u64 = 1 << 20;
    let Ok(text) = guard::read(file, MAX) else { return };
    let Ok(table) = text.parse::<toml::Table>() else { return };
    let folder = file.parent().unwrap_or(Path::new("/"));
    let texts =
        |value: &toml::Value, key: &str| value.get(key).and_then(toml::Value::as_str).map(|path| folder.join(path));
    for (name, plugin) in table.get("plugins").and_then(toml::Value::as_table).into_iter().flatten() {
        let dirs = plugin.get("dirs").and_then(toml::Value::as_array).into_iter().flatten();
        let dirs = dirs.filter_map(|dir| texts(dir, "host")).filter(|dir| !dir.is_dir());
        let source = texts(plugin, "source").filter(|source| !source.is_file());
        for (what, path) in
            source.map(|path| ("file", path)).into_iter().chain(dirs.map(|path| ("granted directory", path)))
        {
            let path = shown(&path);
            if !said.contains(&path) {
                let what = format!("the {what} of plug-in {} is not there: {path}", text::escape(name));
                report.wrong(Part::PlugIn, what, "make it, or correct the path");
            }
        }
    }
}

/// Each plug-in by itself, then all of it together, as `serve` would load it. The store is left out.
pub(super) async fn plugins(report: &mut Report, config: &Config, cache: &Path) {
    // That there is none has been said.
    let Ok(sandbox) = Sandbox::new(SandboxOptions { cache: Some(cache.to_owned()) }) else { return };
    let mut fit = true;
    for part in &config.plugins {
        let mut options = PluginOptions::new(&part.name);
        options.dirs = part.options.dirs.clone();
        options.limits = part.options.limits.clone();
        options.declares = part.options.declares.clone();
        options.fixed = part.options.fixed.clone();
        match config.variables(part) {
            Ok(values) if values.is_empty() => {}
            Ok(_) => report.ok(Part::PlugIn, format!("{}: each of its variables has a value", part.name)),
            Err(e) => {
                fit = false;
                report.wrong(Part::PlugIn, e.to_string(), "");
            }
        }
        let begun = Instant::now();
        match Plugin::load(&sandbox, &part.source, options).await {
            Ok(plugin) => {
                let (tools, took) = (plugin.tools().len(), begun.elapsed().as_millis());
                let digest: String = plugin.digest().chars().take(12).collect();
                let file = shown(&part.source);
                report.ok(
                    Part::PlugIn,
                    format!("{}: {file} (sha256 {digest}…) lists {tools} tools; {took} ms", part.name),
                );
                if let Some(difference) = locked::difference(config, &part.name, &plugin) {
                    fit = false;
                    let what = format!("{} is not the one that was locked:\n{}", part.name, difference.brief());
                    let remedy = format!("if you trust what changed: {}", locked::command(config, &part.name));
                    report.wrong(Part::PlugIn, what, remedy);
                } else if part.options.lock.is_none() {
                    let what = format!(
                        "{} is not locked: every call of a tool that is not declared safe needs a confirmation",
                        part.name
                    );
                    let remedy = format!("look at it, and lock it: {}", locked::command(config, &part.name));
                    report.warning(Part::PlugIn, what, remedy);
                }
            }
            Err(e) => {
                fit = false;
                report.wrong(Part::PlugIn, e.to_string(), "");
            }
        }
        for dir in &part.options.dirs {
            granted(report, &part.name, &dir.host, dir.access);
        }
    }
    if let Some(what) = locked::gone(config) {
        report.warning(Part::Configuration, what, "`counterfoil plugin lock` takes it out");
    }
    if !fit {
        return;
    }
    // The next one needs the room.
    drop(sandbox);
    let whole = Config { store: StoreConfig::Memory, audit: None, cache: Some(cache.to_owned()), ..config.clone() };
    match open::open(&whole).await {
        Ok(host) => {
            let confirmed = host.tools().iter().filter(|tool| tool.level == crate::Level::ApprovalRequired).count();
            let all = host.tools().len();
            let what =
                format!("names, levels and limits fit: {all} tools, {confirmed} of them can need a confirmation");
            report.ok(Part::Configuration, what);
        }
        Err(e) => report.wrong(Part::Configuration, super::super::chain(&e), ""),
    }
}

/// Whether this user can do there what the plug-in may.
fn granted(report: &mut Report, plugin: &str, dir: &Path, access: Access) {
    use rustix::fs::Access as May;
    let (needs, word) = match access {
        Access::ReadOnly => (May::READ_OK | May::EXEC_OK, "read"),
        Access::ReadWrite => (May::READ_OK | May::WRITE_OK | May::EXEC_OK, "read and written"),
    };
    let place = match elsewhere(dir) {
        Some(real) => format!("{} -> {}", shown(dir), shown(&real)),
        None => shown(dir),
    };
    match rustix::fs::access(dir, needs) {
        Ok(()) => report.ok(Part::PlugIn, format!("{plugin}: {place} can be {word}")),
        Err(e) => {
            let what = format!("{plugin}: {place} cannot be {word} by you: {e}");
            report.wrong(Part::PlugIn, what, "correct its permissions, or grant another directory");
        }
    }
}
