//! Takes out of arguments what a tool's schema marks as secret, and out of everything that is told of the call what was
//! taken. The rest stays as it was written, to the digit; in doubt more is taken out, never less.

mod marks;
mod places;
mod scan;
mod taken;
#[cfg(test)]
mod tests;
mod walk;

use super::{LIGHT_PATTERN, Schema, validator};
use jsonschema::Validator;
pub(super) use marks::Marks;
use serde_json::{Value, json};
use std::sync::Arc;
pub(crate) use taken::Taken;

/// What stands in the place of a secret.
pub(crate) const MASK: &str = "(secret)";

/// Arguments without their secrets, and these. No `Debug`.
pub(crate) struct Masked {
    /// Canonical like the arguments, an object.
    pub(crate) arguments: String,
    /// What is in them no more.
    pub(crate) taken: Taken,
}

/// The secrets of one call, where it has any: looked for once, and handed on.
pub(crate) type Secrets = Option<Arc<Masked>>;

/// The secrets that a schema, which compiled, marks. `None`: it marks none.
pub(super) fn marks(schema: &Value) -> Option<Marks> {
    Marks::of(schema, compiled)
}

/// A pattern as the check itself reads it; `None` for one that is too heavy to be tried where others wait.
fn compiled(pattern: &str) -> Option<Validator> {
    validator(&json!({ "pattern": pattern }), LIGHT_PATTERN).ok()
}

impl Schema {
    /// Whether this schema marks anything as secret.
    pub(crate) fn marks_secrets(&self) -> bool {
        self.secrets.is_some()
    }

    /// The arguments (JSON text, an object) with [`MASK`] for every value that this schema marks as secret. `None`: there
    /// is none in them.
    pub(crate) fn masked(&self, arguments: &str) -> Option<String> {
        self.without_secrets(arguments).map(|masked| masked.arguments.clone())
    }

    /// The same, with what was taken out.
    pub(crate) fn without_secrets(&self, arguments: &str) -> Secrets {
        walk::masked(self.secrets.as_ref()?, arguments).map(Arc::new)
    }
}
