//! The types of the contract that are not the generated ones: those that carry a token or arguments, among which may be a
//! secret, are silent about them in `Debug`.

use super::bindings::gate;
use super::{Assurance, Earlier, Rejection, Replayed, Settings};
use std::fmt;
use std::ops::Deref;

/// A confirmation's token. Whoever holds it may run the call that it was issued for, so it is in no `Debug` output.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// The text, `cfm_` and 24 characters. For the caller only: never for logs, audit or errors.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Deref for Token {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

/// What a caller sent, read. Its arguments, among which may be a secret, are in no `Debug` output.
#[derive(Clone, PartialEq, Eq)]
pub struct Request {
    /// The token, where one was given: well-formed.
    pub token: Option<Token>,
    /// The arguments without the confirm parameter, in canonical form: the only bytes that anything else may see.
    pub arguments: String,
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request").field("token", &self.token).finish_non_exhaustive()
    }
}

/// A call: who wants what done. Its arguments are in no `Debug` output.
#[derive(Clone, PartialEq, Eq)]
pub struct Call {
    /// The authenticated principal with its source, such as `os:alice`. Never empty, never read from the arguments.
    pub owner: String,
    /// The name that the tool is listed under.
    pub tool: String,
    /// Digest of what would run and under which rules. Never empty; `absent` where the tool is gone.
    pub revision: String,
    /// Canonical, as [`Gate::read`](super::Gate::read) returned them.
    pub arguments: String,
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { owner, tool, revision, arguments: _ } = self;
        f.debug_struct("Call")
            .field("owner", owner)
            .field("tool", tool)
            .field("revision", revision)
            .finish_non_exhaustive()
    }
}

/// What a call would do. It is made of the call's arguments, so nothing that a tool or a caller wrote is in any `Debug`
/// output.
#[derive(Clone, PartialEq, Eq)]
pub struct Plan {
    /// One sentence.
    pub summary: String,
    /// The same, structured: a JSON object.
    pub preview: String,
    /// What a person should know before agreeing.
    pub warnings: Vec<String>,
    /// What the plan rests on; comes back in the permit.
    pub precondition: Option<String>,
    /// The call's arguments, an object, with a fixed text for each value that is secret, where one is. Then these are all
    /// that is kept and shown of the arguments, and whether a later call has the same is told by its digest alone.
    pub masked_arguments: Option<String>,
    /// What the confirmation has to prove.
    pub needs: Assurance,
    /// How many different approvers have to agree. Without meaning for `TokenOnly`.
    pub approvers: u8,
}

impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let masks = self.masked_arguments.is_some();
        f.debug_struct("Plan")
            .field("needs", &self.needs)
            .field("approvers", &self.approvers)
            .field("masks", &masks)
            .finish_non_exhaustive()
    }
}

/// The call may run, once, now. Its arguments are in no `Debug` output.
#[derive(Clone, PartialEq, Eq)]
pub struct Permit {
    /// Canonical arguments: what may run.
    pub arguments: String,
    /// `op_` and 24 characters, unique to this run.
    pub operation_id: String,
    /// The precondition of the plan that was confirmed.
    pub precondition: Option<String>,
    /// What the confirmation proves.
    pub assurance: Assurance,
    /// Who agreed, where somebody had to.
    pub approved_by: Vec<String>,
    /// The handle for people.
    pub approval_id: String,
    /// When the run has to have ended: milliseconds since 1970-01-01T00:00:00Z.
    pub deadline: u64,
}

impl fmt::Debug for Permit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { arguments: _, operation_id, precondition: _, assurance, approved_by, approval_id, deadline } = self;
        f.debug_struct("Permit")
            .field("operation_id", operation_id)
            .field("assurance", assurance)
            .field("approved_by", approved_by)
            .field("approval_id", approval_id)
            .field("deadline", deadline)
            .finish_non_exhaustive()
    }
}

/// What [`Gate::consume`](super::Gate::consume) decided.
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    /// Run it: the token is spent.
    Execute(Permit),
    /// Run nothing and deliver this.
    Replay(Replayed),
    /// Run nothing and say why.
    Reject(Rejection),
}

/// A confirmation was issued. The token is shown here and never again.
#[derive(Clone, Debug)]
pub struct Challenge {
    /// Runs the call, once.
    pub token: Token,
    /// `apr_` and 24 characters: the handle for people.
    pub approval_id: String,
    /// Until when the token, or the approver's window, is good: milliseconds since 1970-01-01T00:00:00Z.
    pub expires_at: u64,
    /// Life of the token in milliseconds, from issue, or from agreement where a person is needed.
    pub ttl: u64,
    /// Identical calls, in flight first.
    pub recent: Vec<Earlier>,
}

/// Why the gate gave no decision.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum GateError {
    /// Refused, with the answer for the caller.
    #[error("{}", .0.error)]
    Rejected(Rejection),
    /// The gate was used wrongly: a defect of the host or its operator's mistake.
    #[error("{0}")]
    Misuse(String),
    /// The component failed. Nothing dangerous may run on the strength of this call.
    #[error("the gate failed: {0}")]
    Fault(String),
}

impl From<gate::GateError> for GateError {
    fn from(error: gate::GateError) -> Self {
        match error {
            gate::GateError::Rejected(rejection) => Self::Rejected(rejection),
            gate::GateError::Misuse(what) => Self::Misuse(what),
        }
    }
}

impl From<gate::Request> for Request {
    fn from(request: gate::Request) -> Self {
        Self { token: request.token.map(Token), arguments: request.arguments }
    }
}

impl From<&Call> for gate::Call {
    fn from(c: &Call) -> Self {
        let Call { owner, tool, revision, arguments } = c.clone();
        Self { owner, tool, revision, arguments }
    }
}

impl From<&Plan> for gate::Plan {
    fn from(p: &Plan) -> Self {
        let Plan { summary, preview, warnings, precondition, masked_arguments, needs, approvers } = p.clone();
        Self { summary, preview, warnings, precondition, masked_arguments, needs, approvers }
    }
}

impl From<gate::Permit> for Permit {
    fn from(p: gate::Permit) -> Self {
        let gate::Permit { arguments, operation_id, precondition, assurance, approved_by, approval_id, deadline } = p;
        Self { arguments, operation_id, precondition, assurance, approved_by, approval_id, deadline }
    }
}

impl From<gate::Decision> for Decision {
    fn from(decision: gate::Decision) -> Self {
        match decision {
            gate::Decision::Execute(permit) => Self::Execute(permit.into()),
            gate::Decision::Replay(replayed) => Self::Replay(replayed),
            gate::Decision::Reject(rejection) => Self::Reject(rejection),
        }
    }
}

impl From<gate::Challenge> for Challenge {
    fn from(c: gate::Challenge) -> Self {
        let gate::Challenge { token, approval_id, expires_at, ttl, recent } = c;
        Self { token: Token(token), approval_id, expires_at, ttl, recent }
    }
}

impl From<&Challenge> for gate::Challenge {
    fn from(c: &Challenge) -> Self {
        Self {
            token: c.token.0.clone(),
            approval_id: c.approval_id.clone(),
            expires_at: c.expires_at,
            ttl: c.ttl,
            recent: c.recent.clone(),
        }
    }
}

/// Room that the host keeps for its own warnings of a plan (what the operator's rules say), in bytes, beside what a tool may
/// fill.
pub(crate) const ROOM_FOR_REASONS: u32 = 16 * 1024;

/// What the component is told: the same, with that room.
pub(super) fn with_room(settings: Settings) -> Settings {
    /// The most that the component takes; what is refused without room is refused with it.
    const MOST: u32 = 16 * 1024 * 1024;
    match settings.max_plan {
        1..MOST => Settings { max_plan: settings.max_plan.saturating_add(ROOM_FOR_REASONS).min(MOST), ..settings },
        _ => settings,
    }
}

const SECOND: u64 = 1_000;
const MINUTE: u64 = 60 * SECOND;

/// The component's own defaults: a test holds that these are the same.
impl Default for Settings {
    fn default() -> Self {
        Self {
            ttl: 5 * MINUTE,
            approval_window: 30 * MINUTE,
            replay_window: 5 * MINUTE,
            tombstone: 24 * 60 * MINUTE,
            cool_down: 10 * MINUTE,
            recent_window: 10 * MINUTE,
            max_arguments: 256 * 1024,
            max_depth: 64,
            max_number: 1024,
            max_exponent: 9999,
            max_plan: 64 * 1024,
            max_precondition: 1024,
            max_outcome: 384 * 1024,
            max_output: 8 * 1024 * 1024,
            pending_per_owner: 32,
            pending_in_all: 10_000,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_arguments_or_of_a_plan_is_in_a_debug_output() {
        let secret = || "correct-horse".to_owned();
        let call = Call { owner: "os:a".into(), tool: "t".into(), revision: "1".into(), arguments: secret() };
        let plan = Plan {
            summary: secret(),
            preview: secret(),
            warnings: vec![secret()],
            precondition: Some(secret()),
            masked_arguments: Some(secret()),
            needs: Assurance::TokenOnly,
            approvers: 0,
        };
        let permit = Permit {
            arguments: secret(),
            operation_id: "op_a".into(),
            precondition: Some(secret()),
            assurance: Assurance::TokenOnly,
            approved_by: Vec::new(),
            approval_id: "apr_a".into(),
            deadline: 1,
        };
        let shown = format!("{call:?} {plan:?} {permit:?} {:?}", Decision::Execute(permit.clone()));
        assert!(!shown.contains(&secret()), "{shown}");
        assert!(shown.contains("os:a") && shown.contains("op_a"), "{shown}");
    }
}
