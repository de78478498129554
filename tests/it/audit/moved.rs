//! The folder of the audit, or one above it, that leads elsewhere: by somebody who hides it, or by the operator who moved it.

use super::config::with;
use super::{DIR, files};
use counterfoil_tests::program::Folder;
use serde_json::json;
use std::fs;
use std::os::unix::fs::symlink;

const WRITE: [&str; 3] = ["call", "write_file", r#"{"path":"a.txt","content":"x"}"#];

/// A call that leaves rows.
fn record(folder: &Folder) {
    let number = fs::read_dir(folder.path("work/workspace")).unwrap().count();
    let arguments = format!(r#"{{"path":"{number}.txt","content":"x"}}"#);
    folder.run(&["call", "write_file", &arguments]).gave(0, &[]);
}

/// An audit in `work/logs/told` in which something is.
fn told() -> Folder {
    let folder = with("[audit]\ndir = \"logs/told\"");
    fs::create_dir(folder.path("work/logs")).unwrap();
    record(&folder);
    folder.run(&["audit", "verify"]).gave(0, &["whole: 1 file"]);
    folder
}

#[test]
fn whoever_leads_the_folder_or_one_above_it_to_an_empty_one_hides_nothing_and_nothing_is_written_there() {
    for link in ["work/logs/told", "work/logs"] {
        let folder = told();
        fs::rename(folder.path(link), folder.path("old")).unwrap();
        fs::create_dir_all(folder.path("empty")).unwrap();
        symlink(folder.path("empty"), folder.path(link)).unwrap();
        let words = ["led to", "leads to", "the checkpoints know 1 file", "audit moved", "NOT WHOLE: 1 fault"];
        folder.run(&["audit", "verify"]).gave(1, &words);
        let found = folder.run(&["audit", "verify", "--json"]).json();
        assert_eq!((&found["whole"], &found["faults"][0]["kind"]), (&json!(false), &json!("astray")), "{found}");
        folder.run(&["audit", "show"]).gave(1, &["leads to", "no such row", "counterfoil audit verify says more"]);
        for refused in [&WRITE[..], &["call", "list_directory", "{}"], &["serve"], &["doctor"], &["config", "check"]] {
            folder.run(refused).gave(1, &["leads to", "counterfoil audit moved"]);
        }
        assert_eq!(fs::read_dir(folder.path("empty")).unwrap().count(), 0);
        // It is put back as it was.
        fs::remove_file(folder.path(link)).unwrap();
        fs::rename(folder.path("old"), folder.path(link)).unwrap();
        record(&folder);
        folder.run(&["audit", "verify"]).gave(0, &["whole: 2 files"]);
        folder.run(&["audit", "show"]).gave(0, &["started=", "#3"]);
    }
}

#[test]
fn an_operator_who_moved_the_folder_says_so_and_its_checkpoints_go_along() {
    let folder = told();
    folder.run(&["audit", "moved"]).gave(2, &["leads where it led", "--from"]);
    // With a link where it was.
    fs::rename(folder.path("work/logs/told"), folder.path("data")).unwrap();
    symlink(folder.path("data"), folder.path("work/logs/told")).unwrap();
    folder.run(&WRITE).gave(1, &["counterfoil audit moved"]);
    folder.run(&["audit", "moved"]).gave(0, &["the checkpoints of 1 file go with the folder", "whole: 1 file"]);
    record(&folder);
    folder.run(&["audit", "verify"]).gave(0, &["whole: 2 files"]);
    // Under another path.
    fs::rename(folder.path("data"), folder.path("work/there")).unwrap();
    let config = fs::read_to_string(folder.path("work/counterfoil.toml")).unwrap();
    folder.write("work/counterfoil.toml", &config.replace("logs/told", "there"));
    folder.run(&["audit", "verify"]).gave(1, &["has no checkpoint in", "counterfoil audit moved --from"]);
    folder.run(&["audit", "moved", "--from", "nowhere"]).gave(2, &["no checkpoint is known of a file in"]);
    folder.run(&["audit", "moved", "--from", "../data"]).gave(0, &["the checkpoints of 2 files", "whole: 2 files"]);
    // What was lost on the way is told, and a folder that is not there takes nothing along.
    fs::remove_file(&files(&folder, "work/there")[0]).unwrap();
    fs::rename(folder.path("work/there"), folder.path("data")).unwrap();
    folder.run(&["audit", "moved", "--from", "there"]).gave(1, &["is no folder"]);
    symlink(folder.path("data"), folder.path("work/there")).unwrap();
    folder.run(&["audit", "moved"]).gave(1, &["the checkpoints of 2 files", "is gone", "NOT WHOLE: 1 fault"]);
}

#[test]
fn a_folder_whose_files_are_gone_is_missed_by_the_checkpoints() {
    let folder = Folder::ready();
    folder.run(&["audit", "verify"]).gave(0, &["has no file, and no checkpoint knows of one"]);
    record(&folder);
    for make_it_again in [false, true] {
        fs::rename(folder.path(DIR), folder.path("old")).unwrap();
        if make_it_again {
            fs::create_dir(folder.path(DIR)).unwrap();
        }
        let ran = folder.run(&["audit", "verify"]);
        ran.gave(1, &["is gone, and had", "NOT WHOLE: 1 fault in 0 files"]);
        let _ = fs::remove_dir(folder.path(DIR));
        fs::rename(folder.path("old"), folder.path(DIR)).unwrap();
    }
    // The other way round: its checkpoints are gone with the state directory's.
    fs::rename(folder.path("home/.local/state/counterfoil/checkpoints"), folder.path("old")).unwrap();
    folder.run(&["audit", "verify"]).gave(1, &["has no checkpoint in"]);
}
