//! The record of one issued token. Its state is one variant; what a backend sees of it is derived, never kept twice.

use crate::answer::Assurance;
use crate::digest::{Fields, Sha, binding};
use crate::settings::{Millis, Settings};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// Milliseconds since 1970-01-01T00:00:00Z.
pub type UnixMillis = u64;

/// `purge_after` of what is never purged: the largest time that every backend can hold.
pub const NEVER: UnixMillis = i64::MAX as u64;

/// Who wants what done.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The authenticated principal with its source.
    pub owner: &'a str,
    /// The tool.
    pub tool: &'a str,
    /// Digest of what would run and under which rules.
    pub revision: &'a str,
    /// Canonical arguments.
    pub arguments: &'a str,
}

impl Call<'_> {
    /// Names the call, whatever its revision.
    pub fn binding(&self) -> Sha {
        binding(self.owner, self.tool, self.arguments)
    }
}

/// What a call would do, and what its confirmation has to prove.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// One sentence.
    pub summary: String,
    /// The same, structured: a JSON object.
    pub preview: String,
    /// What a person should know before agreeing.
    pub warnings: Vec<String>,
    /// What the plan rests on.
    pub precondition: Option<String>,
    /// The arguments, an object, with a fixed text for each secret, where one is: then they are kept in no other form.
    pub masked_arguments: Option<String>,
    /// What the confirmation has to prove.
    pub needs: Assurance,
    /// How many different approvers have to agree.
    pub approvers: u8,
}

impl Plan {
    /// Bytes of everything that a plan carries, but for the arguments.
    pub fn size(&self) -> usize {
        let warnings: usize = self.warnings.iter().map(|w| w.len().saturating_add(8)).sum();
        self.summary.len() + self.preview.len() + warnings + self.precondition.as_deref().map_or(0, str::len)
    }
}

/// One approver's agreement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approval {
    /// Who.
    pub by: String,
    /// When.
    pub at: UnixMillis,
    /// What it proves.
    pub proof: Assurance,
}

/// Who refused, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Who.
    pub by: String,
    /// When.
    pub at: UnixMillis,
    /// In their words.
    pub why: String,
}

/// A run that was started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// Names it.
    pub operation_id: String,
    /// When the token was spent.
    pub started: UnixMillis,
    /// When it has to have ended.
    pub deadline: UnixMillis,
}

/// Whether a run succeeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It did.
    Ok,
    /// It failed.
    Failed,
}

/// What a run returned, as it was delivered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Whether it succeeded.
    pub status: Status,
    /// The payload, byte for byte.
    pub payload: String,
}

/// What the operator said of a lost run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settlement {
    /// Whether the effect happened.
    pub happened: bool,
    /// Who said so.
    pub by: String,
    /// When.
    pub at: UnixMillis,
}

/// How far a confirmation is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// Not spent; approved once enough approvers agreed. Expiry is a matter of time.
    Pending,
    /// Not spent and found expired by a sweep, which dropped its contents.
    Expired,
    /// A run has started.
    InFlight(Run),
    /// A run was recorded.
    Completed {
        /// Which.
        run: Run,
        /// When.
        at: UnixMillis,
        /// Until when the outcome is replayed.
        replay_until: UnixMillis,
        /// Whether the run succeeded.
        status: Status,
        /// What it returned, until a sweep drops it.
        payload: Option<String>,
        /// What the operator had said of the run before it was recorded.
        settled_before: Option<Settlement>,
    },
    /// A person refused.
    Declined(Refusal),
    /// The operator said what became of a lost run.
    Settled {
        /// Which.
        run: Run,
        /// What was said.
        settlement: Settlement,
    },
}

/// One issued token, without the token.
#[derive(Clone, PartialEq, Eq)]
pub struct Confirmation {
    /// The handle for people.
    pub approval_id: String,
    /// Whom it was issued to.
    pub owner: String,
    /// For which tool.
    pub tool: String,
    /// Of which revision.
    pub revision: String,
    /// For which arguments; empty where they hold a secret, and once a sweep dropped them.
    pub arguments: String,
    /// Names the call.
    pub binding: Sha,
    /// What was shown; empty once a sweep dropped it.
    pub plan: Plan,
    /// When.
    pub issued: UnixMillis,
    /// How long an approver may take.
    pub window: Millis,
    /// How long the token is good: from issue, or from agreement where a person is needed.
    pub ttl: Millis,
    /// Who agreed so far.
    pub approvals: Vec<Approval>,
    /// How far it is.
    pub state: State,
}

impl fmt::Debug for Confirmation {
    /// Arguments and plans may hold secrets: handles and state only.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Confirmation").field("approval_id", &self.approval_id).finish_non_exhaustive()
    }
}

/// What a backend knows of the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Not spent.
    Pending,
    /// Started, not recorded.
    InFlight,
    /// Recorded.
    Completed,
    /// Refused.
    Declined,
    /// Settled.
    Settled,
}

/// What a backend sees of a confirmation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Index {
    /// How far it is.
    pub phase: Phase,
    /// Whom it was issued to.
    pub owner: String,
    /// The handle for people.
    pub approval_id: String,
    /// Names the call.
    pub binding: Sha,
    /// When it was issued.
    pub issued: UnixMillis,
    /// When it came into this state.
    pub changed: UnixMillis,
    /// Until when the state is good for what it is.
    pub until: UnixMillis,
    /// When a sweep should look at it.
    pub purge_after: UnixMillis,
}

impl Confirmation {
    /// Whether it is for these arguments, owner and tool being the same. They are compared themselves where they are kept,
    /// by their digest where they are not: no canonical text is empty.
    pub fn is_for(&self, arguments: &str) -> bool {
        match self.arguments.is_empty() {
            false => self.arguments == arguments,
            true => self.binding == binding(&self.owner, &self.tool, arguments),
        }
    }

    /// The arguments as people may see them.
    pub fn shown_arguments(&self) -> &str {
        self.plan.masked_arguments.as_deref().unwrap_or(&self.arguments)
    }

    /// Whether a person has to agree.
    pub fn needs_person(&self) -> bool {
        self.plan.needs != Assurance::TokenOnly
    }

    /// When the last approver that is needed agreed.
    pub fn approved_at(&self) -> Option<UnixMillis> {
        let needed = usize::from(self.plan.approvers.max(1));
        self.approvals.get(needed - 1).filter(|_| self.needs_person()).map(|approval| approval.at)
    }

    /// Until when it can be confirmed, or approved.
    pub fn expires(&self) -> UnixMillis {
        let end = match (self.needs_person(), self.approved_at()) {
            (false, _) => self.issued.saturating_add(self.ttl),
            (true, Some(at)) => at.saturating_add(self.ttl),
            (true, None) => self.issued.saturating_add(self.window),
        };
        end.min(NEVER)
    }

    /// A clock that went back behind the issue counts as expired: how long it has really been is not known.
    pub fn is_expired(&self, now: UnixMillis) -> bool {
        self.state == State::Expired || now >= self.expires() || now < self.issued
    }

    /// What the confirmation proves, once it may run.
    pub fn assurance(&self) -> Assurance {
        let needed = usize::from(self.plan.approvers.max(1));
        match self.needs_person() {
            false => Assurance::TokenOnly,
            true => self.approvals.iter().take(needed).map(|a| a.proof).min().unwrap_or(Assurance::TokenOnly),
        }
    }

    /// The last moment at which anything is told of it. `None`: always.
    pub fn forgotten_at(&self, settings: &Settings) -> Option<UnixMillis> {
        let last = match &self.state {
            State::InFlight(_) => return None,
            State::Pending | State::Expired => self.expires(),
            State::Completed { replay_until, .. } => *replay_until,
            State::Declined(refusal) => refusal.at.max(self.expires()),
            State::Settled { settlement, .. } => settlement.at,
        };
        Some(last.saturating_add(settings.tombstone).min(NEVER))
    }

    /// When nobody needs the row any more: neither its token nor a later call that is identical. `None`: never.
    pub fn removed_at(&self, settings: &Settings) -> Option<UnixMillis> {
        let needed = match &self.state {
            State::Completed { at, .. } => at.saturating_add(settings.recent_window),
            State::Declined(refusal) => refusal.at.saturating_add(settings.cool_down),
            State::Pending | State::Expired | State::InFlight(_) | State::Settled { .. } => 0,
        };
        self.forgotten_at(settings).map(|forgotten| forgotten.max(needed).min(NEVER))
    }

    /// How far it is, when it came there, and until when that is good: as far as it rests on no setting.
    pub(crate) fn standing(&self) -> (Phase, UnixMillis, Option<UnixMillis>) {
        match &self.state {
            State::Pending => {
                let changed = self.approvals.last().map_or(self.issued, |approval| approval.at);
                (Phase::Pending, changed, Some(self.expires()))
            }
            State::Expired => (Phase::Pending, self.expires(), Some(self.expires())),
            State::InFlight(run) => (Phase::InFlight, run.started, Some(run.deadline)),
            State::Completed { at, replay_until, .. } => (Phase::Completed, *at, Some(*replay_until)),
            State::Declined(refusal) => (Phase::Declined, refusal.at, None),
            State::Settled { settlement, .. } => (Phase::Settled, settlement.at, None),
        }
    }

    /// What a backend sees of it.
    pub fn index(&self, settings: &Settings) -> Index {
        let forgotten = self.forgotten_at(settings).unwrap_or(NEVER);
        let (phase, changed, until) = self.standing();
        let purge_after = match &self.state {
            State::Pending => self.expires(),
            State::Expired | State::Settled { .. } => forgotten,
            State::InFlight(_) => NEVER,
            State::Completed { replay_until, payload: Some(_), .. } => *replay_until,
            State::Completed { payload: None, .. } | State::Declined(_) => self.removed_at(settings).unwrap_or(NEVER),
        };
        Index {
            phase,
            owner: self.owner.clone(),
            approval_id: self.approval_id.clone(),
            binding: self.binding,
            issued: self.issued,
            changed,
            until: until.unwrap_or(purge_after),
            purge_after,
        }
    }

    /// Digest of what an approver decides on.
    pub fn shown(&self) -> Sha {
        let plan = &self.plan;
        let mut fields = Fields::new("counterfoil/shown/1");
        for text in [&self.approval_id, &self.owner, &self.tool, &self.revision] {
            fields.field(text.as_bytes());
        }
        for text in [self.shown_arguments(), &plan.summary, &plan.preview] {
            fields.field(text.as_bytes());
        }
        fields.field(plan.needs.name().as_bytes()).field(&[plan.approvers]);
        match &plan.precondition {
            Some(text) => fields.field(b"precondition").field(text.as_bytes()),
            None => fields.field(b"none"),
        };
        for warning in &plan.warnings {
            fields.field(warning.as_bytes());
        }
        fields.finish()
    }

    /// Drops what nobody asks for any more.
    pub(crate) fn strip(&mut self) {
        self.arguments.clear();
        self.plan.summary.clear();
        self.plan.preview.clear();
        self.plan.warnings.clear();
        self.plan.precondition = None;
        self.plan.masked_arguments = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::vec;

    fn waiting() -> Confirmation {
        Confirmation {
            approval_id: "apr_x".into(),
            owner: "name:a".into(),
            tool: "t".into(),
            revision: "1".into(),
            arguments: "{\"key\":\"secret\"}".into(),
            binding: [7; 32],
            plan: Plan {
                summary: "hands out a secret".into(),
                preview: "{}".into(),
                warnings: vec![],
                precondition: None,
                masked_arguments: None,
                needs: Assurance::OutOfBand,
                approvers: 0,
            },
            issued: 0,
            window: 2_000,
            ttl: 1_000,
            approvals: vec![],
            state: State::Pending,
        }
    }

    #[test]
    fn debug_shows_the_handle_and_nothing_that_may_be_secret() {
        assert_eq!(format!("{:?}", waiting()), "Confirmation { approval_id: \"apr_x\", .. }");
    }
}
