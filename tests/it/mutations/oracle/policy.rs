//! Rules on arguments, and budgets. What a condition means is not judged here, but that it is the one that is written.

use super::super::order::Fact::Guard;
use super::super::order::Facts;
use super::keys::Keys;
use super::words;
use std::collections::BTreeSet;
use toml::Value;

pub fn rules(written: Vec<Value>, facts: &mut Facts) -> Result<(), String> {
    for value in written {
        let mut rule = Keys::of("rules", value)?;
        let (tools, when) = (tools(&mut rule)?, rule.needed("when")?);
        let reason = rule.text("reason")?;
        let then = match (rule.value("level"), rule.flag("deny")?) {
            (Some(level), None) => match words::level(&level)? {
                0 => return Err("a rule that raises nothing".into()),
                level => format!("raised to {level}"),
            },
            (None, Some(true)) if reason.as_ref().is_some_and(|why| !why.trim().is_empty()) => "denied".into(),
            _ => return Err("a rule that does nothing, or two things, or does not say why".into()),
        };
        rule.end()?;
        let why = reason.unwrap_or_default();
        facts.insert(format!("calls of {tools} are {then} when {when} since {why}"), Guard);
    }
    Ok(())
}

pub fn budgets(written: Vec<Value>, facts: &mut Facts) -> Result<(), String> {
    for value in written {
        let mut budget = Keys::of("budgets", value)?;
        let tools = tools(&mut budget)?;
        let per = words::time(&budget.needed("per")?)?;
        if per < 1000 {
            return Err("a period under a second".into());
        }
        let counts = (budget.number("calls", false)?, budget.text("sum")?, budget.value("at_most"));
        budget.end()?;
        let most = match counts {
            (Some(calls), None, None) => format!("{calls} calls"),
            (None, Some(sum), Some(most)) => {
                let path = sum.strip_prefix("args.").filter(|path| path.split('.').all(is_word));
                let path = path.ok_or_else(|| format!("{sum:?} is no path to an argument"))?;
                format!("{} of args.{path}", words::amount(&most)?)
            }
            _ => return Err("a budget that counts nothing, or two things".into()),
        };
        facts.insert(format!("calls of {tools} have {most} in {per} ms"), Guard);
    }
    Ok(())
}

/// Letters, digits and underscores, and no digit first.
fn is_word(name: &str) -> bool {
    !name.starts_with(|c: char| c.is_ascii_digit())
        && !name.is_empty()
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// A name, a list of them, or `*` by itself.
fn tools(table: &mut Keys) -> Result<String, String> {
    let names: BTreeSet<String> = match table.value("tool") {
        Some(Value::String(name)) => BTreeSet::from([name]),
        Some(Value::Array(names)) => {
            let names = names.into_iter().map(|name| match name {
                Value::String(name) if name != "*" => Ok(name),
                other => Err(format!("{other} is no name of a tool in a list")),
            });
            names.collect::<Result<_, _>>()?
        }
        other => return Err(format!("{other:?} is no tool")),
    };
    if names.is_empty() { Err("no tool at all".into()) } else { Ok(format!("{names:?}")) }
}
