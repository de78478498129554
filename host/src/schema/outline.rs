//! What a schema says for certain of the places in a value: which names an object cannot have, and of which kinds a value is.
//! What it leaves open, it may be.

use super::shape::referred;
use serde_json::Value;

/// Kinds of JSON value, as bits of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kinds(u8);

impl Kinds {
    pub(crate) const NULL: Self = Self(1);
    pub(crate) const BOOL: Self = Self(2);
    pub(crate) const NUMBER: Self = Self(4);
    pub(crate) const TEXT: Self = Self(8);
    pub(crate) const LIST: Self = Self(16);
    pub(crate) const OBJECT: Self = Self(32);
    pub(crate) const ALL: Self = Self(63);
    pub(crate) const NONE: Self = Self(0);

    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Those that are in both.
    pub(crate) const fn common(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::NULL,
            Value::Bool(_) => Self::BOOL,
            Value::Number(_) => Self::NUMBER,
            Value::String(_) => Self::TEXT,
            Value::Array(_) => Self::LIST,
            Value::Object(_) => Self::OBJECT,
        }
    }

    fn named(name: &str) -> Self {
        match name {
            "null" => Self::NULL,
            "boolean" => Self::BOOL,
            "number" | "integer" => Self::NUMBER,
            "string" => Self::TEXT,
            "array" => Self::LIST,
            "object" => Self::OBJECT,
            _ => Self::NONE,
        }
    }
}

/// `a number`, `a text or null`.
impl std::fmt::Display for Kinds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let named = [
            (Self::BOOL, "a bool"),
            (Self::NUMBER, "a number"),
            (Self::TEXT, "a text"),
            (Self::LIST, "a list"),
            (Self::OBJECT, "an object"),
            (Self::NULL, "null"),
        ];
        let names: Vec<_> =
            named.into_iter().filter(|(kind, _)| !self.common(*kind).is_empty()).map(|(_, name)| name).collect();
        f.write_str(&names.join(" or "))
    }
}

/// One place of a value: the parts of a schema that all apply to it.
#[derive(Clone)]
pub(crate) struct Place<'a> {
    root: &'a Value,
    parts: Vec<&'a Value>,
}

/// Of a schema that compiled: its references lead in no circle at one place.
pub(crate) fn top(schema: &Value) -> Place<'_> {
    Place { root: schema, parts: vec![schema] }.whole()
}

impl<'a> Place<'a> {
    /// The kinds that a value here can be of.
    pub(crate) fn kinds(&self) -> Kinds {
        self.parts.iter().fold(Kinds::ALL, |kinds, part| kinds.common(self.kinds_of(part)))
    }

    /// Whether no object here can have a member of this name.
    pub(crate) fn is_closed_to(&self, name: &str) -> bool {
        self.parts.iter().any(|part| self.closes(part, name))
    }

    /// Whether some part of the schema, whether or not it applies, has a word for this name.
    #[cfg(feature = "program")]
    pub(crate) fn lists(&self, name: &str) -> bool {
        self.parts.iter().any(|part| self.names(part, name))
    }

    /// The place of a member.
    pub(crate) fn member(&self, name: &str) -> Self {
        let parts = self.parts.iter().filter_map(|part| part.get("properties")?.get(name)).collect();
        Self { root: self.root, parts }.whole()
    }

    /// With everything that applies at the same place for certain.
    fn whole(mut self) -> Self {
        let mut at = 0;
        while let Some(part) = self.parts.get(at).copied() {
            self.parts.extend(self.same(part));
            at += 1;
        }
        self
    }

    fn same(&self, part: &'a Value) -> Vec<&'a Value> {
        let target = part.get("$ref").and_then(Value::as_str).and_then(|target| referred(self.root, target));
        target.into_iter().chain(list(part, "allOf")).collect()
    }

    fn kinds_of(&self, part: &Value) -> Kinds {
        let any = |kinds: &mut dyn Iterator<Item = Kinds>| kinds.fold(Kinds::NONE, Kinds::and);
        let mut kinds = match part {
            Value::Bool(false) => return Kinds::NONE,
            _ => Kinds::ALL,
        };
        match part.get("type") {
            Some(Value::String(name)) => kinds = kinds.common(Kinds::named(name)),
            Some(Value::Array(names)) => {
                let names = &mut names.iter().filter_map(Value::as_str).map(Kinds::named);
                kinds = kinds.common(any(names));
            }
            _ => {}
        }
        if let Some(only) = part.get("const") {
            kinds = kinds.common(Kinds::of(only));
        }
        if let Some(only) = part.get("enum").and_then(Value::as_array) {
            kinds = kinds.common(any(&mut only.iter().map(Kinds::of)));
        }
        for choice in ["anyOf", "oneOf"].iter().filter_map(|key| part.get(*key)?.as_array()) {
            let kind = |part| self.below(part).kinds();
            kinds = kinds.common(any(&mut choice.iter().map(kind)));
        }
        kinds
    }

    fn below<'b>(&'b self, part: &'b Value) -> Place<'b> {
        Place { root: self.root, parts: vec![part] }.whole()
    }

    fn closes(&self, part: &Value, name: &str) -> bool {
        let own = part.get("additionalProperties") == Some(&Value::Bool(false))
            && part.get("properties").and_then(|all| all.get(name)).is_none()
            && part.get("patternProperties").is_none();
        let choices = ["anyOf", "oneOf"].into_iter().map(|key| list(part, key));
        let never = part.get("properties").and_then(|all| all.get(name)) == Some(&Value::Bool(false));
        own || never
            || choices.into_iter().any(|mut all| {
                let mut there = false;
                let closed = all.all(|part| {
                    there = true;
                    self.below(part).is_closed_to(name)
                });
                there && closed
            })
    }

    #[cfg(feature = "program")]
    fn names(&self, part: &Value, name: &str) -> bool {
        part.get("properties").and_then(|all| all.get(name)).is_some()
            || part.get("patternProperties").is_some()
            || part.get("additionalProperties").is_some_and(Value::is_object)
            || ["anyOf", "oneOf"].into_iter().flat_map(|key| list(part, key)).any(|part| self.below(part).lists(name))
            || ["then", "else"].iter().filter_map(|key| part.get(*key)).any(|part| self.below(part).lists(name))
    }
}

fn list<'a>(part: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    part.get(key).and_then(Value::as_array).into_iter().flatten()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use serde_json::json;

    #[test]
    fn a_name_that_no_object_can_have_is_known() {
        let a =
            json!({"properties": {"a": {"type": "object", "properties": {"b": {}}, "additionalProperties": false}}});
        let closed = json!({"type": "object", "properties": {"a": true}, "additionalProperties": false});
        for (schema, path, closes) in [
            (closed.clone(), "x", true),
            (closed.clone(), "a", false),
            (json!({"properties": {"a": {}}}), "x", false),
            (json!({"additionalProperties": {"type": "string"}}), "x", false),
            (json!({"patternProperties": {"^x": {}}, "additionalProperties": false}), "x", false),
            (json!({"properties": {"x": false}}), "x", true),
            (a.clone(), "a.b", false),
            (a.clone(), "a.c", true),
            (a.clone(), "b.c", false),
            (json!({"$ref": "#/$defs/t", "$defs": {"t": closed.clone()}}), "x", true),
            (json!({"allOf": [{}, closed.clone()]}), "x", true),
            (json!({"anyOf": [closed.clone(), closed.clone()]}), "x", true),
            (json!({"anyOf": [closed.clone(), {}]}), "x", false),
            (json!({"anyOf": []}), "x", false),
            (json!({"not": closed}), "x", false),
        ] {
            let mut place = top(&schema);
            let mut found = false;
            for name in path.split('.') {
                found |= place.is_closed_to(name);
                place = place.member(name);
            }
            assert_eq!(found, closes, "{path} of {schema}");
        }
    }

    #[test]
    fn the_kinds_of_a_value_are_known_where_the_schema_says_them() {
        for (schema, kinds) in [
            (json!({"type": "integer"}), "a number"),
            (json!({"type": ["string", "null"]}), "a text or null"),
            (json!({"enum": ["a", 1]}), "a number or a text"),
            (json!({"const": true}), "a bool"),
            (json!({"anyOf": [{"type": "array"}, {"type": "object"}]}), "a list or an object"),
            (json!({"allOf": [{"type": ["string", "number"]}, {"type": ["number", "null"]}]}), "a number"),
            (json!({"$ref": "#/$defs/n", "$defs": {"n": {"type": "number"}}}), "a number"),
        ] {
            assert_eq!(top(&schema).kinds().to_string(), kinds, "{schema}");
        }
        assert_eq!(top(&json!({"minimum": 1})).kinds(), Kinds::ALL);
        assert_eq!(top(&json!({"type": "object"})).member("x").kinds(), Kinds::ALL);
    }
}
