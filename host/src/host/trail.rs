//! What the audit is told of one call. The only way from an answer to a reply leads through [`Trail::tell`], so no decision
//! can be forgotten; a run is told when it begins, and may not begin where that cannot be written.

use super::answer::Answers;
use super::hidden::Hidden;
use super::{Inner, Reply, Tool};
use crate::Owner;
use crate::audit::Audit;
use crate::audit::event::{Ending, Event, Subject, bounded};
use crate::gate::{Assurance, Detail, Gate, OutcomeStatus, Reason, Settlement};
use crate::policy::Level;
use crate::tool::Effect;
use std::time::{Duration, Instant};

/// What a caller is told where a row that has to be there cannot be written.
pub(super) const UNWRITTEN: &str = "the host's audit cannot be written, and nothing runs that it cannot record; whoever \
                                    operates the host finds the reason in its log";

/// A reply that the audit has not been told of yet.
pub(super) struct Answer {
    reply: Reply,
    what: What,
    started: Option<u64>,
    /// What the operator's policy said, where that decided.
    policy: Option<String>,
}

/// What an answer says.
enum What {
    Issued {
        approval_id: String,
        assurance: Assurance,
    },
    Refused {
        reason: Reason,
        detail: Option<Detail>,
    },
    Replayed {
        operation_id: String,
        status: OutcomeStatus,
    },
    /// Its run has been told of already.
    Told,
}

impl Answer {
    pub(super) fn issued(reply: Reply, approval_id: &str, assurance: Assurance) -> Self {
        Self {
            reply,
            what: What::Issued { approval_id: approval_id.to_owned(), assurance },
            started: None,
            policy: None,
        }
    }

    pub(super) fn refused(reply: Reply, reason: Reason, detail: Option<Detail>) -> Self {
        Self { reply, what: What::Refused { reason, detail }, started: None, policy: None }
    }

    pub(super) fn replayed(reply: Reply, operation_id: String, status: OutcomeStatus) -> Self {
        Self { reply, what: What::Replayed { operation_id, status }, started: None, policy: None }
    }

    pub(super) fn told(reply: Reply) -> Self {
        Self { reply, what: What::Told, started: None, policy: None }
    }

    /// Nothing began, though a row says that it was about to.
    pub(super) fn of_start(self, started: Option<u64>) -> Self {
        Self { started, ..self }
    }

    /// The operator's policy decided so, in these words.
    pub(super) fn because(self, what: &str) -> Self {
        Self { policy: Some(what.to_owned()), ..self }
    }

    /// The reply to what was no call: a trial of the rules.
    #[cfg(any(test, feature = "program"))]
    pub(super) fn untold(self) -> Reply {
        self.reply
    }
}

/// One call, as the audit knows it.
#[derive(Clone)]
pub(super) struct Trail {
    /// None: there is none, or this call is none of its business.
    audit: Option<Audit>,
    subject: Subject,
    came: Clock,
}

/// Since when something takes, where the audit is told how long.
#[derive(Clone, Copy)]
struct Clock(Option<Instant>);

impl Clock {
    fn of(audit: Option<&Audit>) -> Self {
        Self(audit.map(|_| Instant::now()))
    }

    fn took(self) -> Duration {
        self.0.map(|began| began.elapsed()).unwrap_or_default()
    }
}

impl Trail {
    pub(super) fn of(inner: &Inner, owner: &Owner, name: &str, tool: Option<&Tool>) -> Self {
        let audit = inner.audits.of_call().cloned();
        let subject = match &audit {
            None => Subject::default(),
            Some(_) => Subject {
                owner: owner.as_str().to_owned(),
                tool: bounded(name).into_owned(),
                level: tool.map(|tool| tool.level),
                revision: tool.map(|tool| tool.revision.clone()),
                ..Subject::default()
            },
        };
        let came = Clock::of(audit.as_ref());
        Self { audit, subject, came }
    }

    /// The call has these canonical arguments. Where nobody knows what in them is secret, they are not told.
    pub(super) fn reads(&mut self, hidden: Option<&Hidden>, arguments: &str, has_token: bool) {
        if self.subject.level == Some(Level::Safe) && !has_token {
            self.audit = None;
        }
        if let (Some(hidden), Some(_)) = (hidden, &self.audit) {
            let shown = hidden.arguments().unwrap_or(arguments);
            self.subject.arguments = Some(crate::digest::sha256(shown.as_bytes()));
        }
    }

    /// The call carries this token: which confirmation that is. Not known where the store does not answer.
    pub(super) async fn carries(&mut self, gate: &Gate, token: &str) {
        if self.audit.is_some() {
            self.subject.approval_id = gate.identify(token).await.ok().flatten();
        }
    }

    /// The operator's rules raised the call, in these words.
    pub(super) fn follows(&mut self, policy: &[String]) {
        if self.audit.is_some() {
            self.subject.follows(policy);
        }
    }

    /// The call is of this level, and of no other.
    pub(super) fn is_of(&mut self, level: Level) {
        self.subject.level = Some(level);
        if level == Level::Safe {
            self.audit = None;
        }
    }

    /// Tells what was decided, and gives the reply. A token whose row cannot be written is given to nobody, and its confirmation
    /// taken back: it would take the room of one that can be spent.
    pub(super) async fn tell(&self, answers: &Answers<'_>, answer: Answer) -> Reply {
        let Answer { reply, what, started, policy } = answer;
        let Some(audit) = &self.audit else { return reply };
        let took = self.came.took();
        let mut subject = self.subject.clone();
        subject.follows(policy.as_slice());
        let (event, must) = match &what {
            // Before its level is decided a call of a safe tool can only have been refused.
            What::Refused { .. } if subject.level == Some(Level::Safe) && subject.approval_id.is_none() => {
                return reply;
            }
            What::Told => return reply,
            What::Issued { approval_id, assurance } => {
                subject.approval_id = Some(approval_id.clone());
                subject.assurance = Some(*assurance);
                (Event::ChallengeIssued { took }, true)
            }
            What::Refused { reason, detail } => {
                complete(&mut subject, answers.gate, is_of_its_call(*reason, *detail)).await;
                (Event::Refused { reason: *reason, detail: *detail, started, took }, false)
            }
            What::Replayed { operation_id, status } => {
                complete(&mut subject, answers.gate, true).await;
                (Event::Replayed { operation_id, status: *status, started, took }, false)
            }
        };
        let told = if must { audit.begin(Some(&subject), event) } else { audit.note(Some(&subject), event) };
        // Why is in the log.
        if must && told.is_err() {
            if let What::Issued { approval_id, .. } = &what {
                answers.gate.withdraw(approval_id).await;
            }
            return answers.refuse(Reason::Unavailable, UNWRITTEN).await.reply;
        }
        reply
    }

    /// A run that needs no confirmation begins. None: it could not be told, and must not run. `effect`, `stoppable`: what can
    /// be said of it where its caller goes away.
    pub(super) fn begins(&self, operation_id: &str, effect: Effect, stoppable: bool) -> Option<Begun> {
        let event = Event::Started { operation_id: Some(operation_id) };
        let seq = match &self.audit {
            None => None,
            Some(audit) => match audit.begin(Some(&self.subject), event) {
                Ok(seq) => seq,
                // Why is in the log.
                Err(_) => return None,
            },
        };
        let operation_id = Some(operation_id.to_owned());
        let cancelled = Some(Cancelled { effect, stopped: stoppable });
        let at = Clock::of(self.audit.as_ref());
        Some(Begun { trail: self.clone(), seq, at, operation_id, cancelled })
    }

    /// A token is about to be spent: waits until that is on the disk. An error: it could not be told, and the token must not be
    /// spent; the row that may be there all the same is for [`Answer::of_start`].
    pub(super) async fn spends(&self) -> Result<Begun, Option<u64>> {
        let event = Event::Started { operation_id: None };
        let seq = match &self.audit {
            None => None,
            Some(audit) => match audit.durable(Some(&self.subject), event).await {
                Ok(seq) => Some(seq),
                Err((_, started)) => return Err(started),
            },
        };
        let at = Clock::of(self.audit.as_ref());
        Ok(Begun { trail: self.clone(), seq, at, operation_id: None, cancelled: None })
    }
}

/// Whether this refusal was decided behind the look at whose confirmation it is and of which call.
fn is_of_its_call(reason: Reason, detail: Option<Detail>) -> bool {
    match reason {
        Reason::Expired
        | Reason::ToolChanged
        | Reason::AwaitingApproval
        | Reason::Declined
        | Reason::Unresolved
        | Reason::UnknownTool => true,
        Reason::UnknownOrUsed => detail.is_some(),
        Reason::MalformedToken
        | Reason::InvalidArguments
        | Reason::WrongOwner
        | Reason::WrongTool
        | Reason::ParamsChanged
        | Reason::Refused
        | Reason::Denied
        | Reason::TooManyPending
        | Reason::Unavailable => false,
    }
}

/// Adds what the confirmation says that a row is about. `same`: it is of this very call, so that it also says of a tool that is
/// gone what it was. Nothing where the store does not answer.
async fn complete(subject: &mut Subject, gate: &Gate, same: bool) {
    let Some(id) = &subject.approval_id else { return };
    let Ok(Some(item)) = gate.show(id).await else { return };
    subject.assurance = Some(item.assurance());
    if same && subject.level.is_none() {
        subject.level = Some(Level::ApprovalRequired);
        subject.revision = Some(item.revision);
    }
    if same && subject.arguments.is_none() {
        // Masked there where the tool's schema marked secrets.
        subject.arguments = Some(crate::digest::sha256(item.arguments.as_bytes()));
    }
}

/// A run of which the audit knows that it begins.
pub(super) struct Begun {
    trail: Trail,
    /// None: the audit is not told of this one.
    seq: Option<u64>,
    at: Clock,
    operation_id: Option<String>,
    /// What dropping this says, where nothing was spent.
    cancelled: Option<Cancelled>,
}

/// What is known of a run whose caller went away.
#[derive(Clone, Copy)]
struct Cancelled {
    effect: Effect,
    /// False: nothing can stop it, so it may be running still.
    stopped: bool,
}

impl Begun {
    /// It came to nothing: the answer says why, and tells the audit that it is about this run.
    pub(super) fn instead(mut self, answer: Answer) -> Answer {
        self.cancelled = None;
        Answer { started: self.seq, ..answer }
    }

    /// Its caller went away before anything was spent.
    pub(super) fn calls_off(mut self) {
        self.cancelled = Some(Cancelled { effect: Effect::None, stopped: true });
    }

    /// The token is spent, and its confirmation proved this.
    pub(super) fn spent(mut self, assurance: Assurance) -> Self {
        self.trail.subject.assurance = Some(assurance);
        self
    }

    /// It is over; whether that could be told. `kept`: whether its outcome is stored, where one has to be.
    pub(super) fn ended(mut self, operation_id: &str, ending: Ending, kept: Option<bool>) -> bool {
        self.cancelled = None;
        let took = self.at.took();
        self.note(|started| Event::Ended { started, operation_id, ending, kept, took })
    }

    /// The operator had settled it before it came back.
    pub(super) fn was_settled(&self, operation_id: &str, before: &Settlement) {
        let (happened, by) = (before.happened, before.by.as_str());
        self.note(|started| Event::SettlementReplaced { started, operation_id, happened, by });
    }

    fn note<'a>(&self, event: impl FnOnce(u64) -> Event<'a>) -> bool {
        let (Some(audit), Some(seq)) = (&self.trail.audit, self.seq) else { return true };
        let noted = audit.note(Some(&self.trail.subject), event(seq));
        if noted.is_err() {
            tracing::error!("how run {seq} ended is not in the audit");
        }
        noted.is_ok()
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        if let Some(Cancelled { effect, stopped }) = self.cancelled {
            let (operation_id, took) = (self.operation_id.take(), self.at.took());
            let operation_id = operation_id.as_deref();
            self.note(|started| Event::Cancelled { started, operation_id, effect, stopped, took });
        }
    }
}
