//! The program itself and what it stands on: its file, the clock, the engine's room, the cache of compiled code.

use super::super::open;
use super::report::{Part, Report};
use super::{open_to_others, shown, standing};
use crate::cache::Held;
use crate::config::Config;
use crate::plugin::{Sandbox, SandboxOptions};
use rustix::fs::StatVfsMountFlags;
use rustix::process::{Resource, getrlimit};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

pub(super) fn program(report: &mut Report) {
    match std::env::current_exe() {
        Ok(program) if program.is_file() => {
            report.ok(Part::Program, format!("counterfoil {} at {}", env!("CARGO_PKG_VERSION"), shown(&program)));
            open_to_others(report, Part::Program, "the program", &program);
        }
        Ok(program) => {
            let what = format!("the file of this program is gone: {}", shown(&program));
            report.wrong(Part::Program, what, "install the program anew; clients cannot start this one");
        }
        Err(e) => report.wrong(Part::Program, format!("where this program is cannot be found: {e}"), "mount /proc"),
    }
}

/// Times of expiry are as good as the clock.
pub(super) fn clock(report: &mut Report, config: Option<&Path>) {
    /// Clocks of two file systems may differ by as much.
    const SLACK: Duration = Duration::from_secs(300);
    let program = std::env::current_exe().ok();
    let later = [program.as_deref(), config].into_iter().flatten().find(|file| {
        let written = file.metadata().and_then(|found| found.modified());
        written.is_ok_and(|written| written.duration_since(SystemTime::now()).is_ok_and(|ahead| ahead > SLACK))
    });
    match later {
        None => report.ok(Part::Machine, "the clock is not behind"),
        Some(file) => {
            let what = format!("the clock is behind: {} was written in its future", shown(file));
            report.wrong(Part::Machine, what, "set the clock: tokens expire by it");
        }
    }
}

/// The engine, made as for serving; with its pool of instances where there can be one.
pub(super) fn engine(report: &mut Report) -> Option<Arc<Sandbox>> {
    let limit = getrlimit(Resource::As).current;
    let room = limit.map_or_else(|| "no limit".to_owned(), |bytes| format!("a limit of {} MiB", bytes >> 20));
    match Sandbox::new(SandboxOptions { cache: None }) {
        Ok(sandbox) => {
            match (sandbox.is_pooled(), limit) {
                (true, _) => report.ok(Part::Machine, "plug-ins run in pooled instances"),
                (false, Some(_)) => {
                    let what = format!("there is {room} on the address space, and no room for a pool of instances");
                    report.warning(Part::Machine, what, "calls are slower and may fail: ulimit -v unlimited");
                }
                // The kernel has no cheap way to clear them.
                (false, None) => report.ok(Part::Machine, "plug-ins run in instances that each call allocates"),
            }
            Some(sandbox)
        }
        Err(e) => {
            let what = format!("the engine cannot be made, with {room} on the address space: {e}");
            report.wrong(Part::Machine, what, "ulimit -v unlimited");
            None
        }
    }
}

/// Whether all compiled code is kept and can be used as it is.
pub(super) fn cache(report: &mut Report, folder: &Path, sandbox: Option<&Sandbox>, config: Option<&Config>) -> bool {
    let all = open::compiled(folder, sandbox, config.map(|config| config.plugins.as_slice()).unwrap_or_default());
    let count = |held: fn(&Held) -> bool| all.iter().filter(|(_, state)| held(state)).count();
    let usable = count(|state| *state == Held::Usable);
    let (path, many) = (shown(folder), all.len());
    if let Some((what, remedy)) = of_no_use(folder, &path) {
        report.warning(Part::Cache, what, remedy);
        return usable == many;
    }
    if usable == many {
        report.ok(Part::Cache, format!("{path}: all of {many} components are compiled"));
    } else if usable + count(|state| *state == Held::Missing) == many {
        let missing = many - usable;
        report.ok(Part::Cache, format!("{path}: {missing} of {many} are not compiled yet; the next start does it"));
    }
    for (name, state) in &all {
        match state {
            Held::Usable | Held::Missing => {}
            Held::Untrusted(why) => {
                let what = format!("{path}: the compiled code of {name} is not used: {why}");
                let remedy = format!("each start compiles until you remove it: rm -r {}", quoted(folder));
                report.warning(Part::Cache, what, remedy);
            }
            Held::Unfit => {
                let what = format!("{path}: the compiled code of {name} cannot be loaded");
                report.warning(Part::Cache, what, "the next start compiles and replaces it");
            }
        }
    }
    usable == many
}

/// Why nothing can be kept in the folder, or nothing that is kept there can run.
fn of_no_use(folder: &Path, path: &str) -> Option<(String, &'static str)> {
    let ground = standing(folder);
    if rustix::fs::statvfs(&ground).is_ok_and(|found| found.f_flag.contains(StatVfsMountFlags::NOEXEC)) {
        let what = format!("{path} is on a file system from which nothing may run (noexec): each start compiles anew");
        return Some((what, "set XDG_CACHE_HOME to a folder on another one"));
    }
    let ours = ground.metadata().is_ok_and(|found| found.uid() == rustix::process::geteuid().as_raw());
    if rustix::fs::access(&ground, rustix::fs::Access::WRITE_OK).is_err() || (ground == folder && !ours) {
        let what = format!("{path}: compiled code cannot be written here, and each start compiles anew");
        return Some((what, "set XDG_CACHE_HOME to a folder of your own"));
    }
    None
}

fn quoted(path: &Path) -> String {
    crate::text::shell(&path.display().to_string())
}
