//! One call of a plug-in: its slot, its time, and what comes of it. The plug-in's answer is taken only where it keeps the
//! limits; whatever else happens is told in a line, never in a backtrace.

use super::Inner;
use super::alone::{Alone, alone};
use super::bindings::exports::counterfoil::tool::tools::{
    Context, Effect as WitEffect, Outcome as WitOutcome, Plan as WitPlan, ToolError as WitError,
};
use super::http::Reach;
use super::instance::{Instance, Usage, shortened};
use super::options::Access;
use super::stdio::{Speaker, Volume};
use super::turns::{Place, Turn};
use super::veil::{TEXT, Veil};
use crate::permit::Permit;
use crate::schema::secret::Secrets;
use crate::tool::{Effect, Observed, Outcome, Plan, Power, Prepared, Progress, RunError, ToolError};
use crate::{json, text};
use async_trait::async_trait;
use std::sync::Arc;
use tokio::time::timeout;
use wasmtime::Trap;
use wasmtime_wasi::I32Exit;

/// A run that is ready to start: its turn, and an instance in which nothing but the component's start code has run.
pub(super) struct Ready {
    plugin: Arc<Inner>,
    instance: Instance,
    tool: String,
    own: String,
    power: Power,
    veil: Veil,
    slot: Slot,
}

/// A call's turn among those of its plug-in, among those of other processes, and among all.
struct Slot {
    _turn: Turn,
    _alone: Option<Alone>,
    _shared: Turn,
    _places: [Place; 2],
}

impl Inner {
    pub(super) async fn preview(
        self: &Arc<Self>,
        owner: &str,
        tool: &str,
        arguments: &str,
        secrets: Secrets,
        progress: Option<Arc<dyn Progress>>,
    ) -> Result<Plan, ToolError> {
        let own = self.own.get(tool).ok_or(ToolError::UnknownTool)?.clone();
        let slot = self.slot(owner, Power::ReadOnly).await?;
        let mut instance = self.instance(Power::ReadOnly).await?;
        let veil = self.veil.over(secrets);
        instance.listen(progress, &veil);
        instance.store.data_mut().open(Reach::Reading);
        let (arguments, limit) = (arguments.to_owned(), self.limits.preview);
        // The slot goes with the guest, and is free when that has stopped.
        let work = async move {
            let Instance { store, plugin } = &mut instance;
            let call = plugin.counterfoil_tool_tools().call_preview(store, &own, &arguments);
            let answer = timeout(limit, call).await;
            (answer, instance, slot)
        };
        let (answer, instance, _slot) = self.sandbox.lanes.run(work).await;
        instance.log(&self.volume, &veil, &self.name, tool);
        let plan = match answer {
            Ok(Ok(Ok(plan))) => accept_plan(plan, self.limits.output),
            Ok(Ok(Err(error))) => Err(error.into()),
            Ok(Err(error)) => Err(ended(&error, &instance.store.data().usage)),
            Err(_) => Err(ToolError::Deadline(format!("it took longer than {:?}", self.limits.preview))),
        };
        plan.and_then(|plan| veil.plan(plan)).map_err(|error| veil.error(error))
    }

    pub(super) async fn prepare(
        self: Arc<Self>,
        owner: &str,
        tool: &str,
        power: Power,
        secrets: Secrets,
    ) -> Result<Ready, ToolError> {
        let own = self.own.get(tool).ok_or(ToolError::UnknownTool)?.clone();
        let slot = self.slot(owner, power).await?;
        let instance = self.instance(power).await?;
        let veil = self.veil.over(secrets);
        Ok(Ready { plugin: self, instance, tool: tool.to_owned(), own, power, veil, slot })
    }

    /// Waits for a turn: runs that can change something take turns of their own, in the order in which they came, and have
    /// their directories to themselves unless the operator lets several run at once.
    async fn slot(&self, owner: &str, power: Power) -> Result<Slot, ToolError> {
        let too_many = |calls| {
            ToolError::Unavailable(format!(
                "plug-in {} has {calls} calls of yours already, running or waiting: wait until some of them have ended, then \
                 call again",
                self.name
            ))
        };
        let place = self.turns.enter(owner).map_err(too_many)?;
        // Whoever calls many plug-ins leaves room for others, as whoever calls one.
        let everywhere = self.sandbox.slots.enter(owner).map_err(too_many)?;
        let changes = || {
            self.given.dirs.iter().any(|granted| granted.grant.access == Access::ReadWrite)
                || self.given.web.can_change()
        };
        let writes = power == Power::Granted && changes();
        let closed = |_| {
            ToolError::Unavailable(format!(
                "plug-in {} is no longer served: call again once the server has been started anew",
                self.name
            ))
        };
        let slot = async {
            let turn = place.turn(writes).await.map_err(closed)?;
            let alone = match writes && self.limits.max_concurrent == 1 {
                true => Some(alone(&self.given.dirs).await?),
                false => None,
            };
            Ok((turn, alone, everywhere.turn(false).await.map_err(closed)?))
        };
        match timeout(self.limits.queue, slot).await {
            Ok(Ok((turn, alone, shared))) => {
                Ok(Slot { _turn: turn, _alone: alone, _shared: shared, _places: [place, everywhere] })
            }
            Ok(Err(error)) => Err(error),
            Err(_) => Err(ToolError::Unavailable(format!("plug-in {} is busy: try again later", self.name))),
        }
    }

    /// The secrets of a call, for whoever has not looked for them.
    pub(super) fn secrets(&self, tool: &str, arguments: &str) -> Secrets {
        self.schemas.get(self.own.get(tool)?)?.without_secrets(arguments)
    }

    async fn instance(self: &Arc<Self>, power: Power) -> Result<Instance, ToolError> {
        if let Some(moved) = self.given.dirs.iter().find(|granted| !granted.is_in_place()) {
            let (guest, host) = (&moved.grant.guest, moved.grant.host.display().to_string());
            let host = text::escape(&host);
            tracing::error!(plugin = self.name, "{host} is no longer the directory that was granted as {guest}");
            return Err(ToolError::Unavailable(format!(
                "the directory {guest} of plug-in {} was moved or replaced since it was granted: the operator has to put it \
                 back, or to start again",
                self.name
            )));
        }
        let plugin = Arc::clone(self);
        let made = async move {
            timeout(plugin.limits.preview, Instance::new(&plugin.pre, &plugin.limits, &plugin.given, power)).await
        };
        match self.sandbox.lanes.run(made).await {
            Ok(Ok(instance)) => Ok(instance),
            Ok(Err(error)) => Err(ToolError::Unavailable(format!(
                "plug-in {} could not be started: {}",
                self.name,
                super::load::chain(&error)
            ))),
            Err(_) => Err(ToolError::Unavailable(format!(
                "plug-in {} did not start within {:?}",
                self.name, self.limits.preview
            ))),
        }
    }
}

#[async_trait]
impl Prepared for Ready {
    async fn execute(
        self: Box<Self>,
        permit: Permit,
        progress: Option<Arc<dyn Progress>>,
    ) -> Result<Outcome, RunError> {
        let Self { plugin, mut instance, tool, own, power, veil, slot } = *self;
        if permit.tool() != tool {
            let error = ToolError::Unavailable("the permit is for another tool".into());
            return Err(RunError { error, observed: Observed::Nothing });
        }
        let context = Context {
            operation_id: permit.operation_id().to_owned(),
            level: permit.level().into(),
            precondition: permit.precondition().map(str::to_owned),
        };
        let (arguments, limit) = (permit.arguments().to_owned(), permit.limit());
        instance.listen(progress, &veil);
        instance.store.data_mut().open(match power {
            Power::ReadOnly => Reach::Reading,
            Power::Granted => Reach::Granted,
        });
        // The slot goes with the guest, and is free when that has stopped.
        let work = async move {
            let Instance { store, plugin } = &mut instance;
            let call = plugin.counterfoil_tool_tools().call_execute(store, &own, &arguments, &context);
            let answer = timeout(limit, call).await;
            (answer, instance, slot)
        };
        let (answer, instance, _slot) = plugin.sandbox.lanes.run(work).await;
        instance.log(&plugin.volume, &veil, &plugin.name, &tool);
        let state = instance.store.data();
        match answer {
            Ok(Ok(Ok(outcome))) => accept_outcome(outcome, plugin.limits.output),
            Ok(Ok(Err(error))) => Err(error.into()),
            Ok(Err(error)) => Err(ended(&error, &state.usage)),
            // The permit's limit is what the start has left of it: nothing that anybody has set.
            Err(_) => Err(ToolError::Deadline(format!("it took longer than {:?}", plugin.limits.execute))),
        }
        .map(|outcome| veil.outcome(outcome))
        .map_err(|error| RunError { error: veil.error(error), observed: state.observed() })
    }
}

impl Instance {
    /// Hands what was printed to the log.
    pub(super) fn log(&self, volume: &Volume, veil: &Veil, plugin: &str, tool: &str) {
        let state = self.store.data();
        state.stdout.log(volume, veil, Speaker { plugin, tool, stream: "stdout" });
        state.stderr.log(volume, veil, Speaker { plugin, tool, stream: "stderr" });
        #[cfg(feature = "http")]
        state.denials().log(volume, veil, Speaker { plugin, tool, stream: "http" });
    }
}

/// What a plan may be is the gate's setting, which the host checks; here it is only kept from filling the memory.
fn accept_plan(plan: WitPlan, limit: u64) -> Result<Plan, ToolError> {
    let warnings: usize = plan.warnings.iter().map(String::len).sum();
    let precondition = plan.precondition.as_ref().map_or(0, String::len);
    let size = (plan.summary.len() + plan.details.len() + warnings + precondition) as u64;
    if size > limit {
        return Err(ToolError::OutputLimit(format!("its plan has {size} bytes: {limit} are allowed")));
    }
    json::check_object(&plan.details).map_err(|what| not_an_object("plan", &what))?;
    Ok(Plan {
        summary: plan.summary,
        details: plan.details,
        warnings: plan.warnings,
        level: plan.level.map(Into::into),
        precondition: plan.precondition,
    })
}

fn accept_outcome(outcome: WitOutcome, limit: u64) -> Result<Outcome, ToolError> {
    let size = outcome.message.len() as u64 + outcome.details.len() as u64;
    if size > limit {
        return Err(ToolError::OutputLimit(format!("its outcome has {size} bytes: {limit} are allowed")));
    }
    json::check_object(&outcome.details).map_err(|what| not_an_object("outcome", &what))?;
    Ok(Outcome { message: outcome.message, details: outcome.details })
}

fn not_an_object(of: &str, what: &str) -> ToolError {
    ToolError::OutputLimit(format!("the details of its {of} are not acceptable: {what}"))
}

impl From<WitError> for ToolError {
    fn from(error: WitError) -> Self {
        match error {
            WitError::UnknownTool => Self::UnknownTool,
            WitError::InvalidArguments(text) => Self::InvalidArguments(text),
            WitError::Refused(text) => Self::Refused(text),
            WitError::Failed(failure) => Self::Failed {
                message: failure.message,
                effect: match failure.effect {
                    WitEffect::None => Effect::None,
                    WitEffect::Partial => Effect::Partial,
                    WitEffect::Unknown => Effect::Unknown,
                },
            },
        }
    }
}

/// What ended an instance that did not answer.
fn ended(error: &wasmtime::Error, usage: &Usage) -> ToolError {
    // wasmtime has no type for this one: the guest handed over more than its limit, before a byte of it was copied.
    if error.root_cause().to_string().contains("fuel allocated for hostcalls") {
        return ToolError::OutputLimit("it handed over more at once than it may".into());
    }
    ToolError::Trapped(trapped(error, usage))
}

/// The same, in words.
pub(super) fn trapped(error: &wasmtime::Error, usage: &Usage) -> String {
    if let Some(exceeded) = &usage.exceeded {
        return exceeded.clone();
    }
    if let Some(I32Exit(status)) = error.downcast_ref() {
        return format!("it exited with status {status} instead of answering");
    }
    match error.downcast_ref() {
        Some(Trap::StackOverflow) => "stack overflow: it calls itself too deeply".into(),
        Some(Trap::UnreachableCodeReached) => "it panicked or aborted".into(),
        // Where a language keeps a stack of its own in memory, its end is the memory's.
        Some(Trap::MemoryOutOfBounds) => "out of bounds memory access: a stack overflow, or a fault of its own".into(),
        Some(trap) => trap.to_string(),
        None => shortened(error.root_cause().to_string().lines().next().unwrap_or_default().to_owned(), TEXT),
    }
}
