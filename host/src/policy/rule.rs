//! A rule as the operator writes it. What its condition means is the business of `condition`; what follows from it, of the
//! host.

use super::condition::{Condition, Fault};
use super::{Level, Tools};
use crate::{Error, ErrorKind};
use std::fmt;

/// Longest reason, in bytes: an agent reads it whole.
const REASON: usize = 500;

/// An operator's rule: for which tools, under which condition, and what then. It raises the level of a call or denies the
/// call; nothing that a rule says makes a call milder.
///
/// The condition is an expression of the [Common Expression Language](https://cel.dev) over `args` (the canonical arguments of
/// the call), `owner` (who calls, such as `os:alice`) and `tool` (its listed name). A call for which it has no answer, since it
/// reads an argument that is not there or compares what cannot be compared, is denied.
///
/// ```
/// use counterfoil::Level;
/// use counterfoil::policy::Rule;
///
/// Rule::raise("refund", "args.amount > 100", Level::ApprovalRequired)?;
/// Rule::deny(["delete_file", "write_file"], r#"args.path.startsWith("/files/ledger")"#, "the ledger is kept as it is")?;
/// let wrong = Rule::deny("*", "argz.path == \"\"", "no").unwrap_err();
/// assert!(wrong.to_string().contains("argz"));
/// # Ok::<(), counterfoil::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Rule {
    pub(crate) tools: Tools,
    pub(crate) condition: Condition,
    pub(crate) then: Then,
    pub(crate) reason: String,
}

/// What a rule does where its condition holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// The call is of this level at least.
    Raise(Level),
    /// The call does not run.
    Deny,
}

impl Rule {
    /// Raises the level of calls that the condition is true of. Of tools that are named, one that declares more stops the
    /// start; of `"*"`, it counts wherever it is more.
    ///
    /// # Errors
    /// [`ErrorKind::Policy`]: the condition is none, or [`Level::Safe`], which raises nothing.
    pub fn raise(tools: impl Into<Tools>, when: &str, level: Level) -> Result<Self, Error> {
        Self::raising(tools.into(), when, level).map_err(Error::from)
    }

    /// Denies calls that the condition is true of. The reason is told to whoever calls.
    ///
    /// # Errors
    /// [`ErrorKind::Policy`]: the condition is none, or the reason is empty or longer than 500 bytes.
    pub fn deny(tools: impl Into<Tools>, when: &str, reason: impl Into<String>) -> Result<Self, Error> {
        Self::denying(tools.into(), when, reason.into()).map_err(Error::from)
    }

    /// Says why: in the warnings of a call that needs a confirmation because of it, and in the log.
    ///
    /// # Errors
    /// [`ErrorKind::Policy`]: it is longer than 500 bytes.
    pub fn reason(self, reason: impl Into<String>) -> Result<Self, Error> {
        self.saying(reason.into()).map_err(Error::from)
    }

    pub(crate) fn raising(tools: Tools, when: &str, level: Level) -> Result<Self, Wrong> {
        if level == Level::Safe {
            return Err(Wrong::Level);
        }
        let condition = Condition::compile(when).map_err(Wrong::When)?;
        Ok(Self { tools, condition, then: Then::Raise(level), reason: String::new() })
    }

    pub(crate) fn denying(tools: Tools, when: &str, reason: String) -> Result<Self, Wrong> {
        let condition = Condition::compile(when).map_err(Wrong::When)?;
        if reason.trim().is_empty() {
            return Err(Wrong::NoReason);
        }
        Self { tools, condition, then: Then::Deny, reason: String::new() }.saying(reason)
    }

    pub(crate) fn saying(mut self, reason: String) -> Result<Self, Wrong> {
        self.reason = reason;
        if self.reason.len() > REASON { Err(Wrong::LongReason) } else { Ok(self) }
    }

    /// The tools that it is about.
    pub fn tools(&self) -> &Tools {
        &self.tools
    }

    /// Its condition, as it was written.
    pub fn when(&self) -> &str {
        self.condition.text()
    }

    /// What it does.
    pub fn then(&self) -> Then {
        self.then
    }

    /// Why; empty where nothing was said.
    pub fn why(&self) -> &str {
        &self.reason
    }
}

/// What is wrong with a rule, by the part of it that is.
#[derive(Clone, Debug)]
pub(crate) enum Wrong {
    /// The condition.
    When(Fault),
    /// The level.
    Level,
    /// There is no reason, and there has to be one.
    NoReason,
    /// The reason.
    LongReason,
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::When(fault) => fault.fmt(f),
            Self::Level => f.write_str("safe raises nothing: write a higher level, or deny"),
            Self::NoReason => f.write_str("a rule that denies says why: write a reason"),
            Self::LongReason => write!(f, "the reason is longer than {REASON} bytes: shorten it"),
        }
    }
}

impl From<Wrong> for Error {
    fn from(wrong: Wrong) -> Self {
        Self::new(ErrorKind::Policy, wrong.to_string())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_rule_raises_or_denies_and_says_why() {
        assert!(Rule::raise("*", "true", Level::Safe).unwrap_err().to_string().contains("raises nothing"));
        assert!(Rule::deny("*", "true", " ").unwrap_err().to_string().contains("write a reason"));
        assert!(Rule::deny("*", "true", "x".repeat(REASON + 1)).unwrap_err().to_string().contains("shorten"));
        let rule = Rule::raise(["b", "a"], "true", Level::Review).unwrap().reason("why not").unwrap();
        assert_eq!((rule.tools().to_string().as_str(), rule.when(), rule.why()), ("a, b", "true", "why not"));
        assert!(Tools::from("*").has("anything") && !rule.tools().has("c"));
    }
}
