//! Counterfoil: a two-step gate for the tools of AI agents.
//!
//! A call that destroys, spends or exposes takes two steps. The first changes nothing and answers with a preview and a
//! single-use token; only a second call with the same arguments and that token runs, once. Who lost the reply asks again
//! with the same token and gets the stored outcome: nothing runs twice. The token orders the calls; it proves no person.
//!
//! # A short course
//!
//! A [`Host`] is a set of tools behind one [`Gate`](gate::Gate), the WebAssembly component in which the contract is
//! decided. Tools are sandboxed [plug-ins](plugin) or [native closures](NativeTool); to the contract they are the same.
//!
//! ```
//! use counterfoil::gate::{Gate, GateOptions, Settings, SystemClock};
//! use counterfoil::store::MemoryStore;
//! use counterfoil::tool::{Outcome, Plan};
//! use counterfoil::{Host, Incoming, Level, NativeTool, Owner, Status};
//! use std::sync::Arc;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let gate = Gate::new(GateOptions {
//!     store: Arc::new(MemoryStore::default()), // where confirmations are kept
//!     clock: Arc::new(SystemClock),
//!     settings: Settings::default(),           // every limit has a value, none is off
//!     cache: None,                             // or a folder for compiled code
//! })?;
//! let schema = r#"{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"]}"#;
//! let cancel = NativeTool::new("cancel_order", Level::ApprovalRequired, schema, "orders 1")
//!     .preview(|_arguments| async { Ok(Plan::new("Will cancel order 7 and refund 12.50.", "{}")) })
//!     .execute(|_arguments, _context| async { Ok(Outcome::new("Order 7 cancelled", "{}")) });
//! let host = Host::builder(gate).native(cancel).build().await?;
//!
//! // What an agent sends, as it was sent.
//! let call = |arguments: String| {
//!     let owner = Owner::new("os", "alice").expect("a fit owner");
//!     host.call(Incoming { owner, tool: "cancel_order".into(), arguments, progress: None })
//! };
//!
//! // 1. Nothing runs: a preview and a token.
//! let preview = call(r#"{"id": 7}"#.into()).await;
//! assert!(preview.status == Status::ConfirmationRequired);
//! let payload: serde_json::Value = serde_json::from_str(&preview.payload)?;
//! let token = payload["confirm_token"].as_str().expect("a token");
//!
//! // 2. It runs. Spelling and order of the arguments do not matter, their values do.
//! let ran = call(format!(r#"{{"confirm_token": "{token}", "id": 7.0}}"#)).await;
//! assert!(ran.status == Status::Ok);
//!
//! // 3. The reply was lost: the same bytes again, and no second run.
//! let again = call(format!(r#"{{"id": 7, "confirm_token": "{token}"}}"#)).await;
//! assert!(again.replayed && again.payload == ran.payload);
//! # Ok(()) }
//! ```
//!
//! **Levels.** A tool declares the most that a call of it can need ([`Level`]). Calls below
//! [`ApprovalRequired`](Level::ApprovalRequired) run at once. A plan may say that this very call is milder; the operator
//! may raise a tool ([`HostBuilder::level`]), never lower it.
//!
//! **Replies.** [`Reply::payload`] is JSON of one of four shapes ([`Status`]); deliver its bytes. `rejected`: this
//! call ran nothing and spent nothing; what an earlier one did with the token is the payload's `detail`. `failed`: it
//! started, and how far it came is the payload's `effect`.
//!
//! **Runs belong to the host.** A confirmed run goes on when its caller goes away, and its outcome is recorded. Before a
//! program ends it awaits [`Host::close`], which waits for such runs and ends the audit, where there is one.
//!
//! **What the operator adds.** Rules on arguments raise or deny single calls and budgets bound how much there is of them
//! ([`HostBuilder::rule`] with the feature `rules`, [`HostBuilder::budget`]); a plug-in that is not the one that was looked at is not loaded
//! ([`PluginOptions::lock`](plugin::PluginOptions::lock)); an [`Audit`](audit::Audit) records every call, and none that needs
//! a row runs without ([`HostBuilder::audit`]).
//!
//! **Time.** Give the gate a [`TestClock`](gate::TestClock) and expiry takes no waiting in tests.
//!
//! # Features
//!
//! The library needs none of them: `http` (plug-ins that send requests, where they are granted it), `mcp` (serving over the Model
//! Context Protocol), `rules` (the operator's rules on arguments), `sqlite` (the store in a file), `program` (the `counterfoil`
//! program, with all of these; the default).

pub mod audit;
mod cache;
mod canonical;
mod digest;
pub mod error;
pub mod gate;
pub mod host;
mod json;
mod names;
pub mod native;
mod others;
pub mod owner;
mod permit;
pub mod plugin;
pub mod policy;
mod private;
mod schema;
pub mod store;
pub mod text;
pub mod tool;

#[cfg(feature = "program")]
pub mod cli;
#[cfg(feature = "program")]
pub mod config;
#[doc(hidden)]
#[cfg(all(feature = "program", any(test, feature = "fuzz")))]
pub mod fuzz;
#[cfg(feature = "mcp")]
pub mod transport;

// What the fuzz targets hold is written for the crate from outside, and runs over what is kept of their inputs in here.
#[cfg(test)]
extern crate self as counterfoil;

pub use error::{Error, ErrorKind};
pub use host::{Host, HostBuilder, Incoming, Listing, Reply, Status};
pub use native::NativeTool;
pub use owner::Owner;
pub use policy::Level;
