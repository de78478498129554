//! The operator's rules on arguments, asked about one call: what they raise it to, or why it does not run. A rule that has no
//! answer denies.

use super::tool::Raised;
use crate::policy::{Facts, Level, NoAnswer, PATIENCE, Rule, Then};
use std::sync::Arc;

/// The rules that are about one tool, with their numbers as the operator counts them.
#[derive(Clone)]
pub(super) struct Ruled(Arc<[(usize, Rule)]>);

/// What the rules make of a call.
pub(super) enum Verdict {
    /// It goes on, so much raised.
    Raised(Raised),
    /// It does not run.
    Denied(String),
}

/// What one rule says of a call.
pub(super) struct Answer {
    /// The rule's number, from 1.
    #[cfg(feature = "program")]
    pub(super) number: usize,
    /// Whether its condition holds.
    pub(super) holds: Result<bool, NoAnswer>,
}

impl Ruled {
    pub(super) fn new(rules: Vec<(usize, Rule)>) -> Self {
        Self(rules.into())
    }

    /// The most that a rule can raise a call to.
    pub(super) fn highest(&self) -> Option<Level> {
        let raised = self.0.iter().filter_map(|(_, rule)| match rule.then() {
            Then::Raise(level) => Some(level),
            Then::Deny => None,
        });
        raised.max()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &(usize, Rule)> {
        self.0.iter()
    }

    /// Asks every rule, on a thread that may block, all within [`PATIENCE`].
    pub(super) async fn ask(&self, owner: &str, tool: &str, arguments: &str) -> Vec<Answer> {
        /// After this nobody waits any longer, whatever a condition still does.
        const GIVE_UP: u32 = 8;
        if self.0.is_empty() {
            return Vec::new();
        }
        let rules = Arc::clone(&self.0);
        let (owner, tool, arguments) = (owner.to_owned(), tool.to_owned(), arguments.to_owned());
        let asking = tokio::task::spawn_blocking(move || {
            let facts = Facts::new(&owner, &tool, &arguments);
            let context = facts.context();
            rules.iter().map(|(_, rule)| rule.condition.holds(&facts, &context)).collect::<Vec<_>>()
        });
        let none = |why: NoAnswer| vec![Err(why); self.0.len()];
        let answers = match tokio::time::timeout(PATIENCE * GIVE_UP, asking).await {
            Ok(Ok(answers)) => answers,
            // It panicked. The hook has told where; its text may quote the arguments.
            Ok(Err(_)) => none(NoAnswer::Failed),
            Err(_) => none(NoAnswer::Slow),
        };
        let answer = |((_number, _), holds): (&(usize, Rule), _)| Answer {
            #[cfg(feature = "program")]
            number: *_number,
            holds,
        };
        self.0.iter().zip(answers).map(answer).collect()
    }

    /// What follows from the answers.
    pub(super) fn verdict(&self, answers: &[Answer]) -> Verdict {
        let mut raised = Raised::default();
        for ((number, rule), answer) in self.0.iter().zip(answers) {
            match (&answer.holds, rule.then()) {
                (Err(why), _) => {
                    return Verdict::Denied(format!("rule {number} has no answer for this call: {why}"));
                }
                (Ok(true), Then::Deny) => return Verdict::Denied(format!("rule {number}: {}", rule.why())),
                (Ok(true), Then::Raise(level)) => {
                    raised.floor = raised.floor.max(Some(level));
                    let why = if rule.why().is_empty() { "" } else { ": " };
                    raised
                        .reasons
                        .push(format!("rule {number} of the operator makes this call {level}{why}{}", rule.why()));
                }
                (Ok(false), _) => {}
            }
        }
        Verdict::Raised(raised)
    }
}
