//! What a run demands. Only `host.rs` can make one, from a consume or from a Tier-1 decision: the fields are private to
//! this module and its constructors take what only those have.

use crate::policy::Level;
use std::time::Duration;

/// The right to run one call, once.
pub(crate) struct Permit {
    tool: String,
    arguments: String,
    operation_id: String,
    level: Level,
    precondition: Option<String>,
    limit: Duration,
}
