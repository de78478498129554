//! Counterfoil: a two-step gate for the tools of AI agents.

mod cache;
mod digest;
pub mod error;
pub mod gate;
pub mod host;
mod json;
pub mod native;
pub mod owner;
mod permit;
pub mod plugin;
pub mod policy;
#[cfg(feature = "sqlite")]
mod private;
mod schema;
pub mod store;
pub mod tool;

#[cfg(feature = "program")]
pub mod cli;
#[cfg(feature = "program")]
pub mod config;
#[cfg(feature = "mcp")]
pub mod transport;

pub use error::{Error, ErrorKind};
pub use host::{Host, HostBuilder, Incoming, Listing, Reply, Status};
pub use native::NativeTool;
pub use owner::Owner;
pub use policy::Level;
