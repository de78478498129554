//! The operator's rules on arguments, asked about one call: what they raise it to, or why it does not run. A rule that has no
//! answer denies.

use super::tool::Raised;
use crate::plugin::turns;
use crate::policy::{Facts, Level, NoAnswer, PATIENCE, Rule, Then};
use std::sync::Arc;
use std::time::Duration;

/// The rules that are about one tool, with their numbers as the operator counts them.
#[derive(Clone)]
pub(super) struct Ruled {
    rules: Arc<[(usize, Rule)]>,
    turns: Turns,
}

/// How many calls' rules are asked at once, of all calls of a host, and how many of them are one owner's. What they need of
/// memory and of time is a caller's, within [`PATIENCE`].
#[derive(Clone)]
pub(super) struct Turns(pub(super) Arc<turns::Turns>);

impl Default for Turns {
    fn default() -> Self {
        Self(Arc::new(turns::Turns::rules()))
    }
}

/// The rules of other calls had their turn all the time.
pub(super) struct Busy;

/// How long a call waits for its turn.
const TURN: Duration = Duration::from_secs(10);

/// Of what the rules say of one call, in bytes: it is shown beside the tool's own warnings, which have their own room.
const REASONS: usize = crate::gate::ROOM_FOR_REASONS as usize;

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
    pub(super) fn new(rules: Vec<(usize, Rule)>, turns: Turns) -> Self {
        Self { rules: rules.into(), turns }
    }

    #[cfg(test)]
    pub(super) fn turns(&self) -> &Turns {
        &self.turns
    }

    /// The most that a rule can raise a call to.
    pub(super) fn highest(&self) -> Option<Level> {
        let raised = self.rules.iter().filter_map(|(_, rule)| match rule.then() {
            Then::Raise(level) => Some(level),
            Then::Deny => None,
        });
        raised.max()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &(usize, Rule)> {
        self.rules.iter()
    }

    /// Asks every rule, on a thread that may block, all within [`PATIENCE`].
    pub(super) async fn ask(&self, owner: &str, tool: &str, arguments: &str) -> Result<Vec<Answer>, Busy> {
        /// After this nobody waits any longer, whatever a condition still does.
        const GIVE_UP: u32 = 8;
        if self.rules.is_empty() {
            return Ok(Vec::new());
        }
        let Ok(place) = self.turns.0.enter(owner) else { return Err(Busy) };
        let Ok(Ok(turn)) = tokio::time::timeout(TURN, place.turn(false)).await else { return Err(Busy) };
        let rules = Arc::clone(&self.rules);
        let (owner, tool, arguments) = (owner.to_owned(), tool.to_owned(), arguments.to_owned());
        let asking = tokio::task::spawn_blocking(move || {
            // Until it ends by itself, whoever has stopped waiting for it.
            let _turn = (turn, place);
            let facts = Facts::new(&owner, &tool, &arguments);
            let context = facts.context();
            rules.iter().map(|(_, rule)| rule.condition.holds(&facts, &context)).collect::<Vec<_>>()
        });
        let none = |why: NoAnswer| vec![Err(why); self.rules.len()];
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
        Ok(self.rules.iter().zip(answers).map(answer).collect())
    }

    /// What follows from the answers.
    pub(super) fn verdict(&self, answers: &[Answer]) -> Verdict {
        let mut raised = Raised::default();
        let mut reasons = Vec::new();
        for ((number, rule), answer) in self.rules.iter().zip(answers) {
            match (&answer.holds, rule.then()) {
                (Err(why), _) => {
                    return Verdict::Denied(format!("rule {number} has no answer for this call: {why}"));
                }
                (Ok(true), Then::Deny) => return Verdict::Denied(format!("rule {number}: {}", rule.why())),
                (Ok(true), Then::Raise(level)) => {
                    raised.floor = raised.floor.max(Some(level));
                    let why = if rule.why().is_empty() { "" } else { ": " };
                    reasons.push(format!("rule {number} of the operator makes this call {level}{why}{}", rule.why()));
                }
                (Ok(false), _) => {}
            }
        }
        raised.reasons = fitting(reasons);
        Verdict::Raised(raised)
    }
}

/// As many as fit, and how many more there are.
fn fitting(mut reasons: Vec<String>) -> Vec<String> {
    /// What is counted for each beside its text, and kept free for saying that there are more.
    const EACH: usize = 64;
    let mut length = EACH;
    let fit = reasons
        .iter()
        .take_while(|reason| {
            length = length.saturating_add(reason.len()).saturating_add(EACH);
            length <= REASONS
        })
        .count();
    let more = reasons.len().saturating_sub(fit);
    if more > 0 {
        reasons.truncate(fit);
        reasons.push(format!("{more} more rules of the operator say so"));
    }
    reasons
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_more_reasons_than_fit_it_is_said_how_many_there_are() {
        let reasons = |count: usize| fitting(vec!["x".repeat(500); count]);
        let size = |reasons: &[String]| reasons.iter().map(|reason| reason.len() + 8).sum::<usize>();
        assert_eq!(reasons(3).len(), 3);
        let cut = reasons(256);
        assert!(size(&cut) <= REASONS && size(&cut) > REASONS / 2, "{}", size(&cut));
        assert_eq!(
            cut.last().map(String::as_str),
            Some(&*format!("{} more rules of the operator say so", 257 - cut.len()))
        );
    }
}
