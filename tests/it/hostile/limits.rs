//! Limits, where it matters how soon: at a deadline, when a caller goes away, when one owner asks for everything.

use super::pace;
use crate::plugin::bench::{SANDBOX, call, confirmed, gate, load, options};
use counterfoil::plugin::{Access, DirGrant, Limits, Plugin};
use counterfoil::{Host, Incoming, Owner, Status};
use counterfoil_tests::program::Folder;
use serde_json::Value;
use std::time::{Duration, Instant};

/// How much later than its deadline a call may be stopped.
const LATE: Duration = Duration::from_millis(100);
/// The deadline of the calls that are measured: it comes often, and how late they are does not depend on it.
const DEADLINE: Duration = Duration::from_millis(150);

async fn hostile(name: &str, limits: Limits, data: Option<&std::path::Path>) -> Host {
    let mut options = options("hostile");
    options.limits = limits;
    options.dirs.extend(data.map(|data| DirGrant {
        host: data.into(),
        guest: "/data".into(),
        access: Access::ReadWrite,
    }));
    let bytes = std::fs::read(counterfoil_tests::hostile(name)).unwrap();
    options.lock = Some(Plugin::digest_of(&bytes));
    let plugin = Plugin::from_bytes(&SANDBOX, bytes, options, "hostile.wasm").await.unwrap();
    Host::builder(gate()).plugin(plugin).build().await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_runaway_call_is_stopped_within_100_ms_of_its_deadline() {
    let data = tempfile::tempdir().unwrap();
    for name in [
        "loop_execute",
        "loop_preview",
        "sleep_execute",
        "sleep_preview",
        "call_host",
        "fill_memory",
        "print_endlessly",
        "report_endlessly",
    ] {
        let limits = Limits { preview: DEADLINE, execute: DEADLINE, ..Limits::default() };
        let host = hostile(name, limits, Some(data.path())).await;
        pace::comes(name, 80, async || {
            let mut late = Vec::new();
            for _ in 0..5 {
                let start = Instant::now();
                let (status, payload) = call(&host, "bad", "{}").await;
                let took = start.elapsed();
                assert!(matches!(status, Status::Failed | Status::Rejected), "{name}: {payload}");
                assert!(took >= DEADLINE, "{name}: {took:?} {payload}");
                late.push(took - DEADLINE);
            }
            (late, LATE)
        })
        .await;
    }
}

pub async fn call_as(host: &Host, owner: &str, tool: &str) -> (Status, Value) {
    let owner = Owner::new("name", owner).unwrap();
    let reply = host.call(Incoming { owner, tool: tool.into(), arguments: "{}".into(), progress: None }).await;
    (reply.status, serde_json::from_str(&reply.payload).unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_owner_with_too_many_calls_is_told_so_and_another_is_served() {
    let limits = Limits { execute: Duration::from_secs(60), per_owner: 3, ..Limits::default() };
    let host = hostile("sleep_execute", limits, None).await;
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..4 {
        let host = host.clone();
        calls.spawn(async move { call_as(&host, "a", "bad").await });
    }
    // Whichever came last is refused, at once; three are asleep.
    let (status, payload) = calls.join_next().await.unwrap().unwrap();
    assert_eq!((status, &payload["reason"]), (Status::Rejected, &"unavailable".into()), "{payload}");
    let error = payload["error"].as_str().unwrap();
    assert!(error.contains("plug-in hostile has 3 calls of yours already, running or waiting: wait until"), "{error}");
    // Another owner's is taken, and sleeps.
    assert!(tokio::time::timeout(Duration::from_millis(100), call_as(&host, "b", "bad")).await.is_err());
    // Calls that are given up make room at once.
    calls.shutdown().await;
    assert!(tokio::time::timeout(Duration::from_millis(100), call_as(&host, "a", "bad")).await.is_err());
}

#[tokio::test]
async fn how_deep_a_plug_in_may_call_itself_is_the_operators_word() {
    let deep = async |stack: u64| {
        let mut options = options("deep");
        options.limits.stack = stack;
        let host = Host::builder(gate()).plugin(load("deep", options).await.unwrap()).build().await.unwrap();
        call(&host, "deep", r#"{"steps":10000}"#).await
    };
    for stack in [64 << 10, 4 << 20, 16 << 20, 64 << 10] {
        let (status, payload) = deep(stack).await;
        if stack > 1 << 20 {
            assert_eq!((status, payload["steps"].as_u64()), (Status::Ok, Some(10_000)), "{stack}: {payload}");
        } else {
            assert_eq!((status, &payload["reason"]), (Status::Failed, &"trapped".into()), "{stack}: {payload}");
            assert!(payload["error"].as_str().unwrap().contains("too deeply"), "{payload}");
        }
    }
}

#[tokio::test]
async fn a_pipe_is_not_opened_and_costs_no_thread() {
    let data = tempfile::tempdir().unwrap();
    assert!(std::process::Command::new("mkfifo").arg(data.path().join("pipe")).status().unwrap().success());
    let host = hostile("read_pipe", Limits::default(), Some(data.path())).await;
    // As many as the runtime has threads for what blocks, and more.
    for _ in 0..600 {
        let (status, payload) = call(&host, "bad", "{}").await;
        assert_eq!((status, &payload["reason"]), (Status::Failed, &"tool_error".into()), "{payload}");
    }
    assert_eq!(tokio::task::spawn_blocking(|| 7).await.unwrap(), 7);
}

#[tokio::test]
async fn a_token_that_a_plug_in_made_up_is_none() {
    let host = hostile("imitate_challenge", Limits::default(), None).await;
    let (_, payload) = call(&host, "bad", "{}").await;
    let made_up = payload["details"]["confirm_token"].as_str().unwrap();
    let (status, payload) = call(&host, "bad", &format!(r#"{{"confirm_token":"{made_up}"}}"#)).await;
    assert_eq!((status, &payload["reason"]), (Status::Rejected, &"unknown_or_used".into()), "{payload}");
}

#[tokio::test]
async fn what_understates_itself_is_confirmed_once_the_operator_raises_it() {
    let data = tempfile::tempdir().unwrap();
    std::fs::write(data.path().join("old"), "text").unwrap();
    let mut options = options("hostile");
    options.dirs.push(DirGrant { host: data.path().into(), guest: "/data".into(), access: Access::ReadWrite });
    let bytes = std::fs::read(counterfoil_tests::hostile("lie_caution")).unwrap();
    options.lock = Some(Plugin::digest_of(&bytes));
    let plugin = Plugin::from_bytes(&SANDBOX, bytes, options, "hostile.wasm").await.unwrap();
    let raised = Host::builder(gate()).plugin(plugin).level("bad", counterfoil::Level::ApprovalRequired);
    let host = raised.build().await.unwrap();
    assert_eq!(call(&host, "bad", "{}").await.0, Status::ConfirmationRequired);
    assert!(data.path().join("old").exists());
    assert_eq!(confirmed(&host, "bad", "{}").await.0, Status::Ok);
    assert!(!data.path().join("old").exists());
}

/// The limits of a plug-in, as the configuration's schema describes them.
pub fn table(source: &str) -> String {
    assert_eq!(source, "limits", "nothing makes \"{source}\"");
    let schema = Folder::new().run(&["config", "schema"]).json();
    let keys = schema["$defs"]["LimitsTable"]["properties"].as_object().unwrap();
    let row = |(key, about): (&String, &Value)| {
        let text = about["description"].as_str().unwrap_or_else(|| panic!("{key} is not described"));
        let (what, default) = text.split_once(" Default: ").unwrap_or_else(|| panic!("{key} has no default"));
        format!("| `{key}` | {} | {what} |\n", default.trim_end_matches('.').trim_matches('"'))
    };
    format!("| key | default | |\n| --- | --- | --- |\n{}", keys.iter().map(row).collect::<String>())
}
