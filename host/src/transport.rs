//! Ways in for agents. A transport translates a protocol to [`Host`](crate::Host) and back, and decides nothing.

pub mod mcp;
