//! What the operator's policy makes of a call, for a person who wants to know. Runs nothing, previews nothing, issues nothing,
//! charges nothing.

use super::answer::Answers;
use super::budgets::Broke;
use super::ruled::{Answer, Verdict};
use super::{Host, Reply};
use crate::Owner;
use crate::gate::Call;
use crate::permit::{self, Clearing};
use crate::policy::{Budget, Level};
use std::sync::Arc;

/// What was found.
pub(crate) struct Trial {
    /// The rules that are about the tool, each with its number and its answer in words.
    pub(crate) rules: Vec<(usize, Says)>,
    /// The budgets that are about the tool: number, budget, and what is left of it.
    pub(crate) budgets: Vec<(usize, Arc<Budget>, String)>,
    /// What would come of the call.
    pub(crate) end: End,
}

/// What one rule says of the call.
pub(crate) enum Says {
    /// Its condition holds.
    Matches,
    /// It does not.
    Not,
    /// It has no answer: why.
    NoAnswer(String),
}

/// What would come of the call.
pub(crate) enum End {
    /// It would run at once.
    AtOnce(Level),
    /// It would need a confirmation. `always`: whatever its plan says.
    Confirm { always: bool },
    /// It would not run: why.
    Denied(String),
}

impl Host {
    /// Tries a call. An answer instead where it does not come as far as the policy: unknown tool, arguments that do not fit.
    pub(crate) async fn trial(&self, owner: &Owner, tool: &str, arguments: &str) -> Result<Trial, Reply> {
        let gate = &self.inner.gate;
        let answers = Answers { gate, tool };
        let request = match gate.read(arguments, &self.inner.confirm_parameter).await {
            Ok(request) => request,
            Err(error) => return Err(answers.gate_error(error).await.untold()),
        };
        let Some(found) = self.inner.tools.get(tool) else { return Err(answers.unknown_tool().await.untold()) };
        if let Err(unfit) = found.fits(owner.as_str(), &request.arguments).await {
            return Err(answers.refuse(unfit.reason, &unfit.what).await.untold());
        }
        let call = Call {
            owner: owner.as_str().to_owned(),
            revision: found.revision.clone(),
            tool: tool.to_owned(),
            arguments: request.arguments,
        };
        let Ok(said) = found.ruled.ask(&call.owner, tool, &call.arguments).await else {
            return Err(answers.busy().await.untold());
        };
        let verdict = found.ruled.verdict(&said);
        let rules = said.into_iter().map(|answer| (answer.number, says(answer))).collect();
        let broke = |broke: Broke| match broke {
            Broke::Denied { what, .. } | Broke::Unavailable(what) => End::Denied(what),
        };
        let bill = found.budgets.bill(&call.owner, &call.arguments);
        let budgets = match found.budgets.left(&call.owner, gate).await {
            Ok(left) => left,
            Err(error) => return Err(Broke::Unavailable(error).reply(&answers).await.untold()),
        };
        let paid = match bill {
            Ok(bill) => bill.look(gate).await,
            Err(what) => Err(what),
        };
        let end = match (verdict, paid) {
            (Verdict::Denied(what), _) => End::Denied(what),
            (Verdict::Raised(_), Err(what)) => broke(what),
            (Verdict::Raised(raised), Ok(())) => {
                let clear = |planned| permit::clear(gate, found.rules, raised.floor, &call, planned, None);
                match (clear(None).await, clear(Some(Level::Safe)).await) {
                    (Ok(Clearing::AtOnce(clearance)), _) => End::AtOnce(clearance.level()),
                    (Ok(Clearing::Confirm), Ok(mildest)) => {
                        End::Confirm { always: matches!(mildest, Clearing::Confirm) }
                    }
                    (Err(error), _) | (_, Err(error)) => return Err(answers.gate_error(error).await.untold()),
                }
            }
        };
        Ok(Trial { rules, budgets, end })
    }
}

fn says(answer: Answer) -> Says {
    match answer.holds {
        Ok(true) => Says::Matches,
        Ok(false) => Says::Not,
        Err(why) => Says::NoAnswer(why.to_string()),
    }
}
