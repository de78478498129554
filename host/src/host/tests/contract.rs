//! Every reason for which a token does not run, on both sides of its condition.

use super::kit::*;
use crate::gate::{Assurance, Call, Plan};
use crate::host::Status;
use serde_json::json;

const REPLAY: u64 = 300_000;
const TOMBSTONE: u64 = 86_400_000;

#[tokio::test(start_paused = true)]
async fn the_first_call_changes_nothing_the_second_runs_once_the_third_is_the_same_bytes() {
    let kit = Kit::new().await;
    let arguments = json!({"path": "/a"});
    let preview = kit.call("delete", arguments.clone()).await;
    assert!(preview.status == Status::ConfirmationRequired && !preview.status.is_error());
    let shown = value(&preview);
    assert_eq!(shown["tool"], "delete");
    assert_eq!(shown["summary"], "Will delete \"/a\".");
    assert_eq!(shown["preview"], json!({"bytes": 7}));
    assert_eq!(shown["level"], "approval_required");
    assert_eq!(shown["warnings"], json!(["this cannot be undone"]));
    assert_eq!(kit.world.effects(), 0);

    let token = shown["confirm_token"].as_str().unwrap();
    let ran = kit.call("delete", confirming(arguments.clone(), token)).await;
    let outcome = is_ok(&ran);
    assert_eq!((&outcome["deleted"], &outcome["message"]), (&json!("/a"), &json!("Deleted")));
    assert_eq!(outcome["assurance"], "token_only");
    assert!(ran.kept && !ran.replayed);
    let told = kit.world.told.lock().unwrap().clone().unwrap();
    assert_eq!(Some(&told.operation_id), ran.operation_id.as_ref());
    assert_eq!(told.precondition.as_deref(), Some("7 bytes"));
    assert_eq!(told.level, crate::Level::ApprovalRequired);

    let again = kit.call("delete", confirming(arguments, token)).await;
    assert!(again.replayed && again.payload == ran.payload && again.status == ran.status);
    assert_eq!(again.operation_id, ran.operation_id);
    assert_eq!(kit.world.effects(), 1);
}

#[tokio::test(start_paused = true)]
async fn what_is_no_token_is_malformed_and_null_or_empty_is_absent() {
    let kit = Kit::new().await;
    for bad in
        [json!("cfm_abc"), json!("CFM_abcdefghijklmnopqrstuvwx"), json!("cfm_abcdefghijklmnopqrstuvw1"), json!(7)]
    {
        is_rejected(&kit.call("delete", json!({"path": "/a", "confirm_token": bad})).await, "malformed_token", None);
    }
    for absent in [json!(null), json!("")] {
        let reply = kit.call("delete", json!({"path": "/a", "confirm_token": absent})).await;
        assert!(reply.status == Status::ConfirmationRequired, "{}", reply.payload);
    }
    is_rejected(&kit.call("delete", confirming(json!({"path": "/a"}), STRANGER)).await, "unknown_or_used", None);
}

#[tokio::test(start_paused = true)]
async fn arguments_that_are_not_strict_or_do_not_fit_are_refused_before_any_preview() {
    let kit = Kit::new().await;
    for bad in [
        r#"{"path":"/a","path":"/b"}"#,
        r#"{"path":"/a","p\u0061th":"/b"}"#,
        r#"{"path":"/a"} x"#,
        r#"["/a"]"#,
        r#"{"path":7}"#,
        r#"{"path":"/a","more":1}"#,
        "{}",
        "null",
    ] {
        is_rejected(&call(&kit.host, "alice", "delete", bad).await, "invalid_arguments", None);
    }
    let twice = format!(r#"{{"path":"/a","confirm_token":"{STRANGER}","confirm_token":"{STRANGER}"}}"#);
    is_rejected(&call(&kit.host, "alice", "delete", &twice).await, "invalid_arguments", None);
    let elsewhere = format!(r#"{{"path":"{STRANGER}"}}"#);
    is_rejected(&call(&kit.host, "alice", "delete", &elsewhere).await, "invalid_arguments", None);
    is_ok(&call(&kit.host, "alice", "note", r#" { "path" : "/a" } "#).await);
    assert_eq!(kit.world.effects(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_token_works_for_its_owner_its_tool_and_its_arguments_only_and_no_refusal_spends_it() {
    let kit = Kit::new().await;
    let arguments = json!({"path": "/a", "how": "x"});
    let token = kit.token("delete", arguments.clone()).await;
    let confirm = confirming(arguments, &token).to_string();
    is_rejected(&call(&kit.host, "mallory", "delete", &confirm).await, "wrong_owner", None);
    for other in ["wipe", "note", "look", "no_such_tool"] {
        is_rejected(&call(&kit.host, "alice", other, &confirm).await, "wrong_tool", None);
    }
    for changed in [
        json!({"path": "/b", "how": "x"}),
        json!({"path": "/a"}),
        json!({"path": "/a", "how": "x", "plan": "y"}),
        json!({"path": "/a", "how": 7}),
        json!({}),
    ] {
        is_rejected(&kit.call("delete", confirming(changed, &token)).await, "params_changed", None);
    }
    let spelt_otherwise = format!(r#"{{ "how":"\u0078", "confirm_token":"{token}", "path":"\/a" }}"#);
    is_ok(&call(&kit.host, "alice", "delete", &spelt_otherwise).await);
    is_rejected(&call(&kit.host, "mallory", "delete", &confirm).await, "wrong_owner", None);
    assert_eq!(kit.world.effects(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_token_runs_until_its_time_and_not_after() {
    let kit = Kit::new().await;
    let (early, late) = (json!({"path": "/early"}), json!({"path": "/late"}));
    let (first, second) = (kit.token("delete", early.clone()).await, kit.token("delete", late.clone()).await);
    kit.clock.set(START + 299_999);
    is_ok(&kit.call("delete", confirming(early.clone(), &first)).await);
    kit.clock.set(START + 300_000);
    is_rejected(&kit.call("delete", confirming(late, &second)).await, "expired", None);
    kit.clock.set(START - 1);
    assert!(kit.call("delete", confirming(early, &first)).await.replayed, "a jump back hides no outcome");
}

#[tokio::test(start_paused = true)]
async fn a_token_does_not_outlive_the_tool_that_was_previewed_but_its_outcome_does() {
    let kit = Kit::new().await;
    let (done, open) = (json!({"path": "/done"}), json!({"path": "/open"}));
    let (first, second) = (kit.token("delete", done.clone()).await, kit.token("delete", open.clone()).await);
    let ran = kit.call("delete", confirming(done.clone(), &first)).await;
    let (done, open) = (confirming(done, &first).to_string(), confirming(open, &second).to_string());

    let changed = [
        kit.revised("2"),
        kit.revised("1").level("delete", crate::Level::ApprovalRequired),
        kit.beside().native(tool(&kit.world, "delete", crate::Level::Caution, "1")),
        kit.beside(),
    ];
    for builder in changed {
        let host = builder.build().await.unwrap();
        is_rejected(&call(&host, "alice", "delete", &open).await, "tool_changed", None);
        assert!(call(&host, "alice", "delete", &done).await.payload == ran.payload);
    }
    is_ok(&call(&kit.revised("1").build().await.unwrap(), "alice", "delete", &open).await);
}

#[tokio::test(start_paused = true)]
async fn a_spent_token_says_how_far_its_run_is() {
    let kit = Kit::new().await;
    let arguments = json!({"path": "/a", "how": "held"});
    let token = kit.token("delete", arguments.clone()).await;
    let confirm = confirming(arguments, &token);
    let running = kit.spawn("delete", confirm.clone());
    kit.world.until_begun(1).await;
    kit.clock.set(START + DEADLINE_MILLIS - 1);
    is_rejected(&kit.call("delete", confirm.clone()).await, "unknown_or_used", Some("in_flight"));
    kit.clock.set(START + DEADLINE_MILLIS + 1);
    is_rejected(&kit.call("delete", confirm.clone()).await, "unknown_or_used", Some("outcome_unknown"));

    kit.world.release(1);
    let ran = running.await.unwrap();
    is_ok(&ran);
    let completed = START + DEADLINE_MILLIS + 1;
    kit.clock.set(completed + REPLAY - 1);
    assert!(kit.call("delete", confirm.clone()).await.payload == ran.payload);
    kit.clock.set(completed + REPLAY + 1);
    is_rejected(&kit.call("delete", confirm.clone()).await, "unknown_or_used", Some("already_ran"));
    kit.clock.set(completed + REPLAY + TOMBSTONE + 1);
    is_rejected(&kit.call("delete", confirm).await, "unknown_or_used", None);
    assert_eq!(kit.world.effects(), 1);
}

#[tokio::test(start_paused = true)]
async fn while_an_identical_call_runs_or_is_unknown_its_twin_does_not_run() {
    let kit = Kit::new().await;
    let arguments = json!({"path": "/a", "how": "held"});
    let (first, second) = (kit.token("delete", arguments.clone()).await, kit.token("delete", arguments.clone()).await);
    let running = kit.spawn("delete", confirming(arguments.clone(), &first));
    kit.world.until_begun(1).await;
    is_rejected(&kit.call("delete", confirming(arguments.clone(), &second)).await, "unresolved", None);
    kit.clock.advance(DEADLINE_MILLIS + 1);
    is_rejected(&kit.call("delete", confirming(arguments.clone(), &second)).await, "unresolved", None);
    is_rejected(&kit.call("delete", arguments.clone()).await, "unresolved", None);
    kit.token("delete", json!({"path": "/b"})).await;

    kit.world.release(2);
    is_ok(&running.await.unwrap());
    is_ok(&kit.call("delete", confirming(arguments.clone(), &second)).await);
    assert_eq!(kit.world.effects(), 2, "two deliberate calls are two effects");
    let recent = kit.call("delete", arguments).await;
    assert_eq!(value(&recent)["recent"].as_array().map(Vec::len), Some(2), "{}", recent.payload);
}

#[tokio::test(start_paused = true)]
async fn a_lost_run_is_settled_after_its_deadline_and_the_token_then_says_so() {
    for (happened, detail) in [(true, "settled_happened"), (false, "settled_did_not")] {
        let kit = Kit::new().await;
        let arguments = json!({"path": "/a", "how": "held"});
        let token = kit.token("delete", arguments.clone()).await;
        let confirm = confirming(arguments.clone(), &token);
        let running = kit.spawn("delete", confirm.clone());
        kit.world.until_begun(1).await;
        let gate = kit.host.gate();
        let lost = gate.unrecorded(None, 10).await.unwrap();
        assert_eq!(lost.len(), 1);
        let id = &lost[0].approval_id;
        assert!(gate.resolve(id, "operator", happened).await.is_err(), "not before its deadline");
        kit.clock.advance(DEADLINE_MILLIS + 1);
        gate.resolve(id, "operator", happened).await.unwrap();
        is_rejected(&kit.call("delete", confirm.clone()).await, "unknown_or_used", Some(detail));
        kit.token("delete", arguments).await;

        // The run was not lost after all: its own outcome replaces the operator's word.
        kit.world.release(1);
        let ran = running.await.unwrap();
        assert!(ran.kept);
        assert!(kit.call("delete", confirm).await.payload == ran.payload);
        assert!(gate.unrecorded(None, 10).await.unwrap().is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_person_declined_does_not_run() {
    let kit = Kit::new().await;
    let arguments = json!({"path": "/a"});
    let token = kit.token("delete", arguments.clone()).await;
    let gate = kit.host.gate();
    let id = gate.pending(None, 10).await.unwrap()[0].approval_id.clone();
    gate.decline(&id, "os:bob", "not on a Friday").await.unwrap();
    is_rejected(&kit.call("delete", confirming(arguments.clone(), &token)).await, "declined", None);
    is_rejected(&kit.call("delete", arguments.clone()).await, "declined", None);
    kit.clock.advance(crate::gate::Settings::default().cool_down + 1);
    let token = kit.token("delete", arguments.clone()).await;
    is_ok(&kit.call("delete", confirming(arguments, &token)).await);
}

#[tokio::test(start_paused = true)]
async fn what_needs_a_person_waits_for_one() {
    let kit = Kit::new().await;
    let arguments = json!({"path": "/a"});
    let call = Call {
        owner: "name:alice".into(),
        tool: "delete".into(),
        revision: kit.host.inner.tools["delete"].revision.clone(),
        arguments: arguments.to_string(),
    };
    let plan = Plan {
        summary: "Will delete it.".into(),
        preview: "{}".into(),
        warnings: vec![],
        precondition: None,
        masked_arguments: None,
        needs: Assurance::OutOfBand,
        approvers: 1,
    };
    let gate = kit.host.gate();
    let challenge = gate.issue(&call, &plan).await.unwrap();
    let confirm = confirming(arguments, &challenge.token);
    is_rejected(&kit.call("delete", confirm.clone()).await, "awaiting_approval", None);
    let item = gate.show(&challenge.approval_id).await.unwrap().unwrap();
    gate.approve(&challenge.approval_id, "os:bob", &item.shown, Assurance::OutOfBand).await.unwrap();
    assert_eq!(is_ok(&kit.call("delete", confirm).await)["assurance"], "out_of_band");
}

#[tokio::test(start_paused = true)]
async fn one_owner_cannot_take_the_room_of_another_and_expired_ones_take_none() {
    let kit = Kit::with(|settings| settings.pending_per_owner = 2).await;
    for path in ["/a", "/b"] {
        kit.token("delete", json!({"path": path})).await;
    }
    is_rejected(&kit.call("delete", json!({"path": "/c"})).await, "too_many_pending", None);
    let reply = call(&kit.host, "bob", "delete", r#"{"path":"/c"}"#).await;
    assert!(reply.status == Status::ConfirmationRequired);
    kit.clock.advance(300_000);
    kit.token("delete", json!({"path": "/c"})).await;
}

#[tokio::test(start_paused = true)]
async fn without_the_store_nothing_dangerous_runs_and_no_token_is_lost() {
    let kit = Kit::new().await;
    let arguments = json!({"path": "/a"});
    let token = kit.token("delete", arguments.clone()).await;
    kit.store.cut(true);
    is_rejected(&kit.call("delete", arguments.clone()).await, "unavailable", None);
    is_rejected(&kit.call("delete", confirming(arguments.clone(), &token)).await, "unavailable", None);
    assert_eq!(kit.world.effects(), 0);
    let asked = kit.store.asked();
    is_ok(&kit.call("look", arguments.clone()).await);
    is_ok(&kit.call("note", arguments.clone()).await);
    assert_eq!(kit.store.asked(), asked, "a call that needs no confirmation does not touch the store");
    kit.store.cut(false);
    is_ok(&kit.call("delete", confirming(arguments, &token)).await);
    assert_eq!(kit.world.effects(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_is_not_there_is_unknown_and_one_that_is_there_is_not() {
    let kit = Kit::new().await;
    is_rejected(&kit.call("no_such_tool", json!({"path": "/a"})).await, "unknown_tool", None);
    is_rejected(&kit.call("", json!({})).await, "unknown_tool", None);
    is_rejected(&kit.call("Delete", json!({"path": "/a"})).await, "unknown_tool", None);
    is_rejected(&kit.call("no_such_tool", confirming(json!({}), STRANGER)).await, "unknown_or_used", None);
    let long = kit.call(&"x".repeat(100_000), json!({})).await;
    is_rejected(&long, "unknown_tool", None);
    assert!(long.payload.len() < 1_000);
    kit.token("delete", json!({"path": "/a"})).await;
}

#[tokio::test(start_paused = true)]
async fn what_nobody_can_ask_for_any_more_is_swept_and_nothing_sooner() {
    use crate::store::Store;
    let kit = Kit::new().await;
    kit.host.keep_swept();
    let arguments = json!({"path": "/a"});
    let token = kit.token("delete", arguments.clone()).await;
    let confirm = confirming(arguments, &token);
    is_ok(&kit.call("delete", confirm.clone()).await);
    let minute = std::time::Duration::from_secs(61);
    kit.clock.advance(REPLAY + TOMBSTONE - 1);
    tokio::time::sleep(minute).await;
    is_rejected(&kit.call("delete", confirm).await, "unknown_or_used", Some("already_ran"));
    assert_eq!(kit.store.due(u64::MAX, 10).await.unwrap().len(), 1);
    kit.clock.advance(2);
    tokio::time::sleep(minute).await;
    assert!(kit.store.due(u64::MAX, 10).await.unwrap().is_empty());
}
