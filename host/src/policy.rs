//! The operator's policy: levels, rules on arguments, budgets. All of it raises or refuses; nothing makes a call milder.
//!
//! Levels are here as the host's types know them. What a level means, what raises it and what the level of a call is are decided
//! by the gate's `levels`.

mod amount;
mod budget;
#[cfg(feature = "rules")]
mod condition;
#[cfg(feature = "rules")]
mod rule;
mod tools;

pub use amount::{Amount, NoAmount};
#[cfg(feature = "program")]
pub(crate) use budget::Wrong as WrongBudget;
pub use budget::{Budget, Counts};
#[cfg(feature = "program")]
pub(crate) use condition::{Asked, Fault, OWN, Seen};
#[cfg(feature = "rules")]
pub(crate) use condition::{Facts, NoAnswer, Of, PATIENCE};
#[cfg(feature = "program")]
pub(crate) use rule::Wrong as WrongRule;
#[cfg(feature = "rules")]
pub use rule::{Rule, Then};
pub use tools::Tools;

use crate::gate;
use std::fmt;

/// How dangerous a call is. Ordered: `Safe < Caution < Review < ApprovalRequired`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Reads only. Runs at once, read-only.
    Safe,
    /// Creates or changes state that is easy to undo. Runs at once.
    Caution,
    /// Produces what could be misused. Runs at once.
    Review,
    /// Destroys, spends, touches credentials or privacy. Needs a confirmation.
    ApprovalRequired,
}

impl Level {
    /// Every level, mildest first.
    pub const ALL: [Self; 4] = [Self::Safe, Self::Caution, Self::Review, Self::ApprovalRequired];

    /// The name that the wire and the configuration use: `safe`, `caution`, `review`, `approval_required`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Safe => "safe",
            Self::Caution => "caution",
            Self::Review => "review",
            Self::ApprovalRequired => "approval_required",
        }
    }

    /// 0 to 3, in the same order.
    pub const fn number(self) -> u8 {
        match self {
            Self::Safe => 0,
            Self::Caution => 1,
            Self::Review => 2,
            Self::ApprovalRequired => 3,
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl From<gate::Level> for Level {
    fn from(level: gate::Level) -> Self {
        match level {
            gate::Level::Safe => Self::Safe,
            gate::Level::Caution => Self::Caution,
            gate::Level::Review => Self::Review,
            gate::Level::ApprovalRequired => Self::ApprovalRequired,
        }
    }
}

impl From<Level> for gate::Level {
    fn from(level: Level) -> Self {
        match level {
            Level::Safe => Self::Safe,
            Level::Caution => Self::Caution,
            Level::Review => Self::Review,
            Level::ApprovalRequired => Self::ApprovalRequired,
        }
    }
}
