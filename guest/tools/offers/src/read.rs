//! The tools that only read: one record whole, or a page of a list.

use crate::bindings::exports::counterfoil::tool::tools::{Level, ToolError};
use crate::data::id;
use crate::describe::{Shape, Tool, What, needs, takes};
use crate::json::Json;
use crate::kinds::{CAMPAIGN_STATUS, CAMPAIGNS, Kind, OFFER_STATUS, OFFERS};
use crate::text::count;
use crate::work::{Change, Work};

/// Records of one page.
const PAGE: usize = 50;

const AFTER: &str = "Only those with a greater id: for the next page, the last id of this one.";
const NAMED: &str = "Only those whose name has this in it, whatever its capitals.";

pub const TOOLS: &[Tool] = &[
    Tool {
        name: "get_offer",
        title: "Look at an offer",
        about: "Returns one offer whole, with the number of active campaigns that use it. Look here before changing a payout.",
        level: Level::Safe,
        takes: &[needs("id", What::Id, "The offer's id.")],
        gives: &[("offer", Shape::Record), ("active_campaigns_using_this_offer", Shape::Whole)],
        run: get_offer,
    },
    Tool {
        name: "list_offers",
        title: "List offers",
        about: "Lists offers by id, 50 at a time, with id, name, status and payout. `more` says whether others come after them.",
        level: Level::Safe,
        takes: &[
            takes("status", What::Choice(OFFER_STATUS), "Only those of this status."),
            takes("name", What::Line(200), NAMED),
            takes("after", What::Id, AFTER),
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
        about: "Lists campaigns by id, 50 at a time, with id, name, status, offer and cost. `more` says whether others come after them.",
        level: Level::Safe,
        takes: &[
            takes("status", What::Choice(CAMPAIGN_STATUS), "Only those of this status."),
            takes("name", What::Line(200), NAMED),
            takes("after", What::Id, AFTER),
        ],
        gives: &[("campaigns", Shape::Records), ("more", Shape::Flag)],
        run: |work| list(work, &CAMPAIGNS, &["id", "name", "status", "offer_id", "cost_model", "cost"]),
    },
];

/// How many active campaigns use an offer.
pub fn active_campaigns(work: &Work, offer: u64) -> u64 {
    let using = work
        .those(&CAMPAIGNS, |campaign| campaign.refers("offer_id") == Some(offer) && campaign.is("status", "active"));
    using.len() as u64
}

fn get_offer(work: &mut Work) -> Result<Change, ToolError> {
    let offer = work.find(&OFFERS, "id")?;
    let active = active_campaigns(work, offer.id);
    let sentence = format!(
        "Offer #{} {} pays {} and is used by {}",
        offer.id,
        offer.name(),
        work.show(offer.money("payout")?),
        count(active, "active campaign")
    );
    let outcome = [("offer", offer.json.clone()), ("active_campaigns_using_this_offer", Json::whole(active))];
    Ok(Change::reading(sentence, Json::object([("offer_id", Json::whole(offer.id))]), Json::object(outcome)))
}

fn get_campaign(work: &mut Work) -> Result<Change, ToolError> {
    let campaign = work.find(&CAMPAIGNS, "id")?;
    let sentence = format!("Campaign #{} {} is {}", campaign.id, campaign.name(), campaign.text("status"));
    let details = Json::object([("campaign_id", Json::whole(campaign.id))]);
    Ok(Change::reading(sentence, details, Json::object([("campaign", campaign.json)])))
}

fn list(work: &mut Work, kind: &'static Kind, shown: &[&str]) -> Result<Change, ToolError> {
    let (status, after) = (work.given("status"), work.id("after").unwrap_or(0));
    let name = work.given("name").map(str::to_lowercase);
    let mut found = work.those(kind, |record| {
        record.id > after
            && status.is_none_or(|status| record.is("status", status))
            && name.as_ref().is_none_or(|name| record.text("name").to_lowercase().contains(name))
    });
    found.sort_by_key(|record| id(&record.json));
    let more = found.len() > PAGE;
    found.truncate(PAGE);
    let sentence =
        format!("{}{}", count(found.len() as u64, kind.one), if more { ", and more come after them" } else { "" });
    let records = found.iter().map(|record| record.brief(shown)).collect();
    let outcome = Json::object([(kind.collection, Json::List(records)), ("more", Json::Bool(more))]);
    Ok(Change::reading(sentence, Json::object([("shown", Json::whole(found.len() as u64))]), outcome))
}
