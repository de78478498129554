//! The store: whether a start would accept its file, whether the file is whole, and what in it waits for a person.

use super::super::open;
use super::report::{Part, Report};
use super::{Place, shown, standing};
use crate::config::{Config, StoreConfig};
use crate::gate::{Clock as _, SystemClock};
use crate::store::sqlite;
use crate::text::{escape, shell};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub(super) fn check(report: &mut Report, config: &Config, place: &Place) {
    let StoreConfig::Sqlite(file) = &config.store else {
        let what = "confirmations are kept in memory: each server has its own, and they are gone with it";
        return report.ok(Part::Store, what);
    };
    network(report, &standing(file));
    if let Some(folder) = file.parent().filter(|folder| folder.is_dir()) {
        private(report, folder, "the store's folder");
    }
    let path = shown(file);
    match file.symlink_metadata() {
        Ok(found) if !found.is_file() => {
            let what = format!("{path} is no file of its own, and no start accepts it");
            return report.wrong(Part::Store, what, "give the store another path: [store] url = \"sqlite:FILE\"");
        }
        Ok(found) => {
            if !private(report, file, "the store") {
                return;
            }
            if found.mode() & 0o077 != 0 {
                let what = format!("{path} can be read by others");
                report.warning(Part::Store, what, format!("the next start closes it; or: chmod 600 {}", quoted(file)));
            }
            for suffix in ["-wal", "-shm", "-journal"] {
                let mut name = file.clone().into_os_string();
                name.push(suffix);
                let beside = PathBuf::from(name);
                if beside.symlink_metadata().is_ok() && !private(report, &beside, "what stands beside the store") {
                    return;
                }
            }
        }
        Err(_) => {
            let ground = standing(file);
            if rustix::fs::access(&ground, rustix::fs::Access::WRITE_OK).is_err() {
                let what = format!("{path} is not there, and cannot be made in {}", shown(&ground));
                return report.wrong(
                    Part::Store,
                    what,
                    "give the store a path of your own: [store] url = \"sqlite:FILE\"",
                );
            }
            return report.ok(Part::Store, format!("{path} is not there yet: the first start makes it"));
        }
    }
    look(report, config, file, place);
}

/// A server that was started here can end before SQLite has put away what it keeps beside the file. Whoever closes the file
/// last does it.
pub(super) fn tidy(config: &Config) {
    let StoreConfig::Sqlite(file) = &config.store else { return };
    let mut beside = file.clone().into_os_string();
    beside.push("-wal");
    if Path::new(&beside).is_file() {
        let _ = sqlite::look(file, SystemClock.now(), Duration::from_millis(100));
    }
}

fn look(report: &mut Report, config: &Config, file: &Path, place: &Place) {
    let path = shown(file);
    if let Err(e) = rustix::fs::access(file, rustix::fs::Access::READ_OK | rustix::fs::Access::WRITE_OK) {
        return report.wrong(Part::Store, format!("{path} cannot be written: {e}"), "correct its permissions");
    }
    let now = SystemClock.now();
    let found = match sqlite::look(file, now, place.patience) {
        Ok(found) => found,
        Err(e) => {
            let remedy =
                "stop the servers, keep a copy, and give the store another path: what was issued is lost with it";
            return report.wrong(Part::Store, e.to_string(), remedy);
        }
    };
    if found.blank {
        return report.ok(Part::Store, format!("{path} is empty: the first start fills it"));
    }
    for what in &found.damage {
        let remedy = "stop the servers, keep a copy, and give the store another path: what was issued is lost with it";
        report.wrong(Part::Store, format!("{path} is damaged: {}", escape(what)), remedy);
    }
    if found.unfinished {
        let what = if found.uncounted { "counted" } else { "checked" };
        let what = format!("{path} is too large to be {what} within {} s", place.patience.as_secs());
        report.warning(Part::Store, what, "have more patience: --patience SECONDS");
    } else if found.damage.is_empty() {
        report.ok(Part::Store, format!("{path} is whole, and can be written"));
    }
    if found.uncounted {
        return;
    }
    /// Between machines that share a store, or two readings of a clock.
    const SLACK: u64 = 5_000;
    if found.newest > now.saturating_add(SLACK) {
        let what =
            "it has confirmations that were issued in the future: the clock went back since, and they count as expired";
        report.warning(Part::Store, what, "set the clock");
    }
    match (found.lost, found.running) {
        (0, 0) => report.ok(Part::Store, "no run is lost"),
        (0, running) => report.ok(Part::Store, format!("no run is lost; {running} may still be running")),
        (lost, _) => {
            let what =
                format!("runs whose end nobody knows: {lost}; identical calls are refused until they are settled");
            report.wrong(Part::Store, what, "look at what they change, then settle them: counterfoil resolve");
        }
    }
    let settings = open::settings(config);
    let (of_owner, in_all) = (u64::from(settings.pending_per_owner), u64::from(settings.pending_in_all));
    let (owner, most) = found.most.unwrap_or_default();
    let what = format!("confirmations that wait for their second call: {} of {in_all}", found.pending);
    if found.pending >= in_all || most >= of_owner {
        let what = format!(
            "{what}; of {}: {most} of {of_owner}: no more are issued until some are used or expire",
            escape(&owner)
        );
        report.warning(Part::Store, what, "wait, or raise pending_per_owner and pending_in_all under [gate]");
    } else {
        report.ok(Part::Store, what);
    }
}

/// Whether nobody else owns or can write it; says so where it is not so.
fn private(report: &mut Report, path: &Path, what: &str) -> bool {
    let Ok(found) = path.symlink_metadata() else { return true };
    if found.uid() != rustix::process::geteuid().as_raw() {
        let what = format!("{what} belongs to another user, and no start accepts it: {}", shown(path));
        report.wrong(Part::Store, what, "choose another path: [store] url = \"sqlite:FILE\"");
        return false;
    }
    if crate::others::can_write(path, &found).is_some() {
        let what = format!("{what} can be written by other users, and no start accepts it: {}", shown(path));
        report.wrong(Part::Store, what, format!("look at what is in it, then: chmod go-w {}", quoted(path)));
        return false;
    }
    true
}

/// SQLite's locks and shared memory do not work between machines.
fn network(report: &mut Report, folder: &Path) {
    let Ok(found) = rustix::fs::statfs(folder) else { return };
    if let Some(kind) = remote(&found) {
        let what = format!(
            "{} is on a network file system ({kind}), where the store's locks cannot be relied on",
            shown(folder)
        );
        report.warning(Part::Store, what, "keep the store on a local disk: [store] url = \"sqlite:FILE\"");
    }
}

#[cfg(target_os = "linux")]
fn remote(found: &rustix::fs::StatFs) -> Option<&'static str> {
    // The field's type differs between machines; the numbers are 32 bits wide on all.
    network_kind(u32::try_from(i128::from(found.f_type) & 0xffff_ffff).ok()?)
}

#[cfg(not(target_os = "linux"))]
fn remote(found: &rustix::fs::StatFs) -> Option<&'static str> {
    /// `MNT_LOCAL` of the BSDs and macOS.
    const LOCAL: u32 = 0x1000;
    (found.f_flags & LOCAL == 0).then_some("not local")
}

/// File systems of other machines, by the numbers that `statfs` has for them.
#[cfg(target_os = "linux")]
fn network_kind(number: u32) -> Option<&'static str> {
    const KINDS: [(u32, &str); 11] = [
        (0x6969, "NFS"),
        (0xff53_4d42, "CIFS"),
        (0xfe53_4d42, "SMB"),
        (0x517b, "SMB"),
        (0x00c3_6400, "Ceph"),
        (0x5346_414f, "AFS"),
        (0x6b41_4653, "AFS"),
        (0x7375_7245, "Coda"),
        (0x0102_1997, "9P"),
        (0x0bd0_0bd0, "Lustre"),
        (0x7461_636f, "OCFS2"),
    ];
    KINDS.iter().find(|(kind, _)| *kind == number).map(|(_, name)| *name)
}

fn quoted(path: &Path) -> String {
    shell(&path.display().to_string())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn file_systems_of_other_machines_are_known_by_their_numbers() {
        assert_eq!(network_kind(0x6969), Some("NFS"));
        assert_eq!(network_kind(0xff53_4d42), Some("CIFS"));
        // ext4, btrfs, tmpfs, overlayfs
        for local in [0xef53, 0x9123_683e, 0x0102_1994, 0x794c_7630] {
            assert_eq!(network_kind(local), None);
        }
        let here = rustix::fs::statfs(std::env::temp_dir()).ok();
        assert!(here.is_some_and(|here| u32::try_from(i128::from(here.f_type) & 0xffff_ffff).is_ok()));
    }
}
