//! What a preview has to hold: all that a call would put into the data, the numbers of what it really touches, and every
//! record that it would change.

use super::cases::{CASES, Case};
use super::desk::{Desk, record};
use counterfoil::plugin::Access;
use counterfoil::{Level, Status};
use serde_json::{Value, json};

/// A desk where this case needs a confirmation.
async fn raised(case: &Case) -> Desk {
    match case.level {
        Level::ApprovalRequired => Desk::new().await,
        _ => Desk::with(Access::ReadWrite, &[(case.tool, Level::ApprovalRequired)]).await,
    }
}

#[tokio::test]
async fn every_text_that_would_be_put_into_the_data_is_shown_and_no_password() {
    for case in CASES {
        let preview = raised(case).await.preview(case.tool, case.arguments).await;
        let arguments: Value = serde_json::from_str(case.arguments).unwrap();
        for (name, value) in arguments.as_object().unwrap() {
            let Some(text) = value.as_str() else { continue };
            let written = value.to_string();
            let shown = preview.text.contains(written.trim_matches('"'));
            assert_eq!(shown, name != "password", "{} {name} {text:?}: {}", case.tool, preview.text);
        }
    }
}

#[tokio::test]
async fn two_mails_that_differ_only_far_behind_their_beginning_give_different_previews() {
    let desk = Desk::with(Access::ReadWrite, &[("add_email_sequence_step", Level::ApprovalRequired)]).await;
    let mut previews = Vec::new();
    for end in ["yes", "not"] {
        let body = "word ".repeat(1_000) + end;
        let arguments = json!({ "list_id": 7, "subject": "Last call", "body": body, "delay_hours": 72 }).to_string();
        let preview = desk.preview("add_email_sequence_step", &arguments).await.json["preview"].clone();
        assert_eq!((&preview["subject"], &preview["body_characters"]), (&json!("Last call"), &json!(5_003)));
        let beginning = preview["body"].as_str().unwrap();
        assert!(body.starts_with(beginning) && (100..1_000).contains(&beginning.len()), "{preview}");
        assert_eq!(preview["body_whole"], false);
        assert_eq!(preview["body_sha256"], hex(&body));
        previews.push(preview);
    }
    assert_ne!(previews.first(), previews.last());
}

fn hex(text: &str) -> String {
    use sha2::{Digest, Sha256};
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[tokio::test]
async fn nothing_runs_when_any_record_that_it_would_change_has_changed() {
    for case in CASES {
        let mut records: Vec<(&str, u64)> = Vec::new();
        for change in case.changes.iter().filter(|change| !change.starts_with("next_ids") && !change.ends_with(" new"))
        {
            let mut parts = change.split(['/', ' ']);
            records.push((parts.next().unwrap(), parts.next().unwrap().parse().unwrap()));
        }
        records.dedup();
        for (collection, id) in records {
            let desk = raised(case).await;
            let preview = desk.preview(case.tool, case.arguments).await;
            desk.edit(|data| record(data, collection, id)["note"] = json!("changed by somebody else"));
            let before = desk.files();
            let answer = desk.confirm(case.tool, case.arguments, &preview).await;
            assert_eq!(answer.status, Status::Failed, "{} {collection} {id}: {}", case.tool, answer.text);
            answer.is(Status::Failed, "tool_error", "has changed since the preview");
            assert_eq!(before, desk.files(), "{} changed something", case.tool);
        }
    }
}

#[tokio::test]
async fn a_landing_that_took_the_place_of_the_one_that_was_shown_is_left_alone() {
    let desk = Desk::new().await;
    let (tool, arguments) = ("delete_campaign", r#"{"id": 42}"#);
    let preview = desk.preview(tool, arguments).await;
    assert_eq!(preview.json["preview"]["landings_unbound"], json!([3]));
    desk.edit(|data| {
        record(data, "landings", 3)["campaign_id"] = Value::Null;
        record(data, "landings", 5)["campaign_id"] = json!(42);
    });
    let answer = desk.confirm(tool, arguments, &preview).await;
    answer.is(Status::Failed, "tool_error", "has changed since the preview");
    assert_eq!(record(&mut desk.data(), "landings", 5)["campaign_id"], 42);
    assert_eq!(record(&mut desk.data(), "campaigns", 42)["id"], 42);
    let preview = desk.preview("delete_cloaking_workflow", r#"{"id": 6}"#).await;
    assert_eq!(preview.json["preview"]["campaigns_without_it"], json!([46]));
}

#[tokio::test]
async fn a_product_that_is_gone_is_neither_restocked_nor_counted_as_staying() {
    let desk = Desk::new().await;
    let whole = desk.preview("cancel_order", r#"{"order_id": 1001}"#).await;
    assert!(whole.says("summary").ends_with("put 3 items back into stock."), "{}", whole.text);
    for (gone, back, warning) in [
        (203, "2 items", "1 item is of a product that no longer exists and goes into no stock."),
        (201, "1 item", "2 items are of products that no longer exist and go into no stock."),
    ] {
        let desk = Desk::new().await;
        desk.edit(|data| data["products"].as_array_mut().unwrap().retain(|product| product["id"] != gone));
        let preview = desk.preview("cancel_order", r#"{"order_id": 1001}"#).await;
        assert!(preview.says("summary").ends_with(&format!("put {back} back into stock.")), "{}", preview.text);
        let warnings = preview.json["warnings"].as_array().unwrap();
        assert!(warnings.contains(&json!(warning)), "{}", preview.text);
        let preview = desk.preview("delete_collection", r#"{"id": 6}"#).await;
        assert_eq!(preview.json["preview"]["products_that_stay"], 2, "{}", preview.text);
        assert!(preview.says("summary").contains("2 products in it"), "{}", preview.text);
    }
    desk.edit(|data| data["products"].as_array_mut().unwrap().retain(|product| product["id"] == 201));
    let preview = desk.preview("bulk_update_product_prices", r#"{"collection_id": 6, "change_pct": 10}"#).await;
    assert!(preview.text.contains("2 products of the collection no longer exist."), "{}", preview.text);
}
