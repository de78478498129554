//! Offers: what a conversion pays.

use crate::bindings::exports::counterfoil::tool::tools::{Level, ToolError};
use crate::describe::{Shape, Tool, What, needs};
use crate::json::Json;
use crate::kinds::OFFERS;
use crate::read::active_campaigns;
use crate::say::Amount;
use crate::work::{Change, Work};

pub const TOOLS: &[Tool] = &[Tool {
    name: "update_offer_payout",
    title: "Change an offer's payout",
    about: "Changes what one conversion of an offer pays, for every campaign that uses it, from the next conversion on.",
    level: Level::ApprovalRequired,
    takes: &[
        needs("offer_id", What::Id, "The offer's id."),
        needs("new_payout", What::Money, "The new payout, in the currency of the data: 6.20 or \"6.20\"."),
    ],
    gives: &[(
        "offer",
        Shape::Object(&[
            ("id", Shape::Whole),
            ("name", Shape::Text),
            ("payout", Shape::Money),
            ("updated_at", Shape::Text),
        ]),
    )],
    run: update_offer_payout,
}];

fn update_offer_payout(work: &mut Work) -> Result<Change, ToolError> {
    let offer = work.find(&OFFERS, "offer_id")?;
    let Amount { old, new, words, delta, warnings } =
        Amount::of(work, "payout", offer.money("payout")?, work.money("new_payout")?)?;
    work.set(&offer, [("payout", new.json())]);
    Ok(Change {
        summary: format!("Will update payout of {} {words}.", offer.named()),
        details: Json::object([
            ("offer_id", Json::whole(offer.id)),
            ("offer_name", Json::text(offer.text("name"))),
            ("current_payout", old.json()),
            ("new_payout", new.json()),
            ("delta_pct", delta),
            ("active_campaigns_using_this_offer", Json::whole(active_campaigns(work, offer.id))),
        ]),
        warnings,
        message: "Offer payout updated successfully".to_owned(),
        outcome: Json::object([(
            "offer",
            Json::object([
                ("id", Json::whole(offer.id)),
                ("name", Json::text(offer.text("name"))),
                ("payout", new.json()),
                ("updated_at", Json::text(work.now.clone())),
            ]),
        )]),
    })
}
