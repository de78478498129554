//! The audit: whether a row could be written. Makes nothing.

use super::super::open;
use super::report::{Part, Report};
use super::shown;
use crate::config::Config;
use crate::text::escape;

pub(super) fn check(report: &mut Report, config: &Config) {
    let Some(audit) = &config.audit else { return };
    match open::audit(config).and_then(|audit| audit.map_or(Ok(()), |audit| audit.check())) {
        Ok(()) => report.ok(
            Part::Audit,
            format!("{} can be written; counterfoil audit verify holds it to its checkpoints", shown(&audit.dir)),
        ),
        Err(e) => report.wrong(
            Part::Audit,
            format!("{}; every call that is not safe is refused", escape(&e.to_string())),
            "mend that, or give it a folder of your own: [audit] dir = \"…\"",
        ),
    }
}
