//! What `wit/gate` says, as wasmtime's macro puts it. The generated types that carry a token or arguments show them in
//! their `Debug`: they stay in here, and `types.rs` has silent ones.

#![allow(missing_docs, clippy::all, clippy::pedantic, reason = "generated; documented in wit/gate")]

// Only what asks the store is async: the rest runs in instances that have no store, without a stack of its own.
wasmtime::component::bindgen!({
    path: "wit/gate",
    world: "counterfoil:gate/component",
    imports: {
        "counterfoil:gate/store": async | trappable,
        default: trappable,
    },
    exports: {
        "counterfoil:gate/gate.configure": async,
        "counterfoil:gate/gate.issue": async,
        "counterfoil:gate/gate.check": async,
        "counterfoil:gate/gate.consume": async,
        "counterfoil:gate/gate.record": async,
        "counterfoil:gate/gate.sweep": async,
        "counterfoil:gate/approvals.identify": async,
        "counterfoil:gate/approvals.show": async,
        "counterfoil:gate/approvals.list": async,
        "counterfoil:gate/approvals.approve": async,
        "counterfoil:gate/approvals.decline": async,
        "counterfoil:gate/approvals.resolve": async,
    },
    additional_derives: [PartialEq],
});

pub use exports::counterfoil::gate::{approvals, gate};
