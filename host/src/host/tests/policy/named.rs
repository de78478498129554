//! What rules and budgets say of arguments, against what their tools' schemas say.

use super::super::kit::*;
use super::{deny, raise, stops};
use crate::policy::{Amount, Budget};
use crate::{Level, NativeTool};
use std::time::Duration;

const PAYMENT: &str = r#"{"type": "object", "properties": {
    "amount": {"type": "number"}, "to": {"type": "string"}, "many": {"type": "array"},
    "card": {"type": "object", "properties": {"number": {"type": "number", "writeOnly": true}, "limit": {"type": "number"}},
        "additionalProperties": false},
    "vault": {"type": "object", "writeOnly": true}, "any": {}
}, "additionalProperties": false}"#;

/// A tool of this schema, beside those of the kit.
fn tool(name: &str, schema: &str) -> NativeTool {
    NativeTool::new(name, Level::ApprovalRequired, schema, "1")
        .preview(|_| async { Ok(crate::tool::Plan::new("Will pay.", "{}")) })
        .execute(|_, _| async { Ok(crate::tool::Outcome::new("done", "{}")) })
}

#[tokio::test]
async fn a_rule_that_could_have_no_answer_for_any_call_stops_the_start() {
    let kit = Kit::new().await;
    let with = |tools: &str, when: &str| {
        kit.revised("1").native(tool("pay", PAYMENT)).rule(deny("*", "false")).rule(deny(tools, when))
    };
    for (when, says) in [
        ("args.amonut > 1", "of \"pay\" allows no args.amonut"),
        ("!has(args.amonut)", "allows no args.amonut"),
        ("args[\"amonut\"] > 1", "allows no args.amonut"),
        ("args.card.nubmer > 1", "allows no args.card.nubmer"),
        ("args.many.exists(t, args.amonut > 1)", "allows no args.amonut"),
        ("args.amount.currency == \"EUR\"", "allows no args.amount.currency"),
        ("args.amount == \"100\"", "args.amount is a number"),
        ("\"100\" != args.amount", "args.amount is a number"),
        ("args.to > 5", "args.to is a text"),
        ("args.amount in [\"1\", \"2\"]", "args.amount is a number"),
        ("\"bob\" in args.to", "args.to is a text"),
        ("args.to.exists(t, t == \"bob\")", "args.to is a text"),
        ("args.card.exists(k, k == \"number\")", "args.card is an object"),
        ("args.many.startsWith(\"a\")", "args.many is a list"),
        ("keys(args.many) == []", "args.many is a list"),
        ("size(args.amount) > 1", "args.amount is a number"),
        ("args.to", "args.to is a text"),
        ("!args.to", "args.to is a text"),
        ("args.to && true", "args.to is a text"),
        ("args.to ? true : false", "args.to is a text"),
        ("has(args.to) ? args.to : false", "args.to is a text"),
        ("args.to + 1 > 5", "args.to is a text"),
        ("-args.to > 5", "args.to is a text"),
        ("args.amount[0] == 2", "args.amount is a number"),
        ("args.many[\"a\"] == 2", "allows no args.many.a"),
        ("args.to == size(args.many)", "args.to is a text"),
        ("args.many.all(m, args.to)", "args.to is a text"),
    ] {
        stops(with("pay", when), &["rule 2: ", says]).await;
    }
    for when in [
        "args.amount > 1",
        "args.amount == null",
        "args.to in [null, \"bob\"]",
        "args.any == \"100\" || args.any == 100",
        "args.any.anything == 1",
        "has(args.card) && args.card.limit > 1",
        "keys(args).all(k, k in [\"to\"])",
        "args.many.exists(m, m.amonut == 1)",
        "has(args.to) && has(args.card.limit)",
        "args.any ? args.many[0] : !args.any",
    ] {
        assert!(with("pay", when).build().await.is_ok(), "{when}");
    }
    // One of several tools has it, so that `has` may ask which.
    let both = |when: &str| {
        let other = tool("give", r#"{"type": "object", "properties": {"gift": {}}, "additionalProperties": false}"#);
        let rule = crate::policy::Rule::deny(["give", "pay"], when, "no").unwrap();
        kit.revised("1").native(tool("pay", PAYMENT)).native(other).rule(rule)
    };
    assert!(both("has(args.gift) || args.amount > 1").build().await.is_ok());
    stops(both("has(args.gfit)"), &["rule 1: ", "of its tools allows no args.gfit"]).await;
    assert!(with("*", "has(args.amount) && args.amount > 1").build().await.is_ok());
    assert!(with("*", "has(args.how) && args.how == \"x\"").build().await.is_ok());
}

#[tokio::test]
async fn what_is_asked_of_the_tools_name_is_true_of_one_that_the_rule_is_about() {
    let kit = Kit::new().await;
    let with = |tools: &str, when: &str| kit.revised("1").native(tool("pay", PAYMENT)).rule(deny(tools, when));
    for (when, says) in [
        ("tool.startsWith(\"pya\")", "never begins with \"pya\""),
        ("!tool.endsWith(\"yap\")", "never ends with"),
        ("args.amount > 1 && tool.contains(\"yap\")", "never contains"),
        ("tool.matches(\"^(pya|pax)$\")", "never matches"),
        ("tool > \"zz\"", "never greater than"),
        ("\"pa\".startsWith(tool)", "never the beginning of"),
    ] {
        stops(with("*", when), &["rule 1: ", "`tool` ", says]).await;
    }
    // Another tool is called so.
    stops(with("pay", "tool.startsWith(\"orders\")"), &["never begins with"]).await;
    for when in
        ["tool.startsWith(\"pa\")", "tool.matches(\"^p.y$\")", "tool <= \"pay\"", "\"pay_all\".startsWith(tool)"]
    {
        assert!(with("*", when).build().await.is_ok(), "{when}");
    }
}

#[cfg(feature = "program")]
#[tokio::test]
async fn a_tool_of_which_every_call_is_denied_is_known_and_no_other() {
    let kit = Kit::new().await;
    let gift = r#"{"type": "object", "properties": {"gift": {}, "amount": {"type": "string"}}, "additionalProperties": false}"#;
    let with = async |when: &str| {
        let rule = crate::policy::Rule::deny(["give", "pay"], when, "no").unwrap();
        let built = kit.revised("1").native(tool("pay", PAYMENT)).native(tool("give", gift)).rule(rule).build();
        let host = built.await.unwrap();
        ["give", "pay"].map(|tool| host.denied_by(tool).map(|denied| (denied.no_answer, denied.lacks)))
    };
    let lacks = |path: &str| Some((true, Some(path.to_owned())));
    for (when, give, pay) in [
        ("args.to == \"bob\"", lacks("args.to"), None),
        ("args.gift == 1", None, lacks("args.gift")),
        ("!args.to.contains(\"bob\")", lacks("args.to"), None),
        ("[args.to, args.gift].exists(t, t == \"bob\")", lacks("args.to"), lacks("args.gift")),
        ("args.to == \"bob\" && args.many == []", lacks("args.to"), None),
        ("args.amount > 5", Some((true, None)), None),
        ("args.amount == \"5\"", None, Some((true, None))),
        ("args.card.limit > 5", lacks("args.card.limit"), None),
        ("true", Some((false, None)), Some((false, None))),
        ("tool == \"give\"", Some((false, None)), None),
        ("!tool.startsWith(\"gi\")", None, Some((false, None))),
        ("tool in [\"give\"] || args.amount > 5", Some((false, None)), None),
        ("!has(args.to)", Some((false, None)), None),
        ("has(args.to) && args.to == \"bob\"", None, None),
        ("tool == \"pay\" ? args.to == \"bob\" : args.gift == 1", None, None),
        // True, or without an answer.
        ("args.to == \"bob\" || args.gift == 1", Some((false, None)), Some((false, None))),
        ("owner == \"os:alice\"", None, None),
        ("false", None, None),
    ] {
        assert_eq!(with(when).await, [give, pay], "{when}");
    }
}

#[tokio::test]
async fn a_budget_adds_up_numbers_that_may_be_seen() {
    let kit = Kit::new().await;
    let with = |sum: &str| {
        let most = Amount::parse("5").unwrap();
        let budget = Budget::sum("pay", sum, most, Duration::from_hours(1)).unwrap();
        kit.revised("1").native(tool("pay", PAYMENT)).budget(budget)
    };
    for (sum, says) in [
        ("args.card.number", "is secret"),
        ("args.vault", "is secret"),
        ("args.vault.balance", "is secret"),
        ("args.amonut", "allows no args.amonut"),
        ("args.to", "is a text"),
        ("args.card.limit.cents", "allows no args.card.limit.cents"),
    ] {
        stops(with(sum), &["budget 1: ", says]).await;
    }
    for sum in ["args.amount", "args.card.limit", "args.any", "args.any.thing"] {
        assert!(with(sum).build().await.is_ok(), "{sum}");
    }
    let rule = raise("pay", "args.card.number > 1", Level::ApprovalRequired);
    assert!(kit.revised("1").native(tool("pay", PAYMENT)).rule(rule).build().await.is_ok());
}

#[cfg(feature = "program")]
#[tokio::test]
async fn what_an_open_schema_does_not_list_is_told_and_taken() {
    let kit = Kit::new().await;
    let open = r#"{"type": "object", "properties": {"amount": {"type": "object"}}}"#;
    let rule = deny("pay", "has(args.amonut) || args.amount.cents > 1 || args.amount.cents < 0");
    let hour = Duration::from_hours(1);
    let budget = |sum: &str| Budget::sum("pay", sum, Amount::parse("5").unwrap(), hour).unwrap();
    let built = kit.revised("1").native(tool("pay", open)).rule(rule.clone()).budget(budget("args.cents")).build();
    let host = built.await.unwrap();
    assert_eq!(host.unlisted(&rule), ["args.amonut", "args.amount.cents"]);
    assert_eq!(host.unlisted_sum(&budget("args.cents")).as_deref(), Some("args.cents"));
    assert!(host.unlisted(&deny("pay", "has(args.amount)")).is_empty());
    assert_eq!(host.unlisted_sum(&budget("args.amount")), None);
    assert!(host.unlisted(&deny("*", "has(args.how)")).is_empty());
}
