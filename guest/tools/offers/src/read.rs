//! The tools that only read: one record whole, or a page of a list.

use crate::bindings::exports::counterfoil::tool::tools::{Level, ToolError};
use crate::data::{CAMPAIGNS, Kind, OFFERS};
use crate::describe::{Shape, Tool, What, needs, takes};
use crate::json::Json;
use crate::text::{count, quote};
use crate::work::{Change, Work};

/// Records of one page.
const PAGE: usize = 50;

const PAGING: &str = "Only those with a greater id: the last id of the page before, for the next page.";

pub const TOOLS: &[Tool] = &[
    Tool {
        name: "get_offer",
        title: "Look at an offer",
        about: "Returns one offer whole, with the number of active campaigns that use it.",
        level: Level::Safe,
        takes: &[needs("id", What::Id, "The offer's id.")],
        gives: &[("offer", Shape::Record), ("active_campaigns_using_this_offer", Shape::Whole)],
        run: get_offer,
    },
    Tool {
        name: "list_offers",
        title: "List offers",
        about: "Lists offers by id, 50 at a time, with id, name, status and payout. `more` says whether there are others behind them.",
        level: Level::Safe,
        takes: &[
            takes("status", What::Choice(&["active", "paused"]), "Only those of this status."),
            takes("after", What::Id, PAGING),
        ],
        gives: &[("offers", Shape::Records), ("more", Shape::Flag)],
        run: |work| list(work, &OFFERS, &["id", "name", "status", "payout"]),
    },
    Tool {
        name: "get_campaign",
        title: "Look at a campaign",
        about: "Returns one campaign whole, with its flows and lifetime figures.",
        level: Level::Safe,
        takes: &[needs("id", What::Id, "The campaign's id.")],
        gives: &[("campaign", Shape::Record)],
        run: get_campaign,
    },
    Tool {
        name: "list_campaigns",
        title: "List campaigns",
        about: "Lists campaigns by id, 50 at a time, with id, name, status and offer. `more` says whether there are others behind them.",
        level: Level::Safe,
        takes: &[
            takes("status", What::Choice(&["active", "paused", "archived"]), "Only those of this status."),
            takes("after", What::Id, PAGING),
        ],
        gives: &[("campaigns", Shape::Records), ("more", Shape::Flag)],
        run: |work| list(work, &CAMPAIGNS, &["id", "name", "status", "offer_id"]),
    },
];

fn name(record: &Json) -> String {
    quote(record.get("name").and_then(Json::as_text).unwrap_or_default())
}

fn get_offer(work: &mut Work) -> Result<Change, ToolError> {
    let (offer, id) = (work.find(&OFFERS, "id")?, work.whole("id")?);
    let active = work.data.records(&CAMPAIGNS).iter().filter(|campaign| {
        campaign.get("offer_id").and_then(Json::as_whole) == Some(id)
            && campaign.get("status").and_then(Json::as_text) == Some("active")
    });
    let outcome = Json::object([
        ("offer", offer.clone()),
        ("active_campaigns_using_this_offer", Json::whole(active.count() as u64)),
    ]);
    Ok(Change::reading(format!("Offer #{id} {}.", name(offer)), outcome, Json::object([("offer_id", Json::whole(id))])))
}

fn get_campaign(work: &mut Work) -> Result<Change, ToolError> {
    let (campaign, id) = (work.find(&CAMPAIGNS, "id")?, work.whole("id")?);
    let outcome = Json::object([("campaign", campaign.clone())]);
    let details = Json::object([("campaign_id", Json::whole(id))]);
    Ok(Change::reading(format!("Campaign #{id} {}.", name(campaign)), outcome, details))
}

fn list(work: &mut Work, kind: &Kind, shown: &[&str]) -> Result<Change, ToolError> {
    let (status, after) = (work.text("status"), work.whole("after").unwrap_or(0));
    let id = |record: &Json| record.get("id").and_then(Json::as_whole).unwrap_or(0);
    let mut found: Vec<&Json> = work
        .data
        .records(kind)
        .iter()
        .filter(|record| id(record) > after)
        .filter(|record| status.is_none_or(|status| record.get("status").and_then(Json::as_text) == Some(status)))
        .collect();
    found.sort_by_key(|record| id(record));
    let more = found.len() > PAGE;
    found.truncate(PAGE);
    let brief = |record: &&Json| {
        let members = shown.iter().filter_map(|name| Some(((*name).to_owned(), record.get(name)?.clone())));
        Json::Object(members.collect())
    };
    let sentence = format!("{}{}.", count(found.len(), kind.one), if more { ", and more behind them" } else { "" });
    let outcome =
        Json::object([(kind.collection, Json::List(found.iter().map(brief).collect())), ("more", Json::Bool(more))]);
    Ok(Change::reading(sentence, outcome, Json::object([("shown", Json::whole(found.len() as u64))])))
}
