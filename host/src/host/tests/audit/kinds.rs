//! Every kind of row, and that each says whatever can be known of its call.

use super::*;
use crate::audit::resolve;
use crate::policy::Rule;

/// The fields that say who, what and how grave, in every row of a call.
const CALL: [&str; 5] = ["owner", "tool", "level", "revision", "arguments"];
/// What says which confirmation, and what it proves.
const CONFIRMATION: [&str; 2] = ["approval_id", "assurance"];

/// One kind: how it is told from the others, and what it has beside `seq`, `time`, `event` and `prev`.
struct Kind {
    name: &'static str,
    /// `event`, and fields with their values.
    is: &'static [(&'static str, &'static str)],
    has: &'static [&'static str],
    call: bool,
    confirmation: bool,
}

const fn kind(
    name: &'static str,
    is: &'static [(&'static str, &'static str)],
    has: &'static [&'static str],
    call: bool,
    confirmation: bool,
) -> Kind {
    Kind { name, is, has, call, confirmation }
}

#[rustfmt::skip]
const KINDS: &[Kind] = &[
    kind("issued", &[("event", "challenge_issued"), ("tool", "delete")], &["duration_ms"], true, true),
    kind("issued because of a rule", &[("event", "challenge_issued"), ("tool", "note")], &["policy", "duration_ms"], true, true),
    kind("refused without a token", &[("event", "refused"), ("reason", "invalid_arguments")], &["reason", "duration_ms"], true, false),
    kind("refused by a rule", &[("event", "refused"), ("reason", "denied")], &["reason", "policy", "duration_ms"], true, false),
    kind("refused with a token", &[("event", "refused"), ("reason", "params_changed")], &["reason", "duration_ms"], true, true),
    kind("refused since it runs", &[("event", "refused"), ("reason", "unknown_or_used")], &["reason", "detail", "duration_ms"], true, true),
    kind("refused since the tool is gone", &[("event", "refused"), ("reason", "tool_changed")], &["reason", "duration_ms"], true, true),
    kind("started with a token", &[("event", "started"), ("level", "approval_required")], &["approval_id"], true, false),
    kind("started at once", &[("event", "started"), ("level", "caution")], &["operation_id"], true, false),
    kind("ended with a token", &[("event", "ended"), ("level", "approval_required"), ("outcome", "ok")], &["operation_id", "started", "outcome", "kept", "duration_ms"], true, true),
    kind("ended badly", &[("event", "ended"), ("outcome", "tool_error")], &["operation_id", "started", "outcome", "effect", "duration_ms"], true, false),
    kind("ended at once", &[("event", "ended"), ("level", "caution"), ("outcome", "ok")], &["operation_id", "started", "outcome", "duration_ms"], true, false),
    kind("ended trapped", &[("event", "ended"), ("outcome", "trapped")], &["operation_id", "started", "outcome", "effect", "duration_ms"], true, false),
    kind("cancelled", &[("event", "cancelled")], &["operation_id", "started", "effect", "stopped", "duration_ms"], true, false),
    kind("replayed", &[("event", "replayed"), ("status", "ok")], &["operation_id", "status", "duration_ms"], true, true),
    kind("settling", &[("event", "settling")], &["settled", "by"], true, true),
    kind("not resolved", &[("event", "not_resolved")], &["started", "by", "duration_ms"], true, true),
    kind("resolved", &[("event", "resolved")], &["started", "settled", "by", "duration_ms"], true, true),
    kind("replaced", &[("event", "settlement_replaced")], &["operation_id", "started", "settled", "by"], true, true),
    kind("in force", &[("event", "in_force")], &["cause", "since", "model", "tools", "revision", "overrides", "unlocked", "rules"], false, false),
    kind("opened", &[("event", "opened")], &["format", "file", "program", "process"], false, false),
];

/// What the rules may add to a row of a call that they say something of.
const MAY: [&str; 1] = ["policy"];

/// Brings about every kind, with two hosts over one audit: the second one has lost its tools.
async fn story() -> Told {
    let told = Arc::new(
        Told::with(|builder| {
            builder
                .rule(
                    Rule::raise("note", r#"args.path == "/raised""#, Level::ApprovalRequired)
                        .unwrap()
                        .reason("money")
                        .unwrap(),
                )
                .rule(Rule::deny("*", r#"args.path == "/denied""#, "the ledger is kept as it is").unwrap())
        })
        .await,
    );
    let path = |path: &str| json!({ "path": path });
    told.call("delete", json!({"path": 7})).await;
    told.call("note", path("/denied")).await;
    told.call("note", path("/a")).await;
    for how in ["fails", "panics"] {
        told.call("note", json!({"path": "/a", "how": how})).await;
    }
    told.token("note", path("/raised")).await;
    let token = told.token("delete", path("/a")).await;
    told.call("delete", confirming(path("/b"), &token)).await;
    is_ok(&told.call("delete", confirming(path("/a"), &token)).await);
    assert!(told.call("delete", confirming(path("/a"), &token)).await.replayed);
    let waiting = told.token("delete", path("/c")).await;

    let spawn = |tool: &'static str, arguments: Value| {
        let told = Arc::clone(&told);
        tokio::spawn(async move { told.call(tool, arguments).await })
    };
    let begun = told.kit.world.effects() + 2;
    let cancelled = spawn("note", json!({"path": "/a", "how": "held"}));
    told.kit.world.until_begun(begun + 1).await;
    cancelled.abort();
    assert!(cancelled.await.is_err());

    let held = json!({"path": "/held", "how": "held"});
    let lost = told.token("delete", held.clone()).await;
    let running = spawn("delete", confirming(held.clone(), &lost));
    told.kit.world.until_begun(begun + 2).await;
    is_rejected(&told.call("delete", confirming(held.clone(), &lost)).await, "unknown_or_used", Some("in_flight"));
    let gate = told.host.gate();
    let id = gate.identify(&lost).await.unwrap().unwrap();
    resolve(gate, Some(&told.audit), &id, "os:op", false).await.unwrap_err();
    told.kit.clock.advance(DEADLINE_MILLIS + 1_000);
    resolve(gate, Some(&told.audit), &id, "os:op", false).await.unwrap();
    told.kit.world.release(2);
    running.await.unwrap();
    told.host.drain().await;

    let bare = told.kit.beside().audit(told.audit.clone()).succeeds(&told.host).build().await.unwrap();
    let again = call(&bare, "alice", "delete", &confirming(path("/a"), &token).to_string()).await;
    assert!(again.replayed, "{}", again.payload);
    let gone = call(&bare, "alice", "delete", &confirming(path("/c"), &waiting).to_string()).await;
    is_rejected(&gone, "tool_changed", None);
    Arc::into_inner(told).unwrap()
}

#[tokio::test(start_paused = true)]
async fn every_kind_of_row_says_all_that_can_be_known() {
    let told = story().await;
    let text = told.text();
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut of_no_kind: Vec<&Value> = rows.iter().collect();
    for Kind { name, is, has, call, confirmation } in KINDS {
        let found: Vec<&Value> =
            rows.iter().filter(|row| is.iter().all(|(field, word)| row[*field] == *word)).collect();
        assert!(!found.is_empty(), "no row is {name}: {text}");
        for row in found {
            let usual = ["seq", "time", "event", "prev"];
            let of_call = CALL.iter().filter(|_| *call);
            let of_confirmation = CONFIRMATION.iter().filter(|_| *confirmation);
            let must: Vec<&str> = usual.iter().chain(*has).chain(of_call).chain(of_confirmation).copied().collect();
            for field in &must {
                assert!(!row[*field].is_null(), "{name} without {field}: {row}");
            }
            of_no_kind.retain(|other| other["seq"] != row["seq"]);
        }
    }
    assert_eq!(of_no_kind, [] as [&Value; 0], "rows of a kind that the table does not have");

    // Fields that there is no reason for are not there either.
    let extra = |row: &Value, kind: &Kind| {
        let known: Vec<&str> = kind.has.iter().chain(&CALL).chain(&CONFIRMATION).chain(&MAY).copied().collect();
        row.as_object().unwrap().keys().any(|key| {
            !["seq", "time", "event", "prev"].contains(&key.as_str()) && !known.contains(&key.as_str()) && key != "kept"
        })
    };
    for kind in KINDS {
        let is = |row: &&Value| kind.is.iter().all(|(field, word)| row[*field] == *word);
        assert!(!rows.iter().filter(is).any(|row| extra(row, kind)), "{}", kind.name);
    }
    told.verified().await;
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_is_gone_is_told_as_it_was_confirmed() {
    let told = story().await;
    let rows = told.rows();
    let of = |event: &str| rows.iter().filter(|row| row["event"] == event).collect::<Vec<_>>();
    let (ended, replayed) = (of("ended"), of("replayed"));
    let ran = ended.iter().find(|row| row["operation_id"] == replayed[0]["operation_id"]).unwrap();
    assert_eq!(replayed.len(), 2);
    for row in replayed {
        for field in CALL.iter().chain(&CONFIRMATION) {
            assert_eq!(row[*field], ran[*field], "{field}: {row}");
        }
    }
    let gone = of("refused").into_iter().find(|row| row["reason"] == "tool_changed").unwrap();
    assert_eq!(gone["arguments"], crate::digest::sha256(br#"{"path":"/c"}"#));
}

#[tokio::test(start_paused = true)]
async fn a_row_says_which_rule_raised_or_denied_and_why_also_where_the_call_is_confirmed_later() {
    let told = Told::with(|builder| {
        let raise = Rule::raise("note", r#"args.path == "/a""#, Level::ApprovalRequired).unwrap();
        let budget = crate::policy::Budget::calls("note", 1, std::time::Duration::from_hours(1)).unwrap();
        builder
            .rule(raise.reason("money").unwrap())
            .rule(Rule::deny("note", "[args.path].exists(path, path.how == 1)", "x").unwrap())
            .budget(budget)
    })
    .await;
    // The second rule has no answer: a text has no member.
    is_rejected(&told.call("note", json!({"path": "/a"})).await, "denied", None);
    assert_eq!(told.rows()[0]["policy"].as_array().unwrap().len(), 1);
    assert!(told.rows()[0]["policy"][0].as_str().unwrap().starts_with("rule 2 has no answer"), "{}", told.text());

    let told = Told::with(|builder| {
        let raise = Rule::raise("note", r#"args.path == "/a""#, Level::ApprovalRequired).unwrap();
        let budget = crate::policy::Budget::calls("note", 1, std::time::Duration::from_hours(1)).unwrap();
        builder.rule(raise.reason("money").unwrap()).budget(budget)
    })
    .await;
    let token = told.token("note", json!({"path": "/a"})).await;
    is_ok(&told.call("note", confirming(json!({"path": "/a"}), &token)).await);
    is_rejected(&told.call("note", json!({"path": "/b"})).await, "denied", None);
    let rows = told.rows();
    assert_eq!(rows.len(), 4);
    for row in &rows[..3] {
        assert_eq!(row["policy"], json!(["rule 1 of the operator makes this call approval_required: money"]), "{row}");
    }
    assert!(rows[3]["policy"][0].as_str().unwrap().starts_with("budget 1 allows"), "{}", rows[3]);
    told.verified().await;
}
