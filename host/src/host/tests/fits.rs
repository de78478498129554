//! Arguments against a schema that takes long to check with.

use super::kit::*;
use crate::tool::{Outcome, Plan};
use crate::{Level, NativeTool};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_millis(300);

/// A tool whose schema tells every item of a list from two thousand words before it finds the right one.
fn wordy() -> NativeTool {
    let words: Vec<String> = (0..2000).map(|n| format!(r#"{{"const":"w{n}"}}"#)).collect();
    let schema = format!(
        r#"{{"type":"object","properties":{{"a":{{"type":"array","items":{{"anyOf":[{}]}}}}}}}}"#,
        words.join(",")
    );
    NativeTool::new("wordy", Level::Safe, schema, "1")
        .preview_deadline(PATIENCE)
        .preview(|_| async { Ok(Plan::new("Will do it.", "{}")) })
        .execute(|_, _| async { Ok(Outcome::new("done", "{}")) })
}

fn arguments(items: usize) -> String {
    format!(r#"{{"a":[{}]}}"#, vec![r#""w1999""#; items].join(","))
}

// On one thread: whatever blocks it holds up the other call.
#[tokio::test]
async fn arguments_that_take_long_to_check_hold_nobody_up_and_are_refused_in_time() {
    let kit = Kit::new().await;
    let host = kit.revised("1").native(wordy()).build().await.unwrap();
    is_ok(&call(&host, "alice", "wordy", &arguments(20)).await);

    let start = Instant::now();
    let other = host.clone();
    let long = tokio::spawn(async move { call(&other, "alice", "wordy", &arguments(25_000)).await });
    let mut answered = 0;
    while !long.is_finished() {
        is_ok(&call(&host, "bob", "note", r#"{"path":"/a"}"#).await);
        answered += 1;
    }
    let reply = long.await.unwrap();
    assert!(start.elapsed() < PATIENCE * 3, "{:?}", start.elapsed());
    assert!(answered > 10, "{answered}");
    is_rejected(&reply, "invalid_arguments", None);
    let error = value(&reply)["error"].to_string();
    assert!(error.contains("could not be checked against the tool's schema within 300ms: give fewer"), "{error}");
    // The check that nobody waits for any more has the only turn: the next long one is refused in time, a short one is not.
    is_rejected(&call(&host, "alice", "wordy", &arguments(25_000)).await, "invalid_arguments", None);
    is_ok(&call(&host, "alice", "wordy", &arguments(20)).await);
}
