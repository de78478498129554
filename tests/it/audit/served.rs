//! One server that works for long: files that go on in others, an audit that cannot be written meanwhile, and a reload.

use super::config::with;
use super::{DIR, files, rows};
use crate::startup::{Session, hello, request};
use counterfoil_tests::program::Folder;
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{ChildStderr, Command};

/// A server and its client, who has begun.
struct Served {
    session: Session,
    id: u32,
}

impl Served {
    fn new(folder: &Folder) -> Self {
        let mut session = Session::of(folder.command(&["serve"]));
        session.send(&(hello(1) + "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"));
        session.answer(1);
        Self { session, id: 1 }
    }

    #[track_caller]
    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.id += 1;
        self.session.send(&request(self.id, "tools/call", &json!({"name": tool, "arguments": arguments})));
        loop {
            let line = self.session.line();
            if line["id"] == self.id {
                return line["result"]["structuredContent"].clone();
            }
        }
    }

    #[track_caller]
    fn is(&mut self, tool: &str, arguments: Value, status: &str) -> Value {
        let answer = self.call(tool, arguments);
        assert_eq!(answer["status"], status, "{answer}");
        answer
    }

    /// Nothing ran, since there is no row.
    #[track_caller]
    fn is_refused(&mut self, tool: &str, arguments: Value) {
        let answer = self.is(tool, arguments, "rejected");
        assert_eq!(answer["reason"], "unavailable", "{answer}");
        assert!(answer["error"].as_str().unwrap().contains("audit cannot be written"), "{answer}");
    }
}

fn write(path: &str) -> Value {
    json!({"path": path, "content": "x"})
}

#[test]
fn many_rows_go_on_in_further_files_and_whatever_is_taken_of_them_shows() {
    let folder = with("[audit]\nmax_file = \"64 KiB\"");
    let mut served = Served::new(&folder);
    let mut count = 0;
    while files(&folder, DIR).len() < 3 {
        served.is("write_file", write(&format!("{count}.txt")), "ok");
        count += 1;
    }
    assert_eq!(served.session.end().0, Some(0));
    let all = rows(&folder, DIR);
    assert!(all.iter().enumerate().all(|(at, row)| row["seq"] == at as u64 + 1), "one chain of numbers");
    assert_eq!(all.iter().filter(|row| row["event"] == "ended").count(), count);
    assert_eq!(all.iter().filter(|row| row["event"] == "in_force" && row["cause"] == "rotation").count(), 2);
    folder.run(&["audit", "verify"]).gave(0, &["whole: 3 files"]);
    let shown = folder.run(&["audit", "show", "--last", "1000"]);
    assert_eq!(shown.out.lines().count(), 2 * count);

    let written = files(&folder, DIR);
    for (file, words) in [
        (&written[0], ["NOT WHOLE: 1 fault", "is gone"]),
        (&written[1], ["NOT WHOLE: 1 fault", "is gone"]),
        (&written[2], ["NOT WHOLE: 1 fault", "is gone"]),
    ] {
        let whole = fs::read(file).unwrap();
        fs::remove_file(file).unwrap();
        folder.run(&["audit", "verify"]).gave(1, &words);
        fs::write(file, whole).unwrap();
    }
    for (at, file) in written.iter().enumerate() {
        let whole = fs::read_to_string(file).unwrap();
        let end = whole.trim_end().rfind('\n').unwrap();
        fs::write(file, &whole[..=end]).unwrap();
        let last = if at == 2 { "its tail was cut" } else { "the end of the file before was changed or cut" };
        folder.run(&["audit", "verify"]).gave(1, &["NOT WHOLE", "its tail was cut", last]);
        fs::write(file, whole).unwrap();
    }
    // A row in the middle of the middle.
    let whole = fs::read_to_string(&written[1]).unwrap();
    let line = whole.lines().nth(10).unwrap();
    let seq = serde_json::from_str::<Value>(line).unwrap()["seq"].clone();
    fs::write(&written[1], whole.replace(&format!("{line}\n"), "")).unwrap();
    folder.run(&["audit", "verify"]).gave(1, &[&format!("row {seq} is missing before it")]);
    fs::write(&written[1], whole).unwrap();
    folder.run(&["audit", "verify"]).gave(0, &["whole: 3 files"]);
}

#[test]
fn a_checkpoint_that_is_put_back_to_an_earlier_row_of_a_file_that_is_over_is_found_out() {
    let folder = Folder::ready();
    folder.write("work/workspace/a.txt", "x");
    let mut served = Served::new(&folder);
    let delete = json!({"path": "a.txt"});
    let token = served.is("delete_file", delete.clone(), "confirmation_required")["confirm_token"].clone();
    // Its start is covered before it runs.
    served.is("delete_file", json!({"path": "a.txt", "confirm_token": token}), "ok");
    let place = folder.path("home/.local/state/counterfoil/checkpoints");
    let mut folders = fs::read_dir(place).unwrap().map(|entry| entry.unwrap().path()).filter(|entry| entry.is_dir());
    let file = files(&folder, DIR).remove(0);
    let checkpoint = folders.next().unwrap().join(file.file_name().unwrap()).with_extension("checkpoint");
    let earlier = fs::read(&checkpoint).unwrap();
    served.is("write_file", write("b.txt"), "ok");
    assert_eq!(served.session.end().0, Some(0));
    folder.run(&["audit", "verify"]).gave(0, &["whole: 1 file"]);
    fs::write(&checkpoint, earlier).unwrap();
    let last = rows(&folder, DIR).len();
    let ran = folder.run(&["audit", "verify"]);
    ran.gave(1, &[&format!("was ended with row {last}, and its checkpoint in"), "NOT WHOLE: 1 fault"]);
    assert!(!ran.out.contains("after the last checkpoint"), "{ran:?}");
}

#[test]
fn while_it_cannot_be_written_nothing_but_safe_calls_runs_and_afterwards_all_of_it() {
    let folder = Folder::ready();
    folder.write("work/workspace/a.txt", "x");
    let mut served = Served::new(&folder);
    let delete = json!({"path": "a.txt"});
    let token = served.is("delete_file", delete.clone(), "confirmation_required")["confirm_token"].clone();
    let confirm = json!({"path": "a.txt", "confirm_token": token});

    let (place, away) = (folder.path("home/.local/state/counterfoil/checkpoints"), folder.path("away"));
    fs::rename(&place, &away).unwrap();
    for number in 0..5 {
        served.is_refused("delete_file", confirm.clone());
        served.is_refused("write_file", write(&format!("{number}.txt")));
        served.is_refused("delete_file", delete.clone());
        served.is("read_file", delete.clone(), "ok");
    }
    assert!(folder.path("work/workspace/a.txt").exists() && !folder.path("work/workspace/0.txt").exists());

    fs::rename(&away, &place).unwrap();
    served.is("delete_file", confirm, "ok");
    served.is("write_file", write("0.txt"), "ok");
    assert!(!folder.path("work/workspace/a.txt").exists() && folder.path("work/workspace/0.txt").exists());
    let (code, _, messages) = served.session.end();
    let said = |words: &str| messages.matches(words).count();
    assert_eq!(
        (code, said("the audit cannot be written"), said("can be written again")),
        (Some(0), 1, 1),
        "{messages}"
    );
    let verified = folder.run(&["audit", "verify", "--json"]).json();
    assert_eq!((&verified["whole"], &verified["remarks"]), (&json!(true), &json!([])), "no start is without its end");
}

#[test]
fn a_file_in_the_way_is_said_and_the_first_row_after_it_is_gone_makes_the_folder() {
    let folder = with("[audit]\ndir = \"told\"");
    folder.write("work/workspace/a.txt", "x");
    let mut served = Served::new(&folder);
    served.is("read_file", json!({"path": "a.txt"}), "ok");
    folder.write("work/told", "in the way");
    for number in 0..3 {
        served.is_refused("write_file", write(&format!("{number}.txt")));
    }
    fs::remove_file(folder.path("work/told")).unwrap();
    served.is("write_file", write("0.txt"), "ok");
    let messages = served.session.end().2;
    assert_eq!(messages.matches("the audit cannot be written").count(), 1, "{messages}");
    folder.run(&["audit", "verify"]).gave(0, &["whole: 1 file with"]);
}

/// Root writes wherever permissions forbid it, but nobody makes a folder there.
const NOWHERE: &str = "[audit]\ndir = \"/proc/counterfoil-audit\"";

#[test]
fn an_audit_that_cannot_be_written_is_no_configuration_in_order_and_said_at_the_start() {
    let folder = with(NOWHERE);
    let ran = folder.run(&["config", "check"]);
    ran.gave(1, &["the audit cannot be written to /proc/counterfoil-audit", "name another place", "will be refused"]);
    let ran = folder.run(&["config", "check", "--json"]);
    ran.gave(1, &[]);
    assert!(ran.json()["audit"]["fault"].as_str().unwrap().contains("cannot be written"));
    folder.run(&["doctor"]).gave(1, &["the audit cannot be written to /proc/counterfoil-audit"]);

    folder.write("work/workspace/a.txt", "x");
    let mut served = Served::new(&folder);
    served.is("read_file", json!({"path": "a.txt"}), "ok");
    let mut messages = served.session.messages();
    said(&mut messages, "the audit cannot be written to /proc/counterfoil-audit");
    for number in 0..3 {
        served.is_refused("write_file", write(&format!("{number}.txt")));
    }
    assert_eq!(served.session.end().0, Some(0));
    let rest: Vec<String> = messages.lines().map(Result::unwrap).collect();
    assert!(!rest.iter().any(|line| line.contains("cannot be written")), "it is said once: {rest:?}");
}

#[test]
fn what_can_be_written_is_tried_and_nothing_is_left_of_that() {
    let folder = with("[audit]\ndir = \"told\"\ncheckpoint = \"heads\"");
    folder.run(&["config", "check"]).gave(0, &["the audit is written to"]);
    folder.run(&["doctor"]).gave(0, &["told can be written"]);
    let names = fs::read_dir(folder.path("work")).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["counterfoil.lock", "counterfoil.toml", "files.wasm", "workspace"]);
}

/// Reads what the server says until this is in it.
fn said(messages: &mut BufReader<ChildStderr>, words: &str) -> String {
    let mut all = String::new();
    while !all.contains(words) {
        assert_ne!(messages.read_line(&mut all).unwrap(), 0, "{words:?} is missing in {all}");
    }
    all
}

fn hang_up(served: &Served) {
    let sent = Command::new("kill").args(["-HUP", &served.session.child.id().to_string()]).status();
    assert!(sent.unwrap().success());
}

#[test]
fn what_a_reload_puts_in_force_is_told_and_what_it_refuses_is_not_and_a_moved_audit_ends_in_order() {
    let folder = Folder::ready();
    let first = fs::read_to_string(folder.path("work/counterfoil.toml")).unwrap();
    let mut served = Served::new(&folder);
    served.is("write_file", write("a.txt"), "ok");
    let mut messages = served.session.messages();
    let mut reload = |served: &Served, lines: &str, words: &str| {
        folder.write("work/counterfoil.toml", &format!("{lines}\n{first}"));
        hang_up(served);
        said(&mut messages, words);
    };
    let causes = |dir: &str| {
        let rows = rows(&folder, dir).into_iter().filter(|row| row["event"] == "in_force");
        rows.map(|row| row["cause"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    reload(&served, "[[rules]]\ntool = \"nothing\"\nwhen = \"true\"\nlevel = \"review\"", "is not in force");
    assert_eq!(causes(DIR), ["start"]);
    let rule = "[[rules]]\ntool = \"write_file\"\nwhen = \"true\"\nlevel = \"approval_required\"\nreason = \"slowly\"";
    reload(&served, rule, "is in force");
    assert_eq!(causes(DIR), ["start", "reload"], "before any call");
    folder.run(&["audit", "show"]).gave(0, &["in_force", "cause=reload", "write_file"]);
    let last = rows(&folder, DIR).into_iter().rfind(|row| row["event"] == "in_force").unwrap();
    assert_eq!(last["rules"], serde_json::json!(["approval_required: write_file when true because slowly"]));
    served.is("write_file", write("b.txt"), "confirmation_required");
    folder.run(&["audit", "show", "--event", "challenge_issued"]).gave(0, &["policy=", "rule 1", "slowly"]);

    reload(&served, "[audit]\ndir = \"told\"", "is in force");
    served.is("write_file", write("c.txt"), "ok");
    assert_eq!((causes(DIR), causes("work/told")), (vec!["start".to_owned(), "reload".into()], vec!["reload".into()]));
    assert_eq!(served.session.end().0, Some(0));
    folder.run(&["audit", "verify"]).gave(0, &["whole: 1 file with 5 rows"]);
    let earlier = folder.path(DIR);
    let earlier = earlier.to_str().unwrap();
    folder.run(&["audit", "verify", "--dir", earlier]).gave(0, &["whole: 1 file with 7 rows"]);
    folder.run(&["audit", "show", "--dir", earlier]).gave(0, &["challenge_issued"]);
    folder.run(&["audit", "show", "--dir", "nowhere"]).gave(2, &["no folder"]);
    assert_eq!(rows(&folder, DIR).last().unwrap()["event"], "closed");
}
