//! `serve`: the tools for one agent, over MCP on standard input and output.

mod reload;

use super::{exit, locked, log, open, owner, print};
use crate::host::CONFIRM_PARAMETER;
use crate::transport::mcp::{self, Announced, Replaceable};
use std::io::IsTerminal as _;
use std::path::Path;
use std::sync::Arc;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::SetOnce;

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
    // Before anything is read that a hangup could be about; what came until now is caught, and about nothing.
    let hangups = signal(SignalKind::hangup())?;
    log::start();
    let owner = owner(args.owner.as_deref())?;
    let config = open::load(config)?;
    // What takes no compiling is found wrong before the client hears a word; the rest is loaded while it says hello.
    open::variables(&config)?;
    let store = open::store(&config)?;
    let announced = Announced {
        confirm_parameter: config.gate.confirm_parameter.clone().unwrap_or_else(|| CONFIRM_PARAMETER.to_owned()),
        max_arguments: open::settings(&config).max_arguments,
    };
    let (replaceable, opened) = (Replaceable::new(announced), SetOnce::new());
    let loading = async {
        let whole = open::whole(&config, Arc::clone(&store), None).await?;
        whole.host.keep_swept();
        whole.look();
        locked::unlocked(&config).iter().for_each(|what| tracing::warn!("{what}"));
        let host = whole.host.clone();
        // Nobody else sets it.
        let _ = opened.set(whole);
        anyhow::Ok(host)
    };
    let reloading = async {
        let whole = opened.wait().await.clone();
        reload::on(hangups, reload::InForce { config: config.clone(), whole, store: Arc::clone(&store) }, &replaceable)
            .await;
    };
    if std::io::stdin().is_terminal() {
        print::told("waiting for an MCP client on standard input; an MCP client is told to run this command itself\n");
    }
    let (input, output) = mcp::stdio();
    tokio::select! {
        served = mcp::serve_replaceable(&replaceable, loading, owner, input, output) => served?,
        () = stopped() => {}
        () = mcp::hung_up() => tracing::info!("the client is gone: what was not confirmed is stopped"),
        () = reloading => {}
    }
    // What has started is not stopped: it comes to its end or its deadline, and its outcome is recorded.
    replaceable.close().await;
    Ok(exit::OK)
}

/// Returns when this process is asked to stop.
pub(super) async fn stopped() {
    let Ok(mut terminated) = signal(SignalKind::terminate()) else { return std::future::pending().await };
    tokio::select! {
        interrupted = tokio::signal::ctrl_c() => if interrupted.is_err() { std::future::pending().await },
        _ = terminated.recv() => {}
    }
}
