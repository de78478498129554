//! JSON from plug-ins and schemas, read strictly: one value, no key twice. Arguments are never read here: that is the
//! gate's part, whose reader keeps every number exact.

use crate::text;
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::fmt;

/// The value of a text in which no object has a key twice.
pub(crate) fn value(text: &str) -> Result<Value, String> {
    serde_json::from_str::<Strict>(text).map(|strict| strict.0).map_err(|error| error.to_string())
}

/// Says why a text is not one JSON object, without keeping it.
pub(crate) fn check_object(text: &str) -> Result<(), String> {
    if !text.trim_start_matches([' ', '\t', '\n', '\r']).starts_with('{') {
        return Err("it is not a JSON object".into());
    }
    serde_json::from_str::<Valid>(text).map(|_| ()).map_err(|error| error.to_string())
}

struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StrictVisitor)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Strict;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Strict, E> {
        Ok(Strict(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Strict, E> {
        Ok(Strict(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Strict, E> {
        Ok(Strict(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Strict, E> {
        Ok(Strict(value.into()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Strict, E> {
        Ok(Strict(value.into()))
    }

    fn visit_unit<E>(self) -> Result<Strict, E> {
        Ok(Strict(Value::Null))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Strict, A::Error> {
        let mut all = Vec::new();
        while let Some(Strict(item)) = items.next_element()? {
            all.push(item);
        }
        Ok(Strict(Value::Array(all)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Strict, A::Error> {
        let mut all = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            let Strict(value) = entries.next_value()?;
            if all.contains_key(&key) {
                return Err(twice(&key));
            }
            all.insert(key, value);
        }
        Ok(Strict(Value::Object(all)))
    }
}

fn twice<E: de::Error>(key: &str) -> E {
    E::custom(format_args!("key \"{}\" is there twice", text::brief(key)))
}

/// As [`Strict`], for texts of many megabytes.
struct Valid;

impl<'de> Deserialize<'de> for Valid {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValidVisitor)
    }
}

struct ValidVisitor;

impl<'de> Visitor<'de> for ValidVisitor {
    type Value = Valid;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Valid, E> {
        Ok(Valid)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Valid, E> {
        Ok(Valid)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Valid, E> {
        Ok(Valid)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Valid, E> {
        Ok(Valid)
    }

    fn visit_str<E>(self, _: &str) -> Result<Valid, E> {
        Ok(Valid)
    }

    fn visit_unit<E>(self) -> Result<Valid, E> {
        Ok(Valid)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Valid, A::Error> {
        while items.next_element::<Valid>()?.is_some() {}
        Ok(Valid)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Valid, A::Error> {
        let mut keys = HashSet::new();
        while let Some(key) = entries.next_key::<String>()? {
            entries.next_value::<Valid>()?;
            if keys.contains(&key) {
                return Err(twice(&key));
            }
            keys.insert(key);
        }
        Ok(Valid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Result<(), &str>) {
        match (check_object(text), expected) {
            (Ok(()), Ok(())) => {}
            (Err(found), Err(wanted)) => assert!(found.contains(wanted), "{found}"),
            (found, wanted) => assert_eq!(found.map_err(|_| "other"), wanted),
        }
    }

    #[test]
    fn only_one_object_without_a_key_twice_is_one() {
        check(r#"{"a":1,"b":{"a":[1.5,null,true,"x"]}}"#, Ok(()));
        check(" {} \n", Ok(()));
        check(r#"{"path":1,"p\u0061th":2}"#, Err("twice"));
        check(r#"{"a":{"b":1,"b":1}}"#, Err("twice"));
        check("[]", Err("not a JSON object"));
        check("", Err("not a JSON object"));
        check("{} {}", Err("trailing"));
        check(r#"{"a":"\ud800"}"#, Err("hex escape"));
        check("\u{feff}{}", Err("not a JSON object"));
        check("{", Err("EOF"));
        check(&format!("{}{}", "{\"a\":".repeat(200), "1"), Err("recursion"));
    }

    #[test]
    fn a_value_is_read_as_it_is() {
        let text = r#"{"b":[1,-2,2.5,"x",null,true],"a":{}}"#;
        assert_eq!(value(text).ok(), serde_json::from_str(text).ok());
        assert!(value(r#"[{"a":1,"a":1}]"#).is_err());
    }
}
