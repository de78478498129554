//! Turns what a call came to into a reply. The shapes and the standing advice are the gate's; here is only which of them
//! answers what, and what is said when the gate itself cannot.

use super::hidden::Hidden;
use super::trail::Answer;
use super::{Reply, Status, advice, effect};
use crate::audit::event::Ending;
use crate::audit::words;
use crate::gate::{self, Assurance, Challenge, Failure, Gate, GateError, OutcomeStatus, Reason, Rejection, Replayed};
use crate::policy::Level;
use crate::text;
use crate::tool::{Effect, Observed, Outcome, Plan, RunError, ToolError};

/// Answers about one tool.
pub(super) struct Answers<'a> {
    pub(super) gate: &'a Gate,
    /// The name as it was called.
    pub(super) tool: &'a str,
}

impl Answers<'_> {
    /// A refusal that the host found.
    pub(super) async fn refuse(&self, reason: Reason, what: &str) -> Answer {
        match self.gate.refuse(reason, &cut(what)).await {
            Ok(rejection) => self.rejected(rejection).await,
            Err(error) => self.broken(&error),
        }
    }

    /// A refusal by the operator's policy. `again` is in how many milliseconds it makes sense to ask again.
    pub(super) async fn denied(&self, what: &str, again: Option<u64>) -> Answer {
        match self.gate.refuse(Reason::Denied, &cut(what)).await {
            Ok(rejection) => self.rejected(Rejection { retry_after: again, ..rejection }).await.because(what),
            Err(error) => self.broken(&error),
        }
    }

    /// The operator's rules could not be asked in time, since those of other calls were.
    #[cfg(feature = "rules")]
    pub(super) async fn busy(&self) -> Answer {
        self.refuse(Reason::Unavailable, "the operator's rules are asked about too many other calls").await
    }

    /// A refusal that the gate found.
    pub(super) async fn rejected(&self, rejection: Rejection) -> Answer {
        match self.gate.rejected(&self.named(), &rejection).await {
            Ok(payload) => Answer::refused(reply(Status::Rejected, payload), rejection.reason, rejection.detail),
            Err(error) => self.broken(&error),
        }
    }

    /// What is in force by now would not run the call as it was decided: the gate's own advice is of what was previewed.
    pub(super) async fn changed_meanwhile(&self) -> Answer {
        let error = "the tool, its grants or its rules changed while this call waited for its turn, and nothing ran; call \
                     again without a token";
        let error = error.to_owned();
        self.rejected(Rejection { reason: Reason::ToolChanged, detail: None, error, retry_after: None }).await
    }

    /// There is no such tool.
    pub(super) async fn unknown_tool(&self) -> Answer {
        self.refuse(Reason::UnknownTool, &format!("there is no tool \"{}\"", self.named())).await
    }

    /// The gate gave no decision: nothing runs.
    pub(super) async fn gate_error(&self, error: GateError) -> Answer {
        match error {
            GateError::Rejected(rejection) => self.rejected(rejection).await,
            GateError::Misuse(what) => {
                tracing::error!(tool = self.tool, "the gate was used wrongly: {what}");
                self.refuse(Reason::Unavailable, "the gate could not take the call").await
            }
            GateError::Fault(what) => {
                tracing::error!(tool = self.tool, "the gate failed: {what}");
                self.refuse(Reason::Unavailable, "the gate failed").await
            }
        }
    }

    /// Spending a token came to no decision: nothing runs on the strength of that, and whether the token is spent is not
    /// known. The standing advice of `unavailable` would say that it is not.
    pub(super) async fn not_consumed(&self, error: GateError) -> Answer {
        self.unsure(
            error,
            "the store or the gate did not answer while this call was started, so it is not known whether its token is \
             spent; nothing ran; call again later with the same arguments and token",
        )
        .await
    }

    /// A run has been started, and nobody can say how it stands.
    pub(super) async fn not_seen(&self, error: GateError) -> Answer {
        self.unsure(
            error,
            "the store or the gate did not answer, so it is not known whether this call ran, or still runs; call again \
             later with the same arguments and token for its outcome",
        )
        .await
    }

    async fn unsure(&self, error: GateError, text: &str) -> Answer {
        // The gate takes no call wrongly and half: misuse is found before anything is done.
        if matches!(error, GateError::Misuse(_)) {
            return self.gate_error(error).await;
        }
        tracing::error!(tool = self.tool, "a run is in doubt: {error}");
        let error = text.to_owned();
        self.rejected(Rejection { reason: Reason::Unavailable, detail: None, error, retry_after: None }).await
    }

    /// The preview asked for more than the tool declares: a defect of the tool.
    pub(super) async fn bad_level(&self, error: GateError) -> Answer {
        match error {
            GateError::Misuse(what) => {
                tracing::error!(tool = self.tool, "a plan has a level that it cannot have: {what}");
                self.refuse(Reason::Refused, &format!("the tool contradicts itself, and nothing was changed: {what}"))
                    .await
            }
            other => self.gate_error(other).await,
        }
    }

    /// There is no plan: nothing ran, whatever the preview met with.
    pub(super) async fn not_planned(&self, error: ToolError) -> Answer {
        let (reason, what) = match error {
            ToolError::UnknownTool => return self.unknown_tool().await,
            ToolError::InvalidArguments(what) => (Reason::InvalidArguments, what),
            ToolError::Refused(what) => (Reason::Refused, what),
            ToolError::Unavailable(what) => (Reason::Unavailable, what),
            ToolError::Failed { message: what, .. }
            | ToolError::Trapped(what)
            | ToolError::Deadline(what)
            | ToolError::OutputLimit(what) => {
                (Reason::Refused, format!("the preview failed and nothing was changed: {what}"))
            }
        };
        self.refuse(reason, &what).await
    }

    /// A tool's plan as the gate takes it, or why it cannot be one.
    pub(super) async fn plan(&self, plan: Plan, hidden: &Hidden) -> Result<gate::Plan, Answer> {
        /// What the gate counts for each warning beside its text.
        const WARNING: usize = 8;
        let settings = self.gate.settings();
        let plan = match hidden.plan(plan) {
            Ok(plan) => plan,
            Err(fault) => return Err(self.bad_plan(fault).await),
        };
        let Plan { summary, details, warnings, precondition, level: _ } = plan;
        let length = |limit: u32| usize::try_from(limit).unwrap_or(usize::MAX);
        let fault = if summary.trim().is_empty() {
            Some("the tool's preview has no summary".to_owned())
        } else if precondition.as_ref().is_some_and(|text| text.len() > length(settings.max_precondition)) {
            Some(format!("the tool's precondition is longer than {} bytes", settings.max_precondition))
        } else {
            None
        };
        let preview = match (fault, self.gate.compact(&details).await) {
            (Some(fault), _) => return Err(self.bad_plan(fault).await),
            (None, Err(GateError::Misuse(what))) => {
                return Err(self.bad_plan(format!("the details of its plan are no good JSON: {what}")).await);
            }
            (None, Err(error)) => return Err(self.gate_error(error).await),
            (None, Ok(preview)) if !preview.starts_with('{') => {
                return Err(self.bad_plan("the details of its plan are not a JSON object".to_owned()).await);
            }
            (None, Ok(preview)) => preview,
        };
        let whole = summary.len()
            + preview.len()
            + warnings.iter().map(|warning| warning.len().saturating_add(WARNING)).sum::<usize>()
            + precondition.as_ref().map_or(0, String::len);
        if whole > length(settings.max_plan) {
            return Err(self.bad_plan(format!("its plan is longer than {} bytes", settings.max_plan)).await);
        }
        Ok(gate::Plan {
            summary: text::prose(summary),
            preview,
            warnings: warnings.into_iter().map(text::prose).collect(),
            precondition,
            masked_arguments: hidden.arguments().map(str::to_owned),
            needs: Assurance::TokenOnly,
            approvers: 0,
        })
    }

    async fn bad_plan(&self, what: String) -> Answer {
        tracing::error!(tool = self.tool, "a plan cannot be used: {what}");
        self.refuse(Reason::Refused, &format!("the preview failed and nothing was changed: {what}")).await
    }

    /// Here is what would run, and the token.
    pub(super) async fn confirmation_required(
        &self,
        plan: &gate::Plan,
        challenge: &Challenge,
        confirm_parameter: &str,
    ) -> Answer {
        let level = Level::ApprovalRequired.into();
        match self.gate.confirmation_required(self.tool, plan, challenge, level, confirm_parameter).await {
            Ok(payload) => {
                let reply = reply(Status::ConfirmationRequired, payload);
                Answer::issued(reply, &challenge.approval_id, plan.needs)
            }
            Err(error) => self.broken(&error),
        }
    }

    /// The stored outcome, byte for byte.
    pub(super) fn replayed(&self, replayed: Replayed) -> Answer {
        let operation_id = Some(replayed.operation_id.clone());
        let reply = reply(status(replayed.outcome.status), replayed.outcome.payload);
        let reply = Reply { replayed: true, operation_id, ..reply };
        Answer::replayed(reply, replayed.operation_id, replayed.outcome.status)
    }

    /// What a run that was let through without a confirmation came to. What the tool refused, it has not begun: unless
    /// the host saw that it had.
    pub(super) async fn unconfirmed(
        &self,
        ended: Result<Outcome, RunError>,
        cut_off: Effect,
    ) -> Result<(Reply, Ending), Answer> {
        if let Err(RunError { error, observed: Observed::Nothing | Observed::Unwatched }) = &ended {
            match error {
                ToolError::UnknownTool => return Err(self.unknown_tool().await),
                ToolError::InvalidArguments(what) => return Err(self.refuse(Reason::InvalidArguments, what).await),
                ToolError::Refused(what) => return Err(self.refuse(Reason::Refused, what).await),
                ToolError::Unavailable(what) => return Err(self.refuse(Reason::Unavailable, what).await),
                ToolError::Failed { .. }
                | ToolError::Trapped(_)
                | ToolError::Deadline(_)
                | ToolError::OutputLimit(_) => {}
            }
        }
        let (outcome, ending) = self.outcome(ended, cut_off, None).await;
        let payload = match outcome.status {
            OutcomeStatus::Failed => advice::unconfirmed(outcome.payload),
            _ => outcome.payload,
        };
        Ok((reply(status(outcome.status), payload), ending))
    }

    /// What a started run came to, as it is recorded and delivered. `cut_off`: what may have changed where the tool ended
    /// well and its outcome cannot be delivered.
    pub(super) async fn outcome(
        &self,
        ended: Result<Outcome, RunError>,
        cut_off: Effect,
        assurance: Option<Assurance>,
    ) -> (gate::Outcome, Ending) {
        let (failure, error, (effect, whose)) = match ended {
            Ok(outcome) => match self.succeeded(&outcome, assurance).await {
                Ok(payload) => return (gate::Outcome { status: OutcomeStatus::Ok, payload }, Ending::Ok),
                Err(what) => {
                    let whose = match cut_off {
                        Effect::None => "the host let it change nothing",
                        Effect::Partial | Effect::Unknown => "the tool itself ended well",
                    };
                    (Failure::OutputLimit, what, (cut_off, whose.to_owned()))
                }
            },
            Err(RunError { error, observed }) => {
                let (failure, text, word) = told(error);
                (failure, text, effect::told(word, observed))
            }
        };
        let error = format!("{}; {whose}", cut(error.trim_end_matches(['.', ';', ' '])));
        let payload = match self.gate.failed(self.tool, failure, &error, effect.into(), assurance).await {
            Ok(payload) => payload,
            Err(fault) => {
                tracing::error!(tool = self.tool, "the gate failed: {fault}");
                self.plain_failure(failure, &error, effect, assurance)
            }
        };
        (gate::Outcome { status: OutcomeStatus::Failed, payload }, Ending::Failed(failure, effect))
    }

    /// The payload of a run that ended well, or what is wrong with what it returned.
    async fn succeeded(&self, outcome: &Outcome, assurance: Option<Assurance>) -> Result<String, String> {
        let limit = self.gate.settings().max_output;
        let over = |length: usize| u32::try_from(length).map_or(true, |length| length > limit);
        if over(outcome.message.len().saturating_add(outcome.details.len())) {
            return Err(format!("the tool returned more than {limit} bytes"));
        }
        let message = text::prose(outcome.message.clone());
        match self.gate.ok(self.tool, &message, &outcome.details, assurance).await {
            Ok(payload) if over(payload.len()) => Err(format!("the tool returned more than {limit} bytes")),
            Ok(payload) => Ok(payload),
            Err(GateError::Misuse(what)) => Err(format!("the tool returned details that cannot be delivered: {what}")),
            Err(error) => {
                tracing::error!(tool = self.tool, "the gate failed: {error}");
                Err("the tool ended well and its details could not be delivered".to_owned())
            }
        }
    }

    /// The name as it may be repeated: one that is longer than any tool's is cut, visibly.
    fn named(&self) -> String {
        const LONGEST: usize = 64;
        let length = self.tool.chars().count();
        if length <= LONGEST {
            return text::escape(self.tool).into_owned();
        }
        let start: String = self.tool.chars().take(LONGEST).collect();
        format!("{}… ({length} characters)", text::escape(&start))
    }

    /// The gate cannot even word a refusal: the host does, in the gate's shape. It may have to be said of a call that
    /// has been started, too, so it claims nothing.
    pub(super) fn broken(&self, error: &GateError) -> Answer {
        const ERROR: &str = "the gate failed: call again later with the same arguments and token, if you have one, and \
                             tell the operator if it stays so";
        tracing::error!(tool = self.tool, "the gate failed: {error}");
        let (tool, error) = (quoted(&self.named()), quoted(ERROR));
        let payload = format!(r#"{{"status":"rejected","tool":{tool},"error":{error},"reason":"unavailable"}}"#);
        Answer::refused(reply(Status::Rejected, payload), Reason::Unavailable, None)
    }

    /// The same for a run that failed.
    pub(super) fn plain_failure(
        &self,
        failure: Failure,
        error: &str,
        effect: Effect,
        assurance: Option<Assurance>,
    ) -> String {
        let (reason, effect) = (words::failure(failure), words::effect(effect));
        let assurance =
            assurance.map(|proof| format!(r#","assurance":"{}""#, words::assurance(proof))).unwrap_or_default();
        let (tool, error) = (quoted(&self.named()), quoted(error));
        format!(
            r#"{{"status":"failed","tool":{tool},"error":{error},"reason":"{reason}","effect":"{effect}"{assurance}}}"#
        )
    }
}

/// A text as JSON.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A tool's error as it is repeated: nothing hidden in it, and of what is longer than anybody reads both ends.
fn cut(text: &str) -> String {
    /// What a plug-in's own text is cut to, with room for what is said around it.
    const LONGEST: usize = 4096 + 256;
    text::prose(text::ends(text, LONGEST).into_owned())
}

/// A reply about something that was not a recorded run.
pub(super) fn reply(status: Status, payload: String) -> Reply {
    Reply { status, payload, replayed: false, kept: true, audited: true, operation_id: None }
}

/// Whether a tool refused to run and the host, which watched it, saw nothing else. It is answered as not run, then.
pub(super) fn is_untouched(ended: &Result<Outcome, RunError>) -> bool {
    let Err(RunError { error, observed: Observed::Nothing }) = ended else { return false };
    match error {
        ToolError::UnknownTool | ToolError::InvalidArguments(_) | ToolError::Refused(_) | ToolError::Unavailable(_) => {
            true
        }
        ToolError::Failed { .. } | ToolError::Trapped(_) | ToolError::Deadline(_) | ToolError::OutputLimit(_) => false,
    }
}

/// How a run ended, as the wire says it.
pub(super) fn status(status: OutcomeStatus) -> Status {
    match status {
        OutcomeStatus::Ok => Status::Ok,
        OutcomeStatus::Failed => Status::Failed,
    }
}

/// A tool's error once it has started: why, in which words, and the tool's own word on its effect where it had one.
fn told(error: ToolError) -> (Failure, String, Option<Effect>) {
    match error {
        ToolError::UnknownTool => (Failure::ToolError, "it has no tool of this name".to_owned(), Some(Effect::None)),
        ToolError::InvalidArguments(what) | ToolError::Refused(what) | ToolError::Unavailable(what) => {
            (Failure::ToolError, what, Some(Effect::None))
        }
        ToolError::Failed { message, effect } => (Failure::ToolError, message, Some(effect)),
        ToolError::Trapped(what) => (Failure::Trapped, what, None),
        ToolError::Deadline(what) => (Failure::Deadline, what, None),
        ToolError::OutputLimit(what) => (Failure::OutputLimit, what, None),
    }
}
