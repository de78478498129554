//! Takes out of arguments what a tool's schema marks as secret, and out of everything that is told of the call what was
//! taken. The rest stays as it was written, to the digit; in doubt more is taken out, never less.

mod marks;
mod scan;
mod taken;
#[cfg(test)]
mod tests;
mod walk;

use super::{PATTERN, Schema, validator};
use jsonschema::Validator;
pub(super) use marks::Marks;
use serde_json::{Value, json};
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

impl Masked {
    /// Of arguments of which nobody knows what in them is secret: any text may be.
    pub(crate) fn unknown() -> Self {
        Self { arguments: format!("\"{MASK}\""), taken: Taken::unknown() }
    }
}

/// The secrets that a schema, which compiled, marks. `None`: it marks none.
pub(super) fn marks(schema: &Value) -> Option<Marks> {
    Marks::of(schema, compiled)
}

/// A pattern as the check itself reads it.
fn compiled(pattern: &str) -> Option<Validator> {
    validator(&json!({ "pattern": pattern }), PATTERN).ok()
}

impl Schema {
    /// Whether this schema marks anything as secret.
    pub(crate) fn marks_secrets(&self) -> bool {
        self.secrets.is_some()
    }

    /// The arguments (JSON text, an object) with [`MASK`] for every value that this schema marks as secret. `None`: there
    /// is none in them.
    pub(crate) fn masked(&self, arguments: &str) -> Option<String> {
        self.without_secrets(arguments).map(|masked| masked.arguments)
    }

    /// The same, with what was taken out.
    pub(crate) fn without_secrets(&self, arguments: &str) -> Option<Masked> {
        walk::masked(self.secrets.as_ref()?, arguments)
    }
}
