//! The program with a plug-in that computes for ever, as a client sees it.

use super::pace;
use crate::startup::{Session, hello, request};
use counterfoil_tests::program::Folder;
use serde_json::json;
use std::time::{Duration, Instant};

/// Processor time that a process has used, in hundredths of a second.
fn used(session: &Session) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{}/stat", session.child.id())).unwrap();
    let fields: Vec<&str> = text.rsplit(") ").next().unwrap().split(' ').collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}

/// What it uses in a tenth of a second. That it uses nothing is no event to wait for: it is measured over some time.
fn busy(session: &Session) -> u64 {
    let before = used(session);
    std::thread::sleep(Duration::from_millis(100));
    used(session) - before
}

fn tool(id: u32, name: &str) -> String {
    request(id, "tools/call", &json!({ "name": name, "arguments": {} }))
}

fn cancel(ids: impl Iterator<Item = u32>) -> String {
    ids.map(|id| {
        let note = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } });
        format!("{note}\n")
    })
    .collect()
}

/// How long calls and lists take, in turns.
fn asked(session: &mut Session, first: u32) -> (Vec<Duration>, Vec<Duration>) {
    let (mut calls, mut lists) = (Vec::new(), Vec::new());
    for id in first..first + 40 {
        let (message, times) = match id % 2 {
            0 => (tool(id, "echo"), &mut calls),
            _ => (request(id, "tools/list", &json!({})), &mut lists),
        };
        let start = Instant::now();
        session.send(&message);
        session.answer(id);
        times.push(start.elapsed());
    }
    (calls, lists)
}

#[test]
fn a_client_is_served_while_calls_run_away_and_cancelling_stops_them() {
    let folder = Folder::new();
    std::fs::copy(counterfoil_tests::hostile("loop_execute"), folder.path("work/hostile.wasm")).unwrap();
    std::fs::copy(counterfoil_tests::fixture("echo"), folder.path("work/echo.wasm")).unwrap();
    folder.write(
        "work/counterfoil.toml",
        "[plugins.echo]\nsource = \"echo.wasm\"\n\
         [plugins.hostile]\nsource = \"hostile.wasm\"\nlimits = { execute = \"10m\", per_owner = 6 }\n",
    );
    let mut session = Session::of(folder.command(&["serve"]));
    session.send(&hello(1));
    session.answer(1);
    session.send(&request(2, "tools/list", &json!({})));
    session.answer(2);
    let (calls_alone, lists_alone) = asked(&mut session, 1000);
    // One more than it may have: whichever comes last is refused, and then six are in.
    for id in 10..17 {
        session.send(&tool(id, "bad"));
    }
    let refused = session.line();
    let refused = refused["result"]["content"][0]["text"].as_str().unwrap().to_owned();
    assert!(refused.contains("has 6 calls of yours already"), "{refused}");
    let (before, begun) = (used(&session), Instant::now());
    while used(&session) < before + 10 {
        assert!(begun.elapsed() < Duration::from_secs(20), "nothing runs away");
        std::thread::yield_now();
    }

    let limits = [calls_alone, lists_alone].map(|alone| pace::beside(pace::within(alone, 50)));
    // A machine that is busy with something else at one moment is not at all of them.
    let mut seen = Vec::new();
    let come = (0..3).any(|turn| {
        let (calls, lists) = asked(&mut session, 2000 + 100 * turn);
        let most = [calls, lists].map(|times| pace::within(times, 80));
        seen.push(most);
        std::iter::zip(most, limits).all(|(most, limit)| most < limit)
    });
    assert!(come, "calls and lists: {seen:?}, and not {limits:?}");

    session.send(&cancel(10..17));
    session.send(&tool(3000, "echo"));
    session.answer(3000);
    assert!((0..30).any(|_| busy(&session) <= 1), "what was cancelled goes on");
    // There is room for six again.
    for id in 20..26 {
        session.send(&tool(id, "bad"));
    }
    session.send(&tool(3001, "echo"));
    session.answer(3001);
    session.send(&cancel(20..26));
    let (code, rest, _) = session.end();
    assert_eq!((code, rest.as_str()), (Some(0), ""));
}

/// What is printed is more than a pipe takes, and nobody reads it.
#[test]
fn a_log_that_nobody_reads_holds_up_no_call_and_no_end() {
    let folder = Folder::new();
    std::fs::copy(counterfoil_tests::fixture("noisy"), folder.path("work/noisy.wasm")).unwrap();
    folder.write("work/counterfoil.toml", "[plugins.noisy]\nsource = \"noisy.wasm\"\n");
    folder.lock();
    let mut command = folder.command(&["serve"]);
    command.env("COUNTERFOIL_LOG", "info");
    let mut session = Session::of(command);
    session.send(&hello(1));
    session.answer(1);
    for id in 2..32 {
        session.send(&tool(id, "shout"));
        let answer = session.answer(id).to_string();
        assert!(answer.contains("shouted"), "{answer}");
    }
    // The end waits for no reader either.
    drop(session.input.take());
    let Session { mut child, .. } = session;
    // Its pipe stays open, and nobody reads from it.
    let messages = child.stderr.take();
    let (tell, told) = std::sync::mpsc::channel();
    std::thread::spawn(move || tell.send(child.wait()));
    told.recv_timeout(Duration::from_secs(20)).expect("it does not end").unwrap();
    drop(messages);
}
