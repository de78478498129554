//! From what was written to what is meant: every rule that needs no loaded plug-in. Fails at the first mistake.

use super::file::{At, File, GateTable, LimitsTable, PluginTable};
use super::units::{Count, Length, Size};
use super::{
    Chosen, Config, Dirs, FILE_NAME, GateConfig, Lock, Places, PluginConfig, StoreConfig, VariableSource, audit, dirs,
    env, http, rules, shape, under,
};
use crate::names::Names;
use crate::native::Native;
use crate::plugin::manifest::is_guest_path;
use crate::plugin::reach::{Among, Protected, Way, nested};
use crate::plugin::{Declared, DirGrant, Limits, PluginOptions};
use crate::tool::{NAME_RULE, is_name};
use crate::{Error, others, text};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf, absolute};
use std::time::Duration;

/// One page of memory, which is the least that a component can have.
const LEAST_MEMORY: u64 = 64 << 10;

/// Reads and checks the text in `places`. Whether everything in it is of the right kind is looked at beside that, which is as
/// much work as all the rest, and what is wrong with that is told first.
pub(super) fn config(places: Places, lock: Lock, user: &Dirs) -> Result<Config, Error> {
    let written = places.clone();
    let shape = || shape::check::<File>(&written);
    let (shape, config) = std::thread::scope(|scope| {
        let beside = std::thread::Builder::new().spawn_scoped(scope, shape);
        let config = meant(places, lock, user);
        let shape = match beside.map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(shape)) => shape,
            // No thread, or a panic in it: here it is the caller's.
            Ok(Err(_)) | Err(_) => shape(),
        };
        (shape, config)
    });
    shape.and(config)
}

fn meant(mut places: Places, lock: Lock, user: &Dirs) -> Result<Config, Error> {
    let file: File = toml::from_str(places.text()).map_err(|e| {
        let message = advise(e.message());
        e.span().map_or_else(|| places.error_in_file(&message), |span| places.error_unread(span, &message))
    })?;
    // Relative to where the file really is, whatever becomes of the working directory.
    let folder = absolute(places.file()).ok().and_then(|file| file.parent().map(Path::to_owned)).unwrap_or_default();
    let gate = gate(&file.gate, &mut places)?;
    let store = store(file.store.url.as_ref(), &folder, user, &mut places)?;
    let audit = Some(audit::audit(&file.audit, &folder, user, &mut places)?);
    let mut plugins = Vec::with_capacity(file.plugins.len());
    let mut names = Names::with([Native::NAME]);
    for (name, table) in &file.plugins {
        if let Err(like) = names.take(name.get_ref()) {
            let message =
                format!("a plug-in of this name is easily taken for {like:?}, which is taken: give it another name");
            return Err(places.error_at(name.span(), &message));
        }
        let mut plugin = plugin(name, table, &folder, &mut places)?;
        plugin.options.lock = lock.plugins.get(&plugin.name).map(|pinned| pinned.sha256.clone());
        plugins.push(plugin);
    }
    let rules = rules::rules(&file.rules, &mut places)?;
    let budgets = rules::budgets(&file.budgets, &mut places)?;
    let config = Config { gate, store, audit, cache: Some(user.cache.clone()), plugins, lock, rules, budgets, places };
    out_of_reach(&config, user)?;
    not_nested(&config, &file, &folder)?;
    Ok(config)
}

/// Completes the parser's own sentences where they only say what is wrong.
fn advise(message: &str) -> String {
    let message = text::escape(message.trim_end());
    if message.starts_with("unknown field") {
        return format!("{}: correct its spelling or take it out", message.replacen("unknown field", "unknown key", 1));
    }
    if let Some(field) = message.strip_prefix("missing field ") {
        return format!("{field} is missing here: add a line {} = \"…\"", field.trim_matches('`'));
    }
    if message.starts_with("invalid boolean") || message.contains("string values must be quoted") {
        return format!("{message}: a text stands in quotes, such as \"files.wasm\", and true and false in none");
    }
    if message.starts_with("unexpected key or value") {
        return format!("{message}: a text that has \" in it stands in single quotes, such as 'args.path == \"a\"'");
    }
    if message.contains("duplicate key") {
        return format!("{message}: keep one of the two");
    }
    if let Some((_, belongs)) = message.strip_prefix("invalid value: ").and_then(|what| what.split_once(", expected "))
    {
        return format!("this is not what belongs here: write {belongs}");
    }
    unlike(&message).unwrap_or_else(|| message.into_owned())
}

/// The sentence about a value that has words of its own, such as a length of time, and is of another type: whatever has none is
/// looked at before ([`shape`](super::shape)). It says nothing of the value.
fn unlike(message: &str) -> Option<String> {
    let (found, expected) = message.strip_prefix("invalid type: ")?.split_once(", expected ")?;
    let found = text::kind(found, "a table")?;
    let expected = match expected.lines().next()? {
        "a string" => "a text in quotes",
        own => own,
    };
    Some(format!("{found} stands here where {expected} belongs"))
}

fn gate(table: &GateTable, places: &mut Places) -> Result<GateConfig, Error> {
    let mut config = GateConfig::default();
    if let Some(name) = &table.confirm_parameter {
        places.note("gate.confirm_parameter", name.span());
        if !is_name(name.value()) {
            return Err(places.error_at(name.span(), &format!("this cannot be the name of an argument: {NAME_RULE}")));
        }
        config.confirm_parameter = Some(name.value().clone());
    }
    macro_rules! take {
        ($read:ident: $($name:ident),+) => { $(config.$name = $read(table.$name.as_ref(), concat!("gate.", stringify!($name)), places)?;)+ };
    }
    take!(time: ttl, replay_window, tombstone, recent_window, approval_window, cool_down);
    take!(small_size: max_arguments, max_plan, max_precondition, max_outcome, max_output);
    take!(count: max_depth, max_number, max_exponent, pending_per_owner, pending_in_all);
    if config.ttl.is_some_and(|ttl| !(Duration::from_secs(15)..=Duration::from_hours(1)).contains(&ttl)) {
        return Err(places.error("gate.ttl", "a token lives from 15 s to 1 h: write for instance ttl = \"5m\""));
    }
    Ok(config)
}

fn time(value: Option<&At<Length>>, path: &str, places: &mut Places) -> Result<Option<Duration>, Error> {
    Ok(value.map(|value| {
        places.note(path, value.span());
        value.value().0
    }))
}

pub(super) fn size(value: Option<&At<Size>>, path: &str, places: &mut Places) -> Result<Option<u64>, Error> {
    Ok(value.map(|value| {
        places.note(path, value.span());
        value.value().0
    }))
}

fn small_size(value: Option<&At<Size>>, path: &str, places: &mut Places) -> Result<Option<u32>, Error> {
    let Some(bytes) = size(value, path, places)? else { return Ok(None) };
    u32::try_from(bytes)
        .map(Some)
        .map_err(|_| places.error(path, "larger than the gate can count: write less than 4 GiB"))
}

fn count(value: Option<&At<Count>>, path: &str, places: &mut Places) -> Result<Option<u32>, Error> {
    Ok(value.map(|value| {
        places.note(path, value.span());
        value.value().0
    }))
}

fn store(url: Option<&At<String>>, folder: &Path, user: &Dirs, places: &mut Places) -> Result<StoreConfig, Error> {
    let Some(url) = url else { return Ok(StoreConfig::Sqlite(user.state.join("state.db"))) };
    places.note("store.url", url.span());
    let file = match url.value().as_str() {
        "memory:" => return Ok(StoreConfig::Memory),
        text => text
            .strip_prefix("sqlite:")
            .filter(|file| !file.is_empty() && !file.starts_with(':') && !file.starts_with("//")),
    };
    let Some(file) = file else {
        return Err(places.error("store.url", "this is no store: write \"sqlite:FILE\" or \"memory:\""));
    };
    let file = under(folder, file);
    let parent = file.parent().unwrap_or(folder);
    if !parent.is_dir() {
        return Err(places.error(
            "store.url",
            &format!("the directory {} does not exist: make it, or name another file", shown(parent)),
        ));
    }
    if file.is_dir() {
        return Err(places.error("store.url", &format!("{} is a directory: name a file in it", shown(&file))));
    }
    Ok(StoreConfig::Sqlite(file))
}

fn plugin(
    name: &toml::Spanned<String>,
    at: &At<PluginTable>,
    folder: &Path,
    places: &mut Places,
) -> Result<PluginConfig, Error> {
    let (key, table) = (name.span(), at.value());
    let name = name.get_ref();
    if !is_name(name) {
        return Err(places.error_at(key, &format!("this cannot be the name of a plug-in: {NAME_RULE}")));
    }
    let path = format!("plugins.{name}");
    places.note(&path, key);
    places.note(format!("{path}.source"), table.source.span());
    let source = under(folder, table.source.value());
    let found = source.metadata().map_err(|e| {
        places.error(
            &format!("{path}.source"),
            &match e.kind() {
                _ if table.source.value().starts_with('~') => {
                    "a `~` stands for no home directory here: write the whole path".to_owned()
                }
                std::io::ErrorKind::NotFound => {
                    format!("there is no plug-in file {}: correct the path", shown(&source))
                }
                kind => format!("the plug-in file {} cannot be read ({kind}): correct the path", shown(&source)),
            },
        )
    })?;
    if !found.is_file() {
        return Err(places
            .error(&format!("{path}.source"), &format!("{} is not a file: name the component file", shown(&source))));
    }
    if let Some(what) = others::can_write(&source, &found) {
        let message = format!(
            "{} {what}: whoever writes it decides what runs; {}",
            shown(&source),
            others::remedy(&source, &found)
        );
        return Err(places.error(&format!("{path}.source"), &message));
    }
    if let Some(what) = others::can_replace(&source) {
        return Err(places.error(&format!("{path}.source"), &format!("{}: {what}", shown(&source))));
    }
    let mut options = PluginOptions::new(name);
    options.limits = limits(&table.limits, &path, places)?;
    if let Some(tools) = &table.tools {
        let mut seen = BTreeSet::new();
        for tool in tools {
            places.note(format!("{path}.tools.{}", tool.value()), tool.span());
            if !seen.insert(tool.value().clone()) {
                return Err(places.error_at(tool.span(), "this tool is listed twice: keep one of the two"));
            }
        }
        options.tools = Some(tools.iter().map(|tool| tool.value().clone()).collect());
    }
    for (own, listed) in &table.rename {
        places.note(format!("{path}.rename.{}", own.get_ref()), own.span());
        if !is_name(listed.value()) {
            return Err(places.error_at(listed.span(), &format!("this cannot be the name of a tool: {NAME_RULE}")));
        }
        options.rename.insert(own.get_ref().clone(), listed.value().clone());
    }
    for (number, dir) in table.dirs.iter().enumerate() {
        let grant = grant(dir, &options.dirs, folder, places)?;
        places.note(format!("{path}.dirs.{number}"), dir.value().host.span());
        options.dirs.push(grant);
    }
    for (number, entry) in table.http.iter().enumerate() {
        let grant = http::grant(entry, &options.http, places)?;
        places.note(format!("{path}.http.{number}"), entry.value().host.span());
        options.http.push(grant);
    }
    if let Some(written) = &table.declares {
        places.note(format!("{path}.declares"), written.span());
        let declared = Declared::try_from(written.value());
        options.declares = Some(declared.map_err(|what| places.error_at(written.span(), &what))?);
    }
    options.fixed = (&table.fixed).into();
    let env = env::variables(&table.env, &path, folder, places)?;
    let mut levels = BTreeMap::new();
    for (own, level) in &table.levels {
        places.note(format!("{path}.levels.{}", own.get_ref()), own.span());
        levels.insert(own.get_ref().clone(), level.value().0);
    }
    Ok(PluginConfig { name: name.clone(), source, options, env, levels })
}

fn grant(
    at: &At<super::file::DirTable>,
    others: &[DirGrant],
    folder: &Path,
    places: &Places,
) -> Result<DirGrant, Error> {
    let dir = at.value();
    let host = under(folder, dir.host.value());
    if dir.host.value().is_empty() || !host.is_dir() {
        let what = match host.is_file() {
            _ if dir.host.value().is_empty() => {
                "this is empty: write the path of a directory, such as \"./workspace\"".to_owned()
            }
            true => format!("{} is a file: grant the directory that holds it", shown(&host)),
            false if dir.host.value().starts_with('~') => {
                "a `~` stands for no home directory here: write the whole path".to_owned()
            }
            false => format!("the directory {} does not exist: make it, or correct the path", shown(&host)),
        };
        return Err(places.error_at(dir.host.span(), &what));
    }
    let guest = dir.guest.value();
    if !is_guest_path(guest) {
        return Err(places.error_at(dir.guest.span(), "this is no path for a plug-in: write for instance \"/files\""));
    }
    if others.iter().any(|other| other.guest == *guest) {
        return Err(places.error_at(dir.guest.span(), "another directory has this path already: write another path"));
    }
    let real = host
        .canonicalize()
        .map_err(|e| places.error_at(dir.host.span(), &format!("{} cannot be opened ({})", shown(&host), e.kind())))?;
    if let Some(what) = crate::others::can_replace_folder(&host) {
        return Err(places.error_at(dir.host.span(), &format!("{}: {what}", shown(&host))));
    }
    // Links on the way stay in it, so that it is seen when one is turned.
    let host = if others::Steps::of(&host).links.is_empty() { real } else { host };
    Ok(DirGrant { host, guest: guest.clone(), access: dir.access })
}

fn limits(table: &LimitsTable, path: &str, places: &mut Places) -> Result<Limits, Error> {
    let mut limits = Limits::default();
    macro_rules! take {
        ($read:ident: $($name:ident),+) => { $(
            if let Some(value) = $read(table.$name.as_ref(), &format!("{path}.limits.{}", stringify!($name)), places)? { limits.$name = value; }
        )+ };
    }
    take!(time: preview, execute, queue);
    take!(size: memory, output, log, log_per_minute, stack, http_body);
    if limits.memory < LEAST_MEMORY {
        let what = format!(
            "no plug-in can be loaded with less than {} of memory: write for instance \"256 MiB\"",
            text::bytes(LEAST_MEMORY)
        );
        return Err(places.error(&format!("{path}.limits.memory"), &what));
    }
    take!(count: instances, handles, http_requests, max_concurrent, reading, per_owner);
    if let Some(elements) = count(table.table_elements.as_ref(), &format!("{path}.limits.table_elements"), places)? {
        limits.table_elements = elements.into();
    }
    Ok(limits)
}

/// Refuses grants that reach the program's own files: configuration, store, cache, plug-in files, the program itself.
fn out_of_reach(config: &Config, user: &Dirs) -> Result<(), Error> {
    let mut protected = Protected::default();
    protected.add("the configuration", config.places.file());
    // Whoever can put one there decides which plug-ins count as looked at.
    protected.add("the lock of the plug-ins", config.lock.file());
    if let StoreConfig::Sqlite(file) = &config.store {
        // SQLite's own companions stand beside the file, and with them whoever could put them there first.
        for suffix in ["", "-wal", "-shm", "-journal"] {
            let mut name = file.clone().into_os_string();
            name.push(suffix);
            protected.add("the store", &PathBuf::from(name));
        }
    }
    if let Some(cache) = &config.cache {
        protected.add("the cache of compiled plug-ins", cache);
    }
    if let Some(written) = &config.audit {
        audit::protect(written, &mut protected);
    }
    for plugin in &config.plugins {
        protected.add("a plug-in file", &plugin.source);
        for variable in &plugin.env {
            if let VariableSource::File(file) = &variable.source {
                protected.add(format!("the file of the variable {}", variable.name), file);
            }
        }
    }
    let chosen = Chosen::of(user);
    protected.add("the notes of which configurations you chose", chosen.folder());
    for (note, config) in chosen.all() {
        let forget = text::shell(&note.display().to_string());
        protected.add_readable(format!("a configuration that you chose (until you run `rm {forget}`)"), &config);
    }
    // Whoever can put a file there decides what the next start reads, also where this one was told another.
    for folder in [Path::new(""), &user.config] {
        protected.add_readable("a place where the configuration is looked for", &folder.join(FILE_NAME));
    }
    if let Some(program) = dirs::program() {
        protected.add_readable("the program", &program);
    }
    for plugin in &config.plugins {
        for (number, dir) in plugin.options.dirs.iter().enumerate() {
            if let Some(what) = protected.reached(&dir.host, dir.access) {
                let message = format!(
                    "this directory reaches {}: grant one that holds the plug-in's data and nothing else",
                    text::escape(&what)
                );
                return Err(config.places.error(&format!("plugins.{}.dirs.{number}", plugin.name), &message));
            }
        }
    }
    Ok(())
}

/// Refuses a grant that lies inside another that can be written, by the paths as they are written: a link on the way would
/// be followed anew at the next start.
fn not_nested(config: &Config, file: &File, folder: &Path) -> Result<(), Error> {
    let (mut grants, mut written) = (Vec::new(), Vec::new());
    for plugin in &config.plugins {
        let table =
            file.plugins.iter().find(|(name, _)| *name.get_ref() == plugin.name).map(|(_, table)| table.value());
        let dirs = table.map(|table| &table.dirs).into_iter().flatten();
        for (number, (dir, grant)) in dirs.zip(&plugin.options.dirs).enumerate() {
            let way = Way::of(&folder.join(dir.value().host.value()));
            grants.push(Among { plugin: plugin.name.clone(), host: grant.host.clone(), access: grant.access, way });
            written.push(format!("plugins.{}.dirs.{number}", plugin.name));
        }
    }
    let Some((at, what)) = nested(&grants) else { return Ok(()) };
    Err(config.places.error(written.get(at).map_or("plugins", String::as_str), &text::escape(&what)))
}

pub(super) fn shown(path: &Path) -> String {
    text::escape(&path.display().to_string()).into_owned()
}
