//! Runs that others began, whose caller goes away, or that come back after they were given up.

use super::*;
use crate::policy::Budget;
use std::time::Duration;

fn once() -> Budget {
    Budget::calls("delete", 1, Duration::from_hours(1)).unwrap()
}

#[tokio::test]
async fn a_call_whose_caller_goes_away_is_told_as_cancelled() {
    let told = Arc::new(Told::new().await);
    let asker = {
        let told = Arc::clone(&told);
        tokio::spawn(async move { told.call("note", json!({"path": "/a", "how": "held"})).await })
    };
    told.kit.world.until_begun(1).await;
    asker.abort();
    assert!(asker.await.is_err());
    assert_eq!(told.told(), ["started", "cancelled"]);
    // Nothing stops a closure, and nobody saw what it did.
    let last = told.rows().remove(1);
    assert_eq!((&last["effect"], &last["stopped"]), (&json!("unknown"), &json!(false)));
    assert_eq!(told.verified().await.remarks, []);
}

#[tokio::test]
async fn nothing_is_spent_for_a_caller_who_went_away_while_it_was_paid() {
    let told = Arc::new(Told::with(|builder| builder.budget(once())).await);
    let arguments = json!({"path": "/a"});
    let token = told.token("delete", arguments.clone()).await;
    let confirm = confirming(arguments, &token);
    told.kit.store.hold_the_next_charge();
    let asker = {
        let (told, confirm) = (Arc::clone(&told), confirm.clone());
        tokio::spawn(async move { told.call("delete", confirm).await })
    };
    told.kit.store.until_it_charges().await;
    asker.abort();
    assert!(asker.await.is_err());
    told.kit.store.let_it_charge();
    told.host.drain().await;
    assert_eq!(told.told(), ["challenge_issued", "started", "cancelled"]);
    let last = told.rows().remove(2);
    assert_eq!((&last["effect"], &last["stopped"]), (&json!("none"), &json!(true)));
    assert_eq!(told.kit.world.effects(), 0);
    // The token is as good as before, and the one call that the budget allows is still there.
    is_ok(&told.call("delete", confirm).await);
    assert_eq!(told.kit.world.effects(), 1);
}

#[tokio::test]
async fn a_token_whose_budget_is_used_up_begins_nothing() {
    let told = Told::with(|builder| builder.budget(once())).await;
    let mut confirms = Vec::new();
    for path in ["/a", "/b"] {
        let arguments = json!({"path": path});
        let token = told.token("delete", arguments.clone()).await;
        confirms.push(confirming(arguments, &token));
    }
    is_ok(&told.call("delete", confirms.remove(0)).await);
    for _ in 0..10 {
        is_rejected(&told.call("delete", confirms[0].clone()).await, "denied", None);
    }
    let started = told.told().iter().filter(|row| *row == "started").count();
    assert_eq!(started, 1, "{:?}", told.told());
    assert_eq!(told.kit.world.effects(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_settlement_is_told_and_so_is_the_run_that_came_back_from_it() {
    let told = Arc::new(Told::new().await);
    let arguments = json!({"path": "/a", "how": "held"});
    let token = told.token("delete", arguments.clone()).await;
    let asker = {
        let (told, confirm) = (Arc::clone(&told), confirming(arguments, &token));
        tokio::spawn(async move { told.call("delete", confirm).await })
    };
    told.kit.world.until_begun(1).await;
    let gate = told.host.gate();
    let id = gate.identify(&token).await.unwrap().unwrap();
    let early = crate::audit::resolve(gate, Some(&told.audit), &id, "os:op", false).await;
    assert!(early.is_err(), "it may be running still");
    told.kit.clock.advance(DEADLINE_MILLIS + 1_000);
    crate::audit::resolve(gate, Some(&told.audit), &id, "os:op", false).await.unwrap();
    told.kit.world.release(1);
    asker.await.unwrap();
    told.host.drain().await;
    let rows = told.told();
    let expected = ["challenge_issued", "started", "settling", "not_resolved", "settling", "resolved"];
    assert_eq!(rows[..6], expected, "{rows:?}");
    assert!(rows.contains(&"settlement_replaced".to_owned()) && rows.contains(&"ended ok".to_owned()), "{rows:?}");
    let clash = told.rows().into_iter().find(|row| row["event"] == "settlement_replaced").unwrap();
    assert_eq!(
        (&clash["settled"], &clash["by"], &clash["approval_id"]),
        (&json!("did_not"), &json!("os:op"), &json!(id))
    );
    assert_eq!(told.verified().await.remarks, []);
}

#[tokio::test]
async fn of_many_askers_each_has_its_rows_and_one_ran() {
    let told = Arc::new(Told::new().await);
    let arguments = json!({"path": "/a"});
    let token = told.token("delete", arguments.clone()).await;
    let askers: Vec<_> = (0..16)
        .map(|_| {
            let (told, confirm) = (Arc::clone(&told), confirming(arguments.clone(), &token));
            tokio::spawn(async move { told.call("delete", confirm).await })
        })
        .collect();
    for asker in askers {
        asker.await.unwrap();
    }
    let count = |event: &str| told.told().iter().filter(|row| row.starts_with(event)).count();
    assert_eq!((count("ended ok"), told.kit.world.effects()), (1, 1));
    assert!(count("started") >= 1);
    assert_eq!(told.verified().await.remarks, [], "a run that did not come about says so");
}

#[tokio::test]
async fn the_audit_is_ended_behind_the_calls_that_are_dropped_at_the_end() {
    let told = Arc::new(Told::new().await);
    let asker = {
        let told = Arc::clone(&told);
        tokio::spawn(async move { told.call("note", json!({"path": "/a", "how": "held"})).await })
    };
    told.kit.world.until_begun(1).await;
    {
        let mut closing = std::pin::pin!(told.host.close());
        assert!(tokio::time::timeout(Duration::from_millis(100), &mut closing).await.is_err(), "a call goes on");
        asker.abort();
        closing.await;
    }
    assert_eq!(told.told(), ["started", "cancelled", "closed"]);
    let findings = verify(&told.folder(), &[told.dir.path().join("checkpoints")]).unwrap();
    assert_eq!((findings.files.len(), findings.faults.len(), findings.remarks.len()), (1, 0, 0), "{findings:?}");
}
