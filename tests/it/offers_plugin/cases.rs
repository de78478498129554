//! Every tool that changes something: a call that it allows with all that becomes different, the record that this rests on,
//! and calls that it refuses.

use counterfoil::Level;

pub struct Case {
    pub tool: &'static str,
    pub level: Level,
    pub arguments: &'static str,
    /// As `differences` tells them.
    pub changes: &'static [&'static str],
    /// The record whose change makes the preview stale; none for a tool that only adds one.
    pub rests_on: Option<(&'static str, u64)>,
    /// Arguments, and words of the refusal.
    pub refused: &'static [(&'static str, &'static str)],
}

const MILD: Level = Level::Caution;
const GRAVE: Level = Level::ApprovalRequired;

pub const CASES: &[Case] = &[
    Case {
        tool: "pause_campaign",
        level: MILD,
        arguments: r#"{"id": 42}"#,
        changes: &[r#"campaigns/42/status "active" -> "paused""#],
        rests_on: Some(("campaigns", 42)),
        refused: &[(r#"{"id": 46}"#, "is not active; it is paused"), (r#"{"id": 9}"#, "Campaign not found")],
    },
    Case {
        tool: "resume_campaign",
        level: MILD,
        arguments: r#"{"id": 46}"#,
        changes: &[r#"campaigns/46/status "paused" -> "active""#],
        rests_on: Some(("offers", 12)),
        refused: &[
            (r#"{"id": 42}"#, "is not paused; it is active"),
            (r#"{"id": 48}"#, "leads to offer #14 'Insurance UK Quote', which is paused"),
        ],
    },
    Case {
        tool: "create_campaign",
        level: MILD,
        arguments: r#"{"name": "Winter FR", "offer_id": 12, "cost": 0.07}"#,
        changes: &["campaigns/49 new", "next_ids/campaigns 49 -> 50"],
        rests_on: Some(("offers", 12)),
        refused: &[
            (r#"{"name": "black friday fr", "offer_id": 12}"#, "campaign #42 'Black Friday FR' exists already"),
            (r#"{"name": "Winter FR", "offer_id": 99}"#, "Offer not found"),
            (r#"{"name": " ", "offer_id": 12}"#, "name"),
            (r#"{"name": "a\nb", "offer_id": 12}"#, "name"),
            (r#"{"name": "Winter FR", "offer_id": 12, "cost_model": "cpx"}"#, "cost_model"),
        ],
    },
    Case {
        tool: "create_landing",
        level: MILD,
        arguments: r#"{"name": "Snow", "url": "https://landing.example.com/snow", "campaign_id": 42}"#,
        changes: &["landings/6 new", "next_ids/landings 6 -> 7"],
        rests_on: Some(("campaigns", 42)),
        refused: &[
            (r#"{"name": "gold wheel", "url": "https://a.example"}"#, "exists already"),
            (r#"{"name": "Snow", "url": "javascript:alert(1)"}"#, "url"),
            (r#"{"name": "Snow", "url": "https://a.example", "campaign_id": 9}"#, "Campaign not found"),
        ],
    },
    Case {
        tool: "create_email_list",
        level: MILD,
        arguments: r#"{"name": "Winter", "from_name": "Gold Team", "from_email": "gold@example.com"}"#,
        changes: &["email_lists/10 new", "next_ids/email_lists 10 -> 11"],
        rests_on: None,
        refused: &[
            (r#"{"name": "Buyers", "from_name": "x", "from_email": "x@example.com"}"#, "exists already"),
            (r#"{"name": "W", "from_name": "x", "from_email": "x@localhost"}"#, "from_email"),
        ],
    },
    Case {
        tool: "update_email_list",
        level: MILD,
        arguments: r#"{"list_id": 8, "name": "buyers", "from_email": "hello@example.com"}"#,
        changes: &[
            r#"email_lists/8/from_email "shop@example.com" -> "hello@example.com""#,
            r#"email_lists/8/name "Buyers" -> "buyers""#,
        ],
        rests_on: Some(("email_lists", 8)),
        refused: &[
            (r#"{"list_id": 8, "name": "Buyers"}"#, "nothing would change"),
            (r#"{"list_id": 8}"#, "nothing would change"),
            (r#"{"list_id": 8, "name": "old leads"}"#, "exists already"),
            (r#"{"list_id": 1, "name": "x"}"#, "Email list not found"),
        ],
    },
    Case {
        tool: "add_email_sequence_step",
        level: MILD,
        arguments: r#"{"list_id": 7, "subject": "Last call", "body": "Until tonight.\nReally.", "delay_hours": 72}"#,
        changes: &["email_lists/7/sequence +1"],
        rests_on: Some(("email_lists", 7)),
        refused: &[
            (r#"{"list_id": 1, "subject": "x", "body": "x", "delay_hours": 1}"#, "Email list not found"),
            (r#"{"list_id": 7, "subject": "x", "body": "x", "delay_hours": 8761}"#, "delay_hours"),
            (
                r#"{"list_id": 7, "subject": "Your second chance", "body": "The wheel turns again.", "delay_hours": 48}"#,
                "is this one already",
            ),
        ],
    },
    Case {
        tool: "enroll_email_subscriber",
        level: MILD,
        arguments: r#"{"list_id": 7, "email": "emil@example.com", "name": "Emil"}"#,
        changes: &["email_lists/7/subscribers +1"],
        rests_on: Some(("email_lists", 7)),
        refused: &[
            (r#"{"list_id": 7, "email": "ANNA@example.com"}"#, "already (subscribed)"),
            (r#"{"list_id": 7, "email": "chloe@example.com"}"#, "has unsubscribed"),
            (r#"{"list_id": 7, "email": "no address"}"#, "email"),
        ],
    },
    Case {
        tool: "bind_landing_to_email_list",
        level: MILD,
        arguments: r#"{"landing_id": 4, "list_id": 8}"#,
        changes: &["landings/4/email_list_id 7 -> 8"],
        rests_on: Some(("landings", 4)),
        refused: &[
            (r#"{"landing_id": 3, "list_id": 7}"#, "bound to email list #7 'Sweepstakes FR' already"),
            (r#"{"landing_id": 99, "list_id": 7}"#, "Landing not found"),
        ],
    },
    Case {
        tool: "update_offer_payout",
        level: GRAVE,
        arguments: r#"{"offer_id": 12, "new_payout": 6.20}"#,
        changes: &[r#"offers/12/payout "4.50" -> "6.20""#],
        rests_on: Some(("offers", 12)),
        refused: &[
            (r#"{"offer_id": 99, "new_payout": 6.20}"#, "Offer not found: there is no offer #99; list_offers shows"),
            (r#"{"offer_id": 12, "new_payout": 4.5}"#, "the payout is $4.50 already"),
            (r#"{"offer_id": 12, "new_payout": -1}"#, "new_payout"),
            (r#"{"offer_id": 12, "new_payout": "6,20"}"#, "new_payout"),
            (r#"{"offer_id": 12, "new_payout": 0.0000001}"#, "at most six decimals"),
        ],
    },
    Case {
        tool: "update_campaign_cost",
        level: GRAVE,
        arguments: r#"{"campaign_id": 42, "new_cost": "0.15"}"#,
        changes: &[r#"campaigns/42/cost "0.12" -> "0.15""#],
        rests_on: Some(("campaigns", 42)),
        refused: &[
            (r#"{"campaign_id": 42, "new_cost": 0.120}"#, "the cost is $0.12 already"),
            (r#"{"campaign_id": 9, "new_cost": 1}"#, "Campaign not found"),
        ],
    },
    Case {
        tool: "delete_campaign",
        level: GRAVE,
        arguments: r#"{"id": 42}"#,
        changes: &["campaigns/42 gone", "landings/3/campaign_id 42 -> null"],
        rests_on: Some(("campaigns", 42)),
        refused: &[(r#"{"id": 9}"#, "Campaign not found: there is no campaign #9; list_campaigns shows")],
    },
    Case {
        tool: "delete_cloaking_workflow",
        level: GRAVE,
        arguments: r#"{"id": 6}"#,
        changes: &["campaigns/46/cloaking_workflow_id 6 -> null", "cloaking_workflows/6 gone"],
        rests_on: Some(("cloaking_workflows", 6)),
        refused: &[(r#"{"id": 5}"#, "in use by 1 active campaign (#43"), (r#"{"id": 1}"#, "workflow not found")],
    },
    Case {
        tool: "delete_email_list",
        level: GRAVE,
        arguments: r#"{"id": 7}"#,
        changes: &["email_lists/7 gone", "landings/3/email_list_id 7 -> null", "landings/4/email_list_id 7 -> null"],
        rests_on: Some(("email_lists", 7)),
        refused: &[(r#"{"id": 8}"#, "delete_email_conversion_trigger first"), (r#"{"id": 1}"#, "list not found")],
    },
    Case {
        tool: "delete_email_conversion_trigger",
        level: GRAVE,
        arguments: r#"{"id": 2}"#,
        changes: &["email_conversion_triggers/2 gone"],
        rests_on: Some(("email_lists", 8)),
        refused: &[(r#"{"id": 1}"#, "trigger not found")],
    },
    Case {
        tool: "create_email_smtp_server",
        level: GRAVE,
        arguments: r#"{"name": "Main", "host": "mail.example.com", "port": 465, "encryption": "tls", "username": "desk", "password": "correct horse"}"#,
        changes: &["next_ids/smtp_servers 2 -> 3", "smtp_servers/2 new"],
        rests_on: None,
        refused: &[
            (
                r#"{"name": "transactional", "host": "a.example", "port": 465, "encryption": "tls", "username": "desk", "password": "correct horse"}"#,
                "exists already",
            ),
            (
                r#"{"name": "M", "host": "a example", "port": 465, "encryption": "tls", "username": "desk", "password": "correct horse"}"#,
                "host",
            ),
            (
                r#"{"name": "M", "host": "a.example", "port": 0, "encryption": "tls", "username": "desk", "password": "correct horse"}"#,
                "port",
            ),
        ],
    },
    Case {
        tool: "delete_collection",
        level: GRAVE,
        arguments: r#"{"id": 6}"#,
        changes: &["collections/6 gone"],
        rests_on: Some(("collections", 6)),
        refused: &[(r#"{"id": 1}"#, "Collection not found")],
    },
    Case {
        tool: "delete_product",
        level: GRAVE,
        arguments: r#"{"id": 202}"#,
        changes: &["collections/6/product_ids [201,202,203] -> [201,203]", "products/202 gone"],
        rests_on: Some(("products", 202)),
        refused: &[
            (r#"{"id": 203}"#, "in order #1001, which is not shipped yet"),
            (r#"{"id": 1}"#, "Product not found"),
        ],
    },
    Case {
        tool: "refund_order",
        level: GRAVE,
        arguments: r#"{"order_id": 1001, "amount": 25.90, "reason": "one mug broken"}"#,
        changes: &[
            r#"orders/1001/payment_status "paid" -> "partially_refunded""#,
            r#"orders/1001/refunded "0.00" -> "25.90""#,
            "orders/1001/refunds new",
        ],
        rests_on: Some(("orders", 1001)),
        refused: &[
            (r#"{"order_id": 1004}"#, "refunded already, all $12.90 of it"),
            (r#"{"order_id": 1003, "amount": 39.01}"#, "only $39.00 of order #1003 is left to refund, not $39.01"),
            (r#"{"order_id": 1005}"#, "nothing was paid"),
            (r#"{"order_id": 1001, "amount": 0}"#, "amount"),
            (r#"{"order_id": 1001, "amount": 0.001}"#, "at most two decimals"),
            (r#"{"order_id": 1}"#, "Order not found"),
        ],
    },
    Case {
        tool: "cancel_order",
        level: GRAVE,
        arguments: r#"{"order_id": 1001}"#,
        changes: &[
            "orders/1001/cancel_reason new",
            r#"orders/1001/fulfillment_status "unfulfilled" -> "cancelled""#,
            "products/201/stock 140 -> 142",
            "products/203/stock 8 -> 9",
        ],
        rests_on: Some(("products", 203)),
        refused: &[
            (r#"{"order_id": 1002}"#, "is shipped and can no longer be cancelled"),
            (r#"{"order_id": 1006}"#, "is cancelled already"),
        ],
    },
    Case {
        tool: "update_source_campaign_budget",
        level: GRAVE,
        arguments: r#"{"source_campaign_id": 301, "new_daily_budget": 80}"#,
        changes: &[r#"source_campaigns/301/daily_budget "50.00" -> "80.00""#],
        rests_on: Some(("ad_sources", 1)),
        refused: &[
            (r#"{"source_campaign_id": 301, "new_daily_budget": 4.99}"#, "takes no daily budget below $5.00"),
            (r#"{"source_campaign_id": 304, "new_daily_budget": 80}"#, "is disconnected"),
            (r#"{"source_campaign_id": 305, "new_daily_budget": 80}"#, "has ended"),
            (r#"{"source_campaign_id": 9, "new_daily_budget": 80}"#, "Source campaign not found"),
        ],
    },
    Case {
        tool: "update_source_campaign_bid",
        level: GRAVE,
        arguments: r#"{"source_campaign_id": 301, "new_bid": 0.40}"#,
        changes: &[r#"source_campaigns/301/bid "0.35" -> "0.40""#],
        rests_on: Some(("source_campaigns", 301)),
        refused: &[
            (r#"{"source_campaign_id": 301, "new_bid": 50.01}"#, "more than a whole day's budget of $50.00"),
            (r#"{"source_campaign_id": 302, "new_bid": 0.04}"#, "takes no bid below $0.05"),
        ],
    },
    Case {
        tool: "pause_source_campaign",
        level: GRAVE,
        arguments: r#"{"id": 301}"#,
        changes: &[r#"source_campaigns/301/status "active" -> "paused""#],
        rests_on: Some(("source_campaigns", 301)),
        refused: &[(r#"{"id": 303}"#, "is not active; it is paused"), (r#"{"id": 305}"#, "has ended")],
    },
    Case {
        tool: "resume_source_campaign",
        level: GRAVE,
        arguments: r#"{"id": 303}"#,
        changes: &[r#"source_campaigns/303/status "paused" -> "active""#],
        rests_on: Some(("campaigns", 46)),
        refused: &[(r#"{"id": 301}"#, "is not paused; it is active")],
    },
    Case {
        tool: "bulk_update_product_prices",
        level: GRAVE,
        arguments: r#"{"collection_id": 6, "change_pct": -10}"#,
        changes: &[
            r#"products/201/price "12.90" -> "11.61""#,
            r#"products/202/price "24.00" -> "21.60""#,
            r#"products/203/price "59.00" -> "53.10""#,
        ],
        rests_on: Some(("products", 202)),
        refused: &[
            (r#"{"collection_id": 6, "product_ids": [201], "change_pct": -10}"#, "and not both"),
            (r#"{"change_pct": -10}"#, "and not both"),
            (r#"{"product_ids": [201, 999], "change_pct": -10}"#, "Product not found: there is no product #999"),
            (r#"{"product_ids": [204], "change_pct": 5}"#, "less than a cent"),
            (r#"{"product_ids": [204], "change_pct": -90}"#, "would cost nothing"),
            (r#"{"product_ids": [201, 201], "change_pct": 5}"#, "product_ids"),
            (r#"{"product_ids": [201], "change_pct": -100}"#, "change_pct"),
            (r#"{"product_ids": [201], "change_pct": 0}"#, "not 0"),
        ],
    },
    Case {
        tool: "cross_platform_scale_plan",
        level: GRAVE,
        arguments: r#"{"source_campaign_ids": [301, 302], "change_pct": 15}"#,
        changes: &[
            r#"source_campaigns/301/daily_budget "50.00" -> "57.50""#,
            r#"source_campaigns/302/daily_budget "80.00" -> "92.00""#,
        ],
        rests_on: Some(("ad_sources", 2)),
        refused: &[
            (r#"{"source_campaign_ids": [301, 304], "change_pct": 15}"#, "is disconnected"),
            (r#"{"source_campaign_ids": [301, 9], "change_pct": 15}"#, "Source campaign not found"),
            (r#"{"source_campaign_ids": [301, 302], "change_pct": -95}"#, "takes no daily budget below"),
            (
                r#"{"source_campaign_ids": [301, 302], "change_pct": 15, "max_total_daily_budget": 149.49}"#,
                "more than max_total_daily_budget, $149.49",
            ),
        ],
    },
];
