//! Two servers, as two clients start them, on one directory: what one of them looks at, compares and writes is one step for
//! the other.

use super::bench::{call, gate, load, options};
use counterfoil::plugin::{Access, DirGrant};
use counterfoil::{Host, Status};
use serde_json::Value;
use std::path::Path;

/// A server of its own: nothing is shared with another but the directory.
async fn server(fixture: &str, data: &Path, together: u32) -> Host {
    let mut options = options(fixture);
    options.dirs.push(DirGrant { host: data.into(), guest: "/data".into(), access: Access::ReadWrite });
    options.limits.max_concurrent = together;
    Host::builder(gate()).plugin(load(fixture, options).await.unwrap()).build().await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_of_two_servers_that_may_write_do_not_overlap() {
    let data = tempfile::tempdir().unwrap();
    let (one, other) = (server("slow", data.path(), 1).await, server("slow", data.path(), 1).await);
    let arguments = r#"{"ms":100}"#;
    let ((first, _), (second, _)) = tokio::join!(call(&one, "slow", arguments), call(&other, "slow", arguments));
    assert_eq!((first, second), (Status::Ok, Status::Ok));
    let log = std::fs::read_to_string(data.path().join("log")).unwrap();
    assert_eq!(log, "start\nend\nstart\nend\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_of_two_servers_overlap_where_the_operator_lets_them() {
    let data = tempfile::tempdir().unwrap();
    let (one, other) = (server("slow", data.path(), 2).await, server("slow", data.path(), 2).await);
    let arguments = r#"{"ms":1500}"#;
    let ((first, _), (second, _)) = tokio::join!(call(&one, "slow", arguments), call(&other, "slow", arguments));
    assert_eq!((first, second), (Status::Ok, Status::Ok));
    // The line ends are written by themselves.
    let log = std::fs::read_to_string(data.path().join("log")).unwrap();
    assert_eq!(log.replace('\n', ""), "startstartendend");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_servers_that_confirm_the_same_change_at_once_one_makes_it() {
    let data = tempfile::tempdir().unwrap();
    let servers = [server("counter", data.path(), 1).await, server("counter", data.path(), 1).await];
    for round in 1..=20u64 {
        let mut confirms = Vec::new();
        for server in &servers {
            let (status, challenge) = call(server, "increment", r#"{"by":1}"#).await;
            assert_eq!(status, Status::ConfirmationRequired, "{challenge}");
            confirms.push(format!(r#"{{"by":1,"confirm_token":{}}}"#, challenge["confirm_token"]));
        }
        let [one, other] = &servers;
        let (one, other) = tokio::join!(call(one, "increment", &confirms[0]), call(other, "increment", &confirms[1]));
        let ran = |(status, _): &(Status, Value)| u8::from(*status == Status::Ok);
        assert_eq!(ran(&one) + ran(&other), 1, "{one:?} {other:?}");
        assert_eq!(std::fs::read_to_string(data.path().join("counter")).unwrap(), round.to_string());
    }
}
