//! Runs the vectors of `tests/vectors` on the rules (`gate-core`, natively) and on the built component, by one interface.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

pub mod answers;
pub mod canonical;
pub mod cases;
pub mod component;
pub mod contract;
pub mod native;
pub mod native_json;
pub mod value;
pub mod world;

use serde_json::{Map, Value};
use std::path::PathBuf;

/// Where the vectors are.
pub fn vectors() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("vectors")
}

/// A gate, asked by the names in `wit/gate` with `_` for `-`: a record is an object, a case its name or an object of one
/// key, a result an object with `ok` or `err`.
pub trait Answers {
    /// Calls a function with its parameters by name.
    fn call(&mut self, function: &str, arguments: &Map<String, Value>) -> Value;
}

/// Every function that a step of a vector can name.
pub const FUNCTIONS: &[&str] = &[
    "default_settings",
    "configure",
    "read",
    "issue",
    "check",
    "consume",
    "record",
    "sweep",
    "identify",
    "show",
    "list",
    "approve",
    "decline",
    "resolve",
    "decode",
    "confirmation_required",
    "ok",
    "rejected",
    "failed",
    "refuse",
    "compact",
    "output_schema",
    "model_version",
    "ceiling",
    "resolve_level",
    "parse",
    "name",
];

/// The interface and the name under which the component exports a function.
pub fn interface_of(function: &str) -> (&'static str, &str) {
    match function {
        "resolve_level" => ("levels", "resolve"),
        "model_version" | "ceiling" | "parse" | "name" => ("levels", function),
        "identify" | "show" | "list" | "approve" | "decline" | "resolve" | "decode" => ("approvals", function),
        "confirmation_required" | "ok" | "rejected" | "failed" | "refuse" | "compact" | "output_schema" => {
            ("responses", function)
        }
        _ => ("gate", function),
    }
}

/// On what the vectors run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// `gate-core` in this process.
    Native,
    /// The built component under wasmtime.
    Component,
}

impl Side {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Native, Self::Component];

    /// A fresh gate in a world, with the default settings.
    pub fn gate(self, world: &world::World) -> Box<dyn Answers + Send> {
        match self {
            Self::Native => Box::new(native::Native::new(world.clone())),
            Self::Component => {
                Box::new(component::Instance::new(world.clone()).unwrap_or_else(|error| panic!("{error:#}")))
            }
        }
    }
}
