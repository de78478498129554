//! What a tool is to the host, whether it lives in a sandbox or in a closure. A backend describes, previews and prepares;
//! it runs only what a permit allows.

use crate::gate;
use crate::permit::Permit;
use crate::policy::Level;
use crate::schema::Schema;
use crate::schema::secret::Secrets;
use async_trait::async_trait;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Longest name of a tool, and of the confirm parameter: what the strictest clients take.
pub(crate) const MAX_NAME: usize = 64;

/// What such a name looks like.
pub(crate) const NAME_RULE: &str = "use 1 to 64 of a-z, A-Z, 0-9, _ and -";

/// Whether this can be the name of a tool, of a plug-in or of the confirm parameter.
pub(crate) fn is_name(text: &str) -> bool {
    (1..=MAX_NAME).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

/// One tool as its author declares it.
#[derive(Clone, Debug)]
pub struct Declaration {
    /// 1 to 64 of `[a-zA-Z0-9_-]`.
    pub name: String,
    /// A short name for people.
    pub title: Option<String>,
    /// What it does, for the agent.
    pub description: String,
    /// JSON Schema of the arguments: JSON text, an object.
    pub input_schema: String,
    /// JSON Schema of the outcome's details, where promised.
    pub output_schema: Option<String>,
    /// The most that any call can need.
    pub level: Level,
    /// Whether every call is at `level`, whatever its plan says.
    pub critical: bool,
}

/// What a call would do, as its tool says. `Debug` shows none of its texts: a secret among the arguments may be in each.
#[derive(Clone, PartialEq, Eq)]
pub struct Plan {
    /// One sentence for the person who confirms.
    pub summary: String,
    /// The same, structured: JSON text, an object.
    pub details: String,
    /// What that person should know before agreeing.
    pub warnings: Vec<String>,
    /// The level of this very call, where it is lower than the tool's.
    pub level: Option<Level>,
    /// What the plan rests on, up to 1 KiB; comes back to the run.
    pub precondition: Option<String>,
}

impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plan")
            .field("level", &self.level)
            .field("warnings", &self.warnings.len())
            .finish_non_exhaustive()
    }
}

impl Plan {
    /// A plan of one sentence with its details (JSON text, an object; `{}` for none).
    pub fn new(summary: impl Into<String>, details: impl Into<String>) -> Self {
        Self { summary: summary.into(), details: details.into(), warnings: Vec::new(), level: None, precondition: None }
    }

    /// Adds what the person who confirms should know.
    #[must_use]
    pub fn warning(mut self, warning: impl Into<String>) -> Self {
        self.warnings.push(warning.into());
        self
    }

    /// States that this very call is milder than the tool can be.
    #[must_use]
    pub fn level(mut self, level: Level) -> Self {
        self.level = Some(level);
        self
    }

    /// States what the plan rests on, for `execute` to check: up to 1 KiB.
    #[must_use]
    pub fn precondition(mut self, precondition: impl Into<String>) -> Self {
        self.precondition = Some(precondition.into());
        self
    }
}

/// What a run did, as its tool says. `Debug` shows none of its texts, as for [`Plan`].
#[derive(Clone, PartialEq, Eq)]
pub struct Outcome {
    /// One sentence: what happened.
    pub message: String,
    /// The same, structured: JSON text, an object.
    pub details: String,
}

impl fmt::Debug for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outcome").finish_non_exhaustive()
    }
}

impl Outcome {
    /// An outcome of one sentence with its details (JSON text, an object; `{}` for none).
    pub fn new(message: impl Into<String>, details: impl Into<String>) -> Self {
        Self { message: message.into(), details: details.into() }
    }
}

/// Whether a failed run changed anything, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// Nothing changed.
    None,
    /// Something changed, not everything.
    Partial,
    /// Not known.
    Unknown,
}

impl From<Effect> for gate::Effect {
    fn from(effect: Effect) -> Self {
        match effect {
            Effect::None => Self::None,
            Effect::Partial => Self::Partial,
            Effect::Unknown => Self::Unknown,
        }
    }
}

/// Why there is no plan or no outcome. The texts are for the agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolError {
    /// The backend has no tool of that name.
    UnknownTool,
    /// The arguments fit the schema but make no sense.
    InvalidArguments(String),
    /// The tool is able but will not.
    Refused(String),
    /// It went wrong: the tool's own words.
    Failed {
        /// What went wrong.
        message: String,
        /// Whether anything had changed by then.
        effect: Effect,
    },
    /// The sandbox ended it, or a closure panicked.
    Trapped(String),
    /// Stopped at its deadline (a closure: given up on, and still running).
    Deadline(String),
    /// It returned more than it may, or what is not JSON.
    OutputLimit(String),
    /// The host could not even start it.
    Unavailable(String),
}

/// What a run may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Power {
    /// Nothing: previews, and every safe call.
    ReadOnly,
    /// What the operator granted.
    Granted,
}

impl Power {
    /// What a run at `level` of a tool that is declared `declared` may change. A tool declared safe never gets more than
    /// read-only grants, however its level was raised: "safe" is a fact and not the tool's word.
    pub(crate) fn of(declared: Level, level: Level) -> Self {
        if declared == Level::Safe || level == Level::Safe { Self::ReadOnly } else { Self::Granted }
    }
}

/// Hears how far a call is.
pub trait Progress: Send + Sync {
    /// A fraction from 0 to 1 where one is known, and a sentence.
    fn report(&self, fraction: Option<f64>, message: &str);
}

/// What the host itself saw of a run's effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observed {
    /// No call that changes anything was entered.
    Nothing,
    /// One was, and it is not certain that it changed nothing.
    Change,
    /// The tool runs where the host sees nothing of it: its own word has to do.
    Unwatched,
}

/// A failed run: why, and what the host itself saw of its effect. The caller is told the worse of this and the tool's word,
/// and which is which.
#[derive(Clone, Debug)]
pub struct RunError {
    /// Why.
    pub error: ToolError,
    /// What the host saw.
    pub observed: Observed,
}

/// Where tools come from: a plug-in or native closures.
#[async_trait]
pub(crate) trait Backend: Send + Sync {
    /// `files` for `[plugins.files]`, `native` for closures.
    fn name(&self) -> &str;
    /// The tools, under the names that they are listed by: a renamed tool is renamed here and in every call below.
    fn tools(&self) -> &[Declaration];
    /// Digest of what would run for this tool: component and resolved grants, or the revision that a native tool states.
    fn identity(&self, tool: &str) -> String;
    /// Whether previews run in a sandbox that enforces that they change nothing.
    fn enforced(&self) -> bool;
    /// Whether the operator has looked at what runs. Where not, no tool but a safe one runs unconfirmed.
    fn locked(&self) -> bool {
        true
    }
    /// Whether an overdue run is stopped by the backend itself, which then answers [`ToolError::Deadline`]. Closures
    /// cannot be stopped: the host gives up on them instead.
    fn stoppable(&self) -> bool {
        true
    }
    /// Whether this tool can be previewed.
    fn previews(&self, _tool: &str) -> bool {
        true
    }
    /// The tool's input schema, ready to check with, where the backend has compiled it: the host does it otherwise.
    fn schema(&self, _tool: &str) -> Option<Arc<Schema>> {
        None
    }
    /// How long a run of this tool may take.
    fn deadline(&self, tool: &str) -> Duration;
    /// How long a preview of this tool may take.
    fn preview_deadline(&self, tool: &str) -> Duration;
    /// What a call would do. Canonical arguments, and what in them is secret.
    async fn preview(
        &self,
        owner: &str,
        tool: &str,
        arguments: &str,
        secrets: Secrets,
        progress: Option<Arc<dyn Progress>>,
    ) -> Result<Plan, ToolError>;
    /// Gets a slot and an instance ready for a call with these secrets; nothing of the tool has run.
    async fn prepare(
        &self,
        owner: &str,
        tool: &str,
        power: Power,
        secrets: Secrets,
    ) -> Result<Box<dyn Prepared>, ToolError>;
}

/// A run that is ready to start. Dropping it gives slot and instance back.
#[async_trait]
pub(crate) trait Prepared: Send {
    /// Runs. The permit carries tool, arguments, level, precondition, operation id and time limit.
    async fn execute(self: Box<Self>, permit: Permit, progress: Option<Arc<dyn Progress>>)
    -> Result<Outcome, RunError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_of_a_plan_or_an_outcome_is_in_debug_output() {
        let plan = Plan::new("hunter2", r#"{"a":"hunter2"}"#).warning("hunter2").precondition("hunter2");
        assert_eq!(format!("{plan:?}"), "Plan { level: None, warnings: 1, .. }");
        assert_eq!(format!("{:?}", Outcome::new("hunter2", r#"{"a":"hunter2"}"#)), "Outcome { .. }");
    }
}
