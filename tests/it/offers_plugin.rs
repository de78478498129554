//! The offers plug-in as built, through the host: what each tool says and changes, what it refuses, and that what runs is
//! what was shown.

mod cases;
mod data;
mod desk;
mod money;
mod password;
mod shown;

use cases::CASES;
use counterfoil::plugin::Access;
use counterfoil::{Level, Status};
use desk::{Desk, differences, record};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const SAFE: [(&str, &str, &str, &str); 4] = [
    ("get_offer", r#"{"id": 12}"#, r#"{"id": 99}"#, "Offer not found"),
    ("list_offers", r#"{"status": "active"}"#, r#"{"status": "gone"}"#, "status"),
    ("get_campaign", r#"{"id": 42}"#, r#"{"id": 0}"#, "id"),
    ("list_campaigns", r#"{"name": "fr", "after": 42}"#, r#"{"page": 2}"#, "page"),
];

#[tokio::test]
async fn every_tool_is_there_at_its_level_with_strict_schemas() {
    let desk = Desk::new().await;
    let listed: BTreeSet<(&str, Level)> =
        desk.host.tools().iter().map(|tool| (tool.name.as_str(), tool.level)).collect();
    let safe = SAFE.iter().map(|(tool, ..)| (*tool, Level::Safe));
    let expected: BTreeSet<(&str, Level)> = safe.chain(CASES.iter().map(|case| (case.tool, case.level))).collect();
    assert_eq!(listed, expected);
    assert_eq!(expected.len(), 30);
    for tool in desk.host.tools() {
        let schema: Value = serde_json::from_str(&tool.input_schema).unwrap();
        assert_eq!(schema["additionalProperties"], json!(false), "{}", tool.name);
        for (name, property) in schema["properties"].as_object().unwrap() {
            let bounds = ["maximum", "maxLength", "maxItems", "enum"];
            let bounded = bounds.iter().any(|bound| property.get(bound).is_some());
            assert!(name == "confirm_token" || bounded, "{} {name}", tool.name);
            assert!(property["description"].is_string(), "{} {name}", tool.name);
        }
        assert!(!tool.description.is_empty() && tool.title.is_some(), "{}", tool.name);
        let output: Value = serde_json::from_str(tool.output_schema.as_ref().unwrap()).unwrap();
        assert_eq!(output["type"], json!("object"), "{}", tool.name);
    }
}

/// An answer has every member that the tool's output schema promises.
#[track_caller]
fn keeps_its_schema(desk: &Desk, tool: &str, answer: &Value) {
    let listing = desk.host.tools().iter().find(|listing| listing.name == tool).unwrap();
    let schema: Value = serde_json::from_str(listing.output_schema.as_ref().unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    assert!(
        validator.is_valid(answer),
        "{tool}: {:?}",
        validator.iter_errors(answer).map(|e| e.to_string()).collect::<Vec<_>>()
    );
}

#[tokio::test]
async fn tools_that_only_read_need_no_more_than_a_read_only_grant() {
    for access in [Access::ReadOnly, Access::ReadWrite] {
        let desk = Desk::with(access, &[]).await;
        let before = desk.files();
        for (tool, allowed, refused, words) in SAFE {
            let answer = desk.done(tool, allowed).await;
            keeps_its_schema(&desk, tool, &answer.json);
            desk.refused(tool, refused, words).await;
        }
        assert_eq!(before, desk.files());
    }
}

#[tokio::test]
async fn lists_come_in_pages_and_by_what_is_asked() {
    let desk = Desk::new().await;
    let ids = |answer: &Value, name: &str| -> Vec<u64> {
        answer[name].as_array().unwrap().iter().map(|record| record["id"].as_u64().unwrap()).collect()
    };
    let answer = desk.done("list_campaigns", r#"{"name": "FR", "after": 42}"#).await;
    assert_eq!((ids(&answer.json, "campaigns"), &answer.json["more"]), (vec![43, 44, 45, 46], &json!(false)));
    let answer = desk.done("list_offers", r#"{"status": "paused"}"#).await;
    assert_eq!(ids(&answer.json, "offers"), [14]);
    desk.edit(|data| {
        let offer = record(data, "offers", 12).clone();
        let more = (100..=150).map(|id| {
            let mut offer = offer.clone();
            offer["id"] = json!(id);
            offer
        });
        data["offers"].as_array_mut().unwrap().extend(more);
    });
    let first = desk.done("list_offers", "{}").await;
    assert_eq!((ids(&first.json, "offers").len(), &first.json["more"]), (50, &json!(true)));
    let next = format!(r#"{{"after": {}}}"#, ids(&first.json, "offers").last().unwrap());
    let second = desk.done("list_offers", &next).await;
    assert_eq!((ids(&second.json, "offers").last(), &second.json["more"]), (Some(&150), &json!(false)));
}

#[tokio::test]
async fn what_is_easy_to_undo_runs_at_once_and_changes_what_it_says() {
    for case in CASES.iter().filter(|case| case.level == Level::Caution) {
        let desk = Desk::new().await;
        for (arguments, words) in case.refused {
            desk.refused(case.tool, arguments, words).await;
        }
        let before = desk.data();
        let answer = desk.call(case.tool, case.arguments).await;
        assert_eq!(answer.status, Status::Ok, "{}: {}", case.tool, answer.text);
        keeps_its_schema(&desk, case.tool, &answer.json);
        assert_eq!(differences(&before, &desk.data()), case.changes, "{}", case.tool);
        assert_eq!(desk.files().len(), 1, "{} leaves something beside the data", case.tool);
    }
}

#[tokio::test]
async fn what_is_dangerous_is_shown_first_and_then_changes_exactly_that() {
    for case in CASES.iter().filter(|case| case.level == Level::ApprovalRequired) {
        let desk = Desk::new().await;
        for (arguments, words) in case.refused {
            desk.refused(case.tool, arguments, words).await;
        }
        let preview = desk.preview(case.tool, case.arguments).await;
        // Somebody else changes what has nothing to do with it.
        desk.edit(|data| data["notes"] = json!({ "kept": 1.50 }));
        let before = desk.data();
        let answer = desk.confirm(case.tool, case.arguments, &preview).await;
        assert_eq!(answer.status, Status::Ok, "{}: {}", case.tool, answer.text);
        keeps_its_schema(&desk, case.tool, &answer.json);
        let after = desk.data();
        assert_eq!(differences(&before, &after), case.changes, "{}", case.tool);
        let again = desk.confirm(case.tool, case.arguments, &preview).await;
        assert_eq!((again.text, desk.data()), (answer.text, after), "{} ran again", case.tool);
        assert_eq!(desk.files().len(), 1, "{} leaves something beside the data", case.tool);
    }
}

#[tokio::test]
async fn nothing_runs_when_what_it_rests_on_has_changed_since_the_preview() {
    for case in CASES.iter().filter(|case| case.level == Level::ApprovalRequired) {
        let desk = Desk::new().await;
        let preview = desk.preview(case.tool, case.arguments).await;
        desk.edit(|data| match case.rests_on {
            Some((collection, id)) => record(data, collection, id)["note"] = json!("changed by somebody else"),
            None => {
                let mut server = record(data, "smtp_servers", 1).clone();
                (server["id"], server["name"]) = (json!(2), json!("MAIN"));
                data["smtp_servers"].as_array_mut().unwrap().push(server);
            }
        });
        let before = desk.files();
        let answer = desk.confirm(case.tool, case.arguments, &preview).await;
        let words = if case.rests_on.is_some() { "has changed since the preview" } else { "exists already" };
        answer.is(Status::Failed, "tool_error", words);
        assert_eq!(answer.json["effect"], "none", "{}", case.tool);
        assert_eq!(before, desk.files(), "{} changed something", case.tool);
    }
}

#[tokio::test]
async fn what_was_shown_counts_also_where_it_was_only_counted() {
    let desk = Desk::new().await;
    let arguments = r#"{"offer_id": 12, "new_payout": 6.20}"#;
    let preview = desk.preview("update_offer_payout", arguments).await;
    assert_eq!(preview.json["preview"]["active_campaigns_using_this_offer"], 4);
    desk.done("resume_campaign", r#"{"id": 46}"#).await;
    let answer = desk.confirm("update_offer_payout", arguments, &preview).await;
    answer.is(Status::Failed, "tool_error", "has changed since the preview");
    let preview = desk.preview("update_offer_payout", arguments).await;
    assert_eq!(preview.json["preview"]["active_campaigns_using_this_offer"], 5);
}

#[tokio::test]
async fn a_milder_tool_that_the_operator_raised_is_previewed_and_confirmed() {
    for case in CASES.iter().filter(|case| case.level == Level::Caution) {
        let desk = Desk::with(Access::ReadWrite, &[(case.tool, Level::ApprovalRequired)]).await;
        let preview = desk.preview(case.tool, case.arguments).await;
        assert!(
            preview.says("summary").starts_with("Will ") && preview.says("summary").ends_with('.'),
            "{}",
            preview.text
        );
        if let Some((collection, id)) = case.rests_on {
            desk.edit(|data| record(data, collection, id)["note"] = json!("changed by somebody else"));
            let answer = desk.confirm(case.tool, case.arguments, &preview).await;
            answer.is(Status::Failed, "tool_error", "has changed since the preview");
        }
        let before = desk.data();
        desk.done(case.tool, case.arguments).await;
        assert_eq!(differences(&before, &desk.data()), case.changes, "{}", case.tool);
    }
    let desk = Desk::with(Access::ReadOnly, &[("get_offer", Level::ApprovalRequired)]).await;
    assert_eq!(desk.done("get_offer", r#"{"id": 12}"#).await.json["offer"]["payout"], "4.50");
}
