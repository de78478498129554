//! Entries in JSON, with or without comments. Whatever does not belong to the entry stays as it was, byte for byte.

use super::entry::STATE;
use super::{Fault, Fixed, MAX_SERVERS, ServerEntry, too_many};
use jsonc_parser::ast::{ObjectProp, Value as Ast};
use jsonc_parser::common::Ranged as _;
use jsonc_parser::cst::{CstInputValue, CstObject, CstRootNode};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde_json::Value;
use std::collections::BTreeSet;

/// What clients read: JSON, comments and commas before a closing bracket.
const READ: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

pub(super) fn get(text: &str, servers: &str, name: &str) -> Result<Option<Value>, Fault> {
    look(text, servers, name)
}

/// Every server, from one look at the text.
pub(super) fn all(text: &str, servers: &str) -> Result<Vec<(String, Value)>, Fault> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &READ)
        .map_err(|e| Fault::at(text, e.range().start, e.kind().to_string()))?;
    let Some(root) = parsed.value else { return look(text, servers, "").map(|_| Vec::new()) };
    let Some(all) = member(text, &root, None, servers)? else { return Ok(Vec::new()) };
    let Ast::Object(object) = &all.value else { return look(text, servers, "").map(|_| Vec::new()) };
    if object.properties.len() > MAX_SERVERS {
        return Err(too_many(text, all.start()));
    }
    once(text, &all.value)?;
    let one = |property: &ObjectProp<'_>| (property.name.as_str().to_owned(), Value::from(property.value.clone()));
    Ok(object.properties.iter().map(one).collect())
}

/// No object in the value has a member twice: one reader takes the first, another the last.
fn once(text: &str, value: &Ast<'_>) -> Result<(), Fault> {
    match value {
        Ast::Object(object) => {
            let mut names = BTreeSet::new();
            for property in &object.properties {
                let name = property.name.as_str();
                if !names.insert(name) {
                    return Err(second(text, property, name));
                }
                once(text, &property.value)?;
            }
            Ok(())
        }
        Ast::Array(list) => list.elements.iter().try_for_each(|element| once(text, element)),
        _ => Ok(()),
    }
}

fn second(text: &str, property: &ObjectProp<'_>, name: &str) -> Fault {
    Fault::at(text, property.start(), format!("\"{name}\" stands here a second time: keep one of the two"))
}

pub(super) fn put(
    text: &str,
    servers: &str,
    name: &str,
    entry: &ServerEntry,
    fixed: &[(&str, Fixed)],
) -> Result<String, Fault> {
    let found = look(text, servers, name)?;
    // A file without a value is one that its client has not filled yet.
    let begun = if text.trim().is_empty() { "{}\n" } else { text };
    let root = parse(begun)?;
    let servers = root.object_value_or_set().object_value_or_set(servers);
    match servers.object_value(name) {
        // What the user added to an entry of ours, such as a time limit, is kept; of another program's nothing is.
        Some(object) if found.is_some_and(|found| ServerEntry::of(&found).starts_what(entry)) => {
            set(&object, entry, fixed)
        }
        _ => {
            let whole = CstInputValue::Object(members(entry, fixed));
            match servers.get(name) {
                Some(property) => property.set_value(whole),
                None => drop(servers.append(name, whole)),
            }
        }
    }
    Ok(root.to_string())
}

pub(super) fn remove(text: &str, servers: &str, name: &str) -> Result<Option<String>, Fault> {
    if look(text, servers, name)?.is_none() {
        return Ok(None);
    }
    let root = parse(text)?;
    let property = root.object_value().and_then(|root| root.object_value(servers)).and_then(|all| all.get(name));
    let Some(property) = property else { return Ok(None) };
    property.remove();
    Ok(Some(root.to_string()))
}

fn parse(text: &str) -> Result<CstRootNode, Fault> {
    CstRootNode::parse(text, &READ).map_err(|e| Fault::at(text, e.range().start, e.kind().to_string()))
}

/// The entry, where the file is one that can be changed: whole, and without two meanings.
fn look(text: &str, servers: &str, name: &str) -> Result<Option<Value>, Fault> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &READ)
        .map_err(|e| Fault::at(text, e.range().start, e.kind().to_string()))?;
    let Some(root) = parsed.value else {
        return match text.trim() {
            "" => Ok(None),
            _ => Err(Fault::at(text, 0, "there is nothing but comments here: add {}")),
        };
    };
    let Some(all) = member(text, &root, None, servers)? else { return Ok(None) };
    let Some(entry) = member(text, &all.value, Some(servers), name)? else { return Ok(None) };
    once(text, &entry.value)?;
    Ok(Some(Value::from(entry.value.clone())))
}

/// The one member of that name of an object.
fn member<'a, 'b>(
    text: &str,
    value: &'b Ast<'a>,
    of: Option<&str>,
    name: &str,
) -> Result<Option<&'b ObjectProp<'a>>, Fault> {
    let Ast::Object(object) = value else {
        let what = of.map_or_else(|| "the file".to_owned(), |of| format!("\"{of}\""));
        return Err(Fault::at(text, value.start(), format!("{what} must be an object: {{ … }}")));
    };
    let mut same = object.properties.iter().filter(|property| property.name.as_str() == name);
    let first = same.next();
    if let Some(again) = same.next() {
        return Err(second(text, again, name));
    }
    Ok(first)
}

fn members(entry: &ServerEntry, fixed: &[(&str, Fixed)]) -> Vec<(String, CstInputValue)> {
    let text = |text: &str| CstInputValue::String(text.to_owned());
    let mut members = Vec::new();
    for (key, value) in fixed {
        if let Fixed::Text(value) = value {
            members.push(((*key).to_owned(), text(value)));
        }
    }
    members.push(("command".to_owned(), text(&entry.command)));
    members.push(("args".to_owned(), CstInputValue::Array(entry.args.iter().map(|arg| text(arg)).collect())));
    if !entry.env.is_empty() {
        let env = entry.env.iter().map(|(name, value)| (name.clone(), text(value))).collect();
        members.push(("env".to_owned(), CstInputValue::Object(env)));
    }
    for (key, value) in fixed {
        if let Fixed::All = value {
            members.push(((*key).to_owned(), CstInputValue::Array(vec![text("*")])));
        }
    }
    members
}

/// Sets what an entry consists of and leaves its other members.
fn set(object: &CstObject, entry: &ServerEntry, fixed: &[(&str, Fixed)]) {
    for (key, value) in members(entry, fixed) {
        let found = object.get(&key);
        match (found, value) {
            // The user may have set more variables, or let in fewer tools.
            (Some(env), CstInputValue::Object(ours)) if env.object_value().is_some() => {
                let env = env.object_value_or_set();
                for (name, value) in ours {
                    match env.get(&name) {
                        Some(found) => found.set_value(value),
                        None => drop(env.append(&name, value)),
                    }
                }
            }
            (Some(tools), CstInputValue::Array(_)) if key == "tools" && tools.array_value().is_some() => {}
            (Some(found), value) => found.set_value(value),
            (None, value) => drop(object.append(&key, value)),
        }
    }
    if !entry.env.contains_key(STATE)
        && let Some(env) = object.object_value("env")
        && let Some(state) = env.get(STATE)
    {
        state.remove();
        if let (true, Some(env)) = (env.properties().is_empty(), object.get("env")) {
            env.remove();
        }
    }
}

/// The names in a list; none: there is no such list.
pub(super) fn listed(text: &str, [object, list]: [&str; 2]) -> Option<BTreeSet<String>> {
    let root = parse(text).ok()?.object_value()?;
    let list = root.object_value(object)?.array_value(list)?;
    let names = list.elements().into_iter().filter_map(|element| element.to_serde_value());
    Some(names.filter_map(|name| name.as_str().map(str::to_owned)).collect())
}
