//! Puts a host together, or says why not: everything that could weaken the contract stops the start.

use super::audits::{Audits, in_force as to_tell};
use super::in_force::{Applied, Policy};
use super::listing::{self, Listing};
use super::named::Listed;
use super::revision::{self, Revised};
use super::succession::Place;
use super::{Host, Inner, Tool};
use crate::audit::in_force::Cause;
use crate::audit::{Audit, WeakAudit};
use crate::gate::{self, Gate, GateError};
use crate::names::Names;
use crate::native::{Native, NativeTool};
use crate::permit::{self, Rules};
use crate::plugin::turns::{Line, Turns};
use crate::plugin::{Plugin, grants};
use crate::policy::{Budget, Level};
use crate::schema::{Schema, spelt};
use crate::tool::{Backend, Declaration, NAME_RULE, is_name};
use crate::{Error, ErrorKind, text};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use tokio_util::task::TaskTracker;

/// The argument that carries the token, unless said otherwise.
pub const CONFIRM_PARAMETER: &str = "confirm_token";

/// A host in the making.
pub struct HostBuilder {
    gate: Gate,
    /// Those of the backends whose grants are to be checked.
    plugins: Vec<Plugin>,
    backends: Vec<Arc<dyn Backend>>,
    natives: Vec<NativeTool>,
    levels: Vec<(String, Level)>,
    policy: Policy,
    confirm_parameter: String,
    /// Those of the host that this one takes the place of.
    runs: Option<TaskTracker>,
    calls: TaskTracker,
    /// Behind that of the same host.
    place: Place,
    /// What still runs there, by the names of plug-ins.
    before: BTreeMap<String, Line>,
    /// Those of the hosts before.
    earlier: Vec<WeakAudit>,
    audit: Option<Audit>,
}

impl HostBuilder {
    pub(super) fn new(gate: Gate) -> Self {
        Self {
            gate,
            plugins: Vec::new(),
            backends: Vec::new(),
            natives: Vec::new(),
            levels: Vec::new(),
            policy: Policy::default(),
            confirm_parameter: CONFIRM_PARAMETER.to_owned(),
            runs: None,
            calls: TaskTracker::new(),
            place: Place::default(),
            before: BTreeMap::new(),
            earlier: Vec::new(),
            audit: None,
        }
    }

    /// Adds a plug-in's tools.
    #[must_use]
    pub fn plugin(mut self, plugin: Plugin) -> Self {
        self.plugins.push(plugin.clone());
        self.backend(Arc::new(plugin))
    }

    /// Adds a backend's tools.
    pub(super) fn backend(mut self, backend: Arc<dyn Backend>) -> Self {
        self.backends.push(backend);
        self
    }

    /// Adds a native tool.
    #[must_use]
    pub fn native(mut self, tool: NativeTool) -> Self {
        self.natives.push(tool);
        self
    }

    /// Raises a tool, by the name that it is listed under: a floor under every one of its plans.
    #[must_use]
    pub fn level(mut self, tool: impl Into<String>, level: Level) -> Self {
        self.levels.push((tool.into(), level));
        self
    }

    /// Adds a rule on arguments. The rules are told by their numbers, from 1, in the order in which they are added.
    #[cfg(feature = "rules")]
    #[must_use]
    pub fn rule(mut self, rule: crate::policy::Rule) -> Self {
        self.policy.rules.push(rule);
        self
    }

    /// Adds a budget. Budgets are told by their numbers, from 1, in the order in which they are added.
    #[must_use]
    pub fn budget(mut self, budget: Budget) -> Self {
        self.policy.budgets.push(budget);
        self
    }

    /// The argument that carries the token; `confirm_token` unless said otherwise.
    #[must_use]
    pub fn confirm_parameter(mut self, name: impl Into<String>) -> Self {
        self.confirm_parameter = name.into();
        self
    }

    /// Takes the place of another host over the same store: what that one has started is its own to end, and
    /// [`Host::drain`] waits for it, too. Until it has ended, the calls of a plug-in and those of the ones that had its name are
    /// counted together, however many hosts ago that was, and also where one between had none of that name.
    #[must_use]
    pub fn succeeds(mut self, before: &Host) -> Self {
        self.runs = Some(before.inner.runs.clone());
        self.calls = before.inner.calls.clone();
        self.place = before.inner.place.next();
        self.before = before.inner.lines();
        self.earlier = before.inner.audits.for_the_next();
        self
    }

    /// Writes an audit. Without one nothing is recorded of what is called. A host that takes another's place is given that
    /// one's, and says in it what is in force from the moment that it is: when it is exchanged in
    /// ([`Host::exchanged_in`]) or first called.
    #[must_use]
    pub fn audit(mut self, audit: Audit) -> Self {
        self.audit = Some(audit);
        self
    }

    /// Starts the host.
    ///
    /// # Errors
    /// [`ErrorKind::Config`]: a name of a tool or a plug-in that is taken twice, that people would take for another or that
    /// is none, a schema that is none or has the
    /// confirm parameter, a native tool that is incomplete or has a limit of zero, a directory that is granted inside another
    /// that a plug-in may write, or that reaches a plug-in's file, compiled code, or the audit with its checkpoints and their command. [`ErrorKind::Policy`]: a level that would
    /// lower, or for a tool that there is not, or a rule or a budget of that sort. [`ErrorKind::Gate`]: the gate failed.
    pub async fn build(self) -> Result<Host, Error> {
        let Self { gate, plugins, mut backends, natives, levels, policy: in_force, confirm_parameter, .. } = self;
        let (runs, calls, place) = (self.runs, self.calls, self.place);
        let (audit, earlier, mut before) = (self.audit, self.earlier, self.before);
        if !is_name(&confirm_parameter) {
            return Err(config(format!(
                "confirm parameter \"{}\" is no name: {NAME_RULE}",
                confirm_parameter.escape_debug()
            )));
        }
        grants::check_together(&plugins, gate.cache(), audit.as_ref())?;
        let mut overrides = BTreeMap::new();
        for (tool, level) in levels {
            if overrides.insert(tool.clone(), level).is_some() {
                return Err(policy(format!("tool \"{}\" is given a level twice: keep one", tool.escape_debug())));
            }
        }
        let mut names = Names::with([Native::NAME]);
        for name in backends.iter().map(|backend| backend.name()) {
            if let Err(like) = names.take(name) {
                return Err(config(format!(
                    "plug-in \"{}\" has a name that is taken, by another plug-in or by the native tools, or that is \
                     easily taken for \"{}\": rename it",
                    name.escape_debug(),
                    like.escape_debug()
                )));
            }
        }
        for plugin in &plugins {
            if let Some(line) = before.remove(plugin.name()) {
                plugin.succeed(&line);
            }
        }
        backends.push(Arc::new(Native::new(natives)?));

        let model_version = gate.model_version().await.map_err(failed)?;
        in_force.check()?;
        let making =
            Making { gate: &gate, confirm_parameter: &confirm_parameter, model: &model_version, policy: &in_force };
        let mut tools: HashMap<String, Arc<Tool>> = HashMap::new();
        let mut looks = Names::default();
        let mut listings = Vec::new();
        for backend in &backends {
            let checking = Arc::new(Turns::checks());
            for declaration in backend.tools() {
                let operator = overrides.remove(&declaration.name);
                if let Some(other) = tools.get(&declaration.name) {
                    return Err(config(format!(
                        "tool \"{}\" is listed by \"{}\" and by \"{}\": rename one of the two",
                        declaration.name,
                        other.backend.name(),
                        backend.name()
                    )));
                }
                if let Err(like) = looks.take(&declaration.name) {
                    let other = tools.get(&like).map_or("", |other| other.backend.name());
                    return Err(config(format!(
                        "tool \"{}\" of \"{}\" is easily taken for \"{}\" of \"{}\": rename one of the two",
                        declaration.name.escape_debug(),
                        backend.name().escape_debug(),
                        like.escape_debug(),
                        other.escape_debug()
                    )));
                }
                let (tool, listing) =
                    making.tool(Arc::clone(backend), &checking, declaration.clone(), operator).await?;
                tools.insert(declaration.name.clone(), Arc::new(tool));
                listings.push(listing);
            }
        }
        if let Some((tool, level)) = overrides.pop_first() {
            return Err(policy(format!(
                "there is no tool \"{}\" to raise to {level}: give a name that is listed",
                tool.escape_debug()
            )));
        }
        in_force.check_tools(&listings, &Listed::all(&listings, &tools))?;
        let cause = if runs.is_some() { Cause::Reload } else { Cause::Start };
        let told = audit.map(|audit| (audit, to_tell(cause, &model_version, &tools, &in_force)));
        let audits = Audits::new(told, earlier);
        let runs = runs.unwrap_or_default();
        runs.close();
        calls.close();
        let inner = Inner {
            gate,
            audits,
            confirm_parameter,
            model_version,
            tools,
            listings,
            plugins,
            runs,
            calls,
            place,
            absent: before,
        };
        Ok(Host { inner: Arc::new(inner) })
    }
}

/// What every tool is made with.
struct Making<'a> {
    gate: &'a Gate,
    confirm_parameter: &'a str,
    model: &'a str,
    policy: &'a Policy,
}

impl Making<'_> {
    async fn tool(
        &self,
        backend: Arc<dyn Backend>,
        checking: &Arc<Turns>,
        declaration: Declaration,
        operator: Option<Level>,
    ) -> Result<(Tool, Listing), Error> {
        let name = &declaration.name;
        let place = format!("tool \"{}\" of \"{}\"", name.escape_debug(), backend.name().escape_debug());
        if !is_name(name) {
            return Err(config(format!("{place} has a bad name: {NAME_RULE}")));
        }
        let schema = match backend.schema(name) {
            Some(schema) => schema,
            None => Schema::compile(&declaration.input_schema)
                .map(Arc::new)
                .map_err(|what| config(format!("{place} has a bad input schema: {what}")))?,
        };
        let shown = self.shown(&place, &declaration.input_schema)?;
        let output_schema = match &declaration.output_schema {
            None => None,
            Some(details) => {
                let bad = |error| match error {
                    GateError::Misuse(what) => config(format!("{place} has a bad output schema: {what}")),
                    other => failed(other),
                };
                let listed = self.gate.output_schema(Some(details.as_str())).await.map_err(bad)?;
                match spelt::text(details) {
                    Some(details) => Some(self.gate.output_schema(Some(&details)).await.map_err(bad)?),
                    None => Some(listed),
                }
            }
        };

        let lowered = |error| match error {
            GateError::Misuse(what) => policy(format!("{place}: {what}")),
            other => failed(other),
        };
        // The operator's own word first: one that would lower is a mistake also where something else raises.
        let asked = self.gate.ceiling(declaration.level.into(), operator.map(Into::into));
        let mut level = Level::from(asked.await.map_err(lowered)?);
        let mut rules = Rules { declared: declaration.level, critical: declaration.critical, operator };
        if !backend.locked() && rules.declared != Level::Safe {
            rules.operator = Some(Level::ApprovalRequired);
            level = Level::ApprovalRequired;
        }
        let applied = self.policy.of(name);
        level = level.max(applied.highest().unwrap_or(Level::Safe));
        let standing = permit::stand(self.gate, rules, name).await.map_err(lowered)?;
        let needs_confirmation = standing.is_none() || level == Level::ApprovalRequired;
        if needs_confirmation && !backend.previews(name) {
            return Err(config(format!(
                "{place} can need a confirmation and has no preview: give it a preview closure"
            )));
        }

        // The mildest plan that there can be: where even that is confirmed, every call is.
        let mildest = self.gate.resolve_level(
            rules.declared.into(),
            rules.critical,
            rules.operator.map(Into::into),
            Some(gate::Level::Safe),
        );
        let always_confirmed = mildest.await.map_err(lowered)? == gate::Level::ApprovalRequired;

        let listed =
            if needs_confirmation { listing::with_confirm_parameter(shown, self.confirm_parameter) } else { shown };
        let listing = Listing {
            name: name.clone(),
            title: declaration.title.as_deref().map(|title| text::escape(title).into_owned()),
            description: text::prose(declaration.description.clone()),
            input_schema: listed.to_string(),
            output_schema,
            level,
            declared: declaration.level,
            needs_confirmation,
            always_confirmed,
            confirmed_by_rule: needs_confirmation && standing.is_some(),
            backend: backend.name().to_owned(),
            enforced: backend.enforced(),
            locked: backend.locked(),
        };
        let revision = revision::of(Revised {
            backend: backend.as_ref(),
            declaration: &declaration,
            rules,
            applied: &applied,
            confirm_parameter: self.confirm_parameter,
            model: self.model,
        });
        let Applied { budgets, .. } = applied;
        let tool = Tool {
            backend,
            declaration,
            rules,
            raised: operator,
            level,
            standing,
            schema,
            checking: Arc::clone(checking),
            revision,
            #[cfg(feature = "rules")]
            ruled: applied.ruled,
            budgets,
        };
        Ok((tool, listing))
    }

    /// An input schema to list, which compiled: it must leave the confirm parameter free.
    fn shown(&self, place: &str, text: &str) -> Result<Value, Error> {
        let mut schema: Value =
            serde_json::from_str(text).map_err(|error| config(format!("{place} has a bad input schema: {error}")))?;
        if listing::mentions(&schema, self.confirm_parameter) {
            return Err(config(format!(
                "{place} has an argument \"{}\" of its own, which is the confirm parameter: choose another name for \
                 that (`confirm_parameter`)",
                self.confirm_parameter
            ))
            .at("gate.confirm_parameter".to_owned()));
        }
        spelt::spell(&mut schema);
        Ok(schema)
    }
}

fn config(message: String) -> Error {
    Error::new(ErrorKind::Config, message)
}

fn policy(message: String) -> Error {
    Error::new(ErrorKind::Policy, message)
}

fn failed(error: GateError) -> Error {
    Error::new(ErrorKind::Gate, format!("the gate failed: {error}"))
}
