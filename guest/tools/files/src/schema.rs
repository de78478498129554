//! The JSON Schema of an object, closed for arguments and open for outcomes, to which keys may be added later. Shared by the
//! plug-ins that describe themselves with serde_json. Pure.

use serde_json::{Map, Value, json};

pub type Properties<'a> = &'a [(&'a str, Value)];

pub fn open(required: Properties, optional: Properties) -> Value {
    let names: Vec<&str> = required.iter().map(|(name, _)| *name).collect();
    let all = required.iter().chain(optional).map(|(name, schema)| ((*name).to_owned(), schema.clone()));
    json!({ "type": "object", "properties": all.collect::<Map<_, _>>(), "required": names })
}

pub fn closed(required: Properties, optional: Properties) -> Value {
    let mut schema = open(required, optional);
    if let Some(schema) = schema.as_object_mut() {
        schema.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
    schema
}
