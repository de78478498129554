//! `call TOOL JSON`: one call from a shell. The first changes nothing where a confirmation is needed; `--confirm` runs it.

use super::next::Typed;
use super::print::{self, note};
use super::{Usage, answer, exit, locked, log, open, owner, serve};
use crate::config::StoreConfig;
use crate::text;
use crate::tool::Progress;
use crate::{Incoming, Reply, Status};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  counterfoil call list_files '{\"path\": \"/files\"}'
  counterfoil call write_file - < arguments.json
Shows what it would do, and a token; then does it, once:
  counterfoil call delete_file '{\"path\": \"/files/old.txt\"}'
  counterfoil call delete_file '{\"path\": \"/files/old.txt\"}' --confirm cfm_…

Exit codes: 0 ok, 3 confirmation required, 4 rejected, 5 failed.")]
pub(super) struct Args {
    /// The tool, as `counterfoil tools` lists it
    tool: String,
    /// The arguments: a JSON object, or - to read it from standard input
    #[arg(default_value = "{}", value_name = "JSON")]
    arguments: String,
    /// Confirm the call that this token was issued for: the same tool and arguments
    #[arg(long, value_name = "TOKEN")]
    confirm: Option<String>,
    /// In whose name to call [default: the user that runs this process]
    #[arg(long, value_name = "NAME")]
    owner: Option<String>,
    /// Print the answer as agents get it, for programs
    #[arg(long)]
    json: bool,
    /// Show long values whole
    #[arg(long, conflicts_with = "json")]
    full: bool,
}

/// Largest standard input that is read, in bytes: far above what the gate takes, which says so itself.
const MAX_INPUT: u64 = 16 << 20;

pub(super) async fn run(args: Args, config: Option<&Path>) -> anyhow::Result<u8> {
    log::start();
    if args.confirm.as_deref().is_some_and(|token| token.trim().is_empty()) {
        return Err(
            Usage("--confirm has no token: give the one that the preview showed, or leave it out".into()).into()
        );
    }
    let sent = if args.arguments == "-" { from_stdin().await? } else { args.arguments.clone() };
    let owner = owner(args.owner.as_deref())?;
    let loaded = open::load(config)?;
    let host = open::open(&loaded).await?;
    let arguments = match &args.confirm {
        Some(token) => with_token(&sent, host.confirm_parameter(), token)?,
        None => sent.clone(),
    };
    let bar = Bar::new();
    let incoming =
        Incoming { owner, tool: args.tool.clone(), arguments, progress: Some(Arc::clone(&bar) as Arc<dyn Progress>) };
    let reply = tokio::select! {
        reply = host.call(incoming) => Some(reply),
        () = serve::stopped() => None,
    };
    bar.0.finish_and_clear();
    // A confirmed run that has started ends by its own end or its deadline, whoever is still interested.
    if reply.is_none() {
        note(
            "stopped; waiting for a run that has started, if there is one: ask again with the same token for its outcome",
        );
    }
    host.close().await;
    let Some(reply) = reply else { return Ok(exit::OTHER) };
    let secret = host.masked(&args.tool, &sent).is_some();
    let typed = Typed { config, tool: &args.tool, owner: args.owner.as_deref(), sent: &sent, secret };
    show(&reply, &args, &typed)?;
    if reply.status == Status::ConfirmationRequired
        && let Some(tool) = host.tools().iter().find(|tool| tool.name == args.tool && !tool.locked)
        && let Some(what) = locked::hint(&loaded, &tool.backend)
    {
        note(&what);
    }
    if reply.status == Status::Rejected
        && let Some(instead) = typed.instead(&host, "call")
    {
        note(&instead);
    }
    if reply.status == Status::ConfirmationRequired && matches!(loaded.store, StoreConfig::Memory) {
        note(
            "the store is \"memory:\", so this token has ended with this process: set url = \"sqlite:FILE\" to confirm from a shell",
        );
    }
    Ok(match reply.status {
        Status::Ok => exit::OK,
        Status::ConfirmationRequired => exit::CONFIRMATION_REQUIRED,
        Status::Rejected => exit::REJECTED,
        Status::Failed => exit::FAILED,
    })
}

pub(super) async fn from_stdin() -> anyhow::Result<String> {
    let read = || -> std::io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        std::io::stdin().take(MAX_INPUT + 1).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = tokio::task::spawn_blocking(read).await??;
    if bytes.len() as u64 > MAX_INPUT {
        return Err(
            Usage(format!("standard input is longer than {}: shorten the arguments", text::bytes(MAX_INPUT))).into()
        );
    }
    Ok(String::from_utf8(bytes)
        .map_err(|_| Usage("standard input is not UTF-8: encode the arguments as UTF-8".into()))?)
}

/// The arguments with the token as their first member, otherwise byte for byte as they were given.
///
/// Text goes in and nothing is parsed, so what the gate reads is what the caller wrote. Behind `{` comes either `}` or a
/// first member, so the result is an object exactly when the arguments are one; a confirm parameter that is there
/// already is then there twice, which the gate refuses. Whatever is no object is not changed into one.
fn with_token(arguments: &str, parameter: &str, token: &str) -> anyhow::Result<String> {
    const SPACE: [char; 4] = [' ', '\t', '\n', '\r'];
    let member = format!("{}:{}", serde_json::to_string(parameter)?, serde_json::to_string(token)?);
    let text = arguments.trim_matches(SPACE);
    if text.is_empty() || text == "null" {
        return Ok(format!("{{{member}}}"));
    }
    let Some(rest) = text.strip_prefix('{') else {
        return Err(Usage("the arguments are no JSON object: give those that were previewed".into()).into());
    };
    let comma = if rest.trim_start_matches(SPACE).starts_with('}') { "" } else { "," };
    Ok(format!("{{{member}{comma}{rest}"))
}

/// How far the tool says it is: on a terminal only, and gone when done.
struct Bar(ProgressBar);

impl Bar {
    fn new() -> Arc<Self> {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
            bar.set_style(style);
        }
        Arc::new(Self(bar))
    }
}

impl Progress for Bar {
    fn report(&self, fraction: Option<f64>, message: &str) {
        let share = fraction.map(|share| format!("{:3.0} %  ", share.clamp(0.0, 1.0) * 100.0)).unwrap_or_default();
        self.0.set_message(format!("{share}{}", text::escape(message)));
        self.0.enable_steady_tick(Duration::from_millis(120));
    }
}

fn show(reply: &Reply, args: &Args, typed: &Typed<'_>) -> anyhow::Result<()> {
    if args.json {
        print::json(&reply.payload)?;
    } else {
        let again = format!("{} --confirm", typed.command("call"));
        // Whatever became of the run, its answer is shown: plainly, should it not read as expected.
        let whole = if args.full { None } else { Some("--full shows it whole") };
        let shown = answer::for_people(reply.status, &reply.payload, &again, whole);
        let shown = shown.unwrap_or_else(|_| text::indent(&reply.payload));
        print::line(shown.trim_end_matches('\n'))?;
        if typed.secret && reply.status == Status::ConfirmationRequired {
            note("the arguments hold a secret and are not printed: give the same ones again");
        }
    }
    if reply.replayed {
        note("this is the stored outcome of the run that this token confirmed; nothing ran now");
    }
    if !reply.kept {
        note("it ran, but its outcome could not be stored: asking again with this token cannot show it");
    }
    if !reply.audited {
        note("it ran, but how it ended could not be written to the audit, which has only that it began");
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[track_caller]
    fn joins(arguments: &str, expected: &str) {
        assert_eq!(with_token(arguments, "t", "x").unwrap(), expected);
    }

    #[test]
    fn the_token_goes_in_and_nothing_else_changes() {
        joins(r#"{"a":1}"#, r#"{"t":"x","a":1}"#);
        joins(" { \"n\": 1.0e3 , \"n\": 2 }\n", "{\"t\":\"x\", \"n\": 1.0e3 , \"n\": 2 }");
        joins("{}", r#"{"t":"x"}"#);
        joins("{ \n}", "{\"t\":\"x\" \n}");
        joins("null", r#"{"t":"x"}"#);
        joins("", r#"{"t":"x"}"#);
        joins(r#"{"t":"y"}"#, r#"{"t":"x","t":"y"}"#);
    }

    #[test]
    fn what_was_broken_stays_broken() {
        for broken in ["{", "{,}", "{]", "{}}", "{\"a\":1", "{\"a\"}", "{}{}", "{,\"a\":1}"] {
            let joined = with_token(broken, "t", "x").unwrap();
            assert!(serde_json::from_str::<serde_json::Value>(&joined).is_err(), "{joined}");
        }
        for other in ["[]", "\"{}\"", "1", "\u{feff}{}", "\u{a0}{}"] {
            assert!(with_token(other, "t", "x").is_err(), "{other}");
        }
    }

    #[test]
    fn a_token_cannot_break_out_of_its_string() {
        assert_eq!(with_token("{}", "t", "\",\"all\":true,\"z\":\"").unwrap(), r#"{"t":"\",\"all\":true,\"z\":\""}"#);
    }
}
