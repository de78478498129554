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

/// What may be looked at for one place: more than any way of a few names needs. In doubt a place is secret.
const WORK: usize = 1 << 20;

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

    /// Whether the argument that these names lead to may be secret, as a whole or with what holds it.
    pub(crate) fn is_secret_at(&self, path: &[String]) -> bool {
        let Some(marks) = &self.secrets else { return false };
        let mut left = WORK;
        let mut parts = marks.top(&mut left);
        for name in path {
            // In doubt it is.
            let Some(here) = &parts else { return true };
            if marks.is_secret(here) {
                return true;
            }
            parts = marks.step(here, &marks::Step::Member(name), &mut left);
        }
        parts.is_none_or(|parts| marks.is_secret(&parts))
    }

    /// The place that is secret as a whole and has the place of this pointer in it; `None`: there is none.
    pub(super) fn secret_around<'p>(&self, pointer: &'p str) -> Option<&'p str> {
        let marks = self.secrets.as_ref()?;
        let mut left = WORK;
        let mut parts = marks.top(&mut left);
        let mut end = 0;
        loop {
            if parts.as_ref().is_none_or(|here| marks.is_secret(here)) {
                return pointer.get(..end);
            }
            let rest = pointer.get(end..)?.strip_prefix('/')?;
            let name = rest.split('/').next()?;
            end += 1 + name.len();
            // A number may be an item's or a name.
            let here = parts.as_deref().unwrap_or_default();
            let read = name.replace("~1", "/").replace("~0", "~");
            let item = read.parse().ok().map(|number| marks.step(here, &marks::Step::Item(number), &mut left));
            let member = marks.step(here, &marks::Step::Member(&read), &mut left);
            parts = match (member, item.unwrap_or(Some(Vec::new()))) {
                (Some(member), Some(item)) => Some([member, item].concat()),
                _ => None,
            };
        }
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
