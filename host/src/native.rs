//! Native Rust functions as tools, under the same contract.
