//! What bounds a plug-in's requests: their number, their bodies, the headers of an answer, and the end of the call, which
//! ends its connections.

use super::server::Server;
use super::{Served, plain, request, serve};
use crate::plugin::bench::{SHORT, call};
use counterfoil::plugin::{HttpGrant, Limits};
use counterfoil::{Host, Status};
use counterfoil_tests::program::{Folder, Ran};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

async fn host(server: &Server, limits: Limits) -> Host {
    let grant = HttpGrant { methods: vec!["GET".into(), "POST".into()], ..plain(server.port) };
    serve("fetch", Served { http: vec![grant], limits, ..Served::default() }).await
}

#[track_caller]
fn failure((status, payload): (Status, Value), with: &str) {
    assert_eq!(status, Status::Ok, "{payload}");
    assert!(payload["failure"].as_str().is_some_and(|text| text.contains(with)), "{with}: {payload}");
}

#[tokio::test]
async fn the_bodies_of_a_call_are_bounded_together() {
    let server = Server::start(None).await;
    let host = host(&server, Limits { http_body: 100_000, ..Limits::default() }).await;
    let (_, within) = call(&host, "fetch", &request("GET", &server.authority(), "/bytes/99999")).await;
    assert_eq!(within["length"], 99_999, "{within}");
    failure(
        call(&host, "fetch", &request("GET", &server.authority(), "/bytes/100001")).await,
        "response body size exceeds limit",
    );
    // Two that would each be within it, and what is sent counts as what comes back.
    let twice = json!({ "authority": server.authority(), "path": "/bytes/60000", "times": 2 }).to_string();
    failure(call(&host, "fetch", &twice).await, "response body size exceeds limit");
    let send = |size: u32| json!({ "method": "POST", "authority": server.authority(), "size": size }).to_string();
    let (_, within) = call(&host, "fetch", &send(99_000)).await;
    assert_eq!(within["answer"], 200, "{within}");
    failure(call(&host, "fetch", &send(100_001)).await, "HttpRequestBodySize");
}

#[tokio::test]
async fn the_requests_of_a_call_are_counted() {
    let server = Server::start(None).await;
    let host = host(&server, Limits { http_requests: 3, ..Limits::default() }).await;
    let times = |times: u32| json!({ "authority": server.authority(), "times": times }).to_string();
    assert_eq!(call(&host, "fetch", &times(3)).await.1["answer"], 200);
    failure(call(&host, "fetch", &times(4)).await, "ConnectionLimitReached");
    assert_eq!(server.seen().len(), 6);
}

/// Whatever is handed over costs one, sent or not; the log has one line.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_thousand_requests_that_are_denied_or_malformed_come_to_the_limit_and_one_line() {
    let server = Server::start(None).await;
    let (authority, port) = (server.authority(), server.port);
    let calls = move || {
        let folder = Folder::new();
        std::fs::copy(counterfoil_tests::fixture("fetch"), folder.path("work/fetch.wasm")).unwrap();
        let grant = format!("[[plugins.fetch.http]]\nscheme = \"http\"\nhost = \"127.0.0.1\"\nport = {port}\n");
        folder.write("work/counterfoil.toml", &format!("[plugins.fetch]\nsource = \"fetch.wasm\"\n{grant}"));
        folder.lock();
        let call = |mut arguments: Value| {
            arguments["times"] = 100_000.into();
            let mut command = folder.command(&["call", "fetch", &arguments.to_string(), "--json"]);
            let ran = command.env("COUNTERFOIL_LOG", "counterfoil::plugin=info").output().unwrap();
            let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
            Ran { code: ran.status.code().unwrap(), out: text(&ran.stdout), err: text(&ran.stderr) }
        };
        [
            (call(json!({ "authority": "denied.example" })), "denied: GET http://denied.example, and 99999 more"),
            (
                call(json!({ "authority": authority, "path": "" })),
                "denied: a request that is malformed, and 99999 more",
            ),
            (call(json!({ "authority": authority, "path": "", "scheme": "a b" })), ""),
        ]
    };
    for (ran, line) in tokio::task::spawn_blocking(calls).await.unwrap() {
        if !line.is_empty() {
            failure((Status::Ok, ran.json()), "ConnectionLimitReached");
        }
        assert!(ran.err.contains(line) && ran.err.len() < 1000 && ran.err.lines().count() <= 2, "{ran:?}");
    }
    assert!(server.seen().is_empty());
}

#[tokio::test]
async fn the_headers_of_an_answer_are_bounded() {
    let server = Server::start(None).await;
    let host = host(&server, Limits::default()).await;
    assert_eq!(call(&host, "fetch", &request("GET", &server.authority(), "/headers/30000")).await.1["answer"], 200);
    let long = call(&host, "fetch", &request("GET", &server.authority(), "/headers/200000")).await;
    failure(long, "HttpResponseHeaderSectionSize");
}

#[tokio::test]
async fn a_call_that_waits_for_an_answer_ends_at_its_deadline_and_so_does_its_connection() {
    let server = Server::start(None).await;
    let host = host(&server, Limits { execute: SHORT, ..Limits::default() }).await;
    for path in ["/hang", "/pause"] {
        let start = Instant::now();
        let (status, payload) = call(&host, "fetch", &request("GET", &server.authority(), path)).await;
        assert_eq!((status, &payload["reason"]), (Status::Failed, &json!("deadline")), "{payload}");
        server.gone().await;
        assert!(start.elapsed() < SHORT + Duration::from_millis(500), "{:?}", start.elapsed());
    }
}

#[tokio::test]
async fn a_call_that_is_given_up_takes_its_connection_with_it() {
    let server = Server::start(None).await;
    let host = host(&server, Limits::default()).await;
    let arguments = request("GET", &server.authority(), "/hang");
    let waiting = tokio::spawn(async move { call(&host, "fetch", &arguments).await });
    server.came().await;
    waiting.abort();
    server.gone().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_program_takes_both_limits_from_its_configuration() {
    let server = Server::start(None).await;
    let (authority, port) = (server.authority(), server.port);
    let calls = move || {
        let folder = Folder::new();
        std::fs::copy(counterfoil_tests::fixture("fetch"), folder.path("work/fetch.wasm")).unwrap();
        let limits = "limits = { http_requests = 2, http_body = \"1 KiB\" }";
        let grant = format!("[[plugins.fetch.http]]\nscheme = \"http\"\nhost = \"127.0.0.1\"\nport = {port}\n");
        folder.write("work/counterfoil.toml", &format!("[plugins.fetch]\nsource = \"fetch.wasm\"\n{limits}\n{grant}"));
        folder.lock();
        let fetched = |times: u32, path: &str| {
            let arguments = json!({ "authority": authority, "times": times, "path": path }).to_string();
            (Status::Ok, folder.run(&["call", "fetch", &arguments, "--json"]).json())
        };
        [fetched(2, "/"), fetched(3, "/"), fetched(1, "/bytes/1024"), fetched(1, "/bytes/1025")]
    };
    let [two, three, within, over] = tokio::task::spawn_blocking(calls).await.unwrap();
    assert_eq!((&two.1["answer"], &within.1["length"]), (&json!(200), &json!(1024)), "{two:?} {within:?}");
    failure(three, "ConnectionLimitReached");
    failure(over, "response body size exceeds limit");
    assert_eq!(server.seen().len(), 6);
}
