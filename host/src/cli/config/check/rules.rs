//! The rules and budgets in force.

use super::Seen;
use crate::cli::print::{Table, line, loud, out};
use crate::policy::{Rule, Then};
use crate::text;
use serde_json::{Value, json};

fn then(rule: &Rule) -> String {
    match rule.then() {
        Then::Raise(level) => format!("the call is {level} at least"),
        Then::Deny => "denied".to_owned(),
    }
}

pub(super) fn print(seen: &Seen) -> anyhow::Result<()> {
    let (rules, budgets) = (&seen.config.rules, &seen.config.budgets);
    if rules.is_empty() && budgets.is_empty() {
        line("there is no rule on arguments and no budget")?;
    }
    if !rules.is_empty() {
        let mut table = Table::new(["RULE", "TOOL", "WHEN", "THEN"]);
        for (number, rule) in (1..).zip(rules) {
            let then = if rule.why().is_empty() { then(rule) } else { format!("{}: {}", then(rule), rule.why()) };
            table.row([number.to_string(), rule.tools().to_string(), rule.when().to_owned(), then]);
        }
        out(&table.to_string())?;
        line("a call that a rule has no answer for is denied")?;
        for (number, names) in unlisted(seen) {
            let what = format!("no tool of rule {number} lists {}: look whether it is spelt so", names.join(", "));
            line(&loud(&text::escape(&what)))?;
        }
        for tool in seen.host.tools() {
            let Some(denied) = seen.host.denied_by(&tool.name).filter(|denied| denied.no_answer) else { continue };
            let why = denied.lacks.map(|argument| format!(" (its schema allows no {argument})")).unwrap_or_default();
            let what = format!(
                "rule {} has no answer for any call of {}{why}: all of them are denied; give it a rule of its own",
                denied.rule, tool.name
            );
            line(&loud(&text::escape(&what)))?;
        }
    }
    if !budgets.is_empty() {
        if !rules.is_empty() {
            line("")?;
        }
        let mut table = Table::new(["BUDGET", "TOOL", "EACH OWNER MAY"]);
        for (number, budget) in (1..).zip(budgets) {
            table.row([number.to_string(), budget.tools().to_string(), budget.to_string()]);
        }
        out(&table.to_string())?;
        for (number, budget) in (1..).zip(budgets) {
            if let Some(name) = seen.host.unlisted_sum(budget) {
                let what = format!("no tool of budget {number} lists {name}: look whether it is spelt so");
                line(&loud(&text::escape(&what)))?;
            }
        }
    }
    Ok(())
}

/// Rules that read arguments which none of their tools lists.
fn unlisted(seen: &Seen) -> Vec<(usize, Vec<String>)> {
    let all = (1..).zip(&seen.config.rules).map(|(number, rule)| (number, seen.host.unlisted(rule)));
    all.filter(|(_, names)| !names.is_empty()).collect()
}

pub(super) fn json(seen: &Seen) -> Value {
    let rules = (1..).zip(&seen.config.rules).map(|(number, rule): (usize, _)| {
        json!({
            "rule": number, "tool": rule.tools().to_string(), "when": rule.when(), "then": then(rule), "reason": rule.why(),
            "unlisted": seen.host.unlisted(rule),
        })
    });
    let budgets = (1..).zip(&seen.config.budgets).map(|(number, budget): (usize, _)| {
        json!({"budget": number, "tool": budget.tools().to_string(), "allows": budget.to_string()})
    });
    json!({"rules": rules.collect::<Vec<_>>(), "budgets": budgets.collect::<Vec<_>>()})
}
