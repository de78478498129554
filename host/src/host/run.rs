//! Runs what may run. A confirmed run belongs to the host, from the moment its token is spent until its outcome is
//! recorded; until then, and where it needs no confirmation, it belongs to its caller.

use super::answer::{self, Answers};
use super::budgets::{Bill, Broke, Paid};
use super::hidden::Hidden;
use super::trail::{Answer, Begun, Trail, UNWRITTEN};
use super::{Inner, Reply, Tool};
use crate::gate::{self, Assurance, Call, GateError, Readiness, Reason, Token};
use crate::permit::{self, Clearance, Consumed, Permit};
use crate::policy::Level;
use crate::tool::{Effect, Observed, Outcome, Power, Prepared, Progress, RunError, ToolError};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;

/// Waits between the attempts to record an outcome while the store does not answer: about two seconds in all, so that a
/// restart of the store is outlived and a caller is not kept for ever.
pub(super) const RECORD_WAITS: [Duration; 4] =
    [Duration::from_millis(50), Duration::from_millis(200), Duration::from_millis(600), Duration::from_millis(1200)];

/// How much later than a run's own limit the deadline is that the gate writes down, and with it `outcome_unknown` and a
/// person's `resolve`: neither may come while the tool still runs. It covers stopping the tool (less than a second), waiting for
/// what it had begun to change (1.5 s, `plugin::SETTLES`), a commit that waits for another process as long as SQLite is told to
/// (5 s), and [`RECORD_WAITS`] (2 s), with some room.
/// A store that keeps every attempt to record waiting can take longer; by then nothing runs any more, and what is
/// recorded late still replaces what was said meanwhile.
pub(super) const GRACE: Duration = Duration::from_secs(10);

/// A call that needs no confirmation, with what it costs and what of it is shown to nobody.
pub(super) struct Unconfirmed<'a> {
    pub(super) tool: &'a Tool,
    pub(super) owner: &'a str,
    pub(super) hidden: &'a Hidden,
    pub(super) bill: Bill,
    pub(super) progress: Option<Arc<dyn Progress>>,
}

/// The same for one whose token is good and not spent yet.
pub(super) struct Confirmed {
    pub(super) tool: Arc<Tool>,
    pub(super) hidden: Hidden,
    pub(super) call: Call,
    pub(super) token: Token,
    pub(super) bill: Bill,
    pub(super) progress: Option<Arc<dyn Progress>>,
}

/// Runs a call that the gate has cleared, in the caller's own time: dropping this future ends it.
pub(super) async fn at_once(
    inner: &Inner,
    answers: &Answers<'_>,
    trail: &mut Trail,
    clearance: Clearance,
    call: Unconfirmed<'_>,
) -> Answer {
    let Unconfirmed { tool, owner, hidden, bill, progress } = call;
    trail.is_of(clearance.level());
    let power = tool.power(clearance.level());
    let prepared = match tool.backend.prepare(owner, clearance.tool(), power, hidden.secrets()).await {
        Ok(prepared) => prepared,
        Err(error) => return not_prepared(answers, error).await,
    };
    // The slot may have been long in coming.
    if !inner.still_has(tool) {
        return answers.changed_meanwhile().await;
    }
    let mut paid = match bill.pay(inner).await {
        Ok(paid) => paid,
        Err(broke) => return broke.reply(answers).await,
    };
    let limit = tool.deadline();
    let permit = match clearance.permit(limit) {
        Ok(permit) => permit,
        Err(error) => {
            paid.give_back().await;
            tracing::error!("no randomness for an operation id: {error}");
            return answers.refuse(Reason::Unavailable, "the host has no source of randomness").await;
        }
    };
    let operation_id = permit.operation_id().to_owned();
    let Some(begun) = trail.begins(&operation_id, cut_off(tool, power), tool.backend.stoppable()) else {
        paid.give_back().await;
        return answers.refuse(Reason::Unavailable, UNWRITTEN).await;
    };
    // So no row of a run stands behind what is in force and is none of its own.
    if !inner.still_has(tool) {
        paid.give_back().await;
        return begun.instead(answers.changed_meanwhile().await);
    }
    paid.may_run();
    let running = prepared.execute(permit, progress);
    let ended = if tool.backend.stoppable() {
        running.await
    } else {
        tokio::time::timeout(limit, running).await.unwrap_or_else(|_| {
            let error = ToolError::Deadline(format!("it took longer than {limit:?}; it may be running still"));
            Err(RunError { error, observed: Observed::Unwatched })
        })
    };
    if answer::is_untouched(&ended) {
        paid.give_back().await;
    }
    match answers.unconfirmed(hidden.ended(ended), cut_off(tool, power)).await {
        Ok((reply, ending)) => {
            let audited = begun.ended(&operation_id, ending, None);
            Answer::told(Reply { audited, operation_id: Some(operation_id), ..reply })
        }
        Err(refused) => begun.instead(refused),
    }
}

/// Prepares, consumes, runs and records in a task of the host's own, and waits for its reply.
pub(super) async fn start(inner: &Arc<Inner>, trail: &Trail, confirmed: Confirmed) -> Answer {
    let Confirmed { tool, hidden, call, token, bill, progress } = confirmed;
    let (asker, answered) = oneshot::channel();
    let run =
        Run { inner: Arc::clone(inner), trail: trail.clone(), tool, hidden, call: call.clone(), token: token.clone() };
    inner.runs.spawn(async move { run.go(asker, bill, progress).await });
    match answered.await {
        Ok(reply) => Answer::told(reply),
        // The task is gone without a word: only the gate knows how far it came.
        Err(_) => standing(inner, &call, &token).await,
    }
}

/// A run that carries a token.
struct Run {
    inner: Arc<Inner>,
    trail: Trail,
    tool: Arc<Tool>,
    hidden: Hidden,
    call: Call,
    token: Token,
}

/// A run whose token is spent.
struct Spent {
    prepared: Box<dyn Prepared>,
    permit: Permit,
    assurance: Assurance,
    power: Power,
    begun: Begun,
}

impl Run {
    async fn go(self, asker: oneshot::Sender<Reply>, bill: Bill, progress: Option<Arc<dyn Progress>>) {
        let answers = Answers { gate: &self.inner.gate, tool: &self.call.tool };
        let power = self.tool.power(Level::ApprovalRequired);
        let Call { owner, tool, .. } = &self.call;
        let prepared = self.tool.backend.prepare(owner, tool, power, self.hidden.secrets());
        let answer = match prepared.await {
            Err(error) => not_prepared(&answers, error).await,
            // Whoever asked has gone: nobody may be surprised by a run now. Nothing is spent, the token stays good.
            Ok(_) if asker.is_closed() => return,
            // The slot may have been long in coming.
            Ok(_) if !self.inner.still_has(&self.tool) => outdated(&answers, &self.call, &self.token).await,
            Ok(prepared) => match self.trail.spends().await {
                Err(started) => answers.refuse(Reason::Unavailable, UNWRITTEN).await.of_start(started),
                Ok(begun) if asker.is_closed() => return begun.calls_off(),
                Ok(begun) => match bill.pay(&self.inner).await {
                    Err(broke) => begun.instead(unpaid(&answers, &self.call, &self.token, broke).await),
                    // The store may have been long in coming: nobody waits any more, and nothing is spent yet.
                    Ok(paid) if asker.is_closed() => {
                        paid.give_back().await;
                        return begun.calls_off();
                    }
                    // Nor runs what another host in this one's place would not.
                    Ok(paid) if !self.inner.still_has(&self.tool) => {
                        paid.give_back().await;
                        begun.instead(outdated(&answers, &self.call, &self.token).await)
                    }
                    Ok(mut paid) => {
                        let limit = self.tool.deadline();
                        paid.may_run();
                        match permit::consume(&self.inner.gate, &self.token, &self.call, limit, GRACE).await {
                            Ok(Consumed::Run { permit, assurance }) => {
                                let begun = begun.spent(assurance);
                                let run = Spent { prepared, permit, assurance, power, begun };
                                return self.spent(&answers, run, asker, progress).await;
                            }
                            other => begun.instead(self.not_run(&answers, other, paid).await),
                        }
                    }
                },
            },
        };
        let reply = self.trail.tell(&answers, answer).await;
        // Nobody listens any more: nothing ran, nothing is lost.
        let _ = asker.send(reply);
    }

    /// The call did not run, or nobody knows: what was paid for it is given back where it is known.
    async fn not_run(&self, answers: &Answers<'_>, consumed: Result<Consumed, GateError>, paid: Paid) -> Answer {
        let known = match &consumed {
            // The swap may have been made, or still be.
            Ok(Consumed::Reject(rejection)) => rejection.reason != Reason::Unavailable,
            Ok(Consumed::Replay(_) | Consumed::Run { .. }) | Err(GateError::Misuse(_)) => true,
            Err(GateError::Rejected(_) | GateError::Fault(_)) => false,
        };
        if known {
            paid.give_back().await;
        }
        match consumed {
            Ok(Consumed::Replay(replayed)) => answers.replayed(replayed),
            Ok(Consumed::Reject(rejection)) => answers.rejected(rejection).await,
            Ok(Consumed::Run { .. }) => answers.refuse(Reason::Unavailable, "the run could not be started").await,
            Err(error) => answers.not_consumed(error).await,
        }
    }

    /// The token is spent: from here to the record nothing may return early.
    async fn spent(
        &self,
        answers: &Answers<'_>,
        run: Spent,
        asker: oneshot::Sender<Reply>,
        progress: Option<Arc<dyn Progress>>,
    ) {
        let Spent { prepared, permit, assurance, power, begun } = run;
        let operation_id = permit.operation_id().to_owned();
        let limit = permit.limit();
        let mut asker = Some(asker);
        let progress = self.hidden.progress(progress);
        let ended = if limit.is_zero() {
            let error = "the store took longer to start it than it may run, so it was not begun".to_owned();
            Err(RunError { error: ToolError::Deadline(error), observed: Observed::Nothing })
        } else if self.tool.backend.stoppable() {
            prepared.execute(permit, progress).await
        } else {
            self.overdue(prepared.execute(permit, progress), limit, &operation_id, &mut asker).await
        };
        let (outcome, ending) =
            answers.outcome(self.hidden.ended(ended), cut_off(&self.tool, power), Some(assurance)).await;
        let kept = self.record(&begun, &operation_id, &outcome).await;
        let audited = begun.ended(&operation_id, ending, Some(kept));
        if let Some(asker) = asker {
            let reply = answer::reply(answer::status(outcome.status), outcome.payload);
            let _ = asker.send(Reply { kept, audited, operation_id: Some(operation_id), ..reply });
        }
    }

    /// Waits for a run that nothing can stop. When its time is up whoever asked is told what everybody with this token is
    /// told: that it is still running, and [`GRACE`] later that its outcome is unknown. Nothing is recorded, since nothing
    /// is known. When the run returns after all, its outcome is recorded and replayed like any other.
    async fn overdue(
        &self,
        running: impl Future<Output = Result<Outcome, RunError>>,
        limit: Duration,
        operation_id: &str,
        asker: &mut Option<oneshot::Sender<Reply>>,
    ) -> Result<Outcome, RunError> {
        let mut running = std::pin::pin!(running);
        if let Ok(ended) = tokio::time::timeout(limit, &mut running).await {
            return ended;
        }
        tracing::warn!(tool = self.call.tool, operation_id, "a run has had its time and cannot be stopped");
        let answers = Answers { gate: &self.inner.gate, tool: &self.call.tool };
        let answer = standing(&self.inner, &self.call, &self.token).await;
        let reply = self.trail.tell(&answers, answer).await;
        if let Some(asker) = asker.take() {
            let _ = asker.send(Reply { operation_id: Some(operation_id.to_owned()), ..reply });
        }
        running.await
    }

    /// Keeps an outcome, patiently; whether it is kept.
    async fn record(&self, begun: &Begun, operation_id: &str, outcome: &gate::Outcome) -> bool {
        let mut waits = RECORD_WAITS.iter();
        loop {
            let error = match self.inner.gate.record(&self.token, operation_id, outcome).await {
                Ok(recording) => {
                    if let Some(settlement) = recording.settled_before {
                        let said = if settlement.happened { "happened" } else { "did not happen" };
                        tracing::warn!(
                            tool = self.call.tool,
                            operation_id,
                            by = settlement.by,
                            "a run that was settled as \"{said}\" has come back: its own outcome replaces that"
                        );
                        begun.was_settled(operation_id, &settlement);
                    }
                    return true;
                }
                Err(error) => error,
            };
            match (&error, waits.next()) {
                (GateError::Rejected(_) | GateError::Fault(_), Some(wait)) => tokio::time::sleep(*wait).await,
                (GateError::Rejected(_) | GateError::Fault(_), None) | (GateError::Misuse(_), _) => {
                    tracing::error!(tool = self.call.tool, operation_id, "an outcome could not be kept: {error}");
                    return false;
                }
            }
        }
    }
}

/// A budget does not allow a call with a token.
pub(super) async fn unpaid(answers: &Answers<'_>, call: &Call, token: &str, broke: Broke) -> Answer {
    // It may be this very call that was paid for, under the same token, by somebody else.
    match decided(answers, call, token).await {
        Some(answer) => answer,
        None => broke.reply(answers).await,
    }
}

/// What is in force by now would not run a call with a token.
async fn outdated(answers: &Answers<'_>, call: &Call, token: &str) -> Answer {
    // It may have run meanwhile: what is recorded is replayed, whatever is in force.
    match decided(answers, call, token).await {
        Some(answer) => answer,
        None => answers.changed_meanwhile().await,
    }
}

/// What the gate says of a token, where that is not that it may be spent.
async fn decided(answers: &Answers<'_>, call: &Call, token: &str) -> Option<Answer> {
    match answers.gate.check(token, call).await {
        Ok(Readiness::Replay(replayed)) => Some(answers.replayed(replayed)),
        Ok(Readiness::Reject(rejection)) => Some(answers.rejected(rejection).await),
        Ok(Readiness::Ready) | Err(_) => None,
    }
}

/// What the gate says of a token whose run gives no answer.
async fn standing(inner: &Inner, call: &Call, token: &str) -> Answer {
    let answers = Answers { gate: &inner.gate, tool: &call.tool };
    match inner.gate.check(token, call).await {
        Ok(Readiness::Replay(replayed)) => answers.replayed(replayed),
        Ok(Readiness::Reject(rejection)) => answers.rejected(rejection).await,
        Ok(Readiness::Ready) => answers.refuse(Reason::Unavailable, "the run could not be started").await,
        Err(error) => answers.not_seen(error).await,
    }
}

/// Nothing of the tool has run, and no token is spent.
async fn not_prepared(answers: &Answers<'_>, error: ToolError) -> Answer {
    let (reason, what) = match error {
        ToolError::UnknownTool => return answers.unknown_tool().await,
        ToolError::InvalidArguments(what) => (Reason::InvalidArguments, what),
        ToolError::Refused(what) => (Reason::Refused, what),
        ToolError::Unavailable(what)
        | ToolError::Failed { message: what, .. }
        | ToolError::Trapped(what)
        | ToolError::Deadline(what)
        | ToolError::OutputLimit(what) => (Reason::Unavailable, format!("the tool could not be started: {what}")),
    };
    answers.refuse(reason, &what).await
}

/// What may have changed where a run ended well and what it returned cannot be delivered.
fn cut_off(tool: &Tool, power: Power) -> Effect {
    match power {
        Power::ReadOnly if tool.backend.enforced() => Effect::None,
        Power::ReadOnly | Power::Granted => Effect::Unknown,
    }
}
