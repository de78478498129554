//! The risk model. A level comes from the tool and from the operator, who raises only; there is no third source.

use crate::prose::{fill, say};
use alloc::string::String;

/// Changes when the meaning of a level or a reason changes.
pub const MODEL_VERSION: &str = "1";

/// How dangerous a call is, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Reads only.
    Safe,
    /// Creates or changes state that is easy to undo.
    Caution,
    /// Produces what could be misused.
    Review,
    /// Destroys, spends, touches credentials or privacy.
    ApprovalRequired,
}

impl Level {
    /// All, in order.
    pub const ALL: [Self; 4] = [Self::Safe, Self::Caution, Self::Review, Self::ApprovalRequired];

    /// Its name on the wire and in configurations.
    pub fn name(self) -> &'static str {
        match self {
            Self::Safe => "safe",
            Self::Caution => "caution",
            Self::Review => "review",
            Self::ApprovalRequired => "approval_required",
        }
    }

    /// Reads a name or a number.
    ///
    /// # Errors
    /// Says which there are.
    pub fn parse(text: &str) -> Result<Self, String> {
        let found = match text {
            "0" => Some(Self::Safe),
            "1" => Some(Self::Caution),
            "2" => Some(Self::Review),
            "3" => Some(Self::ApprovalRequired),
            name => Self::ALL.into_iter().find(|level| level.name() == name),
        };
        found.ok_or_else(|| say("no such level: write safe (0), caution (1), review (2) or approval_required (3)"))
    }
}

/// The most that a call of a tool can need.
///
/// # Errors
/// The operator's level is below the declared one.
pub fn ceiling(declared: Level, operator: Option<Level>) -> Result<Level, String> {
    match operator {
        Some(level) if level < declared => Err(fill(
            "a level can be raised, never lowered: the tool declares %, so % is refused; raise it or leave it out",
            &[declared.name(), level.name()],
        )),
        Some(level) => Ok(level),
        None => Ok(declared),
    }
}

/// The level of one call: what its plan states, or what the tool declares; never below the operator's.
///
/// # Errors
/// The plan states more than the tool declares, or the operator would lower it.
pub fn resolve(
    declared: Level,
    critical: bool,
    operator: Option<Level>,
    planned: Option<Level>,
) -> Result<Level, String> {
    ceiling(declared, operator)?;
    if let Some(level) = planned.filter(|level| *level > declared) {
        return Err(fill(
            "the plan states level % and the tool declares % as its most: the tool has to declare what its plans can need",
            &[level.name(), declared.name()],
        ));
    }
    let asked = if critical { declared } else { planned.unwrap_or(declared) };
    Ok(operator.map_or(asked, |floor| floor.max(asked)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use Level::{ApprovalRequired, Caution, Review, Safe};

    #[test]
    fn an_operator_raises_and_never_lowers() {
        for declared in Level::ALL {
            for operator in Level::ALL {
                assert_eq!(ceiling(declared, Some(operator)).ok(), (operator >= declared).then_some(operator));
                assert_eq!(resolve(declared, false, Some(operator), None).is_ok(), operator >= declared);
            }
            assert_eq!(ceiling(declared, None), Ok(declared));
        }
    }

    #[track_caller]
    fn check(
        declared: Level,
        critical: bool,
        operator: Option<Level>,
        planned: Option<Level>,
        expected: Option<Level>,
    ) {
        assert_eq!(resolve(declared, critical, operator, planned).ok(), expected);
    }

    #[test]
    fn a_plan_lowers_what_its_tool_declares_and_nothing_else() {
        check(ApprovalRequired, false, None, None, Some(ApprovalRequired));
        check(ApprovalRequired, false, None, Some(Caution), Some(Caution));
        check(ApprovalRequired, false, None, Some(ApprovalRequired), Some(ApprovalRequired));
        check(Caution, false, None, Some(Safe), Some(Safe));
        check(Caution, false, None, Some(Review), None);
        check(Safe, false, None, Some(Caution), None);
    }

    #[test]
    fn a_critical_tool_does_not_ask_its_plans() {
        check(ApprovalRequired, true, None, Some(Safe), Some(ApprovalRequired));
        check(Caution, true, None, Some(Review), None);
    }

    #[test]
    fn the_operator_is_a_floor_under_every_plan() {
        check(ApprovalRequired, false, Some(ApprovalRequired), Some(Safe), Some(ApprovalRequired));
        check(Caution, false, Some(Review), Some(Safe), Some(Review));
        check(Safe, false, Some(ApprovalRequired), None, Some(ApprovalRequired));
    }

    #[test]
    fn a_level_is_written_by_name_or_number() {
        for (number, level) in ["0", "1", "2", "3"].into_iter().zip(Level::ALL) {
            assert_eq!(Level::parse(number), Ok(level));
            assert_eq!(Level::parse(level.name()), Ok(level));
        }
        for text in ["", "4", "-1", "Safe", "approval-required", "3.0", " 3"] {
            assert!(Level::parse(text).is_err(), "{text}");
        }
    }
}
