//! `demo`: the whole story on the real plug-in, in a temporary directory. Every sentence that it claims is checked against
//! the disk or the answer; one that does not hold makes the demo fail.

mod stage;

use super::config::FILES;
use super::{exit, wait::wait};
use crate::config::Dirs;
use crate::gate::{Gate, GateOptions, Settings, SystemClock};
use crate::plugin::{Access, DirGrant, Plugin, PluginOptions, Sandbox, SandboxOptions};
use crate::store::SqliteStore;
use crate::{Error, Host, Incoming, Owner, Status};
use serde_json::{Value, json};
use stage::{Answer, Stage};
use std::fs;
use std::path::Path;
use std::sync::Arc;

#[derive(clap::Args)]
pub(super) struct Args {}

/// What is on disk at the start.
const DISK: [(&str, &str); 5] = [
    ("drafts/2024/ideas.txt", "an idea\nanother idea\n"),
    ("drafts/letter.txt", "Dear Ada,\n"),
    ("drafts/todo.txt", "water the plants\n"),
    ("notes/keep.txt", "keep me\n"),
    ("notes/plan.txt", "version 1\n"),
];

pub(super) async fn run(_: Args) -> anyhow::Result<u8> {
    let place = tempfile::tempdir()?;
    let disk = place.path().join("workspace");
    for (name, content) in DISK {
        let path = disk.join(name);
        fs::create_dir_all(path.parent().unwrap_or(&disk))?;
        fs::write(path, content)?;
    }
    let (state, workspace) = (place.path().join("state.db"), disk.clone());
    let host =
        wait("compiling the gate and the files plug-in".to_owned(), async move { host(&state, &workspace).await })
            .await??;
    let mut stage = Stage::new(disk)?;
    stage.say("An agent has the files plug-in, in a sandbox that sees one directory. This is in it:")?;
    stage.show_disk()?;

    let token = first_call(&host, &mut stage).await?;
    refusals(&host, &mut stage, &token).await?;
    let delivered = confirm(&host, &mut stage, &token).await?;
    lost_reply(&host, &mut stage, &token, &delivered).await?;
    changed_file(&host, &mut stage).await?;
    host.drain().await;

    Ok(if stage.finish()? { exit::OK } else { exit::OTHER })
}

/// A host as `serve` would have it, with everything but compiled code in the temporary directory.
async fn host(state: &Path, workspace: &Path) -> Result<Host, Error> {
    let cache = Dirs::of_user().ok().map(|dirs| dirs.cache);
    let store = Arc::new(SqliteStore::open(state)?);
    let gate = Gate::new(GateOptions {
        store,
        clock: Arc::new(SystemClock),
        settings: Settings::default(),
        cache: cache.clone(),
    })?;
    let sandbox = Sandbox::new(SandboxOptions { cache })?;
    let mut options = PluginOptions::new("files");
    options.dirs.push(DirGrant { host: workspace.to_owned(), guest: "/files".to_owned(), access: Access::ReadWrite });
    let plugin = Plugin::from_bytes(&sandbox, FILES, options, "the files plug-in of this program").await?;
    Host::builder(gate).plugin(plugin).build().await
}

/// One call, shown with its answer. The token goes in as the agent would put it.
async fn call(
    host: &Host,
    stage: &Stage,
    who: &str,
    tool: &str,
    arguments: Value,
    token: Option<&str>,
) -> anyhow::Result<Answer> {
    stage.show_call(who, tool, &arguments, token)?;
    let mut sent = arguments;
    if let (Some(token), Some(sent)) = (token, sent.as_object_mut()) {
        sent.insert(host.confirm_parameter().to_owned(), json!(token));
    }
    let incoming = Incoming {
        owner: Owner::new("name", who)?,
        tool: tool.to_owned(),
        arguments: sent.to_string(),
        progress: None,
    };
    let answer = Answer::new(host.call(incoming).await)?;
    stage.show_answer(&answer)?;
    Ok(answer)
}

async fn first_call(host: &Host, stage: &mut Stage) -> anyhow::Result<String> {
    stage.chapter("The first call changes nothing")?;
    let before = stage.disk()?;
    let answer = call(host, stage, "agent", "delete_directory", json!({ "path": "drafts" }), None).await?;
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
    let answer = call(host, stage, "agent", "delete_directory", json!({ "path": "notes" }), Some(token)).await?;
    stage.claim("rejected, because the arguments changed", answer.is_rejected("params_changed"))?;
    stage.say("The same arguments, from somebody else who has got hold of the token:")?;
    let answer = call(host, stage, "mallory", "delete_directory", json!({ "path": "drafts" }), Some(token)).await?;
    stage.claim("rejected, because the token is another caller's", answer.is_rejected("wrong_owner"))?;
    stage.claim("every file and directory is as it was", before == stage.disk()?)
}

/// The payload that is delivered, or would be.
async fn confirm(host: &Host, stage: &mut Stage, token: &str) -> anyhow::Result<String> {
    stage.chapter("The second call, with the same arguments and the token, runs")?;
    let mut expected = stage.disk()?;
    expected.retain(|path, _| path != "drafts" && !path.starts_with("drafts/"));
    let answer = call(host, stage, "agent", "delete_directory", json!({ "path": "drafts" }), Some(token)).await?;
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
    let answer = call(host, stage, "agent", "delete_directory", json!({ "path": "drafts" }), Some(token)).await?;
    stage.claim("the same answer again, byte for byte", answer.reply.payload == delivered)?;
    stage.claim("marked as a replay, beside it", answer.reply.replayed)?;
    stage.claim(
        "nothing ran a second time: the new directory is still there",
        before == stage.disk()? && before.contains_key("drafts/new.txt"),
    )
}

async fn changed_file(host: &Host, stage: &mut Stage) -> anyhow::Result<()> {
    stage.chapter("What changed after the preview is not overwritten unseen")?;
    let arguments = json!({ "path": "notes/plan.txt", "content": "version 2\n" });
    let preview = call(host, stage, "agent", "write_file", arguments.clone(), None).await?;
    stage.claim("overwriting a file needs a confirmation", preview.status() == Status::ConfirmationRequired)?;
    stage.say("Before the agent confirms, somebody else edits the file:")?;
    stage.write("notes/plan.txt", "an hour of work\n")?;
    let before = stage.disk()?;
    let answer = call(host, stage, "agent", "write_file", arguments, Some(&preview.text("confirm_token"))).await?;
    let untouched = answer.status() == Status::Failed && answer.text("effect") == "none";
    stage.claim("it fails and says that it had no effect", untouched)?;
    stage.claim("the edited file is whole", before == stage.disk()?)
}
