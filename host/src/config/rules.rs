//! Rules and budgets as they are written, and what they come to. Whether their tools are there is found when those are loaded:
//! see [`Config::about_policy`](super::Config::about_policy).

use super::file::At;
use super::units::{Count, Length, LevelWord};
use super::{Config, Places};
use crate::policy::{Amount, Budget, Rule, Tools};
use crate::{Error, text};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

/// A rule on arguments. One of `level` and `deny` says what happens where `when` is true.
#[derive(serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RuleTable {
    /// The tools that it is about, by their listed names; "*" for all.
    tool: At<ToolsWord>,
    /// A condition in CEL over args, owner and tool, such as "args.amount > 100". A call that it has no answer for is denied.
    when: At<String>,
    /// Raises the call to this level. Never lowers one.
    level: Option<At<LevelWord>>,
    /// Write true: the call does not run.
    deny: Option<At<bool>>,
    /// Why, for the agent and the log. Needed with `deny`.
    reason: Option<At<String>>,
}

/// How much each owner may do in a period. Either `calls`, or `sum` with `at_most`.
#[derive(serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct BudgetTable {
    /// The tools that are counted together, by their listed names; "*" for all.
    tool: At<ToolsWord>,
    /// So many runs.
    calls: Option<At<Count>>,
    /// The argument that is added up, such as "args.amount".
    sum: Option<At<String>>,
    /// The most that the sum may come to. In quotes where it has a fraction.
    at_most: Option<At<AmountWord>>,
    /// The period, such as "24h".
    per: At<Length>,
}

/// A name, or a list of them.
pub(super) struct ToolsWord(Tools);

impl<'de> Deserialize<'de> for ToolsWord {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = ToolsWord;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a tool, a list of names, or \"*\" for all")
            }
            fn visit_str<E: de::Error>(self, name: &str) -> Result<ToolsWord, E> {
                Ok(ToolsWord(name.into()))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<ToolsWord, A::Error> {
                let mut names = Vec::new();
                while let Some(name) = seq.next_element::<String>()? {
                    if name == "*" {
                        return Err(de::Error::custom("\"*\" stands alone: write tool = \"*\""));
                    }
                    names.push(name);
                }
                match names.is_empty() {
                    true => Err(de::Error::custom("no tool is named: name one, or write \"*\" for all")),
                    false => Ok(ToolsWord(names.into())),
                }
            }
        }
        deserializer.deserialize_any(Reader)
    }
}

impl JsonSchema for ToolsWord {
    fn schema_name() -> Cow<'static, str> {
        "tools".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "The listed name of a tool, several of them, or \"*\" for all.",
            "oneOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" }, "minItems": 1 }]
        })
    }
}

/// A decimal number above zero.
struct AmountWord(Amount);

impl<'de> Deserialize<'de> for AmountWord {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl Visitor<'_> for Reader {
            type Value = AmountWord;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number such as 500 or \"99.95\"")
            }
            fn visit_i64<E: de::Error>(self, value: i64) -> Result<AmountWord, E> {
                self.visit_str(&value.to_string())
            }
            fn visit_f64<E: de::Error>(self, value: f64) -> Result<AmountWord, E> {
                Err(E::custom(format!("a number with a fraction is exact only in quotes: write \"{value}\"")))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<AmountWord, E> {
                // One letter in the middle would make another number of it.
                if text.contains(['e', 'E']) {
                    return Err(E::custom(format!(
                        "{text:?} has an exponent: write the number out, such as \"99.95\""
                    )));
                }
                Amount::parse(text)
                    .map(AmountWord)
                    .map_err(|e| E::custom(format!("{text:?} {e}: write for instance \"99.95\"")))
            }
        }
        deserializer.deserialize_any(Reader)
    }
}

impl JsonSchema for AmountWord {
    fn schema_name() -> Cow<'static, str> {
        "amount".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A decimal number above zero, with six digits behind the point at most; in quotes where it has a fraction.",
            "oneOf": [{ "type": "integer", "minimum": 1 }, { "type": "string", "pattern": "^[0-9]+(\\.[0-9]+)?$" }],
            "examples": [500, "99.95"]
        })
    }
}

/// Every rule that is written.
pub(super) fn rules(tables: &[At<RuleTable>], places: &mut Places) -> Result<Vec<Rule>, Error> {
    let mut rules = Vec::with_capacity(tables.len());
    for (number, at) in (1..).zip(tables) {
        let table = at.value();
        let path = format!("rules.{number}");
        places.note(&path, table.tool.span());
        let wrong = |span: Range<usize>, error: Error| places.error_at(span, &text::escape(&error.to_string()));
        let tools = table.tool.value().0.clone();
        let (when, reason) = (table.when.value(), table.reason.as_ref().map_or("", |reason| reason.value()));
        let rule = match (&table.level, &table.deny) {
            (Some(level), None) => Rule::raise(tools, when, level.value().0)
                .map_err(|e| wrong(if about_level(&e) { level.span() } else { inside(&table.when, &e, places) }, e))?,
            (None, Some(deny)) if *deny.value() => {
                let Some(reason) = &table.reason else {
                    return Err(places.error_at(deny.span(), "a rule that denies says why: add a line reason = \"…\""));
                };
                // The condition first, by itself, so that each mistake has its own line.
                Rule::raise(tools.clone(), when, crate::Level::ApprovalRequired)
                    .map_err(|e| wrong(inside(&table.when, &e, places), e))?;
                Rule::deny(tools, when, reason.value()).map_err(|e| wrong(reason.span(), e))?
            }
            (None, Some(deny)) => {
                return Err(places.error_at(deny.span(), "this denies nothing: write deny = true, or a level"));
            }
            (Some(_), Some(deny)) => {
                return Err(places.error_at(deny.span(), "a rule has a level or denies: keep one of the two"));
            }
            (None, None) => {
                let what =
                    "this rule does nothing: add a line level = \"approval_required\", or deny = true with a reason";
                return Err(places.error_at(table.tool.span(), what));
            }
        };
        let rule = match &table.reason {
            Some(at) => rule.reason(reason).map_err(|e| wrong(at.span(), e))?,
            None => rule,
        };
        rules.push(rule);
    }
    Ok(rules)
}

fn about_level(error: &Error) -> bool {
    error.to_string().starts_with("safe raises nothing")
}

/// Where in the file a condition is wrong: at the very character, where the file has the condition as it is read.
fn inside(when: &At<String>, error: &Error, places: &Places) -> Range<usize> {
    let span = when.span();
    let text = error.to_string();
    let place = text.strip_prefix("the condition is wrong at ").and_then(|rest| {
        let mut numbers = rest.splitn(3, ':').map(str::trim);
        Some((numbers.next()?.parse::<usize>().ok()?, numbers.next()?.parse::<usize>().ok()?))
    });
    let (Some((1, column)), Some(written)) = (place, places.text().get(span.clone())) else { return span };
    // One line in quotes of one character, nothing escaped.
    match written.get(1..written.len().saturating_sub(1)) {
        Some(inner) if inner == when.value() => {
            let offset = inner.char_indices().nth(column.saturating_sub(1)).map_or(inner.len(), |(at, _)| at);
            let start = span.start + 1 + offset;
            start..start + 1
        }
        _ => span,
    }
}

/// Every budget that is written.
pub(super) fn budgets(tables: &[At<BudgetTable>], places: &mut Places) -> Result<Vec<Budget>, Error> {
    let mut budgets = Vec::with_capacity(tables.len());
    for (number, at) in (1..).zip(tables) {
        let table = at.value();
        places.note(format!("budgets.{number}"), table.tool.span());
        let (tools, per) = (table.tool.value().0.clone(), table.per.value().0);
        let budget = match (&table.calls, &table.sum, &table.at_most) {
            (Some(calls), None, None) => Budget::calls(tools, calls.value().0.into(), per),
            (None, Some(sum), Some(at_most)) => Budget::sum(tools, sum.value(), at_most.value().0, per),
            (Some(_), _, _) => {
                return Err(places.error_at(
                    table.tool.span(),
                    "a budget counts calls or a sum: keep `calls`, or `sum` with `at_most`",
                ));
            }
            (None, Some(sum), None) => {
                return Err(places.error_at(sum.span(), "how much it may come to is missing: add a line at_most = 500"));
            }
            (None, None, _) => {
                return Err(places.error_at(
                    table.tool.span(),
                    "this budget counts nothing: add a line calls = 10, or sum = \"args.amount\" with at_most = 500",
                ));
            }
        };
        let span = |error: &Error| match (error.to_string().as_str(), &table.sum, &table.at_most) {
            (text, Some(sum), _) if text.contains("no path") => sum.span(),
            (text, _, Some(at_most)) if text.contains("more than nothing") => at_most.span(),
            (text, _, _) if text.contains("a period") => table.per.span(),
            _ => table.tool.span(),
        };
        budgets.push(budget.map_err(|e| places.error_at(span(&e), &e.to_string()))?);
    }
    Ok(budgets)
}

impl Config {
    /// The error about the rule or the budget that it names, with its line; none where it names none.
    pub fn about_policy(&self, error: &Error) -> Option<Error> {
        let text = error.to_string();
        let (what, rest) = text.split_once(' ')?;
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let number = rest.get(..digits)?;
        let table = match what {
            "rule" => "rules",
            "budget" => "budgets",
            _ => return None,
        };
        let place = format!("{table}.{number}");
        self.places.has(&place).then(|| self.places.error(&place, &text))
    }
}
