//! The process is killed while a dangerous tool runs. Whatever it had done by then, nothing runs it a second time.

use counterfoil_tests::fixture;
use counterfoil_tests::program::{Folder, Ran};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// How long a run may take in these stories: long enough for a process to start, short enough to wait for.
const DEADLINE: Duration = Duration::from_secs(3);
const CALL: &str = r#"{"ms": 60000}"#;

/// A host of the slow fixture: its run appends `start`, sleeps, appends `end`.
fn folder() -> Folder {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("work/data")).unwrap();
    std::fs::create_dir(folder.path("work/state")).unwrap();
    std::fs::copy(fixture("slow"), folder.path("work/slow.wasm")).unwrap();
    folder.write(
        "work/counterfoil.toml",
        &format!(
            "[store]\nurl = \"sqlite:state/state.db\"\n\n[plugins.slow]\nsource = \"slow.wasm\"\n\
             dirs = [{{ host = \"data\", guest = \"/data\", access = \"read-write\" }}]\n\n\
             [plugins.slow.limits]\nexecute = \"{}s\"\n",
            DEADLINE.as_secs()
        ),
    );
    folder.lock();
    folder
}

#[track_caller]
fn preview(folder: &Folder) -> String {
    let ran = folder.run(&["call", "slow_dangerous", CALL, "--json"]);
    assert_eq!(ran.code, 3, "{ran:?}");
    ran.json()["confirm_token"].as_str().unwrap().to_owned()
}

fn confirm(folder: &Folder, token: &str) -> Ran {
    folder.run(&["call", "slow_dangerous", CALL, "--confirm", token, "--json"])
}

/// The marks that runs have left.
fn log(folder: &Folder) -> String {
    std::fs::read_to_string(folder.path("work/data/log")).unwrap_or_default()
}

/// Confirms in a process of its own, and returns it once its run has begun.
fn begun(folder: &Folder, token: &str) -> Child {
    let mut command = folder.command(&["call", "slow_dangerous", CALL, "--confirm", token, "--json"]);
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_until(|| log(folder) == "start\n");
    child
}

#[track_caller]
fn wait_until(mut holds: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(Instant::now() < until, "it did not happen within a minute");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Kills at once, without a chance to tidy up.
fn kill(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

#[track_caller]
fn rejected(ran: &Ran, reason: &str, detail: Option<&str>) {
    let payload = ran.json();
    assert_eq!(ran.code, 4, "{ran:?}");
    assert_eq!((payload["reason"].as_str(), payload["detail"].as_str()), (Some(reason), detail), "{ran:?}");
}

#[test]
fn a_run_whose_process_was_killed_is_never_run_again_and_the_operator_settles_it() {
    let folder = folder();
    let token = preview(&folder);
    let second = preview(&folder);
    kill(begun(&folder, &token));

    // Until its deadline nobody can know that it is dead (`lost.rs` holds both sides of that by the clock).
    wait_until(|| {
        let told = confirm(&folder, &token);
        told.code == 4 && told.json()["detail"] == "outcome_unknown"
    });
    // Neither its own token nor another confirmation of the same call nor a new preview gets round that.
    rejected(&confirm(&folder, &token), "unknown_or_used", Some("outcome_unknown"));
    rejected(&confirm(&folder, &second), "unresolved", None);
    rejected(&folder.run(&["call", "slow_dangerous", CALL, "--json"]), "unresolved", None);
    assert_eq!(log(&folder), "start\n");

    // A different call is not held up.
    assert_eq!(folder.run(&["call", "slow_dangerous", r#"{"ms": 1}"#, "--json"]).code, 3);

    let listed = folder.run(&["resolve"]);
    listed.gave(0, &["slow_dangerous", "apr_"]);
    let id = listed.out.split_whitespace().find(|word| word.starts_with("apr_")).unwrap().to_owned();
    folder.run(&["resolve", &id, "--happened"]).gave(0, &[]);
    rejected(&confirm(&folder, &token), "unknown_or_used", Some("settled_happened"));
    assert_ne!(folder.run(&["resolve", &id, "--did-not"]).code, 0, "what is settled stays settled");

    // Now the second confirmation may run, by its own token, and does: up to its deadline, since it sleeps for a minute.
    let ran = confirm(&folder, &second);
    assert_eq!((ran.code, ran.json()["reason"].as_str()), (5, Some("deadline")), "{ran:?}");
    assert_eq!(log(&folder), "start\nstart\n");
    assert_eq!(confirm(&folder, &second).out, ran.out, "a failure is replayed like a success");
    assert_eq!(log(&folder), "start\nstart\n");
}

#[test]
fn sixteen_processes_with_one_token_run_it_once() {
    let folder = folder();
    let quick = r#"{"ms": 200}"#;
    let ran = folder.run(&["call", "slow_dangerous", quick, "--json"]);
    let token = ran.json()["confirm_token"].as_str().unwrap().to_owned();
    let children: Vec<Child> = (0..16)
        .map(|_| {
            let mut command = folder.command(&["call", "slow_dangerous", quick, "--confirm", &token, "--json"]);
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    let outputs: Vec<_> = children.into_iter().map(|child| child.wait_with_output().unwrap()).collect();
    let mut ok = 0;
    for output in &outputs {
        let payload: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        match output.status.code() {
            Some(0) => ok += 1,
            _ => assert_eq!(payload["reason"], "unknown_or_used", "{output:?}"),
        }
    }
    assert!(ok >= 1, "{outputs:?}");
    assert_eq!(log(&folder), "start\nend\n");
}
