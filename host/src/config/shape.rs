//! Whether each value is of the kind that belongs in its place, looked at before anything is read: the reader would take the
//! values of a list for those of a table, with no name that could be wrong, would quote a text that stands in a wrong place (a
//! variable's value, where somebody wrote it instead of where it comes from), and speaks of its own types. What has a word of
//! its own for its values, such as a length of time, is left to the reader.

use super::Places;
use crate::{Error, text};
use schemars::JsonSchema;
use serde_json::Value;
use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

/// Deepest value that is looked at: the reader goes no deeper.
const DEEP: usize = 128;
/// What an item of a list has behind the list's own key.
const ITEM: &str = "[]";

/// Checks the text in `places` for a value of `T`. What is no TOML is left to the reader.
pub(super) fn check<T: JsonSchema>(places: &Places) -> Result<(), Error> {
    let Ok(table) = DeTable::parse(places.text()) else { return Ok(()) };
    let root = schemars::schema_for!(T).to_value();
    let span = table.span();
    let table = Spanned::new(span, DeValue::Table(table.into_inner()));
    Shape { root: &root, places }.value(&root, "", &table, DEEP)
}

struct Shape<'a> {
    root: &'a Value,
    places: &'a Places,
}

impl Shape<'_> {
    /// `path`: the keys on the way, with dots.
    fn value(&self, schema: &Value, path: &str, value: &Spanned<DeValue<'_>>, deep: usize) -> Result<(), Error> {
        let Some(deep) = deep.checked_sub(1) else { return Ok(()) };
        let schema = self.resolved(schema);
        let found = value.get_ref();
        let is = |kind| is_of(schema, kind);
        if let Some(words) = words(schema) {
            let fits = matches!(found, DeValue::String(text) if words.contains(&text.as_ref()));
            let all: Vec<_> = words.iter().map(|word| format!("\"{word}\"")).collect();
            return match fits {
                true => Ok(()),
                false => Err(self.error(value, &format!("this is none of its words: write {}", all.join(" or ")))),
            };
        }
        match found {
            DeValue::Table(table) if !is("array") && !is("string") && !is("boolean") && !is("integer") => {
                table.iter().try_for_each(|(key, value)| {
                    let key = key.get_ref().as_ref();
                    let inner = schema.get("properties").and_then(|named| named.get(key));
                    let path = if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
                    inner
                        .or_else(|| schema.get("additionalProperties"))
                        .map_or(Ok(()), |inner| self.value(inner, &path, value, deep))
                })
            }
            DeValue::Array(items) if !is("object") && !is("string") && !is("boolean") && !is("integer") => {
                items.iter().try_for_each(|item| {
                    let of_item = |inner| self.value(inner, &format!("{path}{ITEM}"), item, deep);
                    schema.get("items").map_or(Ok(()), of_item)
                })
            }
            // Its reader has better words.
            _ if schema.get("examples").is_some() => Ok(()),
            _ if is("object") => Err(self.refused(schema, path, value)),
            DeValue::Table(_) if is("array") && is_of(self.resolved(&schema["items"]), "object") => {
                let path = path.replace(ITEM, "");
                let inline = self.places.text().get(value.span()).is_some_and(|text| text.starts_with('{'));
                let write = match (inline, path.rsplit('.').next()) {
                    (true, Some(key)) => format!("{} = [{{ … }}]", text::escape(key)),
                    _ => format!("[[{}]] with two brackets", text::escape(&path)),
                };
                let what = format!("a table stands here where a list of tables belongs: write {write}");
                Err(self.error(value, &what))
            }
            _ if is("array") => Err(self.unlike("a list", schema, path, value)),
            DeValue::String(_) if is("string") => Ok(()),
            _ if is("string") => Err(self.unlike("a text in quotes", schema, path, value)),
            DeValue::Boolean(_) if is("boolean") => Ok(()),
            _ if is("boolean") => Err(self.unlike("true or false", schema, path, value)),
            DeValue::Integer(number) if is("integer") => self.within(schema, number, value),
            _ if is("integer") => Err(self.unlike("a whole number", schema, path, value)),
            _ => Ok(()),
        }
    }

    /// A number that is only bounded by what its type holds, or is none that any type holds. Others have a word of their own.
    fn within(&self, schema: &Value, number: &DeInteger<'_>, value: &Spanned<DeValue<'_>>) -> Result<(), Error> {
        let number = i128::from_str_radix(number.as_str(), number.radix()).ok();
        if schema.get("format").is_none() && number.is_some_and(|number| i64::try_from(number).is_ok()) {
            return Ok(());
        }
        let bound = |key, or: i128| schema.get(key).and_then(Value::as_i64).map_or(or, i128::from);
        let (least, most) = (bound("minimum", 0), bound("maximum", i64::MAX.into()));
        match number.is_some_and(|number| (least..=most).contains(&number)) {
            true => Ok(()),
            false => Err(self.error(value, &format!("out of range: write a number from {least} to {most}"))),
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

    fn refused(&self, schema: &Value, path: &str, value: &Spanned<DeValue<'_>>) -> Error {
        let what = match value.get_ref() {
            DeValue::Array(items)
                if !items.is_empty() && items.iter().all(|item| matches!(item.get_ref(), DeValue::Table(_))) =>
            {
                let name = text::escape(path);
                let what =
                    format!("a list of tables stands here where one table belongs: write [{name}] with one bracket");
                return self.error(value, &what);
            }
            DeValue::Array(_) => "a list",
            DeValue::String(_) => "a text",
            _ => "a single value",
        };
        let example = self.example(schema, DEEP);
        self.error(value, &format!("a table belongs here and not {what}: write {}", assigned(path, &example)))
    }

    fn unlike(&self, belongs: &str, schema: &Value, path: &str, value: &Spanned<DeValue<'_>>) -> Error {
        let what = match value.get_ref() {
            DeValue::String(_) => "a text",
            DeValue::Integer(_) => "a whole number",
            DeValue::Float(_) => "a number with a fraction",
            DeValue::Boolean(_) => "true or false",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        };
        let example = match value.get_ref() {
            // Only the quotes are too much.
            DeValue::String(text)
                if is_of(schema, "integer") && text.len() < 10 && text.bytes().all(|b| b.is_ascii_digit()) =>
            {
                text.trim_start_matches('0').to_owned()
            }
            _ => String::new(),
        };
        let example = if example.is_empty() { self.example(schema, DEEP) } else { example };
        let what = format!("{what} stands here where {belongs} belongs: write {}", assigned(path, &example));
        self.error(value, &what)
    }

    /// What could stand there.
    fn example(&self, schema: &Value, deep: usize) -> String {
        let schema = self.resolved(schema);
        let Some(deep) = deep.checked_sub(1) else { return "…".to_owned() };
        if let Some(words) = words(schema) {
            return words.first().map_or_else(|| "\"…\"".to_owned(), |word| format!("\"{word}\""));
        }
        if let Some(example) = schema.get("examples").and_then(|all| all.get(0)) {
            return example.to_string();
        }
        let properties = schema.get("properties").and_then(Value::as_object);
        let pair = |(key, inner): (&str, &Value)| format!("{key} = {}", self.example(inner, deep));
        if let Some(properties) = properties {
            let needed = schema.get("required").and_then(Value::as_array);
            let needed = needed.into_iter().flatten().filter_map(Value::as_str);
            let pairs: Vec<_> = needed.filter_map(|key| Some(pair((key, properties.get(key)?)))).collect();
            let first = || properties.iter().next().map(|(key, inner)| pair((key, inner))).unwrap_or_default();
            return format!("{{ {} }}", if pairs.is_empty() { first() } else { pairs.join(", ") });
        }
        match schema {
            _ if is_of(schema, "object") => {
                format!("{{ {} }}", pair(("NAME", schema.get("additionalProperties").unwrap_or(&Value::Null))))
            }
            _ if is_of(schema, "array") => {
                format!("[{}]", self.example(schema.get("items").unwrap_or(&Value::Null), deep))
            }
            _ if is_of(schema, "boolean") => "true".to_owned(),
            _ if is_of(schema, "integer") => "1".to_owned(),
            _ => "\"…\"".to_owned(),
        }
    }

    fn error(&self, value: &Spanned<DeValue<'_>>, what: &str) -> Error {
        self.places.error_unread(value.span(), what)
    }
}

/// Whether a schema is of one kind, which may be left out.
fn is_of(schema: &Value, kind: &str) -> bool {
    match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().any(|one| one == kind),
        one => one.is_some_and(|one| one == kind),
    }
}

/// The words that a value is one of, where it is always a word.
fn words(schema: &Value) -> Option<Vec<&str>> {
    schema.get("oneOf")?.as_array()?.iter().map(|one| one.get("const")?.as_str()).collect()
}

/// A value under its key, in a list where it is an item of one.
fn assigned(path: &str, value: &str) -> String {
    let key = path.rsplit('.').next().unwrap_or(path);
    match key.strip_suffix(ITEM) {
        Some(key) => format!("{} = [{value}]", text::escape(key)),
        None => format!("{} = {value}", text::escape(key)),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

    use super::super::file::File;
    use super::super::{Dirs, Lock};
    use super::*;
    use std::path::Path;

    fn said(text: &str) -> Option<String> {
        check::<File>(&Places::new("a.toml".into(), text.into())).err().map(|error| error.to_string())
    }

    #[test]
    fn no_table_can_be_written_as_a_list_or_a_text() {
        let all: Vec<_> = all_values().into_iter().filter(|(_, table)| *table).collect();
        assert!(all.len() >= 18, "{all:#?}");
        for (place, _) in all {
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
        for text in ["", "gate = { ttl = 5 }", "colour = [1]", "gate = { max_depth = 0 }", "no TOML"] {
            assert_eq!(said(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_written_otherwise_says_what_to_write() {
        let plugin = |line: &str| format!("[plugins.files]\nsource = \"x\"\n{line}\n");
        for (text, write) in [
            (plugin("dirs = [\"./workspace\"]"), "write dirs = [{ host = \"…\", guest = \"…\" }]"),
            (plugin("dirs = \"./workspace\""), "write dirs = [{ host = \"…\", guest = \"…\" }]"),
            (plugin("http = [\"api.example.com\"]"), "write http = [{ host = \"…\" }]"),
            (plugin("http = [{ host = \"a.example\", port = \"443\" }]"), "write port = 443"),
            (plugin("http = [{ host = \"a.example\", port = 70000 }]"), "write a number from 0 to 65535"),
            (plugin("http = [{ host = \"a.example\", methods = \"GET\" }]"), "write methods = [\"…\"]"),
            (plugin("http = [{ host = \"a.example\", scheme = \"ftp\" }]"), "write \"https\" or \"http\""),
            (plugin("env = { API_KEY = 5 }"), "write API_KEY = { env = \"…\" }"),
            (plugin("env = [\"API_KEY\"]"), "write env = { NAME = { env = \"…\" } }"),
            (plugin("fixed = { random = \"x\" }"), "write random = 1"),
            (plugin("fixed = { random = -1 }"), "write a number from 0 to"),
            (plugin("tools = \"list_files\""), "write tools = [\"…\"]"),
            (plugin("[plugins.files.http]\nhost = \"a.example\""), "write [[plugins.files.http]] with two brackets"),
            ("[rules]\ntool = \"*\"".into(), "write [[rules]] with two brackets"),
            ("[[budgets]]\ncalls = \"2\"".into(), "write calls = 2"),
            ("[[gate]]\nttl = \"5m\"".into(), "write [gate] with one bracket"),
            ("[audit]\ncheckpoint_command = \"/bin/x\"".into(), "write checkpoint_command = [\"…\"]"),
        ] {
            let said = said(&text).unwrap_or_else(|| panic!("{text} passes"));
            assert!(said.contains(write), "{text}: {said}");
        }
    }

    /// Every place of a value, as a text in which `@` stands there, and whether a table belongs there; what is needed beside it
    /// is not in the text.
    fn all_values() -> Vec<(String, bool)> {
        let root = schemars::schema_for!(File).to_value();
        let mut all = Vec::new();
        for (key, schema) in root["properties"].as_object().unwrap() {
            values(&root, schema, &format!("{key} = @"), &mut all);
        }
        all
    }

    fn values(root: &Value, schema: &Value, text: &str, all: &mut Vec<(String, bool)>) {
        let shape = Shape { root, places: &Places::default() };
        let schema = shape.resolved(schema);
        all.push((text.to_owned(), schema["type"] == "object"));
        if let Some(items) = schema.get("items") {
            values(root, items, &text.replace('@', "[@]"), all);
        }
        for (key, inner) in schema["properties"].as_object().into_iter().flatten() {
            values(root, inner, &text.replace('@', &format!("{{ {key} = @ }}")), all);
        }
        if let Some(inner) = schema.get("additionalProperties").filter(|inner| inner.is_object()) {
            values(root, inner, &text.replace('@', "{ x = @ }"), all);
        }
    }

    #[test]
    fn whatever_stands_at_any_key_nobody_reads_the_words_of_the_program() {
        let all = all_values();
        assert!(all.len() > 80, "{all:#?}");
        let home = Path::new("/nowhere");
        let user = Dirs { config: home.into(), state: home.into(), cache: home.into() };
        let foreign = [
            "expected ",
            "struct",
            "sequence",
            "a map",
            "i64",
            "u64",
            "u32",
            "u16",
            "variant",
            "invalid ",
            "integer",
            "string",
            "boolean",
            "floating",
            "null",
            "EOF",
        ];
        let wrong = [
            "5",
            "0",
            "-1",
            "9223372036854775807",
            "99999999999999999999999",
            "0x1F",
            "1.5",
            "nan",
            "true",
            "\"x\"",
            "\"\"",
            "\"5\"",
            "[]",
            "[1]",
            "[\"x\"]",
            "[[]]",
            "[{}]",
            "{}",
            "{ x = 1 }",
            "{ x = {} }",
            "2026-01-01",
        ];
        let mut refused = 0;
        for (place, _) in &all {
            for value in wrong {
                let text = place.replace('@', value);
                let Err(error) =
                    crate::config::Config::of_text(Path::new("a.toml"), text.clone(), Lock::default(), &user)
                else {
                    continue;
                };
                refused += 1;
                let said = error.to_string();
                let sentence = said.lines().next().unwrap();
                // This lists the keys that there are.
                let sentence = sentence.split_once(", expected one of `").map_or(sentence, |(sentence, _)| sentence);
                let sentence = sentence.split_once("`, expected `").map_or(sentence, |(sentence, _)| sentence);
                assert!(!foreign.iter().any(|word| sentence.contains(word)), "{text}: {sentence}");
            }
        }
        assert!(refused > 1000, "{refused}");
    }

    #[test]
    fn what_is_nested_deeply_is_left_to_the_reader() {
        assert_eq!(said(&format!("plugins = {}1{}", "{ a = ".repeat(60), " }".repeat(60))), None);
    }
}
