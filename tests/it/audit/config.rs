//! `[audit]`: what can be said, what is refused, and that no plug-in reaches it.

use super::{files, rows, story};
use counterfoil_tests::program::Folder;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;

/// A configured folder whose configuration has these lines in front.
pub(super) fn with(lines: &str) -> Folder {
    let folder = Folder::ready();
    let rest = fs::read_to_string(folder.path("work/counterfoil.toml")).unwrap();
    folder.write("work/counterfoil.toml", &format!("{lines}\n{rest}"));
    folder
}

#[test]
fn the_folder_a_second_place_and_a_command_are_used() {
    let folder = with(
        "[audit]\ndir = \"told\"\ncheckpoint = \"heads\"\ncheckpoint_command = [\"/bin/sh\", \"-c\", \"cat >> given\"]",
    );
    story(&folder);
    let written = files(&folder, "work/told").len();
    assert_eq!(written, 5);
    let (further, state) = (folder.path("work/heads"), folder.path("home/.local/state/counterfoil/checkpoints"));
    let place_in = |place: &Path| {
        let all = fs::read_dir(place).unwrap().map(|entry| entry.unwrap().path());
        all.filter(|entry| entry.is_dir()).collect::<Vec<_>>().remove(0)
    };
    assert_eq!(fs::read_dir(place_in(&further)).unwrap().count(), written);
    let given = fs::read_to_string(folder.path("work/given")).unwrap();
    let given: Vec<Value> = given.lines().map(|head| serde_json::from_str(head).unwrap()).collect();
    for file in files(&folder, "work/told") {
        let name = file.file_name().unwrap().to_str().unwrap();
        let text = fs::read_to_string(&file).unwrap();
        let last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
        assert_eq!(last["event"], "closed", "{text}");
        let head = given.iter().rfind(|head| head["file"] == name).unwrap_or_else(|| panic!("no head of {name}"));
        assert_eq!(head["seq"], last["seq"], "the last head of a process that ended in order is that of its last row");
    }
    assert!(!folder.path(super::DIR).exists());
    let verified = folder.run(&["audit", "verify"]);
    verified.gave(0, &["whole:"]);
    assert!(!verified.out.contains("came after the last checkpoint"), "{verified:?}");
    folder.run(&["config", "check"]).gave(0, &["the audit is written to", "told", "heads", "/bin/sh"]);
    folder.run(&["doctor"]).gave(0, &["told can be written"]);
    // Whoever takes the oldest checkpoint of one place away is found out by the other.
    for place in [&further, &state] {
        let oldest = files(&folder, "work/told").remove(0);
        let checkpoint = place_in(place).join(oldest.file_name().unwrap()).with_extension("checkpoint");
        let whole = fs::read(&checkpoint).unwrap();
        fs::remove_file(&checkpoint).unwrap();
        let place = format!("has no checkpoint in {}", place.display());
        folder.run(&["audit", "verify"]).gave(1, &[&place, "NOT WHOLE: 1 fault"]);
        fs::write(&checkpoint, whole).unwrap();
    }
    // Whoever takes a file and the checkpoint in the state directory away is found out by the second place.
    let gone = files(&folder, "work/told").remove(1);
    let stem = gone.file_stem().unwrap().to_str().unwrap().to_owned();
    fs::remove_file(&gone).unwrap();
    fs::remove_file(place_in(&state).join(format!("{stem}.checkpoint"))).unwrap();
    folder.run(&["audit", "verify"]).gave(1, &[&stem, "is gone"]);
}

#[test]
fn what_would_check_nothing_or_is_written_wrong_is_refused_with_its_line() {
    for (lines, words) in [
        ("[audit]\nfolder = \"a\"", ["unknown key", "folder"]),
        ("[audit]\ndir = \"nowhere/a\"", [":2:", "does not exist; make it (`mkdir -p"]),
        ("[audit]\ncheckpoint = \"not/mounted/heads\"", [":2:", "or mount what belongs there"]),
        ("[audit]\ncheckpoint = \"\"", [":2:", "cannot be made"]),
        ("[audit]\ndir = \"a\"\ncheckpoint = \"a\"", [":3:", "in one another"]),
        ("[audit]\ndir = \"a\"\ncheckpoint = \".\"", [":3:", "in one another"]),
        ("[audit]\nmax_file = 1000", [":2:", "64 KiB"]),
        ("[audit]\ncheckpoint_command = []", [":2:", "no program"]),
        ("[audit]\ncheckpoint_command = [\"logger\"]", [":2:", "whole path"]),
        ("[audit]\ncheckpoint_command = \"/bin/sh\"", [":2:", "where a list belongs"]),
    ] {
        with(lines).run(&["tools"]).gave(2, &words);
    }
    let folder = with("[audit]\ncheckpoint_command = [\"own.sh\"]");
    folder.write("work/own.sh", "#!/bin/sh\ncat >> given\n");
    let mode = |mode: &str| Command::new("chmod").arg(mode).arg(folder.path("work/own.sh")).status().unwrap();
    mode("0757");
    folder.run(&["tools"]).gave(2, &["written by everybody", "chmod go-w"]);
    mode("0755");
    folder.run(&["tools"]).gave(0, &[]);
}

#[test]
fn what_a_command_is_told_to_run_is_held_to_what_it_is_itself() {
    for command in
        ["\"/bin/sh\", \"own.sh\"", "\"/bin/sh\", \"ENV=own.sh\"", "\"/bin/sh\", \"-x\", \"./own.sh\", \"more\""]
    {
        let folder = with(&format!("[audit]\ncheckpoint_command = [{command}]"));
        folder.write("work/own.sh", "cat >> given\n");
        let mode = |mode: &str| Command::new("chmod").arg(mode).arg(folder.path("work/own.sh")).status().unwrap();
        mode("0666");
        folder
            .run(&["tools"])
            .gave(2, &[":2:", "own.sh can be written by everybody", "decides what is kept", "chmod go-w"]);
        mode("0644");
        folder.run(&["tools"]).gave(0, &[]);
        folder.write("work/workspace/own.sh", "cat >> given\n");
        let toml = fs::read_to_string(folder.path("work/counterfoil.toml")).unwrap();
        folder.write("work/counterfoil.toml", &toml.replace("own.sh", "workspace/own.sh"));
        folder.run(&["tools"]).gave(2, &["this directory reaches the command that keeps checkpoints"]);
    }
}

#[test]
fn a_checkpoint_is_not_with_what_it_checks_whatever_links_lead_there() {
    let folder = with("[audit]\ndir = \"told\"\ncheckpoint = \"way/heads\"");
    fs::create_dir(folder.path("work/told")).unwrap();
    std::os::unix::fs::symlink(folder.path("work/told"), folder.path("work/way")).unwrap();
    folder.run(&["tools"]).gave(2, &[":3:", "in one another"]);
    fs::remove_file(folder.path("work/way")).unwrap();
    fs::create_dir(folder.path("work/way")).unwrap();
    folder.run(&["tools"]).gave(0, &[]);
}

#[test]
fn no_plug_in_reaches_the_audit_its_checkpoints_or_the_command() {
    for lines in [
        "[audit]\ndir = \"workspace/told\"",
        "[audit]\ndir = \"workspace\"",
        "[audit]\ncheckpoint = \"workspace/heads\"",
        "[audit]\ncheckpoint_command = [\"workspace/own.sh\"]",
    ] {
        let folder = with(lines);
        folder.write("work/workspace/own.sh", "#!/bin/sh\n");
        folder.run(&["tools"]).gave(2, &["this directory reaches"]);
    }
}

#[test]
fn a_folder_that_others_can_write_stops_the_start() {
    let folder = with("[audit]\ndir = \"told\"");
    fs::create_dir(folder.path("work/told")).unwrap();
    assert!(std::process::Command::new("chmod").arg("0777").arg(folder.path("work/told")).status().unwrap().success());
    folder.run(&["call", "list_directory", "{}"]).gave(1, &["can be written by other users"]);
    folder.run(&["audit", "verify"]).gave(1, &["can be written by others", "chmod go-w"]);
    assert!(rows(&folder, "work/told").is_empty());
}
