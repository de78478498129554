//! `serve` reads its configuration anew on SIGHUP: all of it or nothing, while calls go on. Messages as they are on the wire;
//! the official clients are in the scripts for Python and Node.

mod waits;

use super::startup::{Session, before_it_is_compiled, echo, hello, request};
use counterfoil_tests::clients::{node, python};
use counterfoil_tests::fixture;
use counterfoil_tests::program::Folder;
use serde_json::{Value, json};
use std::fs::Permissions;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{ChildStderr, Command};

#[test]
fn the_python_sdk_hears_of_a_reload_in_both_generations() {
    python("reload.py", &[fixture("stamp_next").to_str().unwrap()], &fixture("stamp"), 9);
}

#[test]
fn both_generations_of_the_typescript_sdk_hear_of_a_reload() {
    let next = fixture("stamp_next");
    node("reload.mjs", &["client", next.to_str().unwrap()], &fixture("stamp"), 6);
    node("reload.mjs", &["sdk", next.to_str().unwrap()], &fixture("stamp"), 4);
}

const INITIALIZED: &str = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n";

/// One plug-in that echoes, under this name.
fn named(name: &str) -> String {
    format!("[plugins.echo]\nsource = \"echo.wasm\"\nrename = {{ echo = \"{name}\" }}\n")
}

fn folder(config: &str) -> Folder {
    let folder = Folder::new();
    std::fs::copy(fixture("echo"), folder.path("work/echo.wasm")).unwrap();
    std::fs::copy(fixture("slow"), folder.path("work/slow.wasm")).unwrap();
    std::fs::create_dir(folder.path("work/data")).unwrap();
    folder.write("work/counterfoil.toml", config);
    folder.lock();
    folder
}

/// A client that has begun with `initialize`, and has the tools.
pub(crate) fn begun(folder: &Folder) -> Session {
    let mut session = Session::start(folder);
    session.send(&(hello(1) + INITIALIZED + &request(2, "tools/list", &json!({}))));
    assert_eq!(session.answer(1)["result"]["capabilities"]["tools"]["listChanged"], true);
    session.answer(2);
    session
}

pub(crate) fn hang_up(session: &Session) {
    let sent = Command::new("kill").args(["-HUP", &session.child.id().to_string()]).status();
    assert!(sent.unwrap().success());
}

/// Reads what the server says until this is in it.
pub(crate) fn said(messages: &mut BufReader<ChildStderr>, words: &str) -> String {
    let mut all = String::new();
    while !all.contains(words) {
        assert_ne!(messages.read_line(&mut all).unwrap(), 0, "{words:?} is missing in {all}");
    }
    all
}

#[track_caller]
fn changed(session: &mut Session) {
    let news = session.line();
    assert_eq!(news["method"], "notifications/tools/list_changed", "{news}");
}

fn names(session: &mut Session, id: u32) -> Vec<String> {
    session.send(&request(id, "tools/list", &json!({})));
    let tools = session.answer(id)["result"]["tools"].take();
    tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_hang_up_before_the_first_host_is_there_is_heard() {
    let (_folder, mut session) = before_it_is_compiled("", |folder| {
        let mut session = Session::start(folder);
        session.send(&(hello(1) + INITIALIZED));
        session.answer(1);
        folder
            .write("work/counterfoil.toml", "[plugins.slow]\nsource = \"slow.wasm\"\nrename = { echo = \"later\" }\n");
        hang_up(&session);
        session
    });
    changed(&mut session);
    assert_eq!(names(&mut session, 2), ["later"]);
    assert_eq!(session.end().0, Some(0));
}

#[test]
fn whatever_comes_while_one_reload_is_at_work_the_last_configuration_is_in_force() {
    let folder = folder(&named("first"));
    let mut session = begun(&folder);
    for number in 0..8 {
        folder.write("work/counterfoil.toml", &named(&format!("echo_{number}")));
        hang_up(&session);
    }
    let mut id = 10;
    loop {
        changed(&mut session);
        id += 1;
        session.send(&request(id, "tools/list", &json!({})));
        // The next news may come before the answer.
        let answer = loop {
            let line = session.line();
            if line["id"] == id {
                break line;
            }
        };
        if answer["result"]["tools"][0]["name"] == "echo_7" {
            break;
        }
    }
    drop(session.input.take());
    assert_eq!(session.ended().0, Some(0));
}

#[test]
fn calls_are_answered_while_a_reload_compiles() {
    let (_folder, mut session) = before_it_is_compiled("", |folder| {
        std::fs::copy(fixture("echo"), folder.path("work/echo.wasm")).unwrap();
        folder.write("work/counterfoil.toml", &named("echo"));
        let mut session = begun(folder);
        let big = "[plugins.slow]\nsource = \"slow.wasm\"\nrename = { echo = \"big\" }\n";
        folder.write("work/counterfoil.toml", &format!("{}{big}", named("echo")));
        hang_up(&session);
        for id in 3..10 {
            session.send(&echo(id));
            assert_eq!(session.answer(id)["result"]["structuredContent"]["given"]["n"], id);
        }
        session
    });
    changed(&mut session);
    assert_eq!(names(&mut session, 20), ["echo", "big"]);
    assert_eq!(session.end().0, Some(0));
}

#[test]
fn a_call_that_runs_ends_on_the_host_that_it_began_on() {
    // A machine may take longer for the reload than for the call: then the call is made longer.
    assert!([1_000, 5_000, 20_000].into_iter().any(outlived), "no reload was faster than a call of 20 seconds");
}

/// Whether the reload was in force before the call had ended; then the rest holds.
fn outlived(millis: u32) -> bool {
    let slow = "[store]\nurl = \"memory:\"\n[plugins.slow]\nsource = \"slow.wasm\"\n\
                dirs = [{ host = \"data\", guest = \"/data\", access = \"read-write\" }]\n";
    let folder = folder(slow);
    let mut session = begun(&folder);
    let call = |id: u32, token: Option<&Value>| {
        let mut given = json!({"ms": millis});
        if let Some(token) = token {
            given["confirm_token"] = token.clone();
        }
        request(id, "tools/call", &json!({"name": "slow_dangerous", "arguments": given}))
    };
    session.send(&call(3, None));
    let token = session.answer(3)["result"]["structuredContent"]["confirm_token"].take();
    session.send(&call(4, Some(&token)));
    let log = || std::fs::read_to_string(folder.path("work/data/log")).unwrap_or_default();
    while log().is_empty() {
        std::thread::yield_now();
    }
    folder.write("work/counterfoil.toml", &format!("{slow}tools = [\"look\"]\n"));
    hang_up(&session);
    if session.line()["id"] == 4 {
        return false;
    }
    session.send(&request(5, "tools/list", &json!({})));
    let listed = session.line();
    if listed["id"] == 4 || log() != "start\n" {
        return false;
    }
    assert_eq!(listed["result"]["tools"].as_array().map(Vec::len), Some(1), "{listed}");
    // The new host waits for what the old one has begun.
    let (code, rest, messages) = session.end();
    assert_eq!((code, log().as_str()), (Some(0), "start\nend\n"), "{messages}");
    let answer: Value = serde_json::from_str(&rest).unwrap();
    assert_eq!(
        (&answer["id"], &answer["result"]["structuredContent"]["status"]),
        (&json!(4), &json!("ok")),
        "{answer}"
    );
    true
}

#[test]
fn what_a_client_was_told_or_what_holds_its_confirmations_cannot_change_under_it() {
    let folder = folder(&format!("[store]\nurl = \"memory:\"\n{}", named("echo")));
    let mut session = begun(&folder);
    let mut messages = session.messages();
    let mut id = 10;
    for (head, words) in [
        ("[store]\nurl = \"sqlite:other.db\"\n", "counterfoil.toml:2:"),
        ("", "confirmations that wait are in the store that is in use"),
        ("[store]\nurl = \"memory:\"\n[gate]\nconfirm_parameter = \"_token\"\n", "the client was told to confirm with"),
        ("[store]\nurl = \"memory:\"\n[gate]\nmax_arguments = \"1 MiB\"\n", "settled when the client comes"),
        ("[store]\nurl = \"memory:\"\n[gate]\nmax_depth = 100000\n", "max_depth"),
        ("[store]\nurl = \"memory:\"\n[plugins.slow]\nsource = \"none.wasm\"\n", "there is no plug-in file"),
    ] {
        folder.write("work/counterfoil.toml", &format!("{head}{}", named("other")));
        hang_up(&session);
        let told = said(&mut messages, words);
        assert!(told.contains("is not in force; what was stays"), "{told}");
        id += 1;
        assert_eq!(names(&mut session, id), ["echo"]);
    }
    assert!(!folder.path("work/other.db").exists());
    let (code, rest, _) = session.end();
    assert_eq!((code, rest.as_str()), (Some(0), ""), "nobody was told of a change");
}

#[test]
fn nobody_is_told_of_a_reload_that_leaves_the_list_as_it_was_nor_before_it_can_be_heard() {
    let folder = folder(&named("echo"));
    let mut session = begun(&folder);
    let mut messages = session.messages();
    folder.write("work/counterfoil.toml", &format!("[gate]\nttl = \"1m\"\n{}", named("echo")));
    hang_up(&session);
    let told = said(&mut messages, "is in force: 1 tools");
    assert!(!told.contains("list of tools has changed"), "{told}");
    session.send(&request(9, "ping", &json!({})));
    session.answer(9);
    assert_eq!(session.end().0, Some(0));

    // A client of this generation hears nothing before it has said that it is there, and then what it has missed.
    let mut session = Session::start(&folder);
    let mut messages = session.messages();
    session.send(&(hello(1) + &request(2, "tools/list", &json!({}))));
    session.answer(1);
    session.answer(2);
    folder.write("work/counterfoil.toml", &named("other"));
    hang_up(&session);
    said(&mut messages, "list of tools has changed");
    session.send(&request(9, "ping", &json!({})));
    session.answer(9);
    session.send(&(INITIALIZED.to_owned() + INITIALIZED));
    changed(&mut session);
    assert_eq!(names(&mut session, 10), ["other"]);
    let (code, rest, _) = session.end();
    assert_eq!((code, rest.as_str()), (Some(0), ""), "it was told once");
}

#[test]
fn a_subscription_is_acknowledged_told_and_ended_with_the_input() {
    let folder = folder(&named("echo"));
    let mut session = Session::start(&folder);
    let modern = |id: u32, method: &str, mut params: Value| {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        request(id, method, &params)
    };
    let listen = |id: u32, what: Value| modern(id, "subscriptions/listen", json!({"notifications": what}));
    session.send(&listen(1, json!({"toolsListChanged": true, "promptsListChanged": true})));
    let known = session.line();
    assert_eq!(known["method"], "notifications/subscriptions/acknowledged", "{known}");
    assert_eq!(known["params"]["notifications"], json!({"toolsListChanged": true}), "{known}");
    // One that did not ask for it is not told.
    session.send(&listen(2, json!({"promptsListChanged": true})));
    assert_eq!(session.line()["params"]["notifications"], json!({}));
    session.send(&modern(3, "tools/list", json!({})));
    assert_eq!(session.answer(3)["result"]["tools"][0]["name"], "echo");
    folder.write("work/counterfoil.toml", &named("other"));
    hang_up(&session);
    let news = session.line();
    assert_eq!(news["method"], "notifications/tools/list_changed", "{news}");
    assert_eq!(news["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 1, "{news}");

    // So many, and no more: each is a request that is worked on.
    for id in 10..16 {
        session.send(&listen(id, json!({})));
        assert_eq!(session.line()["method"], "notifications/subscriptions/acknowledged");
    }
    // Each is acknowledged before it takes its place, so it need not be the last that finds none.
    session.send(&listen(16, json!({})));
    let refusal = [session.line(), session.line()].into_iter().find(|line| line.get("error").is_some()).unwrap();
    assert!(refusal["error"]["message"].as_str().unwrap().contains("8 subscriptions are open"), "{refusal}");
    let refused = refusal["id"].as_u64().unwrap();
    let open: Vec<u64> = [1, 2].into_iter().chain(11..=16).filter(|id| *id != refused).collect();
    let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 10}});
    session.send(&format!("{cancelled}\n"));
    session.send(&modern(17, "subscriptions/listen", json!({"notifications": 5})));
    assert_eq!(session.answer(17)["error"]["code"], -32602);
    // A graceful end for each that is open, and the process ends.
    let (code, rest, messages) = session.end();
    let mut ended: Vec<u64> =
        rest.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].as_u64().unwrap()).collect();
    ended.sort_unstable();
    assert_eq!((code, ended), (Some(0), open), "{rest}\n{messages}");
}

/// What a plug-in has is part of what was confirmed: none of it can change under a token.
#[test]
fn a_call_that_was_previewed_with_other_grants_does_not_run() {
    let folder = Folder::new();
    std::fs::copy(fixture("counter"), folder.path("work/counter.wasm")).unwrap();
    for dir in ["data", "other"] {
        std::fs::create_dir(folder.path("work").join(dir)).unwrap();
        folder.write(&format!("work/{dir}/counter"), "1");
    }
    let secret = |value: &str| {
        folder.write("work/key", value);
        std::fs::set_permissions(folder.path("work/key"), Permissions::from_mode(0o600)).unwrap();
    };
    secret("first-value");
    let usual = "dirs = [{ host = \"./data\", guest = \"/data\", access = \"read-write\" }]\n\
        env = { KEY = { file = \"key\" } }\nhttp = [{ host = \"example.com\" }]\n";
    let write = |lines: &str| {
        let head = "[store]\nurl = \"sqlite:state.db\"\n[plugins.counter]\nsource = \"counter.wasm\"\n";
        folder.write("work/counterfoil.toml", &format!("{head}{lines}"));
    };
    write(usual);
    folder.lock();
    let mut session = begun(&folder);
    let mut messages = session.messages();
    let mut id = 10;
    let mut call = |session: &mut Session, arguments: Value| {
        id += 1;
        session.send(&request(id, "tools/call", &json!({ "name": "increment", "arguments": arguments })));
        session.answer(id)["result"]["structuredContent"].take()
    };
    let dir = |from: &str, to: &str| usual.replace(from, to);
    for (what, lines) in [
        ("another directory", dir("./data", "./other")),
        ("another right", dir("read-write", "read-only")),
        ("no directory", dir("dirs = [{ host = \"./data\", guest = \"/data\", access = \"read-write\" }]\n", "")),
        ("another host", dir("example.com", "www.example.com")),
        ("another method", dir("\"example.com\"", "\"example.com\", methods = [\"POST\"]")),
        ("previews may send", dir("\"example.com\"", "\"example.com\", preview = true")),
        ("no variable", dir("env = { KEY = { file = \"key\" } }\n", "")),
        ("another value", usual.to_owned()),
        ("a fixed clock", format!("{usual}fixed = {{ clock = \"2026-01-01T00:00:00Z\" }}\n")),
    ] {
        let challenge = call(&mut session, json!({ "by": 1 }));
        let token = challenge["confirm_token"].as_str().unwrap_or_else(|| panic!("{challenge}"));
        let confirmed = json!({ "by": 1, "confirm_token": token });
        if what == "another value" {
            secret("second-value");
        }
        write(&lines);
        hang_up(&session);
        said(&mut messages, "is in force");
        let answer = call(&mut session, confirmed);
        assert_eq!(answer["reason"], "tool_changed", "{what}: {answer}");
        for data in ["data", "other"] {
            assert_eq!(std::fs::read_to_string(folder.path("work").join(data).join("counter")).unwrap(), "1", "{what}");
        }
        write(usual);
        hang_up(&session);
        said(&mut messages, "is in force");
    }
    // With what was there at the preview it runs.
    let challenge = call(&mut session, json!({ "by": 1 }));
    let confirmed = json!({ "by": 1, "confirm_token": challenge["confirm_token"] });
    hang_up(&session);
    said(&mut messages, "is in force");
    assert_eq!(call(&mut session, confirmed)["value"], 2);
    assert_eq!(session.end().0, Some(0));
}
