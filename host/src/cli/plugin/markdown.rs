//! What a plug-in says of its tools as a page for people, in Markdown: names, levels, arguments, results. Its texts are
//! quoted, never obeyed: no markup of theirs but code in backticks comes through.

mod quote;
#[cfg(test)]
mod read;

use super::super::tools::what_happens;
use super::asked;
use crate::plugin::Declared;
use crate::tool::Declaration;
use quote::{Within, code, prose};
use serde_json::Value;

/// How deep objects in objects are listed; what lies deeper is told as `object`.
const DEEPEST: usize = 4;

/// What it asks for; all tools: an overview, then each.
pub(super) fn page(declared: Option<&Declared>, tools: &[Declaration]) -> String {
    let mut page = needs(declared);
    page += "\n| tool | level | a call |\n| --- | --- | --- |\n";
    for tool in tools {
        let (name, happens) = (&tool.name, what_happens(tool.level, tool.critical));
        page += &format!("| [`{name}`](#{name}) | {} | {happens} |\n", level(tool));
    }
    for tool in tools {
        page += &one(tool);
    }
    page
}

fn needs(declared: Option<&Declared>) -> String {
    match declared {
        None => "It does not say what it needs: whoever runs it does.\n".to_owned(),
        Some(declared) if declared.is_empty() => "It asks for nothing.\n".to_owned(),
        Some(declared) => {
            let mut table = "| asks for | which | at most |\n| --- | --- | --- |\n".to_owned();
            for [kind, which, most] in asked::rows(declared) {
                let which = if which == "*" { "any".to_owned() } else { code(&which, Within::Cell) };
                table += &format!("| {kind} | {which} | {} |\n", cell(&most));
            }
            table
        }
    }
}

fn level(tool: &Declaration) -> String {
    let critical = if tool.critical { ", critical" } else { "" };
    format!("`{}` {}{critical}", tool.level.name(), tool.level.number())
}

fn one(tool: &Declaration) -> String {
    let mut shown = format!("\n### `{}`\n\n", tool.name);
    let title = tool.title.as_deref().filter(|title| !title.trim().is_empty());
    let title = title.map(|title| format!("**{}.** ", prose(title, Within::Paragraph))).unwrap_or_default();
    shown += &format!("{title}{}\n\n", prose(&tool.description, Within::Paragraph));
    shown += &format!("Level {}: {}.\n", level(tool), what_happens(tool.level, tool.critical));
    shown += &members("argument", &tool.input_schema, "It takes no arguments.");
    if let Some(schema) = &tool.output_schema {
        shown += &members("result", schema, "It promises no keys of its own.");
    }
    shown
}

/// A table of an object's members.
fn members(head: &str, schema: &str, none: &str) -> String {
    let mut rows = Vec::new();
    let schema: Value = serde_json::from_str(schema).unwrap_or_default();
    collect(&schema, "", DEEPEST, &mut rows);
    if rows.is_empty() {
        return format!("\n{none}\n");
    }
    let mut table = format!("\n| {head} | type | |\n| --- | --- | --- |\n");
    for [name, kind, about] in rows {
        let about = if about.is_empty() { about } else { format!("{about} ") };
        table += &format!("| {name} | {kind} | {about}|\n");
    }
    table
}

/// The members of an object, those that must be there first and in their order, each followed by its own members.
fn collect(schema: &Value, path: &str, depth: usize, rows: &mut Vec<[String; 3]>) {
    let Some(properties) = schema.get("properties").and_then(Value::as_object).filter(|_| depth > 0) else { return };
    let required: Vec<&str> =
        schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let listed = required.iter().filter_map(|name| properties.get_key_value(*name));
    let others = properties.iter().filter(|(name, _)| !required.contains(&name.as_str()));
    for (name, part) in listed.chain(others) {
        let about = part.get("description").and_then(Value::as_str).map(cell).unwrap_or_default();
        let optional = (!required.contains(&name.as_str())).then(|| "optional".to_owned());
        let default = part.get("default").map(|value| format!("default {}", code(&value.to_string(), Within::Cell)));
        let mut notes = optional.into_iter().chain(default).collect::<Vec<_>>().join(", ");
        if !notes.is_empty() && !about.is_empty() {
            notes += ". ";
        }
        let place = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        rows.push([code(&place, Within::Cell), kind(part), notes + &about]);
        match part.get("items") {
            Some(items) => collect(items, &format!("{place}[]"), depth - 1, rows),
            None => collect(part, &place, depth - 1, rows),
        }
    }
}

/// The type of a value, with its limits.
fn kind(schema: &Value) -> String {
    let one_of =
        |values: &[Value], word: &dyn Fn(&Value) -> String| values.iter().map(word).collect::<Vec<_>>().join(" or ");
    // A text stands for itself, without its quotation marks.
    let value = |value: &Value| code(value.as_str().unwrap_or(&value.to_string()), Within::Cell);
    if let Some(only) = schema.get("const") {
        return value(only);
    }
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return one_of(values, &value);
    }
    for key in ["oneOf", "anyOf"] {
        if let Some(parts) = schema.get(key).and_then(Value::as_array) {
            return one_of(parts, &kind);
        }
    }
    match schema.get("type") {
        Some(Value::Array(types)) => one_of(types, &|word| word.as_str().map_or_else(|| "anything".to_owned(), cell)),
        Some(Value::String(word)) => match word.as_str() {
            "string" => {
                let pattern = schema.get("pattern").and_then(Value::as_str);
                let pattern =
                    pattern.map(|pattern| format!(", matching {}", code(pattern, Within::Cell))).unwrap_or_default();
                format!("text{}{pattern}", span(schema, ["minLength", "maxLength"], "characters"))
            }
            "array" => {
                let items = schema.get("items").map_or_else(|| "anything".to_owned(), kind);
                format!("list of {items}{}", span(schema, ["minItems", "maxItems"], "items"))
            }
            "integer" | "number" => {
                let over = number(schema, "exclusiveMinimum").map(|low| format!(", above {low}")).unwrap_or_default();
                let under =
                    number(schema, "exclusiveMaximum").map(|high| format!(", below {high}")).unwrap_or_default();
                format!("{word}{over}{}{under}", span(schema, ["minimum", "maximum"], ""))
            }
            other => cell(other),
        },
        _ => "anything".to_owned(),
    }
}

fn cell(text: &str) -> String {
    prose(text, Within::Cell)
}

fn number<'a>(schema: &'a Value, key: &str) -> Option<&'a Value> {
    schema.get(key).filter(|value| value.is_number())
}

fn span(schema: &Value, [low, high]: [&str; 2], unit: &str) -> String {
    let of = |key: &str| number(schema, key).map(|value| thousands(&value.to_string()));
    let limits = match (of(low), of(high)) {
        (Some(low), Some(high)) if low == high => format!(", {low}"),
        (Some(low), Some(high)) => format!(", {low} to {high}"),
        (Some(low), None) => format!(", at least {low}"),
        (None, Some(high)) => format!(", at most {high}"),
        (None, None) => return String::new(),
    };
    if unit.is_empty() { limits } else { format!("{limits} {unit}") }
}

/// `4096` as `4,096`; what is no whole number stays.
fn thousands(number: &str) -> String {
    if !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return number.to_owned();
    }
    let mut shown = String::new();
    for (at, digit) in number.chars().enumerate() {
        if at > 0 && (number.len() - at).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Level;
    use serde_json::json;

    #[track_caller]
    fn check(schema: Value, expected: &str) {
        assert_eq!(kind(&schema), expected);
    }

    #[test]
    fn a_type_is_told_with_its_limits() {
        check(json!({"type": "string", "minLength": 1, "maxLength": 4096}), "text, 1 to 4,096 characters");
        check(json!({"type": "string", "pattern": "^a|b$"}), r"text, matching `^a\|b$`");
        check(json!({"type": "integer", "minimum": 1}), "integer, at least 1");
        check(json!({"type": "number", "exclusiveMinimum": 0, "maximum": 9.5}), "number, above 0, at most 9.5");
        check(
            json!({"type": "array", "items": {"type": "integer"}, "maxItems": 1000}),
            "list of integer, at most 1,000 items",
        );
        check(json!({"enum": ["a", 1]}), "`a` or `1`");
        check(json!({"anyOf": [{"type": "string"}, {"type": "null"}]}), "text or null");
        check(json!({"type": ["string", "null"]}), "string or null");
        check(json!({}), "anything");
    }

    #[test]
    fn what_must_be_there_comes_first_and_what_lies_inside_follows() {
        let schema = json!({"type": "object", "required": ["z"], "properties": {
            "a": {"type": "boolean", "default": false, "description": "Whether."},
            "z": {"type": "array", "items": {"type": "object", "required": ["n"], "properties": {"n": {"type": "string"}}}},
        }});
        let table = members("argument", &schema.to_string(), "none");
        let rows: Vec<&str> = table.lines().skip(3).collect();
        let expected = [
            "| `z` | list of object | |",
            "| `z[].n` | text | |",
            "| `a` | boolean | optional, default `false`. Whether. |",
        ];
        assert_eq!(rows, expected);
        assert_eq!(members("argument", "{}", "none"), "\nnone\n");
    }

    #[test]
    fn a_plug_ins_text_is_quoted_and_not_obeyed() {
        let tool = Declaration {
            name: "t".into(),
            title: Some("<i>".into()),
            description: "| a |".into(),
            input_schema: "{}".into(),
            output_schema: None,
            level: Level::ApprovalRequired,
            critical: true,
        };
        let page = page(None, &[tool]);
        assert!(page.contains(r"**\<i\>.** \| a \|") && page.contains("It takes no arguments."), "{page}");
        assert!(
            page.contains("| [`t`](#t) | `approval_required` 3, critical | always needs a confirmation |"),
            "{page}"
        );
    }
}
