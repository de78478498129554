//! What budgets let run, and how many.

use super::*;
use crate::host::tests::backends::Fake;
use crate::policy::{Amount, Budget};
use std::time::Duration;
use tokio::task::JoinSet;

const HOUR: Duration = Duration::from_hours(1);
const HOUR_MILLIS: u64 = 3_600_000;

fn calls(tools: &str, at_most: u64) -> Budget {
    Budget::calls(tools, at_most, HOUR).unwrap()
}

async fn confirmed(host: &crate::Host, owner: &str, path: &str) -> crate::Reply {
    let arguments = json!({"path": path});
    let preview = call(host, owner, "delete", &arguments.to_string()).await;
    if preview.status != Status::ConfirmationRequired {
        return preview;
    }
    let token = value(&preview)["confirm_token"].as_str().unwrap().to_owned();
    call(host, owner, "delete", &confirming(arguments, &token).to_string()).await
}

#[tokio::test(start_paused = true)]
async fn so_many_calls_run_and_no_challenge_is_issued_for_one_more() {
    let kit = Kit::new().await;
    let host = kit.revised("1").budget(calls("delete", 2)).build().await.unwrap();
    for path in ["/a", "/b"] {
        is_ok(&confirmed(&host, "alice", path).await);
    }
    let reply = ask(&host, "delete", json!({"path": "/c", "plan": "panics"})).await;
    is_rejected(&reply, "denied", None);
    let text = said(&reply);
    assert!(text.starts_with("budget 1 allows 2 calls in 1h, of which 0 is left: ask again in 36"), "{text}");
    // Another owner has a count of their own, another tool none, and time frees.
    is_ok(&confirmed(&host, "bob", "/a").await);
    is_ok(&ask(&host, "note", json!({"path": "/c"})).await);
    kit.clock.advance(HOUR_MILLIS + HOUR_MILLIS / 64);
    is_ok(&confirmed(&host, "alice", "/c").await);
    assert_eq!(kit.world.effects(), 5);
}

#[tokio::test(start_paused = true)]
async fn a_first_call_and_a_replay_cost_nothing_and_a_failed_run_counts() {
    let kit = Kit::new().await;
    let host = kit.revised("1").budget(calls("delete", 2)).build().await.unwrap();
    let arguments = json!({"path": "/a"});
    for _ in 0..5 {
        assert!(ask(&host, "delete", arguments.clone()).await.status == Status::ConfirmationRequired);
    }
    let preview = ask(&host, "delete", arguments.clone()).await;
    let token = value(&preview)["confirm_token"].as_str().unwrap().to_owned();
    let confirm = confirming(arguments, &token);
    let ran = ask(&host, "delete", confirm.clone()).await;
    for _ in 0..5 {
        let again = ask(&host, "delete", confirm.clone()).await;
        assert!(again.replayed && again.payload == ran.payload);
    }
    let failing = json!({"path": "/b", "how": "fails"});
    let preview = ask(&host, "delete", failing.clone()).await;
    let token = value(&preview)["confirm_token"].as_str().unwrap().to_owned();
    is_failed(&ask(&host, "delete", confirming(failing, &token)).await, "tool_error", "partial");
    is_rejected(&confirmed(&host, "alice", "/c").await, "denied", None);
}

#[tokio::test(start_paused = true)]
async fn what_a_watched_tool_refuses_costs_nothing_and_what_an_unwatched_one_does_counts() {
    let kit = Kit::new().await;
    let watched = std::sync::Arc::new(Fake::listing("shop", "peek"));
    let host =
        kit.revised("1").backend(watched).budget(calls("peek", 1)).budget(calls("note", 1)).build().await.unwrap();
    for (how, reason) in [
        ("refused", "refused"),
        ("invalid", "invalid_arguments"),
        ("unknown", "unknown_tool"),
        ("busy", "unavailable"),
        ("refused", "refused"),
    ] {
        is_rejected(&ask(&host, "peek", json!({"how": how})).await, reason, None);
    }
    is_failed(&ask(&host, "peek", json!({"how": "trap"})).await, "trapped", "none");
    is_rejected(&ask(&host, "peek", json!({})).await, "denied", None);
    // Nobody saw what a closure did before it refused.
    is_rejected(&ask(&host, "note", json!({"path": "/a", "how": "refused"})).await, "refused", None);
    is_rejected(&ask(&host, "note", json!({"path": "/a"})).await, "denied", None);
    // Nor is it known of a tool that the host saw change something.
    let watched = std::sync::Arc::new(Fake::listing("shop", "poke"));
    let host = kit.revised("1").backend(watched).budget(calls("poke", 1)).build().await.unwrap();
    is_failed(&ask(&host, "poke", json!({"how": "refused", "observed": "unknown"})).await, "tool_error", "unknown");
    is_rejected(&ask(&host, "poke", json!({})).await, "denied", None);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_given_up_before_it_runs_costs_nothing_and_one_that_runs_counts() {
    let kit = Kit::new().await;
    let host = kit.revised("1").budget(calls("note", 1)).build().await.unwrap();
    let given_up = |arguments: Value| {
        let host = host.clone();
        tokio::spawn(async move { ask(&host, "note", arguments).await })
    };
    kit.store.hold_the_next_charge();
    let waiting = given_up(json!({"path": "/a"}));
    kit.store.until_it_charges().await;
    waiting.abort();
    assert!(waiting.await.is_err_and(|error| error.is_cancelled()));
    kit.store.let_it_charge();
    host.drain().await;
    assert_eq!(kit.world.effects(), 0);
    let running = given_up(json!({"path": "/a", "how": "held"}));
    kit.world.until_begun(1).await;
    running.abort();
    assert!(running.await.is_err_and(|error| error.is_cancelled()));
    host.drain().await;
    is_rejected(&ask(&host, "note", json!({"path": "/a"})).await, "denied", None);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_runs_at_once_is_paid_before_it_runs() {
    let kit = Kit::new().await;
    let host = kit.revised("1").budget(calls("*", 3)).build().await.unwrap();
    is_ok(&ask(&host, "note", json!({"path": "/a"})).await);
    is_ok(&ask(&host, "look", json!({"path": "/a"})).await);
    is_ok(&ask(&host, "delete", json!({"path": "/a", "plan": "mild"})).await);
    for tool in ["note", "look", "delete", "wipe"] {
        is_rejected(&ask(&host, tool, json!({"path": "/a"})).await, "denied", None);
    }
    assert_eq!(kit.world.effects(), 3);
    // No store, no count, no run.
    kit.clock.advance(3 * HOUR_MILLIS);
    kit.store.cut(true);
    is_rejected(&ask(&host, "note", json!({"path": "/a"})).await, "unavailable", None);
    assert_eq!(kit.world.effects(), 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_sixty_four_at_once_as_many_run_as_the_budget_allows() {
    let kit = Kit::new().await;
    let host = kit.revised("1").budget(calls("*", 10)).build().await.unwrap();
    let mut tokens = Vec::new();
    for n in 0..32 {
        let preview = ask(&host, "delete", json!({"path": format!("/{n}")})).await;
        tokens.push(value(&preview)["confirm_token"].as_str().unwrap().to_owned());
    }
    let mut tasks = JoinSet::new();
    for (n, token) in tokens.into_iter().enumerate() {
        let arguments = confirming(json!({"path": format!("/{n}")}), &token);
        for (tool, arguments) in [("delete", arguments), ("note", json!({"path": "/n"}))] {
            let host = host.clone();
            tasks.spawn(async move { ask(&host, tool, arguments).await.status });
        }
    }
    let results = tasks.join_all().await;
    assert_eq!(results.iter().filter(|status| **status == Status::Ok).count(), 10);
    assert!(results.iter().all(|status| matches!(status, Status::Ok | Status::Rejected)));
    assert_eq!(kit.world.effects(), 10);
}

#[tokio::test(start_paused = true)]
async fn what_did_not_run_is_given_back_and_what_is_in_doubt_is_not() {
    let kit = Kit::new().await;
    let host = kit.revised("1").budget(calls("delete", 2)).build().await.unwrap();
    let arguments = json!({"path": "/a"});
    let preview = ask(&host, "delete", arguments.clone()).await;
    let token = value(&preview)["confirm_token"].as_str().unwrap().to_owned();
    // Two with one token: one of them runs, the other is paid for and given back.
    let (one, two) = tokio::join!(
        ask(&host, "delete", confirming(arguments.clone(), &token)),
        ask(&host, "delete", confirming(arguments.clone(), &token)),
    );
    assert_eq!([&one, &two].iter().filter(|reply| reply.status == Status::Ok && !reply.replayed).count(), 1);
    assert_eq!(kit.world.effects(), 1);
    // The swap got no answer: it may have been made, or still be. Nobody knows, so it stays counted.
    let preview = ask(&host, "delete", json!({"path": "/b"})).await;
    let token = value(&preview)["confirm_token"].as_str().unwrap().to_owned();
    kit.store.fail_replaces(1);
    let lost = ask(&host, "delete", confirming(json!({"path": "/b"}), &token)).await;
    is_rejected(&lost, "unavailable", None);
    is_rejected(&confirmed(&host, "alice", "/c").await, "denied", None);
    assert_eq!(kit.world.effects(), 1);
}

/// A tool that pays.
fn payer(kit: &Kit, budgets: impl IntoIterator<Item = Budget>) -> HostBuilder {
    let schema = r#"{"type":"object","properties":{"amount":{}}}"#;
    let pay = NativeTool::new("pay", Level::Caution, schema, "1")
        .execute(|_, _| async { Ok(crate::tool::Outcome::new("paid", "{}")) });
    budgets.into_iter().fold(kit.beside().native(pay), HostBuilder::budget)
}

fn sum(at_most: &str) -> Budget {
    Budget::sum("pay", "args.amount", Amount::parse(at_most).unwrap(), HOUR).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_sum_is_exact_and_what_cannot_be_added_is_denied() {
    let kit = Kit::new().await;
    let host = payer(&kit, [sum("1")]).build().await.unwrap();
    for _ in 0..10 {
        is_ok(&call(&host, "alice", "pay", r#"{"amount":0.1}"#).await);
    }
    let reply = call(&host, "alice", "pay", r#"{"amount":0.000001}"#).await;
    is_rejected(&reply, "denied", None);
    assert!(said(&reply).contains("allows 1 of args.amount in 1h, of which 0 is left"), "{}", reply.payload);
    is_ok(&call(&host, "alice", "pay", r#"{"amount":0}"#).await);
    for (arguments, says) in [
        (r#"{"amount":-77}"#, "is negative"),
        (r#"{"amount":0.0000007}"#, "more than six digits"),
        (r#"{"amount":7e30}"#, "too large"),
        (r#"{"amount":"77"}"#, "is not a number"),
        (r#"{"amount":null}"#, "is not a number"),
        ("{}", "is missing"),
    ] {
        let reply = call(&host, "bob", "pay", arguments).await;
        is_rejected(&reply, "denied", None);
        let text = said(&reply);
        assert!(text.contains("budget 1 cannot be counted: args.amount") && text.contains(says), "{text}");
        assert!(!text.contains('7'), "it quotes the argument: {text}");
    }
    let reply = call(&host, "bob", "pay", r#"{"amount":1.5}"#).await;
    assert!(said(&reply).contains("of which 1 is left: this call is more than it ever allows"), "{}", reply.payload);
}

#[tokio::test(start_paused = true)]
async fn several_budgets_are_paid_together_or_not_at_all() {
    let kit = Kit::new().await;
    let host = payer(&kit, [calls("pay", 2), sum("10")]).build().await.unwrap();
    is_rejected(&call(&host, "alice", "pay", r#"{"amount":11}"#).await, "denied", None);
    is_ok(&call(&host, "alice", "pay", r#"{"amount":4}"#).await);
    assert!(said(&call(&host, "alice", "pay", r#"{"amount":7}"#).await).starts_with("budget 2 "));
    is_ok(&call(&host, "alice", "pay", r#"{"amount":6}"#).await);
    assert!(said(&call(&host, "alice", "pay", r#"{"amount":0}"#).await).starts_with("budget 1 "));
    // A changed limit goes on counting what was spent.
    let host = payer(&kit, [calls("pay", 3), sum("10")]).build().await.unwrap();
    is_rejected(&call(&host, "alice", "pay", r#"{"amount":1}"#).await, "denied", None);
    is_ok(&call(&host, "alice", "pay", r#"{"amount":0}"#).await);
}

#[tokio::test(start_paused = true)]
async fn a_confirmation_does_not_outlive_a_change_of_a_budget() {
    let kit = Kit::new().await;
    let arguments = json!({"path": "/a"});
    let before = kit.revised("1").budget(calls("delete", 2)).build().await.unwrap();
    let preview = ask(&before, "delete", arguments.clone()).await;
    let confirm = confirming(arguments, value(&preview)["confirm_token"].as_str().unwrap());
    let host = kit.revised("1").budget(calls("delete", 3)).build().await.unwrap();
    is_rejected(&ask(&host, "delete", confirm.clone()).await, "tool_changed", None);
    is_ok(&ask(&before, "delete", confirm).await);
}

#[tokio::test]
async fn a_budget_that_cannot_be_in_force_stops_the_start() {
    let kit = Kit::new().await;
    stops(kit.revised("1").budget(calls("nothing", 1)), &["budget 1", "no tool \"nothing\""]).await;
    let twice = kit.revised("1").budget(calls("*", 1)).budget(calls("delete", 1)).budget(calls("*", 2));
    stops(twice, &["budget 3 counts the same as budget 1"]).await;
}

#[tokio::test(start_paused = true)]
async fn the_janitor_drops_what_no_period_needs() {
    let kit = Kit::new().await;
    let host = kit.revised("1").budget(calls("note", 1)).build().await.unwrap();
    is_ok(&ask(&host, "note", json!({"path": "/a"})).await);
    kit.clock.advance(HOUR_MILLIS + HOUR_MILLIS / 64);
    let sweeping = host.keep_swept();
    let account = calls("note", 1).account("name:alice");
    while !host.gate().store().spent(account, 0).await.unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    sweeping.abort();
}
