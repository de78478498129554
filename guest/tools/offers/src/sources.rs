//! Campaigns at ad sources: their budgets and bids are money that is spent while nobody looks.

use crate::bindings::exports::counterfoil::tool::tools::{Level, ToolError};
use crate::data::damaged;
use crate::describe::{Shape, Tool, What, needs};
use crate::json::Json;
use crate::kinds::{AD_SOURCES, CAMPAIGNS, SOURCE_CAMPAIGNS};
use crate::money::Decimal;
use crate::refused;
use crate::say::Amount;
use crate::work::{Change, Record, Work};

/// What is told of a source campaign after a change.
pub const SOURCE_CAMPAIGN: &[(&str, Shape)] = &[
    ("id", Shape::Whole),
    ("name", Shape::Text),
    ("status", Shape::Text),
    ("daily_budget", Shape::Money),
    ("bid", Shape::Money),
    ("updated_at", Shape::Text),
];
const GIVES: &[(&str, Shape)] = &[("source_campaign", Shape::Object(SOURCE_CAMPAIGN))];
const ID: &str = "The source campaign's id.";

pub const TOOLS: &[Tool] = &[
    Tool {
        name: "update_source_campaign_budget",
        title: "Change a daily budget",
        about: "Changes what a campaign may spend a day at its ad source. This is real money, from now on.",
        level: Level::ApprovalRequired,
        takes: &[
            needs("source_campaign_id", What::Id, ID),
            needs("new_daily_budget", What::Cash, "The new daily budget: 80 or \"80.00\"."),
        ],
        gives: GIVES,
        run: |work| reprice(work, &BUDGET),
    },
    Tool {
        name: "update_source_campaign_bid",
        title: "Change a bid",
        about: "Changes what a campaign bids for one click at its ad source. This is real money, from now on.",
        level: Level::ApprovalRequired,
        takes: &[
            needs("source_campaign_id", What::Id, ID),
            needs("new_bid", What::Price, "The new bid: 0.35 or \"0.35\"."),
        ],
        gives: GIVES,
        run: |work| reprice(work, &BID),
    },
    Tool {
        name: "pause_source_campaign",
        title: "Pause delivery at an ad source",
        about: "Stops an active campaign at its ad source: delivery ends at once, and what the source has learned may be lost.",
        level: Level::ApprovalRequired,
        takes: &[needs("id", What::Id, ID)],
        gives: GIVES,
        run: |work| switch(work, "active", "paused"),
    },
    Tool {
        name: "resume_source_campaign",
        title: "Resume delivery at an ad source",
        about: "Starts a paused campaign at its ad source again: it delivers and spends at once.",
        level: Level::ApprovalRequired,
        takes: &[needs("id", What::Id, ID)],
        gives: GIVES,
        run: |work| switch(work, "paused", "active"),
    },
];

/// One of the two amounts of a source campaign.
struct Price {
    member: &'static str,
    words: &'static str,
    argument: &'static str,
    current: &'static str,
    least: &'static str,
}

const BUDGET: Price = Price {
    member: "daily_budget",
    words: "daily budget",
    argument: "new_daily_budget",
    current: "current_daily_budget",
    least: "min_daily_budget",
};
const BID: Price = Price { member: "bid", words: "bid", argument: "new_bid", current: "current_bid", least: "min_bid" };

/// A source campaign that can be changed, and its ad source.
pub fn changeable(work: &mut Work, campaign: Record) -> Result<(Record, Record), ToolError> {
    let id = campaign.whole("ad_source_id");
    let source = work.look(&AD_SOURCES, id);
    let source =
        source.ok_or_else(|| damaged(&format!("{} is at ad source #{id}, which does not exist", campaign.named())))?;
    if !source.is("status", "connected") {
        return Err(refused(format!(
            "{} is {}: the operator connects it again",
            source.named(),
            source.text("status")
        )));
    }
    if campaign.is("status", "ended") {
        return Err(refused(format!(
            "{} has ended at {}; nothing about it can be changed",
            campaign.named(),
            source.name()
        )));
    }
    Ok((campaign, source))
}

/// Refuses a budget below what the source takes.
pub fn enough(work: &Work, campaign: &Record, source: &Record, new: Decimal) -> Result<(), ToolError> {
    at_least(work, campaign, source, &BUDGET, new)
}

fn at_least(work: &Work, campaign: &Record, source: &Record, price: &Price, new: Decimal) -> Result<(), ToolError> {
    let least = source.money(price.least)?;
    if new >= least {
        return Ok(());
    }
    let (what, new, least) = (price.words, work.show(new), work.show(least));
    Err(refused(format!(
        "{} takes no {what} below {least}, and {new} is what {} would have",
        source.name(),
        campaign.named()
    )))
}

/// A campaign that has spent more than its budget.
pub fn overspent(work: &Work, campaign: &Record, budget: Decimal) -> Result<Option<String>, ToolError> {
    let spent = campaign.money("spent_today")?;
    Ok((spent > budget).then(|| format!("It has spent {} today already: it stops until tomorrow.", work.show(spent))))
}

fn reprice(work: &mut Work, price: &Price) -> Result<Change, ToolError> {
    let found = work.find(&SOURCE_CAMPAIGNS, "source_campaign_id")?;
    let (campaign, source) = changeable(work, found)?;
    let Amount { old, new, words, delta, mut warnings } =
        Amount::of(work, price.words, campaign.money(price.member)?, work.money(price.argument)?)?;
    at_least(work, &campaign, &source, price, new)?;
    let budget = if price.member == BUDGET.member { new } else { campaign.money(BUDGET.member)? };
    let bid = if price.member == BID.member { new } else { campaign.money(BID.member)? };
    if bid > budget {
        let (bid, budget) = (work.show(bid), work.show(budget));
        return Err(refused(format!("a bid of {bid} is more than a whole day's budget of {budget}")));
    }
    if price.member == BUDGET.member {
        warnings.extend(overspent(work, &campaign, new)?);
    }
    if campaign.is("status", "paused") {
        warnings.push("It is paused: this counts from when it is resumed.".to_owned());
    }
    work.set(&campaign, [(price.member, new.json())]);
    Ok(Change {
        summary: format!("Will update {} of {} at {} {words}.", price.words, campaign.named(), source.name()),
        details: Json::object([
            ("source_campaign_id", Json::whole(campaign.id)),
            ("source_campaign_name", Json::text(campaign.text("name"))),
            ("ad_source", Json::text(source.text("name"))),
            ("status", Json::text(campaign.text("status"))),
            (price.current, old.json()),
            (price.argument, new.json()),
            ("delta_pct", delta),
            ("spent_today", campaign.money("spent_today")?.json()),
        ]),
        warnings,
        message: format!("Updated {} of {}", price.words, campaign.named()),
        outcome: now(work, &campaign),
    })
}

fn switch(work: &mut Work, from: &str, to: &str) -> Result<Change, ToolError> {
    let found = work.find(&SOURCE_CAMPAIGNS, "id")?;
    let (campaign, source) = changeable(work, found)?;
    if !campaign.is("status", from) {
        return Err(refused(format!("{} is not {from}; it is {}", campaign.named(), campaign.text("status"))));
    }
    let (budget, spent) = (campaign.money("daily_budget")?, campaign.money("spent_today")?);
    let (shown, at) = (work.show(budget), format!("{} at {}", campaign.named(), source.name()));
    let mut warnings = Vec::new();
    let (summary, message) = if to == "paused" {
        let spent = work.show(spent);
        (
            format!("Will pause {at}: delivery ends at once; it has spent {spent} of {shown} today."),
            format!("Paused {}", campaign.named()),
        )
    } else {
        warnings.extend(overspent(work, &campaign, budget)?);
        warnings.extend(leads_nowhere(work, &campaign));
        (
            format!("Will resume {at}: it delivers at once and may spend {shown} a day."),
            format!("Resumed {}", campaign.named()),
        )
    };
    work.set(&campaign, [("status", Json::text(to))]);
    Ok(Change {
        summary,
        details: Json::object([
            ("source_campaign_id", Json::whole(campaign.id)),
            ("source_campaign_name", Json::text(campaign.text("name"))),
            ("ad_source", Json::text(source.text("name"))),
            ("current_status", Json::text(from)),
            ("new_status", Json::text(to)),
            ("daily_budget", budget.json()),
            ("spent_today", spent.json()),
        ]),
        warnings,
        message,
        outcome: now(work, &campaign),
    })
}

/// Traffic that would be paid for and lost.
fn leads_nowhere(work: &mut Work, campaign: &Record) -> Option<String> {
    let id = campaign.refers("campaign_id")?;
    match work.look(&CAMPAIGNS, id) {
        Some(target) if target.is("status", "active") => None,
        Some(target) => Some(format!("It sends traffic to {}, which is {}.", target.named(), target.text("status"))),
        None => Some(format!("It sends traffic to campaign #{id}, which does not exist.")),
    }
}

/// The source campaign as it is in the data now.
fn now(work: &Work, campaign: &Record) -> Json {
    let now = work.those(&SOURCE_CAMPAIGNS, |record| record.id == campaign.id);
    let members: Vec<&str> = SOURCE_CAMPAIGN.iter().map(|(name, _)| *name).collect();
    Json::object([("source_campaign", now.first().map_or(Json::Null, |record| record.brief(&members)))])
}
