//! `demo`: the whole story on the real plug-in, in a temporary directory.

#[derive(clap::Args)]
pub(super) struct Args {}

pub(super) async fn run(_: Args) -> anyhow::Result<u8> {
    anyhow::bail!("the demo is not in this build")
}
