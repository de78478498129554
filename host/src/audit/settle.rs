//! The operator settles a lost run, and the audit shows it: asked for before, and how it came out behind. The one way to do
//! it for whatever talks to people.

use super::Audit;
use super::event::{Event, Subject};
use crate::gate::{Gate, GateError, Item};
use crate::{Error, Level};
use std::time::Instant;

/// Why a run was not settled.
#[derive(Debug, thiserror::Error)]
pub enum SettleError {
    /// The audit cannot be written: nothing was changed.
    #[error("{0}")]
    Audit(Error),
    /// The gate refused.
    #[error("{0}")]
    Gate(GateError),
}

impl From<GateError> for SettleError {
    fn from(error: GateError) -> Self {
        Self::Gate(error)
    }
}

/// Says what became of the lost run of `approval_id`, in the name of `by`. Returns it as it is now. The row behind may fail:
/// then the settlement stands, and a message in the log says so.
///
/// # Errors
/// [`SettleError::Audit`]: nothing was changed. [`SettleError::Gate`]: as of [`Gate::resolve`].
pub async fn resolve(
    gate: &Gate,
    audit: Option<&Audit>,
    approval_id: &str,
    by: &str,
    happened: bool,
) -> Result<Option<Item>, SettleError> {
    let item = gate.show(approval_id).await?;
    let (Some(audit), Some(item)) = (audit, &item) else {
        gate.resolve(approval_id, by, happened).await?;
        return Ok(gate.show(approval_id).await?);
    };
    let subject = Subject {
        owner: item.owner.clone(),
        tool: item.tool.clone(),
        level: Some(Level::ApprovalRequired),
        revision: Some(item.revision.clone()),
        arguments: Some(crate::digest::sha256(item.arguments.as_bytes())),
        approval_id: Some(item.approval_id.clone()),
        assurance: Some(item.assurance()),
        policy: Vec::new(),
    };
    let asked_at = Instant::now();
    let asked = audit.durable(Some(&subject), Event::Settling { happened, by }).await;
    let started = asked.map_err(|(e, _)| SettleError::Audit(e.into()))?;
    let done = gate.resolve(approval_id, by, happened).await;
    let took = asked_at.elapsed();
    let event = match &done {
        Ok(()) => Event::Resolved { started, happened, by, took },
        Err(_) => Event::NotResolved { started, by, took },
    };
    if audit.durable(Some(&subject), event).await.is_err() {
        tracing::error!(approval_id, "how its settlement came out is not in the audit");
    }
    done?;
    Ok(gate.show(approval_id).await?)
}
