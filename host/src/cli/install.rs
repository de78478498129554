//! `install --client NAME`: puts the server into a client's own configuration. Writes nothing that was not shown first,
//! nothing while the server's configuration is not in order, and nothing to a file that it cannot read whole.

mod variables;

use super::ask::agreed;
use super::clients::{CLIENTS, Client, Fault, STATE, ServerEntry, Source, Written, restore};
use super::itself::itself;
use super::print::{Table, bold, inset, line, note, out};
use super::{Usage, exit, open};
use crate::config::{ClientFolders, Config, Dirs, StoreConfig, state_home};
use crate::text::{escape, mask, shell};
use anyhow::Context as _;
use clap::builder::PossibleValuesParser;
use similar::TextDiff;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
#[command(after_help = "\
Shows what would change in the client's file, asks, and keeps a backup beside it. Comments, order and whatever else is in
the file stay as they are.

Examples:
  counterfoil install                                   the clients, and the file of each
  counterfoil install --client claude-desktop           show, ask, write
  counterfoil install --client cursor --project --yes   for the project in this folder, without asking
  counterfoil install --client zed --print              only what is to be pasted by hand
  counterfoil install --client zed --remove             take it out again")]
pub(super) struct Args {
    /// The client; without it the clients are listed
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(CLIENTS.iter().map(|client| client.name)))]
    client: Option<String>,
    /// List the clients, where each keeps its servers, and which of them have this one
    #[arg(long, conflicts_with = "client")]
    list: bool,
    /// The server's name in the client
    #[arg(long, value_name = "NAME", default_value = "counterfoil", value_parser = server_name)]
    name: String,
    /// Write to the project in the working directory instead of the user's own file
    #[arg(long, requires = "client", conflicts_with = "file")]
    project: bool,
    /// Write to this file instead
    #[arg(long, value_name = "PATH", requires = "client")]
    file: Option<PathBuf>,
    /// Do not ask
    #[arg(long, short, requires = "client")]
    yes: bool,
    /// Show what would change and write nothing
    #[arg(long, requires = "client", conflicts_with = "yes")]
    dry_run: bool,
    /// Print what is to be pasted into the client's file, and nothing else
    #[arg(long, requires = "client", conflicts_with_all = ["yes", "dry_run", "remove", "project", "file"])]
    print: bool,
    /// Take the server out of the client's file
    #[arg(long, visible_alias = "uninstall", requires = "client")]
    remove: bool,
}

/// Clients put it into the names of tools.
fn server_name(name: &str) -> Result<String, String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    match !name.is_empty() && name.len() <= 64 && name.chars().all(fits) {
        true => Ok(name.to_owned()),
        false => Err("a name is up to 64 letters, digits, `_` and `-`".to_owned()),
    }
}

pub(super) async fn run(args: Args, config: Option<&Path>) -> anyhow::Result<u8> {
    let folders = ClientFolders::of_user()?;
    let Some(client) = args.client.as_deref().and_then(Client::named).filter(|_| !args.list) else {
        return list(&folders, &args.name);
    };
    let checked = if args.remove { None } else { Some(checked(&args, config).await?) };
    let entry = checked.as_ref().map(entry).transpose()?;
    let untold = |entry: Option<&ServerEntry>| {
        let kept = entry.map(|entry| &entry.env);
        checked.iter().flat_map(|config| variables::left_to_the_entry(config, kept)).for_each(|what| note(&what));
    };
    if let (true, Some(entry)) = (args.print, &entry) {
        out(&client.snippet(&args.name, entry).map_err(|fault| anyhow::anyhow!("{fault}"))?)?;
        untold(Some(entry));
        return Ok(exit::OK);
    }
    let file = file(&args, client, &folders)?;
    let source = Source::read(&file).map_err(Usage)?;
    if let Some(what) = source.open_to_others() {
        return Err(Usage(what).into());
    }
    if args.project {
        source.within(&std::env::current_dir().context("the working directory cannot be read")?).map_err(Usage)?;
    }
    if let Some(real) = source.elsewhere() {
        note(&format!(
            "links lead to another file, which is the one that changes: {}",
            escape(&real.display().to_string())
        ));
    }
    let shown = escape(&source.path.display().to_string()).into_owned();
    let changed = match &entry {
        Some(entry) => client.put(&source.text, &args.name, entry).map(Some),
        None => client.remove(&source.text, &args.name),
    };
    let changed = changed.map_err(|fault| Usage(format!("{shown}:{fault}; the file was left as it is")))?;
    let foreign = match (&entry, changed.as_deref()) {
        (Some(_), Some(text)) => foreign(client, text, &args.name).map_err(|fault| Usage(fault.to_string()))?,
        _ => None,
    };
    let off = match &changed {
        Some(text) if entry.is_some() => {
            client.get(text, &args.name).is_ok_and(|entry| entry.is_some_and(|e| e.disabled))
        }
        _ => false,
    };
    let off = off.then(|| format!("the server {:?} is switched off in {shown}: switch it on in the client", args.name));
    let whole = changed.as_deref().and_then(|text| client.get(text, &args.name).ok().flatten());
    let Some(changed) = changed.filter(|changed| *changed != source.text) else {
        let has = if args.remove { "has no server" } else { "has this very entry under the name" };
        line(&format!("nothing to change: {shown} {has} {:?}", args.name))?;
        foreign.as_ref().map_or(Ok(()), tell)?;
        if let Some(off) = &off {
            note(off);
        }
        untold(whole.as_ref());
        return Ok(exit::OK);
    };
    show(&source, &shown, &changed)?;
    foreign.as_ref().map_or(Ok(()), tell)?;
    if let Some(off) = &off {
        note(off);
    }
    untold(whole.as_ref());
    if source.open_to_group() {
        note(&format!("{shown} can be written by its group: whoever is in it decides what {} starts", client.title));
    }
    if source.has_another_name() {
        note(&format!("{shown} has another name as well (a hard link), under which it will stay as it is"));
    }
    if let Some(folder) = source.missing_folder() {
        let folder = escape(&folder.display().to_string()).into_owned();
        note(&format!("{folder} is not there, and will be made: has {} ever been started here?", client.title));
    }
    if args.dry_run {
        note("nothing was written: that is what --dry-run says");
        return Ok(exit::OK);
    }
    if !args.yes && !agreed(&format!("Write this to {shown}?"))? {
        note("nothing was written");
        return Ok(exit::OTHER);
    }
    let Written { backup, unsettled } = source.write(&changed, args.project).map_err(anyhow::Error::msg)?;
    line(&format!("\nwrote {}", bold(&shown)))?;
    if let Some(e) = unsettled {
        let kept = backup.as_ref().map(|backup| format!("; backup at {}", escape(&backup.display().to_string())));
        note(&format!("it is written, perhaps not yet on disk ({e}){}", kept.unwrap_or_default()));
    }
    if let Some(backup) = backup {
        line(&format!("to undo it: {}", escape(&restore(&backup, &source.path))))?;
    }
    if !args.remove {
        line(&format!("{}: {}", client.title, client.after))?;
        let config = config.map(|file| format!(" --config {}", shell(&file.display().to_string()))).unwrap_or_default();
        let doctor = escape(&format!("{}{config} doctor", itself())).into_owned();
        line(&format!("`{doctor}` starts the server as the client would, and says what is wrong"))?;
    }
    Ok(exit::OK)
}

/// The configuration, once everything in it has been loaded as `serve` would: what does not start is not installed. A variable
/// that is not set here may be set in the client's entry. Where nothing is to be written, the store is left out, and so is the cache
/// unless it has all of it.
async fn checked(args: &Args, given: Option<&Path>) -> anyhow::Result<Config> {
    let looking = args.print || args.dry_run;
    let config = if looking { open::read(given)? } else { open::load(given)? };
    let set = variables::without_unset(&config);
    let host = if looking { open::looking(&set).await? } else { open::open(&set).await? };
    if host.tools().is_empty() {
        note("this configuration has no tool yet: add a plug-in under [plugins.NAME]");
    }
    Ok(config)
}

/// How a client starts the server. Every path is absolute: nobody knows where a client runs.
pub(super) fn entry(config: &Config) -> anyhow::Result<ServerEntry> {
    let program = std::env::current_exe().context("the path of this program is not known")?;
    if !program.is_file() {
        return Err(Usage(format!("this program's file is gone: {}", program.display())).into());
    }
    let file = place(config.places.file())?;
    let args = ["serve", "--config"].map(str::to_owned).into_iter().chain([plain(&file)?]).collect();
    let mut entry = ServerEntry { command: plain(&program)?, args, ..ServerEntry::default() };
    // Where the default store is, for this user's shell: a client that was started from a menu does not know it.
    if let (StoreConfig::Sqlite(store), Ok(dirs), Some(state)) = (&config.store, Dirs::of_user(), state_home())
        && store.starts_with(dirs.state)
    {
        entry.env.insert(STATE.to_owned(), plain(&state)?);
    }
    Ok(entry)
}

/// Where a file is, with no `..` on the way, which would end where that folder does; a link stays one, since what stands in
/// a configuration is looked for beside it.
fn place(file: &Path) -> std::io::Result<PathBuf> {
    let file = std::path::absolute(file)?;
    match (file.parent(), file.file_name()) {
        (Some(folder), Some(name)) => Ok(folder.canonicalize()?.join(name)),
        _ => Ok(file),
    }
}

/// A path as a client reads it.
fn plain(path: &Path) -> Result<String, Usage> {
    let text = path.to_str().filter(|text| !text.chars().any(char::is_control));
    let shown = || escape(&path.display().to_string()).into_owned();
    match text {
        None => Err(Usage(format!("{} cannot be written into a client's file: give it a plain name", shown()))),
        Some(text) if text.contains('$') => {
            let what = "clients take `$` for the start of a variable: give it a name without one";
            Err(Usage(format!("{}: {what}", shown())))
        }
        Some(text) => Ok(text.to_owned()),
    }
}

fn file(args: &Args, client: &Client, folders: &ClientFolders) -> Result<PathBuf, Usage> {
    if let Some(file) = &args.file {
        return Ok(file.clone());
    }
    if !args.project {
        return Ok(client.file(folders));
    }
    client.project.map(PathBuf::from).ok_or_else(|| {
        let have: Vec<_> = CLIENTS.iter().filter(|client| client.project.is_some()).map(|client| client.name).collect();
        let title = client.title;
        Usage(format!("{title} has no file for a project: leave out --project, or take one of {}", have.join(", ")))
    })
}

/// What an entry keeps that decides what runs, and the whole of it.
struct Foreign {
    what: String,
    entry: String,
}

fn foreign(client: &Client, text: &str, name: &str) -> Result<Option<Foreign>, Fault> {
    let what = client.get(text, name)?.and_then(|entry| entry.foreign());
    what.map(|what| Ok(Foreign { what, entry: client.whole(text, name)? })).transpose()
}

fn tell(foreign: &Foreign) -> anyhow::Result<()> {
    line("\nThe whole entry:")?;
    out(&inset(&mask(&foreign.entry)))?;
    let what = mask(&foreign.what);
    note(&format!("kept as it was, and decides what runs: {what}; take out what you do not know"));
    Ok(())
}

/// What would change, as a unified diff.
fn show(source: &Source, shown: &str, changed: &str) -> anyhow::Result<()> {
    let plus = anstyle::AnsiColor::Green.on_default();
    let minus = anstyle::AnsiColor::Red.on_default();
    let before = if source.exists() { shown } else { "/dev/null" };
    let diff = TextDiff::from_lines(source.text.as_str(), changed);
    for row in diff.unified_diff().context_radius(3).header(before, shown).to_string().lines() {
        // Tabs are how many people indent; whatever else moves a cursor is shown as what it is.
        let safe = row.split('\t').map(escape).collect::<Vec<_>>().join("\t");
        let safe = mask(&safe);
        line(&match row.chars().next() {
            Some('+') => format!("{plus}{safe}{plus:#}"),
            Some('-') => format!("{minus}{safe}{minus:#}"),
            _ => safe.into_owned(),
        })?;
    }
    Ok(())
}

fn list(folders: &ClientFolders, name: &str) -> anyhow::Result<u8> {
    let mut table = Table::new(["CLIENT", "NAME", "FILE", "WHICH", "FOR A PROJECT"]);
    for client in CLIENTS {
        let file = client.file(folders);
        let state = match Source::read(&file) {
            Ok(source) if !source.exists() => "is not there".to_owned(),
            Ok(source) => match client.get(&source.text, name) {
                Ok(Some(_)) => format!("has {name:?}"),
                Ok(None) => "is there".to_owned(),
                Err(fault) => format!("is damaged ({fault})"),
            },
            Err(_) => "cannot be read".to_owned(),
        };
        let project = client.project.unwrap_or("-").to_owned();
        table.row([client.name.to_owned(), client.title.to_owned(), file.display().to_string(), state, project]);
    }
    out(&table.to_string())?;
    line(
        "\nTo write the entry: counterfoil install --client CLIENT. Other clients: --print shows it, --file names a file.",
    )?;
    Ok(exit::OK)
}
