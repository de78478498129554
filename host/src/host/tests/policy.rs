//! The operator's rules and budgets, as a call meets them.

mod budgets;
mod named;

use super::kit::*;
use crate::gate::{Assurance, Call, Plan};
use crate::host::{HostBuilder, Status};
use crate::plugin::turns::{Place, Turn};
use crate::policy::Rule;
use crate::{ErrorKind, Level, NativeTool};
use proptest::prop_assert;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

pub(super) fn raise(tools: &str, when: &str, level: Level) -> Rule {
    Rule::raise(tools, when, level).unwrap()
}

pub(super) fn deny(tools: &str, when: &str) -> Rule {
    Rule::deny(tools, when, "the ledger is kept as it is").unwrap()
}

const PROD: &str = r#"args.path.startsWith("/prod")"#;

async fn ask(host: &crate::Host, tool: &str, arguments: Value) -> crate::Reply {
    call(host, "alice", tool, &arguments.to_string()).await
}

fn said(reply: &crate::Reply) -> String {
    value(reply)["error"].as_str().unwrap().to_owned()
}

#[tokio::test(start_paused = true)]
async fn a_rule_makes_single_calls_need_a_confirmation() {
    let kit = Kit::new().await;
    let rule = raise("note", PROD, Level::ApprovalRequired).reason("production").unwrap();
    let host = kit.revised("1").rule(rule).build().await.unwrap();
    let listing = host.tools().iter().find(|listing| listing.name == "note").unwrap();
    assert_eq!((listing.level, listing.declared), (Level::ApprovalRequired, Level::Caution));
    assert!(listing.needs_confirmation && listing.confirmed_by_rule && !listing.always_confirmed);
    assert!(listing.input_schema.contains("confirm_token"));
    let other = host.tools().iter().find(|listing| listing.name == "look").unwrap();
    assert!(!other.needs_confirmation && !other.confirmed_by_rule);

    // Below 3 it is not even previewed.
    let asked = kit.store.asked();
    is_ok(&ask(&host, "note", json!({"path": "/test/a", "plan": "panics"})).await);
    assert_eq!(kit.world.told.lock().unwrap().clone().unwrap().level, Level::Caution);
    assert_eq!(kit.store.asked(), asked);

    let arguments = json!({"path": "/prod/a", "plan": "mild"});
    let preview = ask(&host, "note", arguments.clone()).await;
    assert!(preview.status == Status::ConfirmationRequired, "{}", preview.payload);
    let shown = value(&preview);
    assert_eq!(shown["warnings"][0], "rule 1 of the operator makes this call approval_required: production", "{shown}");
    assert_eq!(kit.world.effects(), 1);
    let token = shown["confirm_token"].as_str().unwrap();
    is_ok(&ask(&host, "note", confirming(arguments, token)).await);
    assert_eq!(kit.world.told.lock().unwrap().clone().unwrap().level, Level::ApprovalRequired);
}

#[tokio::test(start_paused = true)]
async fn a_rule_is_a_floor_under_a_mild_plan_and_below_it_changes_nothing() {
    let kit = Kit::new().await;
    let mild = json!({"path": "/prod/a", "plan": "mild"});
    for (rule, expected) in [
        (raise("*", PROD, Level::Review), Level::Review),
        (raise("*", PROD, Level::Caution), Level::Caution),
        (raise("*", "args.path == \"/other\"", Level::ApprovalRequired), Level::Caution),
    ] {
        let host = kit.revised("1").rule(rule).build().await.unwrap();
        is_ok(&ask(&host, "delete", mild.clone()).await);
        assert_eq!(kit.world.told.lock().unwrap().clone().unwrap().level, expected);
    }
    let host = kit.revised("1").rule(raise("delete", PROD, Level::ApprovalRequired)).build().await.unwrap();
    assert!(ask(&host, "delete", mild).await.status == Status::ConfirmationRequired);
    is_ok(&ask(&host, "delete", json!({"path": "/test", "plan": "mild"})).await);
    // A tool that reads only and was raised still changes nothing it could not before.
    let host = kit.revised("1").rule(raise("look", PROD, Level::Review)).build().await.unwrap();
    is_ok(&ask(&host, "look", json!({"path": "/prod"})).await);
    assert_eq!(kit.world.told.lock().unwrap().clone().unwrap().level, Level::Review);
}

#[tokio::test(start_paused = true)]
async fn a_denied_call_is_neither_previewed_nor_run_and_says_which_rule() {
    let kit = Kit::new().await;
    let host = kit.revised("1").rule(deny("look", "true")).rule(deny("*", PROD)).build().await.unwrap();
    for tool in ["delete", "wipe", "note"] {
        let reply = ask(&host, tool, json!({"path": "/prod/a", "plan": "panics"})).await;
        is_rejected(&reply, "denied", None);
        let text = said(&reply);
        assert!(text.starts_with("rule 2: the ledger is kept as it is; "), "{text}");
    }
    is_ok(&ask(&host, "note", json!({"path": "/test"})).await);
    assert!(said(&ask(&host, "look", json!({"path": "/test"})).await).starts_with("rule 1: "));
    assert_eq!(kit.world.effects(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_rule_without_an_answer_denies_and_quotes_no_argument() {
    let kit = Kit::new().await;
    for (when, says) in [
        ("args.how == \"x\"", "reads \"how\""),
        ("[args.path].exists(p, p > 1)", "compares a text with a number"),
        ("[args.path].exists(p, p == 1)", "compares a text with a number"),
        ("args.path.matches(\"x\") && args.how != \"y\"", "reads \"how\""),
    ] {
        let arguments = json!({"path": "xhunter2", "plan": "panics"});
        for rule in [raise("*", when, Level::Review), deny("*", when)] {
            let host = kit.revised("1").rule(rule).build().await.unwrap();
            let reply = ask(&host, "note", arguments.clone()).await;
            is_rejected(&reply, "denied", None);
            let text = said(&reply);
            assert!(text.contains("rule 1 has no answer") && text.contains(says), "{text}");
            assert!(!reply.payload.contains("hunter2"), "{text}");
        }
    }
    assert_eq!(kit.world.effects(), 0);
}

/// As many turns to ask rules as an owner gets at once.
async fn rules_asked(host: &crate::Host, owner: &str) -> Vec<(Turn, Place)> {
    let turns = std::sync::Arc::clone(&host.inner.tools["note"].ruled.turns().0);
    let mut taken = Vec::new();
    loop {
        let place = turns.enter(owner).unwrap();
        match tokio::time::timeout(std::time::Duration::ZERO, place.turn(false)).await {
            Ok(turn) => taken.push((turn.unwrap(), place)),
            Err(_) => return taken,
        }
    }
}

#[tokio::test]
async fn more_calls_than_turns_wait_and_are_not_asked_at_once() {
    let kit = Kit::new().await;
    let host = kit.revised("1").rule(deny("*", PROD)).build().await.unwrap();
    let all = [rules_asked(&host, "name:bob").await, rules_asked(&host, "name:carol").await];
    let there = std::thread::available_parallelism().unwrap().get().max(2);
    assert_eq!(all.iter().map(Vec::len).sum::<usize>(), there);
    let waiting = tokio::spawn({
        let host = host.clone();
        async move { ask(&host, "look", json!({"path": "/test"})).await }
    });
    // What waits for a turn holds no thread: what no rule is about goes on.
    assert!(!waiting.is_finished());
    assert_eq!(host.tools().len(), 4);
    drop(all);
    is_ok(&waiting.await.unwrap());
    assert_eq!(rules_asked(&host, "name:bob").await.len() + rules_asked(&host, "name:carol").await.len(), there);
}

#[tokio::test(start_paused = true)]
async fn the_rules_of_one_owners_calls_leave_a_turn_for_those_of_anothers() {
    let kit = Kit::new().await;
    let host = kit.revised("1").rule(deny("*", PROD)).build().await.unwrap();
    let _bobs = rules_asked(&host, "name:bob").await;
    let look = r#"{"path":"/test"}"#;
    is_ok(&call(&host, "alice", "look", look).await);
    is_rejected(&call(&host, "bob", "look", look).await, "unavailable", None);
}

#[tokio::test(start_paused = true)]
async fn a_call_whose_rules_get_no_turn_is_told_to_come_again() {
    let kit = Kit::new().await;
    let host = kit.revised("1").rule(deny("*", PROD)).build().await.unwrap();
    let all = [rules_asked(&host, "name:bob").await, rules_asked(&host, "name:carol").await];
    let reply = ask(&host, "note", json!({"path": "/test"})).await;
    is_rejected(&reply, "unavailable", None);
    assert!(said(&reply).contains("too many other calls"), "{}", reply.payload);
    assert_eq!(kit.world.effects(), 0);
    drop(all);
    is_ok(&ask(&host, "note", json!({"path": "/test"})).await);
}

/// The tool may fill its room to the last byte, whatever the operator has to say.
#[tokio::test(start_paused = true)]
async fn what_rules_say_takes_no_room_from_a_tools_plan() {
    let kit = Kit::new().await;
    let long = NativeTool::new("long", Level::ApprovalRequired, SCHEMA, "1")
        .preview(|arguments| async move {
            let arguments: Value = serde_json::from_str(&arguments).unwrap();
            let summary = "x".repeat(arguments["path"].as_str().unwrap().len());
            Ok(crate::tool::Plan::new(summary, "{}"))
        })
        .execute(|_, _| async { Ok(crate::tool::Outcome::new("done", "{}")) });
    let rule = || raise("*", "true", Level::ApprovalRequired).reason("r".repeat(500)).unwrap();
    let host = (0..64).fold(kit.revised("1").native(long), |builder, _| builder.rule(rule())).build().await.unwrap();
    let room = usize::try_from(host.gate().settings().max_plan).unwrap();
    let full = ask(&host, "long", json!({"path": "p".repeat(room - 2)})).await;
    assert!(full.status == Status::ConfirmationRequired, "{:.300}", full.payload);
    let shown = value(&full);
    let warnings = shown["warnings"].as_array().unwrap();
    assert!(warnings.len() > 20 && warnings.last().unwrap().as_str().unwrap().contains("more rules"), "{warnings:?}");
    let over = ask(&host, "long", json!({"path": "p".repeat(room - 1)})).await;
    assert!(said(&over).contains("its plan is longer"), "{:.300}", over.payload);
}

/// Nothing issues a token for a call that a rule denies; so this one is made behind the host's back.
#[tokio::test(start_paused = true)]
async fn a_rule_is_asked_again_before_a_token_is_spent_and_never_about_a_replay() {
    let kit = Kit::new().await;
    let host = kit.revised("1").rule(deny("delete", PROD)).build().await.unwrap();
    let issued = |path: &str| Call {
        owner: "name:alice".into(),
        tool: "delete".into(),
        revision: host.inner.tools["delete"].revision.clone(),
        arguments: json!({"path": path}).to_string(),
    };
    let plan = Plan {
        summary: "Will delete it.".into(),
        preview: "{}".into(),
        warnings: vec![],
        masked_arguments: None,
        precondition: None,
        needs: Assurance::TokenOnly,
        approvers: 0,
    };
    let token = host.gate().issue(&issued("/prod/a"), &plan).await.unwrap().token;
    for _ in 0..2 {
        let reply = ask(&host, "delete", confirming(json!({"path": "/prod/a"}), token.as_str())).await;
        is_rejected(&reply, "denied", None);
    }
    assert_eq!(kit.world.effects(), 0);

    // What ran is told again, whatever the rules say by now.
    let token = kit.token("delete", json!({"path": "/prod/b"})).await;
    let confirm = confirming(json!({"path": "/prod/b"}), &token);
    let ran = kit.call("delete", confirm.clone()).await;
    let replayed = ask(&host, "delete", confirm).await;
    assert!(replayed.replayed && replayed.payload == ran.payload, "{}", replayed.payload);
}

#[tokio::test(start_paused = true)]
async fn a_confirmation_does_not_outlive_a_change_of_the_rules_of_its_tool() {
    let kit = Kit::new().await;
    let arguments = json!({"path": "/a"});
    let rule = || raise("note", PROD, Level::ApprovalRequired);
    let before = kit.revised("1").rule(rule()).build().await.unwrap();
    let preview = ask(&before, "delete", arguments.clone()).await;
    let token = value(&preview)["confirm_token"].as_str().unwrap().to_owned();
    let confirm = confirming(arguments, &token);
    for changed in [
        kit.revised("1").rule(rule()).rule(deny("*", "false")),
        kit.revised("1").rule(raise("delete", "false", Level::ApprovalRequired)),
    ] {
        let host = changed.build().await.unwrap();
        is_rejected(&ask(&host, "delete", confirm.clone()).await, "tool_changed", None);
    }
    // One that is about another tool is none of its business.
    let host = kit.revised("1").rule(deny("look", "false")).build().await.unwrap();
    is_ok(&ask(&host, "delete", confirm).await);
}

async fn stops(builder: HostBuilder, says: &[&str]) {
    let error = builder.build().await.err().expect("it started");
    for part in says {
        assert!(error.to_string().contains(part), "{error}: does not say {part:?}");
    }
    assert!(matches!(error.kind(), ErrorKind::Policy | ErrorKind::Config), "{error}");
}

#[tokio::test]
async fn a_rule_that_cannot_be_in_force_stops_the_start() {
    let kit = Kit::new().await;
    let rule = raise("no_such_tool", "true", Level::Review);
    stops(kit.revised("1").rule(deny("*", "false")).rule(rule), &["rule 2", "no tool \"no_such_tool\""]).await;
    let lowering = raise("delete", "true", Level::Review);
    stops(kit.revised("1").rule(lowering), &["rule 1", "\"delete\" declares approval_required", "only raised"]).await;
    let many = (0..257).fold(kit.revised("1"), |builder, _| builder.rule(deny("*", "false")));
    stops(many, &["more than 256 rules"]).await;
    let blind = NativeTool::new("blind", Level::Caution, SCHEMA, "1")
        .execute(|_, _| async { Ok(crate::tool::Outcome::new("done", "{}")) });
    let host =
        kit.revised("1").native(blind.clone()).rule(raise("blind", "true", Level::Review)).build().await.unwrap();
    is_ok(&ask(&host, "blind", json!({"path": "/a"})).await);
    let needs = kit.revised("1").native(blind).rule(raise("blind", "false", Level::ApprovalRequired));
    stops(needs, &["\"blind\"", "has no preview"]).await;
}

/// What a call came to: its level, or that it was stopped.
async fn weight(kit: &Kit, host: &crate::Host, tool: &str, plan: &str) -> u8 {
    *kit.world.told.lock().unwrap() = None;
    let reply = ask(host, tool, json!({"path": "/prod/a", "plan": plan})).await;
    match reply.status {
        Status::Ok => kit.world.told.lock().unwrap().clone().unwrap().level.number(),
        Status::ConfirmationRequired => 3,
        Status::Rejected | Status::Failed => 4,
    }
}

/// Whatever the rules, a call of any tool with any plan is as grave as without them, or graver.
#[test]
fn rules_never_lower() {
    type Written = Vec<(usize, usize, usize)>;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let kit = runtime.block_on(Kit::new());
    let rules = proptest::collection::vec((0..5_usize, 0..5_usize, 1..=4_usize), 0..4);
    let operator = proptest::option::of(2..=3_usize);
    let mut runner = TestRunner::new(Config { cases: 32, failure_persistence: None, ..Config::default() });
    let started = std::cell::Cell::new(0);
    let ended = runner.run(&(rules, operator), |(rules, operator): (Written, Option<usize>)| {
        let with = |rules: &[(usize, usize, usize)]| {
            let mut builder = kit.on(kit.host.gate().clone());
            if let Some(level) = operator {
                builder = builder.level("note", Level::ALL[level]);
            }
            for (tools, when, then) in rules {
                let tools = ["*", "delete", "note", "look", "wipe"][*tools];
                let when = ["true", "false", PROD, "args.how == \"x\"", "args.path == \"x\""][*when];
                builder = builder.rule(match then {
                    4 => deny(tools, when),
                    level => raise(tools, when, Level::ALL[*level]),
                });
            }
            runtime.block_on(builder.build())
        };
        let plain = with(&[]).unwrap();
        // One that would lower a tool that it names is no start at all.
        let Ok(ruled) = with(&rules) else { return Ok(()) };
        started.set(started.get() + 1);
        for tool in ["delete", "wipe", "note", "look"] {
            for plan in ["mild", "ordinary"] {
                let weigh = |host| runtime.block_on(weight(&kit, host, tool, plan));
                let (without, with) = (weigh(&plain), weigh(&ruled));
                prop_assert!(with >= without, "{tool}, plan {plan}: {with} < {without} under {rules:?}");
            }
        }
        Ok(())
    });
    ended.unwrap();
    assert!(started.get() > 5, "hardly any set of rules was tried");
}
