//! Calls without a token: what a preview or an unconfirmed run may come to.

use super::kit::*;
use serde_json::json;

#[tokio::test(start_paused = true)]
async fn a_preview_that_gives_no_plan_is_a_refusal_and_nothing_ran() {
    let kit = Kit::new().await;
    for (plan, reason) in [
        ("refused", "refused"),
        ("invalid", "invalid_arguments"),
        ("unknown", "unknown_tool"),
        ("fails", "refused"),
        ("panics", "refused"),
        ("never ends", "refused"),
        ("no object", "refused"),
        ("no json", "refused"),
        ("no summary", "refused"),
        ("too long", "refused"),
        ("many warnings", "refused"),
        ("long precondition", "refused"),
    ] {
        let reply = kit.call("delete", json!({"path": "/a", "plan": plan})).await;
        is_rejected(&reply, reason, None);
    }
    assert_eq!(kit.world.effects(), 0);
    kit.token("delete", json!({"path": "/a", "plan": "ordinary"})).await;
}

#[tokio::test(start_paused = true)]
async fn a_call_that_needs_no_confirmation_answers_at_once() {
    let kit = Kit::new().await;
    for tool in ["note", "look"] {
        let reply = kit.call(tool, json!({"path": "/a"})).await;
        let shown = is_ok(&reply);
        assert_eq!(shown["deleted"], "/a");
        assert!(shown.get("assurance").is_none(), "nothing was confirmed: {shown}");
        assert!(reply.operation_id.is_some_and(|id| id.starts_with("op_") && id.len() == 27));
    }
}

#[tokio::test(start_paused = true)]
async fn an_unconfirmed_run_is_rejected_where_the_tool_will_not_and_failed_where_it_broke() {
    let kit = Kit::with(|settings| {
        settings.max_outcome = 2_000;
        settings.max_output = 4_000;
    })
    .await;
    let call = async |how: &str| kit.call("note", json!({"path": "/a", "how": how})).await;
    is_rejected(&call("refused").await, "refused", None);
    is_rejected(&call("invalid").await, "invalid_arguments", None);
    is_rejected(&call("unknown").await, "unknown_tool", None);
    is_failed(&call("fails").await, "tool_error", "partial");
    is_failed(&call("panics").await, "trapped", "unknown");
    is_failed(&call("large").await, "output_limit", "unknown");
    is_failed(&call("no json").await, "output_limit", "unknown");
}
