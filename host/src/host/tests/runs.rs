//! What becomes of a run that has started: once, recorded, replayed, whoever goes away.

use super::kit::*;
use crate::host::run::{GRACE, RECORD_WAITS};
use crate::plugin::SETTLES;
use serde_json::{Value, json};
use std::time::Duration;

/// Confirms a call whose run ends as `how` says.
async fn run(kit: &Kit, how: &str) -> (crate::host::Reply, Value) {
    let arguments = json!({"path": "/a", "how": how});
    let token = kit.token("delete", arguments.clone()).await;
    let confirm = confirming(arguments, &token);
    (kit.call("delete", confirm.clone()).await, confirm)
}

#[tokio::test(start_paused = true)]
async fn a_failed_run_is_recorded_and_replayed_and_never_tried_again() {
    for (how, reason, effect, effects) in [
        ("fails", "tool_error", "partial", 0),
        ("fails early", "tool_error", "none", 0),
        ("refused", "tool_error", "none", 0),
        ("invalid", "tool_error", "none", 0),
        ("unknown", "tool_error", "none", 0),
        ("panics", "trapped", "unknown", 0),
        ("large", "output_limit", "unknown", 1),
        ("no object", "output_limit", "unknown", 1),
        ("no json", "output_limit", "unknown", 1),
    ] {
        let kit = Kit::with(|settings| {
            settings.max_outcome = 2_000;
            settings.max_output = 4_000;
        })
        .await;
        let (failed, confirm) = run(&kit, how).await;
        is_failed(&failed, reason, effect);
        assert!(failed.kept && !failed.replayed && failed.operation_id.is_some());
        assert_eq!(value(&failed)["assurance"], "token_only");
        let again = kit.call("delete", confirm).await;
        assert!(again.replayed && again.payload == failed.payload && again.status == failed.status, "{how}");
        assert_eq!(kit.world.effects(), effects, "{how}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_outcome_within_the_limit_is_delivered_whole() {
    let kit = Kit::new().await;
    let (ran, _) = run(&kit, "large").await;
    assert_eq!(is_ok(&ran)["text"].as_str().map(str::len), Some(5_000));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn sixty_four_askers_of_one_token_make_one_effect() {
    let kit = Kit::new().await;
    let arguments = json!({"path": "/a"});
    let token = kit.token("delete", arguments.clone()).await;
    let askers: Vec<_> = (0..64).map(|_| kit.spawn("delete", confirming(arguments.clone(), &token))).collect();
    let mut ran = 0;
    for asker in askers {
        let reply = asker.await.unwrap();
        if reply.status.is_error() {
            is_rejected(&reply, "unknown_or_used", Some("in_flight"));
        } else if !reply.replayed {
            ran += 1;
        }
    }
    assert_eq!((ran, kit.world.effects()), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_run_whose_caller_went_away_ends_and_is_recorded() {
    let kit = Kit::new().await;
    let arguments = json!({"path": "/a", "how": "held"});
    let token = kit.token("delete", arguments.clone()).await;
    let confirm = confirming(arguments, &token);
    let asker = kit.spawn("delete", confirm.clone());
    kit.world.until_begun(1).await;
    asker.abort();
    assert!(asker.await.err().unwrap().is_cancelled());
    is_rejected(&kit.call("delete", confirm.clone()).await, "unknown_or_used", Some("in_flight"));
    kit.world.release(1);
    kit.host.drain().await;
    let replay = kit.call("delete", confirm).await;
    is_ok(&replay);
    assert!(replay.replayed);
    assert_eq!(kit.world.effects(), 1);
}

#[tokio::test(start_paused = true)]
async fn dropping_a_call_that_needs_no_confirmation_stops_it() {
    let kit = Kit::new().await;
    let asker = kit.spawn("note", json!({"path": "/a", "how": "held"}));
    kit.world.until_begun(1).await;
    asker.abort();
    assert!(asker.await.err().unwrap().is_cancelled());
    kit.world.release(1);
    kit.host.drain().await;
    tokio::time::sleep(DEADLINE).await;
    assert_eq!(kit.world.effects(), 0);
}

#[tokio::test(start_paused = true)]
async fn an_overdue_closure_is_unknown_until_it_returns_and_its_late_outcome_is_kept() {
    let kit = Kit::new().await;
    let arguments = json!({"path": "/a", "how": "held"});
    let token = kit.token("delete", arguments.clone()).await;
    let confirm = confirming(arguments, &token);
    let asker = kit.spawn("delete", confirm.clone());
    kit.world.until_begun(1).await;
    kit.clock.advance(DEADLINE_MILLIS + 1);
    // Nothing else is left to do: the runtime's clock jumps to the deadline.
    let overdue = asker.await.unwrap();
    is_rejected(&overdue, "unknown_or_used", Some("outcome_unknown"));
    assert!(overdue.operation_id.is_some());
    is_rejected(&kit.call("delete", confirm.clone()).await, "unknown_or_used", Some("outcome_unknown"));
    kit.world.release(1);
    kit.host.drain().await;
    let replay = kit.call("delete", confirm).await;
    is_ok(&replay);
    assert!(replay.replayed && replay.operation_id == overdue.operation_id);
    assert_eq!(kit.world.effects(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_run_is_in_flight_until_it_has_been_given_up_and_a_while_for_its_record() {
    assert!(RECORD_WAITS.iter().sum::<Duration>() + Duration::from_secs(6) + SETTLES < GRACE);
    assert_eq!((DEADLINE + GRACE).as_millis(), u128::from(DEADLINE_MILLIS));
    let kit = Kit::new().await;
    let arguments = json!({"path": "/a", "how": "held"});
    let confirm = confirming(arguments.clone(), &kit.token("delete", arguments).await);
    let asker = kit.spawn("delete", confirm.clone());
    kit.world.until_begun(1).await;
    kit.clock.set(START + 30_001);
    // The runtime's clock jumps to the end of the run's own time; the closure runs on, and the gate knows it.
    is_rejected(&asker.await.unwrap(), "unknown_or_used", Some("in_flight"));
    kit.clock.set(START + DEADLINE_MILLIS - 1);
    let gate = kit.host.gate();
    let id = gate.unrecorded(None, 10).await.unwrap()[0].approval_id.clone();
    assert!(gate.resolve(&id, "operator", true).await.is_err());
    kit.clock.set(START + DEADLINE_MILLIS);
    is_rejected(&kit.call("delete", confirm).await, "unknown_or_used", Some("outcome_unknown"));
    gate.resolve(&id, "operator", true).await.unwrap();
    kit.world.release(1);
}

#[tokio::test(start_paused = true)]
async fn what_a_slow_store_takes_to_start_a_run_is_taken_from_the_runs_own_time() {
    let kit = Kit::new().await;
    let held = json!({"path": "/a", "how": "held"});
    let confirm = confirming(held.clone(), &kit.token("delete", held).await);
    kit.store.slow_replaces(1);
    let asked = tokio::time::Instant::now();
    is_rejected(&kit.call("delete", confirm).await, "unknown_or_used", Some("in_flight"));
    assert!(asked.elapsed() < DEADLINE + Duration::from_secs(1), "{:?}", asked.elapsed());
    // It is run all the same, and one that needs next to no time succeeds.
    let quick = json!({"path": "/b"});
    let confirm = confirming(quick.clone(), &kit.token("delete", quick).await);
    kit.store.slow_replaces(1);
    is_ok(&kit.call("delete", confirm).await);
    kit.world.release(1);
    kit.host.drain().await;
    // One that would begin about when it has to be over does not begin.
    let late = json!({"path": "/c"});
    let confirm = confirming(late.clone(), &kit.token("delete", late).await);
    let effects = kit.world.effects();
    kit.store.stall_the_next_replace();
    let failed = kit.call("delete", confirm.clone()).await;
    is_failed(&failed, "deadline", "none");
    assert!(kit.call("delete", confirm).await.payload == failed.payload);
    assert_eq!(kit.world.effects(), effects);
}

#[tokio::test(start_paused = true)]
async fn an_overdue_call_that_needed_no_confirmation_has_failed() {
    let kit = Kit::new().await;
    is_failed(&kit.call("note", json!({"path": "/a", "how": "held"})).await, "deadline", "unknown");
}

#[tokio::test(start_paused = true)]
async fn a_lost_acknowledgement_neither_loses_the_run_nor_doubles_it() {
    let kit = Kit::new().await;
    let arguments = json!({"path": "/a"});
    let token = kit.token("delete", arguments.clone()).await;
    kit.store.lose_acknowledgements(1);
    let confirm = confirming(arguments, &token);
    let ran = kit.call("delete", confirm.clone()).await;
    is_ok(&ran);
    assert!(kit.call("delete", confirm).await.payload == ran.payload);
    assert_eq!(kit.world.effects(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_store_that_fails_after_the_effect_is_asked_again_and_then_the_caller_is_told() {
    let kit = Kit::new().await;
    let (ran, confirm) = run(&kit, "breaks the store").await;
    is_ok(&ran);
    assert!(!ran.kept, "the real result, and that it is kept nowhere");
    kit.store.cut(false);
    kit.clock.advance(DEADLINE_MILLIS + 1);
    is_rejected(&kit.call("delete", confirm).await, "unknown_or_used", Some("outcome_unknown"));
    assert_eq!(kit.world.effects(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_store_that_comes_back_in_time_keeps_the_outcome() {
    let kit = Kit::new().await;
    let store = std::sync::Arc::clone(&kit.store);
    let (host, arguments) = (kit.host.clone(), json!({"path": "/a", "how": "breaks the store"}));
    let confirm = confirming(arguments.clone(), &kit.token("delete", arguments).await);
    let text = confirm.to_string();
    let asker = tokio::spawn(async move { call(&host, "alice", "delete", &text).await });
    kit.world.until_begun(1).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    store.cut(false);
    let ran = asker.await.unwrap();
    is_ok(&ran);
    assert!(ran.kept);
    assert!(kit.call("delete", confirm).await.payload == ran.payload);
}

#[tokio::test(start_paused = true)]
async fn a_consume_that_the_store_does_not_take_runs_nothing_and_spends_nothing() {
    let kit = Kit::new().await;
    let arguments = json!({"path": "/a"});
    let confirm = confirming(arguments.clone(), &kit.token("delete", arguments).await);
    kit.store.fail_replaces(1);
    is_rejected(&kit.call("delete", confirm.clone()).await, "unavailable", None);
    assert_eq!(kit.world.effects(), 0);
    is_ok(&kit.call("delete", confirm).await);
}

#[tokio::test(start_paused = true)]
async fn where_neither_the_swap_nor_the_look_at_it_is_answered_nobody_says_that_nothing_was_spent() {
    let kit = Kit::new().await;
    let arguments = json!({"path": "/a"});
    let confirm = confirming(arguments.clone(), &kit.token("delete", arguments).await);
    kit.store.cut_at_the_next_replace();
    let doubtful = kit.call("delete", confirm.clone()).await;
    is_rejected(&doubtful, "unavailable", None);
    assert!(doubtful.payload.contains("not known whether its token is spent"), "{}", doubtful.payload);
    assert!(!doubtful.payload.contains("no token was spent"), "{}", doubtful.payload);
    kit.store.cut(false);
    is_rejected(&kit.call("delete", confirm).await, "unknown_or_used", Some("in_flight"));
    assert_eq!(kit.world.effects(), 0);
}

#[tokio::test(start_paused = true)]
async fn of_a_started_run_that_nobody_can_see_no_one_says_that_nothing_ran() {
    let kit = Kit::new().await;
    let arguments = json!({"path": "/a", "how": "held"});
    let confirm = confirming(arguments.clone(), &kit.token("delete", arguments).await);
    let asker = kit.spawn("delete", confirm);
    kit.world.until_begun(1).await;
    kit.store.cut(true);
    let overdue = asker.await.unwrap();
    is_rejected(&overdue, "unavailable", None);
    for lie in ["nothing ran", "no token was spent"] {
        assert!(!overdue.payload.contains(lie), "{}", overdue.payload);
    }
    assert!(!kit.host.drain_for(DEADLINE).await, "it runs still");
    kit.world.release(1);
    assert!(kit.host.drain_for(DEADLINE).await);
}
