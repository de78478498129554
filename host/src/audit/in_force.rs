//! Under which rules the rows behind it were decided: what the operator raised, and the rules. In rows of bounded length.

use super::event::Row;
use serde::Serialize;

/// A tool that the operator raised.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Override {
    pub(crate) tool: String,
    pub(crate) declared: &'static str,
    pub(crate) level: &'static str,
}

/// What is in force from now on.
#[derive(Clone, Debug, Default)]
pub(crate) struct InForce {
    /// Version of the risk model.
    pub(crate) model: String,
    /// How many tools there are.
    pub(crate) tools: usize,
    /// Digest of the revisions of all of them.
    pub(crate) revision: String,
    pub(crate) overrides: Vec<Override>,
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
    parts: Vec<(Vec<Override>, Vec<String>)>,
}

impl Rows {
    pub(super) fn of(in_force: InForce, since: String) -> Self {
        let InForce { model, tools, revision, overrides, rules } = in_force;
        let mut parts: Vec<(Vec<Override>, Vec<String>)> = vec![Default::default()];
        let mut used = 0;
        let mut room = |parts: &mut Vec<(Vec<Override>, Vec<String>)>, length: usize| {
            if used > 0 && used + length > ROOM {
                parts.push(Default::default());
                used = 0;
            }
            used += length;
        };
        for raised in overrides {
            room(&mut parts, raised.tool.len() + 64);
            if let Some((overrides, _)) = parts.last_mut() {
                overrides.push(raised);
            }
        }
        for rule in rules.into_iter().map(shortened) {
            let written = serde_json::Value::from(rule.as_str()).to_string();
            room(&mut parts, crate::text::escape_json(&written).len() + 8);
            if let Some((_, rules)) = parts.last_mut() {
                rules.push(rule);
            }
        }
        Self { model, tools, revision, since, parts }
    }

    /// The rows, in their order. `cause`: `start`, `reload` or `rotation`.
    pub(super) fn rows<'a>(&'a self, cause: &'static str) -> impl Iterator<Item = Row<'a>> {
        let several = self.parts.len() > 1;
        self.parts.iter().enumerate().map(move |(at, (overrides, rules))| Row {
            event: "in_force",
            cause: Some(cause),
            since: Some(&self.since),
            model: Some(&self.model),
            tools: Some(self.tools),
            revision: Some(&self.revision),
            part: several.then_some(at + 1),
            parts: several.then_some(self.parts.len()),
            overrides: Some(overrides),
            rules: Some(rules),
            ..Row::default()
        })
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
