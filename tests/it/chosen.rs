//! Which configuration is taken: one that the user chose, and never one that only lies in the working directory.

use counterfoil_tests::program::{Folder, Ran};
use serde_json::json;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;
use std::process::Command;

/// Where the program notes which configurations were chosen.
const NOTES: &str = "home/.local/state/counterfoil/configurations";

/// What a person has to be told of one that was found and not chosen.
const NOT_CHOSEN: [&str; 2] = ["was found here", "counterfoil --config ./counterfoil.toml config check"];

/// Runs the program in another folder than `work`.
fn run_in(folder: &Folder, place: &str, arguments: &[&str]) -> Ran {
    Ran::of(&command_in(folder, place, arguments).output().unwrap())
}

fn command_in(folder: &Folder, place: &str, arguments: &[&str]) -> Command {
    let mut command = folder.command(arguments);
    command.current_dir(folder.path(place));
    command
}

/// A configuration that `config init` made, and one that somebody else put into another folder: it grants that folder's
/// `inner`, and has a command that leaves a trace.
fn with_a_stranger() -> (Folder, PathBuf) {
    let folder = Folder::ready();
    fs::create_dir_all(folder.path("found/inner")).unwrap();
    fs::copy(folder.path("work/files.wasm"), folder.path("found/files.wasm")).unwrap();
    let trace = folder.path("trace");
    let command = json!(["/bin/sh", "-c", format!("cat >/dev/null; id >{}", trace.display())]);
    let config = format!(
        "[audit]\ncheckpoint_command = {command}\n[plugins.files]\nsource = \"files.wasm\"\n\
         dirs = [{{ host = \"inner\", guest = \"/files\", access = \"read-write\" }}]\n"
    );
    folder.write("found/counterfoil.toml", &config);
    (folder, trace)
}

#[test]
fn one_that_only_lies_in_the_working_directory_stops_every_verb_and_runs_nothing() {
    let (folder, trace) = with_a_stranger();
    let of_user = folder.path("home/.config/counterfoil");
    folder.run(&["config", "init", of_user.to_str().unwrap()]).gave(0, &[]);
    let verbs: &[&[&str]] = &[
        &["call", "create_directory", r#"{"path":"q"}"#],
        &["serve"],
        &["tools"],
        &["config", "check"],
        &["policy", "test", "list_files", "{}"],
        &["resolve"],
        &["audit", "verify"],
        &["plugin", "lock", "--yes"],
        &["install", "--client", "cursor", "--yes"],
        &["doctor"],
    ];
    for verb in verbs {
        let ran = run_in(&folder, "found", verb);
        ran.gave(2, &NOT_CHOSEN);
        // It is not passed over for the user's own either.
        ran.gave(2, &["found/counterfoil.toml", "home/.config/counterfoil/counterfoil.toml"]);
    }
    assert!(!trace.exists());
    assert!(!folder.path("found/counterfoil.lock").exists() && !folder.path("home/.cursor").exists());
    assert_eq!(fs::read_dir(folder.path("found/inner")).unwrap().count(), 0);
}

#[test]
fn what_was_made_or_named_once_is_taken_from_then_on_and_said_to_be() {
    let (folder, trace) = with_a_stranger();
    // Made by `config init`.
    let ran = folder.run(&["tools"]);
    ran.gave(0, &["list_files"]);
    assert!(ran.err.contains("work/counterfoil.toml"), "{}", ran.err);
    // Named.
    let named = run_in(&folder, "found", &["--config", "./counterfoil.toml", "config", "check"]);
    named.gave(0, &[]);
    assert!(!named.err.contains("found/counterfoil.toml"), "{}", named.err);
    let ran = run_in(&folder, "found", &["call", "create_directory", r#"{"path":"q"}"#]);
    ran.gave(3, &[]);
    assert!(ran.err.contains("found/counterfoil.toml"), "{}", ran.err);
    let served = Ran::of(&command_in(&folder, "found", &["serve"]).output().unwrap());
    served.gave(0, &["found/counterfoil.toml"]);
    assert!(trace.exists());
    // It is one folder, whatever links lead there.
    symlink(folder.path("found"), folder.path("way")).unwrap();
    run_in(&folder, "way", &["tools"]).gave(0, &["list_files"]);
}

#[test]
fn a_link_to_one_that_was_chosen_is_another_one() {
    let (folder, _) = with_a_stranger();
    // Paths in it, and its lock, are looked for beside the link.
    fs::remove_file(folder.path("found/counterfoil.toml")).unwrap();
    symlink(folder.path("work/counterfoil.toml"), folder.path("found/counterfoil.toml")).unwrap();
    fs::create_dir(folder.path("found/workspace")).unwrap();
    run_in(&folder, "found", &["tools"]).gave(2, &NOT_CHOSEN);
    run_in(&folder, "found", &["--config", "counterfoil.toml", "tools"]).gave(0, &["list_files"]);
    run_in(&folder, "found", &["tools"]).gave(0, &["list_files"]);
}

#[test]
fn one_that_is_not_in_order_was_not_chosen_by_being_named() {
    let (folder, _) = with_a_stranger();
    let good = fs::read_to_string(folder.path("found/counterfoil.toml")).unwrap();
    folder.write("found/counterfoil.toml", "[gate]\nttl = \"1s\"\n");
    run_in(&folder, "found", &["--config", "counterfoil.toml", "tools"]).gave(2, &["15 s to 1 h"]);
    folder.write("found/counterfoil.toml", &good);
    run_in(&folder, "found", &["tools"]).gave(2, &NOT_CHOSEN);
}

#[test]
fn what_nobody_could_note_is_named_each_time() {
    let (folder, _) = with_a_stranger();
    fs::remove_dir_all(folder.path(NOTES)).unwrap();
    fs::write(folder.path(NOTES), "no folder").unwrap();
    let named = run_in(&folder, "found", &["--config", "counterfoil.toml", "tools"]);
    named.gave(0, &["list_files"]);
    assert!(!named.err.contains("configurations"), "{}", named.err);
    run_in(&folder, "found", &["tools"]).gave(2, &NOT_CHOSEN);
    fs::create_dir(folder.path("other")).unwrap();
    let made = run_in(&folder, "other", &["config", "init"]);
    made.gave(0, &["wrote", "name it with --config each time"]);
}

#[test]
fn notes_that_others_could_have_written_count_for_nothing() {
    let folder = Folder::ready();
    folder.run(&["tools"]).gave(0, &[]);
    let notes = folder.path(NOTES);
    fs::set_permissions(&notes, fs::Permissions::from_mode(0o777)).unwrap();
    folder.run(&["tools"]).gave(2, &NOT_CHOSEN);
    folder.run(&["tools"]).gave(2, &["can be written by other users"]);
    fs::set_permissions(&notes, fs::Permissions::from_mode(0o700)).unwrap();
    folder.run(&["tools"]).gave(0, &[]);
    // Nor does a note under another one's name.
    let note = fs::read_dir(&notes).unwrap().next().unwrap().unwrap().path();
    let text = fs::read_to_string(&note).unwrap();
    assert!(text.ends_with("work/counterfoil.toml"), "{text}");
    fs::write(&note, "/elsewhere/counterfoil.toml").unwrap();
    folder.run(&["tools"]).gave(2, &NOT_CHOSEN);
}

#[test]
fn many_that_are_named_at_once_are_all_noted() {
    let folder = Folder::ready();
    let places: Vec<String> = (0..8).map(|number| format!("p{number}")).collect();
    for place in &places {
        fs::create_dir(folder.path(place)).unwrap();
        folder.write(&format!("{place}/counterfoil.toml"), "[store]\nurl = \"memory:\"\n");
    }
    let name = |place: &String| {
        let mut command = command_in(&folder, place, &["--config", "counterfoil.toml", "tools"]);
        command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().unwrap()
    };
    let running: Vec<_> = places.iter().flat_map(|place| [name(place), name(place)]).collect();
    for mut child in running {
        assert!(child.wait().unwrap().success());
    }
    for place in &places {
        run_in(&folder, place, &["tools"]).gave(0, &[place.as_str()]);
    }
    // One for each, and one of `config init`; nothing half written stays.
    assert_eq!(fs::read_dir(folder.path(NOTES)).unwrap().count(), places.len() + 1);
}

#[test]
fn a_grant_to_write_where_a_chosen_one_lies_is_refused_and_one_to_read_it_is_not() {
    let (folder, _) = with_a_stranger();
    run_in(&folder, "found", &["--config", "counterfoil.toml", "tools"]).gave(0, &[]);
    let config = fs::read_to_string(folder.path("work/counterfoil.toml")).unwrap();
    let granting = |host: &str, access: &str| {
        let text = config.replace("./workspace", host).replace("read-write", access);
        folder.write("work/counterfoil.toml", &text);
    };
    granting("../found", "read-write");
    folder.run(&["config", "check"]).gave(2, &["a configuration that you chose", "found/counterfoil.toml"]);
    granting("../found", "read-only");
    folder.run(&["config", "check"]).gave(0, &[]);
    granting("../found/inner", "read-write");
    folder.run(&["config", "check"]).gave(0, &[]);
    // What an agent wrote into its own folder is not taken, and where somebody takes it the grant is refused.
    granting("./workspace", "read-write");
    fs::copy(folder.path("found/files.wasm"), folder.path("files.wasm")).unwrap();
    folder.write("work/workspace/counterfoil.toml", "[plugins.files]\nsource = \"../files.wasm\"\n");
    run_in(&folder, "work/workspace", &["tools"]).gave(2, &NOT_CHOSEN);
    folder.run(&["tools"]).gave(0, &[]);
    run_in(&folder, "work/workspace", &["--config", "counterfoil.toml", "tools"]).gave(0, &[]);
    folder.run(&["tools"]).gave(2, &["a configuration that you chose", "workspace/counterfoil.toml"]);
    // One that is gone is forgotten when the next one is noted, and the message says how to forget one that is not.
    fs::remove_file(folder.path("work/workspace/counterfoil.toml")).unwrap();
    fs::create_dir(folder.path("next")).unwrap();
    run_in(&folder, "next", &["config", "init"]).gave(0, &[]);
    folder.run(&["tools"]).gave(0, &[]);
}

#[test]
fn the_one_in_the_configuration_directory_is_the_users_own() {
    let folder = Folder::new();
    fs::create_dir_all(folder.path("home/.config/counterfoil")).unwrap();
    folder.write("home/.config/counterfoil/counterfoil.toml", "[store]\nurl = \"memory:\"\n");
    let ran = folder.run(&["tools"]);
    ran.gave(0, &[]);
    assert!(!ran.err.contains("counterfoil.toml"), "{}", ran.err);
    run_in(&folder, "home/.config/counterfoil", &["tools"]).gave(0, &[]);
}

#[test]
fn every_entry_that_install_writes_names_its_configuration() {
    let folder = Folder::ready();
    let clients = folder.run(&["install"]).out;
    let names: Vec<&str> = clients.lines().skip(1).filter_map(|line| line.split_whitespace().next()).collect();
    let names: Vec<&str> = names.into_iter().take_while(|name| *name != "To").collect();
    assert!(names.len() > 8, "{clients}");
    for name in names {
        let ran = folder.run(&["install", "--client", name, "--print"]);
        ran.gave(0, &["--config", "work/counterfoil.toml"]);
    }
}
