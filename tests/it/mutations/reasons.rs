//! Why a configuration is weaker than the one it came from: two documents are compared key by key, and a fact that is weaker
//! needs a key of its own that says something else, or says something in one of them only.

use super::order::{Facts, weaker};
use std::collections::BTreeMap;
use toml::{Table, Value};

/// A way to a value: names of keys and places in lists.
type Way = Vec<String>;

fn leaves(value: &Value, way: &Way, found: &mut BTreeMap<Way, String>) {
    let below = |name: String| way.iter().cloned().chain([name]).collect::<Way>();
    match value {
        Value::Table(table) => table.iter().for_each(|(key, value)| leaves(value, &below(key.clone()), found)),
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(at, value)| leaves(value, &below(at.to_string()), found));
            // An empty list says something, too.
            found.insert(way.clone(), format!("{} of them", list.len()));
        }
        value => drop(found.insert(way.clone(), value.to_string())),
    }
}

fn said(text: &str) -> BTreeMap<Way, String> {
    let mut found = BTreeMap::new();
    leaves(&Value::Table(text.parse::<Table>().unwrap()), &Way::new(), &mut found);
    found
}

/// The ways to what only one of two documents says, or each in another way.
fn changed(now: &str, then: &str) -> Vec<Way> {
    let (now, then) = (said(now), said(then));
    let ways = now.keys().chain(then.keys().filter(|way| !now.contains_key(*way)));
    ways.filter(|way| now.get(*way) != then.get(*way)).cloned().collect()
}

/// Whether a change of what stands there can be why a fact is another one.
fn accounts(way: &Way, fact: &str) -> bool {
    let way: Vec<&str> = way.iter().map(String::as_str).collect();
    match (way[..].split_first(), fact) {
        (Some((&"store", _)), "store") => true,
        (Some((&"audit", [key, ..])), fact) => match *key {
            "dir" => fact == "audit",
            "max_file" => fact == "a file of the audit",
            "checkpoint" => fact.starts_with("checkpoints in "),
            _ => fact.starts_with("checkpoints by "),
        },
        (Some((&"gate", ["confirm_parameter"])), fact) => fact == "confirm parameter",
        (Some((&"gate", [key])), fact) => fact.strip_prefix("gate.") == Some(*key),
        (Some((&"rules", _)), fact) => fact.starts_with("calls of ") && fact.contains(" when "),
        (Some((&"budgets", _)), fact) => fact.starts_with("calls of ") && fact.contains(" have "),
        // What the level of a tool is, by the name that it has in the end.
        (Some((&"plugins", [_, part, ..])), fact) if fact.starts_with("level of ") => {
            ["levels", "rename", "tools", "source"].contains(part)
        }
        (Some((&"plugins", [_, part, rest @ ..])), fact) => {
            let Some((_, what)) = fact.split_once("): ") else { return false };
            match *part {
                // Another file is another plug-in.
                "source" => true,
                "dirs" => what.starts_with("reads ") || what.starts_with("writes "),
                "http" => what.starts_with("sends "),
                "env" => what.starts_with("sees ") || what.starts_with("variable "),
                "fixed" => what == "clock" || what == "randomness",
                "declares" => what == "is declared for" || what.starts_with("asks "),
                "levels" => what.starts_with("level of "),
                "tools" => what == "every tool" || what.starts_with("tool "),
                "rename" => what.ends_with(" is listed as"),
                "limits" => what.strip_prefix("limit ") == rest.first().copied(),
                _ => false,
            }
        }
        _ => false,
    }
}

/// The facts by which `now` is weaker, and that no key of its document accounts for.
pub fn unsaid((now_text, now): (&str, &Facts), (then_text, then): (&str, &Facts)) -> Vec<String> {
    let changed = changed(now_text, then_text);
    weaker(now, then).into_iter().filter(|fact| !changed.iter().any(|way| accounts(way, fact))).collect()
}

#[test]
fn what_is_weaker_needs_a_key_of_its_own_that_says_so() {
    use super::order::Fact;
    let then_text = "[gate]\nttl = \"1m\"\nmax_depth = 3\n[plugins.a]\nsource = \"a\"\nlimits = { memory = 1 }\n";
    let facts = |ttl, memory| {
        Facts::from([("gate.ttl".into(), Fact::AtMost(ttl)), ("a (0): limit memory".into(), Fact::AtMost(memory))])
    };
    let then = facts(60, 1);
    let unsaid = |now_text: &str, now: &Facts| unsaid((now_text, now), (then_text, &then));
    for (old, new, ttl, memory, expected) in [
        ("ttl = \"1m\"", "ttl = \"2m\"", 120, 1, vec![]),
        ("ttl = \"1m\"\n", "", 300, 1, vec![]),
        ("memory = 1", "memory = 2", 60, 2, vec![]),
        // Nothing was said, something else was said, and more than was said.
        ("", "", 120, 1, vec!["gate.ttl"]),
        ("max_depth = 3", "max_depth = 4", 120, 1, vec!["gate.ttl"]),
        ("ttl = \"1m\"", "ttl = \"2m\"", 120, 2, vec!["a (0): limit memory"]),
        ("# ", "", 60, 2, vec!["a (0): limit memory"]),
    ] {
        assert_eq!(unsaid(&then_text.replacen(old, new, 1), &facts(ttl, memory)), expected, "{new}");
    }
}
