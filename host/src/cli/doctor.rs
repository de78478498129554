//! `doctor`: looks at everything that has to be right for an agent to be served, and says of each thing how it is and what
//! to do. Repairs nothing, issues no confirmation, calls no tool, and goes on after whatever is wrong.
//!
//! What a start would make where it is missing, compiled code and the default store, is made in a folder that is gone
//! afterwards.

mod audit;
mod clients;
mod configuration;
mod machine;
mod report;
mod server;
mod store;

use crate::config::{ClientFolders, Dirs};
use report::{Part, Report};
use std::path::{Path, PathBuf};
use std::time::Duration;

#[derive(clap::Args)]
#[command(after_help = "\
Looks at the program, the machine, the configuration, each plug-in, the store, the cache of compiled code and the clients
that `counterfoil install` knows; starts the server with each command that it finds in your own clients' files, as the
client would, and asks it for its tools. Repairs nothing; like every start, that of the server closes the store's file to
others and sweeps from it what is due. What a start would make is made in a folder that is gone afterwards, for which
XDG_CACHE_HOME, and XDG_STATE_HOME where there is no store yet, are set for that server.

Exit codes: 0 nothing is wrong, 2 the configuration is wrong, 1 anything else is.")]
pub(super) struct Args {
    /// Print JSON for programs
    #[arg(long)]
    json: bool,
    /// How long to wait for a server that was started, and for the store to be read
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3600))]
    patience: u64,
}

/// What a check needs to know of the user and of this run.
struct Place {
    dirs: Dirs,
    folders: ClientFolders,
    /// Gone when this ends.
    scratch: tempfile::TempDir,
    patience: Duration,
}

pub(super) async fn run(args: Args, config: Option<&Path>) -> anyhow::Result<u8> {
    let mut report = Report::default();
    let place = Place {
        dirs: Dirs::of_user()?,
        folders: ClientFolders::of_user()?,
        scratch: tempfile::Builder::new().prefix("counterfoil-doctor-").tempdir()?,
        patience: Duration::from_secs(args.patience),
    };
    machine::program(&mut report);
    let found = configuration::find(&mut report, &place, config);
    machine::clock(&mut report, found.as_deref());
    let sandbox = machine::engine(&mut report);
    let loaded = found.as_deref().and_then(|file| configuration::load(&mut report, file));
    // Compiled code is taken from where it is kept, as long as all of it is there: what is missing would be written.
    let complete = machine::cache(&mut report, &place.dirs.cache, sandbox.as_deref(), loaded.as_ref());
    let cache = if complete { place.dirs.cache.clone() } else { place.scratch.path().join("cache/counterfoil") };
    drop(sandbox);
    if !complete && loaded.is_some() {
        super::print::note("compiling what the cache does not have, for this look only");
    }
    if let Some(config) = &loaded {
        configuration::plugins(&mut report, config, &cache).await;
        store::check(&mut report, config, &place);
        audit::check(&mut report, config);
    }
    let started = clients::check(&mut report, &place);
    clients::start(&mut report, &place, started, loaded.as_ref(), &cache).await;
    if let Some(config) = &loaded {
        store::tidy(config);
    }
    report.sort();
    if args.json {
        report.json()?
    } else {
        report.print()?
    }
    Ok(report.code())
}

/// A path for people.
fn shown(path: &Path) -> String {
    crate::text::escape(&path.display().to_string()).into_owned()
}

/// The first folder above a path that is there.
fn standing(path: &Path) -> PathBuf {
    path.ancestors().find(|folder| folder.is_dir()).unwrap_or(Path::new("/")).to_owned()
}

/// What is wrong with a file or folder that decides what runs, where somebody else can write it.
fn open_to_others(report: &mut Report, part: Part, what: &str, path: &Path) {
    use crate::others;
    let Ok(found) = path.metadata() else { return };
    if let Some(how) = others::can_write(path, &found) {
        return report.wrong(part, format!("{what} {} {how}", shown(path)), others::remedy(path, &found));
    }
    if let Some(how) = others::can_replace(path) {
        report.wrong(part, format!("{what} {}: {how}", shown(path)), "");
    }
}
