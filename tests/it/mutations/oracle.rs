//! What a configuration says, read a second time and by other means: from the documents, with a table of keys, units and
//! defaults of its own. It knows nothing of how the program reads. Whatever no document allows is an error, an unknown key
//! first of all: the program may refuse more, and must not accept it.

mod keys;
mod plugin;
mod policy;
mod requests;
mod words;

use super::base::Place;
use super::order::Fact::{AtLeast, AtMost, Guard, Is};
use super::order::{Fact, Facts};
use keys::Keys;
use std::path::{Component, Path, PathBuf};
use toml::Value;

/// What a number of milliseconds says.
type Says = fn(u128) -> Fact;

/// Lengths of time of the contract: what is written where nothing is, and the fact that it is.
const TIMES: [(&str, &str, Says); 6] = [
    ("ttl", "5m", AtMost),
    ("approval_window", "30m", AtMost),
    ("replay_window", "5m", AtMost),
    ("tombstone", "24h", AtLeast),
    ("cool_down", "10m", AtLeast),
    ("recent_window", "10m", AtLeast),
];

/// Sizes and counts of the contract. Whether a text with a unit may be written.
const BOUNDS: [(&str, u64, bool); 10] = [
    ("max_arguments", 262_144, true),
    ("max_depth", 64, false),
    ("max_number", 1024, false),
    ("max_exponent", 9999, false),
    ("max_plan", 65_536, true),
    ("max_precondition", 1024, true),
    ("max_outcome", 393_216, true),
    ("max_output", 8_388_608, true),
    ("pending_per_owner", 32, false),
    ("pending_in_all", 10_000, false),
];

/// The files of the program, and what a grant may do to them at most.
type Own = Vec<(PathBuf, Reach)>;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    Nothing,
    Read,
}

/// Reads a configuration.
pub fn read(text: &str, place: &Place) -> Result<Facts, String> {
    let table: toml::Table = text.parse().map_err(|error| format!("it is no TOML: {error}"))?;
    let mut file = Keys::of("the file", Value::Table(table))?;
    let mut facts = Facts::new();
    let hidden = |file| (file, Reach::Nothing);
    let mut own: Own = [place.file(), place.file().with_extension("lock")].map(hidden).to_vec();
    contract(file.table("gate")?, &mut facts)?;
    let store = store(file.table("store")?, place)?;
    if store != "memory" {
        own.extend(["", "-wal", "-shm", "-journal"].map(|end| hidden(PathBuf::from(format!("{store}{end}")))));
    }
    facts.insert("store".into(), Is(store));
    audit(file.table("audit")?, place, &mut own, &mut facts)?;
    let cache = of_user("XDG_CACHE_HOME", ".cache");
    facts.insert("cache".into(), Is(cache.display().to_string()));
    own.push(hidden(cache));
    let plugins: Vec<(String, Value)> = file.named("plugins")?;
    let parts = plugin::all(plugins, place, &mut facts)?;
    own.extend(parts.files.into_iter().map(hidden));
    policy::rules(file.list("rules")?, &mut facts)?;
    policy::budgets(file.list("budgets")?, &mut facts)?;
    file.end()?;
    apart(&parts.grants, &own)?;
    Ok(facts)
}

fn contract(mut gate: Keys, facts: &mut Facts) -> Result<(), String> {
    let name = gate.text("confirm_parameter")?.unwrap_or_else(|| "confirm_token".into());
    words::name(&name)?;
    facts.insert("confirm parameter".into(), Is(name));
    for (key, usual, fact) in TIMES {
        let millis = words::time(&gate.text(key)?.unwrap_or_else(|| usual.into()))?;
        if key == "ttl" && !(15_000..=3_600_000).contains(&millis) {
            return Err("a token lives from 15 s to 1 h".into());
        }
        facts.insert(format!("gate.{key}"), fact(millis));
    }
    for (key, usual, size) in BOUNDS {
        let value = gate.number(key, size)?.unwrap_or(usual);
        u32::try_from(value).map_err(|_| format!("gate.{key} is more than there can be"))?;
        facts.insert(format!("gate.{key}"), AtMost(value.into()));
    }
    gate.end()
}

fn store(mut table: Keys, place: &Place) -> Result<String, String> {
    let url = table.text("url")?;
    table.end()?;
    match url.as_deref() {
        None => Ok(of_user("XDG_STATE_HOME", ".local/state").join("state.db").display().to_string()),
        Some("memory:") => Ok("memory".into()),
        Some(url) => match url.strip_prefix("sqlite:") {
            Some(file) if !file.is_empty() => {
                let file = beside(place, file);
                // Were it a directory, it could not be the file; were its folder none, it could not be made.
                if file.is_dir() || !file.parent().is_some_and(Path::is_dir) {
                    return Err(format!("{} can be no store", file.display()));
                }
                Ok(file.display().to_string())
            }
            _ => Err(format!("{url} is no store")),
        },
    }
}

/// The audit, which there always is.
fn audit(mut table: Keys, place: &Place, own: &mut Own, facts: &mut Facts) -> Result<(), String> {
    let state = of_user("XDG_STATE_HOME", ".local/state");
    let dir = table.text("dir")?.map_or_else(|| state.join("audit"), |dir| beside(place, &dir));
    let mut checkpoints = vec![state.join("checkpoints")];
    checkpoints.extend(table.text("checkpoint")?.map(|further| beside(place, &further)));
    let audit = real(&dir);
    if checkpoints.iter().map(|place| real(place)).any(|place| place.starts_with(&audit) || audit.starts_with(&place)) {
        return Err("the audit and its checkpoints lie in one another".into());
    }
    if let Some(words) = table.texts("checkpoint_command")? {
        let (program, arguments) = words.split_first().ok_or("a command without a program")?;
        let program = beside(place, program);
        if !program.is_file() {
            return Err(format!("{} is no program", program.display()));
        }
        facts.insert(format!("checkpoints by {} {arguments:?}", program.display()), Guard);
        own.push((program, Reach::Read));
    }
    let most = table.number("max_file", true)?.unwrap_or(16_777_216);
    if most < 65_536 {
        return Err("files of the audit that are too small".into());
    }
    table.end()?;
    facts.insert("audit".into(), Is(dir.display().to_string()));
    facts.insert("a file of the audit".into(), Is(most.to_string()));
    facts.extend(checkpoints.iter().map(|place| (format!("checkpoints in {}", place.display()), Guard)));
    own.extend(checkpoints.into_iter().chain([dir]).map(|place| (place, Reach::Nothing)));
    Ok(())
}

/// A folder of the program's in the user's home.
fn of_user(variable: &str, usual: &str) -> PathBuf {
    let moved = std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || PathBuf::from(std::env::var_os("HOME").expect("HOME is set")).join(usual);
    moved.unwrap_or_else(home).join("counterfoil")
}

/// A path that is written, from the configuration's own folder.
fn beside(place: &Place, path: &str) -> PathBuf {
    let parts = place.own().join(path);
    parts.components().filter(|part| *part != Component::CurDir).collect()
}

/// Where a path leads; for what is not there yet, where the folder leads that it would be in.
fn real(path: &Path) -> PathBuf {
    let (there, real) = path.ancestors().find_map(|path| Some((path, path.canonicalize().ok()?))).unwrap();
    real.join(path.strip_prefix(there).unwrap())
}

/// Holds the grants, by real paths and whether they may be written, against the program's own files and each other.
fn apart(grants: &[(PathBuf, bool)], own: &[(PathBuf, Reach)]) -> Result<(), String> {
    for (grant, write) in grants {
        for (file, _) in own.iter().filter(|(_, reach)| *write || *reach == Reach::Nothing) {
            let file = real(file);
            if file.starts_with(grant) || grant.starts_with(&file) {
                return Err(format!("{} reaches {}", grant.display(), file.display()));
            }
        }
        if let Some((outer, _)) =
            grants.iter().find(|(outer, write)| *write && outer != grant && grant.starts_with(outer))
        {
            return Err(format!("{} lies in {}, which may be written", grant.display(), outer.display()));
        }
    }
    Ok(())
}
