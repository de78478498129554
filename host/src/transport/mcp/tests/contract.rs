//! The contract through the transport: what is listed, what is answered, and what goes on without the client.

use super::client::{Client, host, world};
use crate::host::tests::backends::Stage;
use serde_json::{Value, json};
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

fn payload<'a>(answer: &'a Value, status: &str) -> &'a Value {
    let payload = &answer["result"]["structuredContent"];
    assert_eq!(payload["status"], status, "{answer}");
    assert_eq!(answer["result"]["isError"], matches!(status, "rejected" | "failed"), "{answer}");
    let text: Value = serde_json::from_str(answer["result"]["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(&text, payload);
    payload
}

/// Previews a call and returns its arguments with the token.
async fn confirmed(client: &mut Client, mut arguments: Value) -> Value {
    let answer = client.call(900, "wipe", arguments.clone()).await;
    arguments["confirm_token"] = payload(&answer, "confirmation_required")["confirm_token"].clone();
    arguments
}

#[tokio::test]
async fn tools_are_listed_with_what_a_client_has_to_know() {
    let mut client = Client::start(host().await);
    let answer = client.ask(1, "tools/list", json!({})).await;
    let tools = answer["result"]["tools"].as_array().unwrap();
    let find = |name: &str| tools.iter().find(|tool| tool["name"] == name).unwrap();
    assert_eq!(find("exact")["annotations"], json!({"title": "Exact", "readOnlyHint": true, "destructiveHint": false}));
    assert_eq!(find("slow")["annotations"], json!({"readOnlyHint": false, "destructiveHint": false}));
    assert_eq!(find("exact")["title"], "Exact");
    assert_eq!(find("exact")["inputSchema"]["properties"].get("confirm_token"), None);
    let wipe = find("wipe");
    assert_eq!(wipe["annotations"], json!({"readOnlyHint": false, "destructiveHint": true, "idempotentHint": true}));
    assert_eq!(wipe["inputSchema"]["properties"]["confirm_token"]["type"], "string");
    assert_eq!(wipe["outputSchema"]["type"], "object");
    assert!(wipe["outputSchema"]["anyOf"].as_array().unwrap().len() >= 4, "one for each shape");
    assert_eq!(
        wipe["_meta"],
        json!({
            "counterfoil/level": "approval_required", "counterfoil/declared_level": "approval_required",
            "counterfoil/needs_confirmation": true, "counterfoil/always_confirmed": false,
            "counterfoil/plugin": "native", "counterfoil/preview_enforced": false,
        })
    );
    client.end().await;
}

#[tokio::test]
async fn preview_confirm_and_replay_have_one_effect_and_one_payload() {
    let (host, world) = world().await;
    let mut client = Client::start(host);
    let arguments = confirmed(&mut client, json!({"b": 1, "a": 2})).await;
    assert_eq!(world.effects.load(SeqCst), 0);
    let first = client.call(1, "wipe", arguments.clone()).await;
    assert_eq!(payload(&first, "ok")["effects"], 1);
    assert!(first["result"]["_meta"]["counterfoil/operation_id"].is_string(), "{first}");
    assert_eq!(first["result"]["_meta"].get("counterfoil/replayed"), None);
    let second = client.call(2, "wipe", arguments).await;
    assert_eq!(second["result"]["content"], first["result"]["content"]);
    assert_eq!(second["result"]["_meta"]["counterfoil/replayed"], true);
    assert_eq!(world.effects.load(SeqCst), 1);
    client.end().await;
}

#[tokio::test]
async fn what_is_rejected_or_failed_is_an_error_of_the_tool_not_of_the_protocol() {
    let (host, world) = world().await;
    let mut client = Client::start(host);
    assert_eq!(payload(&client.call(1, "absent", json!({})).await, "rejected")["reason"], "unknown_tool");
    let token = json!({"confirm_token": "cfm_"});
    assert_eq!(payload(&client.call(2, "wipe", token).await, "rejected")["reason"], "malformed_token");
    let arguments = confirmed(&mut client, json!({"fail": true})).await;
    assert_eq!(payload(&client.call(3, "wipe", arguments).await, "failed")["reason"], "tool_error");
    assert_eq!(world.effects.load(SeqCst), 0);
    client.end().await;
}

#[tokio::test]
async fn cancelling_stops_a_preview_and_a_call_that_was_not_confirmed_at_once() {
    let (host, world) = world().await;
    let mut client = Client::start(host);
    for (id, tool, arguments) in [(1, "slow", json!({})), (2, "wipe", json!({"stuck": true}))] {
        let params = json!({"name": tool, "arguments": arguments});
        client.send(json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string()).await;
        world.until(&world.begun, id).await;
        let params = json!({"requestId": id, "reason": "no longer wanted"});
        client.send(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}).to_string()).await;
        world.until(&world.ended, id).await;
    }
    client.ask(3, "ping", json!({})).await;
    assert!(client.end().await.is_empty(), "a cancelled request has no answer");
}

#[tokio::test]
async fn cancelling_a_confirmed_run_does_not_stop_it_and_its_outcome_is_kept() {
    let (host, world) = world().await;
    let mut client = Client::start(host);
    let arguments = confirmed(&mut client, json!({"held": true})).await;
    let params = json!({"name": "wipe", "arguments": arguments});
    client.send(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string()).await;
    world.until(&world.begun, 2).await;
    client.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#).await;
    let running = client.call(2, "wipe", arguments.clone()).await;
    assert_eq!(payload(&running, "rejected")["detail"], "in_flight");
    world.held.add_permits(1);
    world.until(&world.ended, 2).await;
    loop {
        let answer = client.call(3, "wipe", arguments.clone()).await;
        if answer["result"]["isError"] == false {
            assert_eq!(answer["result"]["_meta"]["counterfoil/replayed"], true, "{answer}");
            break;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(world.effects.load(SeqCst), 1);
    client.end().await;
}

#[tokio::test]
async fn closing_the_input_waits_for_a_confirmed_run_and_its_answer() {
    let (host, world) = world().await;
    let mut client = Client::start(host);
    let arguments = confirmed(&mut client, json!({"held": true})).await;
    let params = json!({"name": "wipe", "arguments": arguments});
    client.send(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string()).await;
    world.until(&world.begun, 2).await;
    client.input = None;
    // Longer than rmcp itself would wait.
    tokio::time::pause();
    tokio::time::sleep(Duration::from_secs(20)).await;
    tokio::time::resume();
    assert!(!client.served.is_finished());
    world.held.add_permits(1);
    let rest = client.end().await;
    assert_eq!(rest.len(), 1, "{rest:?}");
    let answer: Value = serde_json::from_str(&rest[0]).unwrap();
    assert_eq!(payload(&answer, "ok")["effects"], 1);
}

#[tokio::test]
async fn a_client_that_is_gone_changes_nothing_for_a_confirmed_run() {
    let (host, world) = world().await;
    let mut client = Client::start(host.clone());
    let arguments = confirmed(&mut client, json!({"held": true})).await;
    let params = json!({"name": "wipe", "arguments": arguments});
    client.send(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string()).await;
    world.until(&world.begun, 2).await;
    let Client { input, output, served } = client;
    drop((input, output));
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(!served.is_finished(), "the run is waited for");
    world.held.add_permits(1);
    tokio::time::timeout(Duration::from_secs(10), served).await.unwrap().unwrap().unwrap();
    let mut later = Client::start(host);
    let answer = later.call(1, "wipe", arguments).await;
    assert_eq!(payload(&answer, "ok")["effects"], 1);
    assert_eq!(answer["result"]["_meta"]["counterfoil/replayed"], true);
    later.end().await;
}

#[tokio::test]
async fn a_confirmed_call_that_waits_for_its_turn_when_the_input_ends_is_run_and_answered() {
    let stage = Stage::new(&[]).await;
    let mut client = Client::start(stage.host.clone());
    let preview = client.call(1, "approval", json!({})).await;
    let token = payload(&preview, "confirmation_required")["confirm_token"].clone();
    let taken = stage.slot.acquire().await.unwrap();
    let params = json!({"name": "approval", "arguments": {"confirm_token": token}});
    client.send(json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}).to_string()).await;
    while stage.asked.load(SeqCst) < 1 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    client.input = None;
    tokio::time::sleep(Duration::from_millis(50)).await;
    drop(taken);
    let rest = client.end().await;
    assert_eq!(rest.len(), 1, "{rest:?}");
    payload(&serde_json::from_str(&rest[0]).unwrap(), "ok");
}
