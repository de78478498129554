//! `plugin`: what a plug-in file is and says of itself, before anything is granted to it; saying it for one that does not; and
//! writing down what the plug-ins of a configuration are.

pub(super) mod asked;
mod declare;
mod inspect;
pub(super) mod lock;
mod markdown;

use std::path::{Path, PathBuf};

#[derive(clap::Subcommand)]
pub(super) enum Verb {
    /// Show a plug-in's digest, interfaces, tools and what it asks for; grants it nothing
    #[command(after_help = "\
Examples:
  counterfoil plugin inspect files.wasm
  counterfoil plugin inspect files.wasm --markdown > TOOLS.md")]
    Inspect {
        /// The component file
        file: PathBuf,
        /// Print JSON for programs
        #[arg(long, conflicts_with = "markdown")]
        json: bool,
        /// Print its tools as a reference page in Markdown
        #[arg(long)]
        markdown: bool,
    },
    /// Put into a finished component, of whatever language, what it asks for
    #[command(after_help = "\
Examples:
  counterfoil plugin declare notes.wasm manifest.json
  counterfoil plugin declare notes.wasm manifest.json -o out/notes.wasm

A manifest, in which every key but the first may be left out:
  { \"manifest\": 1,
    \"dirs\": [{ \"path\": \"/notes\", \"access\": \"read-write\" }],
    \"http\": [{ \"host\": \"api.example.com\", \"methods\": [\"GET\", \"POST\"] }],
    \"env\": [\"API_KEY\"] }")]
    Declare {
        /// The component file
        file: PathBuf,
        /// What it asks for: a JSON file
        manifest: PathBuf,
        /// Where the component goes [default: into its own file]
        #[arg(short, long, value_name = "OUT")]
        output: Option<PathBuf>,
    },
    /// Write down what the plug-ins of the configuration are; one that changes is refused until it is locked again
    Lock(lock::Args),
}

pub(super) async fn run(verb: Verb, config: Option<&Path>) -> anyhow::Result<u8> {
    match verb {
        Verb::Lock(args) => lock::run(args, config).await,
        Verb::Inspect { file, json, markdown } => inspect::run(file, json, markdown).await,
        Verb::Declare { file, manifest, output } => declare::run(&file, &manifest, output.as_deref()),
    }
}
