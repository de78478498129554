//! A plug-in that prints: it is in the log and nowhere else.

use counterfoil_tests::program::Folder;
use serde_json::{Value, json};

/// A folder with the fixture that prints.
fn noisy() -> Folder {
    let folder = Folder::new();
    std::fs::copy(counterfoil_tests::fixture("noisy"), folder.path("work/noisy.wasm")).unwrap();
    folder.write("work/counterfoil.toml", "[plugins.noisy]\nsource = \"noisy.wasm\"\n");
    folder.lock();
    folder
}

#[test]
fn what_a_plug_in_prints_is_in_the_log_escaped_and_visibly_cut() {
    let folder = noisy();
    let mut command = folder.command(&["call", "shout", "{}", "--json"]);
    let output = command.env("COUNTERFOIL_LOG", "counterfoil::plugin=info").output().unwrap();
    let log = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{log}");
    let line = |words: &[&str]| {
        let mut lines = log.lines().filter(|line| words.iter().all(|word| line.contains(word)));
        lines.next().unwrap_or_else(|| panic!("no line with {words:?} in:\n{log}"))
    };
    line(&["listing", "plugin=\"noisy\"", "tool=\"list-tools\""]);
    line(&[r"\e[2J\u{202e}evil\n", "plugin=\"noisy\"", "tool=\"shout\"", "stream=\"stderr\""]);
    assert!(!log.contains(['\u{1b}', '\u{202e}']), "{log}");
    let cut = line(&["jsonrpc", "stream=\"stdout\"", "… and 984653 bytes more"]);
    assert!(cut.len() < 20_000, "{}", cut.len());
    // Unless they are asked for, there are no such lines.
    assert_eq!(folder.run(&["--config", "counterfoil.toml", "call", "shout", "{}", "--json"]).err, "");
}

#[test]
fn a_plug_in_that_prints_leaves_nothing_but_the_protocol_on_standard_output() {
    let folder = noisy();
    let ask = |id: u8, method: &str, params: Value| {
        format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
    };
    let hello =
        json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}});
    let input = ask(1, "initialize", hello)
        + &ask(2, "tools/list", json!({}))
        + &ask(3, "tools/call", json!({"name": "shout", "arguments": {}}));
    let ran = folder.run_with_input(&["--config", "counterfoil.toml", "serve"], &input);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:?}");
    let answers: Vec<Value> = ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut ids: Vec<&Value> = answers.iter().map(|answer| &answer["id"]).collect();
    ids.sort_by_key(|id| id.as_u64());
    assert_eq!(ids, [1, 2, 3], "{}", ran.out);
    let called = answers.iter().find(|answer| answer["id"] == 3).unwrap();
    assert_eq!(called["result"]["structuredContent"]["stdin"], 0, "{called}");
}
