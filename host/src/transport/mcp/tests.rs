//! The protocol: lines, ids, both generations, the end.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod client;
mod contract;
mod loading;
mod reasons;

use super::serve;
use crate::Owner;
use client::{Client, host};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

const MODERN: &str = "2026-07-28";

fn modern_meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

fn hello(version: &str) -> Value {
    json!({"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}})
}

#[tokio::test]
async fn every_broken_line_is_answered_and_the_next_request_works() {
    let deep = format!("{}{}", "[".repeat(130), "]".repeat(130));
    let call = |arguments: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"exact","arguments":{arguments}}}}}"#
        )
    };
    let request =
        |method: &str, params: &str| format!(r#"{{"jsonrpc":"2.0","id":7,"method":"{method}","params":{params}}}"#);
    // What is sent, the code of the answer, whether the id could be read.
    let lines: Vec<(Vec<u8>, i64, bool)> = vec![
        (b"hello".to_vec(), -32700, false),
        (b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"p\xffng\"}".to_vec(), -32700, true),
        (b"\xff\xfe\x00".to_vec(), -32700, false),
        (br#"{"jsonrpc":"2.0","id":7,"method":"ping""#.to_vec(), -32700, true),
        (br#"[{"jsonrpc":"2.0","id":7,"method":"ping"}]"#.to_vec(), -32600, false),
        (br#"{"id":7,"method":"ping"}"#.to_vec(), -32600, true),
        (call(r#"{"a":1},"arguments":{"a":2}"#).into(), -32600, true),
        (call(r#"{"a":1},"\u006eame":"other""#).into(), -32600, true),
        (call(r#"{"a":}"#).into(), -32700, true),
        (call(r#"{},"_meta":[]"#).into(), -32602, true),
        (call(&format!(r#"{{}},"_meta":{{"x":{deep}}}"#)).into(), -32602, true),
        (request("tools/call", "{}").into(), -32602, true),
        (request("initialize", "{}").into(), -32602, true),
        (request("tools/list", r#"{"cursor":"7"}"#).into(), -32602, true),
        (request("tools/list", r#"{"cursor":1e400}"#).into(), -32602, true),
        (request("tools/list", r#"{"cursor":"\ud800"}"#).into(), -32602, true),
        (request("tools/list", &format!(r#"{{"x":{deep}}}"#)).into(), -32602, true),
        (request("server/discover", "{}").into(), -32602, true),
        (request("resources/list", "{}").into(), -32601, true),
        (request("prompts/get", r#"{"name":"a"}"#).into(), -32601, true),
        (request("tools/Call", "{}").into(), -32601, true),
        (request("approvals/approve", "{}").into(), -32601, true),
        (request("subscriptions/listen", r#"{"notifications":{}}"#).into(), -32601, true),
        (request("tasks/get", r#"{"taskId":"a"}"#).into(), -32601, true),
    ];
    let mut client = Client::start(host().await);
    for (n, (line, code, id)) in lines.into_iter().enumerate() {
        let shown = String::from_utf8_lossy(&line).into_owned();
        client.send(line).await;
        let answer = client.answer().await;
        assert_eq!(answer["error"]["code"], code, "{shown}: {answer}");
        assert_eq!(answer.get("id"), id.then_some(&json!(7)), "{shown}: {answer}");
        assert!(!answer["error"]["message"].as_str().unwrap().is_empty());
        let good = client.call(1000 + n as i64, "exact", json!({})).await;
        assert_eq!(good["result"]["structuredContent"]["status"], "ok", "after {shown}");
    }
    assert!(client.end().await.is_empty());
}

#[tokio::test]
async fn what_the_gate_has_to_judge_reaches_it_and_gets_an_answer() {
    let mut client = Client::start(host().await);
    let deep = format!(r#"{{"a":{}{}}}"#, "[".repeat(130), "]".repeat(130));
    for arguments in
        [r#"{"a":1e10000}"#, r#"{"a":"\ud800"}"#, &deep, r#"{"a":1,"a":2}"#, r#"{"a":1,"\u0061":2}"#, "[]", "7"]
    {
        let params = format!(r#"{{"name":"exact","arguments":{arguments}}}"#);
        client.send(format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#)).await;
        let answer = client.answer().await;
        assert_eq!(answer["id"], 1, "{arguments}: {answer}");
        let result = &answer["result"];
        assert_eq!(
            (&result["isError"], &result["structuredContent"]["reason"]),
            (&json!(true), &json!("invalid_arguments"))
        );
    }
    // A number that no double holds is a number all the same.
    client
        .send(r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"exact","arguments":{"a":1e400}}}"#)
        .await;
    assert_eq!(client.answer().await["result"]["isError"], false);
    client.end().await;
}

#[tokio::test]
async fn what_wants_no_answer_gets_none() {
    let mut client = Client::start(host().await);
    for line in [
        "",
        " \t\r",
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/of_tomorrow","params":{"x":1}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":7}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"x":1e400}}"#,
        r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"exact"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"a"}}"#,
    ] {
        client.send(line).await;
    }
    client.ask(1, "ping", json!({})).await;
    assert!(client.end().await.is_empty());
}

#[tokio::test]
async fn a_byte_order_mark_and_a_carriage_return_are_passed_over() {
    let mut client = Client::start(host().await);
    client.send("\u{feff}{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r").await;
    assert_eq!(client.answer().await["result"], json!({}));
    client.end().await;
}

#[tokio::test]
async fn a_line_that_is_too_long_is_skipped_to_its_end() {
    let mut client = Client::start(host().await);
    let longest = super::lines::longest(crate::gate::Settings::default().max_arguments);
    let long = "x".repeat(longest);
    let line =
        format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"exact","arguments":"{long}"}}}}"#);
    for _ in 0..2 {
        client.send(&line).await;
        let answer = client.answer().await;
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(-32600), &json!(7)));
        client.ask(8, "ping", json!({})).await;
    }
    // A line of just the limit is read.
    let before = r#"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"exact","more":""#;
    let fill = longest - before.len() - r#""}}"#.len();
    client.send(format!(r#"{before}{}"}}}}"#, "x".repeat(fill))).await;
    assert_eq!(client.answer().await["result"]["isError"], false);
    client.end().await;
}

#[tokio::test]
async fn arguments_of_the_size_that_the_gate_takes_are_read() {
    let settings = crate::gate::Settings { max_arguments: 4 << 20, ..Default::default() };
    let mut client = Client::start(client::world_with(settings).await.0);
    let text = "x".repeat(3 << 20);
    let answer = client
        .ask(1, "tools/call", json!({"name": "exact", "arguments": {"text": text}, "_meta": modern_meta()}))
        .await;
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    client.end().await;
}

#[tokio::test]
async fn a_payload_goes_out_byte_for_byte_as_text_and_as_structured_content() {
    let mut client = Client::start(host().await);
    client.send(r#"{"jsonrpc":"2.0","id":"\u00e9","method":"tools/call","params":{"name":"exact"}}"#).await;
    let line = client.line().await;
    let answer: Value = serde_json::from_str(&line).unwrap();
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains(r#""z":9007199254740993,"a":1.10"#), "{text}");
    let (rest, structured) = line.split_once(r#","structuredContent":"#).unwrap();
    assert_eq!(structured, format!("{text}}}}}"));
    assert!(rest.starts_with(r#"{"jsonrpc":"2.0","id":"é","result":{"content":[{"type":"text","text":""#), "{rest}");
    client.end().await;
}

#[tokio::test]
async fn both_generations_are_served_on_one_connection_and_may_leave_out_the_opening() {
    let mut client = Client::start(host().await);
    // Nothing before it, no metadata.
    assert_eq!(client.call(1, "exact", json!({})).await["result"]["isError"], false);
    for (version, agreed) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        (MODERN, "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
    ] {
        let answer = client.ask(2, "initialize", hello(version)).await;
        let result = &answer["result"];
        assert_eq!(result["protocolVersion"], agreed, "{answer}");
        assert_eq!(result["serverInfo"]["name"], "counterfoil");
        assert_said(result);
        let called = client.call(3, "exact", json!({})).await;
        assert_eq!(called["result"].get("resultType"), None, "{called}");
    }
    let answer = client.ask(4, "server/discover", json!({"_meta": modern_meta()})).await;
    assert!(answer["result"]["supportedVersions"].as_array().unwrap().contains(&json!(MODERN)), "{answer}");
    assert_said(&answer["result"]);
    let called = client.ask(5, "tools/call", json!({"name": "exact", "arguments": {}, "_meta": modern_meta()})).await;
    assert_eq!(called["result"]["resultType"], "complete", "{called}");
    let mut unknown = modern_meta();
    unknown["io.modelcontextprotocol/protocolVersion"] = json!("2099-01-01");
    let answer = client.ask(6, "tools/call", json!({"name": "exact", "_meta": unknown})).await;
    assert_eq!(answer["error"]["code"], -32022, "{answer}");
    client.end().await;
}

/// The risk model's version, where clients of either generation look, and the contract.
#[track_caller]
fn assert_said(result: &Value) {
    let capabilities = &result["capabilities"];
    let version = capabilities["extensions"]["counterfoil/risk-model"]["version"].as_str().unwrap();
    assert_eq!(capabilities["experimental"]["counterfoil/risk-model"]["version"], version);
    assert!(capabilities["tools"].is_object() && capabilities.get("logging").is_none(), "{capabilities}");
    let instructions = result["instructions"].as_str().unwrap();
    assert!(instructions.contains(&format!("risk model version {version}")), "{instructions}");
    assert!(instructions.contains("\"confirm_token\""), "{instructions}");
}

#[tokio::test]
async fn an_id_that_is_taken_is_refused_beside_the_first_answer() {
    let mut client = Client::start(host().await);
    let slow = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow"}}"#;
    client.send(slow).await;
    client.send(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).await;
    let answer = client.answer().await;
    assert_eq!((answer.get("id"), &answer["error"]["code"]), (None, &json!(-32600)));
    // The text "1" is another id.
    client.send(r#"{"jsonrpc":"2.0","id":"1","method":"ping"}"#).await;
    assert_eq!(client.answer().await["id"], "1");
    // Cancelled: no answer, and the id stays taken.
    client.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#).await;
    client.send(slow).await;
    assert_eq!(client.answer().await["error"]["code"], -32600);
    client.ask(2, "ping", json!({})).await;
    assert!(client.end().await.is_empty());
}

#[tokio::test]
async fn an_idle_server_ends_at_once_and_a_last_line_needs_no_line_feed() {
    let mut client = Client::start(host().await);
    client.ask(1, "ping", json!({})).await;
    let start = Instant::now();
    assert!(client.end().await.is_empty());
    assert!(start.elapsed() < Duration::from_millis(100), "{:?}", start.elapsed());

    let mut client = Client::start(host().await);
    let last = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    client.input.as_mut().unwrap().write_all(last).await.unwrap();
    assert_eq!(client.end().await, [r#"{"jsonrpc":"2.0","id":1,"result":{}}"#]);

    // A client that only looks whether anyone is there.
    assert!(Client::start(host().await).end().await.is_empty());
}

#[tokio::test]
async fn what_was_read_is_answered_before_the_end() {
    let mut client = Client::start(host().await);
    for id in 0..20 {
        client
            .send(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"steps"}}}}"#))
            .await;
    }
    client.send("broken").await;
    let rest = client.end().await;
    assert_eq!(rest.len(), 21, "{rest:?}");
    assert_eq!(rest.iter().filter(|line| line.contains("structuredContent")).count(), 20);
}

#[tokio::test]
async fn more_requests_than_are_worked_on_at_once_wait_and_are_all_answered() {
    let mut client = Client::start(host().await);
    let mut input = client.input.take().unwrap();
    let writing = tokio::spawn(async move {
        for id in 0..500 {
            let line = format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"exact\"}}}}\nx\n"
            );
            input.write_all(line.as_bytes()).await.unwrap();
        }
    });
    let lines = client.end().await;
    writing.await.unwrap();
    assert_eq!(lines.len(), 1000);
}

#[tokio::test]
async fn a_client_that_no_longer_reads_does_not_hold_the_server() {
    let mut client = Client::start(host().await);
    let (_, gone) = tokio::io::duplex(1);
    client.output = BufReader::new(gone).lines();
    for id in 0..300 {
        client.send(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#)).await;
    }
    assert!(!client.served.is_finished());
    // Nobody is left to hear of this one.
    client.send(r#"{"jsonrpc":"2.0","id":1000,"method":"tools/call","params":{"name":"slow"}}"#).await;
    client.input = None;
    tokio::time::timeout(Duration::from_secs(2), client.served).await.expect("an end in time").unwrap().unwrap();
}

#[tokio::test]
async fn an_answer_that_is_being_written_when_the_input_ends_takes_no_other_with_it() {
    let (mut input, server_in) = tokio::io::duplex(1 << 16);
    let (server_out, output) = tokio::io::duplex(16);
    let served = tokio::spawn(serve(host().await, Owner::new("name", "test").unwrap(), server_in, server_out));
    let lines = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}\n\
                 {\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"steps\"}}\n";
    input.write_all(lines.as_bytes()).await.unwrap();
    tokio::time::sleep(Duration::from_millis(100)).await;
    drop(input);
    tokio::time::sleep(Duration::from_millis(100)).await;
    let mut output = BufReader::new(output).lines();
    for id in [1, 2] {
        let answer: Value = serde_json::from_str(&output.next_line().await.unwrap().unwrap()).unwrap();
        assert_eq!((&answer["id"], answer.get("error")), (&json!(id), None));
    }
    served.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_client_that_leaves_its_answers_unread_is_given_up_after_it_closed_its_side() {
    let (mut input, server_in) = tokio::io::duplex(1 << 16);
    let (server_out, _unread) = tokio::io::duplex(16);
    let served = tokio::spawn(serve(host().await, Owner::new("name", "test").unwrap(), server_in, server_out));
    input.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n").await.unwrap();
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert!(!served.is_finished(), "a slow reader is waited for");
    drop(input);
    tokio::time::timeout(Duration::from_secs(30), served).await.expect("an end").unwrap().unwrap();
}

#[tokio::test]
async fn progress_is_passed_on_at_a_bounded_rate_and_never_after_the_answer() {
    let mut client = Client::start(host().await);
    let params = json!({"name": "steps", "arguments": {}, "_meta": {"progressToken": "p"}});
    client.send(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string()).await;
    let mut last = -1.0;
    let mut heard = 0;
    loop {
        let message = client.answer().await;
        if message["id"] == 1 {
            break;
        }
        assert_eq!(message["method"], "notifications/progress");
        let params = &message["params"];
        assert_eq!(
            (&params["progressToken"], &params["total"], &params["message"]),
            (&json!("p"), &json!(1.0), &json!("step"))
        );
        let progress = params["progress"].as_f64().unwrap();
        assert!(progress > last, "{progress} after {last}");
        last = progress;
        heard += 1;
    }
    assert!((2..=8).contains(&heard), "{heard}");
    // Without a token nothing is said.
    client.call(2, "steps", json!({})).await;
    assert!(client.end().await.is_empty());
}
