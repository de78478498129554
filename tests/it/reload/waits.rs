//! Calls that wait for their turn while everything is read anew: what the new configuration would not run does not run.

use super::{begun, folder, hang_up, said};
use crate::startup::request;
use serde_json::{Value, json};

const SLOW: &str = "[store]\nurl = \"memory:\"\n[plugins.slow]\nsource = \"slow.wasm\"\n\
                    dirs = [{ host = \"data\", guest = \"/data\", access = \"read-write\" }]\n\
                    [plugins.slow.limits]\nmax_concurrent = 1\n";

/// A machine may take longer for the reload than for the call that the others wait for: then that one is made longer.
fn waited_out(next: &str, story: impl Fn(&Value, &Value, &str)) {
    assert!([2_000, 8_000, 25_000].into_iter().any(|millis| outlived(millis, next, &story)), "no reload was faster");
}

/// Whether the reload was in force before the first call had ended; then what came of a confirmed call of `slow_dangerous` and
/// of a call of `slow`, which waited behind it, is told with the log of the plug-in.
fn outlived(millis: u32, next: &str, story: impl Fn(&Value, &Value, &str)) -> bool {
    let folder = folder(SLOW);
    let mut session = begun(&folder);
    let mut messages = session.messages();
    let call =
        |id: u32, tool: &str, given: Value| request(id, "tools/call", &json!({"name": tool, "arguments": given}));
    session.send(&call(3, "slow_dangerous", json!({"ms": 1})));
    let token = session.answer(3)["result"]["structuredContent"]["confirm_token"].take();
    session.send(&call(4, "slow", json!({"ms": millis})));
    let log = || std::fs::read_to_string(folder.path("work/data/log")).unwrap_or_default();
    while log().is_empty() {
        std::thread::yield_now();
    }
    session.send(&call(5, "slow_dangerous", json!({"ms": 1, "confirm_token": token})));
    session.send(&call(6, "slow", json!({"ms": 1})));
    folder.write("work/counterfoil.toml", next);
    hang_up(&session);
    said(&mut messages, "is in force");
    if log() != "start\n" {
        return false;
    }
    let mut answers = [Value::Null, Value::Null];
    while answers.iter().any(Value::is_null) {
        let mut line = session.line();
        match line["id"].as_u64() {
            Some(4) => assert_eq!(line["result"]["structuredContent"]["status"], "ok", "{line}"),
            Some(5) => answers[0] = line["result"]["structuredContent"].take(),
            Some(6) => answers[1] = line["result"]["structuredContent"].take(),
            _ => {}
        }
    }
    story(&answers[0], &answers[1], &log());
    let (code, _, _) = session.end();
    assert_eq!(code, Some(0));
    let verified = folder.run(&["audit", "verify", "--json"]).json();
    assert_eq!((&verified["whole"], &verified["remarks"]), (&json!(true), &json!([])), "{verified}");
    true
}

fn denying(tool: &str) -> String {
    format!("{SLOW}[[rules]]\ntool = \"{tool}\"\nwhen = \"true\"\ndeny = true\nreason = \"stop\"\n")
}

#[track_caller]
fn is_changed(answer: &Value) {
    assert_eq!((&answer["status"], &answer["reason"]), (&json!("rejected"), &json!("tool_changed")), "{answer}");
}

#[test]
fn a_confirmed_call_that_waits_does_not_run_where_the_new_rules_deny_it_and_one_that_they_leave_alone_does() {
    waited_out(&denying("slow_dangerous"), |dangerous, slow, log| {
        is_changed(dangerous);
        assert_eq!(slow["status"], "ok", "{slow}");
        assert_eq!(log, "start\nend\n".repeat(2));
    });
}

#[test]
fn nor_does_one_that_needs_no_confirmation_and_the_token_of_another_stays_good() {
    waited_out(&denying("slow"), |dangerous, slow, log| {
        assert_eq!(dangerous["status"], "ok", "{dangerous}");
        is_changed(slow);
        assert_eq!(log, "start\nend\n".repeat(2));
    });
}

#[test]
fn nothing_that_waits_runs_where_its_plug_in_is_gone_or_has_lost_its_directory() {
    let without = "[store]\nurl = \"memory:\"\n[plugins.slow]\nsource = \"slow.wasm\"\n";
    for next in ["[store]\nurl = \"memory:\"\n[plugins.echo]\nsource = \"echo.wasm\"\n", without] {
        waited_out(next, |dangerous, slow, log| {
            is_changed(dangerous);
            is_changed(slow);
            assert_eq!(log, "start\nend\n");
        });
    }
}
