//! Takes out of arguments what a tool's schema marks as secret. Everything else stays as it was written, to the digit; in
//! doubt more is taken out, never less.

mod marks;
#[cfg(test)]
mod tests;
mod walk;

use super::{PATTERN, Schema};
use jsonschema::{PatternOptions, Validator};
use marks::Marks;
use serde_json::{Value, json};

/// What stands in the place of a secret.
pub(crate) const MASK: &str = "(secret)";

/// The secrets that a schema marks.
pub(super) struct Secrets(Marks);

impl Secrets {
    /// `None`: the schema, which compiled, marks none.
    pub(super) fn of(schema: &Value) -> Option<Self> {
        Marks::of(schema, compiled).map(Self)
    }
}

/// A pattern as the check itself reads it.
fn compiled(pattern: &str) -> Option<Validator> {
    jsonschema::options()
        .offline()
        .with_pattern_options(PatternOptions::regex().size_limit(PATTERN).dfa_size_limit(PATTERN))
        .build(&json!({ "pattern": pattern }))
        .ok()
}

impl Schema {
    /// The arguments (JSON text, an object) with [`MASK`] for every value that this schema marks as secret. `None`: there
    /// is none in them.
    pub(crate) fn masked(&self, arguments: &str) -> Option<String> {
        let Secrets(marks) = self.secrets.as_ref()?;
        walk::masked(marks, arguments)
    }
}
