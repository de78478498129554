//! Campaigns, their landings and cloaking workflows.

use crate::bindings::exports::counterfoil::tool::tools::{Level, ToolError};
use crate::describe::{DELETED, Shape, Tool, What, needs, takes};
use crate::json::Json;
use crate::kinds::{CAMPAIGNS, CLOAKING_WORKFLOWS, COST_MODELS, LANDINGS, OFFERS, SOURCE_CAMPAIGNS};
use crate::money::Decimal;
use crate::refused;
use crate::say::{Amount, deletion, ids, names};
use crate::text::{count, quote};
use crate::work::{Change, Record, Work};

const CAMPAIGN: &[(&str, Shape)] =
    &[("campaign", Shape::Object(&[("id", Shape::Whole), ("name", Shape::Text), ("status", Shape::Text)]))];
const ID: What = What::Id;

pub const TOOLS: &[Tool] = &[
    Tool {
        name: "pause_campaign",
        title: "Pause a campaign",
        about: "Stops an active campaign from taking traffic. resume_campaign undoes it.",
        level: Level::Caution,
        takes: &[needs("id", ID, "The campaign's id.")],
        gives: CAMPAIGN,
        run: |work| switch(work, "active", "paused", "Will pause", "Paused"),
    },
    Tool {
        name: "resume_campaign",
        title: "Resume a campaign",
        about: "Lets a paused campaign take traffic again; its offer has to be active. pause_campaign undoes it.",
        level: Level::Caution,
        takes: &[needs("id", ID, "The campaign's id.")],
        gives: CAMPAIGN,
        run: |work| switch(work, "paused", "active", "Will resume", "Resumed"),
    },
    Tool {
        name: "create_campaign",
        title: "Create a campaign",
        about: "Creates a campaign for an offer, paused and without flows. resume_campaign starts it.",
        level: Level::Caution,
        takes: &[
            needs("name", What::Line(120), "Its name, which no other campaign has."),
            needs("offer_id", ID, "The offer that it sends traffic to."),
            takes("cost_model", What::Choice(COST_MODELS), "How its traffic is paid for. Without it: cpc."),
            takes("cost", What::Money, "What a unit of that costs: 0.12 or \"0.12\". Without it: 0."),
        ],
        gives: CAMPAIGN,
        run: create_campaign,
    },
    Tool {
        name: "create_landing",
        title: "Create a landing",
        about: "Registers a landing page, for a campaign or for none. bind_landing_to_email_list lets it collect subscribers.",
        level: Level::Caution,
        takes: &[
            needs("name", What::Line(120), "Its name, which no other landing has."),
            needs("url", What::Url, "Where it is: https://…"),
            takes("campaign_id", ID, "The campaign that it belongs to."),
        ],
        gives: &[("landing", Shape::Object(&[("id", Shape::Whole), ("name", Shape::Text), ("url", Shape::Text)]))],
        run: create_landing,
    },
    Tool {
        name: "update_campaign_cost",
        title: "Change a campaign's cost",
        about: "Changes the cost that a campaign's traffic is counted at. Every margin and report is computed from it.",
        level: Level::ApprovalRequired,
        takes: &[
            needs("campaign_id", ID, "The campaign's id."),
            needs("new_cost", What::Money, "The new cost of one unit of its cost model: 0.15 or \"0.15\"."),
        ],
        gives: &[(
            "campaign",
            Shape::Object(&[
                ("id", Shape::Whole),
                ("name", Shape::Text),
                ("cost", Shape::Money),
                ("updated_at", Shape::Text),
            ]),
        )],
        run: update_campaign_cost,
    },
    Tool {
        name: "delete_campaign",
        title: "Delete a campaign",
        about: "Deletes a campaign for good, with its flows and lifetime figures. Its landings stay, without a campaign. \
                pause_campaign stops it and keeps everything.",
        level: Level::ApprovalRequired,
        takes: &[needs("id", ID, "The campaign's id.")],
        gives: DELETED,
        run: delete_campaign,
    },
    Tool {
        name: "delete_cloaking_workflow",
        title: "Delete a cloaking workflow",
        about: "Deletes a cloaking workflow for good. Refused while an active campaign uses it; paused ones lose it.",
        level: Level::ApprovalRequired,
        takes: &[needs("id", ID, "The workflow's id.")],
        gives: DELETED,
        run: delete_cloaking_workflow,
    },
];

fn switch(work: &mut Work, from: &str, to: &str, will: &str, did: &str) -> Result<Change, ToolError> {
    let campaign = work.find(&CAMPAIGNS, "id")?;
    if !campaign.is("status", from) {
        return Err(refused(format!("{} is not {from}; it is {}", campaign.named(), campaign.text("status"))));
    }
    if to == "active" {
        startable(work, &campaign)?;
    }
    work.set(&campaign, [("status", Json::text(to))]);
    let flows = count(campaign.with_status("flows", "active"), "active flow");
    Ok(Change {
        summary: format!("{will} {} with {flows}.", campaign.named()),
        details: Json::object([
            ("campaign_id", Json::whole(campaign.id)),
            ("campaign_name", Json::text(campaign.text("name"))),
            ("current_status", Json::text(from)),
            ("new_status", Json::text(to)),
        ]),
        warnings: Vec::new(),
        message: format!("{did} {}", campaign.named()),
        outcome: campaign_now(&campaign, to),
    })
}

/// A campaign takes traffic only for an offer that pays.
fn startable(work: &mut Work, campaign: &Record) -> Result<(), ToolError> {
    let id = campaign.whole("offer_id");
    match work.look(&OFFERS, id) {
        Some(offer) if offer.is("status", "active") => Ok(()),
        Some(offer) => {
            Err(refused(format!("{} leads to {}, which is {}", campaign.named(), offer.named(), offer.text("status"))))
        }
        None => Err(refused(format!("{} leads to offer #{id}, which does not exist", campaign.named()))),
    }
}

fn campaign_now(campaign: &Record, status: &str) -> Json {
    Json::object([(
        "campaign",
        Json::object([
            ("id", Json::whole(campaign.id)),
            ("name", Json::text(campaign.text("name"))),
            ("status", Json::text(status)),
        ]),
    )])
}

fn create_campaign(work: &mut Work) -> Result<Change, ToolError> {
    let (name, offer) = (work.text("name")?, work.find(&OFFERS, "offer_id")?);
    work.free(&CAMPAIGNS, &name)?;
    let model = work.given("cost_model").unwrap_or("cpc").to_owned();
    let cost = work.amount("cost").unwrap_or(Decimal::ZERO);
    let words = format!("campaign {} for {}, paused, at {} ({model})", quote(&name), offer.named(), work.show(cost));
    let details = Json::object([
        ("name", Json::text(name.clone())),
        ("offer_id", Json::whole(offer.id)),
        ("cost_model", Json::text(model.clone())),
        ("cost", cost.json()),
    ]);
    let campaign = work.add(
        &CAMPAIGNS,
        [
            ("name", Json::text(name)),
            ("status", Json::text("paused")),
            ("offer_id", Json::whole(offer.id)),
            ("cost_model", Json::text(model)),
            ("cost", cost.json()),
            ("flows", Json::List(Vec::new())),
            ("lifetime_clicks", Json::whole(0u8)),
            ("lifetime_revenue", Decimal::ZERO.json()),
        ],
    )?;
    Ok(Change {
        summary: format!("Will create {words}."),
        details,
        warnings: Vec::new(),
        message: format!("Created {}", campaign.named()),
        outcome: campaign_now(&campaign, "paused"),
    })
}

fn create_landing(work: &mut Work) -> Result<Change, ToolError> {
    let (name, url) = (work.text("name")?, work.text("url")?);
    work.free(&LANDINGS, &name)?;
    let campaign = if work.id("campaign_id").is_ok() { Some(work.find(&CAMPAIGNS, "campaign_id")?) } else { None };
    let place = campaign.as_ref().map_or_else(|| "no campaign".to_owned(), Record::named);
    let id = campaign.map_or(Json::Null, |campaign| Json::whole(campaign.id));
    let summary = format!("Will create landing {} at {url} for {place}.", quote(&name));
    let members =
        [("name", Json::text(name)), ("url", Json::text(url)), ("campaign_id", id), ("email_list_id", Json::Null)];
    let details = Json::object(members.clone());
    let landing = work.add(&LANDINGS, members)?;
    Ok(Change {
        summary,
        details,
        warnings: Vec::new(),
        message: format!("Created {}", landing.named()),
        outcome: Json::object([("landing", landing.json)]),
    })
}

fn update_campaign_cost(work: &mut Work) -> Result<Change, ToolError> {
    let campaign = work.find(&CAMPAIGNS, "campaign_id")?;
    let Amount { old, new, words, delta, warnings } =
        Amount::of(work, "cost", campaign.money("cost")?, work.money("new_cost")?)?;
    work.set(&campaign, [("cost", new.json())]);
    let model = campaign.text("cost_model");
    Ok(Change {
        summary: format!("Will update cost ({model}) of {} {words}.", campaign.named()),
        details: Json::object([
            ("campaign_id", Json::whole(campaign.id)),
            ("campaign_name", Json::text(campaign.text("name"))),
            ("cost_model", Json::text(model)),
            ("current_cost", old.json()),
            ("new_cost", new.json()),
            ("delta_pct", delta),
            ("lifetime_clicks", Json::whole(campaign.whole("lifetime_clicks"))),
        ]),
        warnings,
        message: "Campaign cost updated successfully".to_owned(),
        outcome: Json::object([(
            "campaign",
            Json::object([
                ("id", Json::whole(campaign.id)),
                ("name", Json::text(campaign.text("name"))),
                ("cost", new.json()),
                ("updated_at", Json::text(work.now.clone())),
            ]),
        )]),
    })
}

fn delete_campaign(work: &mut Work) -> Result<Change, ToolError> {
    let campaign = work.find(&CAMPAIGNS, "id")?;
    let of_it = |record: &Record| record.refers("campaign_id") == Some(campaign.id);
    let landings = work.those(&LANDINGS, of_it);
    let sources = work.those(&SOURCE_CAMPAIGNS, |source| of_it(source) && source.is("status", "active"));
    let (flows, clicks) = (campaign.with_status("flows", "active"), campaign.whole("lifetime_clicks"));
    let revenue = campaign.money("lifetime_revenue")?;
    let mut warnings = Vec::new();
    if campaign.is("status", "active") {
        warnings.push("The campaign is active: it takes traffic until it is deleted.".to_owned());
    }
    if !sources.is_empty() {
        let one = if sources.len() == 1 { "goes" } else { "go" };
        let (many, which) = (count(sources.len() as u64, "active source campaign"), names(&sources));
        warnings.push(format!("{many} {one} on paying for traffic to it ({which}): pause_source_campaign stops that."));
    }
    for landing in &landings {
        work.set(landing, [("campaign_id", Json::Null)]);
    }
    work.remove(&campaign);
    let facts = [
        count(flows, "active flow"),
        count(clicks, "lifetime click"),
        format!("{}{} lifetime revenue", work.data.currency(), revenue.short()),
    ];
    let details = [
        ("campaign_id", Json::whole(campaign.id)),
        ("campaign_name", Json::text(campaign.text("name"))),
        ("status", Json::text(campaign.text("status"))),
        ("active_flows", Json::whole(flows)),
        ("lifetime_clicks", Json::whole(clicks)),
        ("lifetime_revenue", revenue.json()),
        ("landings_unbound", ids(&landings)),
        ("active_source_campaigns", Json::whole(sources.len() as u64)),
    ];
    Ok(deletion(work, &campaign, &facts, details, warnings))
}

fn delete_cloaking_workflow(work: &mut Work) -> Result<Change, ToolError> {
    let workflow = work.find(&CLOAKING_WORKFLOWS, "id")?;
    let users = work.those(&CAMPAIGNS, |campaign| campaign.refers("cloaking_workflow_id") == Some(workflow.id));
    let (active, others): (Vec<Record>, Vec<Record>) =
        users.into_iter().partition(|campaign| campaign.is("status", "active"));
    if !active.is_empty() {
        let many = count(active.len() as u64, "active campaign");
        return Err(refused(format!(
            "{} is in use by {many} ({}): pause those first",
            workflow.named(),
            names(&active)
        )));
    }
    for campaign in &others {
        work.set(campaign, [("cloaking_workflow_id", Json::Null)]);
    }
    work.remove(&workflow);
    let many = count(others.len() as u64, "campaign");
    let warnings = match others.len() {
        0 => Vec::new(),
        _ => vec![format!(
            "{many} that {} not active will be without it: {}.",
            if others.len() == 1 { "is" } else { "are" },
            names(&others)
        )],
    };
    let details = [
        ("cloaking_workflow_id", Json::whole(workflow.id)),
        ("cloaking_workflow_name", Json::text(workflow.text("name"))),
        ("campaigns_without_it", ids(&others)),
    ];
    Ok(deletion(work, &workflow, &[format!("used by {many}")], details, warnings))
}
