//! `demo`: the whole story on the real plug-ins, in a temporary directory. Every sentence that it claims is checked against
//! the disk or the answer; one that does not hold makes the demo fail.

mod files;
mod offers;
mod pdf;
mod stage;

use super::exit;
use super::shipped::Shipped;
use super::wait::{KEPT, wait};
use crate::config::Dirs;
use crate::gate::{Gate, GateOptions, Settings, SystemClock};
use crate::plugin::{Access, DirGrant, Plugin, PluginOptions, Sandbox, SandboxOptions};
use crate::store::SqliteStore;
use crate::{Error, Host, HostBuilder, Incoming, Owner, digest};
use stage::{Answer, Stage};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[derive(clap::Args)]
pub(super) struct Args {}

/// The plug-ins, and the directory that each sees, by its name in the sandbox.
const PLUGINS: [(Shipped, &str); 3] =
    [(Shipped::Files, "/files"), (Shipped::Offers, "/data"), (Shipped::Pdf, "/documents")];

pub(super) async fn run(_: Args) -> anyhow::Result<u8> {
    let place = tempfile::tempdir()?;
    let directory = |name: &str| place.path().join(name);
    for (plugin, _) in PLUGINS {
        fs::create_dir(directory(plugin.name()))?;
    }
    files::prepare(&directory("files"))?;
    offers::prepare(&directory("offers"))?;
    pdf::prepare(&directory("pdf"))?;

    let base = place.path().to_owned();
    let made =
        wait(|| format!("compiling the gate and three plug-ins{KEPT}"), async move { Workshop::new(base).await });
    let workshop = made.await??;
    let host = workshop.host().build().await?;
    let mut stage = Stage::new()?;
    stage.say("An agent has three plug-ins, each in a sandbox that sees one directory and nothing else.")?;

    stage.act("Files", directory("files"))?;
    files::play(&host, &mut stage).await?;
    stage.act("Offers: what a conversion pays", directory("offers"))?;
    offers::play(&host, &mut stage).await?;
    stage.act("Documents: what leaves the sandbox", directory("pdf"))?;
    pdf::play(&host, &workshop, &mut stage).await?;
    host.drain().await;

    Ok(if stage.finish()? { exit::OK } else { exit::OTHER })
}

/// What hosts are made of: as `serve` would have it, with everything but compiled code in the temporary directory.
struct Workshop {
    gate: Gate,
    plugins: Vec<Plugin>,
}

impl Workshop {
    async fn new(base: PathBuf) -> Result<Self, Error> {
        let cache = Dirs::of_user().ok().map(|dirs| dirs.cache);
        let gate = Gate::new(GateOptions {
            store: Arc::new(SqliteStore::open(&base.join("state.db"))?),
            clock: Arc::new(SystemClock),
            settings: Settings::default(),
            cache: cache.clone(),
        })?;
        let sandbox = Sandbox::new(SandboxOptions { cache })?;
        let mut plugins = Vec::new();
        for (plugin, guest) in PLUGINS {
            let mut options = PluginOptions::new(plugin.name());
            options.dirs.push(grant(&base.join(plugin.name()), guest));
            options.lock = Some(digest::sha256(plugin.component()));
            plugins.push(Plugin::from_bytes(&sandbox, plugin.component(), options, "in this program").await?);
        }
        Ok(Self { gate, plugins })
    }

    /// A host of these plug-ins, over the one store.
    fn host(&self) -> HostBuilder {
        self.plugins.iter().cloned().fold(Host::builder(self.gate.clone()), HostBuilder::plugin)
    }
}

fn grant(host: &Path, guest: &str) -> DirGrant {
    DirGrant { host: host.to_owned(), guest: guest.to_owned(), access: Access::ReadWrite }
}

/// One call, shown with its answer. The token goes in as the agent would put it.
async fn call(
    host: &Host,
    stage: &Stage,
    who: &str,
    tool: &str,
    arguments: &str,
    token: Option<&str>,
) -> anyhow::Result<Answer> {
    stage.show_call(who, tool, arguments, token)?;
    let sent = match (token, arguments.strip_suffix('}')) {
        (Some(token), Some(open)) => format!(r#"{open},"{}":"{token}"}}"#, host.confirm_parameter()),
        _ => arguments.to_owned(),
    };
    let incoming = Incoming { owner: Owner::new("name", who)?, tool: tool.to_owned(), arguments: sent, progress: None };
    let answer = Answer::new(host.call(incoming).await)?;
    stage.show_answer(&answer)?;
    Ok(answer)
}
