//! Entries in TOML. Whatever does not belong to the entry stays as it was, byte for byte.

use super::entry::STATE;
use super::{Fault, MAX_SERVERS, ServerEntry, too_many};
use serde_json::Value;
use toml_edit::{Array, Document, InlineTable, Item, Table, TableLike, value};

pub(super) fn get(text: &str, servers: &str, name: &str) -> Result<Option<Value>, Fault> {
    // Of a document that can be changed nobody knows any more where each part stood.
    let document = parse(text)?;
    let Some(all) = document.get(servers) else { return Ok(None) };
    let all = all.as_table_like().ok_or_else(|| not_a_table(text, servers, all))?;
    let Some(entry) = all.get(name) else { return Ok(None) };
    let entry = entry.as_table_like().ok_or_else(|| not_a_table(text, name, entry))?;
    Ok(Some(json(entry)))
}

/// Every server, from one look at the text.
pub(super) fn all(text: &str, servers: &str) -> Result<Vec<(String, Value)>, Fault> {
    let document = parse(text)?;
    let Some(all) = document.get(servers) else { return Ok(Vec::new()) };
    let table = all.as_table_like().ok_or_else(|| not_a_table(text, servers, all))?;
    if table.len() > MAX_SERVERS {
        return Err(too_many(text, all.span().map_or(0, |span| span.start)));
    }
    let one = |(name, entry): (&str, &Item)| match entry.as_table_like() {
        Some(table) => Ok((name.to_owned(), json(table))),
        None => Err(not_a_table(text, name, entry)),
    };
    table.iter().map(one).collect()
}

pub(super) fn put(text: &str, servers: &str, name: &str, entry: &ServerEntry) -> Result<String, Fault> {
    let found = get(text, servers, name)?;
    let mut document = parse(text)?.into_mut();
    let all = document.entry(servers).or_insert_with(|| {
        let mut table = Table::new();
        // Its own header would say nothing.
        table.set_implicit(true);
        Item::Table(table)
    });
    let inline = all.is_inline_table();
    let Some(all) = all.as_table_like_mut() else { return Ok(text.to_owned()) };
    // What the user added to an entry of ours, such as a time limit, is kept; of another program's nothing is.
    if found.is_none_or(|found| !ServerEntry::of(&found).starts_what(entry)) {
        all.insert(name, if inline { value(InlineTable::new()) } else { Item::Table(Table::new()) });
    }
    if let Some(table) = all.get_mut(name).and_then(Item::as_table_like_mut) {
        set(table, "command", value(entry.command.as_str()));
        set(table, "args", value(entry.args.iter().collect::<Array>()));
        for (name, text) in &entry.env {
            let env = table.entry("env").or_insert_with(|| value(InlineTable::new()));
            if let Some(env) = env.as_table_like_mut() {
                set(env, name, value(text.as_str()));
            }
        }
        if !entry.env.contains_key(STATE)
            && let Some(env) = table.get_mut("env").and_then(Item::as_table_like_mut)
            && env.remove(STATE).is_some()
            && env.is_empty()
        {
            table.remove("env");
        }
    }
    Ok(document.to_string())
}

pub(super) fn remove(text: &str, servers: &str, name: &str) -> Result<Option<String>, Fault> {
    if get(text, servers, name)?.is_none() {
        return Ok(None);
    }
    let mut document = parse(text)?.into_mut();
    if let Some(all) = document.get_mut(servers).and_then(Item::as_table_like_mut) {
        all.remove(name);
    }
    Ok(Some(document.to_string()))
}

fn parse(text: &str) -> Result<Document<&str>, Fault> {
    Document::parse(text).map_err(|e| {
        let what = e.message().lines().collect::<Vec<_>>().join(", ");
        Fault::at(text, e.span().map_or(0, |span| span.start), what)
    })
}

fn not_a_table(text: &str, name: &str, item: &Item) -> Fault {
    Fault::at(text, item.span().map_or(0, |span| span.start), format!("`{name}` must be a table: write [{name}]"))
}

/// Replaces a value where it stands, with what is written around it.
fn set(table: &mut dyn TableLike, key: &str, new: Item) {
    let Some(found) = table.get_mut(key) else {
        table.insert(key, new);
        return;
    };
    match (found.as_value(), new) {
        (Some(old), Item::Value(mut new)) => {
            *new.decor_mut() = old.decor().clone();
            *found = Item::Value(new);
        }
        (_, new) => *found = new,
    }
}

/// What an entry can hold, as JSON; what has no JSON is left out.
fn json(table: &dyn TableLike) -> Value {
    Value::Object(table.iter().filter_map(|(key, item)| Some((key.to_owned(), json_item(item)?))).collect())
}

fn json_item(item: &Item) -> Option<Value> {
    if let Some(table) = item.as_table_like() {
        return Some(json(table));
    }
    match item.as_value()? {
        toml_edit::Value::String(text) => Some(text.value().clone().into()),
        toml_edit::Value::Boolean(flag) => Some((*flag.value()).into()),
        toml_edit::Value::Integer(number) => Some((*number.value()).into()),
        toml_edit::Value::Array(list) => {
            Some(list.iter().filter_map(|value| json_item(&Item::Value(value.clone()))).collect())
        }
        _ => None,
    }
}
