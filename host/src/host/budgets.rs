//! What a call costs of the operator's budgets: looked at before it is previewed, paid before it runs, given back where it is
//! known not to have run. Whatever is in doubt stays counted. Both are done in tasks of the host's own: whoever stops waiting
//! has paid for nothing that did not run.

use super::Inner;
use super::answer::Answers;
use super::trail::Answer;
use crate::canonical;
use crate::gate::{Gate, Reason};
use crate::policy::Budget;
use crate::store::{Account, Charge, Charging, Spent, Unavailable};
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

/// The budgets that one tool has, with their numbers as the operator counts them.
#[derive(Clone, Default)]
pub(super) struct Budgets(pub(super) Vec<(usize, Arc<Budget>)>);

/// What one call costs.
#[derive(Default)]
pub(super) struct Bill(Vec<Line>);

struct Line {
    number: usize,
    budget: Arc<Budget>,
    account: Account,
    amount: u64,
}

/// What was paid. Dropped before the call may have run, it is given back.
pub(super) struct Paid {
    charges: Vec<Charge>,
    gate: Gate,
    runs: TaskTracker,
    runtime: Handle,
    /// Until the call may have run: what ends the host waits for its being given back.
    idle: Option<TaskTrackerToken>,
}

/// Why a call does not run.
pub(super) enum Broke {
    /// A budget does not allow it.
    Denied {
        /// Which, and what is left.
        what: String,
        /// In how many milliseconds it makes sense to ask again.
        again: Option<u64>,
    },
    /// The store did not answer.
    Unavailable(String),
}

impl Broke {
    pub(super) async fn reply(self, answers: &Answers<'_>) -> Answer {
        match self {
            Self::Denied { what, again } => answers.denied(&what, again).await,
            Self::Unavailable(what) => {
                tracing::error!(tool = answers.tool, "a budget could not be counted: {what}");
                answers.refuse(Reason::Unavailable, "the store of the budgets did not answer").await
            }
        }
    }
}

impl Budgets {
    /// What a call with these canonical arguments costs. An error where that cannot be told.
    pub(super) fn bill(&self, owner: &str, arguments: &str) -> Result<Bill, Broke> {
        if self.0.is_empty() {
            return Ok(Bill::default());
        }
        let denied = |what: String| Broke::Denied { what, again: None };
        let arguments = canonical::read(arguments).ok_or_else(|| denied("the arguments cannot be counted".into()))?;
        let line = |(number, budget): &(usize, Arc<Budget>)| {
            let amount =
                budget.cost(&arguments).map_err(|what| denied(format!("budget {number} cannot be counted: {what}")))?;
            Ok(Line { number: *number, budget: Arc::clone(budget), account: budget.account(owner), amount })
        };
        self.0.iter().map(line).collect::<Result<_, _>>().map(Bill)
    }

    /// What is left of each for an owner: its number, the budget, and how much.
    #[cfg(feature = "program")]
    pub(super) async fn left(&self, owner: &str, gate: &Gate) -> Result<Vec<(usize, Arc<Budget>, String)>, String> {
        let now = gate.now();
        let mut all = Vec::with_capacity(self.0.len());
        for (number, budget) in &self.0 {
            let spent = gate.store().spent(budget.account(owner), budget.since(now)).await;
            let left = budget.at_most().saturating_sub(sum(&spent.map_err(|e| e.to_string())?));
            all.push((*number, Arc::clone(budget), budget.shown(left)));
        }
        Ok(all)
    }
}

impl Bill {
    /// Whether the call could be paid now. Pays nothing.
    pub(super) async fn look(&self, gate: &Gate) -> Result<(), Broke> {
        let now = gate.now();
        for line in &self.0 {
            line.look(gate, now).await?;
        }
        Ok(())
    }

    /// Pays, all of it or nothing.
    pub(super) async fn pay(&self, inner: &Inner) -> Result<Paid, Broke> {
        let gate = &inner.gate;
        let mut paid = Paid {
            charges: Vec::new(),
            gate: gate.clone(),
            runs: inner.runs.clone(),
            runtime: Handle::current(),
            idle: Some(inner.runs.token()),
        };
        if self.0.is_empty() {
            return Ok(paid);
        }
        let now = gate.now();
        let charges: Vec<_> = self.0.iter().map(|line| line.budget.charge(line.account, line.amount, now)).collect();
        let paying = inner.runs.spawn(async move {
            Ok(match paid.gate.store().charge(&charges).await? {
                Charging::Charged => {
                    paid.charges = charges;
                    Ok(paid)
                }
                Charging::Over(at) => Err(at),
            })
        });
        // Without an answer it may be counted: then it stays so.
        let unanswered = |error: &dyn std::fmt::Display| Broke::Unavailable(error.to_string());
        let answer: Result<_, Unavailable> = paying.await.map_err(|error| unanswered(&error))?;
        match answer.map_err(|error| unanswered(&error))? {
            Ok(paid) => Ok(paid),
            Err(at) => {
                let Some(line) = self.0.get(at) else { return Err(Broke::Unavailable("no such charge".into())) };
                // Somebody may have given back meanwhile: it is denied all the same, and can ask again at once.
                line.look(gate, now).await?;
                Err(line.denied(0, Some(0)))
            }
        }
    }
}

impl Line {
    async fn look(&self, gate: &Gate, now: u64) -> Result<(), Broke> {
        let spent = match gate.store().spent(self.account, self.budget.since(now)).await {
            Ok(spent) => spent,
            Err(error) => return Err(Broke::Unavailable(error.to_string())),
        };
        match self.budget.fits_in(&spent, self.amount, now) {
            Some(0) => Ok(()),
            again => Err(self.denied(self.budget.at_most().saturating_sub(sum(&spent)), again)),
        }
    }

    /// Says what is left and never what the call would cost: that is one of its arguments.
    fn denied(&self, left: u64, again: Option<u64>) -> Broke {
        let Self { number, budget, .. } = self;
        let wait = match again {
            Some(millis) => {
                format!("ask again in {} s", Duration::from_millis(millis).as_millis().div_ceil(1000).max(1))
            }
            None => "this call is more than it ever allows".to_owned(),
        };
        let what = format!("budget {number} allows {budget}, of which {} is left: {wait}", budget.shown(left));
        Broke::Denied { what, again }
    }
}

fn sum(spent: &[Spent]) -> u64 {
    spent.iter().fold(0, |sum: u64, spent| sum.saturating_add(spent.amount))
}

impl Paid {
    /// From here on the call may have run: it stays paid, unless somebody knows better.
    pub(super) fn may_run(&mut self) {
        self.idle = None;
    }

    /// Gives back what was paid for a call that is known not to have run.
    pub(super) async fn give_back(mut self) {
        if let Some(giving) = self.refund() {
            // It goes on without whoever waits for it; what goes wrong it tells itself.
            let _ = giving.await;
        }
    }

    fn refund(&mut self) -> Option<JoinHandle<()>> {
        let charges = std::mem::take(&mut self.charges);
        if charges.is_empty() {
            return None;
        }
        let gate = self.gate.clone();
        let giving = async move {
            if let Err(error) = gate.store().refund(&charges).await {
                tracing::warn!("a budget stays charged for a call that did not run: {error}");
            }
        };
        Some(self.runs.spawn_on(giving, &self.runtime))
    }
}

impl Drop for Paid {
    fn drop(&mut self) {
        if self.idle.is_some() {
            drop(self.refund());
        }
    }
}
