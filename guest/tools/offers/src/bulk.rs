//! The two tools that change many records in one step: each says how many, from what to what in all, and what stands out.

use crate::bindings::exports::counterfoil::tool::tools::{Level, ToolError};
use crate::describe::{Shape, Tool, What, needs, takes};
use crate::json::Json;
use crate::kinds::{COLLECTIONS, PRODUCTS, SOURCE_CAMPAIGNS};
use crate::money::Decimal;
use crate::say::names;
use crate::sources::{changeable, enough, overspent};
use crate::text::count;
use crate::work::{Change, Record, Work};
use crate::{invalid, refused};
use std::collections::BTreeSet;

/// Most products of one call, and most source campaigns: the second are all listed in the plan.
const MAX_PRODUCTS: usize = 1_000;
const MAX_CAMPAIGNS: u64 = 50;

/// Old and new prices that a plan shows.
const EXAMPLES: usize = 5;

/// A larger step makes ad sources learn anew.
const BIG_STEP: u64 = 20;

pub const TOOLS: &[Tool] = &[
    Tool {
        name: "bulk_update_product_prices",
        title: "Change many prices",
        about: "Changes the prices of all products of a collection, or of those that are named, by one percentage, rounded to \
                cents. Give collection_id or product_ids, not both. All of them change or none.",
        level: Level::ApprovalRequired,
        takes: &[
            takes("collection_id", What::Id, "The collection whose products change."),
            takes("product_ids", What::Ids(MAX_PRODUCTS as u64), "The products that change."),
            needs("change_pct", What::Percent, "The change in percent: -15 makes them 15 % cheaper."),
        ],
        gives: &[
            ("products_updated", Shape::Whole),
            ("total_before", Shape::Money),
            ("total_after", Shape::Money),
            ("updated_at", Shape::Text),
        ],
        run: bulk_update_product_prices,
    },
    Tool {
        name: "cross_platform_scale_plan",
        title: "Scale budgets across ad sources",
        about: "Changes the daily budgets of several source campaigns, at whatever ad sources, by one percentage, rounded to \
                cents. All of them change or none. This is real money, from now on.",
        level: Level::ApprovalRequired,
        takes: &[
            needs("source_campaign_ids", What::Ids(MAX_CAMPAIGNS), "The source campaigns, 50 at most."),
            needs("change_pct", What::Percent, "The change in percent: 25 is a quarter more."),
            takes("max_total_daily_budget", What::Cash, "What they may spend a day together, at most."),
        ],
        gives: &[
            ("source_campaigns_updated", Shape::Whole),
            ("total_daily_budget_before", Shape::Money),
            ("total_daily_budget_after", Shape::Money),
            ("updated_at", Shape::Text),
        ],
        run: cross_platform_scale_plan,
    },
];

/// An amount of a record that becomes another.
struct Step {
    record: Record,
    old: Decimal,
    new: Decimal,
}

impl Step {
    fn of(record: Record, member: &str, percent: Decimal) -> Result<Self, ToolError> {
        let old = record.money(member)?;
        let new = old.changed_by(percent);
        let new = new.ok_or_else(|| refused(format!("{} would be more than an amount can be", record.named())))?;
        Ok(Self { record, old, new })
    }
}

fn total(steps: &[Step], of: impl Fn(&Step) -> Decimal) -> Decimal {
    steps.iter().map(of).fold(Decimal::ZERO, Decimal::plus)
}

/// `from $10.00 to $12.00 (+20.0%)`, and the change as JSON.
fn totals(work: &Work, old: Decimal, new: Decimal) -> (String, Json) {
    let delta = old.change_to(new);
    let percent = delta.map_or_else(String::new, |delta| format!(" ({delta})"));
    let json = delta.map_or(Json::Null, |delta| delta.json());
    (format!("from {} to {}{percent}", work.show(old), work.show(new)), json)
}

/// `+$4.00`, `-$4.00`.
fn signed(work: &Work, amount: Decimal) -> String {
    format!("{}{}", if amount < Decimal::ZERO { "" } else { "+" }, work.show(amount))
}

/// The products that a call means, and what to call them.
fn chosen(work: &mut Work) -> Result<(Vec<Record>, String, usize), ToolError> {
    let (ids, words) = match (work.id("collection_id").is_ok(), work.ids("product_ids")) {
        (true, None) => {
            let collection = work.find(&COLLECTIONS, "collection_id")?;
            (collection.ids("product_ids"), format!(" of {}", collection.named()))
        }
        (false, Some(ids)) => (ids, String::new()),
        _ => return Err(invalid("give collection_id or product_ids, and not both")),
    };
    let named = words.is_empty();
    let (mut products, mut missing) = (Vec::new(), 0);
    for id in ids.into_iter().collect::<BTreeSet<u64>>() {
        match work.look(&PRODUCTS, id) {
            Some(product) => products.push(product),
            None if named => {
                return Err(refused(format!("Product not found: there is no product #{id}; {}", PRODUCTS.look)));
            }
            None => missing += 1,
        }
    }
    if products.len() > MAX_PRODUCTS {
        return Err(refused(format!(
            "{} products are more than {MAX_PRODUCTS}: name them in parts with product_ids",
            products.len()
        )));
    }
    Ok((products, words, missing))
}

fn bulk_update_product_prices(work: &mut Work) -> Result<Change, ToolError> {
    let percent = work.money("change_pct")?;
    let (products, words, missing) = chosen(work)?;
    let steps: Result<Vec<Step>, ToolError> =
        products.into_iter().map(|product| Step::of(product, "price", percent)).collect();
    let (mut steps, same): (Vec<Step>, Vec<Step>) = steps?.into_iter().partition(|step| step.old != step.new);
    if steps.is_empty() {
        return Err(refused(match same.len() {
            0 => "no price would change: there is no product in it".to_owned(),
            many => format!("no price would change: for {} it is less than a cent", count(many as u64, "product")),
        }));
    }
    if let Some(step) = steps.iter().find(|step| !step.new.is_positive()) {
        return Err(refused(format!(
            "{} would cost nothing: leave it out or choose a smaller change",
            step.record.named()
        )));
    }
    let (before, after) = (total(&steps, |step| step.old), total(&steps, |step| step.new));
    let mut below = Vec::new();
    for step in &steps {
        if step.new < step.record.money("cost")? {
            below.push(step.record.clone());
        }
        work.set(&step.record, [("price", step.new.json())]);
    }
    let mut warnings = Vec::new();
    if !below.is_empty() {
        let many = count(below.len() as u64, "product");
        warnings.push(format!("{many} would sell below cost: {}.", names(&below)));
    }
    if !same.is_empty() {
        warnings.push(format!(
            "{} of them would keep the price: the change is less than a cent.",
            count(same.len() as u64, "product")
        ));
    }
    if missing > 0 {
        let exist = if missing == 1 { "exists" } else { "exist" };
        warnings.push(format!("{} of the collection no longer {exist}.", count(missing as u64, "product")));
    }
    if percent.abs() >= Decimal::whole(50) {
        warnings.push("This is a change of 50 % or more.".to_owned());
    }
    // The largest changes are what a person would want to see.
    steps.sort_by_key(|step| (std::cmp::Reverse(step.new.minus(step.old).abs()), step.record.id));
    let examples = steps.iter().take(EXAMPLES).map(|step| {
        Json::object([
            ("product_id", Json::whole(step.record.id)),
            ("product_name", Json::text(step.record.text("name"))),
            ("old_price", step.old.json()),
            ("new_price", step.new.json()),
        ])
    });
    let (many, (sum, delta)) = (steps.len() as u64, totals(work, before, after));
    let what = format!("prices of {}{words}", count(many, "product"));
    Ok(Change {
        summary: format!("Will change the {what} by {}: {sum} in all.", shown(percent)),
        details: Json::object([
            ("change_pct", Json::Number(plain(percent))),
            ("products", Json::whole(many)),
            ("products_unchanged", Json::whole(same.len() as u64)),
            ("total_before", before.json()),
            ("total_after", after.json()),
            ("total_change", after.minus(before).json()),
            ("total_delta_pct", delta),
            ("products_below_cost", Json::whole(below.len() as u64)),
            ("largest_changes", Json::List(examples.collect())),
        ]),
        warnings,
        message: format!("Changed the {what} by {}", shown(percent)),
        outcome: Json::object([
            ("products_updated", Json::whole(many)),
            ("total_before", before.json()),
            ("total_after", after.json()),
            ("updated_at", Json::text(work.now.clone())),
        ]),
    })
}

fn cross_platform_scale_plan(work: &mut Work) -> Result<Change, ToolError> {
    let percent = work.money("change_pct")?;
    let ids: BTreeSet<u64> = work.ids("source_campaign_ids").unwrap_or_default().into_iter().collect();
    let (mut steps, mut lines, mut warnings, mut sources) = (Vec::new(), Vec::new(), Vec::new(), BTreeSet::new());
    for id in ids {
        let campaign = work.look(&SOURCE_CAMPAIGNS, id).ok_or_else(|| {
            refused(format!("Source campaign not found: there is no source campaign #{id}; {}", SOURCE_CAMPAIGNS.look))
        })?;
        let (campaign, source) = changeable(work, campaign)?;
        let step = Step::of(campaign, "daily_budget", percent)?;
        enough(work, &step.record, &source, step.new)?;
        let (bid, campaign) = (step.record.money("bid")?, &step.record);
        if bid > step.new {
            let (bid, new) = (work.show(bid), work.show(step.new));
            return Err(refused(format!(
                "{} bids {bid} for one click, more than a whole day's budget of {new}",
                campaign.named()
            )));
        }
        if let Some(text) = overspent(work, campaign, step.new)? {
            warnings.push(format!("Source campaign #{id}: {text}"));
        }
        if campaign.is("status", "paused") {
            warnings.push(format!("Source campaign #{id} is paused: this counts from when it is resumed."));
        }
        sources.insert(source.text("name").to_owned());
        lines.push(Json::object([
            ("source_campaign_id", Json::whole(id)),
            ("source_campaign_name", Json::text(campaign.text("name"))),
            ("ad_source", Json::text(source.text("name"))),
            ("status", Json::text(campaign.text("status"))),
            ("current_daily_budget", step.old.json()),
            ("new_daily_budget", step.new.json()),
        ]));
        steps.push(step);
    }
    let (before, after) = (total(&steps, |step| step.old), total(&steps, |step| step.new));
    if before == after {
        return Err(refused("no budget would change: the change is less than a cent"));
    }
    if let Some(most) = work.amount("max_total_daily_budget").filter(|most| after > *most) {
        let (after, most) = (work.show(after), work.show(most));
        return Err(refused(format!(
            "together they would spend up to {after} a day, more than max_total_daily_budget, {most}"
        )));
    }
    if percent > Decimal::whole(BIG_STEP) {
        warnings.push(format!(
            "A step of more than {BIG_STEP} % makes most ad sources learn anew: results may fall for some days."
        ));
    }
    for step in &steps {
        work.set(&step.record, [("daily_budget", step.new.json())]);
    }
    let (many, (sum, delta)) = (steps.len() as u64, totals(work, before, after));
    let change = after.minus(before);
    let what =
        format!("daily budgets of {} at {}", count(many, "source campaign"), count(sources.len() as u64, "ad source"));
    Ok(Change {
        summary: format!(
            "Will change the {what} by {}: {sum} a day in all, {} a day.",
            shown(percent),
            signed(work, change)
        ),
        details: Json::object([
            ("change_pct", Json::Number(plain(percent))),
            ("source_campaigns", Json::whole(many)),
            ("ad_sources", Json::List(sources.into_iter().map(Json::Text).collect())),
            ("total_daily_budget_before", before.json()),
            ("total_daily_budget_after", after.json()),
            ("total_daily_change", change.json()),
            ("total_delta_pct", delta),
            ("changes", Json::List(lines)),
        ]),
        warnings,
        message: format!("Changed the {what} by {}", shown(percent)),
        outcome: Json::object([
            ("source_campaigns_updated", Json::whole(many)),
            ("total_daily_budget_before", before.json()),
            ("total_daily_budget_after", after.json()),
            ("updated_at", Json::text(work.now.clone())),
        ]),
    })
}

/// `25`, `-12.5`.
fn plain(percent: Decimal) -> String {
    let text = percent.short();
    if text.contains('.') { text.trim_end_matches('0').to_owned() } else { text }
}

/// `+25%`, `-12.5%`.
fn shown(percent: Decimal) -> String {
    format!("{}{}%", if percent < Decimal::ZERO { "" } else { "+" }, plain(percent))
}
