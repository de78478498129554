//! What the audit is told of each answer: one row for each decision, none for a safe call, and no run that it cannot tell of.

mod ended;
#[cfg(feature = "mcp")]
mod exchange;
#[cfg(feature = "rules")]
mod kinds;
mod unwritten;

use super::kit::*;
use crate::audit::{Audit, AuditOptions, Fault, Findings, verify};
use crate::gate::TestClock;
use crate::host::{Host, HostBuilder, Reply, Status};
use crate::{Level, NativeTool};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

/// A host with an audit of its own.
struct Told {
    kit: Kit,
    host: Host,
    audit: Audit,
    dir: tempfile::TempDir,
}

impl Told {
    async fn new() -> Self {
        Self::with(|builder| builder).await
    }

    async fn with(change: impl FnOnce(HostBuilder) -> HostBuilder) -> Self {
        let kit = Kit::new().await;
        let dir = tempfile::tempdir().unwrap();
        let options = AuditOptions::new(dir.path().join("audit"), dir.path().join("checkpoints"));
        let audit = Audit::open(AuditOptions { clock: Arc::new(TestClock::new(START)), ..options }).unwrap();
        let host = change(kit.revised("1").audit(audit.clone())).build().await.unwrap();
        Self { kit, host, audit, dir }
    }

    async fn call(&self, tool: &str, arguments: Value) -> Reply {
        call(&self.host, "alice", tool, &arguments.to_string()).await
    }

    async fn token(&self, tool: &str, arguments: Value) -> String {
        value(&self.call(tool, arguments).await)["confirm_token"].as_str().unwrap().to_owned()
    }

    fn folder(&self) -> PathBuf {
        self.dir.path().join("audit")
    }

    /// Everything that is written, as text.
    fn text(&self) -> String {
        let files = fs::read_dir(self.folder()).into_iter().flatten();
        files.map(|file| fs::read_to_string(file.unwrap().path()).unwrap()).collect()
    }

    /// The rows behind the first two, which say what file this is and what is in force.
    fn rows(&self) -> Vec<Value> {
        self.text().lines().skip(2).map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// What the rows say: event, and the word that says how.
    fn told(&self) -> Vec<String> {
        let word = |row: &Value| {
            let how = ["reason", "outcome", "status"].iter().find_map(|key| row[key].as_str()).unwrap_or_default();
            format!("{} {how}", row["event"].as_str().unwrap()).trim_end().to_owned()
        };
        self.rows().iter().map(word).collect()
    }

    async fn verified(&self) -> Findings {
        self.audit.flush().await.unwrap();
        let findings = verify(&self.folder(), &[self.dir.path().join("checkpoints")]).unwrap();
        assert_eq!(findings.faults, [] as [crate::audit::Finding<Fault>; 0]);
        findings
    }

    /// From now on nothing can be written.
    fn break_it(&self) {
        if !self.folder().exists() {
            return fs::write(self.folder(), b"in the way").unwrap();
        }
        fs::remove_dir_all(self.folder()).unwrap();
    }
}

#[tokio::test]
async fn a_row_has_nothing_in_it_that_cannot_be_seen() {
    let told = Told::new().await;
    is_rejected_as(&told.call("x\u{202e}\u{200b}y", json!({})).await, "unknown_tool");
    assert!(told.text().contains(r#""tool":"x\u202e\u200by""#), "{}", told.text());
    assert_eq!(told.rows()[0]["tool"], "x\u{202e}\u{200b}y");
    told.verified().await;
}

#[tokio::test]
async fn a_confirmed_call_is_told_from_its_issue_to_its_replay() {
    let told = Told::new().await;
    let arguments = json!({"path": "/a"});
    let token = told.token("delete", arguments.clone()).await;
    let confirm = confirming(arguments, &token);
    let ran = told.call("delete", confirm.clone()).await;
    is_ok(&ran);
    assert!(told.call("delete", confirm).await.replayed);
    assert_eq!(told.told(), ["challenge_issued", "started", "ended ok", "replayed ok"]);
    let rows = told.rows();
    for row in &rows {
        assert_eq!((&row["owner"], &row["tool"]), (&json!("name:alice"), &json!("delete")));
        assert_eq!(row["level"], "approval_required");
        assert_eq!(row["arguments"], crate::digest::sha256(br#"{"path":"/a"}"#));
        assert_eq!(row["revision"].as_str().unwrap().len(), 64);
        assert!(row["approval_id"].as_str().unwrap().starts_with("apr_"), "{row}");
        assert_eq!(row["approval_id"], rows[0]["approval_id"]);
    }
    assert_eq!(rows[2]["started"], rows[1]["seq"]);
    assert_eq!(rows[2]["operation_id"].as_str(), ran.operation_id.as_deref());
    assert_eq!(rows[3]["operation_id"], rows[2]["operation_id"]);
    assert_eq!((&rows[2]["kept"], &rows[2]["assurance"]), (&json!(true), &json!("token_only")));
    assert!(rows[2]["duration_ms"].is_number() && rows[2].get("effect").is_none());
    assert!(ran.audited);
    assert_eq!(told.verified().await.remarks, []);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_failed_is_never_told_as_a_success() {
    for (how, outcome, effect) in [
        ("fails", "tool_error", "partial"),
        ("fails early", "tool_error", "none"),
        ("refused", "tool_error", "none"),
        ("panics", "trapped", "unknown"),
        ("no json", "output_limit", "unknown"),
        ("held", "deadline", "unknown"),
    ] {
        for tool in ["delete", "note"] {
            if (tool, how) == ("delete", "held") {
                continue; // Nothing stops a closure: it is told when it is over.
            }
            let told = Told::new().await;
            let mut arguments = json!({"path": "/a", "how": how});
            if tool == "delete" {
                let token = told.token(tool, arguments.clone()).await;
                arguments = confirming(arguments, &token);
            }
            let reply = told.call(tool, arguments).await;
            assert!(reply.status.is_error(), "{how}: {}", reply.payload);
            let rows = told.rows();
            let last = rows.last().unwrap();
            if (tool, how) == ("note", "refused") {
                // A tool that says no to a call without a confirmation has not begun it.
                assert_eq!((&last["event"], &last["reason"]), (&json!("refused"), &json!("refused")));
                assert_eq!(last["started"], rows[rows.len() - 2]["seq"]);
            } else {
                assert_eq!(
                    (&last["event"], &last["outcome"], &last["effect"]),
                    (&json!("ended"), &json!(outcome), &json!(effect)),
                    "{how}"
                );
            }
            assert!(!told.text().contains(r#""outcome":"ok""#), "{how}");
            assert_eq!(told.verified().await.remarks, []);
        }
    }
}

#[tokio::test]
async fn each_refusal_is_told_with_its_reason_and_the_confirmation_that_it_is_about() {
    let told = Told::new().await;
    let arguments = json!({"path": "/a"});
    let token = told.token("delete", arguments.clone()).await;
    let other = confirming(json!({"path": "/b"}), &token).to_string();
    let confirm = confirming(arguments, &token).to_string();
    let (malformed, stranger) =
        (r#"{"path":"/a","confirm_token":"cfm_short"}"#, format!(r#"{{"path":"/a","confirm_token":"{STRANGER}"}}"#));
    for (owner, tool, arguments, reason, about) in [
        ("alice", "delete", "{", "invalid_arguments", false),
        ("alice", "delete", malformed, "malformed_token", false),
        ("alice", "delete", r#"{"path":7}"#, "invalid_arguments", false),
        ("alice", "delete", &stranger, "unknown_or_used", false),
        ("mallory", "delete", &confirm, "wrong_owner", true),
        ("alice", "wipe", &confirm, "wrong_tool", true),
        ("alice", "look", &confirm, "wrong_tool", true),
        ("alice", "delete", &other, "params_changed", true),
        ("alice", "delete", r#"{"path":"/a","plan":"refused"}"#, "refused", false),
        ("alice", "nothing", "{}", "unknown_tool", false),
    ] {
        is_rejected_as(&call(&told.host, owner, tool, arguments).await, reason);
        let rows = told.rows();
        let row = rows.last().unwrap();
        assert_eq!((&row["event"], &row["reason"]), (&json!("refused"), &json!(reason)), "{tool} {arguments}");
        assert_eq!(row["owner"], format!("name:{owner}"));
        assert_eq!(row["approval_id"].is_string(), about, "{row}");
        if tool == "nothing" {
            assert!(row.get("arguments").is_none() && row.get("level").is_none(), "nobody knows what is secret: {row}");
        }
    }
    assert_eq!(told.kit.world.effects(), 0);
    told.verified().await;
}

fn is_rejected_as(reply: &Reply, reason: &str) {
    assert_eq!(value(reply)["reason"], reason, "{}", reply.payload);
}

#[tokio::test]
async fn a_safe_call_leaves_nothing_and_one_that_its_plan_calls_mild_leaves_its_level() {
    let told = Told::new().await;
    is_ok(&told.call("look", json!({"path": "/a"})).await);
    is_rejected_as(&told.call("look", json!({"path": 7})).await, "invalid_arguments");
    is_rejected_as(&told.call("look", json!({"path": "/a", "how": "refused"})).await, "refused");
    assert!(!told.folder().exists(), "nothing is made for safe calls");
    is_ok(&told.call("note", json!({"path": "/a"})).await);
    is_ok(&told.call("delete", json!({"path": "/a", "plan": "mild"})).await);
    assert_eq!(told.told(), ["started", "ended ok", "started", "ended ok"]);
    assert!(told.rows().iter().all(|row| row["level"] == "caution" && row.get("assurance").is_none()));
}

#[tokio::test]
async fn no_secret_and_no_token_is_in_a_row_wherever_it_was_sent() {
    let schema =
        r#"{"type":"object","properties":{"user":{"type":"string"},"password":{"type":"string","format":"password"}}}"#;
    let tool = |name: &str, level: Level| {
        NativeTool::new(name, level, schema, "1")
            .preview(|_| async { Ok(crate::tool::Plan::new("Will set the password to hunter2-hunter2.", "{}")) })
            .execute(|_, _| async { Err(crate::tool::ToolError::Refused("hunter2-hunter2 is too short".into())) })
    };
    let told = Told::with(|builder| {
        builder.native(tool("set_password", Level::ApprovalRequired)).native(tool("try_password", Level::Caution))
    })
    .await;
    let arguments = json!({"user": "bob", "password": "hunter2-hunter2"});
    let token = told.token("set_password", arguments.clone()).await;
    told.call("set_password", confirming(arguments.clone(), &token)).await;
    told.call("try_password", arguments.clone()).await;
    told.call(&format!("x{token}"), arguments.clone()).await;
    told.call(&token, json!({ "password": token })).await;
    told.call("set_password", json!({"user": token, "password": "hunter2-hunter2"})).await;
    told.call("try_password", json!({"user": 7, "confirm_token": format!("{token}x")})).await;
    let text = told.text();
    assert!(!text.contains("hunter2"), "{text}");
    let digest = |text: &str| crate::digest::sha256(text.as_bytes());
    assert!(!text.contains(&digest(&arguments.to_string())), "a digest of the real arguments could be tried out");
    assert!(!text.contains("cfm_a") && !text.contains(token.trim_start_matches("cfm_")), "{text}");
    told.verified().await;
}

#[test]
fn a_reply_says_whether_it_is_audited() {
    // Both words are on every reply: a transport that drops one has to drop it by name.
    let reply = crate::host::answer::reply(Status::Ok, "{}".into());
    assert!(reply.kept && reply.audited);
}
