//! Decides whether a schema can be checked with in bounded depth. A checker follows references by calling itself: one that
//! leads back to itself without stepping into the value, or that fans out without end, would take the host down with it.

use crate::text;
use serde_json::{Map, Value};
use std::collections::HashMap;

/// Longest way through references and combinations at one place of the value.
const DEPTH: usize = 32;
/// Schemas that may be looked at, in all, at one place of the value.
const WIDTH: usize = 4096;

/// Schemas that may be looked at, in all, on the way down to one place of the value.
const WORK: usize = 1 << 14;
/// How far down: the depth of arguments, unless the operator sets another.
const LEVELS: usize = 64;

/// Keywords that apply one schema to the same place of the value.
pub(super) const SAME: [&str; 4] = ["not", "if", "then", "else"];
/// Keywords that apply a list of them.
pub(super) const LISTS: [&str; 3] = ["allOf", "anyOf", "oneOf"];
/// Keywords that apply those of a map.
pub(super) const MAPS: [&str; 2] = ["dependentSchemas", "dependencies"];
/// Keywords whose values are schemas by names of the author's choice.
pub(super) const NAMED: [&str; 6] =
    ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"];
/// Keywords whose values are data.
pub(super) const DATA: [&str; 4] = ["const", "enum", "default", "examples"];
/// Keywords that make a reference mean something else than a place in this text.
const MOVING: [&str; 5] = ["$dynamicRef", "$recursiveRef", "$dynamicAnchor", "$anchor", "$recursiveAnchor"];

/// References must be `#` or `#/…`, must not lead in a circle at one place of the value, nor fan out.
/// Returns how many schemas may be looked at, in all, on the way down to one place of the value.
pub(super) fn check(schema: &Value) -> Result<usize, String> {
    if let Some(draft) = schema.get("$schema").and_then(Value::as_str)
        && ["draft-03", "draft-04"].iter().any(|old| draft.contains(old))
    {
        return Err("drafts 3 and 4 of JSON Schema are not supported: use 2020-12".into());
    }
    let mut survey = Survey { root: schema, seen: HashMap::new(), objects: Vec::new() };
    survey.walk(schema, true, false)?;
    survey.deep()
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
    /// What was walked over.
    objects: Vec<&'a Value>,
}

impl<'a> Survey<'a> {
    /// Every object of the text, whether or not it is a schema: measuring what is none does no harm.
    /// `named`: the keys are names of the author's choice, and each value is a schema.
    fn walk(&mut self, value: &'a Value, top: bool, named: bool) -> Result<(), String> {
        match value {
            Value::Array(items) => items.iter().try_for_each(|item| self.walk(item, false, false)),
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
                self.objects.push(value);
                for (key, value) in entries.iter().filter(|(key, _)| named || !DATA.contains(&key.as_str())) {
                    self.walk(value, false, !named && NAMED.contains(&key.as_str()))?;
                }
                Ok(())
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
        let shown = text::brief(target);
        let Some(pointer) = local(target) else {
            return Err(format!("$ref \"{shown}\" is not local: only \"#\" and \"#/…\" are"));
        };
        self.root.pointer(&decoded(pointer)).ok_or_else(|| format!("$ref \"{shown}\" leads nowhere"))
    }
}

/// How many schemas one comes to on the way down to one place of the value. A value is an object or an array, not both.
#[derive(Clone, Copy, Default, PartialEq)]
struct Cost {
    here: usize,
    members: usize,
    items: usize,
}

impl Cost {
    fn add(&mut self, other: Self) {
        self.here = self.here.saturating_add(other.here);
        self.members = self.members.saturating_add(other.members);
        self.items = self.items.saturating_add(other.items);
    }

    fn whole(self) -> usize {
        self.here.saturating_add(self.members.max(self.items))
    }
}

type Costs = HashMap<*const Value, Cost>;

impl<'a> Survey<'a> {
    /// A schema that leads back to itself through the value twice doubles the work with each level of the arguments: at
    /// sixty levels it never ends. Call it when `walk` has found no circle.
    fn deep(&self) -> Result<usize, String> {
        let (mut below, mut dearest) = (Costs::new(), 1);
        for _ in 0..LEVELS {
            let mut costs = Costs::new();
            for object in &self.objects {
                let whole = self.cost(object, &below, &mut costs)?.whole();
                dearest = dearest.max(whole);
                if whole > WORK {
                    return Err(format!("it comes to more than {WORK} schemas on the way down to one place"));
                }
            }
            if costs == below {
                break;
            }
            below = costs;
        }
        Ok(dearest)
    }

    fn cost(&self, schema: &'a Value, deeper: &Costs, costs: &mut Costs) -> Result<Cost, String> {
        let Value::Object(entries) = schema else { return Ok(Cost { here: 1, ..Cost::default() }) };
        if let Some(cost) = costs.get(&std::ptr::from_ref(schema)) {
            return Ok(*cost);
        }
        let one = |schema: &Value| deeper.get(&std::ptr::from_ref(schema)).map_or(1, |cost| cost.whole());
        // Of several, each for a place of its own, the dearest counts; of several for one place, all.
        let dearest = |key: &str| match entries.get(key) {
            Some(Value::Array(all)) => all.iter().map(one).max().unwrap_or(0),
            Some(Value::Object(all)) => all.values().map(one).max().unwrap_or(0),
            _ => 0,
        };
        let all =
            |keys: &[&str]| keys.iter().filter_map(|key| entries.get(*key)).map(one).fold(0, usize::saturating_add);
        let patterns = entries.get("patternProperties").and_then(Value::as_object);
        let patterns = patterns.map_or(0, |all| all.values().map(one).fold(0, usize::saturating_add));
        let members = dearest("properties")
            .saturating_add(patterns)
            .saturating_add(all(&["additionalProperties", "unevaluatedProperties"]));
        let items = if entries.get("items").is_some_and(Value::is_array) { dearest("items") } else { all(&["items"]) };
        let items = items.saturating_add(dearest("prefixItems")).saturating_add(all(&[
            "additionalItems",
            "unevaluatedItems",
            "contains",
        ]));
        let mut cost = Cost { here: 1, members, items };
        for same in self.below(entries)? {
            cost.add(self.cost(same, deeper, costs)?);
        }
        costs.insert(schema, cost);
        Ok(cost)
    }
}

/// What a local reference of a schema stands for.
pub(super) fn referred<'a>(root: &'a Value, target: &str) -> Option<&'a Value> {
    root.pointer(&decoded(local(target)?))
}

fn local(target: &str) -> Option<&str> {
    target.strip_prefix('#').filter(|rest| rest.is_empty() || rest.starts_with('/'))
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
            (Ok(_), Ok(())) => {}
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
        // Where names are the author's, one may read like a keyword for data.
        verdict(r##"{"properties":{"default":{"$ref":"#/properties/default"}}}"##, Err("back to itself"));
        verdict(r##"{"$defs":{"enum":{"$ref":"#/$defs/enum"}},"$ref":"#/$defs/enum"}"##, Err("back to itself"));
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
    fn work_that_doubles_with_each_level_of_the_value_is_refused() {
        let twice =
            |step: &str| format!(r##"{{"$ref":"#/$defs/n","$defs":{{"n":{{"allOf":[{{{step}}},{{{step}}}]}}}}}}"##);
        verdict(&twice(r##""properties":{"a":{"$ref":"#/$defs/n"}}"##), Err("on the way down"));
        verdict(&twice(r##""items":{"$ref":"#/$defs/n"}"##), Err("on the way down"));
        verdict(
            r##"{"additionalProperties":{"$ref":"#"},"patternProperties":{"":{"$ref":"#"}}}"##,
            Err("on the way down"),
        );
        // A tree with many branches is looked at once at each place.
        verdict(r##"{"properties":{"left":{"$ref":"#"},"right":{"$ref":"#"}}}"##, Ok(()));
        verdict(
            r##"{"anyOf":[{"type":"string"},{"items":{"$ref":"#"}},{"additionalProperties":{"$ref":"#"}}]}"##,
            Ok(()),
        );
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
