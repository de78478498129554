//! What is known of a failed run that sent something: nothing changed where it only looked or nothing was sent, and nobody
//! knows where a request that changes something was under way.

use super::server::Server;
use super::{Served, everything, plain, serve};
use crate::plugin::bench::{SHORT, call};
use counterfoil::plugin::{HttpGrant, Limits, Scheme};
use counterfoil::{Host, Status};
use serde_json::{Value, json};

async fn failed(host: &Host, mut arguments: Value) -> Value {
    arguments["end"] = "fail".into();
    let (status, payload) = call(host, "fetch", &arguments.to_string()).await;
    assert_eq!((status, &payload["reason"]), (Status::Failed, &json!("trapped")), "{payload}");
    payload
}

#[tokio::test]
async fn a_run_that_sent_a_change_and_failed_may_have_changed_something() {
    let server = Server::start(None).await;
    let host = serve("fetch", Served { http: vec![everything(server.port)], ..Served::default() }).await;
    let arguments =
        |method: &str, size: u32| json!({ "method": method, "authority": server.authority(), "size": size });
    for (method, size, effect) in [
        ("GET", 0, "none"),
        ("HEAD", 0, "none"),
        ("GET", 1, "unknown"),
        ("POST", 0, "unknown"),
        ("DELETE", 0, "unknown"),
        ("OPTIONS", 0, "unknown"),
        ("PURGE", 0, "unknown"),
    ] {
        let failed = failed(&host, arguments(method, size)).await;
        assert_eq!(failed["effect"], effect, "{method} {size}");
        let who = match effect {
            "none" => "the host saw no call that changes anything",
            _ => "the host saw a call that can change something",
        };
        assert!(failed["error"].as_str().unwrap().contains(who), "{failed}");
    }
}

#[tokio::test]
async fn what_was_certainly_not_sent_changed_nothing() {
    let closed = {
        let nobody = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
        nobody.local_addr().unwrap().port()
    };
    let (server, plainly) = (Server::start(None).await, Server::start(None).await);
    let with_tls = HttpGrant { scheme: Scheme::Https, ..everything(plainly.port) };
    let grants = vec![plain(server.port), everything(closed), with_tls];
    let host = serve("fetch", Served { http: grants, ..Served::default() }).await;
    let at = |port: u16| format!("127.0.0.1:{port}");
    for (what, arguments) in [
        ("denied", json!({ "method": "POST", "authority": server.authority() })),
        ("refused by the machine", json!({ "method": "POST", "authority": at(closed) })),
        ("no TLS there", json!({ "method": "POST", "authority": plainly.authority(), "scheme": "https" })),
    ] {
        assert_eq!(failed(&host, arguments).await["effect"], "none", "{what}");
    }
    assert!(server.seen().is_empty() && plainly.seen().is_empty());
}

#[tokio::test]
async fn a_change_that_was_under_way_at_the_deadline_is_not_taken_for_nothing() {
    let server = Server::start(None).await;
    let limits = Limits { execute: SHORT, ..Limits::default() };
    let host = serve("fetch", Served { http: vec![everything(server.port)], limits, ..Served::default() }).await;
    for (method, effect) in [("POST", "unknown"), ("GET", "none")] {
        let arguments = json!({ "method": method, "authority": server.authority(), "path": "/hang" }).to_string();
        let (status, payload) = call(&host, "fetch", &arguments).await;
        assert_eq!((status, &payload["reason"]), (Status::Failed, &json!("deadline")), "{payload}");
        assert_eq!(payload["effect"], effect, "{payload}");
    }
}
