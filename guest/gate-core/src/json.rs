//! Writes JSON objects without white space, keys in the order they are given. Reads nothing.

use crate::canonical::write_string;
use crate::prose::push_decimal;
use alloc::string::String;

/// What there is not.
pub(crate) const NULL: &str = "null";

/// An object under construction. By reference and not by value, which would copy it at each key.
pub(crate) struct Object(String);

impl Object {
    pub(crate) fn new() -> Self {
        Self(String::from("{"))
    }

    fn key(&mut self, key: &str) -> &mut String {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        write_string(&mut self.0, key);
        self.0.push(':');
        &mut self.0
    }

    /// A string.
    pub(crate) fn text(&mut self, key: &str, value: &str) -> &mut Self {
        write_string(self.key(key), value);
        self
    }

    /// A whole number.
    pub(crate) fn number(&mut self, key: &str, value: u64) -> &mut Self {
        push_decimal(self.key(key), value, 1);
        self
    }

    /// JSON text that is known to be valid.
    pub(crate) fn raw(&mut self, key: &str, value: &str) -> &mut Self {
        self.key(key).push_str(value);
        self
    }

    /// The members of an object that is known to be valid and written without white space.
    pub(crate) fn members(&mut self, object: &str) -> &mut Self {
        let inner = object.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or_default();
        if !inner.is_empty() {
            if self.0.len() > 1 {
                self.0.push(',');
            }
            self.0.push_str(inner);
        }
        self
    }

    /// A string that may be missing.
    pub(crate) fn option(&mut self, key: &str, value: Option<&str>) -> &mut Self {
        match value {
            Some(value) => self.text(key, value),
            None => self,
        }
    }

    /// A string, or null.
    pub(crate) fn text_or_null(&mut self, key: &str, value: Option<&str>) -> &mut Self {
        match value {
            Some(value) => self.text(key, value),
            None => self.raw(key, NULL),
        }
    }

    /// A whole number, or null.
    pub(crate) fn number_or_null(&mut self, key: &str, value: Option<u64>) -> &mut Self {
        match value {
            Some(value) => self.number(key, value),
            None => self.raw(key, NULL),
        }
    }

    /// The object; what is left is to be dropped.
    pub(crate) fn finish(&mut self) -> String {
        self.0.push('}');
        core::mem::take(&mut self.0)
    }
}

/// An array of strings.
pub(crate) fn texts<'a>(values: impl IntoIterator<Item = &'a str>) -> String {
    array(values, write_string)
}

/// An array of what `write` makes of each value.
pub(crate) fn array<T>(values: impl IntoIterator<Item = T>, mut write: impl FnMut(&mut String, T)) -> String {
    let mut out = String::from("[");
    for value in values {
        if out.len() > 1 {
            out.push(',');
        }
        write(&mut out, value);
    }
    out.push(']');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_of_another_object_come_behind_what_is_there() {
        assert_eq!(Object::new().members("{}").finish(), "{}");
        assert_eq!(Object::new().members(r#"{"a":1,"b":2}"#).finish(), r#"{"a":1,"b":2}"#);
        assert_eq!(Object::new().number("a", 1).members("{}").number("b", 2).finish(), r#"{"a":1,"b":2}"#);
        assert_eq!(Object::new().number("a", 1).members(r#"{"b":2}"#).raw("c", "3").finish(), r#"{"a":1,"b":2,"c":3}"#);
    }
}
