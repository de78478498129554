//! Where a row cannot be written.

use super::*;

#[tokio::test]
async fn without_its_row_nothing_runs_and_no_token_is_spent() {
    let told = Told::new().await;
    let arguments = json!({"path": "/a"});
    let token = told.token("delete", arguments.clone()).await;
    told.break_it();
    for _ in 0..2 {
        is_rejected_as(&told.call("delete", confirming(arguments.clone(), &token)).await, "unavailable");
        is_rejected_as(&told.call("note", arguments.clone()).await, "unavailable");
        let preview = told.call("delete", json!({"path": "/b"})).await;
        is_rejected_as(&preview, "unavailable");
        assert!(!preview.payload.contains("cfm_"), "a token of which no row tells is given to nobody");
    }
    assert_eq!(told.kit.world.effects(), 0);
    is_ok(&told.call("look", arguments.clone()).await);
    // Elsewhere the very token still runs: nothing was spent.
    is_ok(&call(&told.kit.host, "alice", "delete", &confirming(arguments, &token).to_string()).await);
}

#[tokio::test]
async fn an_end_that_cannot_be_told_is_delivered_and_said() {
    let told = Told::new().await;
    for tool in ["note", "delete"] {
        let told = Arc::new(Told::new().await);
        let mut arguments = json!({"path": "/a", "how": "held"});
        if tool == "delete" {
            let token = told.token(tool, arguments.clone()).await;
            arguments = confirming(arguments, &token);
        }
        let asker = {
            let told = Arc::clone(&told);
            tokio::spawn(async move { told.call(tool, arguments).await })
        };
        told.kit.world.until_begun(1).await;
        told.break_it();
        told.kit.world.release(1);
        let reply = asker.await.unwrap();
        is_ok(&reply);
        assert!(!reply.audited && reply.kept, "{tool}");
    }
    assert!(told.call("look", json!({"path": "/a"})).await.audited);
}

#[tokio::test]
async fn a_settlement_that_cannot_be_told_is_not_made() {
    let told = Told::new().await;
    let token = told.token("delete", json!({"path": "/a"})).await;
    let id = told.host.gate().identify(&token).await.unwrap().unwrap();
    told.break_it();
    let settled = crate::audit::resolve(told.host.gate(), Some(&told.audit), &id, "os:op", true).await;
    assert!(matches!(settled, Err(crate::audit::SettleError::Audit(_))));
}

#[tokio::test]
async fn a_preview_that_cannot_be_told_takes_no_room() {
    let told = Told::new().await;
    told.token("delete", json!({"path": "/a"})).await;
    told.break_it();
    for number in 0..40 {
        is_rejected_as(&told.call("delete", json!({"path": format!("/{number}")})).await, "unavailable");
    }
    let pending = told.host.gate().pending(None, 100).await.unwrap();
    assert_eq!(pending.len(), 1, "only the one whose token somebody has");
}
