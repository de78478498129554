//! Where the audit is written, what keeps its heads, and whether it can be written.

use super::Seen;
use crate::cli::open;
use crate::cli::print::{line, loud};
use crate::config::Config;
use crate::text::escape;
use serde_json::{Value, json};
use std::path::Path;

/// Why it cannot be written, where that is so.
pub(super) fn fault(config: &Config) -> Option<String> {
    let check = open::audit(config).and_then(|audit| audit.map_or(Ok(()), |audit| audit.check()));
    check.err().map(|e| e.to_string())
}

pub(super) fn print(seen: &Seen) -> anyhow::Result<()> {
    let Some(audit) = &seen.config.audit else { return Ok(line("there is no audit")?) };
    let shown = |path: &Path| escape(&path.display().to_string()).into_owned();
    let places: Vec<String> = audit.checkpoints.iter().map(|place| shown(place)).collect();
    line(&format!("the audit is written to {}, its checkpoints to {}", shown(&audit.dir), places.join(" and ")))?;
    if let Some(command) = &audit.command {
        line(&format!("the heads of its files are given to {}", shown(&command.program)))?;
    }
    if let Some(fault) = &seen.audit_fault {
        line(&loud(&format!("{}; every call that is not safe will be refused", escape(fault))))?;
    }
    Ok(())
}

pub(super) fn json(seen: &Seen) -> Value {
    let Some(audit) = &seen.config.audit else { return Value::Null };
    let command = audit.command.as_ref().map(|command| command.program.display().to_string());
    json!({
        "dir": audit.dir.display().to_string(),
        "checkpoints": audit.checkpoints.iter().map(|place| place.display().to_string()).collect::<Vec<_>>(),
        "checkpoint_command": command,
        "max_file": audit.max_file,
        "fault": seen.audit_fault,
    })
}
