//! A rule as the operator writes it. What its condition means is the business of `condition`; what follows from it, of the
//! host.

use super::condition::Condition;
use super::{Level, Tools};
use crate::{Error, ErrorKind};

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
        if level == Level::Safe {
            return Err(refused("safe raises nothing: write a higher level, or deny"));
        }
        Ok(Self { tools: tools.into(), condition: compiled(when)?, then: Then::Raise(level), reason: String::new() })
    }

    /// Denies calls that the condition is true of. The reason is told to whoever calls.
    ///
    /// # Errors
    /// [`ErrorKind::Policy`]: the condition is none, or the reason is empty or longer than 500 bytes.
    pub fn deny(tools: impl Into<Tools>, when: &str, reason: impl Into<String>) -> Result<Self, Error> {
        let rule = Self { tools: tools.into(), condition: compiled(when)?, then: Then::Deny, reason: String::new() };
        let rule = rule.reason(reason)?;
        if rule.reason.trim().is_empty() {
            return Err(refused("a rule that denies says why: write a reason"));
        }
        Ok(rule)
    }

    /// Says why: in the warnings of a call that needs a confirmation because of it, and in the log.
    ///
    /// # Errors
    /// [`ErrorKind::Policy`]: it is longer than 500 bytes.
    pub fn reason(mut self, reason: impl Into<String>) -> Result<Self, Error> {
        self.reason = reason.into();
        match self.reason.len() <= REASON {
            true => Ok(self),
            false => Err(refused(&format!("the reason is longer than {REASON} bytes: shorten it"))),
        }
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

fn compiled(when: &str) -> Result<Condition, Error> {
    Condition::compile(when).map_err(|fault| refused(&fault.to_string()))
}

fn refused(what: &str) -> Error {
    Error::new(ErrorKind::Policy, what)
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
