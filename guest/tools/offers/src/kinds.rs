//! What the data file holds, as tables: collections, the members of their records that this code relies on, and how an
//! agent finds a record that exists. Members that are not named here are kept and shown, and nothing else.

use crate::json::Json;
use crate::money::Decimal;
use Field::{Choice, Flag, Line, Money, Name, Optional, Reference, References, Rows, Whole};

/// One collection.
#[derive(Debug, PartialEq, Eq)]
pub struct Kind {
    pub collection: &'static str,
    pub one: &'static str,
    /// Where to look for one that exists.
    pub look: &'static str,
    pub fields: &'static [(&'static str, Field)],
}

/// What a member has to be.
#[derive(Debug, PartialEq, Eq)]
pub enum Field {
    Line,
    /// A text that is short enough to stand in a sentence.
    Name,
    /// A text that is a decimal, not below zero.
    Money,
    Whole,
    Flag,
    Choice(&'static [&'static str]),
    /// The id of another record.
    Reference,
    References,
    /// Objects of such members.
    Rows(&'static [(&'static str, Field)]),
    /// Missing, null, or this.
    Optional(&'static Field),
}

/// Longest name: a plan with fifty of them is still one that can be delivered.
const MAX_NAME: usize = 300;

pub const CAMPAIGN_STATUS: &[&str] = &["active", "paused", "archived"];
pub const OFFER_STATUS: &[&str] = &["active", "paused"];
pub const COST_MODELS: &[&str] = &["cpc", "cpm", "cpa", "flat"];
pub const ENCRYPTIONS: &[&str] = &["starttls", "tls", "none"];

const ASK: &str = "ask the operator for the ids that exist";

pub const OFFERS: Kind = Kind {
    collection: "offers",
    one: "offer",
    look: "list_offers shows those that exist",
    fields: &[("name", Name), ("status", Choice(OFFER_STATUS)), ("payout", Money)],
};

pub const CAMPAIGNS: Kind = Kind {
    collection: "campaigns",
    one: "campaign",
    look: "list_campaigns shows those that exist",
    fields: &[
        ("name", Name),
        ("status", Choice(CAMPAIGN_STATUS)),
        ("offer_id", Reference),
        ("cost_model", Choice(COST_MODELS)),
        ("cost", Money),
        ("cloaking_workflow_id", Optional(&Reference)),
        ("flows", Rows(&[("status", Choice(&["active", "paused"]))])),
        ("lifetime_clicks", Whole),
        ("lifetime_revenue", Money),
    ],
};

pub const LANDINGS: Kind = Kind {
    collection: "landings",
    one: "landing",
    look: ASK,
    fields: &[
        ("name", Name),
        ("url", Line),
        ("campaign_id", Optional(&Reference)),
        ("email_list_id", Optional(&Reference)),
    ],
};

pub const EMAIL_LISTS: Kind = Kind {
    collection: "email_lists",
    one: "email list",
    look: ASK,
    fields: &[
        ("name", Name),
        ("from_name", Line),
        ("from_email", Line),
        ("subscribers", Rows(&[("email", Line), ("status", Choice(&["subscribed", "unsubscribed", "bounced"]))])),
        ("sequence", Rows(&[("subject", Line), ("delay_hours", Whole)])),
    ],
};

pub const TRIGGERS: Kind = Kind {
    collection: "email_conversion_triggers",
    one: "email conversion trigger",
    look: ASK,
    fields: &[("name", Name), ("event", Line), ("email_list_id", Reference), ("active", Flag), ("times_fired", Whole)],
};

pub const COLLECTIONS: Kind = Kind {
    collection: "collections",
    one: "collection",
    look: ASK,
    fields: &[("name", Name), ("published", Flag), ("product_ids", References)],
};

pub const PRODUCTS: Kind = Kind {
    collection: "products",
    one: "product",
    look: ASK,
    fields: &[
        ("name", Name),
        ("status", Choice(&["active", "draft", "archived"])),
        ("price", Money),
        ("cost", Money),
        ("stock", Whole),
    ],
};

pub const ORDERS: Kind = Kind {
    collection: "orders",
    one: "order",
    look: ASK,
    fields: &[
        ("customer", Name),
        ("total", Money),
        ("refunded", Money),
        ("payment_status", Choice(&["pending", "paid", "partially_refunded", "refunded", "voided"])),
        ("fulfillment_status", Choice(&["unfulfilled", "shipped", "delivered", "cancelled"])),
        ("items", Rows(&[("product_id", Reference), ("quantity", Whole), ("price", Money)])),
    ],
};

pub const AD_SOURCES: Kind = Kind {
    collection: "ad_sources",
    one: "ad source",
    look: ASK,
    fields: &[
        ("name", Name),
        ("status", Choice(&["connected", "disconnected"])),
        ("min_daily_budget", Money),
        ("min_bid", Money),
    ],
};

pub const SOURCE_CAMPAIGNS: Kind = Kind {
    collection: "source_campaigns",
    one: "source campaign",
    look: ASK,
    fields: &[
        ("name", Name),
        ("ad_source_id", Reference),
        ("campaign_id", Optional(&Reference)),
        ("status", Choice(&["active", "paused", "ended"])),
        ("daily_budget", Money),
        ("bid", Money),
        ("spent_today", Money),
    ],
};

pub const CLOAKING_WORKFLOWS: Kind =
    Kind { collection: "cloaking_workflows", one: "cloaking workflow", look: ASK, fields: &[("name", Name)] };

pub const SMTP_SERVERS: Kind = Kind {
    collection: "smtp_servers",
    one: "SMTP server",
    look: ASK,
    fields: &[("name", Name), ("host", Line), ("port", Whole), ("username", Line), ("encryption", Choice(ENCRYPTIONS))],
};

pub const ALL: [&Kind; 12] = [
    &OFFERS,
    &CAMPAIGNS,
    &LANDINGS,
    &EMAIL_LISTS,
    &TRIGGERS,
    &COLLECTIONS,
    &PRODUCTS,
    &ORDERS,
    &AD_SOURCES,
    &SOURCE_CAMPAIGNS,
    &CLOAKING_WORKFLOWS,
    &SMTP_SERVERS,
];

/// Says which member is not what it has to be.
pub fn check(fields: &[(&str, Field)], record: &Json) -> Result<(), String> {
    fields.iter().try_for_each(|(name, field)| field.check(name, record.get(name)))
}

impl Field {
    fn check(&self, name: &str, value: Option<&Json>) -> Result<(), String> {
        let wanted = match (self, value) {
            (Optional(_), None | Some(Json::Null)) => return Ok(()),
            (Optional(field), _) => return field.check(name, value),
            (_, None) => return Err(format!("its member \"{name}\" is missing")),
            (Line, Some(Json::Text(_))) | (Flag, Some(Json::Bool(_))) => return Ok(()),
            (Line, _) => "a text",
            (Name, Some(Json::Text(name))) if name.chars().count() <= MAX_NAME => return Ok(()),
            (Name, _) => return Err(format!("its member \"{name}\" is not a text of at most {MAX_NAME} characters")),
            (Flag, _) => "true or false",
            (Money, Some(value @ Json::Text(_))) if Decimal::of(value).is_some_and(|money| money >= Decimal::ZERO) => {
                return Ok(());
            }
            (Money, _) => "an amount written as a text, such as \"4.50\"",
            (Whole | Reference, Some(value)) if value.as_whole().is_some() => return Ok(()),
            (Whole, _) => "a whole number",
            (Reference, _) => "an id",
            (Choice(words), Some(Json::Text(word))) if words.contains(&word.as_str()) => return Ok(()),
            (Choice(words), _) => return Err(format!("its member \"{name}\" is none of {}", words.join(", "))),
            (References, Some(Json::List(items))) if items.iter().all(|item| item.as_whole().is_some()) => {
                return Ok(());
            }
            (References, _) => "a list of ids",
            (Rows(fields), Some(Json::List(rows))) => {
                return rows.iter().enumerate().try_for_each(|(at, row)| {
                    check(fields, row).map_err(|what| format!("in \"{name}\", entry {at}, {what}"))
                });
            }
            (Rows(_), _) => "a list of objects",
        };
        Err(format!("its member \"{name}\" is not {wanted}"))
    }
}
