//! Whether arguments hold what a tool's schema marks as secret: `writeOnly`, or the format `password`. In doubt they do.

use serde_json::Value;

/// What a schema marks.
#[derive(Default)]
struct Marked {
    /// Properties of these names, wherever they are.
    names: Vec<String>,
    /// Something that has no name in the schema.
    anything: bool,
}

/// Whether arguments that were sent to a tool with this schema hold a secret.
pub(super) fn given(schema: &str, sent: &str) -> bool {
    let Ok(schema) = serde_json::from_str::<Value>(schema) else { return true };
    let mut marked = Marked::default();
    look(&schema, None, &mut marked);
    if !marked.anything && marked.names.is_empty() {
        return false;
    }
    let Ok(sent) = serde_json::from_str::<Value>(sent) else { return true };
    marked.anything || has(&sent, &marked.names)
}

fn look(schema: &Value, name: Option<&str>, marked: &mut Marked) {
    match schema {
        Value::Object(members) => {
            let says = |key: &str, value: Value| members.get(key) == Some(&value);
            if says("writeOnly", Value::Bool(true)) || says("format", "password".into()) {
                match name {
                    Some(name) => marked.names.push(name.to_owned()),
                    None => marked.anything = true,
                }
            }
            for (key, value) in members {
                match value {
                    Value::Object(properties) if key == "properties" => {
                        properties.iter().for_each(|(name, value)| look(value, Some(name), marked));
                    }
                    // What stands under a pattern or in a definition is used under a name that is not told here.
                    _ if ["patternProperties", "$defs", "definitions"].contains(&key.as_str()) => {
                        look(value, None, marked);
                    }
                    _ => look(value, name, marked),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| look(item, name, marked)),
        _ => {}
    }
}

fn has(value: &Value, names: &[String]) -> bool {
    match value {
        Value::Object(members) => members.iter().any(|(key, value)| names.contains(key) || has(value, names)),
        Value::Array(items) => items.iter().any(|item| has(item, names)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_found_where_a_schema_marks_them() {
        let plain = r#"{"properties":{"a":{"type":"string"},"format":{"type":"string"}}}"#;
        assert!(!given(plain, r#"{"a":"x","format":"password"}"#));
        for marked in [r#"{"format":"password"}"#, r#"{"writeOnly":true}"#, r#"{"anyOf":[{"writeOnly":true}]}"#] {
            let schema = format!(r#"{{"properties":{{"a":{{}},"p":{marked}}}}}"#);
            assert!(given(&schema, r#"{"a":1,"p":"x"}"#) && !given(&schema, r#"{"a":1}"#), "{schema}");
            let deep = format!(r#"{{"properties":{{"a":{{"items":{schema}}}}}}}"#);
            assert!(given(&deep, r#"{"a":[{"p":"x"}]}"#) && !given(&deep, r#"{"a":[{}]}"#), "{deep}");
        }
        let elsewhere = r##"{"properties":{"p":{"$ref":"#/$defs/s"}},"$defs":{"s":{"writeOnly":true}}}"##;
        assert!(given(elsewhere, r#"{"p":"x"}"#));
    }
}
