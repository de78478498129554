//! The program's configuration. Only this module reads files or the environment for it; what comes out is a plain value
//! in which every path is absolute and every limit is above zero.
//!
//! Nothing is switched off by omission, nothing unknown is passed over: each mistake stops the start with its line and
//! what to do. What only the loaded plug-ins can tell (names, declared levels) is checked by [`Config::admit`].

mod audit;
mod check;
mod chosen;
mod dirs;
mod env;
mod file;
mod fixed;
pub(crate) mod guard;
mod http;
mod lock;
mod places;
mod rules;
mod shape;
mod tools;
mod units;

pub use audit::AuditConfig;
pub use chosen::Chosen;
pub use dirs::{ClientFolders, Dirs, FILE_NAME, log_filter, os_owner, state_home};
pub use env::{Variable, VariableSource};
pub use lock::{Difference, Lock, Pinned, PinnedTool};
pub use places::Places;
pub use tools::{Admitted, Raise};
pub(crate) use units::length;

use crate::plugin::PluginOptions;
use crate::policy::{Budget, Rule};
use crate::{Error, ErrorKind, Level, gate};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What the program serves, and under which rules.
#[derive(Clone, Debug)]
pub struct Config {
    /// Times and limits of the contract.
    pub gate: GateConfig,
    /// Where confirmations are kept.
    pub store: StoreConfig,
    /// Where the audit is written; none: it is not.
    pub audit: Option<AuditConfig>,
    /// Where compiled components are kept; none: they are compiled at each start.
    pub cache: Option<PathBuf>,
    /// The plug-ins, by name.
    pub plugins: Vec<PluginConfig>,
    /// What the operator has looked at; [`PluginOptions::lock`] of each plug-in comes from here.
    pub lock: Lock,
    /// Rules on arguments, in the order in which they are written.
    pub rules: Vec<Rule>,
    /// Budgets, in the order in which they are written.
    pub budgets: Vec<Budget>,
    /// Where each value was written.
    pub places: Places,
}

/// Times and limits of the contract. None: the gate's default.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "each is the setting of that name in wit/gate")]
pub struct GateConfig {
    /// The argument in which callers give the token back. Default: `confirm_token`.
    pub confirm_parameter: Option<String>,
    pub ttl: Option<Duration>,
    pub replay_window: Option<Duration>,
    pub tombstone: Option<Duration>,
    pub recent_window: Option<Duration>,
    pub approval_window: Option<Duration>,
    pub cool_down: Option<Duration>,
    pub max_arguments: Option<u32>,
    pub max_depth: Option<u32>,
    pub max_number: Option<u32>,
    pub max_exponent: Option<u32>,
    pub max_plan: Option<u32>,
    pub max_precondition: Option<u32>,
    pub max_outcome: Option<u32>,
    pub max_output: Option<u32>,
    pub pending_per_owner: Option<u32>,
    pub pending_in_all: Option<u32>,
}

impl GateConfig {
    /// Puts what was configured into the gate's settings.
    pub fn apply(&self, settings: &mut gate::Settings) {
        macro_rules! put {
            ($convert:expr => $($name:ident),+) => { $(if let Some(value) = self.$name { settings.$name = $convert(value); })+ };
        }
        put!(|time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX) => ttl, replay_window, tombstone, recent_window,
            approval_window, cool_down);
        put!(|count: u32| count => max_arguments, max_depth, max_number, max_exponent, max_plan, max_precondition,
            max_outcome, max_output, pending_per_owner, pending_in_all);
    }
}

/// Where confirmations are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreConfig {
    /// In a file: a confirm in another process is the whole story.
    Sqlite(PathBuf),
    /// In this process, and gone with it.
    Memory,
}

/// One plug-in.
#[derive(Clone, Debug)]
pub struct PluginConfig {
    /// The name of its table.
    pub name: String,
    /// The component file.
    pub source: PathBuf,
    /// Grants, limits, tools and their names.
    pub options: PluginOptions,
    /// The variables that it may see; [`Config::variables`] gets their values.
    pub env: Vec<Variable>,
    /// Levels by the plug-in's own names.
    pub levels: BTreeMap<String, Level>,
}

/// Longest configuration that is read: none that a person writes is longer.
const MAX_FILE: u64 = 1 << 20;

impl Config {
    /// The configuration file that is used: the one that is given, else `counterfoil.toml` in the working directory,
    /// where the user chose that one before ([`Chosen`]), else the one in the user's configuration directory.
    ///
    /// # Errors
    /// [`ErrorKind::Config`]: there is none, and how to make one; or the one in the working directory was not chosen, and how to
    /// choose it. It is not passed over.
    pub fn find(given: Option<&Path>) -> Result<PathBuf, Error> {
        if let Some(file) = given {
            return Ok(file.to_owned());
        }
        let user = Dirs::of_user()?;
        // Anything of that name counts, so that one which cannot be read is an error and not passed over.
        if Path::new(FILE_NAME).symlink_metadata().is_ok() {
            return chosen::here(&user);
        }
        let of_user = user.config.join(FILE_NAME);
        if of_user.symlink_metadata().is_ok() {
            return Ok(of_user);
        }
        let message = format!(
            "there is no {FILE_NAME} here and no {}: make one with `counterfoil config init`, or name one with --config FILE",
            of_user.display()
        );
        Err(Error::new(ErrorKind::Config, message))
    }

    /// Reads and checks a configuration file and its lock. Default places are those of the user.
    ///
    /// # Errors
    /// [`ErrorKind::Config`]: what is wrong, with its line and what to do.
    pub fn load(file: &Path) -> Result<Self, Error> {
        let text = guard::read(file, MAX_FILE)?;
        Self::of_text(file, text, Lock::read(file)?, &Dirs::of_user()?)
    }

    /// Checks the text of a configuration file.
    pub(crate) fn of_text(file: &Path, text: String, lock: Lock, user: &Dirs) -> Result<Self, Error> {
        check::config(Places::new(file.to_owned(), text), lock, user)
    }

    /// The JSON Schema of the file.
    pub fn schema() -> serde_json::Value {
        schemars::schema_for!(file::File).to_value()
    }
}

/// A path of the configuration, from the folder that it lies in; without the `.` in `./workspace`.
fn under(folder: &Path, path: impl AsRef<Path>) -> PathBuf {
    folder.join(path).components().collect()
}
