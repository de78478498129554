//! Under which rules the rows behind it were decided: what the operator raised, what is not locked, and the rules. In rows of
//! bounded length.

use super::event::Row;
use serde::Serialize;

/// A tool that the operator raised.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Override {
    pub(crate) tool: String,
    pub(crate) declared: &'static str,
    pub(crate) level: &'static str,
}

/// Since what it is in force.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Cause {
    #[default]
    Start,
    /// Another host was in its place.
    Reload,
}

impl Cause {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Reload => "reload",
        }
    }
}

/// What is in force from now on.
#[derive(Clone, Debug, Default)]
pub(crate) struct InForce {
    pub(crate) cause: Cause,
    /// Version of the risk model.
    pub(crate) model: String,
    /// How many tools there are.
    pub(crate) tools: usize,
    /// Digest of the revisions of all of them.
    pub(crate) revision: String,
    /// What the operator raised.
    pub(crate) overrides: Vec<Override>,
    /// Tools that need a confirmation because their plug-in is not locked, whatever the operator says of them.
    pub(crate) unlocked: Vec<String>,
    /// The operator's rules, as written.
    pub(crate) rules: Vec<String>,
}

/// Bytes of overrides and rules in one row, as they stand there: half of what a line may have.
const ROOM: usize = 32 * 1024;
/// Longest rule that is written whole.
const LONGEST_RULE: usize = 4 * 1024;

/// What is in force, cut into rows.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    model: String,
    tools: usize,
    revision: String,
    since: String,
    parts: Vec<Part>,
}

/// What one row has of it.
#[derive(Clone, Debug, Default)]
struct Part {
    overrides: Vec<Override>,
    unlocked: Vec<String>,
    rules: Vec<String>,
    used: usize,
}

impl Rows {
    pub(super) fn of(in_force: InForce, since: String) -> Self {
        let InForce { cause: _, model, tools, revision, overrides, unlocked, rules } = in_force;
        let mut parts = vec![Part::default()];
        for raised in overrides {
            room(&mut parts, raised.tool.len() + 64, |part| part.overrides.push(raised));
        }
        for tool in unlocked {
            room(&mut parts, tool.len() + 8, |part| part.unlocked.push(tool));
        }
        for rule in rules.into_iter().map(shortened) {
            let written = serde_json::Value::from(rule.as_str()).to_string();
            room(&mut parts, crate::text::escape_json(&written).len() + 8, |part| part.rules.push(rule));
        }
        Self { model, tools, revision, since, parts }
    }

    /// The rows, in their order. `cause`: `start`, `reload` or `rotation`.
    pub(super) fn rows<'a>(&'a self, cause: &'static str) -> impl Iterator<Item = Row<'a>> {
        let several = self.parts.len() > 1;
        self.parts.iter().enumerate().map(move |(at, part)| Row {
            event: "in_force",
            cause: Some(cause),
            since: Some(&self.since),
            model: Some(&self.model),
            tools: Some(self.tools),
            revision: Some(&self.revision),
            part: several.then_some(at + 1),
            parts: several.then_some(self.parts.len()),
            overrides: Some(&part.overrides),
            unlocked: Some(&part.unlocked),
            rules: Some(&part.rules),
            ..Row::default()
        })
    }
}

/// Puts something of a length into the last row, or into another where that has no room.
fn room(parts: &mut Vec<Part>, length: usize, put: impl FnOnce(&mut Part)) {
    if parts.last().is_none_or(|part| part.used > 0 && part.used + length > ROOM) {
        parts.push(Part::default());
    }
    if let Some(part) = parts.last_mut() {
        part.used += length;
        put(part);
    }
}

/// A rule as it is written down: a long one is cut, and says how long it is and what its digest is.
fn shortened(rule: String) -> String {
    if rule.len() <= LONGEST_RULE {
        return rule;
    }
    let start = rule.get(..rule.floor_char_boundary(LONGEST_RULE)).unwrap_or_default();
    format!("{start}… ({} bytes, sha256 {})", rule.len(), crate::digest::sha256(rule.as_bytes()))
}
