//! What is listed of a tool, and the confirm parameter in its schema. Changes only what is listed: arguments are checked
//! against the schema that the tool declared.

use crate::policy::Level;
use serde_json::{Map, Value, json};

/// One tool as agents and people are shown it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Listing {
    /// The name to call it by.
    pub name: String,
    /// A short name for people.
    pub title: Option<String>,
    /// What it does and when to use it: the tool's own text.
    pub description: String,
    /// JSON Schema of the arguments, the confirm parameter included where the tool can need it.
    pub input_schema: String,
    /// JSON Schema of the payloads, where the tool promises one of its details: any of the four shapes.
    pub output_schema: Option<String>,
    /// The most that a call can need: declared, raised by the operator, or by what nobody has looked at yet.
    pub level: Level,
    /// What the tool's author declares.
    pub declared: Level,
    /// Whether a call can need a confirmation.
    pub needs_confirmation: bool,
    /// Whether every call needs one: the tool is critical, or the operator raised it. Otherwise its plans decide.
    pub always_confirmed: bool,
    /// Whether only a rule of the operator's brings a call to need one: others run at once, without a preview.
    pub confirmed_by_rule: bool,
    /// Where it comes from: a plug-in's name, or `native`.
    pub backend: String,
    /// Whether the operator has looked at what runs. Every tool of a plug-in that is not locked is raised to
    /// `approval_required`, unless its author declares it safe. Native tools are the program's own.
    pub locked: bool,
    /// Whether a sandbox enforces that its previews and safe calls change nothing.
    pub enforced: bool,
}

/// The keys under which a schema applies another schema to the same value, as lists.
const LISTS: [&str; 3] = ["allOf", "anyOf", "oneOf"];
/// The same, as single schemas.
const SINGLES: [&str; 4] = ["if", "then", "else", "not"];
/// Schemas that are followed before giving up: far more than any tool has, and an end to circles.
const MOST: usize = 1_000;

/// Whether a schema speaks of a property of this name on its top level, itself or through what it applies there.
pub(super) fn mentions(schema: &Value, parameter: &str) -> bool {
    in_place(schema).iter().filter_map(|place| schema.pointer(place)).any(|part| {
        let required = part.get("required").and_then(Value::as_array);
        part.get("properties").is_some_and(|properties| properties.get(parameter).is_some())
            || required.is_some_and(|names| names.iter().any(|name| name.as_str() == Some(parameter)))
    })
}

/// Adds the confirm parameter, not required, so that even a client that holds to the schema can send it.
pub(super) fn with_confirm_parameter(mut schema: Value, parameter: &str) -> Value {
    let described = json!({
        "type": "string",
        "description": "Leave this out of the first call. To confirm, call again with the same arguments and the token \
                        from the first call's answer here.",
    });
    for place in in_place(&schema) {
        let root = place.is_empty();
        let Some(Value::Object(part)) = schema.pointer_mut(&place) else { continue };
        loosen(part, parameter);
        let closes = ["additionalProperties", "unevaluatedProperties"].iter().any(|key| part.contains_key(*key));
        if root || closes || part.contains_key("properties") {
            let properties = part.entry("properties").or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(properties) = properties {
                properties.insert(parameter.to_owned(), described.clone());
            }
        }
    }
    schema
}

/// Lets one more property through the keywords that look at all of them.
fn loosen(part: &mut Map<String, Value>, parameter: &str) {
    if let Some(most) = part.get_mut("maxProperties")
        && let Some(count) = most.as_u64()
    {
        *most = json!(count.saturating_add(1));
    }
    if let Some(names) = part.get_mut("propertyNames") {
        *names = json!({"anyOf": [names.take(), {"const": parameter}]});
    }
    if let Some(Value::Object(patterns)) = part.get_mut("patternProperties") {
        for schema in patterns.values_mut() {
            *schema = json!({"anyOf": [schema.take(), {"type": "string", "pattern": "^cfm_[a-z2-7]{24}$"}]});
        }
    }
}

/// Pointers to the schema and to those that it applies to the very same value: they see the top level's properties.
fn in_place(schema: &Value) -> Vec<String> {
    let mut places: Vec<String> = vec![String::new()];
    let mut next = 0;
    while let Some(place) = places.get(next).cloned() {
        next += 1;
        let Some(Value::Object(part)) = schema.pointer(&place) else { continue };
        let mut found = Vec::new();
        for key in LISTS {
            let length = part.get(key).and_then(Value::as_array).map_or(0, Vec::len);
            found.extend((0..length).map(|at| format!("{place}/{key}/{at}")));
        }
        found.extend(SINGLES.iter().filter(|key| part.contains_key(**key)).map(|key| format!("{place}/{key}")));
        if let Some(Value::Object(dependents)) = part.get("dependentSchemas") {
            found.extend(dependents.keys().map(|name| format!("{place}/dependentSchemas/{}", escaped(name))));
        }
        if let Some(target) = part.get("$ref").and_then(Value::as_str).and_then(|target| target.strip_prefix('#')) {
            found.push(target.to_owned());
        }
        for place in found {
            if places.len() < MOST && !places.contains(&place) {
                places.push(place);
            }
        }
    }
    places
}

/// A key in a JSON pointer.
fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;

    #[track_caller]
    fn check(schema: Value, arguments: Value) {
        let listed = with_confirm_parameter(schema, "confirm_token");
        assert_eq!(listed["properties"]["confirm_token"]["type"], "string", "{listed}");
        let validator = jsonschema::validator_for(&listed).unwrap();
        assert!(validator.is_valid(&arguments), "{listed} refuses the arguments without a token");
        let mut confirming = arguments;
        confirming["confirm_token"] = json!("cfm_abcdefghijklmnopqrstuvwx");
        assert!(validator.is_valid(&confirming), "{listed} refuses {confirming}");
        assert!(!validator.is_valid(&json!({"confirm_token": 7, "path": "a"})), "{listed} takes a number for a token");
    }

    #[test]
    fn a_listed_schema_takes_the_confirm_parameter_whatever_its_form() {
        let path = json!({"path": {"type": "string"}});
        check(json!({"type": "object"}), json!({}));
        check(json!({"type": "object", "properties": path, "additionalProperties": false}), json!({"path": "a"}));
        check(json!({"type": "object", "properties": path, "unevaluatedProperties": false}), json!({"path": "a"}));
        check(json!({"type": "object", "properties": path, "maxProperties": 1}), json!({"path": "a"}));
        check(json!({"type": "object", "propertyNames": {"pattern": "^p"}}), json!({"path": "a"}));
        check(json!({"type": "object", "additionalProperties": {"type": "integer"}}), json!({"n": 1}));
        check(json!({"type": "object", "patternProperties": {".": {"type": "integer"}}}), json!({"n": 1}));
        check(
            json!({"type": "object", "allOf": [{"properties": path, "additionalProperties": false}]}),
            json!({"path": "a"}),
        );
        check(
            json!({"type": "object", "$ref": "#/$defs/a", "$defs": {"a": {"properties": path, "additionalProperties": false}}}),
            json!({"path": "a"}),
        );
    }

    #[test]
    fn the_confirm_parameter_is_never_required() {
        let listed = with_confirm_parameter(json!({"type": "object", "required": ["path"]}), "confirm_token");
        assert_eq!(listed["required"], json!(["path"]));
    }

    #[test]
    fn a_schema_that_has_the_name_already_is_found_out_on_its_top_level_only() {
        let has = |schema: Value| mentions(&schema, "confirm_token");
        let own = json!({"confirm_token": {"type": "string"}});
        assert!(has(json!({"properties": own})));
        assert!(has(json!({"required": ["confirm_token"]})));
        assert!(has(json!({"anyOf": [{"properties": own}]})));
        assert!(has(json!({"$ref": "#/$defs/a", "$defs": {"a": {"properties": own}}})));
        assert!(!has(json!({"properties": {"nested": {"properties": own}}})));
        assert!(!has(json!({"properties": {"confirm": {}}})));
        assert!(!has(json!({"$ref": "#"})), "a circle ends");
    }
}
