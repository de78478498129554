//! What a run demands, and the only ways to one.
//!
//! A backend's `execute` takes a [`Permit`]. Its fields, and those of a [`Clearance`] and a [`Standing`], are private to
//! this module, which has no constructor that trusts its caller: [`consume`] makes a permit out of the gate's `execute`
//! decision alone, and [`Clearance::permit`] uses up a clearance, which is for one call: a tool and its arguments. A
//! clearance comes from [`clear`], where the gate's `levels` say that this call is below `approval_required`, or from a
//! [`Standing`], which [`stand`] makes where they say so of every call of one tool; its clearances are for that tool
//! only. So no code outside this file, inside the crate or outside it, can have a permit that the gate did not agree to;
//! and since no permit and no clearance can be cloned, none serves two runs.
//!
//! The module is private to the crate, as is the trait that takes permits, so a user of the library cannot name either:
//!
//! ```compile_fail
//! use counterfoil::permit::Permit;
//! ```
//! ```compile_fail
//! use counterfoil::tool::{Backend, Prepared};
//! ```

use crate::gate::{self, Assurance, Call, Decision, Gate, GateError, Rejection, Replayed};
use crate::policy::Level;
use std::fmt::Write as _;
use std::time::Duration;
use tokio::time::Instant;

/// What a run gets whose store took all its time to start it: the token is spent, so it is tried.
const LEAST: Duration = Duration::from_millis(100);

/// The right to run one call, once.
pub(crate) struct Permit {
    tool: String,
    arguments: String,
    operation_id: String,
    level: Level,
    precondition: Option<String>,
    limit: Duration,
}

impl Permit {
    /// The tool that may run, by the name that it is listed under.
    pub(crate) fn tool(&self) -> &str {
        &self.tool
    }

    /// Canonical arguments: those that may run, and no others.
    pub(crate) fn arguments(&self) -> &str {
        &self.arguments
    }

    /// Unique to this run: `op_` and 24 characters.
    pub(crate) fn operation_id(&self) -> &str {
        &self.operation_id
    }

    /// The level at which the call was let through.
    pub(crate) fn level(&self) -> Level {
        self.level
    }

    /// What the plan rested on, for the tool to check.
    pub(crate) fn precondition(&self) -> Option<&str> {
        self.precondition.as_deref()
    }

    /// How long the run may take, from now. Zero: no time is left, it must not begin.
    pub(crate) fn limit(&self) -> Duration {
        self.limit
    }
}

/// The rules of one tool: what its author declares and what its operator says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    pub(crate) declared: Level,
    pub(crate) critical: bool,
    pub(crate) operator: Option<Level>,
}

impl Rules {
    /// With what the operator's rules make of one call: more, or the same.
    fn raised(self, floor: Option<Level>) -> Self {
        // A floor below what the tool declares is one under its plans only: see `clear`.
        Self { operator: self.operator.max(floor.filter(|floor| *floor >= self.declared)), ..self }
    }
}

/// The gate's word that no call of one tool needs a confirmation, and at which level they run.
pub(crate) struct Standing {
    tool: String,
    level: Level,
}

impl Standing {
    /// The clearance of one call of the tool.
    pub(crate) fn clearance(&self, arguments: String) -> Clearance {
        Clearance { tool: self.tool.clone(), arguments, level: self.level, precondition: None }
    }
}

/// The gate's word that one call may run without a confirmation, and at which level.
pub(crate) struct Clearance {
    tool: String,
    arguments: String,
    level: Level,
    precondition: Option<String>,
}

impl Clearance {
    /// The tool of the call.
    pub(crate) fn tool(&self) -> &str {
        &self.tool
    }

    /// The level of the call.
    pub(crate) fn level(&self) -> Level {
        self.level
    }

    /// The permit of the call. Fails where there is no randomness for its operation id.
    pub(crate) fn permit(self, limit: Duration) -> Result<Permit, getrandom::Error> {
        let operation_id = operation_id()?;
        let Self { tool, arguments, level, precondition } = self;
        Ok(Permit { tool, arguments, operation_id, level, precondition, limit })
    }
}

/// What the gate's levels say of a call without a token.
pub(crate) enum Clearing {
    /// It may run at once.
    AtOnce(Clearance),
    /// It needs a confirmation.
    Confirm,
}

/// Asks the gate whether a tool with these rules can need a confirmation at all.
///
/// [`GateError::Misuse`]: the operator lowers.
pub(crate) async fn stand(gate: &Gate, rules: Rules, tool: &str) -> Result<Option<Standing>, GateError> {
    let level = below_approval(gate, rules, None).await?;
    Ok(level.map(|level| Standing { tool: tool.to_owned(), level }))
}

/// Asks the gate for the level of a call: `floor` is what the operator's rules raise it to, `planned` is what its plan
/// states, where there is one, and `precondition` what the plan rests on.
///
/// [`GateError::Misuse`]: the plan states more than the tool declares, or the operator lowers.
pub(crate) async fn clear(
    gate: &Gate,
    rules: Rules,
    floor: Option<Level>,
    call: &Call,
    planned: Option<Level>,
    precondition: Option<&str>,
) -> Result<Clearing, GateError> {
    let planned = planned.map(|level| level.max(floor.map_or(level, |floor| floor.min(rules.declared))));
    Ok(match below_approval(gate, rules.raised(floor), planned).await? {
        None => Clearing::Confirm,
        Some(level) => Clearing::AtOnce(Clearance {
            tool: call.tool.clone(),
            arguments: call.arguments.clone(),
            level,
            precondition: precondition.map(str::to_owned),
        }),
    })
}

/// The level of a call under a tool's rules, where it needs no confirmation.
async fn below_approval(gate: &Gate, rules: Rules, planned: Option<Level>) -> Result<Option<Level>, GateError> {
    let operator = rules.operator.map(Into::into);
    let level = gate.resolve_level(rules.declared.into(), rules.critical, operator, planned.map(Into::into)).await?;
    Ok(match level {
        gate::Level::ApprovalRequired => None,
        gate::Level::Safe | gate::Level::Caution | gate::Level::Review => Some(level.into()),
    })
}

/// What a call with a token came to.
pub(crate) enum Consumed {
    /// The token is spent: run.
    Run { permit: Permit, assurance: Assurance },
    /// Deliver this again.
    Replay(Replayed),
    /// Run nothing and say why.
    Reject(Rejection),
}

/// Spends a token, if the gate agrees. The run's time, `limit`, starts now and not when the store has answered: what
/// the gate writes down, `grace` later than that, is then past the run's real end however slow the store was.
pub(crate) async fn consume(
    gate: &Gate,
    token: &str,
    call: &Call,
    limit: Duration,
    grace: Duration,
) -> Result<Consumed, GateError> {
    let asked = Instant::now();
    Ok(match gate.consume(token, call, limit.saturating_add(grace)).await? {
        Decision::Replay(replayed) => Consumed::Replay(replayed),
        Decision::Reject(rejection) => Consumed::Reject(rejection),
        Decision::Execute(agreed) => Consumed::Run {
            assurance: agreed.assurance,
            permit: Permit {
                tool: call.tool.clone(),
                arguments: agreed.arguments,
                operation_id: agreed.operation_id,
                level: Level::ApprovalRequired,
                precondition: agreed.precondition,
                limit: left(limit, grace, asked.elapsed()),
            },
        },
    })
}

/// What of a run's time is left once its start took so long; zero where it has to be over so soon that it must not begin.
fn left(limit: Duration, grace: Duration, taken: Duration) -> Duration {
    if taken > limit.saturating_add(grace / 2) {
        return Duration::ZERO;
    }
    limit.saturating_sub(taken).max(limit.min(LEAST))
}

/// An operation id of the gate's form, for runs that need no confirmation: 120 random bits.
fn operation_id() -> Result<String, getrandom::Error> {
    const ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let mut random = [0; 24];
    getrandom::fill(&mut random)?;
    let mut id = String::with_capacity(27);
    id.push_str("op_");
    for byte in random {
        // Each symbol takes five of its byte's bits: uniform, since 32 divides 256.
        let symbol = ALPHABET.get(usize::from(byte & 31)).copied().unwrap_or(b'a');
        let _ = id.write_char(char::from(symbol));
    }
    Ok(id)
}
