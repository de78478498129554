//! Foreign text in Markdown: CommonMark and GitHub's form of it show it as it is. No markup of its own comes through but code
//! in single backticks.

use crate::text;

/// Where a text stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Within {
    /// At the start of a paragraph, or further on in it.
    Paragraph,
    /// In a cell of a table, which a bar ends, even one in code.
    Cell,
}

/// A part of a line.
enum Part<'a> {
    Plain(&'a str),
    Code(String),
}

/// A text in one line: its backticks mark code, everything else stands for itself.
pub(super) fn prose(given: &str, within: Within) -> String {
    let words = given.split_whitespace().collect::<Vec<_>>().join(" ");
    let shown = text::escape(&words);
    let pieces: Vec<&str> = shown.split('`').collect();
    let inner = pieces.get(1..pieces.len() - 1).unwrap_or_default();
    // Backticks that stand side by side or alone mark nothing.
    let marks = !pieces.len().is_multiple_of(2) && inner.iter().all(|piece| !piece.is_empty());
    let mut parts = Vec::new();
    if marks {
        for (at, piece) in pieces.iter().enumerate() {
            match at % 2 {
                0 => links(piece, &mut parts),
                _ => push_code(&mut parts, piece),
            }
        }
    } else {
        links(&shown, &mut parts);
    }
    let mut line = String::new();
    for part in &parts {
        match part {
            Part::Plain(text) => plain(text, &mut line),
            Part::Code(text) => line += &code(text, within),
        }
    }
    line
}

/// Splits off as code each word that GitHub would turn into a link: there no escape keeps it from that.
fn links<'a>(text: &'a str, parts: &mut Vec<Part<'a>>) {
    let mut done = 0;
    let mut start = 0;
    for word in text.split_inclusive(' ') {
        let before = start;
        start += word.len();
        let link =
            word.trim_start_matches(['(', '"', ' ']).trim_end_matches([' ', ')', '"', '.', ',', ';', ':', '!', '?']);
        if !is_link(link) {
            continue;
        }
        let from = before + word.find(link).unwrap_or_default();
        parts.extend(text.get(done..from).filter(|text| !text.is_empty()).map(Part::Plain));
        push_code(parts, link);
        done = from + link.len();
    }
    parts.extend(text.get(done..).filter(|text| !text.is_empty()).map(Part::Plain));
}

fn is_link(word: &str) -> bool {
    let small = word.to_ascii_lowercase();
    small.contains("www.") || small.contains("://") || small.split_once('@').is_some_and(|(name, _)| !name.is_empty())
}

/// Two pieces of code side by side would end each other.
fn push_code(parts: &mut Vec<Part<'_>>, more: &str) {
    match parts.last_mut() {
        Some(Part::Code(text)) => text.push_str(more),
        _ => parts.push(Part::Code(more.to_owned())),
    }
}

/// Adds text that stands for itself to a line.
fn plain(given: &str, line: &mut String) {
    // A list begins with a mark or a number; whatever else begins something is escaped wherever it stands.
    let mut start = line.is_empty();
    for (at, c) in given.char_indices() {
        let begins = start && (matches!(c, '-' | '+' | '=') && at == 0 || matches!(c, '.' | ')') && at > 0);
        if begins || "\\`*_[]<>|#~&!$".contains(c) {
            line.push('\\');
        }
        start &= c.is_ascii_digit();
        line.push(c);
    }
}

/// A text as code, between more backticks than stand side by side in it.
pub(super) fn code(given: &str, within: Within) -> String {
    let shown = text::escape(given);
    if within == Within::Paragraph {
        return span(&shown);
    }
    // In a table `\|` is a bar, in code as well. A bar behind a backslash has no such form: it stands outside.
    let parts: Vec<_> = shown.split(r"\|").map(|part| (part, part.replace('|', r"\|"))).collect();
    let last = parts.len() - 1;
    let spans = parts.iter().enumerate().map(|(at, (_, part))| match at {
        at if at < last => span(&format!("{part}\\")) + r"\|",
        _ if part.is_empty() && last > 0 => String::new(),
        _ => span(part),
    });
    spans.collect()
}

fn span(text: &str) -> String {
    if text.is_empty() {
        // There is no code without anything in it.
        return "`\"\"`".to_owned();
    }
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest + 1);
    let edge = |c: Option<char>| matches!(c, Some('`' | ' '));
    let blank = text.chars().all(|c| c == ' ');
    // One space at either end is not shown.
    let room = if !blank && (edge(text.chars().next()) || edge(text.chars().next_back())) { " " } else { "" };
    format!("{fence}{room}{text}{room}{fence}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(given: &str, expected: &str) {
        assert_eq!(prose(given, Within::Paragraph), expected);
    }

    #[test]
    fn text_is_quoted_and_not_obeyed() {
        check("see `*.md` or *this* <b>", r"see `*.md` or \*this\* \<b\>");
        check("a\n\n# head\u{202e} [x](y) | `odd", r"a \# head\\u{202e} \[x\](y) \| \`odd");
        check("a`` <b> ``b", r"a\`\` \<b\> \`\`b");
    }

    #[test]
    fn nothing_begins_a_list_or_a_heading() {
        for (given, expected) in [
            ("- a - b", r"\- a - b"),
            ("+ a", r"\+ a"),
            ("1. a. 2.", r"1\. a. 2."),
            ("12) a", r"12\) a"),
            ("---", r"\---"),
            ("===", r"\==="),
            ("> a", r"\> a"),
            ("1 a.", "1 a."),
            (". a", ". a"),
        ] {
            check(given, expected);
        }
    }

    #[test]
    fn what_would_become_a_link_is_code() {
        check("see http://a.b/c_d, now.", "see `http://a.b/c_d`, now.");
        check("(WWW.evil.io)", "(`WWW.evil.io`)");
        check("write to a_b@c.io or @x", "write to `a_b@c.io` or @x");
        check("www.a.b`c`d", "`www.a.bc`d");
    }

    #[test]
    fn code_is_fenced_by_more_backticks_than_it_has() {
        assert_eq!(code("a``b", Within::Cell), "```a``b```");
        assert_eq!(code("`", Within::Cell), "`` ` ``");
        assert_eq!(code(" a ", Within::Cell), "`  a  `");
        assert_eq!(code("", Within::Cell), "`\"\"`");
        assert_eq!(code("a|b", Within::Cell), r"`a\|b`");
        assert_eq!(code("a|b", Within::Paragraph), "`a|b`");
        assert_eq!(code(r"a\||b\|", Within::Cell), r"`a\`\|`\|b\`\|");
    }
}
