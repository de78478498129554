//! A reload while a request is under way: what the old host has begun counts in the new one.

use super::server::Server;
use crate::startup::{Session, hello, request};
use counterfoil_tests::program::Folder;
use serde_json::{Value, json};
use std::process::Command;

/// With a plug-in `fetch`, and so many runs of it at once; without it with another one.
fn configuration(port: u16, tool: &str, together: Option<u32>) -> String {
    let (plugin, together) = together.map_or(("other", 1), |together| ("fetch", together));
    format!(
        "[store]\nurl = \"memory:\"\n[plugins.{plugin}]\nsource = \"fetch.wasm\"\nrename = {{ fetch = \"{tool}\" }}\n\
         limits = {{ queue = \"1s\", max_concurrent = {together} }}\n\
         [[plugins.{plugin}.http]]\nscheme = \"http\"\nhost = \"127.0.0.1\"\nport = {port}\nmethods = [\"GET\", \"POST\"]\n"
    )
}

/// One at once before the first reload; after each so many, or no such plug-in.
async fn one_run_at_a_time(reloads: &[Option<u32>]) {
    let server = Server::start(None).await;
    let folder = Folder::new();
    std::fs::copy(counterfoil_tests::fixture("fetch"), folder.path("work/fetch.wasm")).unwrap();
    let last = format!("after_{}", reloads.len());
    folder.write("work/counterfoil.toml", &configuration(server.port, "before", Some(1)));
    folder.lock();
    let mut session = Session::start(&folder);
    let call = |id: u32, tool: &str, path: &str| {
        let arguments = json!({ "authority": server.authority(), "path": path });
        request(id, "tools/call", &json!({ "name": tool, "arguments": arguments }))
    };
    let note =
        |method: &str, params: Value| format!("{}\n", json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    session.send(&(hello(1) + &note("notifications/initialized", json!({})) + &request(2, "tools/list", &json!({}))));
    session.answer(1);
    session.answer(2);
    session.send(&call(3, "before", "/hang"));
    server.came().await;

    for (number, together) in (1..).zip(reloads) {
        let tool = format!("after_{number}");
        folder.write("work/counterfoil.toml", &configuration(server.port, &tool, *together));
        folder.lock();
        let sent = Command::new("kill").args(["-HUP", &session.child.id().to_string()]).status();
        assert!(sent.unwrap().success());
        let news = session.line();
        assert_eq!(news["method"], "notifications/tools/list_changed", "{news}");
        session.send(&request(100 + number, "tools/list", &json!({})));
        session.answer(100 + number);
    }
    session.send(&call(4, &last, "/"));
    let answer = session.answer(4);
    let error = answer["result"]["structuredContent"]["error"].as_str().unwrap_or_default();
    assert!(error.contains("plug-in fetch is busy: try again later"), "{answer}");
    assert_eq!(server.seen().len(), 1);

    session.send(&note("notifications/cancelled", json!({ "requestId": 3 })));
    server.gone().await;
    session.send(&call(5, &last, "/"));
    let answer = session.answer(5);
    assert_eq!(answer["result"]["structuredContent"]["status"], "ok", "{answer}");
    assert_eq!(session.end().0, Some(0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_runs_from_before_a_reload_counts_after_it() {
    one_run_at_a_time(&[Some(1)]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_runs_from_before_a_reload_is_alone_also_where_more_are_allowed_from_then_on() {
    one_run_at_a_time(&[Some(3)]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_runs_counts_after_every_further_reload_whatever_each_allows() {
    one_run_at_a_time(&[Some(3), Some(2), Some(3)]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_runs_counts_when_its_plug_in_was_taken_out_and_is_put_back() {
    one_run_at_a_time(&[None, Some(3)]).await;
    one_run_at_a_time(&[Some(3), None, Some(1)]).await;
}
