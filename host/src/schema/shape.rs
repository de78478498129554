//! Decides whether a schema can be checked with in bounded depth. A checker follows references by calling itself: one that
//! leads back to itself without stepping into the value, or that fans out without end, would take the host down with it.

use serde_json::{Map, Value};
use std::collections::HashMap;

/// Longest way through references and combinations at one place of the value.
const DEPTH: usize = 32;
/// Schemas that may be looked at, in all, at one place of the value.
const WIDTH: usize = 4096;

/// Keywords that apply one schema to the same place of the value.
const SAME: [&str; 4] = ["not", "if", "then", "else"];
/// Keywords that apply a list of them.
const LISTS: [&str; 3] = ["allOf", "anyOf", "oneOf"];
/// Keywords that apply those of a map.
const MAPS: [&str; 2] = ["dependentSchemas", "dependencies"];
/// Keywords whose values are data.
const DATA: [&str; 4] = ["const", "enum", "default", "examples"];
/// Keywords that make a reference mean something else than a place in this text.
const MOVING: [&str; 5] = ["$dynamicRef", "$recursiveRef", "$dynamicAnchor", "$anchor", "$recursiveAnchor"];

/// References must be `#` or `#/…`, must not lead in a circle at one place of the value, nor fan out.
pub(super) fn check(schema: &Value) -> Result<(), String> {
    if let Some(draft) = schema.get("$schema").and_then(Value::as_str)
        && ["draft-03", "draft-04"].iter().any(|old| draft.contains(old))
    {
        return Err("drafts 3 and 4 of JSON Schema are not supported: use 2020-12".into());
    }
    let mut survey = Survey { root: schema, seen: HashMap::new() };
    survey.walk(schema, true)
}

/// What checking one place of a value with a schema comes to.
#[derive(Clone, Copy)]
struct Size {
    /// Schemas looked at.
    width: usize,
    /// Longest way down.
    depth: usize,
}

struct Survey<'a> {
    root: &'a Value,
    /// By the schema's address in the tree; `None` while it is being measured.
    seen: HashMap<*const Value, Option<Size>>,
}

impl<'a> Survey<'a> {
    /// Every object of the text, whether or not it is a schema: measuring what is none does no harm.
    fn walk(&mut self, value: &'a Value, top: bool) -> Result<(), String> {
        match value {
            Value::Array(items) => items.iter().try_for_each(|item| self.walk(item, false)),
            Value::Object(entries) => {
                for (key, value) in entries {
                    if MOVING.contains(&key.as_str()) && !value.is_object() {
                        return Err(format!("{key} is not supported: use \"$ref\": \"#/$defs/…\""));
                    }
                    if key == "$id" && !top && value.is_string() {
                        return Err("$id below the top level is not supported: use \"$defs\"".into());
                    }
                }
                self.measure(value, 0)?;
                let schemas = entries.iter().filter(|(key, _)| !DATA.contains(&key.as_str()));
                schemas.map(|(_, value)| value).try_for_each(|value| self.walk(value, false))
            }
            _ => Ok(()),
        }
    }

    fn measure(&mut self, schema: &'a Value, above: usize) -> Result<Size, String> {
        let Value::Object(entries) = schema else { return Ok(Size { width: 1, depth: 0 }) };
        let size = match self.seen.get(&std::ptr::from_ref(schema)) {
            Some(None) => {
                return Err("a $ref leads back to itself: it must go through \"properties\" or \"items\"".into());
            }
            Some(Some(size)) => *size,
            // Not measured further than is allowed anyway: this calls itself, too.
            None if above > DEPTH => Size { width: 1, depth: 1 },
            None => {
                self.seen.insert(schema, None);
                let mut size = Size { width: 1, depth: 0 };
                for below in self.below(entries)? {
                    let below = self.measure(below, above + 1)?;
                    size.width = size.width.saturating_add(below.width);
                    size.depth = size.depth.max(below.depth + 1);
                }
                self.seen.insert(schema, Some(size));
                size
            }
        };
        if above + size.depth > DEPTH {
            return Err(format!("it goes through more than {DEPTH} references and combinations at one place"));
        }
        if size.width > WIDTH {
            return Err(format!("it fans out to more than {WIDTH} schemas at one place"));
        }
        Ok(size)
    }

    /// The schemas that this one applies to the same place of the value.
    fn below(&self, entries: &'a Map<String, Value>) -> Result<Vec<&'a Value>, String> {
        let mut below: Vec<&'a Value> = Vec::new();
        if let Some(Value::String(target)) = entries.get("$ref") {
            below.push(self.resolve(target)?);
        }
        below.extend(SAME.iter().filter_map(|key| entries.get(*key)));
        below.extend(LISTS.iter().filter_map(|key| entries.get(*key)?.as_array()).flatten());
        below.extend(MAPS.iter().filter_map(|key| entries.get(*key)?.as_object()).flat_map(|map| map.values()));
        Ok(below)
    }

    fn resolve(&self, target: &str) -> Result<&'a Value, String> {
        let shown: String = target.chars().take(100).collect();
        let Some(pointer) = target.strip_prefix('#').filter(|rest| rest.is_empty() || rest.starts_with('/')) else {
            return Err(format!("$ref {shown:?} is not local: only \"#\" and \"#/…\" are"));
        };
        self.root.pointer(&decoded(pointer)).ok_or_else(|| format!("$ref {shown:?} leads nowhere"))
    }
}

/// A pointer in a fragment is percent-encoded.
fn decoded(pointer: &str) -> String {
    let mut parts = pointer.split('%');
    let mut out = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        match part.get(..2).and_then(|pair| u8::from_str_radix(pair, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                out.extend_from_slice(part.get(2..).unwrap_or_default().as_bytes());
            }
            None => {
                out.push(b'%');
                out.extend_from_slice(part.as_bytes());
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

    use super::*;

    #[track_caller]
    fn verdict(text: &str, expected: Result<(), &str>) {
        let found = check(&serde_json::from_str(text).unwrap());
        match (&found, expected) {
            (Ok(()), Ok(())) => {}
            (Err(found), Err(wanted)) if found.contains(wanted) => {}
            _ => panic!("{found:?} for {text:.200}"),
        }
    }

    #[test]
    fn a_reference_that_steps_into_the_value_may_lead_back() {
        verdict(r##"{"properties":{"child":{"$ref":"#"}}}"##, Ok(()));
        verdict(r##"{"$defs":{"n":{"properties":{"next":{"$ref":"#/$defs/n"}}}},"$ref":"#/$defs/n"}"##, Ok(()));
        verdict(r##"{"$defs":{"a b":{}},"$ref":"#/$defs/a%20b"}"##, Ok(()));
    }

    #[test]
    fn one_that_does_not_is_refused() {
        verdict(r##"{"$ref":"#"}"##, Err("back to itself"));
        verdict(r##"{"allOf":[{"anyOf":[{"$ref":"#"}]}]}"##, Err("back to itself"));
        verdict(r##"{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"not":{"$ref":"#/$defs/a"}}}}"##, Err("back to itself"));
        verdict(r##"{"dependentSchemas":{"x":{"$ref":"#"}}}"##, Err("back to itself"));
    }

    #[test]
    fn a_long_way_and_a_wide_one_are_refused() {
        let chain = |n: usize, body: fn(usize) -> String| {
            let defs: Vec<String> = (0..n).map(|i| format!(r#""d{i}":{}"#, body(i + 1))).collect();
            format!(r##"{{"$defs":{{{},"d{n}":{{}}}},"$ref":"#/$defs/d0"}}"##, defs.join(","))
        };
        let one = |i: usize| format!(r##"{{"$ref":"#/$defs/d{i}"}}"##);
        let two = |i: usize| format!(r##"{{"allOf":[{{"$ref":"#/$defs/d{i}"}},{{"$ref":"#/$defs/d{i}"}}]}}"##);
        verdict(&chain(20, one), Ok(()));
        verdict(&chain(500, one), Err("more than 32"));
        verdict(&chain(5, two), Ok(()));
        verdict(&chain(14, two), Err("fans out"));
    }

    #[test]
    fn only_plain_local_references_are_taken() {
        verdict(r#"{"$ref":"other.json"}"#, Err("not local"));
        verdict(r##"{"$ref":"#name"}"##, Err("not local"));
        verdict(r##"{"$dynamicRef":"#x"}"##, Err("not supported"));
        verdict(r#"{"$id":"https://example.com/a","properties":{"a":{"type":"null"}}}"#, Ok(()));
        verdict(r#"{"properties":{"a":{"$id":"https://example.com/b"}}}"#, Err("not supported"));
        verdict(r#"{"properties":{"id":{"type":"string"},"$anchor":{"type":"string"}}}"#, Ok(()));
        verdict(r#"{"default":{"$ref":"anything"},"enum":[{"$ref":"x"}]}"#, Ok(()));
    }
}
