//! Environment variables of a plug-in. Their values are secrets: nothing prints one, and where a plug-in itself does, the name
//! stands in its place (`veil.rs`).

use super::manifest::{VARIABLE_RULE, is_variable};
use crate::digest::sha256;
use crate::text;
use std::collections::BTreeMap;

/// Longest value, in bytes: above the longest keys and certificates in use. Each call's instance gets a copy.
const MAX_VALUE: usize = 32 * 1024;
/// What all names and values of a plug-in may have together, in bytes.
const MAX_ALL: usize = 128 * 1024;

/// The value of a variable. It is never shown: `Debug` says nothing of it, and there is no other way to print it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Takes it as it is.
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }

    /// What stands for it where the program has to tell two values apart.
    pub(super) fn digest(&self) -> String {
        sha256(self.0.as_bytes())
    }

    pub(super) fn value(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// Says what is wrong with them, by name.
pub(super) fn check(variables: &BTreeMap<String, Secret>) -> Result<(), String> {
    let mut all = 0;
    for (name, Secret(value)) in variables {
        let name = text::escape(name);
        if !is_variable(&name) {
            return Err(format!("\"{name}\" is no name of a variable: {VARIABLE_RULE}"));
        }
        if value.contains('\0') {
            return Err(format!("the value of {name} has a NUL in it, which no variable can have"));
        }
        if value.len() > MAX_VALUE {
            return Err(format!("the value of {name} has {} bytes: {MAX_VALUE} are allowed", value.len()));
        }
        all += name.len() + value.len();
    }
    if all > MAX_ALL {
        return Err(format!("its variables have {all} bytes together: {MAX_ALL} are allowed"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_value_is_in_no_debug_output() {
        let variables = BTreeMap::from([("KEY".to_owned(), Secret::new("hunter2"))]);
        assert_eq!(format!("{variables:?}"), r#"{"KEY": Secret(…)}"#);
        assert!(
            !format!(
                "{:#?}",
                crate::plugin::PluginOptions { env: variables, ..crate::plugin::PluginOptions::new("x") }
            )
            .contains("hunter2")
        );
    }

    #[test]
    fn what_no_variable_can_be_is_refused_by_name_and_not_by_value() {
        #[track_caller]
        fn refused(name: &str, value: String, with: &str) {
            let error = check(&BTreeMap::from([(name.to_owned(), Secret::new(value))])).unwrap_err();
            assert!(error.contains(with) && !error.contains("hunter2"), "{error}");
        }
        refused("A B", "hunter2".to_owned(), "no name of a variable");
        refused("A", "hunter2\0".to_owned(), "NUL");
        refused("A", "hunter2".repeat(MAX_VALUE / 7 + 1), "32768 are allowed");
        let many = (0..5).map(|number| (format!("A{number}"), Secret::new("x".repeat(MAX_VALUE)))).collect();
        assert!(check(&many).unwrap_err().contains("131072 are allowed"));
        assert_eq!(check(&BTreeMap::from([("A_1".to_owned(), Secret::new(""))])), Ok(()));
    }
}
