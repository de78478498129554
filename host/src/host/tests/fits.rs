//! Arguments against a schema that takes long to check with.

use super::kit::*;
use crate::tool::{Outcome, Plan};
use crate::{Level, NativeTool};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_millis(300);

/// A tool with a list whose items are any of these.
fn wordy(items: &[String]) -> NativeTool {
    let schema = format!(
        r#"{{"type":"object","properties":{{"a":{{"type":"array","items":{{"anyOf":[{}]}}}}}}}}"#,
        items.join(",")
    );
    NativeTool::new("wordy", Level::Safe, schema, "1")
        .preview_deadline(PATIENCE)
        .preview(|_| async { Ok(Plan::new("Will do it.", "{}")) })
        .execute(|_, _| async { Ok(Outcome::new("done", "{}")) })
}

async fn hold_nobody_up_and_are_refused_in_time(schema: &[String], item: &str, many: usize) {
    let arguments = |items: usize| format!(r#"{{"a":[{}]}}"#, vec![item; items].join(","));
    let long = arguments(many);
    let kit = Kit::new().await;
    let host = kit.revised("1").native(wordy(schema)).build().await.unwrap();
    is_ok(&call(&host, "alice", "wordy", &arguments(20)).await);

    let start = Instant::now();
    let (other, again) = (host.clone(), long.clone());
    let running = tokio::spawn(async move { call(&other, "alice", "wordy", &long).await });
    let mut answered = 0;
    while !running.is_finished() {
        is_ok(&call(&host, "bob", "note", r#"{"path":"/a"}"#).await);
        answered += 1;
    }
    let reply = running.await.unwrap();
    assert!(start.elapsed() < PATIENCE * 3, "{:?}", start.elapsed());
    assert!(answered > 10, "{answered}");
    is_rejected(&reply, "invalid_arguments", None);
    let error = value(&reply)["error"].to_string();
    assert!(error.contains("could not be checked against the tool's schema within 300ms: give fewer"), "{error}");
    // The check that nobody waits for any more keeps its owner's turn: the next long one is refused in time, and not for what it
    // says; a short one is not.
    let busy = call(&host, "alice", "wordy", &again).await;
    is_rejected(&busy, "unavailable", None);
    assert!(value(&busy)["error"].to_string().contains("are being checked: call again later"), "{}", busy.payload);
    is_ok(&call(&host, "alice", "wordy", &arguments(20)).await);
    // Another owner has a turn of its own.
    is_rejected(&call(&host, "bob", "wordy", &again).await, "invalid_arguments", None);
}

// On one thread: whatever blocks it holds up the other call.
#[tokio::test]
async fn arguments_that_take_long_to_check_hold_nobody_up_and_are_refused_in_time() {
    // Every item is told from two thousand words before the right one is found.
    let words: Vec<String> = (0..2000).map(|n| format!(r#"{{"const":"w{n}"}}"#)).collect();
    hold_nobody_up_and_are_refused_in_time(&words, r#""w1999""#, 25_000).await;
}

#[tokio::test]
async fn arguments_that_may_be_secret_in_many_ways_are_looked_through_in_time() {
    // Every item is checked at once, and may be secret by each of these: they are gone through once, not for each item.
    let marked = vec![r#"{"properties":{"p":{"writeOnly":true}}}"#.to_owned(); 1500];
    let arguments = format!(r#"{{"a":[{}]}}"#, [r#"{"x":1}"#; 6000].join(","));
    let kit = Kit::new().await;
    let host = kit.revised("1").native(wordy(&marked)).build().await.unwrap();
    is_ok(&call(&host, "alice", "wordy", &arguments).await);
}
