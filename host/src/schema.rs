//! Placeholder: replaced as a whole by the schema check.

/// A compiled schema.
pub(crate) struct Schema;

impl Schema {
    pub(crate) fn compile(_schema: &str) -> Result<Self, String> {
        Ok(Self)
    }

    pub(crate) fn check(&self, _arguments: &str) -> Result<(), String> {
        Ok(())
    }
}
