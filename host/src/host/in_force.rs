//! Which rules and budgets each tool has, and whether they can be in force at all. What they do to a call is the business of
//! `ruled` and `budgets`.

use super::budgets::Budgets;
use super::listing::Listing;
use super::named::{self, Listed};
use crate::policy::{Budget, Counts, Level, Tools};
#[cfg(feature = "rules")]
use crate::policy::{Rule, Then};
use crate::{Error, ErrorKind};
use std::sync::Arc;

/// Rules that there may be: each is asked about each call of its tools.
#[cfg(feature = "rules")]
const RULES: usize = 256;
/// Budgets that there may be.
const BUDGETS: usize = 256;

/// Everything that the operator says of arguments and of amounts.
#[derive(Default)]
pub(super) struct Policy {
    #[cfg(feature = "rules")]
    pub(super) rules: Vec<Rule>,
    #[cfg(feature = "rules")]
    pub(super) turns: super::ruled::Turns,
    pub(super) budgets: Vec<Budget>,
}

/// What of it is about one tool.
pub(super) struct Applied {
    #[cfg(feature = "rules")]
    pub(super) ruled: super::ruled::Ruled,
    pub(super) budgets: Budgets,
}

/// Those that are about a tool, with their numbers, from 1.
fn about<'a, T>(all: &'a [T], tools: impl Fn(&T) -> &Tools, tool: &str) -> Vec<(usize, &'a T)> {
    (1..).zip(all).filter(|(_, one)| tools(one).has(tool)).collect()
}

impl Policy {
    pub(super) fn of(&self, tool: &str) -> Applied {
        let budgets = about(&self.budgets, |budget| &budget.tools, tool);
        Applied {
            #[cfg(feature = "rules")]
            ruled: super::ruled::Ruled::new(
                about(&self.rules, |rule| &rule.tools, tool).into_iter().map(|(at, rule)| (at, rule.clone())).collect(),
                self.turns.clone(),
            ),
            budgets: Budgets(budgets.into_iter().map(|(at, budget)| (at, Arc::new(budget.clone()))).collect()),
        }
    }

    /// Rules and budgets as the audit is told them.
    pub(super) fn written(&self) -> Vec<String> {
        let budgets = self.budgets.iter().map(|budget| format!("budget: {budget}"));
        #[cfg(feature = "rules")]
        let rules = self.rules.iter().map(|rule| {
            let then = match rule.then {
                Then::Raise(level) => level.name(),
                Then::Deny => "deny",
            };
            let why = if rule.why().is_empty() { String::new() } else { format!(" because {}", rule.why()) };
            format!("{then}: {} when {}{why}", rule.tools, rule.when())
        });
        #[cfg(not(feature = "rules"))]
        let rules = std::iter::empty();
        rules.chain(budgets).collect()
    }

    /// What needs no tools to be found wrong.
    pub(super) fn check(&self) -> Result<(), Error> {
        #[cfg(feature = "rules")]
        if self.rules.len() > RULES {
            return Err(refused(format!("there are more than {RULES} rules: put some into one")));
        }
        if self.budgets.len() > BUDGETS {
            return Err(refused(format!("there are more than {BUDGETS} budgets: put some into one")));
        }
        for (at, budget) in self.budgets.iter().enumerate() {
            let same = self.budgets.iter().take(at).position(|other| other.subject() == budget.subject());
            if let Some(other) = same {
                let (number, other) = (at + 1, other + 1);
                let what = format!("budget {number} counts the same as budget {other}: keep one of the two");
                return Err(refused(what).at(format!("budgets.{number}")));
            }
        }
        Ok(())
    }

    /// Whether the tools that are named are there, and no rule would lower one.
    pub(super) fn check_tools(&self, listings: &[Listing], listed: &[Listed<'_>]) -> Result<(), Error> {
        let find = |what: &str, number: usize, name: &str| {
            listings.iter().find(|listing| listing.name == name).ok_or_else(|| {
                refused(format!(
                    "{what} {number}: there is no tool \"{}\": give a name that is listed",
                    name.escape_debug()
                ))
                .at(format!("{what}s.{number}"))
            })
        };
        #[cfg(feature = "rules")]
        for (number, rule) in (1..).zip(&self.rules) {
            for name in rule.tools.names() {
                let declared = find("rule", number, name)?.declared;
                if let Then::Raise(level) = rule.then
                    && level < declared
                {
                    let what = format!(
                        "rule {number}: \"{name}\" declares {declared}, and {level} would lower that; levels are only raised: \
                         write {declared} or more, or take the tool out of the rule"
                    );
                    return Err(refused(what).at(format!("rules.{number}")));
                }
            }
            let wrong = |what| refused(format!("rule {number}: {what}")).at(format!("rules.{number}.when"));
            named::rule(rule, listed).map_err(wrong)?;
        }
        for (number, budget) in (1..).zip(&self.budgets) {
            budget.tools.names().try_for_each(|name| find("budget", number, name).map(|_| ()))?;
            let wrong = |what| refused(format!("budget {number}: {what}")).at(format!("budgets.{number}.sum"));
            named::budget(budget, listed).map_err(wrong)?;
        }
        Ok(())
    }
}

impl Applied {
    /// The most that a rule can raise a call to.
    #[cfg(feature = "rules")]
    pub(super) fn highest(&self) -> Option<Level> {
        self.ruled.highest()
    }

    #[cfg(not(feature = "rules"))]
    pub(super) fn highest(&self) -> Option<Level> {
        None
    }

    /// All of it, for the revision: nothing where there is nothing.
    pub(super) fn fields(&self) -> Vec<String> {
        let mut fields = Vec::new();
        #[cfg(feature = "rules")]
        for (number, rule) in self.ruled.iter() {
            let then = match rule.then {
                Then::Raise(level) => level.name(),
                Then::Deny => "deny",
            };
            let what = [rule.tools.to_string(), rule.when().to_owned(), then.to_owned(), rule.reason.clone()];
            fields.push(format!("rule {number}"));
            fields.extend(what);
        }
        for (number, budget) in &self.budgets.0 {
            let at_most = match &budget.counts {
                Counts::Calls(at_most) => at_most.to_string(),
                Counts::Sum { at_most, .. } => at_most.to_string(),
            };
            let subject = budget.subject();
            fields.extend([format!("budget {number}"), at_most, subject.len().to_string()]);
            fields.extend(subject);
        }
        fields
    }
}

fn refused(what: String) -> Error {
    Error::new(ErrorKind::Policy, what)
}
