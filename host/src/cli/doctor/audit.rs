//! The audit: whether a row could be written. Makes nothing.

use super::super::open;
use super::report::{Part, Report};
use super::shown;
use crate::config::Config;
use crate::text::escape;

/// What helps.
const MENDS: &str = "mend that, or give it a folder of your own: [audit] dir = \"…\"";

pub(super) fn check(report: &mut Report, config: &Config) {
    let Some(audit) = &config.audit else { return };
    let opened = match open::audit(config) {
        Ok(opened) => opened,
        Err(e) => {
            let what = format!("{}; nothing that uses this configuration starts", escape(&e.to_string()));
            return report.wrong(Part::Audit, what, MENDS);
        }
    };
    match opened.map_or(Ok(()), |audit| audit.check()) {
        Ok(()) => report.ok(
            Part::Audit,
            format!("{} can be written; counterfoil audit verify holds it to its checkpoints", shown(&audit.dir)),
        ),
        Err(e) => report.wrong(
            Part::Audit,
            format!("{}; every call that is not safe is refused", escape(&e.to_string())),
            MENDS,
        ),
    }
}
