//! What is said about money and by how much it changes, word for word.

use super::desk::{Answer, Desk, record};
use serde_json::{Value, json};

/// A delivered text with what differs from run to run replaced by its name.
fn steady(answer: &Answer, members: &[&str]) -> String {
    members.iter().fold(answer.text.clone(), |text, member| {
        let value =
            answer.json.pointer(member).and_then(Value::as_str).unwrap_or_else(|| panic!("{member}: {}", answer.text));
        text.replace(value, member)
    })
}

#[tokio::test]
async fn a_payout_is_previewed_and_changed_as_the_contract_shows_it() {
    let desk = Desk::new().await;
    let arguments = r#"{"offer_id": 12, "new_payout": 6.20}"#;
    let preview = desk.preview("update_offer_payout", arguments).await;
    let (text, expected) = (
        steady(&preview, &["/confirm_token", "/expires_at", "/confirm_instructions"]),
        concat!(
            r#"{"status":"confirmation_required","tool":"update_offer_payout","#,
            r#""summary":"Will update payout of offer #12 'Sweepstakes FR Gold' from $4.50 to $6.20 (+37.8%).","#,
            r#""preview":{"offer_id":12,"offer_name":"Sweepstakes FR Gold","current_payout":"4.50","new_payout":"6.20","#,
            r#""delta_pct":37.8,"active_campaigns_using_this_offer":4},"confirm_token":"/confirm_token","#,
        ),
    );
    assert!(text.starts_with(expected), "{text}");
    assert_eq!(preview.json["warnings"], json!([]));

    // The same value, spelt as another writer would.
    let answer = desk.confirm("update_offer_payout", r#"{"new_payout": 62e-1, "offer_id": 12.0}"#, &preview).await;
    let expected = concat!(
        r#"{"status":"ok","tool":"update_offer_payout","message":"Offer payout updated successfully","#,
        r#""offer":{"id":12,"name":"Sweepstakes FR Gold","payout":"6.20","updated_at":"/offer/updated_at"},"#,
        r#""assurance":"token_only"}"#,
    );
    assert_eq!(steady(&answer, &["/offer/updated_at"]), expected);
    let at = answer.json["offer"]["updated_at"].as_str().unwrap();
    let form: String = at.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    assert_eq!(form, "0000-00-00T00:00:00.000Z");
    assert_eq!(record(&mut desk.data(), "offers", 12)["updated_at"], at);
}

#[tokio::test]
async fn the_deletion_of_a_campaign_says_what_goes_with_it() {
    let desk = Desk::new().await;
    let preview = desk.preview("delete_campaign", r#"{"id": 42}"#).await;
    assert_eq!(
        preview.says("summary"),
        "Will delete campaign #42 'Black Friday FR' — 12 active flows, 4523 lifetime clicks, $1247 lifetime revenue"
    );
    assert_eq!(
        preview.json["preview"],
        json!({
            "campaign_id": 42, "campaign_name": "Black Friday FR", "status": "active", "active_flows": 12,
            "lifetime_clicks": 4523, "lifetime_revenue": "1247.00", "landings_unbound": [3], "active_source_campaigns": 0,
        })
    );
    let preview = desk.preview("delete_campaign", r#"{"id": 43}"#).await;
    let paying =
        "2 active source campaigns go on paying for traffic to it (#301 'FR Gold Search', #302 'FR Gold Social')";
    assert!(preview.json["warnings"].to_string().contains(paying), "{}", preview.text);
}

/// The summary of a payout that changes so.
async fn payout(old: &str, new: &str) -> (String, Value, String) {
    let desk = Desk::new().await;
    desk.edit(|data| record(data, "offers", 12)["payout"] = json!(old));
    let preview = desk.preview("update_offer_payout", &format!(r#"{{"offer_id": 12, "new_payout": {new}}}"#)).await;
    let summary =
        preview.says("summary").strip_prefix("Will update payout of offer #12 'Sweepstakes FR Gold' ").unwrap();
    (summary.to_owned(), preview.json["preview"].clone(), preview.json["warnings"].to_string())
}

#[tokio::test]
async fn amounts_and_percentages_are_exact() {
    for (old, new, summary, delta) in [
        ("6.20", "4.50", "from $6.20 to $4.50 (-27.4%).", json!(-27.4)),
        ("4.50", "\"6.20\"", "from $4.50 to $6.20 (+37.8%).", json!(37.8)),
        ("2", "3", "from $2.00 to $3.00 (+50.0%).", json!(50)),
        ("0.10", "0.30", "from $0.10 to $0.30 (+200.0%).", json!(200)),
        ("0.0375", "0.04", "from $0.0375 to $0.04 (+6.7%).", json!(6.7)),
        ("0.00", "6.2", "from $0.00 to $6.20 (no percentage, since it was zero).", json!(null)),
        ("4.50", "0", "from $4.50 to $0.00 (-100.0%).", json!(-100)),
        ("90071992.547409", "90071992.547410", "from $90071992.547409 to $90071992.54741 (+0.0%).", json!(0)),
    ] {
        let (words, details, _) = payout(old, new).await;
        assert_eq!((words.as_str(), &details["delta_pct"]), (summary, &delta), "{old} {new}");
    }
}

#[tokio::test]
async fn large_steps_are_warned_of() {
    for (new, words) in [("9.01", "more than doubles"), ("2.24", "falls by more than half"), ("0", "becomes zero")] {
        assert!(payout("4.50", new).await.2.contains(words), "{new}");
    }
    for new in ["9.00", "2.25"] {
        assert_eq!(payout("4.50", new).await.2, "[]", "{new}");
    }
}

#[tokio::test]
async fn a_change_of_many_prices_shows_how_many_and_how_much() {
    let desk = Desk::new().await;
    let preview =
        desk.preview("bulk_update_product_prices", r#"{"product_ids": [204, 203, 202], "change_pct": -33.5}"#).await;
    assert_eq!(
        preview.says("summary"),
        "Will change the prices of 3 products by -33.5%: from $83.02 to $55.21 (-33.5%) in all."
    );
    let example = |id: u64, name: &str, old: &str, new: &str| json!({ "product_id": id, "product_name": name, "old_price": old, "new_price": new });
    assert_eq!(
        preview.json["preview"],
        json!({
            "change_pct": -33.5, "products": 3, "products_unchanged": 0, "total_before": "83.02", "total_after": "55.21",
            "total_change": "-27.81", "total_delta_pct": -33.5, "products_below_cost": 1,
            "largest_changes": [
                example(203, "Travel Bag", "59.00", "39.24"),
                example(202, "Gold T-Shirt", "24.00", "15.96"),
                example(204, "Sticker", "0.02", "0.01"),
            ],
        })
    );
    assert_eq!(preview.json["warnings"], json!(["1 product would sell below cost: #203 'Travel Bag'."]));
    let preview = desk.preview("bulk_update_product_prices", r#"{"product_ids": [204, 203], "change_pct": 2}"#).await;
    assert!(preview.json["warnings"][0].as_str().unwrap().contains("keep the price"), "{}", preview.text);
}

#[tokio::test]
async fn a_scale_plan_shows_every_budget_and_the_day_in_all() {
    let desk = Desk::new().await;
    let arguments = r#"{"source_campaign_ids": [303, 301, 302], "change_pct": -30, "max_total_daily_budget": 112}"#;
    let preview = desk.preview("cross_platform_scale_plan", arguments).await;
    assert_eq!(
        preview.says("summary"),
        "Will change the daily budgets of 3 source campaigns at 2 ad sources by -30%: from $160.00 to $112.00 (-30.0%) a day in all, -$48.00 a day."
    );
    let shown: Vec<Value> = preview.json["preview"]["changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|change| {
            json!([
                change["source_campaign_id"],
                change["ad_source"],
                change["current_daily_budget"],
                change["new_daily_budget"]
            ])
        })
        .collect();
    assert_eq!(
        Value::from(shown),
        json!([
            [301, "Search Ads", "50.00", "35.00"],
            [302, "Social Ads", "80.00", "56.00"],
            [303, "Social Ads", "30.00", "21.00"],
        ])
    );
    assert_eq!(preview.json["preview"]["total_daily_change"], "-48.00");
    let warnings = preview.json["warnings"].to_string();
    assert!(
        warnings.contains("#302: It has spent $61.75 today already") && warnings.contains("#303 is paused"),
        "{warnings}"
    );
}

#[tokio::test]
async fn money_goes_back_once_and_no_more_than_was_paid() {
    let desk = Desk::new().await;
    let preview = desk.preview("refund_order", r#"{"order_id": 1003, "amount": 9}"#).await;
    assert_eq!(
        preview.says("summary"),
        "Will refund $9.00 of order #1003 of 'Lea Martin'; $30.00 of $59.00 stays paid."
    );
    let preview = desk.preview("refund_order", r#"{"order_id": 1003}"#).await;
    assert_eq!(
        preview.says("summary"),
        "Will refund $39.00 of order #1003 of 'Lea Martin', all that is left of $59.00."
    );
    assert!(preview.json["warnings"].to_string().contains("does not bring the goods back"), "{}", preview.text);
    desk.done("refund_order", r#"{"order_id": 1001, "amount": 84.79}"#).await;
    desk.refused("refund_order", r#"{"order_id": 1001, "amount": 0.02}"#, "only $0.01").await;
    let last = desk.done("refund_order", r#"{"order_id": 1001}"#).await;
    assert_eq!(
        (&last.json["order"]["refunded"], &last.json["order"]["payment_status"]),
        (&json!("84.80"), &json!("refunded"))
    );
    desk.refused("refund_order", r#"{"order_id": 1001}"#, "refunded already").await;
    let preview = desk.preview("cancel_order", r#"{"order_id": 1005}"#).await;
    assert_eq!(
        preview.says("summary"),
        "Will cancel order #1005 of 'Ines Costa' over $38.70 and put 3 items back into stock."
    );
    assert_eq!(
        desk.confirm("cancel_order", r#"{"order_id": 1005}"#, &preview).await.json["order"]["payment_status"],
        "voided"
    );
}

#[tokio::test]
async fn budgets_warn_of_what_was_spent_and_of_traffic_that_leads_nowhere() {
    let desk = Desk::new().await;
    let preview =
        desk.preview("update_source_campaign_budget", r#"{"source_campaign_id": 302, "new_daily_budget": 60}"#).await;
    assert_eq!(
        preview.says("summary"),
        "Will update daily budget of source campaign #302 'FR Gold Social' at 'Social Ads' from $80.00 to $60.00 (-25.0%)."
    );
    assert!(preview.json["warnings"].to_string().contains("It has spent $61.75 today already"), "{}", preview.text);
    let preview = desk.preview("resume_source_campaign", r#"{"id": 303}"#).await;
    assert_eq!(
        preview.says("summary"),
        "Will resume source campaign #303 'FR Spring Social' at 'Social Ads': it delivers at once and may spend $30.00 a day."
    );
    assert!(
        preview.json["warnings"].to_string().contains("campaign #46 'Spring Test FR', which is paused"),
        "{}",
        preview.text
    );
}
