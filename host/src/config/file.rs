//! The configuration as it is written: the shape of the TOML, every key of it. Unknown keys are errors.

use super::audit::AuditTable;
use super::env::VariableTable;
use super::fixed::FixedTable;
use super::http::HttpTable;
use super::units::{Count, Length, LevelWord, Size};
use crate::plugin::{Access, manifest};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use toml::Spanned;

/// A value and where it stands.
#[derive(Deserialize)]
#[serde(transparent)]
pub(super) struct At<T>(Spanned<T>);

impl<T> At<T> {
    pub(super) fn value(&self) -> &T {
        self.0.get_ref()
    }
    pub(super) fn span(&self) -> Range<usize> {
        self.0.span()
    }
}

impl<T: JsonSchema> JsonSchema for At<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }
    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

/// A table whose keys are names of the operator's choice.
pub(super) type Named<T> = BTreeMap<Spanned<String>, T>;

/// The configuration of the `counterfoil` program. Paths are relative to this file.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(title = "counterfoil.toml")]
pub(super) struct File {
    /// The contract: times and limits.
    pub gate: GateTable,
    /// Where confirmations are kept.
    pub store: StoreTable,
    /// What happened, and where that is written.
    pub audit: AuditTable,
    /// The plug-ins, each under a name of your choice.
    #[schemars(with = "BTreeMap<String, PluginTable>")]
    pub plugins: Named<At<PluginTable>>,
    /// Rules on arguments: each raises the level of calls, or denies them.
    pub rules: Vec<At<super::rules::RuleTable>>,
    /// How much each owner may do in a period.
    pub budgets: Vec<At<super::rules::BudgetTable>>,
}

/// The contract: times and limits.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct GateTable {
    /// Life of a token: 15 s to 1 h. Default: "5m".
    pub ttl: Option<At<Length>>,
    /// The argument in which callers give the token back. Default: "confirm_token".
    pub confirm_parameter: Option<At<String>>,
    /// How long an outcome is replayed, from completion. Default: "5m".
    pub replay_window: Option<At<Length>>,
    /// How long a spent or expired token is still told apart from an unknown one. Default: "24h".
    pub tombstone: Option<At<Length>>,
    /// How far back an identical completed call is mentioned in a new preview. Default: "10m".
    pub recent_window: Option<At<Length>>,
    /// How long a person has to approve a call that needs one. Default: "30m".
    pub approval_window: Option<At<Length>>,
    /// How long after a person declined a call the same one is refused unasked. Default: "10m".
    pub cool_down: Option<At<Length>>,
    /// Size of the arguments of a call. Default: "256 KiB".
    pub max_arguments: Option<At<Size>>,
    /// Nesting of arguments, at most 512. Default: 64.
    pub max_depth: Option<At<Count>>,
    /// Characters of one number. Default: 1024.
    pub max_number: Option<At<Count>>,
    /// Magnitude of a number's decimal exponent. Default: 9999.
    pub max_exponent: Option<At<Count>>,
    /// Size of a plan. Default: "64 KiB".
    pub max_plan: Option<At<Size>>,
    /// Size of what a plan rests on. Default: "1 KiB".
    pub max_precondition: Option<At<Size>>,
    /// Size of an outcome that is kept for replay, as encoded. Default: "384 KiB".
    pub max_outcome: Option<At<Size>>,
    /// Size of an outcome that is delivered at all. Default: "8 MiB".
    pub max_output: Option<At<Size>>,
    /// Confirmations that may wait for one owner. Default: 32.
    pub pending_per_owner: Option<At<Count>>,
    /// Confirmations that may wait in all. Default: 10000.
    pub pending_in_all: Option<At<Count>>,
}

/// Where confirmations are kept.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct StoreTable {
    /// "sqlite:FILE" or "memory:". Default: an SQLite file in your state directory.
    pub url: Option<At<String>>,
}

/// One plug-in: its file, and what it may do.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PluginTable {
    /// The component file.
    pub source: At<String>,
    /// The plug-in's own names of the tools to list. Default: all. Others are unknown tools.
    pub tools: Option<Vec<At<String>>>,
    /// Directories that the plug-in may use. Default: none.
    #[serde(default)]
    pub dirs: Vec<At<DirTable>>,
    /// Requests that the plug-in may send. Default: none.
    #[serde(default)]
    pub http: Vec<At<HttpTable>>,
    /// Environment variables that the plug-in may see, in previews and in runs, by its names for them. Default: none.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, VariableTable>")]
    pub env: Named<At<VariableTable>>,
    /// A clock and randomness that are fixed, for runs that have to come out the same. Default: neither.
    #[serde(default)]
    pub fixed: FixedTable,
    /// What the plug-in needs, where the component does not say it itself: it gets what of it is granted, and nothing else.
    pub declares: Option<At<manifest::Written>>,
    /// New names by the plug-in's own names.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, String>")]
    pub rename: Named<At<String>>,
    /// Levels by the plug-in's own names of tools. They raise what the tools declare.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, LevelWord>")]
    pub levels: Named<At<LevelWord>>,
    /// Limits of each call.
    #[serde(default)]
    pub limits: LimitsTable,
}

/// A directory that a plug-in may use.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DirTable {
    /// The directory on this machine. It must not lie inside one that a plug-in may write. The very same directory may be
    /// granted to several plug-ins, which then see and may change each other's files.
    pub host: At<String>,
    /// Its path inside the plug-in, such as "/files".
    pub guest: At<String>,
    /// What the plug-in may do there. Previews and safe tools only ever read.
    #[serde(default = "read_only")]
    pub access: Access,
}

fn read_only() -> Access {
    Access::ReadOnly
}

/// Limits of each call of a plug-in.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct LimitsTable {
    /// How long a preview may take. Default: "5s".
    pub preview: Option<At<Length>>,
    /// How long a run may take. Default: "30s".
    pub execute: Option<At<Length>>,
    /// Memory of one call. Default: "256 MiB".
    pub memory: Option<At<Size>>,
    /// Size of what one call may return. Default: "8 MiB".
    pub output: Option<At<Size>>,
    /// Size of what is kept of the standard output and error of one call, each. Default: "16 KiB".
    pub log: Option<At<Size>>,
    /// Elements of all tables of one call together, at most 100000. Default: 100000.
    pub table_elements: Option<At<Count>>,
    /// Core instances that the component may consist of, at most 64. Default: 64.
    pub instances: Option<At<Count>>,
    /// Handles that one call may hold at once: open files, streams, timers. Default: 1024.
    pub handles: Option<At<Count>>,
    /// Size of the bodies of the requests and answers of one call, together. Default: "16 MiB".
    pub http_body: Option<At<Size>>,
    /// How many requests one call may send. Default: 64.
    pub http_requests: Option<At<Count>>,
    /// How many calls with write grants may run at once. Default: 1.
    pub max_concurrent: Option<At<Count>>,
    /// How many calls that change nothing may run at once, at most 32; one owner gets three quarters of them. Default: 8.
    pub reading: Option<At<Count>>,
    /// How many calls one owner may have at once, running or waiting. Default: 64.
    pub per_owner: Option<At<Count>>,
    /// How long a call waits for its turn. Default: "60s".
    pub queue: Option<At<Length>>,
    /// Size of what is kept in a minute of what all calls print. Default: "1 MiB".
    pub log_per_minute: Option<At<Size>>,
    /// Native stack of one call, "64 KiB" to "16 MiB". Default: "1 MiB".
    pub stack: Option<At<Size>>,
}
