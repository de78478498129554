//! A host of one native tool whose effects a test can count from outside: each run appends a line to a file.

use counterfoil::audit::{Audit, AuditOptions};
use counterfoil::gate::{Clock, Gate, GateOptions, Settings};
use counterfoil::policy::Budget;
use counterfoil::store::Store;
use counterfoil::tool::{Outcome, Plan, ToolError};
use counterfoil::{Host, HostBuilder, Incoming, Level, NativeTool, Owner, Reply};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The name of the tool.
pub const TOOL: &str = "refund";
/// Its arguments in these stories.
pub const ARGUMENTS: &str = r#"{"order":7}"#;

/// The host, over a store and a clock.
pub async fn host(store: Arc<dyn Store>, clock: Arc<dyn Clock>, effects: &Path) -> Host {
    builder(store, clock, effects).build().await.expect("a host")
}

/// The audit of these stories, in a folder.
pub fn audit(folder: &Path) -> Audit {
    Audit::open(AuditOptions::new(folder.join("audit"), folder.join("checkpoints"))).expect("an audit")
}

/// The host with an audit.
pub async fn audited(store: Arc<dyn Store>, clock: Arc<dyn Clock>, effects: &Path, audit: Audit) -> Host {
    builder(store, clock, effects).audit(audit).build().await.expect("a host")
}

/// So many runs a day for each owner.
pub fn a_day(calls: u64) -> Budget {
    Budget::calls(TOOL, calls, Duration::from_hours(24)).expect("a budget")
}

/// The host in the making.
pub fn builder(store: Arc<dyn Store>, clock: Arc<dyn Clock>, effects: &Path) -> HostBuilder {
    let effects = effects.to_owned();
    let refund = NativeTool::new(TOOL, Level::ApprovalRequired, r#"{"type":"object"}"#, "1")
        .preview(|_| async { Ok(Plan::new("Will refund order 7.", "{}")) })
        .execute(move |_, _| {
            let effects = effects.clone();
            async move {
                let file = std::fs::OpenOptions::new().append(true).create(true).open(&effects);
                file.and_then(|mut file| writeln!(file, "refunded"))
                    .map_err(|error| ToolError::Refused(error.to_string()))?;
                Ok(Outcome::new("Refunded", "{}"))
            }
        });
    let cache = Some(compiled());
    let gate = Gate::new(GateOptions { store, clock, settings: Settings::default(), cache }).expect("a gate");
    Host::builder(gate).native(refund)
}

/// Where all of these hosts keep the compiled gate.
fn compiled() -> PathBuf {
    crate::target().join("test-gate")
}

/// Calls the tool, with a token if there is one.
pub async fn call(host: &Host, token: Option<&str>) -> Reply {
    let arguments = match token {
        Some(token) => ARGUMENTS.replace('}', &format!(r#","confirm_token":"{token}"}}"#)),
        None => ARGUMENTS.to_owned(),
    };
    let owner = Owner::new("name", "test").expect("an owner");
    host.call(Incoming { owner, tool: TOOL.into(), arguments, progress: None }).await
}

/// One key of a reply's payload, as text; empty where there is none.
pub fn told(reply: &Reply, key: &str) -> String {
    let payload: serde_json::Value = serde_json::from_str(&reply.payload).expect("JSON");
    payload[key].as_str().unwrap_or_default().to_owned()
}

/// How often the tool ran.
pub fn effects(file: &Path) -> usize {
    std::fs::read_to_string(file).unwrap_or_default().lines().count()
}
