//! One tool in force: what runs, and all that the operator says of it.

use super::answer::Answers;
use super::budgets::Budgets;
#[cfg(feature = "rules")]
use super::ruled::{Ruled, Verdict};
use super::trail::Answer;
use crate::gate::Call;
use crate::permit::{Rules, Standing};
use crate::plugin::turns::Turns;
use crate::policy::Level;
use crate::schema::Schema;
use crate::tool::{Backend, Declaration, Power};
use std::sync::Arc;
use std::time::Duration;

/// One tool in force.
pub(super) struct Tool {
    pub(super) backend: Arc<dyn Backend>,
    pub(super) declaration: Declaration,
    pub(super) rules: Rules,
    /// What the operator raised it to. What holds it until its plug-in is locked is in `rules` only.
    pub(super) raised: Option<Level>,
    /// The most that a call can need.
    pub(super) level: Level,
    /// Where no call of the tool needs a confirmation: the gate's word for it.
    pub(super) standing: Option<Standing>,
    pub(super) schema: Arc<Schema>,
    /// The turns of its backend's checks that may take long.
    pub(super) checking: Arc<Turns>,
    pub(super) revision: String,
    #[cfg(feature = "rules")]
    pub(super) ruled: Ruled,
    pub(super) budgets: Budgets,
}

/// What the operator's rules make of one call.
#[derive(Default)]
pub(super) struct Raised {
    /// It is of this level at least; none: no rule raises it.
    pub(super) floor: Option<Level>,
    /// What the rules that raise it say.
    pub(super) reasons: Vec<String>,
}

impl Tool {
    pub(super) fn power(&self, level: Level) -> Power {
        Power::of(self.rules.declared, level)
    }

    /// Whether it needs a confirmation only because its plug-in is not locked.
    pub(super) fn is_held_for_its_lock(&self) -> bool {
        self.rules.operator.is_some() && self.rules.operator != self.raised
    }

    pub(super) fn deadline(&self) -> Duration {
        self.backend.deadline(&self.declaration.name)
    }

    /// Asks the operator's rules about a call whose arguments fit the schema.
    #[cfg(feature = "rules")]
    pub(super) async fn judge(&self, answers: &Answers<'_>, call: &Call) -> Result<Raised, Answer> {
        let Ok(said) = self.ruled.ask(&call.owner, &call.tool, &call.arguments).await else {
            return Err(answers.busy().await);
        };
        match self.ruled.verdict(&said) {
            Verdict::Raised(raised) => {
                for what in &raised.reasons {
                    tracing::info!(tool = call.tool, owner = call.owner, "raised: {what}");
                }
                Ok(raised)
            }
            Verdict::Denied(what) => {
                tracing::info!(tool = call.tool, owner = call.owner, "denied: {what}");
                Err(answers.denied(&what, None).await)
            }
        }
    }

    #[cfg(not(feature = "rules"))]
    #[expect(clippy::unused_async, reason = "there are none to ask")]
    pub(super) async fn judge(&self, _: &Answers<'_>, _: &Call) -> Result<Raised, Answer> {
        Ok(Raised::default())
    }
}
