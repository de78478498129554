//! Room for calls: how much of it one owner has, whichever plug-ins it calls, and that who gets none has spent nothing.

use super::limits::call_as;
use super::made::with_more;
use crate::plugin::bench::{Setup, bench_with, gate, options};
use crate::startup::{Session, hello, request};
use counterfoil::plugin::{Limits, Plugin, Sandbox, SandboxOptions};
use counterfoil::{Host, Status};
use counterfoil_tests::program::Folder;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// How long a call waits for room here. Who gets room gets it at once.
const QUEUE: Duration = Duration::from_millis(500);
/// What a test waits for something that has to come.
const COMES: Duration = Duration::from_secs(30);

/// The next call of them that ends: it is told that there is no room.
async fn is_turned_away(calls: &mut JoinSet<(Status, Value)>) {
    let next = tokio::time::timeout(COMES, calls.join_next()).await.expect("a call that gets no room");
    let (status, payload) = next.unwrap().unwrap();
    assert_eq!((status, &payload["reason"]), (Status::Rejected, &json!("unavailable")), "{payload}");
    assert!(payload["error"].as_str().unwrap().contains("is busy: try again later"), "{payload}");
}

async fn served(sandbox: &Arc<Sandbox>, file: &Path) -> Host {
    let mut options = options("one");
    options.limits = Limits { reading: 32, execute: Duration::from_secs(600), queue: QUEUE, ..Limits::default() };
    let plugin = Plugin::load(sandbox, file, options).await.unwrap();
    Host::builder(gate()).plugin(plugin).build().await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_owner_of_many_plug_ins_leaves_instances_to_others() {
    // One of its own: other tests need the instances of theirs.
    let sandbox = Sandbox::new(SandboxOptions { cache: Some(counterfoil_tests::code()) }).unwrap();
    let asleep = counterfoil_tests::hostile("sleep_execute");
    let (first, second) = (served(&sandbox, &asleep).await, served(&sandbox, &asleep).await);
    let echo = served(&sandbox, &counterfoil_tests::fixture("echo")).await;
    let mut calls = JoinSet::new();
    // Each plug-in gives one owner 24 turns, and the sandbox has 32.
    for host in [first, second] {
        for _ in 0..24 {
            let host = host.clone();
            calls.spawn(async move { call_as(&host, "a", "bad").await });
        }
    }
    for _ in 0..24 {
        is_turned_away(&mut calls).await;
    }
    // 24 are asleep, and the rest is somebody else's.
    assert_eq!(call_as(&echo, "b", "echo").await.0, Status::Ok);
    let own = echo.clone();
    calls.spawn(async move { call_as(&own, "a", "echo").await });
    is_turned_away(&mut calls).await;
    calls.shutdown().await;
    assert_eq!(call_as(&echo, "a", "echo").await.0, Status::Ok);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn calls_of_a_plug_in_that_is_made_of_much_leave_room_for_those_of_others() {
    let sandbox = Sandbox::new(SandboxOptions { cache: Some(counterfoil_tests::code()) }).unwrap();
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("large.wasm");
    let asleep = std::fs::read(counterfoil_tests::hostile("sleep_execute")).unwrap();
    // With its own it has four memories, and nearly as many core instances as a plug-in may have.
    std::fs::write(&file, with_more(asleep, 3, 50)).unwrap();
    let large = served(&sandbox, &file).await;
    let echo = served(&sandbox, &counterfoil_tests::fixture("echo")).await;
    let mut calls = JoinSet::new();
    for (owner, count) in [("a", 25), ("b", 7)] {
        for _ in 0..count {
            let large = large.clone();
            calls.spawn(async move { call_as(&large, owner, "bad").await });
        }
    }
    // One of `a` gets no room. The others have it, and what has room is started: there is one left of 32.
    is_turned_away(&mut calls).await;
    for _ in 0..5 {
        let begun = Instant::now();
        assert_eq!(call_as(&echo, "c", "echo").await.0, Status::Ok);
        assert!(begun.elapsed() < QUEUE, "{:?}", begun.elapsed());
    }
    assert!(calls.try_join_next().is_none());
    calls.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_confirmed_run_that_gets_no_room_in_time_has_not_spent_its_token() {
    let limits = Limits { execute: Duration::from_secs(600), queue: QUEUE, ..Limits::default() };
    let slow = Arc::new(bench_with("slow", Setup { limits, ..Setup::default() }).await);
    let (status, payload) = slow.call("slow_dangerous", "{}").await;
    assert_eq!(status, Status::ConfirmationRequired, "{payload}");
    let confirmed = json!({ "confirm_token": payload["confirm_token"] }).to_string();
    let mut calls = JoinSet::new();
    for _ in 0..2 {
        let slow = Arc::clone(&slow);
        calls.spawn(async move { slow.call("slow", r#"{"ms":600000}"#).await });
    }
    // One of two runs that may write, so the other has the turn.
    is_turned_away(&mut calls).await;
    let held = Arc::clone(&slow);
    let again = confirmed.clone();
    calls.spawn(async move { held.call("slow_dangerous", &again).await });
    is_turned_away(&mut calls).await;
    let log = || std::fs::read_to_string(slow.data.path().join("log")).unwrap();
    assert_eq!(log(), "start\n");
    calls.shutdown().await;
    let (status, payload) = slow.call("slow_dangerous", &confirmed).await;
    assert_eq!((status, payload["replayed"].as_bool()), (Status::Ok, None), "{payload}");
    assert_eq!(log(), "start\nstart\nend\n");
}

#[test]
fn what_a_plug_in_prints_in_a_minute_is_bounded_and_its_calls_go_on() {
    let folder = Folder::new();
    std::fs::copy(counterfoil_tests::fixture("noisy"), folder.path("work/noisy.wasm")).unwrap();
    let logged = |limit: &str| {
        let limits = format!("limits = {{ log = \"2 KiB\", log_per_minute = \"{limit}\" }}\n");
        folder.write("work/counterfoil.toml", &format!("[plugins.noisy]\nsource = \"noisy.wasm\"\n{limits}"));
        folder.lock();
        let mut command = folder.command(&["serve"]);
        command.env("COUNTERFOIL_LOG", "counterfoil::plugin=info");
        let mut session = Session::of(command);
        session.send(&hello(1));
        session.answer(1);
        for id in 2..7 {
            session.send(&request(id, "tools/call", &json!({ "name": "shout", "arguments": {} })));
            let answer = session.answer(id);
            assert_eq!(answer["result"]["structuredContent"]["status"], "ok", "{answer}");
        }
        let (code, _, log) = session.end();
        assert_eq!(code, Some(0), "{log}");
        let count = |word: &str| log.lines().filter(|line| line.contains(word)).count();
        (count("jsonrpc"), count("prints more than 5120 bytes a minute: the rest of this minute is left out"))
    };
    // Each prints 2 KiB and a line: two fit, the third is over, and what comes then is left out without a word.
    assert_eq!(logged("5 KiB"), (2, 1));
    assert_eq!(logged("1 MiB"), (5, 0));
}

#[test]
fn the_log_has_the_first_16_kib_of_what_is_printed_for_ever() {
    let folder = Folder::new();
    std::fs::copy(counterfoil_tests::hostile("print_endlessly"), folder.path("work/hostile.wasm")).unwrap();
    // Every limit but that of time is the default.
    let plugin = "[plugins.hostile]\nsource = \"hostile.wasm\"\nlimits = { execute = \"2s\" }\n";
    folder.write("work/counterfoil.toml", plugin);
    folder.lock();
    let mut command = folder.command(&["call", "bad", "{}", "--json"]);
    let output = command.env("COUNTERFOIL_LOG", "counterfoil::plugin=info").output().unwrap();
    let log = String::from_utf8(output.stderr).unwrap();
    let lines: Vec<&str> = log.lines().filter(|line| line.contains("xxxx")).collect();
    let [line] = lines[..] else { panic!("{} lines of what it prints", lines.len()) };
    let (kept, rest) = line.split_once(" … and ").expect("a word about the rest");
    assert!(rest.contains(" bytes more"), "{rest}");
    // Lines of 4096 letters and an end, which is escaped.
    let letters = kept[kept.find("xxxx").unwrap()..].replace("\\n", "\n");
    assert_eq!(letters.len(), 16 << 10);
    assert!(letters.split('\n').take(3).all(|line| line == "x".repeat(4096)), "{letters:.100}");
}
