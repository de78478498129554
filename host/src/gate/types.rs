//! The types of the contract that are not the generated ones: those that carry a token are silent in `Debug`.

use super::bindings::gate;
use super::{Earlier, Rejection, Settings};
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
