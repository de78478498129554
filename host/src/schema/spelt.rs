//! What a schema says to people (titles, descriptions, comments), with everything spelt out that cannot be seen. What it says to
//! programs stays as it is: patterns, constants, defaults and examples are data.

use super::shape::{DATA, NAMED};
use crate::text;
use serde_json::Value;

/// Spells them out, at any depth; whether there was anything to spell.
pub(crate) fn spell(schema: &mut Value) -> bool {
    walk(schema, false)
}

/// The text of a schema in which something had to be spelt out; none where nothing had.
pub(crate) fn text(schema: &str) -> Option<String> {
    let mut schema = serde_json::from_str(schema).ok()?;
    spell(&mut schema).then(|| schema.to_string())
}

/// `named`: the keys are names of the author's choice, and each value is a schema.
fn walk(value: &mut Value, named: bool) -> bool {
    match value {
        Value::Array(items) => {
            let mut spelt = false;
            for item in items {
                spelt |= walk(item, false);
            }
            spelt
        }
        Value::Object(entries) => entries.iter_mut().fold(false, |spelt, (key, value)| {
            let new = match (key.as_str(), &*value) {
                // A title is one line.
                ("title", Value::String(text)) if !named => Some(text::escape(text).into_owned()),
                ("description" | "$comment", Value::String(text)) if !named => Some(text::prose(text.clone())),
                _ => None,
            };
            let below = match new {
                Some(new) if Some(new.as_str()) == value.as_str() => false,
                Some(new) => {
                    *value = Value::String(new);
                    true
                }
                None if !named && DATA.contains(&key.as_str()) => false,
                None => walk(value, !named && NAMED.contains(&key.as_str())),
            };
            below || spelt
        }),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn prose_is_spelt_out_at_any_depth_and_data_is_not() {
        let bad = "a\u{202e}b\u{200b}\u{1b}[2J\u{2028}\u{e0041}";
        let spelt = r"a\u{202e}b\u{200b}\e[2J\u{2028}\u{e0041}";
        let schema = |prose: &str, title: &str| {
            json!({
                "title": title, "description": prose, "$comment": prose,
                "properties": {
                    "title": {"title": title, "default": {"title": bad}},
                    "description": {"items": [{"description": prose, "examples": [bad], "const": bad, "pattern": bad}]},
                },
                "$defs": {"enum": {"description": prose, "enum": [{"description": bad}]}},
                "anyOf": [{"not": {"$comment": prose}}, {"properties": {"$comment": {"description": prose}}}],
            })
        };
        let mut listed = schema(bad, bad);
        assert!(spell(&mut listed));
        assert_eq!(listed, schema(spelt, spelt));
        assert!(!spell(&mut listed));
        let mut lines = json!({"title": "one\ntwo", "description": "one\ntwo"});
        assert!(spell(&mut lines));
        assert_eq!(lines, json!({"title": r"one\ntwo", "description": "one\ntwo"}));
    }
}
