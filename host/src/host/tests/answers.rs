//! What the host answers where the gate gives no decision, and the shapes that it writes without the gate.

use super::kit::*;
use crate::gate::{Assurance, Failure, GateError, Reason};
use crate::host::answer::Answers;
use crate::tool::Effect;

#[tokio::test]
async fn after_a_fault_in_consume_nobody_says_that_no_token_was_spent() {
    let kit = Kit::new().await;
    let gate = kit.host.gate();
    let answers = Answers { gate, tool: "delete" };
    let lost = gate.refuse(Reason::Unavailable, "the store did not answer").await.unwrap();
    for error in [GateError::Fault("it trapped".into()), GateError::Rejected(lost)] {
        let reply = answers.not_consumed(error).await.untold();
        is_rejected(&reply, "unavailable", None);
        assert!(reply.payload.contains("not known whether its token is spent; nothing ran"), "{}", reply.payload);
        assert!(!reply.payload.contains("no token was spent"), "{}", reply.payload);
    }
}

#[tokio::test]
async fn what_the_host_writes_itself_has_the_gates_keys_in_the_gates_order() {
    let kit = Kit::new().await;
    let gate = kit.host.gate();
    let answers = Answers { gate, tool: "odd \"name\"" };
    for assurance in [None, Some(Assurance::TokenOnly)] {
        let own = answers.plain_failure(Failure::Trapped, "a\n\"b\"", Effect::Unknown, assurance);
        let gates =
            gate.failed("odd \"name\"", Failure::Trapped, "x", Effect::Unknown.into(), assurance).await.unwrap();
        same_keys(&own, &gates);
        let value: serde_json::Value = serde_json::from_str(&own).unwrap();
        assert_eq!((&value["error"], &value["tool"]), (&"a\n\"b\"".into(), &"odd \"name\"".into()));
    }
    let own = answers.broken(&GateError::Fault("it trapped".into())).untold();
    is_rejected(&own, "unavailable", None);
    let refusal = gate.refuse(Reason::Unavailable, "x").await.unwrap();
    same_keys(&own.payload, &gate.rejected("odd", &refusal).await.unwrap());
}

/// Whether two payloads have the same keys in the same order, without white space between them.
#[track_caller]
fn same_keys(own: &str, gates: &str) {
    let keys = |text: &str| -> Vec<&str> {
        let known = ["status", "tool", "error", "reason", "detail", "effect", "assurance"];
        let place = |key: &str| text.find(&format!("\"{key}\":"));
        let mut keys: Vec<_> = known.into_iter().filter(|key| place(key).is_some()).collect();
        keys.sort_by_key(|key| place(key));
        keys
    };
    assert_eq!(keys(own), keys(gates), "{own}");
    assert!(!own.contains("\": "), "{own}");
}

#[tokio::test(start_paused = true)]
async fn a_long_error_is_cut_and_says_so_whether_it_ran_or_not() {
    let kit = Kit::new().await;
    for how in ["fails at length", "refuses at length"] {
        let arguments = serde_json::json!({"path": "/a", "how": how});
        let unconfirmed = kit.call("note", arguments.clone()).await;
        let token = kit.token("delete", arguments.clone()).await;
        let confirmed = kit.call("delete", confirming(arguments, &token)).await;
        for reply in [unconfirmed, confirmed] {
            assert!(reply.status.is_error() && reply.payload.len() < 6_000, "{} bytes", reply.payload.len());
            assert!(reply.payload.contains("éé … (100000 bytes in all, SHA-256 "), "{}", reply.payload);
            assert!(reply.payload.contains(") … éé"), "{}", reply.payload);
        }
    }
}
