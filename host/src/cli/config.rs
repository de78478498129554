//! `config`: make a configuration to start from, check one, or print the schema of the file.

mod check;
mod init;

use super::exit;
use super::print::json;
use super::shipped::Shipped;
use crate::config::Config;
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
    #[command(
        after_help = "Examples:\n  counterfoil config check\n  counterfoil config check --json | jq '.grants[] | select(.may == null)'\n\nExit codes: 0 in order, 1 something cannot be used, or the audit not be written, 2 the configuration is wrong."
    )]
    Check {
        /// Print JSON for programs
        #[arg(long)]
        json: bool,
    },
    /// Print the JSON Schema of the configuration file
    Schema,
}

pub(super) async fn run(verb: Verb, config: Option<&Path>) -> anyhow::Result<u8> {
    match verb {
        Verb::Init { dir, plugins } => init::run(&dir, plugins).await,
        Verb::Check { json } => check::run(json, config).await,
        Verb::Schema => {
            json(&serde_json::to_string_pretty(&Config::schema())?)?;
            Ok(exit::OK)
        }
    }
}
