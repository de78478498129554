//! Decides whether canonical arguments fit a tool's schema. Fetches nothing, changes nothing (a default is never filled
//! in), and never looks at a number through a double that does not hold it.

mod numbers;
pub(crate) mod outline;
pub(crate) mod secret;
mod shape;
pub(crate) mod spelt;

use crate::json;
use jsonschema::{PatternOptions, Validator};
use serde_json::Value;

/// Largest schema, in bytes: what agents are willing to read, many times over.
pub(crate) const MAX: usize = 64 * 1024;
/// Errors that are told of one call: an agent mends a few at a time.
const ERRORS: usize = 3;
/// Longest text of one error, in bytes.
const ERROR: usize = 300;
/// Of a compiled pattern, in bytes: the expression's own limit is the schema's.
const PATTERN: usize = 1 << 20;
/// Of one that is looked through in no time, however the arguments are.
const LIGHT_PATTERN: usize = 64 << 10;
/// Work of a check that takes some milliseconds at most: see [`Schema::is_quick`].
const QUICK: usize = 1 << 24;

/// Whether a double holds a number as it is written.
#[cfg(feature = "rules")]
pub(crate) fn is_faithful(number: &str) -> bool {
    numbers::faithful(number)
}

/// A schema that is ready to check with.
pub(crate) struct Schema {
    validator: Validator,
    /// What one byte of the arguments may come to, at most, in steps of the checker.
    weight: usize,
    /// Whether any answer can depend on a number's value, and not only on its being a number.
    weighs_numbers: bool,
    /// What it marks as secret, if anything.
    secrets: Option<secret::Marks>,
}

impl std::fmt::Debug for Schema {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Schema").field("weighs_numbers", &self.weighs_numbers).finish_non_exhaustive()
    }
}

impl Schema {
    /// Reads a schema whose top level is an object of `"type": "object"`. The error says what is wrong with it.
    pub(crate) fn compile(text: &str) -> Result<Self, String> {
        if text.len() > MAX {
            return Err(format!("it has {} bytes: {MAX} are allowed", text.len()));
        }
        let schema = json::value(text)?;
        let Some(top) = schema.as_object() else { return Err("it is not a JSON object".into()) };
        if top.get("type").and_then(Value::as_str) != Some("object") {
            return Err("its top level does not say \"type\": \"object\"".into());
        }
        let looks = shape::check(&schema)?;
        // Most patterns are light, and then they are compiled once.
        let (validator, pattern) = match validator(&schema, LIGHT_PATTERN) {
            Ok(validator) => (validator, LIGHT_PATTERN >> 5),
            Err(_) => (validator(&schema, PATTERN).map_err(|error| shortened(&error))?, PATTERN >> 2),
        };
        // A place of the value is looked at with every keyword of the text at most, as often as references lead there.
        let weight = text.len().saturating_add(looks).saturating_add(pattern.saturating_mul(patterns(&schema)));
        let (weighs_numbers, secrets) = (numbers::weighed(&schema), secret::marks(&schema));
        Ok(Self { validator, weight, weighs_numbers, secrets })
    }

    /// Whether these arguments are checked in so little time that nothing else needs to go on meanwhile.
    pub(crate) fn is_quick(&self, canonical: &str) -> bool {
        self.weight.saturating_mul(canonical.len()) <= QUICK
    }

    /// Checks canonical arguments. The error says where and what, for the agent that sent them.
    pub(crate) fn check(&self, canonical: &str) -> Result<(), String> {
        let text = if self.weighs_numbers {
            if let Some(number) = numbers::unfaithful(canonical) {
                return Err(format!(
                    "the number {} cannot be checked exactly against the limits of this tool's schema: give fewer digits",
                    shortened(number)
                ));
            }
            canonical.into()
        } else {
            numbers::tamed(canonical)
        };
        let arguments: Value = serde_json::from_str(&text).map_err(|error| format!("unreadable arguments: {error}"))?;
        let mut errors = self.validator.iter_errors(&arguments).map(|error| {
            let place = error.instance_path().as_str();
            // Names inside a secret are a part of it.
            if let Some(secret) = self.secret_around(place) {
                let whose = if secret.is_empty() { "the whole" } else { secret };
                return format!("{}: it does not fit, and what is in it is secret", shortened(whose));
            }
            // Values are left out: they may be long, and they may be secrets.
            let what = shortened(&error.masked().to_string());
            if place.is_empty() { what } else { format!("{}: {what}", shortened(place)) }
        });
        let told: Vec<String> = errors.by_ref().take(ERRORS).collect();
        match (told.is_empty(), errors.next().is_some()) {
            (true, _) => Ok(()),
            (_, false) => Err(told.join("; ")),
            (_, true) => Err(format!("{}; and more", told.join("; "))),
        }
    }
}

fn validator(schema: &Value, pattern: usize) -> Result<Validator, String> {
    jsonschema::options()
        .offline()
        .with_pattern_options(PatternOptions::regex().size_limit(pattern).dfa_size_limit(PATTERN))
        .build(schema)
        .map_err(|error| error.to_string())
}

/// How many patterns a schema has, anywhere; a format is one.
fn patterns(schema: &Value) -> usize {
    match schema {
        Value::Object(entries) => entries
            .iter()
            .map(|(key, value)| {
                let own = match (key.as_str(), value) {
                    ("pattern" | "format", Value::String(_)) => 1,
                    ("patternProperties", Value::Object(all)) => all.len(),
                    _ => 0,
                };
                own + patterns(value)
            })
            .sum(),
        Value::Array(items) => items.iter().map(patterns).sum(),
        _ => 0,
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().map(|(at, c)| at + c.len_utf8()).take_while(|end| *end <= ERROR).last() {
        Some(end) if end < text.len() => {
            format!("{}… (cut, {} bytes in all)", text.get(..end).unwrap_or_default(), text.len())
        }
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

    use super::*;

    fn schema(properties: &str) -> String {
        format!(r#"{{"type":"object","properties":{properties},"additionalProperties":false}}"#)
    }

    #[track_caller]
    fn refused(text: &str, with: &str) {
        let error = Schema::compile(text).expect_err("refused");
        assert!(error.contains(with), "{error}");
    }

    #[track_caller]
    fn check(properties: &str, arguments: &str, expected: Result<(), &str>) {
        let schema = Schema::compile(&schema(properties)).unwrap();
        match (schema.check(arguments), expected) {
            (Ok(()), Ok(())) => {}
            (Err(found), Err(wanted)) => assert!(found.contains(wanted), "{found}"),
            (found, _) => panic!("{found:?} for {arguments}"),
        }
    }

    #[test]
    fn arguments_are_checked_and_the_error_says_where() {
        check(r#"{"a":{"type":"integer"}}"#, r#"{"a":1}"#, Ok(()));
        check(r#"{"a":{"type":"integer"}}"#, r#"{"a":"x"}"#, Err("/a: "));
        check(r#"{"a":{"type":"integer"}}"#, r#"{"b":1}"#, Err("'b'"));
        check(r#"{"a":{"pattern":"^[a-z]+$"}}"#, r#"{"a":"x1"}"#, Err("/a: "));
        check(r##"{"a":{"$ref":"#/properties/b"},"b":{"type":"null"}}"##, r#"{"a":1}"#, Err("/a: "));
    }

    #[test]
    fn values_are_not_told_and_errors_are_bounded() {
        let secret = "s3cret".repeat(1000);
        let schema = Schema::compile(&schema(r#"{"a":{"type":"integer"}}"#)).unwrap();
        let error = schema.check(&format!(r#"{{"a":"{secret}"}}"#)).unwrap_err();
        assert!(!error.contains("s3cret"), "{error}");
        let many: Vec<String> = (0..500).map(|n| format!("\"k{n}{}\":1", "x".repeat(500))).collect();
        let error = schema.check(&format!("{{{}}}", many.join(","))).unwrap_err();
        assert!(error.len() < 4 * ERROR, "{}", error.len());
    }

    #[test]
    fn nothing_is_told_of_what_is_inside_a_secret() {
        let vault = r#"{"vault":{"writeOnly":true,"type":"object","properties":{"a":{"type":"object","additionalProperties":{"type":"integer"}}},"additionalProperties":false,"minProperties":1},"list":{"items":{"format":"password","type":"string"}},"open":{"type":"object","additionalProperties":false}}"#;
        let schema = Schema::compile(&schema(vault)).unwrap();
        for (arguments, place) in [
            (r#"{"vault":{"hunter2":1}}"#, "/vault: "),
            (r#"{"vault":{"a":{"hunter2":"x"}}}"#, "/vault: "),
            (r#"{"vault":"hunter2"}"#, "/vault: "),
            (r#"{"vault":{}}"#, "/vault: "),
            (r#"{"list":["a",{"hunter2":1}]}"#, "/list/1: "),
        ] {
            let error = schema.check(arguments).unwrap_err();
            assert!(error.starts_with(place) && error.ends_with("is secret") && !error.contains("hunter2"), "{error}");
        }
        let error = schema.check(r#"{"open":{"name":1}}"#).unwrap_err();
        assert!(error.starts_with("/open") && !error.contains("secret"), "{error}");
    }

    #[test]
    fn a_default_is_never_filled_in() {
        let text = r#"{"type":"object","properties":{"a":{"type":"integer","default":1}},"required":["a"]}"#;
        assert!(Schema::compile(text).unwrap().check("{}").is_err());
    }

    #[test]
    fn bad_schemas_are_refused() {
        refused("", "EOF");
        refused("[]", "not a JSON object");
        refused("true", "not a JSON object");
        refused(r#"{"type":"object","type":"object"}"#, "twice");
        refused(r#"{"type":"string"}"#, "top level");
        refused(r#"{"properties":{}}"#, "top level");
        refused(r#"{"type":["object","null"]}"#, "top level");
        refused(&schema(r#"{"a":{"type":"wrong"}}"#), "wrong");
        refused(&schema(r#"{"a":{"$ref":"https://example.com/x.json"}}"#), "local");
        refused(&schema(r#"{"a":{"$ref":"file:///etc/passwd"}}"#), "local");
        refused(&schema(r##"{"a":{"$ref":"#/nowhere"}}"##), "nowhere");
        refused(&schema(r#"{"a":{"pattern":"(a+)\\1"}}"#), "regex");
        refused(&schema(&format!(r#"{{"a":{{"description":"{}"}}}}"#, "x".repeat(MAX))), "bytes");
        refused(r#"{"type":"object","$schema":"https://example.com/meta"}"#, "example.com");
    }

    #[test]
    fn usual_arguments_are_checked_where_they_come_in_and_long_ones_elsewhere() {
        let quick = |properties: &str, size: usize| {
            let arguments = format!(r#"{{"a":"{}"}}"#, "x".repeat(size));
            Schema::compile(&schema(properties)).unwrap().is_quick(&arguments)
        };
        let plain = r#"{"a":{"type":"string","description":"What it is."},"b":{"type":"integer","minimum":0}}"#;
        assert!(quick(plain, 16 << 10));
        assert!(!quick(plain, 256 << 10));
        let patterned = r#"{"a":{"type":"string","pattern":"^[a-z]{2,20}$","format":"email"}}"#;
        assert!(quick(patterned, 1 << 10));
        assert!(!quick(patterned, 16 << 10));
        let heavy = r#"{"a":{"type":"string","pattern":"^([a-z]{1,60}[0-9]{1,60}){1,40}$"}}"#;
        assert!(quick(heavy, 20));
        assert!(!quick(heavy, 100));
        let wide = format!(r#"{{"a":{{"anyOf":[{}]}}}}"#, vec![r#"{"const":"x"}"#; 2000].join(","));
        assert!(quick(&wide, 100));
        assert!(!quick(&wide, 1 << 10));
    }

    #[test]
    fn a_hostile_pattern_takes_linear_time() {
        let start = std::time::Instant::now();
        let arguments = format!(r#"{{"a":"{}!"}}"#, "a".repeat(100_000));
        check(r#"{"a":{"pattern":"^(a+)+$"}}"#, &arguments, Err("/a: "));
        assert!(start.elapsed().as_secs() < 2);
    }

    #[test]
    fn where_numbers_are_bounded_one_that_a_double_cannot_hold_is_refused() {
        let bounded = r#"{"a":{"type":"number","maximum":9007199254740992}}"#;
        check(bounded, r#"{"a":9007199254740992}"#, Ok(()));
        check(bounded, r#"{"a":9007199254740993}"#, Err("9007199254740993"));
        check(bounded, r#"{"a":0.1}"#, Ok(()));
        check(bounded, r#"{"a":-1.5e-7}"#, Ok(()));
        check(bounded, r#"{"a":0.1000000000000000055511151231257827}"#, Err("exactly"));
        check(bounded, r#"{"a":-1e400}"#, Err("exactly"));
        check(bounded, r#"{"a":9007199254740994}"#, Err("/a: "));
        check(r#"{"a":{"enum":[1,"x"]}}"#, r#"{"a":9007199254740993}"#, Err("exactly"));
        check(r#"{"a":{"multipleOf":2}}"#, r#"{"a":36893488147419103233}"#, Err("exactly"));
        check(r#"{"a":{"uniqueItems":true}}"#, r#"{"a":[1e400,1e401]}"#, Err("exactly"));
    }

    #[test]
    fn where_none_is_bounded_any_number_passes() {
        let free = r#"{"a":{"type":"integer"},"b":{"type":"number"},"c":{"const":"x"},"d":{"type":"string"}}"#;
        check(free, r#"{"a":9007199254740993,"b":1e+400,"d":"1e999 \" 1e999"}"#, Ok(()));
        check(free, r#"{"a":1e+400}"#, Ok(()));
        check(free, r#"{"a":1e-400}"#, Err("/a: "));
        check(free, r#"{"a":123456789012345678901234567890.5}"#, Err("/a: "));
        check(free, r#"{"a":123456789012345678901234567890}"#, Ok(()));
        check(free, r#"{"d":1e+400}"#, Err("/d: "));
    }
}
