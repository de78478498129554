//! `policy`: what the operator's rules and budgets make of a call. Nothing runs, nothing is issued, nothing is charged.

use super::next::Typed;
use super::print::{bold, line, loud, note, out};
use super::{answer, call, exit, log, open, owner};
use crate::host::trial::{End, Says, Trial};
use crate::text;
use serde_json::json;
use std::path::Path;

#[derive(clap::Subcommand)]
pub(super) enum Verb {
    /// Say which rules match a call, what is left of its budgets, and what would happen; runs nothing
    #[command(after_help = "\
Examples:
  counterfoil policy test delete_file '{\"path\": \"/files/old.txt\"}'
  counterfoil policy test update_payout - --owner ci --json < arguments.json

Exit codes, as a call of it would end: 0 it would run at once, 3 it would need a confirmation, 4 it would be rejected.")]
    Test(Args),
}

#[derive(clap::Args)]
pub(super) struct Args {
    /// The tool, as `counterfoil tools` lists it
    tool: String,
    /// The arguments: a JSON object, or - to read it from standard input
    #[arg(default_value = "{}", value_name = "JSON")]
    arguments: String,
    /// In whose name [default: the user that runs this process]
    #[arg(long, value_name = "NAME")]
    owner: Option<String>,
    /// Print JSON for programs
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(verb: Verb, config: Option<&Path>) -> anyhow::Result<u8> {
    let Verb::Test(args) = verb;
    log::start();
    let sent = if args.arguments == "-" { call::from_stdin().await? } else { args.arguments.clone() };
    let owner = owner(args.owner.as_deref())?;
    let host = open::open(&open::load(config)?).await?;
    let secret = host.masked(&args.tool, &sent).is_some();
    let typed = Typed { config, tool: &args.tool, owner: args.owner.as_deref(), sent: &sent, secret };
    let trial = match host.trial(&owner, &args.tool, &sent).await {
        Ok(trial) => trial,
        Err(reply) if args.json => {
            out(&reply.payload)?;
            return Ok(exit::REJECTED);
        }
        Err(reply) => {
            line(answer::for_people(reply.status, &reply.payload, "", None)?.trim_end_matches('\n'))?;
            if let Some(instead) = typed.instead(&host, "policy test") {
                note(&instead);
            }
            return Ok(exit::REJECTED);
        }
    };
    if args.json {
        out(&serde_json::to_string_pretty(&as_json(&trial, &args.tool, owner.as_str()))?)?
    } else {
        show(&trial)?;
        if let Some(then) = next(&trial.end, &typed) {
            note(&then);
        }
    }
    Ok(match trial.end {
        End::AtOnce(_) => exit::OK,
        End::Confirm { .. } => exit::CONFIRMATION_REQUIRED,
        End::Denied(_) => exit::REJECTED,
    })
}

fn show(trial: &Trial) -> anyhow::Result<()> {
    for (number, says) in &trial.rules {
        line(&match says {
            Says::Matches => format!("rule {number} matches"),
            Says::Not => format!("rule {number} does not match"),
            Says::NoAnswer(why) => loud(&format!("rule {number} has no answer: {}", text::escape(why))),
        })?;
    }
    if trial.rules.is_empty() {
        line("no rule is about this tool")?;
    }
    for (number, budget, left) in &trial.budgets {
        line(&format!("budget {number} allows {}: {left} left", text::escape(&budget.to_string())))?;
    }
    line(&bold(&text::escape(&end(&trial.end))))?;
    Ok(())
}

fn end(end: &End) -> String {
    match end {
        End::AtOnce(level) => format!("would run at once, as {level}"),
        End::Confirm { always: true } => "needs a confirmation".to_owned(),
        End::Confirm { always: false } => "needs a confirmation, unless its plan is milder".to_owned(),
        End::Denied(why) => format!("denied: {why}"),
    }
}

/// What a person may do about it: nothing where it is denied, which says why.
fn next(end: &End, typed: &Typed<'_>) -> Option<String> {
    let what = match end {
        End::AtOnce(_) => "nothing ran; this runs it",
        End::Confirm { always: true } => {
            "its level is approval_required; this shows its plan and gives a token, and changes nothing"
        }
        End::Confirm { always: false } => {
            "its level is approval_required, unless its plan says less; this asks for the plan, and runs it at once where \
             it is milder"
        }
        End::Denied(_) => return None,
    };
    Some(format!("{what}: {}", typed.command("call")))
}

fn as_json(trial: &Trial, tool: &str, owner: &str) -> serde_json::Value {
    let rules: Vec<_> = trial
        .rules
        .iter()
        .map(|(number, says)| match says {
            Says::Matches => json!({"rule": number, "matches": true}),
            Says::Not => json!({"rule": number, "matches": false}),
            Says::NoAnswer(why) => json!({"rule": number, "no_answer": why}),
        })
        .collect();
    let budgets: Vec<_> = trial
        .budgets
        .iter()
        .map(|(number, budget, left)| json!({"budget": number, "allows": budget.to_string(), "left": left}))
        .collect();
    let (ends, level) = match &trial.end {
        End::AtOnce(level) => ("runs_at_once", Some(level.name())),
        End::Confirm { always: true } => ("confirmation_required", Some("approval_required")),
        End::Confirm { always: false } => ("confirmation_required_unless_milder", None),
        End::Denied(_) => ("denied", None),
    };
    json!({
        "tool": tool, "owner": owner, "rules": rules, "budgets": budgets,
        "result": ends, "level": level, "text": end(&trial.end),
    })
}
