//! Files: a deletion, its refusals, its replay, and a file that changed after its preview.

use super::Stage;
use super::call;
use crate::{Host, Status};
use serde_json::json;
use std::fs;
use std::path::Path;

/// What is on disk at the start.
const DISK: [(&str, &str); 5] = [
    ("drafts/2024/ideas.txt", "an idea\nanother idea\n"),
    ("drafts/letter.txt", "Dear Ada,\n"),
    ("drafts/todo.txt", "water the plants\n"),
    ("notes/keep.txt", "keep me\n"),
    ("notes/plan.txt", "version 1\n"),
];

/// Puts them there.
pub(super) fn prepare(directory: &Path) -> std::io::Result<()> {
    for (name, content) in DISK {
        let path = directory.join(name);
        fs::create_dir_all(path.parent().unwrap_or(directory))?;
        fs::write(path, content)?;
    }
    Ok(())
}

pub(super) async fn play(host: &Host, stage: &mut Stage) -> anyhow::Result<()> {
    stage.say("The plug-in \"files\" sees one directory. This is in it:")?;
    stage.show_disk()?;
    let token = first_call(host, stage).await?;
    refusals(host, stage, &token).await?;
    let delivered = confirm(host, stage, &token).await?;
    lost_reply(host, stage, &token, &delivered).await?;
    changed_file(host, stage).await
}

async fn first_call(host: &Host, stage: &mut Stage) -> anyhow::Result<String> {
    stage.chapter("The first call changes nothing")?;
    let before = stage.disk()?;
    let answer = call(host, stage, "agent", "delete_directory", r#"{"path":"drafts"}"#, None).await?;
    stage.claim("the answer is a preview with a token", answer.status() == Status::ConfirmationRequired)?;
    stage.claim("it names what would go: 3 files", answer.value("preview").get("files") == Some(&json!(3)))?;
    stage.claim("every file and directory is as it was", before == stage.disk()?)?;
    let token = answer.text("confirm_token");
    anyhow::ensure!(!token.is_empty(), "the first call gave no token, so the story ends here");
    Ok(token)
}

async fn refusals(host: &Host, stage: &mut Stage, token: &str) -> anyhow::Result<()> {
    stage.chapter("The token is for this call, of this caller")?;
    let before = stage.disk()?;
    stage.say("Other arguments than those that were previewed:")?;
    let answer = call(host, stage, "agent", "delete_directory", r#"{"path":"notes"}"#, Some(token)).await?;
    stage.claim("rejected, because the arguments changed", answer.is_rejected("params_changed"))?;
    stage.say("The same arguments, from somebody else who has got hold of the token:")?;
    let answer = call(host, stage, "mallory", "delete_directory", r#"{"path":"drafts"}"#, Some(token)).await?;
    stage.claim("rejected, because the token is another caller's", answer.is_rejected("wrong_owner"))?;
    stage.claim("every file and directory is as it was", before == stage.disk()?)
}

/// The payload that is delivered, or would be.
async fn confirm(host: &Host, stage: &mut Stage, token: &str) -> anyhow::Result<String> {
    stage.chapter("The second call, with the same arguments and the token, runs")?;
    let mut expected = stage.disk()?;
    expected.retain(|path, _| path != "drafts" && !path.starts_with("drafts/"));
    let answer = call(host, stage, "agent", "delete_directory", r#"{"path":"drafts"}"#, Some(token)).await?;
    stage.claim(
        "it ran, and neither refusal had spent the token",
        answer.status() == Status::Ok && !answer.reply.replayed,
    )?;
    stage.claim("drafts is gone and nothing else", expected == stage.disk()?)?;
    stage.show_disk()?;
    Ok(answer.reply.payload)
}

async fn lost_reply(host: &Host, stage: &mut Stage, token: &str, delivered: &str) -> anyhow::Result<()> {
    stage.chapter("The reply is lost, and the agent asks again")?;
    stage.say("Say that answer never reached the agent. Meanwhile somebody makes a new directory of the same name:")?;
    stage.write("drafts/new.txt", "written after the deletion\n")?;
    let before = stage.disk()?;
    let answer = call(host, stage, "agent", "delete_directory", r#"{"path":"drafts"}"#, Some(token)).await?;
    stage.claim("the same answer again, byte for byte", answer.reply.payload == delivered)?;
    stage.claim("marked as a replay, beside it", answer.reply.replayed)?;
    stage.claim(
        "nothing ran a second time: the new directory is still there",
        before == stage.disk()? && before.contains_key("drafts/new.txt"),
    )
}

async fn changed_file(host: &Host, stage: &mut Stage) -> anyhow::Result<()> {
    stage.chapter("What changed after the preview is not overwritten unseen")?;
    let arguments = r#"{"path":"notes/plan.txt","content":"version 2\n"}"#;
    let preview = call(host, stage, "agent", "write_file", arguments, None).await?;
    stage.claim("overwriting a file needs a confirmation", preview.status() == Status::ConfirmationRequired)?;
    stage.say("Before the agent confirms, somebody else edits the file:")?;
    stage.write("notes/plan.txt", "an hour of work\n")?;
    let before = stage.disk()?;
    let answer = call(host, stage, "agent", "write_file", arguments, Some(&preview.text("confirm_token"))).await?;
    let untouched = answer.status() == Status::Failed && answer.text("effect") == "none";
    stage.claim("it fails and says that it had no effect", untouched)?;
    stage.claim("the edited file is whole", before == stage.disk()?)
}
