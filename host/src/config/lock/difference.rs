//! What changed in a plug-in since it was locked, for a person to read: every text of the plug-in's escaped, and bounded
//! where it stands in an error.

use super::{Pinned, PinnedTool};
use crate::text::{bytes, escape};
use similar::TextDiff;
use std::collections::BTreeSet;

/// Lines of an error: what a person reads before looking at the whole.
const LINES: usize = 60;
/// Characters of one line in it.
const WIDTH: usize = 200;

/// The lines that tell the difference. Never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference(Vec<String>);

impl Difference {
    /// What is not as it was locked.
    pub fn between(locked: &Pinned, found: &Pinned) -> Option<Self> {
        let mut lines = Vec::new();
        if locked.sha256 != found.sha256 {
            lines.push(format!("the file: sha256 {} → {}", locked.sha256, found.sha256));
        } else if locked != found {
            lines.push("the file is the same, and lists its tools otherwise than before".to_owned());
        }
        for (one, other, word) in [(found, locked, "now"), (locked, found, "no more")] {
            let only = one.asks.iter().filter(|ask| !other.asks.contains(ask));
            lines.extend(only.map(|ask| format!("it asks {word} for: {}", escape(ask))));
        }
        let names: BTreeSet<&String> = locked.tools.keys().chain(found.tools.keys()).collect();
        for name in names {
            let shown = escape(name);
            match (locked.tools.get(name), found.tools.get(name)) {
                (None, Some(tool)) => lines.push(format!("the tool {shown} is new: {}", level(tool))),
                (Some(tool), None) => lines.push(format!("the tool {shown} is gone: it was {}", level(tool))),
                (Some(before), Some(after)) if before != after => changed(&shown, before, after, &mut lines),
                _ => {}
            }
        }
        if lines.len() == 1 && locked.sha256 != found.sha256 {
            lines.push("what it says of its tools is the same".to_owned());
        }
        (!lines.is_empty()).then_some(Self(lines))
    }

    /// Every line.
    pub fn lines(&self) -> &[String] {
        &self.0
    }

    /// As many lines as an error has room for, and how much is left out.
    pub fn brief(&self) -> String {
        let mut lines: Vec<String> = self.0.iter().take(LINES).map(|line| cut(line)).collect();
        if self.0.len() > LINES {
            lines.push(format!(
                "… and {} lines more: `counterfoil plugin lock --check` shows them",
                self.0.len() - LINES
            ));
        }
        lines.join("\n")
    }
}

fn cut(line: &str) -> String {
    match line.char_indices().nth(WIDTH) {
        Some((end, _)) => {
            let (start, rest) = line.split_at(end);
            format!("{start}… ({} more)", bytes(rest.len() as u64))
        }
        None => line.to_owned(),
    }
}

fn level(tool: &PinnedTool) -> String {
    format!("{}{}", tool.level, if tool.critical { ", critical" } else { "" })
}

fn changed(name: &str, before: &PinnedTool, after: &PinnedTool, lines: &mut Vec<String>) {
    if level(before) != level(after) {
        lines.push(format!("the tool {name}: level {} → {}", level(before), level(after)));
    }
    let texts = [
        ("title", before.title.as_deref(), after.title.as_deref()),
        ("description", Some(&*before.description), Some(&*after.description)),
        ("arguments", Some(&*before.input_schema), Some(&*after.input_schema)),
        ("results", before.output_schema.as_deref(), after.output_schema.as_deref()),
    ];
    for (what, before, after) in texts.into_iter().filter(|(_, before, after)| before != after) {
        lines.push(match (before, after) {
            (None, _) => format!("the tool {name} has {what} now:"),
            (_, None) => format!("the tool {name} has no {what} any more:"),
            _ => format!("the tool {name} has other {what}:"),
        });
        let (before, after) = (before.unwrap_or_default(), after.unwrap_or_default());
        let diff = TextDiff::from_lines(before, after);
        let rows = diff.unified_diff().context_radius(2).missing_newline_hint(false).to_string();
        lines.extend(rows.lines().map(|row| format!("  {}", escape(row))));
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::Level;

    fn pinned(digest: char, tools: &[(&str, Level, &str)]) -> Pinned {
        let tool = |(name, level, description): &(&str, Level, &str)| {
            let tool = PinnedTool {
                level: *level,
                critical: false,
                title: None,
                description: (*description).to_owned(),
                input_schema: "{\n  \"type\": \"object\"\n}".to_owned(),
                output_schema: None,
            };
            ((*name).to_owned(), tool)
        };
        Pinned {
            sha256: digest.to_string().repeat(64),
            asks: vec!["directory /a read".into()],
            tools: tools.iter().map(tool).collect(),
        }
    }

    #[track_caller]
    fn check(locked: &Pinned, found: &Pinned, expected: &[&str]) {
        let difference = Difference::between(locked, found).unwrap();
        assert_eq!(difference.lines(), expected);
    }

    #[test]
    fn a_difference_says_what_is_new_gone_and_changed() {
        let old = pinned('0', &[("keep", Level::Caution, "Keeps."), ("old", Level::Safe, "")]);
        assert_eq!(Difference::between(&old, &old), None);
        let mut new = pinned('0', &[("keep", Level::Review, "Keeps\nit."), ("new", Level::ApprovalRequired, "")]);
        new.asks = vec!["directory /b read-write".into()];
        check(
            &old,
            &new,
            &[
                "the file is the same, and lists its tools otherwise than before",
                "it asks now for: directory /b read-write",
                "it asks no more for: directory /a read",
                "the tool keep: level caution → review",
                "the tool keep has other description:",
                "  @@ -1 +1,2 @@",
                "  -Keeps.",
                "  +Keeps",
                "  +it.",
                "the tool new is new: approval_required",
                "the tool old is gone: it was safe",
            ],
        );
        let (was, is) = (format!("{:0<64}", ""), format!("{:1<64}", ""));
        let line = format!("the file: sha256 {was} → {is}");
        check(&old, &Pinned { sha256: is, ..old.clone() }, &[&line, "what it says of its tools is the same"]);
    }

    #[test]
    fn every_field_of_a_tool_counts() {
        let old = pinned('0', &[("t", Level::Caution, "x")]);
        let changes: [fn(&mut PinnedTool); 6] = [
            |tool| tool.level = Level::Review,
            |tool| tool.critical = true,
            |tool| tool.title = Some("T".into()),
            |tool| tool.description.push('y'),
            |tool| tool.input_schema.push(' '),
            |tool| tool.output_schema = Some("{}".into()),
        ];
        for change in changes {
            let mut new = old.clone();
            change(new.tools.get_mut("t").unwrap());
            let lines = Difference::between(&old, &new).unwrap();
            assert!(lines.lines().iter().any(|line| line.starts_with("the tool t")), "{lines:?}");
        }
    }

    #[test]
    fn a_difference_repaints_nothing_and_ends() {
        let old = pinned('0', &[("t", Level::Safe, "x")]);
        let long = format!("\u{1b}[2J\u{202e}\n{}\n{}", "y".repeat(500), "z\n".repeat(200));
        let new = pinned('1', &[("t", Level::Safe, &long)]);
        let difference = Difference::between(&old, &new).unwrap();
        assert!(difference.lines().iter().any(|line| line == r"  +\e[2J\u{202e}"), "{difference:?}");
        assert!(difference.lines().len() > 200);
        let brief = difference.brief();
        assert_eq!(brief.lines().count(), LINES + 1);
        assert!(brief.contains("more)") && brief.ends_with("shows them"), "{brief}");
    }
}
