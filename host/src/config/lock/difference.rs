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

    /// As many lines as an error has room for, of a long one what surrounds its first change, and how much is left out.
    pub fn brief(&self) -> String {
        let mut whole = self.0.len() <= LINES;
        let mut lines = Vec::new();
        for (at, line) in self.0.iter().enumerate().take(LINES) {
            let shown = cut(line, self.counterpart(at));
            whole &= shown == *line;
            lines.push(shown);
        }
        if !whole {
            let left = self.0.len().saturating_sub(LINES);
            let what = if left > 0 { format!("{left} lines more") } else { "more of these lines".to_owned() };
            lines.push(format!("… and {what}: `counterfoil plugin lock --check` shows them"));
        }
        lines.join("\n")
    }

    /// The line that stood where this one stands now, or the other way round.
    fn counterpart(&self, at: usize) -> Option<&str> {
        let sign =
            |at: usize| self.0.get(at).and_then(|line| line.get(..MARK)).filter(|mark| [GONE, NEW].contains(mark));
        let own = sign(at)?;
        let first = |at: usize, of: &str| (0..at).rev().take_while(|at| sign(*at) == Some(of)).last().unwrap_or(at);
        let start = first(at, own);
        let other = if own == GONE {
            let end = (at..).find(|at| sign(*at) != Some(GONE))?;
            end + (at - start)
        } else {
            let gone = first(start, GONE);
            gone + (at - start)
        };
        let is_one = if own == GONE {
            (at..=other).skip_while(|at| sign(*at) == Some(GONE)).all(|at| sign(at) == Some(NEW))
        } else {
            other < start
        };
        self.0.get(other).filter(|_| is_one).map(String::as_str)
    }
}

/// How the lines of a text begin that are gone, and those that are new.
const GONE: &str = "  -";
const NEW: &str = "  +";
const MARK: usize = GONE.len();

/// A line, cut to what an error has room for: around the first character that its counterpart has otherwise, or with its
/// beginning and its end where it has none. How much is left out stands where it was.
fn cut(line: &str, counterpart: Option<&str>) -> String {
    /// What is shown before the first change, and at the end of a line that has no counterpart.
    const BESIDE: usize = 40;
    let at = |character: usize| line.char_indices().nth(character).map_or(line.len(), |(at, _)| at);
    if at(WIDTH) == line.len() {
        return line.to_owned();
    }
    let size = |from: usize, to: usize| bytes(to.saturating_sub(from) as u64);
    let piece = |from: usize, to: usize| line.get(from..to).unwrap_or_default();
    let Some(other) = counterpart else {
        let (end, tail) = (at(WIDTH - BESIDE), at(line.chars().count() - BESIDE));
        return format!("{}… ({} left out) …{}", piece(0, end), size(end, tail), piece(tail, line.len()));
    };
    let same = line.chars().skip(MARK).zip(other.chars().skip(MARK)).take_while(|(one, other)| one == other).count();
    // As far as the beginning shows it, that is what is read most easily.
    let skipped = if same + BESIDE > WIDTH { same - BESIDE } else { 0 };
    let (from, to) = (at(MARK + skipped), at(skipped + WIDTH));
    let before = if skipped > 0 { format!("({} before) …", size(MARK, from)) } else { String::new() };
    let after = if to < line.len() { format!("… ({} more)", size(to, line.len())) } else { String::new() };
    format!("{}{before}{}{after}", piece(0, MARK), piece(from, to))
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
        assert!(
            brief.contains("left out)") && brief.ends_with("lines more: `counterfoil plugin lock --check` shows them")
        );
    }

    /// What an error shows of a description that became another.
    fn shown(before: &str, after: &str) -> String {
        let tool = |description| pinned('0', &[("t", Level::Safe, description)]);
        Difference::between(&tool(before), &tool(after)).unwrap().brief()
    }

    #[test]
    fn a_change_far_behind_in_a_line_is_visible_in_the_error_and_the_whole_can_be_asked_for() {
        let (long, behind) = ("y".repeat(5000), "z".repeat(9000));
        let line = |middle: &str| format!("{long}{middle}{behind}");
        let command = "`counterfoil plugin lock --check` shows them";
        let brief = shown(&line("asks first"), &line("never asks"));
        assert!(brief.contains("asks first") && brief.contains("never asks") && brief.ends_with(command), "{brief}");
        assert!(brief.contains("before) …y") && brief.contains("more)"), "{brief}");
        assert!(brief.lines().all(|line| line.chars().count() < WIDTH + 60), "{brief}");
        // What was put at the end, and what has more lines around it; each with its own counterpart.
        let brief = shown(&long, &format!("{long} and tells nobody"));
        assert!(brief.contains("and tells nobody") && brief.ends_with(command), "{brief}");
        let brief = shown(&format!("{long}a\n{long}b\nend"), &format!("{long}c\n{long}d\nend"));
        let ends: Vec<bool> = ["ya", "yb", "yc", "yd"].iter().map(|end| brief.contains(end)).collect();
        assert_eq!(ends, [true; 4], "{brief}");
        // What is new altogether shows its beginning and its end.
        let brief = shown("end", &format!("begins{long}ends\nend"));
        assert!(brief.contains("+begins") && brief.contains("yends") && brief.ends_with(command), "{brief}");
        // What fits is shown whole, and then there is no more to ask for.
        let brief = shown("short", "shorter");
        assert!(brief.ends_with("  -short\n  +shorter"), "{brief}");
    }
}
