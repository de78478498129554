//! The `counterfoil` program. Each verb translates between a person or a script and the library, and decides nothing.
//!
//! Standard output carries results only; messages and progress go to standard error. No message quotes a token.

mod answer;
mod ask;
mod audit;
mod call;
mod clients;
mod completions;
mod config;
mod demo;
mod doctor;
mod hangup;
mod install;
mod itself;
mod locked;
mod log;
mod next;
mod open;
mod plugin;
mod policy;
mod powers;
mod print;
mod resolve;
mod serve;
mod shipped;
mod tools;
mod wait;

use crate::{Error, ErrorKind, Owner, text};
use clap::{Parser, Subcommand};
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

/// What a verb gives back to the shell.
pub(crate) mod exit {
    /// It worked.
    pub const OK: u8 = 0;
    /// Anything that has no code of its own.
    pub const OTHER: u8 = 1;
    /// The command line or the configuration is wrong: nothing was started.
    pub const USAGE: u8 = 2;
    /// Nothing ran: the call has to be confirmed.
    pub const CONFIRMATION_REQUIRED: u8 = 3;
    /// This call ran nothing: it was rejected.
    pub const REJECTED: u8 = 4;
    /// It started and failed.
    pub const FAILED: u8 = 5;
}

/// Puts a two-step gate in front of the tools of AI agents.
///
/// A call that destroys, spends or exposes is first previewed and answered with a single-use token; only a second call
/// with the same arguments and that token runs, once.
#[derive(Parser)]
#[command(
    name = "counterfoil",
    version,
    max_term_width = 110,
    arg_required_else_help = true,
    after_help = "\
Exit codes: 0 ok, 3 confirmation required, 4 rejected, 5 failed, 2 usage or configuration, 1 anything else.
Logs go to standard error; COUNTERFOIL_LOG=debug shows more of them."
)]
struct Cli {
    /// The configuration [default: ./counterfoil.toml, if you chose that before, else the one in your configuration directory]
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,

    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Serve the tools to an agent over MCP, on standard input and output
    Serve(serve::Args),
    /// List the tools, their levels and which of them need a confirmation
    Tools(tools::Args),
    /// Call a tool; confirm a call that was previewed
    Call(call::Args),
    /// List runs that nobody knows the end of, or settle one
    Resolve(resolve::Args),
    /// Verify or show what was recorded of calls
    #[command(subcommand)]
    Audit(audit::Verb),
    /// Make, check or describe a configuration
    #[command(subcommand)]
    Config(config::Verb),
    /// Try what the rules and budgets make of a call
    #[command(subcommand)]
    Policy(policy::Verb),
    /// Put the server into the configuration of an MCP client
    Install(install::Args),
    /// Say what is wrong and what to do: program, configuration, plug-ins, store, clients
    Doctor(doctor::Args),
    /// Look at plug-in files, and lock those of the configuration
    #[command(subcommand)]
    Plugin(plugin::Verb),
    /// Show the whole story on the real plug-ins, in a temporary directory
    Demo(demo::Args),
    /// Print a completion script for a shell
    Completions(completions::Args),
}

/// Runs the program with the arguments of this process.
pub fn main() -> ExitCode {
    let hangups = hangup::caught();
    std::panic::set_hook(Box::new(|panic| {
        // Its message may quote what a caller sent: only the place is told.
        let place = panic.location().map(|at| format!(" at {}:{}", at.file(), at.line())).unwrap_or_default();
        say(&format!("internal error{place}: please report it"));
    }));
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(e) if !e.use_stderr() => return if e.print().is_ok() { exit::OK } else { exit::OTHER }.into(),
        Err(e) => {
            let shown = e.render().ansi().to_string();
            print::told(&shown);
            return exit::USAGE.into();
        }
    };
    if let Some(hangups) = hangups.filter(|_| !matches!(cli.verb, Verb::Serve(_))) {
        hangups.let_through();
    }
    // One for the call, one for what waits beside it; a plug-in's own work is cut into slices of 10 ms.
    const WORKERS: usize = 4;
    let runtime = match tokio::runtime::Builder::new_multi_thread().worker_threads(WORKERS).enable_all().build() {
        Ok(runtime) => runtime,
        Err(e) => {
            say(&format!("the program cannot start: {e}"));
            return exit::OTHER.into();
        }
    };
    // The verb runs in a task of its own, so that a panic in it still ends in an exit code.
    let done = runtime.block_on(async { tokio::spawn(run(cli)).await });
    // What still reads standard input in the background must not hold the exit up.
    runtime.shutdown_background();
    log::end();
    match done {
        Ok(Ok(code)) => code.into(),
        // Whoever read the output has seen enough.
        Ok(Err(e)) if e.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe) => {
            exit::OTHER.into()
        }
        Ok(Err(e)) => {
            say(&chain(&e));
            code_of(&e).into()
        }
        Err(_) => exit::OTHER.into(),
    }
}

async fn run(cli: Cli) -> anyhow::Result<u8> {
    let config = cli.config.as_deref();
    match cli.verb {
        Verb::Serve(args) => serve::run(args, config).await,
        Verb::Tools(args) => tools::run(args, config).await,
        Verb::Call(args) => call::run(args, config).await,
        Verb::Resolve(args) => resolve::run(args, config).await,
        Verb::Audit(verb) => audit::run(verb, config).await,
        Verb::Config(verb) => config::run(verb, config).await,
        Verb::Policy(verb) => policy::run(verb, config).await,
        Verb::Install(args) => install::run(args, config).await,
        Verb::Doctor(args) => doctor::run(args, config).await,
        Verb::Plugin(verb) => plugin::run(verb, config).await,
        Verb::Demo(args) => demo::run(args).await,
        Verb::Completions(args) => completions::run(args),
    }
}

/// In whose name to act: the name that was given, else the user of the operating system. A name that begins as an owner does
/// would be another owner than it looks like, and rules that name this one would not hold for it.
fn owner(name: Option<&str>) -> anyhow::Result<Owner> {
    let Some(name) = name else { return Ok(crate::config::os_owner()?) };
    if let Some((source @ ("name" | "os" | "key" | "jwt"), rest)) = name.split_once(':') {
        let what = match source {
            "name" => format!("--owner takes the name alone: write --owner {}", text::shell(rest)),
            _ => {
                "--owner takes a name, and its calls are those of name:NAME: leave it out to call as the system's user"
                    .into()
            }
        };
        return Err(Usage(what).into());
    }
    Ok(Owner::new("name", name)?)
}

/// A mistake on the command line that only a verb can see.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Usage(String);

fn code_of(error: &anyhow::Error) -> u8 {
    let config = |e: &Error| matches!(e.kind(), ErrorKind::Config | ErrorKind::Plugin | ErrorKind::Policy);
    if error.is::<Usage>() || error.downcast_ref::<Error>().is_some_and(config) { exit::USAGE } else { exit::OTHER }
}

/// An error with its causes, each that says something new.
fn chain(error: &anyhow::Error) -> String {
    let mut shown = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if shown.is_empty() {
            shown = cause;
        } else if !shown.contains(&cause) {
            shown = format!("{shown}\n  because: {cause}");
        }
    }
    shown
}

/// A message for people.
fn say(message: &str) {
    let message: Vec<_> = message.lines().map(text::escape).collect();
    let message = message.join("\n");
    let red = anstyle::AnsiColor::Red.on_default().bold();
    print::told(&format!("{red}error:{red:#} {message}\n"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        use clap::CommandFactory as _;
        Cli::command().debug_assert();
    }
}
