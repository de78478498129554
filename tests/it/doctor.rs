//! `counterfoil doctor`: each check where all is well and where it is not, on real files, stores and servers.

mod clients;
mod place;
mod store;

use counterfoil_tests::program::{Folder, Ran};
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// With a store beside the configuration, which is there already, and with the server in Cursor.
fn ready() -> Folder {
    let folder = Folder::ready();
    let dirs = "dirs = [{ host = \"workspace\", guest = \"/files\", access = \"read-write\" }]";
    let config = format!("[store]\nurl = \"sqlite:state.db\"\n[plugins.files]\nsource = \"files.wasm\"\n{dirs}\n");
    folder.write("work/counterfoil.toml", &config);
    folder.run(&["install", "--client", "cursor", "--yes"]).gave(0, &["wrote"]);
    folder
}

/// Runs it; exit code and words.
#[track_caller]
fn says(folder: &Folder, code: i32, words: &[&str]) -> Ran {
    let ran = folder.run(&["doctor", "--patience", "60"]);
    ran.gave(code, words);
    ran
}

/// The line of the report with all of these words.
#[track_caller]
fn row<'a>(ran: &'a Ran, words: &[&str]) -> &'a str {
    let mut rows = ran.out.lines().filter(|row| words.iter().all(|word| row.contains(word)));
    rows.next().unwrap_or_else(|| panic!("no line with {words:?} in:\n{}\n{}", ran.out, ran.err))
}

fn mode(path: PathBuf, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// Holds a folder to what was in it.
#[track_caller]
pub(super) fn unchanged(folder: &Path, before: &BTreeMap<PathBuf, (u32, i64, Vec<u8>)>) {
    let after = everything(folder);
    let other = |path: &&PathBuf| before.get(*path) != after.get(*path);
    let changed: BTreeSet<_> = before.keys().chain(after.keys()).filter(other).collect();
    assert!(changed.is_empty(), "changed: {changed:?}");
}

/// Everything in a folder: names, modes, times of change and contents.
pub(super) fn everything(folder: &Path) -> BTreeMap<PathBuf, (u32, i64, Vec<u8>)> {
    let mut all = BTreeMap::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(dir) = waiting.pop() {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            let found = path.symlink_metadata().unwrap();
            let content = if found.is_file() { std::fs::read(&path).unwrap() } else { Vec::new() };
            let changed = if found.is_file() { found.mtime_nsec() } else { 0 };
            if found.is_dir() {
                waiting.push(path.clone());
            }
            all.insert(path, (found.mode(), changed, content));
        }
    }
    all
}

#[test]
fn where_all_is_well_it_says_so_and_changes_nothing() {
    let folder = ready();
    let before = everything(&folder.path(""));
    let ran = says(&folder, 0, &["nothing is wrong"]);
    assert!(!ran.out.contains("warning") && !ran.out.contains("wrong  "), "{}", ran.out);
    for words in [
        &["ok", "program", env!("CARGO_PKG_VERSION"), "counterfoil"][..],
        &["ok", "machine", "the clock is not behind"],
        &["ok", "configuration", "work/counterfoil.toml is used", "of the working directory"],
        &["ok", "plug-in", "files.wasm", "sha256", "lists 8 tools"],
        &["ok", "plug-in", "workspace can be read and written"],
        &["ok", "configuration", "names, levels and limits fit: 8 tools"],
        &["ok", "store", "state.db is whole"],
        &["ok", "store", "no run is lost"],
        &["ok", "store", "0 of 10000"],
        &["ok", "client", "Cursor", "starts this program with"],
        &["ok", "server", "of Cursor answered in", "ms, and listed 8 tools in"],
    ] {
        row(&ran, words);
    }
    unchanged(&folder.path(""), &before);
}

#[test]
fn where_nothing_has_been_started_yet_nothing_is_made() {
    let folder = Folder::ready();
    let before = everything(&folder.path(""));
    let mut command = folder.command(&["doctor"]);
    let output = command.env("XDG_CACHE_HOME", folder.path("cache")).output().unwrap();
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{shown}");
    for words in ["2 of 2 are not compiled yet", "state.db is not there yet", "this configuration answered", "install"]
    {
        assert!(shown.contains(words), "{words} in {shown}");
    }
    unchanged(&folder.path(""), &before);
}

#[test]
fn for_programs_there_is_json() {
    let folder = ready();
    let report = folder.run(&["doctor", "--json"]).json();
    assert_eq!((&report["wrong"], &report["warnings"]), (&0.into(), &0.into()), "{report}");
    let server = report["checks"].as_array().unwrap().iter().find(|check| check["part"] == "server").unwrap();
    assert_eq!((&server["state"], &server["tools"]), (&"ok".into(), &8.into()));
    assert!(
        server["initialize_ms"].as_f64().unwrap() > 0.0
            && server["tools_ms"].as_f64() > server["initialize_ms"].as_f64()
    );
    std::fs::remove_file(folder.path("work/files.wasm")).unwrap();
    let ran = folder.run(&["doctor", "--json"]);
    assert_eq!(ran.code, 2);
    let report = ran.json();
    let wrong = report["checks"].as_array().unwrap().iter().filter(|check| check["state"] == "wrong").count();
    assert_eq!(report["wrong"], wrong, "{report}");
    assert!(report.to_string().contains("correct the path"), "{report}");
}
