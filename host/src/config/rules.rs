//! Rules and budgets as they are written, and what they come to. Whether their tools are there is found when those are loaded:
//! see [`Config::about_policy`](super::Config::about_policy).

use super::file::At;
use super::units::{Count, Length, LevelWord};
use super::{Config, Places};
use crate::policy::{Amount, Asked, Budget, Fault, OWN, Of, Rule, Tools, WrongBudget, WrongRule};
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
    calls: Option<At<Calls>>,
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

/// How many calls a budget allows; that none is not meant is the budget's own word.
struct Calls(u32);

impl<'de> Deserialize<'de> for Calls {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = i64::deserialize(deserializer)?;
        u32::try_from(value)
            .map(Self)
            .map_err(|_| de::Error::custom(format!("{value} is out of range: write a number from 1 to {}", u32::MAX)))
    }
}

impl JsonSchema for Calls {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        Count::schema_name()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Count::json_schema(generator)
    }
}

/// Every rule that is written.
pub(super) fn rules(tables: &[At<RuleTable>], places: &mut Places) -> Result<Vec<Rule>, Error> {
    let mut rules = Vec::with_capacity(tables.len());
    for (number, at) in (1..).zip(tables) {
        let table = at.value();
        places.note(format!("rules.{number}"), table.tool.span());
        places.note(format!("rules.{number}.when"), table.when.span());
        let rule = rule(table, places)?;
        // Those of the program: others are a library's.
        let foreign = |asked: &&Asked| asked.of == Of::Owner && !asked.can_be_owner(OWN);
        if let Some(asked) = rule.condition.asked().find(foreign) {
            let what = format!(
                "owner {asked} here: write \"os:NAME\" for a user of this system, or \"name:NAME\" for who is started with \
                 --owner NAME"
            );
            return Err(places.error_at(table.when.span(), &text::escape(&what)));
        }
        rules.push(rule);
    }
    Ok(rules)
}

fn rule(table: &RuleTable, places: &Places) -> Result<Rule, Error> {
    let at = |span: Range<usize>, what: &str| Err(places.error_at(span, what));
    let wrong = |wrong: WrongRule| {
        let span = match &wrong {
            WrongRule::When(fault) => inside(&table.when, fault, places),
            WrongRule::Level => table.level.as_ref().map_or(table.tool.span(), At::span),
            WrongRule::NoReason | WrongRule::LongReason => table.reason.as_ref().map_or(table.tool.span(), At::span),
        };
        places.error_at(span, &text::escape(&wrong.to_string()))
    };
    let tools = table.tool.value().0.clone();
    let (when, reason) = (table.when.value(), table.reason.as_ref().map(|reason| reason.value().clone()));
    match (&table.level, &table.deny) {
        (Some(level), None) => {
            let rule = Rule::raising(tools, when, level.value().0);
            rule.and_then(|rule| rule.saying(reason.unwrap_or_default())).map_err(wrong)
        }
        (None, Some(deny)) if *deny.value() => match reason {
            Some(reason) => Rule::denying(tools, when, reason).map_err(wrong),
            None => at(deny.span(), "a rule that denies says why: add a line reason = \"…\""),
        },
        (None, Some(deny)) => at(deny.span(), "this denies nothing: write deny = true, or a level"),
        (Some(_), Some(deny)) => at(deny.span(), "a rule has a level or denies: keep one of the two"),
        (None, None) => at(
            table.tool.span(),
            "this rule does nothing: add a line level = \"approval_required\", or deny = true with a reason",
        ),
    }
}

/// Where in the file a condition is wrong: at the very character, where the file has the condition as it is read.
fn inside(when: &At<String>, fault: &Fault, places: &Places) -> Range<usize> {
    let span = when.span();
    let (Some((1, column)), Some(written)) = (fault.place, places.text().get(span.clone())) else { return span };
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
        if let Some(sum) = &table.sum {
            places.note(format!("budgets.{number}.sum"), sum.span());
        }
        budgets.push(budget(table, places)?);
    }
    Ok(budgets)
}

fn budget(table: &BudgetTable, places: &Places) -> Result<Budget, Error> {
    let at = |span: Range<usize>, what: &str| Err(places.error_at(span, what));
    let (tools, per) = (table.tool.value().0.clone(), table.per.value().0);
    let budget = match (&table.calls, &table.sum, &table.at_most) {
        (Some(calls), None, None) => Budget::of_calls(tools, calls.value().0.into(), per),
        (None, Some(sum), Some(at_most)) => Budget::of_sum(tools, sum.value(), at_most.value().0, per),
        (Some(_), _, _) => {
            return at(table.tool.span(), "a budget counts calls or a sum: keep `calls`, or `sum` with `at_most`");
        }
        (None, Some(sum), None) => {
            return at(sum.span(), "how much it may come to is missing: add a line at_most = 500");
        }
        (None, None, _) => {
            return at(
                table.tool.span(),
                "this budget counts nothing: add a line calls = 10, or sum = \"args.amount\" with at_most = 500",
            );
        }
    };
    let span = |wrong: WrongBudget| {
        let part = match wrong {
            WrongBudget::NoCalls => table.calls.as_ref().map(At::span),
            WrongBudget::Path => table.sum.as_ref().map(At::span),
            WrongBudget::Nothing => table.at_most.as_ref().map(At::span),
            WrongBudget::Period => Some(table.per.span()),
        };
        part.unwrap_or_else(|| table.tool.span())
    };
    budget.map_err(|wrong| places.error_at(span(wrong), &wrong.to_string()))
}

impl Config {
    /// The error about the rule or the budget that it is about, with its line; none where it is about none.
    pub fn about_policy(&self, error: &Error) -> Option<Error> {
        Some(self.places.error(error.place()?, &error.to_string()))
    }
}
