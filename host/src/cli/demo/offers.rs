//! Offers: a payout that is changed once, as it was shown, and a campaign that is deleted once.

use super::Stage;
use super::call;
use crate::cli::shipped::OFFERS;
use crate::{Host, Status};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// Where the plug-in keeps its data.
const FILE: &str = "offers.json";

pub(super) fn prepare(directory: &Path) -> std::io::Result<()> {
    fs::write(directory.join(FILE), OFFERS)
}

const PAYOUT: &str = r#"{"offer_id":12,"new_payout":6.20}"#;

pub(super) async fn play(host: &Host, stage: &mut Stage) -> anyhow::Result<()> {
    stage.say("The plug-in \"offers\" keeps offers, campaigns, lists, products and orders in one file:")?;
    stage.show_disk()?;
    let token = preview(host, stage).await?;
    refusals(host, stage, &token).await?;
    let delivered = confirm(host, stage, &token).await?;
    lost_reply(host, stage, &token, &delivered).await?;
    deletion(host, stage).await?;
    refused(host, stage).await
}

/// A record of the data on disk.
fn record(stage: &Stage, kind: &str, id: u64) -> anyhow::Result<Value> {
    let data: Value = serde_json::from_str(&stage.read(FILE)?)?;
    let records = data.get(kind).and_then(Value::as_array).into_iter().flatten();
    Ok(records.into_iter().find(|record| record.get("id") == Some(&json!(id))).cloned().unwrap_or_default())
}

fn pays(stage: &Stage, payout: &str) -> anyhow::Result<bool> {
    Ok(record(stage, "offers", 12)?.get("payout") == Some(&json!(payout)))
}

async fn preview(host: &Host, stage: &mut Stage) -> anyhow::Result<String> {
    stage.chapter("The preview says what the change amounts to")?;
    let answer = call(host, stage, "agent", "update_offer_payout", PAYOUT, None).await?;
    let summary = "Will update payout of offer #12 'Sweepstakes FR Gold' from $4.50 to $6.20 (+37.8%).";
    stage.claim("it names the offer, both payouts and the difference", answer.text("summary") == summary)?;
    let uses = answer.value("preview").get("active_campaigns_using_this_offer") == Some(&json!(4));
    stage.claim("and that 4 active campaigns use it", uses)?;
    stage.claim("the offer pays $4.50 as before", pays(stage, "4.50")?)?;
    let token = answer.text("confirm_token");
    anyhow::ensure!(!token.is_empty(), "the first call gave no token, so the story ends here");
    Ok(token)
}

async fn refusals(host: &Host, stage: &mut Stage, token: &str) -> anyhow::Result<()> {
    stage.chapter("The token confirms this change and no other")?;
    let before = stage.disk()?;
    stage.say("Ten times as much:")?;
    let more = r#"{"offer_id":12,"new_payout":62.0}"#;
    let answer = call(host, stage, "agent", "update_offer_payout", more, Some(token)).await?;
    stage.claim("rejected, because the arguments changed", answer.is_rejected("params_changed"))?;
    stage.say("Another tool:")?;
    let answer = call(host, stage, "agent", "delete_campaign", r#"{"id":42}"#, Some(token)).await?;
    stage.claim("rejected, because the token is another tool's", answer.is_rejected("wrong_tool"))?;
    stage.say("Somebody else:")?;
    let answer = call(host, stage, "mallory", "update_offer_payout", PAYOUT, Some(token)).await?;
    stage.claim("rejected, because the token is another caller's", answer.is_rejected("wrong_owner"))?;
    stage.claim("the data is as it was", before == stage.disk()?)
}

async fn confirm(host: &Host, stage: &mut Stage, token: &str) -> anyhow::Result<String> {
    stage.chapter("The same values, spelt otherwise, are the same arguments")?;
    let spelt = r#"{ "new_payout": 62e-1, "offer_id": 12 }"#;
    let answer = call(host, stage, "agent", "update_offer_payout", spelt, Some(token)).await?;
    stage.claim("it ran, and no refusal had spent the token", answer.status() == Status::Ok)?;
    stage.claim("the offer pays $6.20", pays(stage, "6.20")?)?;
    let says = answer.text("message") == "Offer payout updated successfully";
    stage.claim(
        "the answer has the offer as it is now",
        says && answer.value("offer").get("payout") == Some(&json!("6.20")),
    )?;
    Ok(answer.reply.payload)
}

async fn lost_reply(host: &Host, stage: &mut Stage, token: &str, delivered: &str) -> anyhow::Result<()> {
    stage.chapter("The reply is lost, and the agent asks again")?;
    let before = stage.disk()?;
    let answer = call(host, stage, "agent", "update_offer_payout", PAYOUT, Some(token)).await?;
    let same = answer.reply.replayed && answer.reply.payload == delivered;
    stage.claim("the same answer, byte for byte, marked as a replay", same)?;
    stage.claim("the data was not written again", before == stage.disk()?)?;
    stage.say("The same wish once more, as a new first call:")?;
    let answer = call(host, stage, "agent", "update_offer_payout", PAYOUT, None).await?;
    stage.claim("the tool says that there is nothing left to change", answer.is_rejected("refused"))
}

async fn deletion(host: &Host, stage: &mut Stage) -> anyhow::Result<()> {
    stage.chapter("A campaign and what goes with it")?;
    let (before, arguments) = (stage.disk()?, r#"{"id":42}"#);
    let answer = call(host, stage, "agent", "delete_campaign", arguments, None).await?;
    let summary = answer.text("summary");
    let told = ["campaign #42 'Black Friday FR'", "12 active flows", "4523 lifetime clicks", "$1247 lifetime revenue"];
    stage.claim("the preview says what would be lost", told.iter().all(|part| summary.contains(part)))?;
    stage.claim("the campaign is there", before == stage.disk()?)?;
    let token = answer.text("confirm_token");
    let answer = call(host, stage, "agent", "delete_campaign", arguments, Some(&token)).await?;
    let gone = record(stage, "campaigns", 42)?.is_null() && !record(stage, "offers", 12)?.is_null();
    stage.claim("it is gone, and its offer is not", answer.status() == Status::Ok && gone)
}

async fn refused(host: &Host, stage: &mut Stage) -> anyhow::Result<()> {
    stage.chapter("What cannot be previewed gets no token")?;
    let before = stage.disk()?;
    let answer = call(host, stage, "agent", "update_offer_payout", r#"{"offer_id":99,"new_payout":1}"#, None).await?;
    stage.claim("the tool says no, and there is nothing to confirm", {
        answer.is_rejected("refused") && answer.text("confirm_token").is_empty()
    })?;
    stage.claim("the data is as it was", before == stage.disk()?)
}
