//! Whether a table stands where a table belongs, looked at before anything is read. The reader would take the values of a list
//! by their places in it, with no name that could be wrong, and would quote a text that stands there: a variable's value, where
//! somebody wrote it in the place of where it comes from.

use super::Places;
use crate::Error;
use schemars::JsonSchema;
use serde_json::Value;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Deepest value that is looked at: the reader goes no deeper.
const DEEP: usize = 128;

/// Checks the text in `places` for a value of `T`. What is no TOML is left to the reader.
pub(super) fn check<T: JsonSchema>(places: &Places) -> Result<(), Error> {
    let Ok(table) = DeTable::parse(places.text()) else { return Ok(()) };
    let root = schemars::schema_for!(T).to_value();
    let span = table.span();
    let table = Spanned::new(span, DeValue::Table(table.into_inner()));
    Shape { root: &root, places }.value(&root, &table, DEEP)
}

struct Shape<'a> {
    root: &'a Value,
    places: &'a Places,
}

impl Shape<'_> {
    fn value(&self, schema: &Value, value: &Spanned<DeValue<'_>>, deep: usize) -> Result<(), Error> {
        let Some(deep) = deep.checked_sub(1) else { return Ok(()) };
        let schema = self.resolved(schema);
        match value.get_ref() {
            DeValue::Table(table) => table.iter().try_for_each(|(key, value)| {
                let named = schema.get("properties").and_then(|named| named.get(key.get_ref().as_ref()));
                named
                    .or_else(|| schema.get("additionalProperties"))
                    .map_or(Ok(()), |inner| self.value(inner, value, deep))
            }),
            _ if schema["type"] == "object" => Err(self.refused(value.span(), value.get_ref())),
            DeValue::Array(items) => items
                .iter()
                .try_for_each(|item| schema.get("items").map_or(Ok(()), |inner| self.value(inner, item, deep))),
            _ => Ok(()),
        }
    }

    /// What a schema comes to: what it refers to, and of something that may be left out, what it is where it is there.
    fn resolved<'s>(&'s self, mut schema: &'s Value) -> &'s Value {
        loop {
            let referred = schema.get("$ref").and_then(Value::as_str).and_then(|path| path.strip_prefix('#'));
            let choice = || schema.get("anyOf")?.as_array()?.iter().find(|one| one["type"] != "null");
            match referred.and_then(|path| self.root.pointer(path)).or_else(choice) {
                Some(next) => schema = next,
                None => return schema,
            }
        }
    }

    fn refused(&self, span: Range<usize>, value: &DeValue<'_>) -> Error {
        let what = match value {
            DeValue::Array(_) => "a list",
            DeValue::String(_) => "a text",
            _ => "a single value",
        };
        self.places.error_unread(
            span,
            &format!("a table belongs here and not {what}: write {{ key = value }} with the names of its keys"),
        )
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

    use super::super::file::File;
    use super::*;

    fn said(text: &str) -> Option<String> {
        check::<File>(&Places::new("a.toml".into(), text.into())).err().map(|error| error.to_string())
    }

    /// Every place of the schema where a table belongs, as a text in which `@` stands there.
    fn places(root: &Value, schema: &Value, text: &str, all: &mut Vec<String>) {
        let shape = Shape { root, places: &Places::default() };
        let schema = shape.resolved(schema);
        if schema["type"] == "array" {
            places(root, &schema["items"], &text.replace('@', "[@]"), all);
        }
        if schema["type"] != "object" {
            return;
        }
        all.push(text.to_owned());
        for (key, inner) in schema["properties"].as_object().into_iter().flatten() {
            places(root, inner, &text.replace('@', &format!("{{ {key} = @ }}")), all);
        }
        if let Some(inner) = schema.get("additionalProperties").filter(|inner| inner.is_object()) {
            places(root, inner, &text.replace('@', "{ x = @ }"), all);
        }
    }

    #[test]
    fn no_table_can_be_written_as_a_list_or_a_text() {
        let root = schemars::schema_for!(File).to_value();
        let mut all = Vec::new();
        for (key, schema) in root["properties"].as_object().unwrap() {
            places(&root, schema, &format!("{key} = @"), &mut all);
        }
        assert!(all.len() >= 18, "{all:#?}");
        for place in all {
            for (wrong, what) in [("[1, 2]", "a list"), ("[]", "a list"), ("\"x\"", "a text"), ("7", "a single value")]
            {
                let text = place.replace('@', wrong);
                let said = said(&text).unwrap_or_else(|| panic!("{text} passes"));
                assert!(said.contains(&format!("a table belongs here and not {what}")), "{text}: {said}");
            }
            assert_eq!(said(&place.replace('@', "{}")), None, "{place}");
        }
    }

    #[test]
    fn what_is_no_table_and_what_nobody_knows_is_left_to_the_reader() {
        for text in
            ["", "gate = { ttl = [1] }", "colour = [1]", "rules = 7", "plugins = { a = { dirs = 7 } }", "no TOML"]
        {
            assert_eq!(said(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_nested_deeply_is_left_to_the_reader() {
        assert_eq!(said(&format!("plugins = {}1{}", "{ a = ".repeat(60), " }".repeat(60))), None);
    }
}
