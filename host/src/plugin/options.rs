//! What the operator gives a plug-in: directories, limits, names. Nothing is granted by omission, and no limit is switched
//! off by a zero.

use super::env::{self, Secret};
use super::fixed::Fixed;
use super::grants::Granted;
use super::http::HttpGrant;
use super::manifest::{Declared, is_guest_path};
use super::sandbox::{CORE_INSTANCES_EACH, INSTANCES, STACKS, TABLE_ELEMENTS};
use crate::{Error, ErrorKind};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

/// What a plug-in may do with a granted directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[cfg_attr(feature = "program", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    /// List and read.
    ReadOnly,
    /// Change, too: in runs that are not safe, never in previews.
    ReadWrite,
}

impl Access {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::ReadWrite => "read-write",
        }
    }
}

/// A directory of the host that a plug-in sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirGrant {
    /// Where it is: an existing directory.
    pub host: PathBuf,
    /// What the plug-in calls it: an absolute path such as `/files`, without `.` or `..`.
    pub guest: String,
    /// What the plug-in may do there.
    pub access: Access,
}

/// What one call of a plug-in may use. A zero is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How long a preview may take. 5 s.
    pub preview: Duration,
    /// How long a run may take. 30 s.
    pub execute: Duration,
    /// Linear memory, in bytes, all memories of the instance together. 256 MiB: a JavaScript or Python engine fits.
    pub memory: u64,
    /// Message and details of an outcome, in bytes. 8 MiB: what can be delivered at all.
    pub output: u64,
    /// Elements of all tables together. 100 000, and no more: what the instance pool has.
    pub table_elements: u64,
    /// Core instances that one component may consist of. 64, and no more: what the instance pool has.
    pub instances: u32,
    /// Handles that a call may hold at once: open files, streams, timers. 1024, so that no plug-in uses up the process's.
    pub handles: u32,
    /// What is kept of standard output and of standard error, each, in bytes. 16 KiB.
    pub log: u64,
    /// What is kept of what all calls together print, in bytes a minute. 1 MiB: what is more is counted, and said once.
    pub log_per_minute: u64,
    /// Native stack for the plug-in's own frames, in bytes. 1 MiB; from 64 KiB to 16 MiB. Most languages keep a stack of
    /// their own in memory besides.
    pub stack: u64,
    /// Calls at once that change nothing; the next waits. 8, and no more than the sandbox has instances for, 32. One owner
    /// gets three quarters of them.
    pub reading: u32,
    /// Calls that one owner may have here at once, running or waiting: the next is refused. 64: what an agent asks for in one
    /// go, and no more than a queue of 60 s can serve.
    pub per_owner: u32,
    /// How long a call waits for its turn. 60 s: a client has long given up by then.
    pub queue: Duration,
    /// Bodies of the requests and answers of one call, together, in bytes. 16 MiB.
    pub http_body: u64,
    /// Requests that one call may send. 64: a call is one step and no crawl.
    pub http_requests: u32,
    /// Runs with the power to change something at once. 1: the next waits, also one of another process that may write to the
    /// same directory. More: nobody waits for anybody outside, and the plug-in has to stand that.
    pub max_concurrent: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            preview: Duration::from_secs(5),
            execute: Duration::from_secs(30),
            memory: 256 << 20,
            output: 8 << 20,
            table_elements: 100_000,
            instances: 64,
            handles: 1024,
            log: 16 << 10,
            log_per_minute: 1 << 20,
            stack: 1 << 20,
            reading: 8,
            per_owner: 64,
            queue: Duration::from_secs(60),
            http_body: 16 << 20,
            http_requests: 64,
            max_concurrent: 1,
        }
    }
}

impl Limits {
    fn check(&self) -> Result<(), Error> {
        let zero = [
            ("preview", self.preview.is_zero()),
            ("execute", self.execute.is_zero()),
            ("memory", self.memory == 0),
            ("output", self.output == 0),
            ("table_elements", self.table_elements == 0),
            ("instances", self.instances == 0),
            ("handles", self.handles == 0),
            ("log", self.log == 0),
            ("log_per_minute", self.log_per_minute == 0),
            ("stack", self.stack == 0),
            ("reading", self.reading == 0),
            ("per_owner", self.per_owner == 0),
            ("queue", self.queue.is_zero()),
            ("http_body", self.http_body == 0),
            ("http_requests", self.http_requests == 0),
            ("max_concurrent", self.max_concurrent == 0),
        ];
        if let Some((name, _)) = zero.iter().find(|(_, zero)| *zero) {
            return refuse(format!("limit {name} is zero: give a limit above zero, or leave it out"));
        }
        if !STACKS.contains(&self.stack) {
            let (least, most) = (STACKS.start() >> 10, STACKS.end() >> 20);
            return refuse(format!("limit stack is {} bytes: give from {least} KiB to {most} MiB", self.stack));
        }
        let pool = [
            ("table_elements", self.table_elements, TABLE_ELEMENTS as u64),
            ("instances", self.instances.into(), CORE_INSTANCES_EACH.into()),
            ("reading", self.reading.into(), INSTANCES.into()),
        ];
        match pool.iter().find(|(_, value, most)| value > most) {
            Some((name, value, most)) => {
                refuse(format!("limit {name} is {value}: the sandbox has no more than {most}"))
            }
            None => Ok(()),
        }
    }
}

/// How a plug-in is loaded.
#[derive(Clone, Debug)]
pub struct PluginOptions {
    /// The operator's name for it: `files` for `[plugins.files]`.
    pub name: String,
    /// The directories that it sees, where it asks for them.
    pub dirs: Vec<DirGrant>,
    /// The requests that it may send.
    pub http: Vec<HttpGrant>,
    /// The environment variables that it sees, where it asks for them: in previews and in runs. A list of tools is made
    /// without.
    pub env: BTreeMap<String, Secret>,
    /// What of its surroundings is fixed, for runs that have to come out the same.
    pub fixed: Fixed,
    /// What the operator says that it needs, where the component says nothing itself.
    pub declares: Option<Declared>,
    /// What one call may use.
    pub limits: Limits,
    /// The tools that are switched on, by the plug-in's own names; all of them where it is `None`.
    pub tools: Option<Vec<String>>,
    /// From a plug-in's own name to the one that is listed.
    pub rename: BTreeMap<String, String>,
    /// SHA-256 of the component that the operator has looked at, as [`Plugin::digest`](super::Plugin::digest) and `sha256sum`
    /// print it: another one is refused. `None`: nobody has looked at it yet, and until then every tool of it that is not
    /// declared safe needs a confirmation for every call.
    pub lock: Option<String>,
}

impl PluginOptions {
    /// Every tool under its own name, the usual limits, no grants, not locked.
    pub fn new(name: impl Into<String>) -> Self {
        let (limits, tools, rename) = (Limits::default(), None, BTreeMap::new());
        Self {
            name: name.into(),
            dirs: Vec::new(),
            http: Vec::new(),
            env: BTreeMap::new(),
            fixed: Fixed::default(),
            declares: None,
            limits,
            tools,
            rename,
            lock: None,
        }
    }

    /// The directories, opened.
    pub(super) fn check(&self) -> Result<Vec<Granted>, Error> {
        self.limits.check()?;
        env::check(&self.env).or_else(refuse)?;
        let mut seen = BTreeSet::new();
        self.dirs.iter().map(|grant| open(grant, &mut seen)).collect()
    }
}

fn open<'a>(grant: &'a DirGrant, seen: &mut BTreeSet<&'a str>) -> Result<Granted, Error> {
    let guest = &grant.guest;
    if !is_guest_path(guest) {
        return refuse(format!("guest path {guest:?} is not absolute and plain: write it like \"/files\""));
    }
    if !seen.insert(guest) {
        return refuse(format!("guest path {guest:?} is granted twice: give each directory a path of its own"));
    }
    Granted::open(grant)
}

fn refuse<T>(message: String) -> Result<T, Error> {
    Err(Error::new(ErrorKind::Config, message))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

    use super::*;

    #[track_caller]
    fn refused(options: PluginOptions, with: &str) {
        let error = options.check().map(drop).expect_err("refused");
        assert!(error.to_string().contains(with), "{error}");
    }

    #[test]
    fn a_zero_limit_is_refused_by_name() {
        let with = |change: fn(&mut Limits)| {
            let mut options = PluginOptions::new("x");
            change(&mut options.limits);
            options
        };
        refused(with(|limits| limits.preview = Duration::ZERO), "limit preview");
        refused(with(|limits| limits.execute = Duration::ZERO), "limit execute");
        refused(with(|limits| limits.memory = 0), "limit memory");
        refused(with(|limits| limits.output = 0), "limit output");
        refused(with(|limits| limits.table_elements = 0), "limit table_elements");
        refused(with(|limits| limits.instances = 0), "limit instances");
        refused(with(|limits| limits.handles = 0), "limit handles");
        refused(with(|limits| limits.log = 0), "limit log");
        refused(with(|limits| limits.log_per_minute = 0), "limit log_per_minute");
        refused(with(|limits| limits.stack = 0), "limit stack");
        refused(with(|limits| limits.reading = 0), "limit reading");
        refused(with(|limits| limits.per_owner = 0), "limit per_owner");
        refused(with(|limits| limits.queue = Duration::ZERO), "limit queue");
        refused(with(|limits| limits.http_body = 0), "limit http_body");
        refused(with(|limits| limits.http_requests = 0), "limit http_requests");
        refused(with(|limits| limits.max_concurrent = 0), "limit max_concurrent");
        refused(with(|limits| limits.table_elements = 100_001), "no more than 100000");
        refused(with(|limits| limits.instances = 65), "no more than 64");
        refused(with(|limits| limits.reading = 33), "no more than 32");
        refused(with(|limits| limits.stack = (64 << 10) - 1), "give from 64 KiB to 16 MiB");
        refused(with(|limits| limits.stack = (16 << 20) + 1), "give from 64 KiB to 16 MiB");
        assert!(with(|_| ()).check().is_ok());
    }

    #[test]
    fn a_directory_must_exist_and_its_guest_path_be_absolute_and_unique() {
        let place = tempfile::tempdir().unwrap();
        std::fs::write(place.path().join("file"), "").unwrap();
        let with = |grants: &[(&str, &str)]| {
            let mut options = PluginOptions::new("x");
            options.dirs = grants
                .iter()
                .map(|(host, guest)| DirGrant {
                    host: place.path().join(host),
                    guest: (*guest).into(),
                    access: Access::ReadOnly,
                })
                .collect();
            options
        };
        assert!(with(&[("", "/a"), ("", "/a/b"), ("", "/")]).check().is_ok());
        refused(with(&[("", "/a"), ("", "/a")]), "granted twice");
        for bad in ["a", "", "./a", "/a/../b", "/a//b", "/a/", "/./a"] {
            refused(with(&[("", bad)]), "not absolute and plain");
        }
        refused(with(&[("missing", "/a")]), "cannot be granted");
        refused(with(&[("file", "/a")]), "cannot be granted");
    }
}
