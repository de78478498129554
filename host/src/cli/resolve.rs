//! `resolve`: runs that started and were never recorded. A person looks and says what became of them; nothing runs again.

use super::print::{self, bold, inset, line};
use super::{Usage, exit, log, open, owner};
use crate::audit::{self, SettleError};
use crate::config::StoreConfig;
use crate::gate::{Cursor, Gate, GateError, Item, Progress};
use crate::text;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

#[derive(clap::Args)]
#[command(after_help = "\
A run whose process died, or whose outcome could not be stored, may or may not have had its effect: nobody here knows.
Identical calls are refused until it is settled. LOOK at what the tool changes before you answer.

Examples:
  counterfoil resolve                                 list them
  counterfoil resolve apr_4k2j… --happened            the effect is there
  counterfoil resolve apr_4k2j… --did-not --by alice  it is not; settled by alice")]
pub(super) struct Args {
    /// The approval id, as listed
    #[arg(value_name = "ID")]
    id: Option<String>,
    /// The effect is there
    #[arg(long, requires = "id", conflicts_with = "did_not")]
    happened: bool,
    /// The effect is not there
    #[arg(long, requires = "id")]
    did_not: bool,
    /// Who says so [default: the user that runs this process]
    #[arg(long, value_name = "NAME", requires = "id")]
    by: Option<String>,
    /// Show each call's arguments as well, long ones by beginning, end, length and digest. What their tool marks as secret is masked; all else is as the caller gave
    /// it, also what a summary leaves out, and a terminal, a log and an agent's transcript keep what is shown there
    #[arg(long)]
    arguments: bool,
    /// With --arguments: show long ones whole
    #[arg(long, requires = "arguments", conflicts_with = "json")]
    full: bool,
    /// Print JSON for programs, long values whole
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(args: Args, config: Option<&Path>) -> anyhow::Result<u8> {
    log::start();
    let config = open::load(config)?;
    if config.store == StoreConfig::Memory {
        // Of a new and empty store it could only be said that no run is lost, and nobody knows that.
        return Err(Usage(
            "the store is \"memory:\": the runs of another process cannot be seen from here, and are gone with it; \
             to settle lost runs keep the store in a file: url = \"sqlite:FILE\""
                .into(),
        )
        .into());
    }
    let gate = open::gate(&config).await?;
    let Some(id) = &args.id else { return list(&gate, &args).await };
    if !args.happened && !args.did_not {
        return Err(Usage("say what became of it: look first, then add --happened or --did-not".into()).into());
    }
    let by = owner(args.by.as_deref())?;
    let audit = open::audit(&config)?;
    let item = match audit::resolve(&gate, audit.as_ref(), id, by.as_str(), args.happened).await {
        Ok(item) => item,
        Err(SettleError::Gate(GateError::Misuse(what))) => {
            return Err(Usage(format!("{what}; `counterfoil resolve` lists what can be settled")).into());
        }
        Err(SettleError::Audit(e)) => return Err(anyhow::Error::from(e).context("nothing was settled")),
        Err(e) => return Err(e.into()),
    };
    if let Some(audit) = audit
        && let Err(error) = audit.close().await
    {
        tracing::error!("{error}");
    }
    if args.json {
        print::json(&item.as_ref().map(|item| json(item, args.arguments)).unwrap_or_default().to_string())?;
        return Ok(exit::OK);
    }
    let tool = item.map(|item| item.tool).unwrap_or_default();
    let what = if args.happened { "happened" } else { "did not happen" };
    line(&format!("settled: {} {what} ({}, by {})", text::escape(&tool), text::escape(id), text::escape(by.as_str())))?;
    line("Identical calls are accepted again, each with a preview and a token of its own.")?;
    Ok(exit::OK)
}

/// Every lost run, page after page.
async fn unrecorded(gate: &Gate) -> anyhow::Result<Vec<Item>> {
    const PAGE: u32 = 100;
    let mut items: Vec<Item> = Vec::new();
    loop {
        let after =
            items.last().map(|last| Cursor { issued_at: last.issued_at, approval_id: last.approval_id.clone() });
        let page = gate.unrecorded(after.as_ref(), PAGE).await?;
        let last = page.is_empty();
        items.extend(page);
        if last {
            return Ok(items);
        }
    }
}

async fn list(gate: &Gate, args: &Args) -> anyhow::Result<u8> {
    let Args { json: json_only, arguments, full, .. } = *args;
    let items = unrecorded(gate).await?;
    if json_only {
        print::json(&serde_json::to_string_pretty(
            &items.iter().map(|item| json(item, arguments)).collect::<Vec<_>>(),
        )?)?;
        return Ok(exit::OK);
    }
    let (lost, running): (Vec<&Item>, Vec<&Item>) =
        items.iter().partition(|item| item.progress == Progress::OutcomeUnknown);
    if lost.is_empty() {
        line(match running.is_empty() {
            true => "No run is lost: there is nothing to settle.",
            false => "There is nothing to settle yet.",
        })?;
    }
    for item in &lost {
        line(&bold(&format!("{}  {}", text::escape(&item.approval_id), text::escape(&item.tool))))?;
        line(&inset(&format!("{}\nowner     {}", text::escape(&item.summary), text::escape(&item.owner))))?;
        line(&inset(&format!("started   {}\ndeadline  {}", when(item.started_at), when(item.deadline))))?;
        if arguments {
            let whole = if full { None } else { Some("--full shows them whole") };
            line(&inset(&format!("arguments {}", text::value(&item.arguments, whole))))?;
        }
        line("")?;
    }
    if !lost.is_empty() {
        line("Each started, and nobody recorded how it ended: it may have happened or not. It is never run again.")?;
        line("Look at what it changes, then say: counterfoil resolve ID --happened, or --did-not.")?;
        if !arguments {
            line("Their arguments may hold what the summary leaves out and are not shown: --arguments shows them.")?;
        }
    }
    if !running.is_empty() {
        line("These may still be running. What has recorded no end by its deadline is lost, and can be settled then:")?;
    }
    for item in &running {
        let (id, tool) = (text::escape(&item.approval_id), text::escape(&item.tool));
        line(&inset(&format!("{id}  {tool}  started {}  deadline {}", when(item.started_at), when(item.deadline))))?;
    }
    Ok(exit::OK)
}

fn when(millis: Option<u64>) -> String {
    let time = millis.and_then(|millis| UNIX_EPOCH.checked_add(Duration::from_millis(millis)));
    time.map_or_else(|| "unknown".into(), |time| humantime::format_rfc3339_seconds(time).to_string())
}

fn json(item: &Item, arguments: bool) -> serde_json::Value {
    let progress = match item.progress {
        Progress::InFlight => "in_flight",
        Progress::OutcomeUnknown => "outcome_unknown",
        Progress::SettledHappened => "settled_happened",
        Progress::SettledDidNot => "settled_did_not",
        _ => "other",
    };
    let mut shown = serde_json::json!({
        "approval_id": item.approval_id, "progress": progress, "owner": item.owner, "tool": item.tool,
        "summary": item.summary, "operation_id": item.operation_id,
        "started_at": when(item.started_at), "deadline": when(item.deadline),
    });
    if let (true, Some(shown)) = (arguments, shown.as_object_mut()) {
        shown.insert("arguments".to_owned(), item.arguments.as_str().into());
    }
    shown
}
