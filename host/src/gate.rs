//! Placeholder of the gate's API: replaced as a whole by the part that embeds the component.
#![allow(missing_docs)]

use crate::store::Store;
use crate::{Error, ErrorKind};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

#[allow(unsafe_code, missing_docs, clippy::all)]
mod bindings {
    wasmtime::component::bindgen!({ path: "wit/gate", world: "component", imports: { default: async }, exports: { default: async } });
}
pub use bindings::exports::counterfoil::gate::approvals::*;
pub use bindings::exports::counterfoil::gate::gate::{
    Assurance, Call, Challenge, Decision, Detail, Earlier, EarlierState, Effect, Failure, Level, Outcome, OutcomeStatus,
    Permit, Plan, Readiness, Reason, Recording, Rejection, Replayed, Request, Settings,
};

pub trait Clock: Send + Sync {
    fn now(&self) -> u64;
}
pub struct GateOptions {
    pub store: Arc<dyn Store>,
    pub clock: Arc<dyn Clock>,
    pub settings: Settings,
    pub cache: Option<PathBuf>,
}
#[derive(Debug, Clone, thiserror::Error)]
pub enum GateError {
    #[error("{}", .0.error)]
    Rejected(Rejection),
    #[error("{0}")]
    Misuse(String),
    #[error("{0}")]
    Fault(String),
}
type Answer<T> = Result<T, GateError>;
pub struct Gate {
    settings: Settings,
}
fn not_yet<T>() -> Answer<T> {
    Err(GateError::Fault("not embedded yet".to_owned()))
}
#[allow(unused_variables)]
impl Gate {
    pub fn new(options: GateOptions) -> Result<Self, Error> {
        let _ = ErrorKind::Gate;
        Ok(Self { settings: options.settings })
    }
    pub fn settings(&self) -> &Settings {
        &self.settings
    }
    pub async fn read(&self, raw: &str, confirm_parameter: &str) -> Result<Request, Rejection> {
        Err(Rejection { reason: Reason::Unavailable, detail: None, error: "not embedded yet".to_owned(), retry_after: None })
    }
    pub async fn issue(&self, call: &Call, plan: &Plan) -> Answer<Challenge> {
        not_yet()
    }
    pub async fn check(&self, token: &str, call: &Call) -> Answer<Readiness> {
        not_yet()
    }
    pub async fn consume(&self, token: &str, call: &Call, run: Duration) -> Answer<Decision> {
        not_yet()
    }
    pub async fn record(&self, token: &str, operation_id: &str, outcome: &Outcome) -> Answer<Recording> {
        not_yet()
    }
    pub async fn sweep(&self, limit: u32) -> Answer<u32> {
        not_yet()
    }
    pub async fn confirmation_required(&self, tool: &str, plan: &Plan, challenge: &Challenge, level: Level, confirm_parameter: &str) -> Answer<String> {
        not_yet()
    }
    /// Misuse: what is wrong with the details.
    pub async fn ok(&self, tool: &str, message: &str, details: &str, assurance: Option<Assurance>) -> Answer<String> {
        not_yet()
    }
    pub async fn rejected(&self, tool: &str, rejection: &Rejection) -> Answer<String> {
        not_yet()
    }
    pub async fn failed(&self, tool: &str, failure: Failure, error: &str, effect: Effect, assurance: Option<Assurance>) -> Answer<String> {
        not_yet()
    }
    pub async fn refuse(&self, reason: Reason, what: &str) -> Answer<Rejection> {
        not_yet()
    }
    /// Misuse: what is wrong with the text.
    pub async fn compact(&self, text: &str) -> Answer<String> {
        not_yet()
    }
    pub async fn output_schema(&self, details: Option<&str>) -> Answer<String> {
        not_yet()
    }
    pub async fn model_version(&self) -> Answer<String> {
        not_yet()
    }
    pub async fn ceiling(&self, declared: Level, operator: Option<Level>) -> Answer<Level> {
        not_yet()
    }
    pub async fn resolve_level(&self, declared: Level, critical: bool, operator: Option<Level>, planned: Option<Level>) -> Answer<Level> {
        not_yet()
    }
}
