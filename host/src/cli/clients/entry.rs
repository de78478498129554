//! How a client starts a server: a command, its arguments, and what is added to its environment.

use crate::text::{brief, shell};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// Where a server's default store is: the one variable that an entry of ours has or has not.
pub(in crate::cli) const STATE: &str = "XDG_STATE_HOME";

const AROUND: [&str; 3] = ["cwd", "envFile", "env_file"];

/// One server, as far as a client needs it to start one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in crate::cli) struct ServerEntry {
    /// The program; empty where the entry starts none, such as that of a server on the network.
    pub(in crate::cli) command: String,
    /// Its arguments.
    pub(in crate::cli) args: Vec<String>,
    /// What it finds in its environment beside what its client gives.
    pub(in crate::cli) env: BTreeMap<String, String>,
    /// The client does not start it.
    pub(in crate::cli) disabled: bool,
    /// Where it runs, and the file that more of its environment is read from: whatever of these the entry has, as JSON.
    pub(in crate::cli) around: Vec<(&'static str, String)>,
}

impl ServerEntry {
    /// The entry that a client would read. What is of another type than it must be is taken for missing.
    pub(super) fn of(value: &Value) -> Self {
        let texts = |key: &str| value.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let env = value.get("env").and_then(Value::as_object).into_iter().flatten();
        let off = |key: &str, when: bool| value.get(key).and_then(Value::as_bool) == Some(when);
        Self {
            command: value.get("command").and_then(Value::as_str).unwrap_or_default().to_owned(),
            args: texts("args").iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            env: env.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned()))).collect(),
            disabled: off("disabled", true) || off("enabled", false),
            around: AROUND.into_iter().filter_map(|key| Some((key, value.get(key)?.to_string()))).collect(),
        }
    }

    /// Whether both start the same program.
    pub(super) fn starts_what(&self, other: &Self) -> bool {
        let real = |command: &str| Path::new(command).canonicalize().ok().filter(|_| Path::new(command).is_absolute());
        !self.command.is_empty()
            && (self.command == other.command
                || real(&self.command).is_some_and(|program| Some(program) == real(&other.command)))
    }

    /// What no entry of ours has and what yet decides what runs: variables, a folder, a file of variables. For people.
    pub(in crate::cli) fn foreign(&self) -> Option<String> {
        let variables = self.env.keys().filter(|name| ![STATE, "COUNTERFOIL_LOG"].contains(&name.as_str()));
        let variables: Vec<_> = variables.map(|name| brief(name)).collect();
        let env = (!variables.is_empty()).then(|| format!("env {}", variables.join(" ")));
        let around = self.around.iter().map(|(key, value)| format!("{key} {}", brief(value)));
        let all: Vec<_> = env.into_iter().chain(around).collect();
        (!all.is_empty()).then(|| all.join(", "))
    }

    /// What it runs, as a line for a shell; of a long word its beginning.
    pub(in crate::cli) fn line(&self) -> String {
        let words = std::iter::once(&self.command).chain(&self.args);
        words.map(|word| shell(&brief(word))).collect::<Vec<_>>().join(" ")
    }

    /// Whether a client would start the same with this entry: it may set more variables, except the one that decides which
    /// store is used.
    pub(super) fn is(&self, other: &Self) -> bool {
        self.command == other.command
            && self.args == other.args
            && self.env.get(STATE) == other.env.get(STATE)
            && other.env.iter().all(|(name, value)| self.env.get(name) == Some(value))
    }

    /// The configuration that the arguments name.
    pub(in crate::cli) fn config(&self) -> Option<&str> {
        let mut args = self.args.iter();
        while let Some(arg) = args.next() {
            match arg.strip_prefix("--config") {
                Some("") => return args.next().map(String::as_str),
                Some(rest) => return rest.strip_prefix('='),
                None => {}
            }
        }
        None
    }
}
