//! Whether what rules and budgets say of arguments can be so: held against the schemas of their tools. What a schema fixes and a
//! rule reads otherwise stops the start; of what it leaves open nothing is said here.

use super::Tool;
use super::listing::Listing;
use crate::policy::{Budget, Counts, Tools};
#[cfg(feature = "rules")]
use crate::policy::{Of, Rule};
#[cfg(feature = "program")]
use crate::policy::{Seen, Then};
use crate::schema::Schema;
use crate::schema::outline::{self, Kinds, Place};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;

/// What a tool lists of its arguments.
pub(super) struct Listed<'a> {
    name: &'a str,
    listing: Value,
    schema: Arc<Schema>,
}

impl<'a> Listed<'a> {
    pub(super) fn all(listings: &'a [Listing], tools: &HashMap<String, Arc<Tool>>) -> Vec<Self> {
        let listed = |listing: &'a Listing| {
            let schema = Arc::clone(&tools.get(&listing.name)?.schema);
            let written = serde_json::from_str(&listing.input_schema).unwrap_or(Value::Bool(true));
            Some(Self { name: &listing.name, listing: written, schema })
        };
        listings.iter().filter_map(listed).collect()
    }
}

/// The place of an argument, and whether it can be there.
fn place<'a>(listed: &'a Listed<'_>, path: &[String]) -> (Place<'a>, bool) {
    path.iter().fold((outline::top(&listed.listing), true), |(place, there), name| {
        let open = there && !place.is_closed_to(name) && !place.kinds().common(Kinds::OBJECT).is_empty();
        (place.member(name), open)
    })
}

fn about<'l, 'a>(all: &'l [Listed<'a>], tools: &'l Tools) -> impl Iterator<Item = &'l Listed<'a>> {
    all.iter().filter(|listed| tools.has(listed.name))
}

fn shown(path: &[String]) -> String {
    format!("args.{}", path.join(".")).escape_debug().to_string()
}

/// What no call of any of its tools has an answer for. With `"*"` and several tools a rule may read what only some have.
#[cfg(feature = "rules")]
pub(super) fn rule(rule: &Rule, all: &[Listed<'_>]) -> Result<(), String> {
    for asked in rule.condition.asked().filter(|asked| asked.of == Of::Tool) {
        let any = all.iter().any(|listed| asked.holds(listed.name));
        let own = about(all, &rule.tools).any(|listed| asked.holds(listed.name));
        match (any, own, asked.whole().map(str::escape_debug)) {
            (_, true, _) => {}
            (false, _, Some(name)) => {
                return Err(format!("there is no tool \"{name}\" for `tool` to be: give a name that is listed"));
            }
            (true, _, Some(name)) => {
                return Err(format!(
                    "this rule is not about \"{name}\", so that `tool` is never that: name it in the rule's tools, or leave it out"
                ));
            }
            // Of no tool nothing can be told.
            (_, _, None) if about(all, &rule.tools).next().is_none() => {}
            (_, _, None) => {
                return Err(format!(
                    "`tool` {asked}: no tool that this rule is about has such a name; correct it, or leave it out"
                ));
            }
        }
    }
    let all: Vec<_> = about(all, &rule.tools).collect();
    let Some(first) = all.first() else { return Ok(()) };
    let whose = if all.len() == 1 { format!("of \"{}\"", first.name) } else { "of its tools".to_owned() };
    for used in rule.condition.uses() {
        let places: Vec<_> = all.iter().map(|listed| place(listed, &used.path)).collect();
        let path = shown(&used.path);
        if places.iter().all(|(_, there)| !there) {
            return Err(format!("the schema {whose} allows no {path}: correct its spelling"));
        }
        let mut kinds = places.iter().filter(|(_, there)| *there).map(|(place, _)| place.kinds());
        if kinds.clone().all(|kinds| kinds.common(used.of).is_empty()) {
            let kinds = kinds.next().unwrap_or(Kinds::NONE);
            return Err(format!(
                "{path} is {kinds} in the schema {whose} and {} here, so that no call would have an answer: compare it with \
                 a value of its own type",
                used.how
            ));
        }
    }
    Ok(())
}

/// A sum of what is no number, or is nobody's to see.
pub(super) fn budget(budget: &Budget, all: &[Listed<'_>]) -> Result<(), String> {
    let Counts::Sum { path, .. } = &budget.counts else { return Ok(()) };
    for listed in about(all, &budget.tools) {
        let (name, argument) = (listed.name, shown(path));
        if listed.schema.is_secret_at(path) {
            return Err(format!(
                "{argument} is secret in the schema of \"{name}\", and the store would keep a sum of secrets: count calls instead"
            ));
        }
        let (place, there) = place(listed, path);
        if !there {
            return Err(format!(
                "the schema of \"{name}\" allows no {argument}, so that every call of it would be denied: correct the spelling, \
                 or take the tool out of the budget"
            ));
        }
        let kinds = place.kinds();
        if kinds.common(Kinds::NUMBER).is_empty() {
            return Err(format!("{argument} is {kinds} in the schema of \"{name}\", and a budget adds up numbers"));
        }
    }
    Ok(())
}

/// Why every call of a tool is denied.
#[cfg(feature = "program")]
pub(crate) struct Denied {
    /// The rule's number, from 1.
    pub(crate) rule: usize,
    /// It has no answer for any.
    pub(crate) no_answer: bool,
    /// What it reads and no call has, where that is so.
    pub(crate) lacks: Option<String>,
}

#[cfg(feature = "program")]
impl super::Host {
    /// Arguments that a rule names and no tool of it lists, where the schemas leave open what else there may be: for a person who
    /// looks for a misspelling.
    pub(crate) fn unlisted(&self, rule: &Rule) -> Vec<String> {
        let all = Listed::all(self.tools(), &self.inner.tools);
        let mut names: Vec<_> = rule.condition.uses().iter().map(|used| &*used.path).collect();
        names.retain(|path| !lists(path, &rule.tools, &all));
        names.sort_unstable();
        names.dedup();
        names.into_iter().map(shown).collect()
    }

    /// The rule that denies every call of a tool, so that neither its level nor its arguments matter: it is always true, or has no
    /// answer for any.
    pub(crate) fn denied_by(&self, tool: &str) -> Option<Denied> {
        let all = Listed::all(self.tools(), &self.inner.tools);
        let listed = all.iter().find(|listed| listed.name == tool)?;
        let argument = |path: &[String]| {
            let (place, there) = place(listed, path);
            there.then(|| place.kinds())
        };
        let seen = Seen { tool, argument: &argument };
        self.inner.tools.get(tool)?.ruled.iter().find_map(|(number, rule)| {
            let outcome = rule.condition.of_all(&seen);
            let denies = rule.then() == Then::Deny && outcome.is_never_false();
            (denies || outcome.is_never()).then(|| {
                // An argument that it reads and no call has is why, most often.
                let unknown = rule.condition.uses().iter().find(|used| !place(listed, &used.path).1);
                let lacks = unknown.filter(|_| outcome.is_never()).map(|used| shown(&used.path));
                Denied { rule: *number, no_answer: outcome.is_never(), lacks }
            })
        })
    }

    /// The same of what a budget adds up.
    pub(crate) fn unlisted_sum(&self, budget: &Budget) -> Option<String> {
        let Counts::Sum { path, .. } = &budget.counts else { return None };
        (!lists(path, &budget.tools, &Listed::all(self.tools(), &self.inner.tools))).then(|| shown(path))
    }
}

/// Whether the schema of one of the tools has a word for an argument.
#[cfg(feature = "program")]
fn lists(path: &[String], tools: &Tools, all: &[Listed<'_>]) -> bool {
    about(all, tools).any(|listed| {
        let mut place = outline::top(&listed.listing);
        path.iter().all(|name| {
            let lists = place.lists(name);
            place = place.member(name);
            lists
        })
    })
}
