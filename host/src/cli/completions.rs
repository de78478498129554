//! `completions SHELL`: a script that completes this program's commands.

use super::{Cli, exit, print};
use clap::CommandFactory as _;

#[derive(clap::Args)]
#[command(
    after_help = "Example: counterfoil completions bash > ~/.local/share/bash-completion/completions/counterfoil"
)]
pub(super) struct Args {
    /// The shell
    shell: clap_complete::Shell,
}

pub(super) fn run(args: Args) -> anyhow::Result<u8> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "counterfoil", &mut script);
    print::out(&String::from_utf8(script)?)?;
    Ok(exit::OK)
}
