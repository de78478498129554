//! How a client starts a server: a command, its arguments, and what is added to its environment.

use serde_json::Value;
use std::collections::BTreeMap;

/// Where a server's default store is: the one variable that an entry of ours has or has not.
pub(in crate::cli) const STATE: &str = "XDG_STATE_HOME";

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
        }
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
