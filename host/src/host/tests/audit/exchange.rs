//! What is in force is told when it is, and what an earlier host wrote is not lost.

use super::*;
use crate::audit::Remark;
use crate::host::tests::backends::Fake;
use crate::transport::mcp::{Announced, Replaceable};

fn told_in_force(told: &Told) -> Vec<Value> {
    let rows = told.text();
    let rows = rows.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    rows.filter(|row| row["event"] == "in_force").collect()
}

#[tokio::test]
async fn what_is_in_force_comes_first_and_a_host_that_comes_later_says_what_changed() {
    let told = Told::with(|builder| builder.level("note", Level::ApprovalRequired)).await;
    is_ok(&told.call("delete", json!({"path": "/a", "plan": "mild"})).await);
    let first: Value = serde_json::from_str(told.text().lines().nth(1).unwrap()).unwrap();
    assert_eq!((&first["event"], &first["cause"], &first["tools"]), (&json!("in_force"), &json!("start"), &json!(4)));
    assert_eq!(first["overrides"], json!([{"tool": "note", "declared": "caution", "level": "approval_required"}]));
    let next = told.kit.revised("2").succeeds(&told.host).audit(told.audit.clone()).build().await.unwrap();
    assert_eq!(told_in_force(&told).len(), 1, "one that is only made is not in force");
    next.exchanged_in().await;
    next.exchanged_in().await;
    let rows = told_in_force(&told);
    let last = rows.last().unwrap();
    assert_eq!((rows.len(), &last["cause"], &last["overrides"]), (2, &json!("reload"), &json!([])));
    assert_ne!(last["revision"], first["revision"]);
    let findings = verify(&told.folder(), &[told.dir.path().join("checkpoints")]).unwrap();
    assert!(
        !findings.remarks.iter().any(|r| matches!(r.what, Remark::Uncovered(_))),
        "it is on the disk: {findings:?}"
    );
}

#[tokio::test]
async fn a_host_that_never_comes_into_force_is_not_told_of() {
    for has_a_file in [true, false] {
        let told = Told::new().await;
        let replaceable = Replaceable::new(Announced::of(&told.host));
        replaceable.replace(told.host.clone()).await.unwrap();
        if has_a_file {
            is_ok(&told.call("note", json!({"path": "/a"})).await);
        }
        let next = || told.kit.revised("2").succeeds(&told.host).audit(told.audit.clone());
        // Made, and refused when it was to be exchanged in; made, and dropped; not even made.
        let other = next().confirm_parameter("other_token").build().await.unwrap();
        assert!(replaceable.replace(other).await.is_err());
        drop(next().build().await.unwrap());
        assert!(next().level("nothing", Level::Review).build().await.is_err());
        is_ok(&told.call("note", json!({"path": "/b"})).await);
        let rows = told_in_force(&told);
        assert_eq!((rows.len(), &rows[0]["cause"]), (1, &json!("start")), "{rows:?}");

        replaceable.replace(next().build().await.unwrap()).await.unwrap();
        let rows = told_in_force(&told);
        assert_eq!((rows.len(), &rows[1]["cause"]), (2, &json!("reload")));
        assert_ne!(rows[1]["revision"], rows[0]["revision"]);
        told.verified().await;
    }
}

#[tokio::test]
async fn a_host_that_is_called_without_being_exchanged_in_says_first_what_is_in_force() {
    let told = Told::new().await;
    is_ok(&told.call("note", json!({"path": "/a"})).await);
    let next = told.kit.revised("2").succeeds(&told.host).audit(told.audit.clone()).build().await.unwrap();
    is_ok(&call(&next, "alice", "note", r#"{"path":"/b"}"#).await);
    let told: Vec<String> = told.told();
    assert_eq!(told, ["started", "ended ok", "in_force", "started", "ended ok"]);
}

#[tokio::test]
async fn an_audit_that_was_moved_is_brought_to_the_disk_at_the_end_too() {
    let told = Told::new().await;
    let elsewhere = told.dir.path().join("elsewhere");
    let moved = Audit::open(AuditOptions::new(&elsewhere, told.dir.path().join("checkpoints"))).unwrap();
    let next = told.kit.revised("1").succeeds(&told.host).audit(moved).build().await.unwrap();
    next.exchanged_in().await;
    // A call of the earlier host that was still at work, and one of the new.
    is_ok(&told.call("note", json!({"path": "/a"})).await);
    is_ok(&call(&next, "alice", "note", r#"{"path":"/b"}"#).await);
    next.drain().await;
    for (folder, cause) in [(told.folder(), "start"), (elsewhere, "reload")] {
        let findings = verify(&folder, &[told.dir.path().join("checkpoints")]).unwrap();
        assert!(findings.faults.is_empty() && findings.remarks.is_empty(), "{findings:?}");
        assert_eq!(findings.files[0].rows, 4);
        let file = fs::read_to_string(folder.join(&findings.files[0].file)).unwrap();
        assert!(file.contains(&format!(r#""cause":"{cause}""#)), "{file}");
    }
    // Nobody has it any more: it is ended in order, though the next one goes on.
    let (dir, folder) = (told.dir, told.kit);
    drop((told.host, told.audit, folder));
    let ended = fs::read_dir(dir.path().join("audit")).unwrap().map(|file| fs::read_to_string(file.unwrap().path()));
    assert!(ended.map(Result::unwrap).all(|text| text.lines().last().unwrap().contains(r#""event":"closed""#)));
    drop(next);
}

#[tokio::test]
async fn what_is_held_until_its_plug_in_is_locked_is_no_word_of_the_operators() {
    let told = Told::with(|builder| {
        builder
            .backend(Arc::new(Fake::unlocked(
                "other",
                &[("held", Level::Caution), ("raised", Level::Caution), ("reads", Level::Safe)],
            )))
            .level("raised", Level::Review)
    })
    .await;
    is_ok(&told.call("note", json!({"path": "/a"})).await);
    let row = told_in_force(&told).remove(0);
    assert_eq!(row["unlocked"], json!(["held", "raised"]), "{row}");
    assert_eq!(row["overrides"], json!([{"tool": "raised", "declared": "caution", "level": "review"}]), "{row}");
}

/// The rules of the host that serves stand in the audit, whichever host is called after it was exchanged in.
#[tokio::test]
async fn an_earlier_host_that_is_called_late_does_not_say_what_is_in_force() {
    for has_a_file in [true, false] {
        let told = Told::new().await;
        if has_a_file {
            is_ok(&told.call("note", json!({"path": "/first"})).await);
        }
        let late = told.kit.revised("2").succeeds(&told.host).audit(told.audit.clone()).build().await.unwrap();
        let next = told.kit.revised("3").succeeds(&late).audit(told.audit.clone()).build().await.unwrap();
        next.exchanged_in().await;
        is_rejected(&call(&late, "alice", "note", r#"{"path":"/a"}"#).await, "tool_changed", None);
        is_rejected(&told.call("note", json!({"path": "/a"})).await, "tool_changed", None);
        is_ok(&call(&next, "alice", "note", r#"{"path":"/b"}"#).await);
        let rows = told_in_force(&told);
        let causes: Vec<&Value> = rows.iter().map(|row| &row["cause"]).collect();
        assert_eq!(causes, if has_a_file { vec!["start", "reload"] } else { vec!["reload"] });
        let third = told.kit.revised("3").succeeds(&next).audit(told.audit.clone()).build().await.unwrap();
        third.exchanged_in().await;
        let rows = told_in_force(&told);
        assert_eq!(rows[rows.len() - 2]["revision"], rows[rows.len() - 1]["revision"], "it is of the host that serves");
        told.verified().await;
    }
}

#[tokio::test]
async fn what_an_earlier_host_took_in_begins_only_where_the_next_would_run_the_same() {
    for (revision, changed) in [("1", false), ("2", true)] {
        let told = Told::new().await;
        is_ok(&told.call("note", json!({"path": "/first"})).await);
        let held = json!({"path": "/a"});
        let token = told.token("delete", held.clone()).await;
        let kept = told.kit.world.effects();
        let next = told.kit.revised(revision).succeeds(&told.host).audit(told.audit.clone()).build().await.unwrap();
        next.exchanged_in().await;
        let confirmed = told.call("delete", confirming(held, &token)).await;
        for reply in
            [told.call("look", json!({"path": "/a"})).await, told.call("note", json!({"path": "/b"})).await, confirmed]
        {
            if changed {
                is_rejected(&reply, "tool_changed", None);
            } else {
                is_ok(&reply);
            }
        }
        assert_eq!(told.kit.world.effects() > kept, !changed);
        let in_force = told.rows().iter().position(|row| row["event"] == "in_force").unwrap();
        let behind = &told.rows()[in_force..];
        assert_eq!(behind.iter().any(|row| row["event"] == "started"), !changed, "{behind:?}");
        // Whoever puts the earlier one back has it in force again.
        told.host.exchanged_in().await;
        is_ok(&told.call("note", json!({"path": "/c"})).await);
    }
}

#[tokio::test]
async fn a_recorded_outcome_is_replayed_whatever_is_in_force() {
    let told = Told::new().await;
    let arguments = json!({"path": "/a"});
    let token = told.token("delete", arguments.clone()).await;
    is_ok(&told.call("delete", confirming(arguments.clone(), &token)).await);
    let next = told.kit.revised("2").succeeds(&told.host).audit(told.audit.clone()).build().await.unwrap();
    next.exchanged_in().await;
    assert!(told.call("delete", confirming(arguments, &token)).await.replayed);
}
