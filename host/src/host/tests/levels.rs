//! Who decides the level of a call: the tool, the operator who may raise it, and a plan that may be milder.

use super::kit::*;
use crate::Level;
use crate::host::Status;
use serde_json::json;

#[tokio::test(start_paused = true)]
async fn a_mild_plan_runs_at_once_at_its_own_level_with_what_it_rests_on() {
    let kit = Kit::new().await;
    let asked = kit.store.asked();
    is_ok(&kit.call("delete", json!({"path": "/a", "plan": "mild"})).await);
    let told = kit.world.told.lock().unwrap().clone().unwrap();
    assert_eq!((told.level, told.precondition.as_deref()), (Level::Caution, Some("absent")));
    assert_eq!(kit.store.asked(), asked);
}

#[tokio::test(start_paused = true)]
async fn a_critical_tool_and_an_operator_are_floors_under_every_plan() {
    let kit = Kit::new().await;
    let mild = json!({"path": "/a", "plan": "mild"});
    assert!(kit.call("wipe", mild.clone()).await.status == Status::ConfirmationRequired);
    let host = kit.revised("1").level("delete", Level::ApprovalRequired).build().await.unwrap();
    let reply = call(&host, "alice", "delete", &mild.to_string()).await;
    assert!(reply.status == Status::ConfirmationRequired, "{}", reply.payload);

    let host =
        kit.revised("1").level("delete", Level::ApprovalRequired).level("note", Level::Review).build().await.unwrap();
    is_ok(&call(&host, "alice", "note", &mild.to_string()).await);
    assert_eq!(kit.world.told.lock().unwrap().clone().unwrap().level, Level::Review);
}

#[tokio::test(start_paused = true)]
async fn a_safe_tool_that_the_operator_raised_is_confirmed() {
    let kit = Kit::new().await;
    let host = kit.revised("1").level("look", Level::ApprovalRequired).build().await.unwrap();
    let arguments = json!({"path": "/a"});
    let preview = call(&host, "alice", "look", &arguments.to_string()).await;
    let token = value(&preview)["confirm_token"].as_str().unwrap().to_owned();
    is_ok(&call(&host, "alice", "look", &confirming(arguments, &token).to_string()).await);
    assert_eq!(kit.world.effects(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_plan_above_what_its_tool_declares_is_a_defect_and_nothing_runs() {
    let kit = Kit::new().await;
    let host = kit.revised("1").level("note", Level::ApprovalRequired).build().await.unwrap();
    is_rejected(&call(&host, "alice", "note", r#"{"path":"/a","plan":"wild"}"#).await, "refused", None);
    let reply = call(&host, "alice", "note", r#"{"path":"/a","plan":"mild"}"#).await;
    assert!(reply.status == Status::ConfirmationRequired, "{}", reply.payload);
    assert_eq!(kit.world.effects(), 0);
}

#[tokio::test]
async fn the_names_of_levels_are_the_gates() {
    let kit = Kit::new().await;
    for level in Level::ALL {
        assert_eq!(kit.host.gate().level_name(level.into()).await.unwrap(), level.name());
        assert_eq!(Level::from(kit.host.gate().parse_level(&level.number().to_string()).await.unwrap()), level);
    }
}

#[tokio::test(start_paused = true)]
async fn listings_say_what_is_in_force() {
    let kit = Kit::new().await;
    let host =
        kit.revised("1").level("note", Level::Review).confirm_parameter("_confirmation_token").build().await.unwrap();
    let shown: Vec<_> =
        host.tools().iter().map(|l| (l.name.as_str(), l.level, l.declared, l.needs_confirmation)).collect();
    assert_eq!(
        shown,
        [
            ("delete", Level::ApprovalRequired, Level::ApprovalRequired, true),
            ("wipe", Level::ApprovalRequired, Level::ApprovalRequired, true),
            ("note", Level::Review, Level::Caution, false),
            ("look", Level::Safe, Level::Safe, false),
        ]
    );
    for listing in host.tools() {
        assert_eq!(listing.input_schema.contains("_confirmation_token"), listing.needs_confirmation);
        assert!(!listing.enforced && listing.backend == "native");
    }
    let preview = call(&host, "alice", "delete", r#"{"path":"/a"}"#).await;
    let token = value(&preview)["confirm_token"].as_str().unwrap().to_owned();
    let confirm = json!({"path": "/a", "_confirmation_token": token}).to_string();
    is_ok(&call(&host, "alice", "delete", &confirm).await);
    let wrong = json!({"path": "/a", "confirm_token": token}).to_string();
    is_rejected(&call(&host, "alice", "delete", &wrong).await, "invalid_arguments", None);
}

#[tokio::test(start_paused = true)]
async fn a_plan_that_is_no_good_is_none_however_mild_it_calls_itself() {
    let kit = Kit::new().await;
    for fault in ["no summary", "no object", "no json", "too long", "many warnings", "long precondition"] {
        let reply = kit.call("delete", json!({"path": "/a", "plan": format!("mild but {fault}")})).await;
        is_rejected(&reply, "refused", None);
    }
    assert_eq!(kit.world.effects(), 0);
    is_ok(&kit.call("delete", json!({"path": "/a", "plan": "mild but ordinary"})).await);
}
