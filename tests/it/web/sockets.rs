//! No plug-in has the network beside HTTP, whatever it was granted.

use super::{Served, everything, serve};
use crate::plugin::bench::{call, confirmed};
use counterfoil::Status;
use serde_json::{Value, json};
use std::net::TcpListener;

#[track_caller]
fn shut(details: &Value) {
    assert_eq!(details["worked"], json!([]), "{details}");
    assert_eq!(details["odd"], json!([]), "{details}");
    assert_eq!(details["denied"], json!(["connect", "connect-v6", "listen", "udp", "look-up"]), "{details}");
}

#[tokio::test]
async fn sockets_and_look_ups_stay_shut_in_every_kind_of_call() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let host = serve("sockets", Served { http: vec![everything(port)], ..Served::default() }).await;
    let arguments = json!({ "port": port }).to_string();
    let (status, challenge) = call(&host, "sockets", &arguments).await;
    assert_eq!(status, Status::ConfirmationRequired, "{challenge}");
    shut(&challenge["preview"]);
    shut(&call(&host, "sockets_safe", &arguments).await.1);
    shut(&confirmed(&host, "sockets", &arguments).await.1);
    assert!(listener.accept().is_err(), "somebody connected");
}
