//! `serve`: the tools for one agent, over MCP on standard input and output.

use super::{exit, locked, log, open, owner, print};
use crate::host::CONFIRM_PARAMETER;
use crate::transport::mcp::{self, Announced};
use std::io::IsTerminal as _;
use std::path::Path;
use std::sync::OnceLock;

#[derive(clap::Args)]
#[command(after_help = "\
An MCP client starts this command itself:
  { \"mcpServers\": { \"counterfoil\": { \"command\": \"counterfoil\",
      \"args\": [\"serve\", \"--config\", \"/path/to/counterfoil.toml\"] } } }")]
pub(super) struct Args {
    /// In whose name the agent calls [default: the user that runs this process]
    #[arg(long, value_name = "NAME")]
    owner: Option<String>,
}

pub(super) async fn run(args: Args, config: Option<&Path>) -> anyhow::Result<u8> {
    log::start();
    let owner = owner(args.owner.as_deref())?;
    let config = open::load(config)?;
    // What takes no compiling is found wrong before the client hears a word; the rest is loaded while it says hello.
    let store = open::store(&config)?;
    let announced = Announced {
        confirm_parameter: config.gate.confirm_parameter.clone().unwrap_or_else(|| CONFIRM_PARAMETER.to_owned()),
        max_arguments: open::settings(&config).max_arguments,
    };
    let opened = OnceLock::new();
    let loading = async {
        let host = open::host(&config, store).await?;
        host.keep_swept();
        locked::unlocked(&config).iter().for_each(|what| tracing::warn!("{what}"));
        // Nobody else sets it.
        let _ = opened.set(host.clone());
        anyhow::Ok(host)
    };
    if std::io::stdin().is_terminal() {
        print::told("waiting for an MCP client on standard input; an MCP client is told to run this command itself\n");
    }
    let (input, output) = mcp::stdio();
    tokio::select! {
        served = mcp::serve_while_loading(announced, loading, owner, input, output) => served?,
        () = stopped() => {}
    }
    // What has started is not stopped: it comes to its end or its deadline, and its outcome is recorded.
    if let Some(host) = opened.get() {
        host.drain().await;
    }
    Ok(exit::OK)
}

/// Returns when this process is asked to stop.
pub(super) async fn stopped() {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut terminated) = signal(SignalKind::terminate()) else { return std::future::pending().await };
    tokio::select! {
        interrupted = tokio::signal::ctrl_c() => if interrupted.is_err() { std::future::pending().await },
        _ = terminated.recv() => {}
    }
}
