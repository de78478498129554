//! Where the audit is written and what keeps its heads, as it is written in the file.

use super::check::{shown, size};
use super::file::At;
use super::units::Size;
use super::{Dirs, Places, under};
use crate::audit::{AuditOptions, CheckpointCommand, LEAST_FILE, MAX_FILE, guarded};
use crate::gate::SystemClock;
use crate::plugin::reach::Protected;
use crate::{Error, others, private};
use schemars::JsonSchema;
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What happened, for whoever has to know: every call that is not safe. It cannot be switched off.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct AuditTable {
    /// The folder of its files. Nothing in it is ever deleted. Default: "audit" in your state directory.
    pub dir: Option<At<String>>,
    /// A further folder for checkpoints, best one that whoever can change the audit cannot. They are always in your state
    /// directory as well.
    pub checkpoint: Option<At<String>>,
    /// A program, by its whole path, and its arguments: it is given each head on its standard input, once a second at most.
    pub checkpoint_command: Option<At<Vec<String>>>,
    /// Size at which a file is ended and the next begun, at least "64 KiB". Default: "16 MiB".
    pub max_file: Option<At<Size>>,
}

/// Where the audit is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditConfig {
    /// The folder of its files.
    pub dir: PathBuf,
    /// Where checkpoints are kept: in the state directory, and wherever else was said.
    pub checkpoints: Vec<PathBuf>,
    /// What else gets them.
    pub command: Option<CheckpointCommand>,
    /// Size at which a file is ended.
    pub max_file: u64,
}

impl AuditConfig {
    /// The same for whoever writes it. `config`: the file that says so.
    pub fn options(&self, config: &Path) -> AuditOptions {
        AuditOptions {
            config: Some(std::path::absolute(config).unwrap_or_else(|_| config.to_owned())),
            dir: self.dir.clone(),
            checkpoints: self.checkpoints.clone(),
            command: self.command.clone(),
            max_file: self.max_file,
            clock: Arc::new(SystemClock),
        }
    }
}

pub(super) fn audit(table: &AuditTable, folder: &Path, user: &Dirs, places: &mut Places) -> Result<AuditConfig, Error> {
    let mut named = |key: &str, value: &Option<At<String>>| -> Result<Option<PathBuf>, Error> {
        let Some(value) = value else { return Ok(None) };
        places.note(format!("audit.{key}"), value.span());
        let path = under(folder, value.value());
        if value.value().is_empty() || !path.parent().is_some_and(Path::is_dir) {
            let parent = path.parent().filter(|_| !value.value().is_empty());
            let remedy = match parent {
                Some(parent) => format!("make it (`mkdir -p '{}'`), or mount what belongs there", shown(parent)),
                None => "write a path".to_owned(),
            };
            let what = format!("{} cannot be made: its directory does not exist; {remedy}", shown(&path));
            return Err(places.error(&format!("audit.{key}"), &what));
        }
        Ok(Some(path))
    };
    let dir = named("dir", &table.dir)?.unwrap_or_else(|| user.state.join("audit"));
    let mut checkpoints = vec![user.state.join("checkpoints")];
    checkpoints.extend(named("checkpoint", &table.checkpoint)?);
    for (number, place) in checkpoints.iter().enumerate() {
        if private::within_one_another(place, &dir) {
            let key = if number == 0 { "audit.dir" } else { "audit.checkpoint" };
            let what = "the audit and its checkpoints must not lie in one another: whoever cuts one would have both";
            return Err(places.error(key, what));
        }
    }
    let command = table.checkpoint_command.as_ref().map(|words| command(words, folder, places)).transpose()?;
    let max_file = size(table.max_file.as_ref(), "audit.max_file", places)?.unwrap_or(MAX_FILE);
    if max_file < LEAST_FILE {
        return Err(places.error("audit.max_file", "a file of the audit has at least 64 KiB: write a larger size"));
    }
    Ok(AuditConfig { dir, checkpoints, command, max_file })
}

fn command(words: &At<Vec<String>>, folder: &Path, places: &mut Places) -> Result<CheckpointCommand, Error> {
    const KEY: &str = "audit.checkpoint_command";
    places.note(KEY, words.span());
    let Some((program, arguments)) = words.value().split_first() else {
        return Err(places.error(KEY, "there is no program: write its whole path, then its arguments"));
    };
    let program = under(folder, program);
    if !program.is_file() {
        return Err(places.error(KEY, &format!("{} is no file: write the program's whole path", shown(&program))));
    }
    let command = CheckpointCommand { program, arguments: arguments.to_vec() };
    for file in guarded::named(&command) {
        if let Some(what) = changeable(&file) {
            return Err(places.error(KEY, &what));
        }
    }
    Ok(command)
}

/// Who else decides what a file of the command does.
fn changeable(file: &Path) -> Option<String> {
    let found = file.metadata().ok()?;
    if let Some(what) = others::can_write(file, &found) {
        let remedy = others::remedy(file, &found);
        return Some(format!("{} {what}: whoever writes it decides what is kept; {remedy}", shown(file)));
    }
    others::can_replace(file).map(|what| format!("{}: {what}", shown(file)))
}

/// What of it no plug-in may reach.
pub(super) fn protect(config: &AuditConfig, protected: &mut Protected) {
    guarded::protect(&config.dir, &config.checkpoints, config.command.as_ref(), protected);
}
