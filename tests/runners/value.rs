//! The small language of a vector: references, times, repeated text on the way in; partial values on the way out.

use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// What a case has seen so far.
pub struct Scope {
    /// The start of the case: `{"$at": n}` is n milliseconds later.
    pub start: u64,
    /// Named answers, and `outcomes`.
    pub named: BTreeMap<String, Value>,
}

impl Scope {
    /// A value with every expression in it replaced by what it stands for.
    pub fn value(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => match text.strip_prefix('$') {
                Some(path) => self.reference(path),
                None => value.clone(),
            },
            Value::Array(items) => items.iter().map(|item| self.value(item)).collect(),
            Value::Object(object) => self.object(object),
            _ => value.clone(),
        }
    }

    fn object(&self, object: &Map<String, Value>) -> Value {
        let one = object.iter().next().filter(|_| object.len() == 1);
        match one.map(|(key, inner)| (key.as_str(), inner)) {
            Some(("$at", Value::Number(offset))) => json!(self.at(offset.as_i64().unwrap_or_default())),
            Some(("$concat", Value::Array(parts))) => {
                parts.iter().map(|part| string(&self.value(part)).to_string()).collect::<String>().into()
            }
            Some(("$repeat", Value::Array(pair))) => match pair.as_slice() {
                [text, times] => string(text).repeat(times.as_u64().unwrap_or_default() as usize).into(),
                _ => panic!("$repeat takes a text and a number"),
            },
            _ => Value::Object(object.iter().map(|(key, inner)| (key.clone(), self.value(inner))).collect()),
        }
    }

    /// A time of the case.
    pub fn at(&self, offset: i64) -> u64 {
        self.start.checked_add_signed(offset).unwrap_or_else(|| panic!("there is no time {offset}"))
    }

    fn reference(&self, path: &str) -> Value {
        let mut parts = path.split('.');
        let name = parts.next().unwrap_or_default();
        let named = self.named.get(name).unwrap_or_else(|| panic!("${path}: no step before is called {name}"));
        let found = parts.try_fold(named, |value, part| value.get(part));
        found.unwrap_or_else(|| panic!("${path}: {named} has no such part")).clone()
    }

    /// Holds what is expected against what came. Objects may have more keys than are expected; nothing else may differ.
    ///
    /// # Errors
    /// Where they differ.
    pub fn compare(&self, expected: &Value, actual: &Value) -> Result<(), String> {
        self.compare_at("answer", expected, actual)
    }

    fn compare_at(&self, path: &str, expected: &Value, actual: &Value) -> Result<(), String> {
        let differs = |what: &str| Err(format!("{path}: {what} is expected and {} came", shorten(actual)));
        match expected {
            Value::Object(object) => {
                if let Some(kind) = object.get("$any") {
                    let fits = *kind == json!(true) || (*kind == json!("string") && actual.is_string());
                    return if fits { Ok(()) } else { differs("a string") };
                }
                if let Some(part) = object.get("$contains") {
                    let part = self.value(part);
                    let fits = actual.as_str().is_some_and(|actual| actual.contains(string(&part)));
                    return if fits { Ok(()) } else { differs(&format!("a text with {part}")) };
                }
                if let Some(inner) = object.get("$json") {
                    return self.compare_text(path, inner, object.get("$keys"), actual);
                }
                if object.keys().any(|key| key.starts_with('$')) {
                    let expected = self.value(expected);
                    return if expected == *actual { Ok(()) } else { differs(&shorten(&expected)) };
                }
                let Some(actual) = actual.as_object() else { return differs(&shorten(expected)) };
                object.iter().try_for_each(|(key, inner)| match actual.get(key) {
                    Some(actual) => self.compare_at(&format!("{path}.{key}"), inner, actual),
                    None => Err(format!("{path}: {key} is expected and missing in {}", shorten(&json!(actual)))),
                })
            }
            Value::Array(items) => match actual.as_array() {
                Some(actual) if actual.len() == items.len() => {
                    let mut pairs = items.iter().zip(actual).enumerate();
                    pairs.try_for_each(|(at, (item, actual))| self.compare_at(&format!("{path}[{at}]"), item, actual))
                }
                _ => differs(&format!("a list of {}", items.len())),
            },
            Value::String(text) if text.starts_with('$') => {
                let expected = self.value(expected);
                if expected == *actual { Ok(()) } else { differs(&shorten(&expected)) }
            }
            _ if expected == actual => Ok(()),
            _ => differs(&shorten(expected)),
        }
    }

    fn compare_text(&self, path: &str, inner: &Value, keys: Option<&Value>, actual: &Value) -> Result<(), String> {
        let parsed: Value = serde_json::from_str(actual.as_str().unwrap_or_default())
            .map_err(|error| format!("{path}: JSON text is expected and {} came: {error}", shorten(actual)))?;
        if let Some(keys) = keys {
            let order = key_order(actual.as_str().unwrap_or_default());
            if *keys != json!(order) {
                return Err(format!("{path}: the keys {keys} are expected and {order:?} came"));
            }
        }
        self.compare_at(path, inner, &parsed)
    }
}

/// The keys of a JSON object without white space, in the order in which they stand.
fn key_order(text: &str) -> Vec<String> {
    let (mut keys, mut depth, mut from, mut escaped, mut key_next) = (Vec::new(), 0, None, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match (byte, from) {
            _ if escaped => escaped = false,
            (b'\\', Some(_)) => escaped = true,
            (b'"', Some(start)) => {
                if depth == 1 && key_next {
                    keys.push(text[start..at].to_string());
                    key_next = false;
                }
                from = None;
            }
            (_, Some(_)) => {}
            (b'"', None) => from = Some(at + 1),
            (b'{' | b'[', None) => {
                depth += 1;
                key_next |= depth == 1;
            }
            (b'}' | b']', None) => depth -= 1,
            (b',', None) if depth == 1 => key_next = true,
            _ => {}
        }
    }
    keys
}

fn string(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("a text is wanted, not {value}"))
}

/// A value for a message.
pub fn shorten(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(400) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
