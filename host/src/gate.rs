//! Embeds the gate component: the contract is decided there and nowhere else. Here are its store, its clock, its
//! randomness and its instances; no text and no decision.
//!
//! Any number of calls run at once, each in an instance of its own. Instances share nothing but the store, whose
//! compare-and-swap alone makes a token single-use.
//!
//! ```
//! use counterfoil::gate::{Gate, GateOptions, Settings, SystemClock};
//! use counterfoil::store::MemoryStore;
//! use std::sync::Arc;
//!
//! let gate = Gate::new(GateOptions {
//!     store: Arc::new(MemoryStore::new()),
//!     clock: Arc::new(SystemClock),
//!     settings: Settings::default(),
//!     cache: None,
//! })?;
//! # tokio::runtime::Runtime::new().unwrap().block_on(async {
//! let request = gate.read(r#"{ "b": 2.0, "a": 1 }"#, "confirm_token").await.unwrap();
//! assert!(request.token.is_none());
//! assert_eq!(request.arguments, r#"{"a":1,"b":2}"#);
//! # });
//! # Ok::<(), counterfoil::Error>(())
//! ```

mod answers;
mod approvals;
mod bindings;
mod clock;
mod imports;
mod instances;
mod item;
#[cfg(test)]
mod tests;
mod types;

pub use bindings::approvals::Cursor;
pub use bindings::gate::{
    Assurance, Detail, Earlier, EarlierState, Effect, Failure, Level, Outcome, OutcomeStatus, Readiness, Reason,
    Recording, Rejection, Replayed, Settings, Settlement,
};
pub use clock::{Clock, SystemClock, TestClock};
pub use item::{Approval, Item, Progress, Refusal};
#[cfg(feature = "rules")]
pub(crate) use types::ROOM_FOR_REASONS;
pub use types::{Call, Challenge, Decision, GateError, Permit, Plan, Request, Token};

use crate::cache::CodeCache;
use crate::store::Store;
use crate::{Error, ErrorKind};
use bindings::gate::ArgumentsError;
use instances::{Instances, engine};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The component: built from `guest/gate` by this crate's build script.
const COMPONENT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/gate.wasm"));

/// The version of the risk model by which the component decides: known before it is compiled, so that a transport can
/// tell it. [`Gate::new`] refuses a component that says otherwise.
pub const MODEL_VERSION: &str = "1";

/// What a gate is made of.
pub struct GateOptions {
    /// Where confirmations are kept.
    pub store: Arc<dyn Store>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// Sizes and times.
    pub settings: Settings,
    /// A folder for compiled code, which only this user can write; it is made if it is not there. Without one the
    /// component is compiled at each start.
    pub cache: Option<PathBuf>,
}

/// The contract. Cheap to clone: clones are the same gate.
///
/// What only reads or writes texts waits for nothing and takes some microseconds; it is async like the rest, so that a
/// host need not know which is which.
#[derive(Clone)]
pub struct Gate {
    instances: Arc<Instances>,
    cache: Option<Arc<Path>>,
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
}

impl Gate {
    /// Loads the component and makes a first instance.
    ///
    /// # Errors
    /// [`ErrorKind::Config`]: a setting is out of range, and the text names it. [`ErrorKind::Gate`]: the component
    /// cannot be compiled or started here.
    pub fn new(options: GateOptions) -> Result<Self, Error> {
        let failed = |e: wasmtime::Error| Error::new(ErrorKind::Gate, format!("the gate cannot be loaded: {e:#}"));
        let engine = engine().map_err(failed)?;
        let cache = options.cache.as_deref().map(Arc::from);
        let component = CodeCache::new(options.cache).component(&engine, COMPONENT, &Self::digest()).map_err(failed)?;
        let (store, clock) = (Arc::clone(&options.store), Arc::clone(&options.clock));
        let instances = Instances::new(&engine, &component, options.store, options.clock, options.settings)?;
        let model = instances.aside(|i, store| i.counterfoil_gate_levels().call_model_version(store));
        announced(&model.map_err(|e| Error::new(ErrorKind::Gate, e.to_string()))?)?;
        Ok(Self { instances: Arc::new(instances), cache, store, clock })
    }

    /// The store that confirmations are kept in, for what the host counts itself.
    pub(crate) fn store(&self) -> &dyn Store {
        &*self.store
    }

    /// The gate's time, in milliseconds since 1970.
    pub(crate) fn now(&self) -> u64 {
        self.clock.now()
    }

    /// Where its compiled code is.
    pub(crate) fn cache(&self) -> Option<&Path> {
        self.cache.as_deref()
    }

    /// How its compiled code is kept in a folder.
    #[cfg(feature = "program")]
    pub(crate) fn held(folder: &Path) -> crate::cache::Held {
        let held = |engine| CodeCache::new(Some(folder.to_owned())).held(&engine, COMPONENT);
        engine().map_or(crate::cache::Held::Missing, held)
    }

    /// SHA-256 of the component, in hexadecimal.
    pub fn digest() -> String {
        crate::digest::sha256(COMPONENT)
    }

    /// Reads arguments strictly and takes the confirm parameter out of them.
    ///
    /// # Errors
    /// Rejected `malformed_token` or `invalid_arguments`, with the answer for the caller.
    pub async fn read(&self, raw: &str, confirm_parameter: &str) -> Result<Request, GateError> {
        let raw = raw.to_owned();
        let read =
            self.instances.aside(|i, store| i.counterfoil_gate_gate().call_read(store, &raw, confirm_parameter))?;
        let (reason, what) = match read {
            Ok(request) => return Ok(request.into()),
            // This one says itself what to do.
            Err(ArgumentsError::MalformedToken(error)) => {
                let reason = Reason::MalformedToken;
                return Err(GateError::Rejected(Rejection { reason, detail: None, error, retry_after: None }));
            }
            Err(ArgumentsError::InvalidArguments(what)) => (Reason::InvalidArguments, what),
        };
        Err(GateError::Rejected(self.refuse(reason, &what).await?))
    }

    /// The sizes and times in force.
    pub fn settings(&self) -> &Settings {
        self.instances.settings()
    }

    /// Issues a confirmation for a call.
    ///
    /// # Errors
    /// Rejected: `unresolved`, `declined`, `too_many_pending`, `unavailable`. Misuse: an empty owner, tool or revision;
    /// arguments that are not canonical; a plan over its limit.
    pub async fn issue(&self, call: &Call, plan: &Plan) -> Result<Challenge, GateError> {
        let mut lease = self.instances.lease().await?;
        let (instance, store) = lease.parts();
        let result = instance.counterfoil_gate_gate().call_issue(store, &call.into(), &plan.into()).await;
        Ok(lease.settle(result)??.into())
    }

    /// Decides a call that carries a token without spending it.
    ///
    /// # Errors
    /// Rejected `unavailable`. Misuse: an empty owner, tool or revision. Any other refusal is a decision, not an error.
    pub async fn check(&self, token: &str, call: &Call) -> Result<Readiness, GateError> {
        let mut lease = self.instances.lease().await?;
        let (instance, store) = lease.parts();
        let result = instance.counterfoil_gate_gate().call_check(store, token, &call.into()).await;
        Ok(lease.settle(result)??)
    }

    /// Decides a call that carries a token and spends the token where the call may run: the only function that does.
    /// `run` is the time from now to when the run is over and recorded for certain: from then on its outcome counts as
    /// unknown, and a person may settle it.
    ///
    /// Dropping the future may or may not have spent the token: whoever calls this lets it finish.
    ///
    /// # Errors
    /// Rejected `unavailable`. Misuse: an empty owner, tool or revision, or no time to run. Any other refusal is a
    /// decision, not an error.
    pub async fn consume(&self, token: &str, call: &Call, run: Duration) -> Result<Decision, GateError> {
        let run = u64::try_from(run.as_millis()).unwrap_or(u64::MAX);
        let mut lease = self.instances.lease().await?;
        let (instance, store) = lease.parts();
        let result = instance.counterfoil_gate_gate().call_consume(store, token, &call.into(), run).await;
        Ok(lease.settle(result)??.into())
    }

    /// Keeps what a run returned. Repeating it changes nothing.
    ///
    /// # Errors
    /// Rejected `unavailable`: try again. Misuse: no such run, or another outcome is kept already.
    pub async fn record(&self, token: &str, operation_id: &str, outcome: &Outcome) -> Result<Recording, GateError> {
        let mut lease = self.instances.lease().await?;
        let (instance, store) = lease.parts();
        let result = instance.counterfoil_gate_gate().call_record(store, token, operation_id, outcome).await;
        Ok(lease.settle(result)??)
    }

    /// Removes at most `limit` rows that nobody can ask for any more; returns how many it touched.
    ///
    /// # Errors
    /// Rejected `unavailable`.
    pub async fn sweep(&self, limit: u32) -> Result<u32, GateError> {
        let mut lease = self.instances.lease().await?;
        let (instance, store) = lease.parts();
        let result = instance.counterfoil_gate_gate().call_sweep(store, limit).await;
        Ok(lease.settle(result)??)
    }
}

/// What is told of the risk model before the component is loaded is what the component says.
fn announced(model: &str) -> Result<(), Error> {
    if model == MODEL_VERSION {
        return Ok(());
    }
    let what =
        format!("the gate decides by risk model {model}, and this program announces {MODEL_VERSION}: rebuild it");
    Err(Error::new(ErrorKind::Gate, what))
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Gate")
    }
}
