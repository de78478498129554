//! The audit through the real program and real processes: what is written, what is found out, and what cannot happen
//! without it.

mod config;
mod moved;
mod processes;
mod served;
mod shared;

use counterfoil_tests::program::Folder;
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;

/// Where the program keeps the audit unless it is told otherwise.
const DIR: &str = "home/.local/state/counterfoil/audit";

/// The files of an audit, oldest first.
fn files(folder: &Folder, dir: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder.path(dir)).into_iter().flatten().map(|file| file.unwrap().path()).collect();
    files.sort();
    files
}

fn rows(folder: &Folder, dir: &str) -> Vec<Value> {
    let text: String = files(folder, dir).iter().map(|file| fs::read_to_string(file).unwrap()).collect();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Writes a file and deletes it, with what is asked for on the way.
fn story(folder: &Folder) {
    folder.run(&["call", "write_file", r#"{"path":"a.txt","content":"x"}"#, "--json"]).gave(0, &[]);
    folder.run(&["call", "read_file", r#"{"path":"a.txt"}"#, "--json"]).gave(0, &[]);
    let ran = folder.run(&["call", "delete_file", r#"{"path":"a.txt"}"#, "--json"]);
    let token = ran.json()["confirm_token"].as_str().unwrap().to_owned();
    let confirm = ["call", "delete_file", r#"{"path":"a.txt"}"#, "--json", "--confirm", &token];
    folder
        .run(&["call", "delete_file", r#"{"path":"b.txt"}"#, "--json", "--confirm", &token])
        .gave(4, &["params_changed"]);
    folder.run(&confirm).gave(0, &[]);
    folder.run(&confirm).gave(0, &["stored outcome"]);
}

#[test]
fn what_the_program_did_is_recorded_verified_and_shown() {
    let folder = Folder::ready();
    folder.run(&["audit", "verify"]).gave(0, &["has no file"]);
    story(&folder);
    let told: Vec<String> = rows(&folder, DIR)
        .iter()
        .filter(|row| !["opened", "in_force", "closed"].contains(&row["event"].as_str().unwrap()))
        .map(|row| format!("{} {}", row["event"].as_str().unwrap(), row["tool"].as_str().unwrap()))
        .collect();
    let expected = [
        "started write_file",
        "ended write_file",
        "challenge_issued delete_file",
        "refused delete_file",
        "started delete_file",
        "ended delete_file",
        "replayed delete_file",
    ];
    assert_eq!(told, expected, "a safe call leaves nothing");
    folder.run(&["audit", "verify"]).gave(0, &["whole:", "5 files"]);
    let verified = folder.run(&["audit", "verify", "--json"]).json();
    assert_eq!((&verified["whole"], &verified["faults"], &verified["remarks"]), (&json!(true), &json!([]), &json!([])));

    let shown = folder.run(&["audit", "show", "--tool", "delete_file", "--event", "refused"]);
    shown.gave(0, &["refused", "reason=params_changed", "os:"]);
    assert_eq!(shown.out.lines().count(), 1);
    let all = folder.run(&["audit", "show", "--level", "approval_required", "--json"]);
    let written: Vec<Value> = all.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(written.len(), 5);
    let id = written[0]["approval_id"].as_str().unwrap();
    assert!(written.iter().all(|row| row["approval_id"] == id));
    assert_eq!(folder.run(&["audit", "show", "--approval", id]).out.lines().count(), 5);
    assert_eq!(folder.run(&["audit", "show", "--last", "2"]).out.lines().count(), 2);
    assert_eq!(folder.run(&["audit", "show", "--since", "1h"]).out.lines().count(), 7);
    assert_eq!(folder.run(&["audit", "show", "--since", "1h", "--all"]).out.lines().count(), 22);
    assert_eq!(folder.run(&["audit", "show", "--since", "1h", "--json"]).out.lines().count(), 22);
    folder.run(&["audit", "show", "--event", "opened"]).gave(0, &["opened", "counterfoil.toml"]);
    folder.run(&["audit", "show", "--until", "2000-01-01"]).gave(0, &["no such row"]);
    folder.run(&["audit", "show", "--since", "soon"]).gave(2, &["no time"]);
    // What no row can have is no question that is answered with none.
    folder.run(&["audit", "show", "--event", "refusd"]).gave(2, &["refusd", "challenge_issued", "refused", "left_out"]);
    for owner in ["root", ":root", "os:", "OS:root"] {
        folder.run(&["audit", "show", "--owner", owner]).gave(2, &["where it comes from", "os:ada", "name:ci"]);
    }
    folder.run(&["audit", "show", "--owner", "name:nobody"]).gave(0, &["no such row"]);
    let me = written[0]["owner"].as_str().unwrap();
    assert_eq!(folder.run(&["audit", "show", "--owner", me]).out.lines().count(), 7);
    folder.run(&["audit", "show", "--level", "dangerous"]).gave(2, &["0 to 3"]);
    // A minute and a month are told apart as they are in the configuration.
    folder.run(&["audit", "show", "--since", "1M"]).gave(2, &["counts months or years"]);
    assert_eq!(folder.run(&["audit", "show", "--since", "1h 30m"]).out.lines().count(), 7);

    // What the documentation says can be done by hand.
    let first = &files(&folder, DIR)[0];
    let by_hand = format!("sed -n 2p '{}' | tr -d '\\n' | sha256sum | cut -c1-64", first.display());
    let hash = std::process::Command::new("sh").args(["-c", &by_hand]).output().unwrap().stdout;
    assert_eq!(rows(&folder, DIR)[2]["prev"], String::from_utf8(hash).unwrap().trim());
}

#[test]
fn what_somebody_did_to_the_files_is_found_out_with_file_line_and_advice() {
    let folder = Folder::ready();
    story(&folder);
    let changed = files(&folder, DIR)[0].clone();
    let name = changed.file_name().unwrap().to_str().unwrap().to_owned();
    let whole = fs::read_to_string(&changed).unwrap();
    fs::write(&changed, whole.replace("write_file", "read_files")).unwrap();
    let ran = folder.run(&["audit", "verify"]);
    ran.gave(1, &["NOT WHOLE", &format!("{name}:4: chain: "), "hash of the line before", "compare with a copy"]);
    let faults = folder.run(&["audit", "verify", "--json"]).json()["faults"].clone();
    assert_eq!(
        (&faults[0]["file"], &faults[0]["line"], &faults[0]["kind"]),
        (&json!(name), &json!(4), &json!("chain"))
    );

    let cut = whole.lines().take(3).map(|line| format!("{line}\n")).collect::<String>();
    fs::write(&changed, cut).unwrap();
    folder.run(&["audit", "verify"]).gave(1, &["its tail was cut", "row 5 had been written"]);
    fs::remove_file(&changed).unwrap();
    folder.run(&["audit", "verify"]).gave(1, &[&name, "is gone"]);
    fs::write(&changed, &whole).unwrap();
    folder.run(&["audit", "verify"]).gave(0, &["whole:"]);
    // Reading goes on over what is no row.
    fs::write(&changed, format!("\u{1b}[2J\u{202e}\n{whole}")).unwrap();
    let ran = folder.run(&["audit", "show", "--tool", "write_file"]);
    ran.gave(0, &["cannot be read", "ended"]);
    assert!(!folder.run(&["audit", "verify"]).out.contains('\u{1b}'));
}

#[test]
fn a_host_without_a_folder_for_its_audit_starts_nothing() {
    let folder = Folder::ready();
    fs::create_dir_all(folder.path(DIR).parent().unwrap()).unwrap();
    fs::write(folder.path(DIR), "in the way").unwrap();
    folder.run(&["call", "write_file", r#"{"path":"a.txt","content":"x"}"#]).gave(1, &["audit", "no folder"]);
    folder.run(&["doctor"]).gave(1, &["audit", "nothing that uses this configuration starts"]);
    folder.run(&["config", "check"]).gave(1, &["no folder"]);
    assert!(!folder.path("work/workspace/a.txt").exists());
}
