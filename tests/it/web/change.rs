//! Everything that changes something, files and requests: denied in previews, in safe calls and before a component has
//! started, and possible in a confirmed run that was granted it.

use super::server::{Seen, Server};
use super::{Served, everything, serve};
use crate::plugin::bench::{call, confirmed};
use counterfoil::plugin::{HttpGrant, Scheme};
use counterfoil::{Host, Status};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::SystemTime;
use tempfile::TempDir;

/// Calls of `wasi:filesystem`, and requests.
const CHANGES: [&str; 18 + 11] = [
    "create",
    "create-exclusive",
    "create-to-read",
    "truncate",
    "truncate-without-write",
    "write",
    "write-via-stream",
    "append-via-stream",
    "set-size",
    "set-times",
    "set-times-at",
    "create-directory-at",
    "remove-directory-at",
    "link-at",
    "symlink-at",
    "rename-at",
    "rename-at-across",
    "unlink-file-at",
    "POST",
    "PUT",
    "PATCH",
    "DELETE",
    "OPTIONS",
    "TRACE",
    "PURGE",
    "GET with a body",
    "GET with a streamed body",
    "HEAD with a body",
    "HEAD with a streamed body",
];
/// More requests; and what a handle that was opened for reading lets nobody do.
const BODIES: [&str; 2] = ["POST with a body", "POST with a streamed body"];
const NEVER: [&str; 4] =
    ["write-to-read-handle", "set-size-of-read-handle", "write-stream-of-read-handle", "append-stream-of-read-handle"];

/// A folder with something for each try.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in [
        "file",
        "truncated",
        "cut",
        "written",
        "streamed",
        "appended",
        "sized",
        "timed",
        "timed-at",
        "linked",
        "renamed",
        "moved",
        "unlinked",
    ] {
        std::fs::write(folder.path().join(name), "as it was").unwrap();
    }
    for name in ["empty", "folder"] {
        std::fs::create_dir(folder.path().join(name)).unwrap();
    }
    folder
}

/// Names, kinds, contents and times.
fn state(folder: &Path) -> BTreeMap<String, (Option<Vec<u8>>, SystemTime)> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| {
        let entry = entry.unwrap();
        let changed = entry.metadata().unwrap().modified().unwrap();
        (entry.file_name().into_string().unwrap(), (std::fs::read(entry.path()).ok(), changed))
    });
    entries.collect()
}

fn names(details: &Value, key: &str) -> Vec<String> {
    let list = details[key].as_array().unwrap_or_else(|| panic!("{key}: {details}"));
    list.iter().map(|name| name.as_str().unwrap().to_owned()).collect()
}

/// Every try failed, each with the plain permission error.
#[track_caller]
fn denied(details: &Value) {
    let all: Vec<&str> = CHANGES.iter().take(18).chain(&NEVER).chain(&CHANGES[18..]).copied().chain(BODIES).collect();
    assert_eq!(names(details, "worked"), Vec::<String>::new(), "{details}");
    assert_eq!(names(details, "odd"), Vec::<String>::new(), "{details}");
    assert_eq!(names(details, "denied"), all);
}

struct Stage {
    host: Host,
    server: Server,
    folder: TempDir,
    arguments: String,
}

async fn stage() -> Stage {
    let (server, folder) = (Server::start(None).await, folder());
    let served = Served {
        http: vec![everything(server.port)],
        dir: Some(folder.path()),
        raised: &["change_safe"],
        ..Served::default()
    };
    let host = serve("change", served).await;
    let arguments = serde_json::json!({ "authority": server.authority() }).to_string();
    Stage { host, server, folder, arguments }
}

#[tokio::test]
async fn a_preview_changes_nothing_and_a_confirmed_run_everything_that_is_granted() {
    let Stage { host, server, folder, arguments } = stage().await;
    let before = state(folder.path());
    let (status, challenge) = call(&host, "change", &arguments).await;
    assert_eq!(status, Status::ConfirmationRequired, "{challenge}");
    denied(&challenge["preview"]);
    assert_eq!((state(folder.path()), server.seen()), (before, Vec::<Seen>::new()));

    let (status, outcome) = confirmed(&host, "change", &arguments).await;
    assert_eq!(status, Status::Ok, "{outcome}");
    let mut all = CHANGES.to_vec();
    all.extend(BODIES);
    assert_eq!(names(&outcome, "worked"), all, "{outcome}");
    // What a grant does not make possible is refused by the machine, in its own words.
    let refused = [names(&outcome, "denied"), names(&outcome, "odd")].concat();
    let refused: Vec<&str> = refused.iter().map(|name| name.split(':').next().unwrap()).collect();
    assert_eq!(refused, NEVER);
    let plain = ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PURGE"];
    let methods = [&plain[..], &["GET", "GET", "HEAD", "HEAD", "POST", "POST"]].concat();
    assert_eq!(server.methods(), methods);
    let bodies: Vec<String> = server.seen().into_iter().skip(7).map(|seen| seen.body).collect();
    assert_eq!(bodies, ["x"; 6]);
    let at = |name: &str| folder.path().join(name);
    let text = |name: &str| std::fs::read_to_string(at(name)).unwrap();
    assert_eq!(
        (text("written"), text("streamed"), text("appended")),
        ("xs it was".into(), "xs it was".into(), "as it wasx".into())
    );
    assert_eq!((text("truncated"), text("cut"), text("sized")), (String::new(), String::new(), "a".into()));
    assert_eq!(
        (text("folder/moved-to"), text("renamed-to"), text("link")),
        ("as it was".into(), "as it was".into(), "as it was".into())
    );
    assert_eq!(text("file"), "as it was");
    for gone in ["unlinked", "empty", "moved", "renamed"] {
        assert!(!at(gone).exists(), "{gone}");
    }
    for made in ["new", "only", "to-read", "made", "symlink"] {
        assert!(at(made).exists(), "{made}");
    }
}

#[tokio::test]
async fn a_safe_tool_changes_nothing_also_where_it_was_raised_and_confirmed() {
    let Stage { host, server, folder, arguments } = stage().await;
    let before = state(folder.path());
    let (status, outcome) = confirmed(&host, "change_safe", &arguments).await;
    assert_eq!(status, Status::Ok, "{outcome}");
    denied(&outcome);
    let served = Served { http: vec![everything(server.port)], dir: Some(folder.path()), ..Served::default() };
    let (status, outcome) = call(&serve("change", served).await, "change_safe", &arguments).await;
    assert_eq!(status, Status::Ok, "{outcome}");
    denied(&outcome);
    assert_eq!((state(folder.path()), server.seen()), (before, Vec::<Seen>::new()));
}

/// What a plan makes milder than its tool is has the rights of what the plan says.
#[tokio::test]
async fn a_plan_that_says_safe_changes_nothing_and_one_that_says_caution_what_is_granted() {
    let Stage { host, server, folder, arguments } = stage().await;
    let before = state(folder.path());
    let with = |level: &str| arguments.replacen('{', &format!("{{\"level\":\"{level}\","), 1);
    let (status, outcome) = call(&host, "change", &with("safe")).await;
    assert_eq!(status, Status::Ok, "{outcome}");
    denied(&outcome);
    assert_eq!((state(folder.path()), server.seen()), (before, Vec::<Seen>::new()));
    let (status, outcome) = call(&host, "change", &with("caution")).await;
    assert_eq!(status, Status::Ok, "{outcome}");
    assert_eq!(names(&outcome, "worked").len(), CHANGES.len() + BODIES.len(), "{outcome}");
    // The preview before it, which is as read-only as any, sent nothing: each came once.
    assert_eq!(server.methods().len(), 13);
}

#[tokio::test]
async fn a_component_changes_nothing_while_it_starts_nor_while_it_lists_its_tools() {
    let folder = folder();
    let before = state(folder.path());
    let grant = HttpGrant { scheme: Scheme::Http, host: "localhost".into(), ..everything(9) };
    let host = serve("early", Served { http: vec![grant], dir: Some(folder.path()), ..Served::default() }).await;
    let (status, outcome) = call(&host, "early", "{}").await;
    assert_eq!(status, Status::Ok, "{outcome}");
    denied(&outcome);
    assert_eq!(state(folder.path()), before);
    // It is loaded without its directories; requests it could have tried in earnest.
    let listed = host.tools()[0].description.clone();
    let listed: Value = serde_json::from_str(&listed).unwrap();
    assert_eq!(names(&listed, "denied").len(), 13, "{listed}");
    assert_eq!(names(&listed, "worked"), Vec::<String>::new(), "{listed}");
}
