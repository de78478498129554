//! Documents: one tool, two dangers. Written to a file it is confirmed, returned it is not; and the operator, who raises and
//! never lowers.

use super::Stage;
use super::{Workshop, call};
use crate::{Host, Level, Status};
use serde_json::json;
use std::fs;
use std::path::Path;

/// A PNG of one pixel, in base64.
const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
/// Where the PDF goes.
const PDF: &str = "out/report.pdf";

pub(super) fn prepare(directory: &Path) -> std::io::Result<()> {
    fs::create_dir(directory.join("out"))
}

pub(super) async fn play(host: &Host, workshop: &Workshop, stage: &mut Stage) -> anyhow::Result<()> {
    stage.say(
        "The plug-in \"pdf\" keeps documents in its directory, which holds nothing yet but an empty folder, out.",
    )?;
    let document = begin(host, stage).await?;
    returned(host, stage, &document).await?;
    written(host, stage, &document).await?;
    overwritten(host, stage, &document).await?;
    raised(workshop, stage, &document).await?;
    lowered(workshop, stage).await
}

async fn begin(host: &Host, stage: &mut Stage) -> anyhow::Result<String> {
    stage.chapter("What is easy to undo runs at once")?;
    let answer = call(host, stage, "agent", "create_document", r#"{"title":"Report"}"#, None).await?;
    let document = answer.text("document_id");
    anyhow::ensure!(!document.is_empty(), "no document was begun, so the story ends here");
    let arguments = json!({ "document_id": document, "text": "Payouts rose by 37.8 %." }).to_string();
    let added = call(host, stage, "agent", "add_text", &arguments, None).await?;
    stage.claim(
        "neither asked for a confirmation: both are caution",
        answer.status() == Status::Ok && added.status() == Status::Ok,
    )?;
    Ok(document)
}

async fn returned(host: &Host, stage: &mut Stage, document: &str) -> anyhow::Result<()> {
    stage.chapter("The PDF in the answer: read-only, at once")?;
    let before = stage.disk()?;
    let arguments = json!({ "document_id": document }).to_string();
    let answer = call(host, stage, "agent", "output_pdf", &arguments, None).await?;
    // "%PDF-" in base64.
    let is_pdf = answer.text("content").starts_with("JVBERi0");
    stage.claim("it ran without a confirmation and returned a PDF", answer.status() == Status::Ok && is_pdf)?;
    stage.claim("every file is as it was", before == stage.disk()?)
}

async fn written(host: &Host, stage: &mut Stage, document: &str) -> anyhow::Result<()> {
    stage.chapter("The same tool, to a file: confirmed")?;
    let before = stage.disk()?;
    let arguments = json!({ "document_id": document, "file_path": PDF }).to_string();
    let preview = call(host, stage, "agent", "output_pdf", &arguments, None).await?;
    stage.claim("the answer is a challenge", preview.status() == Status::ConfirmationRequired)?;
    stage.claim("and no file", before == stage.disk()?)?;
    let token = preview.text("confirm_token");
    let answer = call(host, stage, "agent", "output_pdf", &arguments, Some(&token)).await?;
    let sha256 = answer.text("sha256");
    let there = stage.disk()?.get(PDF).cloned().flatten().is_some_and(|(_, digest)| digest == sha256);
    stage.claim(
        "the file is there, and is the one that was shown",
        answer.status() == Status::Ok && there && { preview.value("preview").get("sha256") == Some(&json!(sha256)) },
    )
}

async fn overwritten(host: &Host, stage: &mut Stage, document: &str) -> anyhow::Result<()> {
    stage.chapter("Over an existing file: with a warning")?;
    let text = json!({ "document_id": document, "text": "A second paragraph." }).to_string();
    call(host, stage, "agent", "add_text", &text, None).await?;
    let before = stage.disk()?;
    let arguments = json!({ "document_id": document, "file_path": PDF }).to_string();
    let answer = call(host, stage, "agent", "output_pdf", &arguments, None).await?;
    let warned = answer.value("warnings").to_string().contains("overwritten");
    stage.claim("the challenge warns that the file would be overwritten", warned)?;
    stage.say("The user declines. Nothing more is needed: the token expires.")?;
    stage.claim("the file is as it was", before == stage.disk()?)
}

async fn raised(workshop: &Workshop, stage: &mut Stage, document: &str) -> anyhow::Result<()> {
    stage.chapter("The operator raises a level")?;
    stage.say("  [plugins.pdf.levels]\n  add_image = 3")?;
    let host = workshop.host().level("add_image", Level::ApprovalRequired).build().await?;
    let before = stage.disk()?;
    let arguments = json!({ "document_id": document, "alt_text": "A pixel", "image": PIXEL }).to_string();
    let answer = call(&host, stage, "agent", "add_image", &arguments, None).await?;
    stage.claim("what ran at once is now confirmed", answer.status() == Status::ConfirmationRequired)?;
    stage.claim("no image was added", before == stage.disk()?)?;
    let answer = call(&host, stage, "agent", "add_image", &arguments, Some(&answer.text("confirm_token"))).await?;
    stage.claim("with the token it was", answer.status() == Status::Ok && before != stage.disk()?)?;
    host.drain().await;
    Ok(())
}

async fn lowered(workshop: &Workshop, stage: &mut Stage) -> anyhow::Result<()> {
    stage.chapter("The operator cannot lower one")?;
    stage.say("  [plugins.pdf.levels]\n  output_pdf = 2")?;
    let refusal = workshop.host().level("output_pdf", Level::Review).build().await.err();
    let refusal = refusal.map(|error| error.to_string()).unwrap_or_default();
    stage.say(&format!("  {}", crate::text::escape(&refusal)))?;
    stage.claim("the start is refused", refusal.contains("raised, never lowered"))
}
