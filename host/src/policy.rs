//! Levels as the host's types know them; what they mean is decided by the gate's `levels`.

/// How dangerous a call is. Ordered: `Safe < Caution < Review < ApprovalRequired`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Reads only. Runs at once, read-only.
    Safe,
    /// Creates or changes state that is easy to undo. Runs at once, audited.
    Caution,
    /// Produces what could be misused. Runs at once, audited.
    Review,
    /// Destroys, spends, touches credentials or privacy. Needs a confirmation.
    ApprovalRequired,
}
