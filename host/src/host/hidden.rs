//! What a tool says of a call leaves out the secrets of its arguments, whoever is told and wherever it is kept.

use crate::schema::Schema;
use crate::schema::secret::Secrets;
use crate::text;
use crate::tool::{Outcome, Plan, Progress, RunError, ToolError};
use std::sync::Arc;

/// The secrets of one call, where it has any.
#[derive(Clone)]
pub(super) struct Hidden(Secrets);

impl Hidden {
    /// Of a call that has none.
    pub(super) fn nothing() -> Self {
        Self(None)
    }

    pub(super) fn of(schema: &Schema, arguments: &str) -> Self {
        Self(schema.without_secrets(arguments))
    }

    /// What a backend is told, which may cut a text before anybody here has seen it.
    pub(super) fn secrets(&self) -> Secrets {
        self.0.clone()
    }

    /// The arguments without them, where they had any.
    pub(super) fn arguments(&self) -> Option<&str> {
        self.0.as_ref().map(|masked| masked.arguments.as_str())
    }

    fn out_of(&self, text: String) -> String {
        match &self.0 {
            Some(masked) => masked.taken.out_of(&text).into_owned(),
            None => text,
        }
    }

    fn out_of_json(&self, json: String) -> String {
        match &self.0 {
            Some(masked) => masked.taken.out_of_json(&json).into_owned(),
            None => json,
        }
    }

    /// A plan; the error says why it cannot be shown. A precondition goes back to the tool as it is, so it must hold none.
    pub(super) fn plan(&self, plan: Plan) -> Result<Plan, String> {
        let Plan { summary, details, warnings, level, precondition } = plan;
        if let (Some(masked), Some(precondition)) = (&self.0, &precondition)
            && masked.taken.is_in(precondition)
        {
            return Err("its precondition repeats an argument that its schema marks as secret".to_owned());
        }
        Ok(Plan {
            summary: self.out_of(summary),
            details: self.out_of_json(details),
            warnings: warnings.into_iter().map(|warning| self.out_of(warning)).collect(),
            level,
            precondition,
        })
    }

    /// What a run came to.
    pub(super) fn ended(&self, ended: Result<Outcome, RunError>) -> Result<Outcome, RunError> {
        match ended {
            Ok(Outcome { message, details }) => {
                Ok(Outcome { message: self.out_of(message), details: self.out_of_json(details) })
            }
            Err(RunError { error, observed }) => Err(RunError { error: self.error(error), observed }),
        }
    }

    pub(super) fn error(&self, error: ToolError) -> ToolError {
        match error {
            ToolError::UnknownTool => ToolError::UnknownTool,
            ToolError::InvalidArguments(text) => ToolError::InvalidArguments(self.out_of(text)),
            ToolError::Refused(text) => ToolError::Refused(self.out_of(text)),
            ToolError::Failed { message, effect } => ToolError::Failed { message: self.out_of(message), effect },
            ToolError::Trapped(text) => ToolError::Trapped(self.out_of(text)),
            ToolError::Deadline(text) => ToolError::Deadline(self.out_of(text)),
            ToolError::OutputLimit(text) => ToolError::OutputLimit(self.out_of(text)),
            ToolError::Unavailable(text) => ToolError::Unavailable(self.out_of(text)),
        }
    }

    /// Who hears how far the call is hears none of them, and nothing that a person would not see.
    pub(super) fn progress(&self, progress: Option<Arc<dyn Progress>>) -> Option<Arc<dyn Progress>> {
        Some(Arc::new(Muffled { hidden: self.clone(), progress: progress? }))
    }
}

struct Muffled {
    hidden: Hidden,
    progress: Arc<dyn Progress>,
}

impl Progress for Muffled {
    fn report(&self, fraction: Option<f64>, message: &str) {
        self.progress.report(fraction, &text::prose(self.hidden.out_of(message.to_owned())));
    }
}
