//! One call of a plug-in: its time, and what comes of it. The plug-in's answer is taken only where it keeps the
//! limits; whatever else happens is told in a line, never in a backtrace.

use super::Inner;
use super::bindings::exports::counterfoil::tool::tools::{
    Context, Effect as WitEffect, Outcome as WitOutcome, Plan as WitPlan, ToolError as WitError,
};
use super::http::Reach;
use super::instance::{Instance, Usage, shortened};
use super::slot::Held;
use super::stdio::{Speaker, Volume};
use super::veil::{TEXT, Veil};
use crate::json;
use crate::permit::Permit;
use crate::schema::secret::Secrets;
use crate::tool::{Effect, Observed, Outcome, Plan, Power, Prepared, Progress, RunError, ToolError};
use async_trait::async_trait;
use std::sync::Arc;
use tokio::time::timeout;
use wasmtime::Trap;
use wasmtime_wasi::I32Exit;

/// A run that is ready to start: its turn, and an instance in which nothing but the component's start code has run.
pub(super) struct Ready {
    plugin: Arc<Inner>,
    held: Box<Held>,
    tool: String,
    own: String,
    power: Power,
    veil: Veil,
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
        let lease = self.lease(owner, Power::ReadOnly).await?;
        let (plugin, tool, arguments) = (Arc::clone(self), tool.to_owned(), arguments.to_owned());
        let work = Box::pin(async move {
            let mut instance = plugin.instance(Power::ReadOnly, &lease).await?;
            let (veil, limits) = (plugin.veil.over(secrets), &plugin.limits);
            instance.listen(progress, &veil);
            instance.store.data_mut().open(Reach::Reading);
            let call = instance.plugin.counterfoil_tool_tools().call_preview(&mut instance.store, &own, &arguments);
            let answer = timeout(limits.preview, call).await;
            instance.log(&plugin.volume, &veil, &plugin.name, &tool);
            let plan = match answer {
                Ok(Ok(Ok(plan))) => accept_plan(plan, limits.output),
                Ok(Ok(Err(error))) => Err(error.into()),
                Ok(Err(error)) => Err(ended(&error, &instance.store.data().usage)),
                Err(_) => Err(ToolError::Deadline(format!("it took longer than {:?}", limits.preview))),
            };
            plan.and_then(|plan| veil.plan(plan)).map_err(|error| plugin.lacks.beside(veil.error(error)))
        });
        self.sandbox.lanes.run(work).await
    }

    pub(super) async fn prepare(
        self: Arc<Self>,
        owner: &str,
        tool: &str,
        power: Power,
        secrets: Secrets,
    ) -> Result<Ready, ToolError> {
        let own = self.own.get(tool).ok_or(ToolError::UnknownTool)?.clone();
        let held = self.held(owner, power).await?;
        let veil = self.veil.over(secrets);
        Ok(Ready { plugin: self, held, tool: tool.to_owned(), own, power, veil })
    }

    /// The secrets of a call, for whoever has not looked for them.
    pub(super) fn secrets(&self, tool: &str, arguments: &str) -> Secrets {
        self.schemas.get(self.own.get(tool)?)?.without_secrets(arguments)
    }
}

#[async_trait]
impl Prepared for Ready {
    async fn execute(
        self: Box<Self>,
        permit: Permit,
        progress: Option<Arc<dyn Progress>>,
    ) -> Result<Outcome, RunError> {
        let Self { plugin, mut held, tool, own, power, veil } = *self;
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
        held.instance.listen(progress, &veil);
        held.instance.store.data_mut().open(match power {
            Power::ReadOnly => Reach::Reading,
            Power::Granted => Reach::Granted,
        });
        let work = Box::pin(async move {
            let Instance { store, plugin } = &mut held.instance;
            let call = plugin.counterfoil_tool_tools().call_execute(store, &own, &arguments, &context);
            let answer = timeout(limit, call).await;
            (answer, held)
        });
        let (answer, held) = plugin.sandbox.lanes.run(work).await;
        held.instance.log(&plugin.volume, &veil, &plugin.name, &tool);
        let state = held.instance.store.data();
        let (observed, has_changed_files) = (state.observed(), state.has_changed_files());
        let ended = match answer {
            Ok(Ok(Ok(outcome))) => accept_outcome(outcome, plugin.limits.output),
            Ok(Ok(Err(error))) => Err(error.into()),
            Ok(Err(error)) => Err(ended(&error, &state.usage)),
            // The permit's limit is what the start has left of it: nothing that anybody has set.
            Err(_) => Err(ToolError::Deadline(format!("it took longer than {:?}", plugin.limits.execute))),
        };
        // What a run has begun to change is over before anybody is told of it, or nobody is told that it went well.
        let ended = match (held.ends(has_changed_files).await, ended) {
            (Err(unfinished), Ok(_)) => Err(unfinished),
            (_, ended) => ended,
        };
        ended
            .map(|outcome| veil.outcome(outcome))
            .map_err(|error| RunError { error: plugin.lacks.beside(veil.error(error)), observed })
    }
}

impl Instance {
    /// Hands what was printed to the log.
    pub(super) fn log(&self, volume: &Volume, veil: &Veil, plugin: &str, tool: &str) {
        let state = self.store.data();
        state.stdout.log(volume, veil, Speaker { plugin, tool, stream: "stdout" });
        state.stderr.log(volume, veil, Speaker { plugin, tool, stream: "stderr" });
        #[cfg(feature = "http")]
        if let Some(denials) = state.denials() {
            denials.log(volume, veil, Speaker { plugin, tool, stream: "http" });
        }
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
