//! Every reason, detail and failure that a host of this version can answer, through the protocol, each beside a call that
//! differs in one thing and is not answered so. (`awaiting_approval` and `denied` need what no configuration can ask for
//! yet; the vectors reach them.)

use super::client::Client;
use crate::Level;
use crate::gate::Settings;
use crate::host::tests::kit::{DEADLINE_MILLIS, Kit, STRANGER, tool};
use serde_json::{Value, json};
use std::time::Duration;

/// A client of a kit, counting its requests.
struct Session {
    kit: Kit,
    client: Client,
    id: i64,
}

impl Session {
    async fn new() -> Self {
        Self::with(|_| {}).await
    }

    async fn with(change: impl FnOnce(&mut Settings)) -> Self {
        let kit = Kit::with(change).await;
        let client = Client::start(kit.host.clone());
        Self { kit, client, id: 0 }
    }

    async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.id += 1;
        self.client.call(self.id, tool, arguments).await
    }

    /// The token of a first call.
    async fn token(&mut self, arguments: &Value) -> Value {
        let answer = self.call("delete", arguments.clone()).await;
        let payload = &answer["result"]["structuredContent"];
        assert_eq!(payload["status"], "confirmation_required", "{answer}");
        payload["confirm_token"].clone()
    }

    async fn confirm(&mut self, arguments: &Value, token: &Value) -> Value {
        self.call("delete", confirming(arguments, token)).await
    }

    /// Starts a held run and leaves it running.
    async fn hold(&mut self, runs: u32) -> (Value, Value) {
        let held = json!({"path": "a", "how": "held"});
        let token = self.token(&held).await;
        let line = json!({"jsonrpc": "2.0", "id": 1_000_000, "method": "tools/call",
            "params": {"name": "delete", "arguments": confirming(&held, &token)}});
        self.client.send(line.to_string()).await;
        self.kit.world.until_begun(runs).await;
        (held, token)
    }
}

fn confirming(arguments: &Value, token: &Value) -> Value {
    let mut arguments = arguments.clone();
    arguments["confirm_token"] = token.clone();
    arguments
}

#[track_caller]
fn is(answer: &Value, status: &str, reason: &str, detail: Option<&str>) {
    let payload = &answer["result"]["structuredContent"];
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    let told = (payload["status"].as_str(), payload["reason"].as_str(), payload["detail"].as_str());
    assert_eq!(told, (Some(status), Some(reason), detail), "{answer}");
    let text: Value = serde_json::from_str(answer["result"]["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(&text, payload);
}

#[track_caller]
fn rejected(answer: &Value, reason: &str) {
    is(answer, "rejected", reason, None);
}

#[track_caller]
fn used(answer: &Value, detail: Option<&str>) {
    is(answer, "rejected", "unknown_or_used", detail);
}

#[track_caller]
fn ok(answer: &Value) {
    assert_eq!(answer["result"]["structuredContent"]["status"], "ok", "{answer}");
}

#[tokio::test]
async fn what_is_wrong_with_a_call_is_told_and_spends_nothing() {
    let mut s = Session::new().await;
    let right = json!({"path": "a"});
    let token = s.token(&right).await;
    rejected(&s.confirm(&right, &json!("cfm_short")).await, "malformed_token");
    rejected(&s.call("delete", json!({"path": 1})).await, "invalid_arguments");
    used(&s.confirm(&right, &json!(STRANGER)).await, None);
    rejected(&s.call("wipe", confirming(&right, &token)).await, "wrong_tool");
    rejected(&s.confirm(&json!({"path": "b"}), &token).await, "params_changed");
    rejected(&s.call("absent", right.clone()).await, "unknown_tool");
    rejected(&s.call("delete", json!({"path": "a", "plan": "refused"})).await, "refused");
    rejected(&s.call("note", json!({"path": "a", "how": "refused"})).await, "refused");
    let mut other = Client::of("somebody else", s.kit.host.clone());
    rejected(&other.call(1, "delete", confirming(&right, &token)).await, "wrong_owner");
    let mut changed = Client::start(s.kit.revised("2").build().await.unwrap());
    rejected(&changed.call(1, "delete", confirming(&right, &token)).await, "tool_changed");
    s.kit.store.cut(true);
    rejected(&s.confirm(&right, &token).await, "unavailable");
    s.kit.store.cut(false);
    assert_eq!(s.kit.world.effects(), 0);
    ok(&s.confirm(&right, &token).await);
    assert_eq!(s.kit.world.effects(), 1);
}

#[tokio::test]
async fn a_token_is_good_up_to_its_time_and_an_outcome_up_to_its_own() {
    let mut s = Session::new().await;
    let (first, second) = (json!({"path": "a"}), json!({"path": "b"}));
    let (late, timely) = (s.token(&first).await, s.token(&second).await);
    let Settings { ttl, replay_window, .. } = *s.kit.host.gate().settings();
    s.kit.clock.advance(ttl - 1);
    let ran = s.confirm(&second, &timely).await;
    ok(&ran);
    s.kit.clock.advance(1);
    rejected(&s.confirm(&first, &late).await, "expired");
    s.kit.clock.advance(replay_window - 2);
    let again = s.confirm(&second, &timely).await;
    assert_eq!(again["result"]["content"], ran["result"]["content"]);
    assert_eq!(again["result"]["_meta"]["counterfoil/replayed"], true);
    s.kit.clock.advance(1);
    used(&s.confirm(&second, &timely).await, Some("already_ran"));
}

#[tokio::test]
async fn a_run_that_does_not_end_is_in_flight_then_unknown_then_what_the_operator_says() {
    for (happened, detail) in [(true, "settled_happened"), (false, "settled_did_not")] {
        let mut s = Session::new().await;
        let spare = s.token(&json!({"path": "a", "how": "held"})).await;
        let (held, token) = s.hold(1).await;
        s.kit.clock.advance(DEADLINE_MILLIS - 1);
        used(&s.confirm(&held, &token).await, Some("in_flight"));
        s.kit.clock.advance(1);
        used(&s.confirm(&held, &token).await, Some("outcome_unknown"));
        rejected(&s.confirm(&held, &spare).await, "unresolved");
        rejected(&s.call("delete", held.clone()).await, "unresolved");
        let gate = s.kit.host.gate();
        let lost = gate.unrecorded(None, 10).await.unwrap();
        gate.resolve(&lost[0].approval_id, "name:operator", happened).await.unwrap();
        used(&s.confirm(&held, &token).await, Some(detail));
        s.token(&held).await;
        s.kit.world.release(1);
    }
}

#[tokio::test]
async fn what_a_person_declined_stays_declined_and_cools_down() {
    let mut s = Session::new().await;
    let (right, other) = (json!({"path": "a"}), json!({"path": "b"}));
    let token = s.token(&right).await;
    let pending = s.kit.host.gate().pending(None, 10).await.unwrap();
    s.kit.host.gate().decline(&pending[0].approval_id, "name:boss", "not today").await.unwrap();
    rejected(&s.confirm(&right, &token).await, "declined");
    rejected(&s.call("delete", right.clone()).await, "declined");
    s.token(&other).await;
    s.kit.clock.advance(s.kit.host.gate().settings().cool_down);
    s.token(&right).await;
}

#[tokio::test]
async fn the_table_has_room_for_as_many_as_it_says() {
    let mut s = Session::with(|settings| settings.pending_per_owner = 1).await;
    let token = s.token(&json!({"path": "a"})).await;
    rejected(&s.call("delete", json!({"path": "b"})).await, "too_many_pending");
    ok(&s.confirm(&json!({"path": "a"}), &token).await);
    s.token(&json!({"path": "b"})).await;
}

#[tokio::test]
async fn a_started_run_fails_in_four_ways_and_each_is_replayed() {
    let mut s = Session::with(|settings| settings.max_output = 4_096).await;
    for (how, reason) in [("fails", "tool_error"), ("panics", "trapped"), ("large", "output_limit")] {
        let arguments = json!({"path": "a", "how": how});
        let token = s.token(&arguments).await;
        let failed = s.confirm(&arguments, &token).await;
        is(&failed, "failed", reason, None);
        let again = s.confirm(&arguments, &token).await;
        assert_eq!(again["result"]["content"], failed["result"]["content"]);
        assert_eq!(again["result"]["_meta"]["counterfoil/replayed"], true);
    }
    // A closure cannot be stopped; one that ran unconfirmed is given up on.
    let nap = tool(&s.kit.world, "nap", Level::Caution, "1").deadline(Duration::from_millis(20));
    let mut napping = Client::start(s.kit.beside().native(nap).build().await.unwrap());
    is(&napping.call(1, "nap", json!({"path": "a", "how": "held"})).await, "failed", "deadline", None);
    ok(&napping.call(2, "nap", json!({"path": "a"})).await);
}

#[tokio::test]
async fn an_outcome_that_could_not_be_kept_is_delivered_and_said_to_be_lost() {
    let mut s = Session::new().await;
    let arguments = json!({"path": "a", "how": "breaks the store"});
    let token = s.token(&arguments).await;
    let ran = s.confirm(&arguments, &token).await;
    ok(&ran);
    assert_eq!(ran["result"]["_meta"]["counterfoil/kept"], false, "{ran}");
    s.kit.store.cut(false);
    used(&s.confirm(&arguments, &token).await, Some("in_flight"));
    assert_eq!(s.kit.world.effects(), 1);
}
