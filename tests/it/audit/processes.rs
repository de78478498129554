//! Several processes, processes that are killed, and a disk that is full.

use super::{DIR, files, rows};
use counterfoil::audit::{Findings, Remark, verify};
use counterfoil::gate::SystemClock;
use counterfoil::store::SqliteStore;
use counterfoil_tests::program::Folder;
use counterfoil_tests::refunds::{self, call, effects, told};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

fn verified(folder: &Path) -> Findings {
    let findings = verify(&folder.join("audit"), &[folder.join("checkpoints")]).unwrap();
    assert!(findings.is_whole(), "{findings:?}");
    findings
}

fn written(folder: &Path) -> Vec<Value> {
    let mut files: Vec<_> = fs::read_dir(folder.join("audit")).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    let text: String = files.iter().map(|file| fs::read_to_string(file).unwrap()).collect();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn processes_that_call_at_once_write_a_file_each() {
    let folder = Folder::ready();
    let children: Vec<_> = (0..8)
        .map(|number| {
            let arguments = format!(r#"{{"path":"{number}.txt","content":"x"}}"#);
            let mut command = folder.command(&["call", "write_file", &arguments, "--json"]);
            command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
        })
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(files(&folder, DIR).len(), 8);
    folder.run(&["audit", "verify"]).gave(0, &["whole:", "8 files"]);
    assert_eq!(rows(&folder, DIR).iter().filter(|row| row["outcome"] == "ok").count(), 8);
}

/// What is recorded of a process that dies at a moment: the start, always, and no end.
async fn dies(mode: &str, expected: usize, spent: bool) {
    let folder = tempfile::tempdir().unwrap();
    let (path, file) = (folder.path().join("state.db"), folder.path().join("effects"));
    let store = Arc::new(SqliteStore::open(&path).unwrap());
    let audit = refunds::audit(folder.path());
    let host = refunds::audited(store, Arc::new(SystemClock), &file, audit).await;
    let token = told(&call(&host, None).await, "confirm_token");
    let mut command = Command::new(env!("CARGO_BIN_EXE_dies"));
    let ran = command.arg(mode).args([&path, &file]).arg(&token).arg(folder.path()).output().unwrap();
    assert!(ran.status.code().is_none(), "it should have died: {ran:?}");
    assert_eq!(effects(&file), expected);

    let id = host.gate().identify(&token).await.unwrap();
    let started: Vec<Value> = written(folder.path()).into_iter().filter(|row| row["event"] == "started").collect();
    assert_eq!(started.len(), 1, "the start is on the disk before anything is spent");
    assert_eq!(started[0]["approval_id"].as_str(), id.as_deref());
    host.drain().await;
    let remarks = verified(folder.path()).remarks;
    let no_end = |remark: &Remark| matches!(remark, Remark::NoEnd { approval_id, .. } if *approval_id == id);
    assert!(remarks.len() == 1 && no_end(&remarks[0].what), "{remarks:?}");

    let again = call(&host, Some(&token)).await;
    if spent {
        assert_eq!(told(&again, "detail"), "in_flight", "{}", again.payload);
    } else {
        assert_eq!(told(&again, "status"), "ok", "nothing was spent: {}", again.payload);
    }
}

#[tokio::test]
async fn killed_after_its_start_is_written_and_before_the_token_is_spent() {
    dies("ready", 0, false).await;
}

#[tokio::test]
async fn killed_between_consume_and_run() {
    dies("consumed", 0, true).await;
}

#[tokio::test]
async fn killed_between_effect_and_record() {
    dies("ran", 1, true).await;
}

#[test]
fn on_a_full_disk_nothing_runs_and_nothing_is_spent() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("effects");
    // A file may not grow any more from some size on: what a full disk looks like to whoever writes it.
    let script = "trap '' XFSZ; ulimit -f 16; exec \"$0\" full \"$1\" \"$2\"";
    let mut command = Command::new("sh");
    command.args(["-c", script, env!("CARGO_BIN_EXE_dies")]).arg(&file).arg(folder.path());
    let ran = command.output().unwrap();
    let out = String::from_utf8(ran.stdout.clone()).unwrap();
    let lines: Vec<&str> = out.lines().collect();
    assert!(ran.status.success() && lines.len() == 3, "{ran:?}");
    for answer in &lines[..2] {
        let answer: Value = serde_json::from_str(answer).unwrap();
        assert_eq!((&answer["status"], &answer["reason"]), (&"rejected".into(), &"unavailable".into()), "{answer}");
        assert!(answer["error"].as_str().unwrap().contains("audit cannot be written"), "{answer}");
    }
    // The one that was kept is still good, and so is the one that met the end.
    assert!(lines[2].parse::<usize>().unwrap() >= 1, "{out}");
    let ended = written(folder.path()).iter().filter(|row| row["outcome"] == "ok").count();
    let ran_without_end = effects(&file) - ended;
    assert!(ended > 3 && ran_without_end <= 1, "{ended} of {}", effects(&file));
    let unended = verified(folder.path()).remarks.iter().filter(|r| matches!(r.what, Remark::NoEnd { .. })).count();
    assert!(unended >= ran_without_end, "a run whose end found no room is told as one without an end");
}
