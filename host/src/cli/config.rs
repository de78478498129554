//! `config`: make a configuration to start from, check one, or print the schema of the file.

mod init;

use super::print::{Table, bold, line, out};
use super::shipped::Shipped;
use super::tools::{MEANING, level, what_happens};
use super::{exit, open};
use crate::config::{Config, StoreConfig};
use crate::plugin::Access;
use crate::text;
use std::path::{Path, PathBuf};

#[derive(clap::Subcommand)]
pub(super) enum Verb {
    /// Write a first configuration, with plug-ins and a directory for each; overwrites nothing
    #[command(
        after_help = "Examples:\n  counterfoil config init agent && cd agent && counterfoil tools\n  counterfoil config init desk --plugin offers --plugin pdf"
    )]
    Init {
        /// Where
        #[arg(default_value = ".")]
        dir: PathBuf,
        /// A plug-in to set up; may be given several times
        #[arg(long = "plugin", value_name = "NAME", value_enum, default_values_t = [Shipped::Files])]
        plugins: Vec<Shipped>,
    },
    /// Load everything as `serve` would, and show what an agent could do
    Check,
    /// Print the JSON Schema of the configuration file
    Schema,
}

pub(super) async fn run(verb: Verb, config: Option<&Path>) -> anyhow::Result<u8> {
    match verb {
        Verb::Init { dir, plugins } => init::run(&dir, plugins),
        Verb::Check => check(config).await,
        Verb::Schema => {
            out(&serde_json::to_string_pretty(&Config::schema())?)?;
            Ok(exit::OK)
        }
    }
}

async fn check(given: Option<&Path>) -> anyhow::Result<u8> {
    let config = open::load(given)?;
    let host = open::open(&config).await?;
    let shown = |path: &Path| text::escape(&path.display().to_string()).into_owned();
    line(&format!("{} is in order", bold(&shown(config.places.file()))))?;
    line(&match &config.store {
        StoreConfig::Memory => "confirmations are kept in memory: each process has its own, gone with it".to_owned(),
        StoreConfig::Sqlite(file) => format!("confirmations are kept in {}", shown(file)),
    })?;
    line("")?;
    let mut tools = Table::new(["TOOL", "A CALL", "LEVEL", "PLUG-IN"]);
    for tool in host.tools() {
        tools.row([
            tool.name.clone(),
            what_happens(tool.level, tool.always_confirmed).to_owned(),
            level(tool.level, tool.declared),
            tool.backend.clone(),
        ]);
    }
    out(&tools.to_string())?;
    if host.tools().is_empty() {
        line("there is no tool: add a plug-in under [plugins.NAME]")?;
    }
    let mut grants = Table::new(["PLUG-IN", "SEES", "WHICH IS", "AND MAY"]);
    let mut any = false;
    for plugin in &config.plugins {
        for dir in &plugin.options.dirs {
            any = true;
            let may = match dir.access {
                Access::ReadOnly => "read it",
                Access::ReadWrite => "change it (never in previews and safe calls)",
            };
            grants.row([plugin.name.clone(), dir.guest.clone(), dir.host.display().to_string(), may.to_owned()]);
        }
    }
    line("")?;
    if any {
        out(&grants.to_string())?
    } else {
        line("no plug-in is granted a directory")?
    }
    line("")?;
    line(MEANING)?;
    Ok(exit::OK)
}
