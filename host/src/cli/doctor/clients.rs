//! The clients' files: whether each entry of this server leads to a program and a configuration that are there. A command is
//! started only from the user's own files: what a project brings along, its client asks about first.

use super::super::clients::{CLIENTS, Client, STATE, ServerEntry, Source};
use super::super::install;
use super::report::{Part, Report};
use super::{Place, server, shown};
use crate::config::{Config, FILE_NAME, StoreConfig};
use crate::text::escape;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The name that `install` gives.
const NAME: &str = "counterfoil";

/// What to start, and the clients that would.
pub(super) type Found = BTreeMap<ServerEntry, Vec<&'static str>>;

pub(super) fn check(report: &mut Report, place: &Place) -> Found {
    let mut found = Found::new();
    let mut any = false;
    for client in CLIENTS {
        let user = client.file(&place.folders);
        // In the home the two can be one file.
        let same =
            |file: &PathBuf| file.canonicalize().is_ok_and(|file| user.canonicalize().is_ok_and(|user| file == user));
        let project = client.project.map(PathBuf::from).filter(|file| !same(file));
        for (file, own) in [Some((user.clone(), true)), project.map(|file| (file, false))].into_iter().flatten() {
            for entry in entries(report, client, &file) {
                any = true;
                let start = one(report, client, &file, &entry);
                if start && own {
                    found.entry(entry).or_default().push(client.title);
                }
            }
        }
    }
    if !any {
        let what = "no client that is known here has the server";
        report.warning(Part::Client, what, "counterfoil install --client NAME; without NAME it lists them");
    }
    found
}

/// The entries of this server in a client's file: under its name, or with its program.
fn entries(report: &mut Report, client: &Client, file: &Path) -> Vec<ServerEntry> {
    let source = match Source::read(file) {
        Ok(source) if !source.exists() => return Vec::new(),
        Ok(source) => source,
        Err(what) => {
            report.warning(Part::Client, format!("{}: {what}", client.title), "its client cannot read it either");
            return Vec::new();
        }
    };
    let read = || -> Result<Vec<ServerEntry>, super::super::clients::Fault> {
        let ours = |name: &str, entry: &ServerEntry| {
            name == NAME || Path::new(&entry.command).file_name().is_some_and(|file| file == NAME)
        };
        Ok(client.all(&source.text)?.into_iter().filter(|(name, entry)| ours(name, entry)).map(|(_, e)| e).collect())
    };
    let entries = match read() {
        Ok(entries) => entries,
        Err(fault) => {
            let what = format!("{}: {}:{fault}", client.title, shown(&source.path));
            report.warning(
                Part::Client,
                what,
                "correct it by hand: its client may not read it, or otherwise than meant",
            );
            return Vec::new();
        }
    };
    if let Some(what) = source.open_to_others().filter(|_| !entries.is_empty()) {
        report.wrong(Part::Client, format!("{}: {what}", client.title), "");
        return Vec::new();
    }
    entries
}

/// Whether the client would start something with it that can be tried.
fn one(report: &mut Report, client: &Client, file: &Path, entry: &ServerEntry) -> bool {
    let (title, path) = (client.title, shown(file));
    let anew = format!("counterfoil install --client {}", client.name);
    let command = Path::new(&entry.command);
    if entry.command.is_empty() {
        let what = format!("{title}: the entry in {path} has no command that it could start");
        report.wrong(Part::Client, what, anew);
        return false;
    }
    if let Some(foreign) = entry.foreign() {
        let what = format!("{title}: the entry in {path} decides more of what runs than `install` does: {foreign}");
        report.warning(
            Part::Client,
            what,
            "look whether you want that; `install --remove` and `install` make a clean one",
        );
    }
    if !command.is_absolute() {
        let what = format!(
            "{title}: {} in {path} is no absolute path: where the client looks for it nobody knows",
            escape(&entry.command)
        );
        report.warning(Part::Client, what, anew);
        return !entry.disabled;
    }
    if !command.is_file() {
        let what = format!("{title}: the program in {path} is not there: {}", escape(&entry.command));
        report.wrong(Part::Client, what, anew);
        return false;
    }
    match entry.config() {
        Some(config) if Path::new(config).is_absolute() && !Path::new(config).is_file() => {
            let what = format!("{title}: the configuration in {path} is not there: {}", escape(config));
            report.wrong(Part::Client, what, anew);
            return false;
        }
        Some(config) if !Path::new(config).is_absolute() => {
            let what = format!(
                "{title}: {} in {path} is no absolute path: from where the client starts it nobody knows",
                escape(config)
            );
            report.warning(Part::Client, what, anew.clone());
        }
        None => {
            let what = format!(
                "{title}: the entry in {path} names no configuration: one that lies in the folder where the client starts it \
                 comes before that of your configuration directory"
            );
            report.warning(Part::Client, what, anew.clone());
        }
        Some(_) => {}
    }
    if entry.disabled {
        let what = format!("{title}: the server in {path} is switched off");
        report.warning(Part::Client, what, "switch it on in the client");
        return false;
    }
    let ours = std::env::current_exe().and_then(|program| program.canonicalize()).ok();
    if command.canonicalize().ok() != ours {
        let what = format!("{title}: {path} starts another program, {}", entry.line());
        report.warning(Part::Client, what, format!("if that is not what you want: {anew}"));
        return true;
    }
    let config = entry.config().map(|config| format!(" with {}", escape(config))).unwrap_or_default();
    report.ok(Part::Client, format!("{title}: {path} starts this program{config}"));
    true
}

/// Starts what was found; where no client has the server, what `install` would give to one.
pub(super) async fn start(report: &mut Report, place: &Place, mut found: Found, config: Option<&Config>, cache: &Path) {
    if let (true, Some(config)) = (found.is_empty(), config)
        && let Ok(entry) = install::entry(config)
    {
        found.insert(entry, vec!["this configuration"]);
    }
    let scratch = place.scratch.path().join("state");
    for (entry, clients) in found {
        let mut extra: Vec<(&str, &Path)> = cache.parent().map(|cache| ("XDG_CACHE_HOME", cache)).into_iter().collect();
        let who = clients.join(", ");
        match store_of(report, &who, &entry, place) {
            Missing::Default => extra.push((STATE, &scratch)),
            Missing::Named(file) => {
                let what =
                    format!("the server of {who} was not started: its first start makes the store {}", shown(&file));
                report.warning(Part::Server, what, "make it with `counterfoil config check`, then look again");
                continue;
            }
            Missing::Not => {}
        }
        server::start(report, &who, &entry, &extra, &place.folders.home, place.patience).await;
    }
}

/// Whether a start with this entry would make a store.
enum Missing {
    Not,
    Default,
    Named(PathBuf),
}

fn store_of(report: &mut Report, who: &str, entry: &ServerEntry, place: &Place) -> Missing {
    // It is started in the home, with none of this shell's variables.
    let home = &place.folders.home;
    let config = match entry.config() {
        Some(config) => home.join(config),
        None => {
            let of_user = entry.env.get("XDG_CONFIG_HOME").map_or_else(|| home.join(".config"), PathBuf::from);
            let both = [home.clone(), of_user.join("counterfoil")].map(|folder| folder.join(FILE_NAME));
            let [here, of_user] = both;
            if here.exists() { here } else { of_user }
        }
    };
    // One that cannot be read ends the start before there is a store.
    let Ok(config) = Config::load(&config) else { return Missing::Not };
    let StoreConfig::Sqlite(file) = config.store else { return Missing::Not };
    let Ok(inside) = file.strip_prefix(&place.dirs.state) else {
        return if filled(&file) { Missing::Not } else { Missing::Named(file) };
    };
    // The default one is where the entry's own environment says, without which it is in the home.
    let state = entry.env.get(STATE).map_or_else(|| place.folders.home.join(".local/state"), PathBuf::from);
    let folder = state.join("counterfoil");
    if folder != place.dirs.state {
        let what = format!(
            "the server of {who} keeps its store in {}, and this shell finds another in {}",
            shown(&folder),
            shown(&place.dirs.state)
        );
        report.warning(
            Part::Server,
            what,
            "install it anew, so that both find the same: counterfoil install --client NAME",
        );
    }
    if filled(&folder.join(inside)) { Missing::Not } else { Missing::Default }
}

/// Whether a start would find a store there, or something that it refuses.
fn filled(file: &Path) -> bool {
    file.symlink_metadata().is_ok_and(|found| !found.is_file() || found.len() > 0)
}
