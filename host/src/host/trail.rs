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
use std::time::Instant;

/// What a caller is told where a row that has to be there cannot be written.
pub(super) const UNWRITTEN: &str = "the host's audit cannot be written, and nothing runs that it cannot record; whoever \
                                    operates the host finds the reason in its log";

/// A reply that the audit has not been told of yet.
pub(super) struct Answer {
    reply: Reply,
    what: What,
    started: Option<u64>,
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
        Self { reply, what: What::Issued { approval_id: approval_id.to_owned(), assurance }, started: None }
    }

    pub(super) fn refused(reply: Reply, reason: Reason, detail: Option<Detail>) -> Self {
        Self { reply, what: What::Refused { reason, detail }, started: None }
    }

    pub(super) fn replayed(reply: Reply, operation_id: String, status: OutcomeStatus) -> Self {
        Self { reply, what: What::Replayed { operation_id, status }, started: None }
    }

    pub(super) fn told(reply: Reply) -> Self {
        Self { reply, what: What::Told, started: None }
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
    came: Instant,
}

impl Trail {
    pub(super) fn of(inner: &Inner, owner: &Owner, name: &str, tool: Option<&Tool>) -> Self {
        let audit = inner.audit.clone();
        let subject = match &audit {
            None => Subject::default(),
            Some(_) => Subject {
                owner: owner.as_str().to_owned(),
                tool: bounded(name).into_owned(),
                level: tool.map(|tool| tool.level),
                revision: tool.map(|tool| tool.revision.clone()),
                arguments: None,
                approval_id: None,
            },
        };
        Self { audit, subject, came: Instant::now() }
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

    /// The call is of this level, and of no other.
    pub(super) fn is_of(&mut self, level: Level) {
        self.subject.level = Some(level);
        if level == Level::Safe {
            self.audit = None;
        }
    }

    /// Tells what was decided, and gives the reply. A token whose row cannot be written is given to nobody.
    pub(super) async fn tell(&self, answers: &Answers<'_>, answer: Answer) -> Reply {
        let Answer { reply, what, started } = answer;
        let Some(audit) = &self.audit else { return reply };
        let took = self.came.elapsed();
        let (event, must) = match &what {
            // Before its level is decided a call of a safe tool can only have been refused.
            What::Refused { .. } if self.subject.level == Some(Level::Safe) && self.subject.approval_id.is_none() => {
                return reply;
            }
            What::Told => return reply,
            What::Issued { assurance, .. } => (Event::ChallengeIssued { assurance: *assurance, took }, true),
            What::Refused { reason, detail } => {
                (Event::Refused { reason: *reason, detail: *detail, started, took }, false)
            }
            What::Replayed { operation_id, status } => {
                (Event::Replayed { operation_id, status: *status, started, took }, false)
            }
        };
        let issued = match &what {
            What::Issued { approval_id, .. } => {
                Some(Subject { approval_id: Some(approval_id.clone()), ..self.subject.clone() })
            }
            What::Refused { .. } | What::Replayed { .. } | What::Told => None,
        };
        let subject = Some(issued.as_ref().unwrap_or(&self.subject));
        match if must { audit.begin(subject, event) } else { audit.note(subject, event) } {
            Ok(_) => reply,
            Err(error) => {
                tracing::error!("{error}");
                if must { answers.refuse(Reason::Unavailable, UNWRITTEN).await.reply } else { reply }
            }
        }
    }

    /// A run that needs no confirmation begins. None: it could not be told, and must not run. `effect`, `stoppable`: what can
    /// be said of it where its caller goes away.
    pub(super) fn begins(&self, operation_id: &str, effect: Effect, stoppable: bool) -> Option<Begun> {
        let event = Event::Started { operation_id: Some(operation_id), assurance: None };
        let seq = match &self.audit {
            None => None,
            Some(audit) => match audit.begin(Some(&self.subject), event) {
                Ok(seq) => seq,
                Err(error) => return unwritten(&error),
            },
        };
        let operation_id = Some(operation_id.to_owned());
        let cancelled = Some(Cancelled { effect, stopped: stoppable });
        Some(Begun { trail: self.clone(), seq, at: Instant::now(), operation_id, cancelled })
    }

    /// A token is about to be spent: waits until that is on the disk. None: it could not be told, and the token must not be
    /// spent.
    pub(super) async fn spends(&self) -> Option<Begun> {
        let event = Event::Started { operation_id: None, assurance: None };
        let seq = match &self.audit {
            None => None,
            Some(audit) => match audit.durable(Some(&self.subject), event).await {
                Ok(seq) => Some(seq),
                Err(error) => return unwritten(&error),
            },
        };
        Some(Begun { trail: self.clone(), seq, at: Instant::now(), operation_id: None, cancelled: None })
    }
}

fn unwritten(error: &impl std::fmt::Display) -> Option<Begun> {
    tracing::error!("{error}; what was about to begin is refused");
    None
}

/// A run of which the audit knows that it begins.
pub(super) struct Begun {
    trail: Trail,
    /// None: the audit is not told of this one.
    seq: Option<u64>,
    at: Instant,
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

    /// It is over; whether that could be told. `kept`: whether its outcome is stored, where one has to be.
    pub(super) fn ended(
        mut self,
        operation_id: &str,
        ending: Ending,
        assurance: Option<Assurance>,
        kept: Option<bool>,
    ) -> bool {
        self.cancelled = None;
        let took = self.at.elapsed();
        self.note(|started| Event::Ended { started, operation_id, ending, assurance, kept, took })
    }

    /// The operator had settled it before it came back.
    pub(super) fn was_settled(&self, operation_id: &str, before: &Settlement) {
        let (happened, by) = (before.happened, before.by.as_str());
        self.note(|started| Event::SettlementReplaced { started, operation_id, happened, by });
    }

    fn note<'a>(&self, event: impl FnOnce(u64) -> Event<'a>) -> bool {
        let (Some(audit), Some(seq)) = (&self.trail.audit, self.seq) else { return true };
        let noted = audit.note(Some(&self.trail.subject), event(seq));
        if let Err(error) = &noted {
            tracing::error!("{error}; how run {seq} ended is not in it");
        }
        noted.is_ok()
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        if let Some(Cancelled { effect, stopped }) = self.cancelled {
            let (operation_id, took) = (self.operation_id.take(), self.at.elapsed());
            let operation_id = operation_id.as_deref();
            self.note(|started| Event::Cancelled { started, operation_id, effect, stopped, took });
        }
    }
}
