//! Configurations: a text is refused with the file that it stands in, or what comes out keeps the promises of the module
//! and of the schema that `config schema` prints. Nothing that is not known is ever passed over.

use counterfoil::config::{Config, Dirs, StoreConfig};
use counterfoil::plugin::Access;
use counterfoil::{Error, ErrorKind, fuzz};
use jsonschema::Validator;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;

/// A folder with what configurations name: beside this program, where nothing else is.
static PLACE: LazyLock<PathBuf> = LazyLock::new(|| {
    let place = std::env::current_exe().unwrap().with_extension("fuzzed");
    for folder in ["data/inner", "other"] {
        std::fs::create_dir_all(place.join(folder)).unwrap();
    }
    for file in ["a.wasm", "b.wasm"] {
        std::fs::write(place.join(file), "").unwrap();
        std::fs::set_permissions(place.join(file), PermissionsExt::from_mode(0o644)).unwrap();
    }
    std::fs::set_permissions(&place, PermissionsExt::from_mode(0o755)).unwrap();
    place.canonicalize().unwrap()
});
static SCHEMA: LazyLock<Validator> = LazyLock::new(|| jsonschema::validator_for(&Config::schema()).unwrap());

/// Holds one text to that. Says what it was.
pub fn check(bytes: &[u8]) -> &'static str {
    let Ok(text) = std::str::from_utf8(bytes) else { return "not UTF-8" };
    let found = read(text);
    let shown = format!("{found:?}");
    assert_eq!(format!("{:?}", read(text)), shown, "read again");
    let unknown = [format!("unknown_to_all = 1\n{text}"), format!("{text}\n[unknown_to_all]\n")];
    for text in unknown {
        assert!(read(&text).is_err(), "a key that nobody knows");
    }
    let remarked = read(&format!("{text}\n# a remark\n"));
    match found {
        Err(error) => {
            refused(text, &error);
            assert!(remarked.is_err(), "a remark makes it good");
            if text.parse::<toml::Table>().is_ok() { "refused" } else { "no TOML" }
        }
        Ok(config) => {
            assert_eq!(format!("{remarked:?}"), shown, "a remark changes it");
            accepted(text, &config);
            if config.plugins.is_empty() { "accepted" } else { "accepted, with plug-ins" }
        }
    }
}

fn read(text: &str) -> Result<Config, Error> {
    fuzz::config(&file(), text, &user())
}

fn file() -> PathBuf {
    PLACE.join("counterfoil.toml")
}

/// Folders that are not there: nothing in them is looked at.
fn user() -> Dirs {
    let own = |name: &str| PLACE.join("home").join(name);
    Dirs { config: own("config"), state: own("state"), cache: own("cache") }
}

fn refused(text: &str, error: &Error) {
    let said = error.to_string();
    assert_eq!(error.kind(), ErrorKind::Config, "{said}");
    assert!(said.starts_with(&file().display().to_string()), "names its file: {said}");
    assert!(!said.contains(|c: char| c.is_control() && c != '\n'), "is safe to show: {said:?}");
    // The line that it shows, with each character as the longest escape, and as much to mark it.
    assert!(said.len() < 20 * text.len() + 4096, "{} bytes of {}", said.len(), text.len());
}

fn accepted(text: &str, config: &Config) {
    let table: toml::Table = text.parse().expect("what is accepted is TOML");
    let value = serde_json::to_value(table).unwrap();
    let faults: Vec<_> = SCHEMA.iter_errors(&value).map(|fault| fault.to_string()).collect();
    assert!(faults.is_empty(), "it is not what the schema says: {faults:?}");

    let life = Duration::from_secs(15)..=Duration::from_secs(3600);
    assert!(config.gate.ttl.is_none_or(|ttl| life.contains(&ttl)));
    let mut own = vec![file()];
    if let StoreConfig::Sqlite(store) = &config.store {
        assert!(store.is_absolute());
        own.push(store.clone());
    }
    own.extend(config.cache.clone());
    own.extend(config.plugins.iter().map(|plugin| plugin.source.clone()));
    for plugin in &config.plugins {
        assert!(plugin.source.is_absolute() && plugin.source.is_file());
        let limits = &plugin.options.limits;
        assert!([limits.preview, limits.execute, limits.queue].iter().all(|time| !time.is_zero()));
        assert!([limits.memory, limits.output, limits.log].iter().all(|size| *size > 0));
        assert!(limits.max_concurrent > 0 && limits.reading > 0 && limits.per_owner > 0);
        for dir in &plugin.options.dirs {
            assert!(dir.host.is_absolute() && dir.host.is_dir() && dir.host.canonicalize().unwrap() == dir.host);
            assert!(dir.guest.starts_with('/') && !dir.guest.contains('\0'));
            for own in &own {
                assert!(!reaches(&dir.host, own), "{} reaches {}", dir.host.display(), own.display());
            }
            let others = config.plugins.iter().flat_map(|plugin| &plugin.options.dirs);
            for other in others.filter(|other| other.access == Access::ReadWrite && other.host != dir.host) {
                assert!(!dir.host.starts_with(&other.host), "lies in what another may write");
            }
        }
    }
}

/// Whether a directory holds a file, or lies in it; by the paths that lead there, links followed as far as there is something.
fn reaches(dir: &Path, own: &Path) -> bool {
    let real = own.ancestors().find_map(|there| Some(there.canonicalize().ok()?.join(own.strip_prefix(there).ok()?)));
    [Some(own.to_owned()), real].into_iter().flatten().any(|own| own.starts_with(dir) || dir.starts_with(&own))
}
