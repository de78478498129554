//! A page: its parts that are made, its code, its headings and links.
//!
//! A made part is announced by a line `<!-- made: SOURCE -->`. It is the code block that follows, or else everything up to a
//! line `<!-- end -->`.

use counterfoil::text;
use std::path::{Path, PathBuf};

/// The repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// A page of `docs/`.
pub fn read(name: &str) -> String {
    let path = root().join("docs").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Holds a page's made parts to what makes them, or writes them (`COUNTERFOIL_BLESS=1`, `just bless`).
pub fn hold(name: &str, mut make: impl FnMut(&str) -> String) {
    let text = read(name);
    let (mut whole, mut lines, mut parts) = (String::new(), text.lines().peekable(), 0);
    while let Some(line) = lines.next() {
        whole += &format!("{line}\n");
        let Some(source) = line.strip_prefix("<!-- made: ").and_then(|rest| rest.strip_suffix(" -->")) else {
            continue;
        };
        parts += 1;
        let fence = lines.next_if(|next| next.starts_with("```"));
        let end = if fence.is_some() { "```" } else { "<!-- end -->" };
        assert!(lines.any(|line| line == end), "{name}: the part \"{source}\" has no end");
        let made = make(source);
        let made = made.trim_end();
        whole += &match fence {
            Some(fence) => format!("{fence}\n{made}\n{end}\n"),
            None => format!("\n{made}\n\n{end}\n"),
        };
    }
    assert!(parts > 0, "{name} has no part that is made");
    if std::env::var_os("COUNTERFOIL_BLESS").is_some() {
        std::fs::write(root().join("docs").join(name), &whole).unwrap();
    } else if let Some((at, (is, should))) = text.lines().zip(whole.lines()).enumerate().find(|(_, (a, b))| a != b) {
        panic!("docs/{name}:{} is out of date: run `just bless`\n  is     {is}\n  should {should}", at + 1);
    } else {
        assert_eq!(text.len(), whole.len(), "docs/{name} is out of date: run `just bless`");
    }
}

/// The code blocks of a page that are made, one behind the other.
pub fn blocks(text: &str) -> String {
    let parts =
        text.split("\n<!-- made: ").skip(1).filter_map(|part| part.split_once(" -->\n```")?.1.split_once("\n```"));
    parts.map(|(block, _)| format!("{block}\n")).collect()
}

/// JSON laid out for a page: what a reader would not see is written as JSON writes it, so that the page can be copied.
pub fn json(source: &str) -> String {
    let mut seen = String::with_capacity(source.len());
    for c in source.chars() {
        if c.is_ascii() || text::escape(c.encode_utf8(&mut [0; 4])).chars().eq([c]) {
            seen.push(c);
        } else {
            seen.extend(c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")));
        }
    }
    text::indent(&seen)
}

/// The blocks of JSON, each with the number of its first line: those that open with exactly ```` ```json ````. Several
/// values in one block are ```` ```jsonl ````, and comments among them ```` ```jsonc ````.
pub fn json_blocks(text: &str) -> Vec<(usize, String)> {
    let (mut found, mut open) = (Vec::new(), None::<(usize, String)>);
    for (at, line) in text.lines().enumerate() {
        match (&mut open, line.trim()) {
            (None, "```json") => open = Some((at + 2, String::new())),
            (Some(_), "```") => found.extend(open.take()),
            (Some((_, block)), _) => *block += &format!("{line}\n"),
            (None, _) => {}
        }
    }
    found
}

/// The first lines of code blocks of a language that are not made.
pub fn typed(name: &str, language: &str) -> Vec<String> {
    let text = read(name);
    let lines: Vec<&str> = text.lines().collect();
    let starts = lines.iter().enumerate().filter(|(_, line)| **line == format!("```{language}"));
    let by_hand = starts.filter(|(at, _)| *at == 0 || !lines[at - 1].starts_with("<!-- made: "));
    by_hand.map(|(at, _)| lines.get(at + 1).unwrap_or(&"").to_string()).collect()
}

/// The lines that are no code, each with its number from 1.
fn prose(text: &str) -> Vec<(usize, &str)> {
    let mut code = false;
    let mut kept = Vec::new();
    for (at, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            code = !code;
        } else if !code {
            kept.push((at + 1, line));
        }
    }
    kept
}

/// The headings with their line.
pub fn headings(text: &str) -> Vec<(usize, String)> {
    let title =
        |line: &str| Some(line.trim_start_matches('#').strip_prefix(' ')?.to_owned()).filter(|_| line.starts_with('#'));
    prose(text).into_iter().filter_map(|(at, line)| Some((at, title(line)?))).collect()
}

/// The anchor of a heading: small letters, digits, `_` and `-`, and `-` for a space.
pub fn anchor(title: &str) -> String {
    let kept = title.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

/// The targets of the links.
pub fn links(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (_, line) in prose(text) {
        // What is in backticks is no link.
        let plain: String = line.split('`').step_by(2).collect::<Vec<_>>().join("`");
        found.extend(plain.split("](").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0.to_owned())));
    }
    found
}

/// What stands in backticks in the prose.
pub fn quoted(text: &str) -> Vec<(usize, String)> {
    let spans = |(at, line): (usize, &str)| -> Vec<(usize, String)> {
        line.split('`').skip(1).step_by(2).map(|span| (at, span.to_owned())).collect()
    };
    prose(text).into_iter().flat_map(spans).collect()
}

/// The commands of the program that a page shows, in its prose and in its shell blocks.
pub fn commands(text: &str) -> Vec<String> {
    let spans = quoted(text).into_iter().map(|(_, span)| span);
    let blocks =
        text.split("```sh\n").skip(1).filter_map(|rest| rest.split_once("```")).flat_map(|(code, _)| code.lines());
    let all = spans.chain(blocks.map(|line| line.split(" #").next().unwrap_or_default().trim().to_owned()));
    all.filter(|command| command.starts_with("counterfoil ")).collect()
}

#[test]
fn docs_json_is_shown_so_that_it_can_be_read_again() {
    let source = "{\"a\":\"\u{202e}é\u{e0001}\\n\"}";
    assert_eq!(json(source), "{\n  \"a\": \"\\u202eé\\udb40\\udc01\\n\"\n}");
    let again: serde_json::Value = serde_json::from_str(&json(source)).unwrap();
    assert_eq!(again, serde_json::from_str::<serde_json::Value>(source).unwrap());
}

#[test]
fn docs_pages_are_read_as_forges_show_them() {
    let text = "# A `b` c, d\n[x](y.md#z) `[no](no)` `q r`\n```sh\n# no heading\n[no](no)\n```\n";
    assert_eq!(headings(text), [(1, "A `b` c, d".to_owned())]);
    assert_eq!(anchor("A `b_c` c, d"), "a-b_c-c-d");
    assert_eq!(links(text), ["y.md#z"]);
    assert_eq!(quoted(text).iter().map(|(_, span)| span.as_str()).collect::<Vec<_>>(), ["b", "[no](no)", "q r"]);
}
