//! Native Rust functions as tools, under the same contract as plug-ins.
//!
//! A closure has no sandbox. Its preview is trusted to change nothing, which listings say (`enforced` is false); a panic
//! ends its own call only; and it cannot be stopped: past its deadline the host gives up on it and says so. What a
//! closure cannot do is run without a permit: it is called from here alone, and the host alone has permits.
//!
//! ```
//! use counterfoil::tool::{Outcome, Plan};
//! use counterfoil::{Level, NativeTool};
//!
//! let schema = r#"{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"]}"#;
//! let tool = NativeTool::new("cancel_order", Level::ApprovalRequired, schema, "orders 1")
//!     .description("Cancels an order and refunds it.")
//!     .preview(|arguments| async move { Ok(Plan::new("Will cancel the order and refund 12.50.", arguments)) })
//!     .execute(|arguments, _context| async move { Ok(Outcome::new("Order cancelled", arguments)) });
//! assert_eq!(tool.name(), "cancel_order");
//! ```

use crate::permit::Permit;
use crate::policy::Level;
use crate::schema::secret::Secrets;
use crate::tool::{Backend, Declaration, Observed, Outcome, Plan, Power, Prepared, Progress, RunError, ToolError};
use crate::{Error, ErrorKind};
use async_trait::async_trait;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinError;
use tokio_util::task::AbortOnDropHandle;

type Answer<T> = Pin<Box<dyn Future<Output = Result<T, ToolError>> + Send>>;
type Preview = Arc<dyn Fn(String) -> Answer<Plan> + Send + Sync>;
type Execute = Arc<dyn Fn(String, Context) -> Answer<Outcome> + Send + Sync>;

/// What a run is told.
#[derive(Clone)]
#[non_exhaustive]
pub struct Context {
    /// Unique to this run and stable for its lifetime: an idempotency key for the service behind the tool.
    pub operation_id: String,
    /// The level at which this call was let through: do no more than that.
    pub level: Level,
    /// The precondition of the plan that was confirmed: refuse when it no longer holds.
    pub precondition: Option<String>,
    progress: Option<Arc<dyn Progress>>,
}

impl Context {
    /// Tells the caller how far the run is, where it wants to hear: a fraction from 0 to 1, if one is known, and a sentence.
    pub fn report(&self, fraction: Option<f64>, message: &str) {
        if let Some(progress) = &self.progress {
            progress.report(fraction, message);
        }
    }
}

/// A tool that is a pair of closures.
///
/// Both get the canonical arguments as JSON text, already checked against the schema: the preview and the run see the
/// same bytes. They are called on the runtime of whoever calls the host, each call in a task of its own.
#[derive(Clone)]
pub struct NativeTool {
    declaration: Declaration,
    revision: String,
    deadline: Duration,
    preview_deadline: Duration,
    preview: Option<Preview>,
    execute: Option<Execute>,
}

impl NativeTool {
    /// How long a run may take unless [`deadline`](Self::deadline) says otherwise.
    pub const DEADLINE: Duration = Duration::from_secs(30);
    /// How long a preview may take unless [`preview_deadline`](Self::preview_deadline) says otherwise.
    pub const PREVIEW_DEADLINE: Duration = Duration::from_secs(5);

    /// A tool of this name (`[a-zA-Z0-9_-]`, 1 to 64 characters), the most that any call of it can need, the JSON Schema
    /// of its arguments, and its revision: any text that changes whenever the code behind the tool does, so that a
    /// confirmation never runs another code than the one that was previewed.
    pub fn new(
        name: impl Into<String>,
        level: Level,
        input_schema: impl Into<String>,
        revision: impl Into<String>,
    ) -> Self {
        Self {
            declaration: Declaration {
                name: name.into(),
                title: None,
                description: String::new(),
                input_schema: input_schema.into(),
                output_schema: None,
                level,
                critical: false,
            },
            revision: revision.into(),
            deadline: Self::DEADLINE,
            preview_deadline: Self::PREVIEW_DEADLINE,
            preview: None,
            execute: None,
        }
    }

    /// What it does and when to use it, for the agent.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.declaration.description = description.into();
        self
    }

    /// A short name for people.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.declaration.title = Some(title.into());
        self
    }

    /// JSON Schema of the outcome's details.
    #[must_use]
    pub fn output_schema(mut self, schema: impl Into<String>) -> Self {
        self.declaration.output_schema = Some(schema.into());
        self
    }

    /// Every call is at the declared level, whatever its plan says.
    #[must_use]
    pub fn critical(mut self) -> Self {
        self.declaration.critical = true;
        self
    }

    /// How long a run may take. A zero is refused by [`build`](crate::HostBuilder::build).
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// How long a preview may take. A zero is refused by [`build`](crate::HostBuilder::build).
    #[must_use]
    pub fn preview_deadline(mut self, deadline: Duration) -> Self {
        self.preview_deadline = deadline;
        self
    }

    /// Says what a call would do, and changes nothing. Needed by every tool that can reach [`Level::ApprovalRequired`].
    #[must_use]
    pub fn preview<F, A>(mut self, preview: F) -> Self
    where
        F: Fn(String) -> A + Send + Sync + 'static,
        A: Future<Output = Result<Plan, ToolError>> + Send + 'static,
    {
        self.preview = Some(Arc::new(move |arguments| Box::pin(preview(arguments))));
        self
    }

    /// The same for a function that blocks: it gets a thread of its own.
    #[must_use]
    pub fn preview_blocking<F>(self, preview: F) -> Self
    where
        F: Fn(String) -> Result<Plan, ToolError> + Send + Sync + 'static,
    {
        let preview = Arc::new(preview);
        self.preview(move |arguments| {
            let preview = Arc::clone(&preview);
            async move { on_thread(move || preview(arguments)).await }
        })
    }

    /// Does it.
    #[must_use]
    pub fn execute<F, A>(mut self, execute: F) -> Self
    where
        F: Fn(String, Context) -> A + Send + Sync + 'static,
        A: Future<Output = Result<Outcome, ToolError>> + Send + 'static,
    {
        self.execute = Some(Arc::new(move |arguments, context| Box::pin(execute(arguments, context))));
        self
    }

    /// The same for a function that blocks: it gets a thread of its own.
    #[must_use]
    pub fn execute_blocking<F>(self, execute: F) -> Self
    where
        F: Fn(String, Context) -> Result<Outcome, ToolError> + Send + Sync + 'static,
    {
        let execute = Arc::new(execute);
        self.execute(move |arguments, context| {
            let execute = Arc::clone(&execute);
            async move { on_thread(move || execute(arguments, context)).await }
        })
    }

    /// The name that it is listed under.
    pub fn name(&self) -> &str {
        &self.declaration.name
    }

    /// What it declares.
    pub fn declaration(&self) -> &Declaration {
        &self.declaration
    }
}

/// The native tools of one host.
pub(crate) struct Native {
    tools: Vec<NativeTool>,
    declarations: Vec<Declaration>,
}

impl Native {
    /// What listings say where native tools come from.
    pub(crate) const NAME: &str = "native";

    /// Takes the tools if each is complete.
    pub(crate) fn new(tools: Vec<NativeTool>) -> Result<Self, Error> {
        for tool in &tools {
            let refuse = |what: &str| {
                Err(Error::new(ErrorKind::Config, format!("native tool \"{}\" {what}", tool.name().escape_debug())))
            };
            if tool.execute.is_none() {
                return refuse("has nothing to run: give it an execute closure");
            }
            if tool.revision.is_empty() {
                return refuse("has an empty revision: state one that changes with its code");
            }
            if tool.deadline.is_zero() || tool.preview_deadline.is_zero() {
                return refuse("has a deadline of zero: nothing is switched off by omission, give it some time");
            }
        }
        let declarations = tools.iter().map(|tool| tool.declaration.clone()).collect();
        Ok(Self { tools, declarations })
    }

    fn find(&self, tool: &str) -> Option<&NativeTool> {
        self.tools.iter().find(|candidate| candidate.name() == tool)
    }
}

#[async_trait]
impl Backend for Native {
    fn name(&self) -> &str {
        Self::NAME
    }

    fn tools(&self) -> &[Declaration] {
        &self.declarations
    }

    fn identity(&self, tool: &str) -> String {
        self.find(tool).map(|tool| tool.revision.clone()).unwrap_or_default()
    }

    fn enforced(&self) -> bool {
        false
    }

    fn stoppable(&self) -> bool {
        false
    }

    fn previews(&self, tool: &str) -> bool {
        self.find(tool).is_some_and(|tool| tool.preview.is_some())
    }

    fn deadline(&self, tool: &str) -> Duration {
        self.find(tool).map_or(NativeTool::DEADLINE, |tool| tool.deadline)
    }

    fn preview_deadline(&self, tool: &str) -> Duration {
        self.find(tool).map_or(NativeTool::PREVIEW_DEADLINE, |tool| tool.preview_deadline)
    }

    async fn preview(
        &self,
        _owner: &str,
        tool: &str,
        arguments: &str,
        _: Secrets,
        _progress: Option<Arc<dyn Progress>>,
    ) -> Result<Plan, ToolError> {
        let tool = self.find(tool).ok_or(ToolError::UnknownTool)?;
        let preview = tool.preview.clone().ok_or_else(|| ToolError::Refused("it has no preview".to_owned()))?;
        let arguments = arguments.to_owned();
        let task = AbortOnDropHandle::new(tokio::spawn(async move { preview(arguments).await }));
        match tokio::time::timeout(tool.preview_deadline, task).await {
            Ok(ended) => ended.unwrap_or_else(|error| Err(crashed(error))),
            Err(_) => Err(ToolError::Deadline(format!("it took longer than {:?}", tool.preview_deadline))),
        }
    }

    async fn prepare(
        &self,
        _owner: &str,
        tool: &str,
        _power: Power,
        _: Secrets,
    ) -> Result<Box<dyn Prepared>, ToolError> {
        let execute = self.find(tool).and_then(|tool| tool.execute.clone()).ok_or(ToolError::UnknownTool)?;
        Ok(Box::new(Ready { execute }))
    }
}

/// A closure that is ready to be called.
struct Ready {
    execute: Execute,
}

#[async_trait]
impl Prepared for Ready {
    /// Runs to the closure's own end, however long that takes: the host watches the time. Dropping this stops an async
    /// closure at its next await, and a blocking one not at all.
    async fn execute(
        self: Box<Self>,
        permit: Permit,
        progress: Option<Arc<dyn Progress>>,
    ) -> Result<Outcome, RunError> {
        let context = Context {
            operation_id: permit.operation_id().to_owned(),
            level: permit.level(),
            precondition: permit.precondition().map(ToOwned::to_owned),
            progress,
        };
        let arguments = permit.arguments().to_owned();
        let execute = self.execute;
        let task = AbortOnDropHandle::new(tokio::spawn(async move { execute(arguments, context).await }));
        match task.await {
            Ok(Ok(outcome)) => Ok(outcome),
            Ok(Err(error)) => Err(RunError { error, observed: Observed::Unwatched }),
            Err(error) => Err(RunError { error: crashed(error), observed: Observed::Unwatched }),
        }
    }
}

/// Runs a blocking function on a thread of its own.
async fn on_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| Err(crashed(error)))
}

/// A closure that did not come back: its panic is told to the log, the caller learns that there was one.
fn crashed(error: JoinError) -> ToolError {
    ToolError::Trapped(if error.is_panic() { "it panicked" } else { "it was cancelled" }.to_owned())
}
