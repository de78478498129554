//! Makes text safe to show to a person. Cuts nothing, hides nothing, and lets nothing repaint a terminal.
//!
//! Whatever comes from a plug-in or a caller passes through here before somebody reads it: a character that moves the
//! cursor, turns the direction of writing or has no width is shown by its code point instead.

mod ends;
mod hidden;

pub(crate) use ends::ends;
pub(crate) use hidden::hidden;

use std::borrow::Cow;
use std::fmt::Write as _;

/// The same text with every control, direction mark and invisible character written as `\u{…}`; line ends, tabs and the
/// escape character have their usual short forms.
///
/// ```
/// use counterfoil::text::escape;
/// assert_eq!(escape("naïve — 7 €"), "naïve — 7 €");
/// assert_eq!(escape("a\r\u{1b}[2K\u{202e}b"), r"a\r\e[2K\u{202e}b");
/// ```
pub fn escape(text: &str) -> Cow<'_, str> {
    if !text.chars().any(hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '\n' => shown.push_str(r"\n"),
            '\r' => shown.push_str(r"\r"),
            '\t' => shown.push_str(r"\t"),
            '\u{1b}' => shown.push_str(r"\e"),
            c if hidden(c) => {
                let _ = write!(shown, r"\u{{{:x}}}", u32::from(c));
            }
            c => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

/// The last net under what the program puts together: as [`escape`], but for line ends, tabs, and colours (`ESC [ … m`),
/// which are the program's own. What comes from elsewhere has been through [`escape`] and has none of them.
#[cfg(feature = "program")]
pub(crate) fn net(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|c| hidden(c) && !matches!(c, '\n' | '\t')) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(at) = rest.find(['\n', '\t', '\u{1b}']) {
        let (before, from) = rest.split_at(at);
        shown.push_str(&escape(before));
        let kept = match from.strip_prefix("\u{1b}[") {
            Some(code) => code
                .find(|c: char| !c.is_ascii_digit() && c != ';')
                .filter(|end| code.get(*end..).is_some_and(|rest| rest.starts_with('m'))),
            None => None,
        };
        let length = kept.map_or(1, |end| "\u{1b}[".len() + end + 1);
        let (own, behind) = from.split_at(length);
        if own.starts_with('\u{1b}') && kept.is_none() {
            shown.push_str(&escape(own))
        } else {
            shown.push_str(own)
        }
        rest = behind;
    }
    shown.push_str(&escape(rest));
    Cow::Owned(shown)
}

/// The same JSON value, spelt so that a person who reads the text sees every character: those that hide, or turn the
/// direction of writing, stand as `\u` escapes. Takes valid JSON, in which they can only be inside strings.
pub fn escape_json(json: &str) -> Cow<'_, str> {
    let hides = |c: char| hidden(c) && !matches!(c, '\n' | '\r' | '\t');
    if !json.chars().any(hides) {
        return Cow::Borrowed(json);
    }
    let mut shown = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if hides(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(shown, "\\u{unit:04x}");
            }
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

/// As [`escape`], but for line ends and tabs: for prose that agents and their clients show to people.
pub(crate) fn prose(text: String) -> String {
    if !text.chars().any(|c| hidden(c) && !matches!(c, '\n' | '\t')) {
        return text;
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for part in text.split_inclusive(['\n', '\t']) {
        let (inner, end) = part.split_at(part.trim_end_matches(['\n', '\t']).len());
        shown.push_str(&escape(inner));
        shown.push_str(end);
    }
    shown
}

/// Characters from which on a value is long: nobody reads all of it at a glance.
#[cfg(feature = "program")]
const LONG: usize = 2_000;

/// A text for people, escaped; of a long one the beginning, how long it is, its SHA-256 and the end. `whole` says how to see
/// all of it; without one, it is shown whole.
#[cfg(feature = "program")]
pub(crate) fn value<'t>(text: &'t str, whole: Option<&str>) -> Cow<'t, str> {
    match cut(text, whole) {
        Some((head, what, tail)) => Cow::Owned(format!("{} … {what} … {}", escape(head), escape(tail))),
        None => escape(text),
    }
}

/// The two ends of a long text, and what is to be said of it between them.
#[cfg(feature = "program")]
fn cut<'t>(text: &'t str, whole: Option<&str>) -> Option<(&'t str, String, &'t str)> {
    const HEAD: usize = 600;
    const TAIL: usize = 300;
    let whole = whole?;
    text.char_indices().nth(LONG)?;
    let (head, _) = text.split_at(text.char_indices().nth(HEAD)?.0);
    let (_, tail) = text.split_at(text.char_indices().nth_back(TAIL - 1)?.0);
    let digest = crate::digest::sha256(text.as_bytes());
    Some((head, format!("({} in all, SHA-256 {digest}; {whole})", bytes(text.len() as u64)), tail))
}

/// The start of a text that may be of any length, escaped, and how much of it is not shown.
pub(crate) fn brief(text: &str) -> String {
    /// Enough to know a word, a path or a message by.
    const MAX: usize = 200;
    match text.char_indices().nth(MAX) {
        Some((end, _)) => {
            let (start, rest) = text.split_at(end);
            format!("{}… ({} more)", escape(start), bytes(rest.len() as u64))
        }
        None => escape(text).into_owned(),
    }
}

/// The text without confirmation tokens: each stands as `cfm_…`. A net under messages that quote what somebody typed.
///
/// ```
/// use counterfoil::text::mask;
/// assert_eq!(mask("unexpected 'cfm_abcdefghijklmnopqrstuvwx'"), "unexpected 'cfm_…'");
/// ```
pub fn mask(text: &str) -> Cow<'_, str> {
    const MARK: &str = "cfm_";
    if !text.contains(MARK) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    let mut parts = text.split(MARK);
    shown.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let rest = part.trim_start_matches(|c: char| c.is_ascii_alphanumeric());
        shown.push_str(MARK);
        // A dozen characters and more are a token or most of one; `cfm_` in prose stays as it is.
        if part.len() - rest.len() >= 12 {
            shown.push('…');
            shown.push_str(rest);
        } else {
            shown.push_str(part);
        }
    }
    Cow::Owned(shown)
}

/// One JSON value laid out over lines, two spaces a level, every string and number spelt as it was, and escaped.
///
/// Takes valid JSON; of anything else it shows the same characters, less readably. Unlike a parser it cannot round a
/// number or drop a key on the way.
pub fn indent(json: &str) -> String {
    laid_out(json, &|string| escape(string).into_owned())
}

/// The same, with long strings as [`value`] shows them.
#[cfg(feature = "program")]
pub(crate) fn indent_values(json: &str, whole: Option<&str>) -> String {
    laid_out(json, &|string| {
        let read: Option<String> = serde_json::from_str(string).ok();
        match read.as_deref().and_then(|text| cut(text, whole)) {
            // Outside the quotation marks, so that no text can say it of itself.
            Some((head, what, tail)) => {
                let quoted = |text: &str| escape_json(&serde_json::Value::from(text).to_string()).into_owned();
                format!("{} … {what} … {}", quoted(head), quoted(tail))
            }
            None => escape(string).into_owned(),
        }
    })
}

/// JSON over lines; `spell` has the strings, with their quotation marks.
fn laid_out(json: &str, spell: &dyn Fn(&str) -> String) -> String {
    let mut shown = String::with_capacity(json.len() * 2);
    let mut depth = 0_usize;
    let mut characters = json.chars().peekable();
    let line = |shown: &mut String, depth: usize| {
        shown.push('\n');
        shown.extend(std::iter::repeat_n("  ", depth));
    };
    while let Some(c) = characters.next() {
        match c {
            '"' => {
                let mut string = String::from(c);
                while let Some(c) = characters.next() {
                    string.push(c);
                    match c {
                        '\\' => string.extend(characters.next()),
                        '"' => break,
                        _ => {}
                    }
                }
                shown.push_str(&spell(&string));
            }
            '{' | '[' => {
                let end = if c == '{' { '}' } else { ']' };
                shown.push(c);
                while characters.next_if(|c| c.is_ascii_whitespace()).is_some() {}
                if characters.next_if_eq(&end).is_some() {
                    shown.push(end);
                } else {
                    depth += 1;
                    line(&mut shown, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                line(&mut shown, depth);
                shown.push(c);
            }
            ',' => {
                shown.push(c);
                line(&mut shown, depth);
            }
            ':' => shown.push_str(": "),
            c if c.is_ascii_whitespace() => {}
            c => shown.push_str(&escape(c.encode_utf8(&mut [0; 4]))),
        }
    }
    shown
}

/// A word or more as one argument of a POSIX shell.
pub fn shell(text: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_./:=@%+,".contains(&b);
    if !text.is_empty() && text.bytes().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// A number of bytes for people: exact, and rounded where it is large.
pub fn bytes(count: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match UNITS.iter().find(|(size, _)| count >= *size && count.is_multiple_of(*size)) {
        Some((size, unit)) => format!("{} {unit}", count / size),
        None => format!("{count} bytes"),
    }
}

/// What kind of value a reader says that it found, in words for people; `table`: what names with values are called there.
pub(crate) fn kind<'t>(found: &str, table: &'t str) -> Option<&'t str> {
    Some(match found.split([' ', '`', '"']).next()? {
        "map" => table,
        "sequence" => "a list",
        "string" => "a text",
        "integer" => "a whole number",
        "floating" => "a number with a fraction",
        "boolean" => "true or false",
        "null" => "null",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn shows(text: &str, expected: &str) {
        assert_eq!(escape(text), expected);
    }

    #[test]
    fn what_repaints_a_terminal_is_shown_by_its_code() {
        shows("plain", "plain");
        shows("\u{1b}[31mred\u{7}", r"\e[31mred\u{7}");
        shows("\u{9b}2J", r"\u{9b}2J");
        shows("a\u{0}b\u{7f}", r"a\u{0}b\u{7f}");
        shows("ok\u{2028}x\u{2029}\u{85}", r"ok\u{2028}x\u{2029}\u{85}");
        shows("\u{202e}txt.exe\u{202c}\u{2066}\u{2069}", r"\u{202e}txt.exe\u{202c}\u{2066}\u{2069}");
        shows("a\u{200b}\u{200d}\u{feff}\u{2060}\u{ad}b", r"a\u{200b}\u{200d}\u{feff}\u{2060}\u{ad}b");
        shows("\u{e0041}\u{e007f}\u{fe0f}\u{e01ef}", r"\u{e0041}\u{e007f}\u{fe0f}\u{e01ef}");
        shows("\u{3164}\u{115f}\u{61c}\u{180e}", r"\u{3164}\u{115f}\u{61c}\u{180e}");
        shows("日本語 é ẞ 🦀 עברית", "日本語 é ẞ 🦀 עברית");
    }

    #[cfg(feature = "program")]
    #[test]
    fn only_line_ends_tabs_and_colours_pass_the_last_net() {
        let check = |text: &str, expected: &str| assert_eq!(net(text), expected);
        check("a\n\tb", "a\n\tb");
        check("\u{1b}[1mbold\u{1b}[0m \u{1b}[38;5;1mred", "\u{1b}[1mbold\u{1b}[0m \u{1b}[38;5;1mred");
        check("\u{1b}[2J\u{1b}]0;x\u{7}\u{1b}[1", r"\e[2J\e]0;x\u{7}\e[1");
        check("\u{1b}", r"\e");
        check("x\r\u{202e}\n\u{200b}\u{e0041}\u{2028}\u{9b}", "x\\r\\u{202e}\n\\u{200b}\\u{e0041}\\u{2028}\\u{9b}");
    }

    #[test]
    fn json_says_the_same_and_hides_nothing() {
        let json = "{\"a\u{202e}\": \"\u{200b}é\u{e0041}\u{7f}\",\n\t\"b\": 1}";
        let shown = escape_json(json);
        assert_eq!(shown, "{\"a\\u202e\": \"\\u200bé\\udb40\\udc41\\u007f\",\n\t\"b\": 1}");
        let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
        assert!(read(&shown).is_some() && read(&shown) == read(json));
        assert!(matches!(escape_json("{\"a\":\"b\"}"), Cow::Borrowed(_)));
    }

    #[test]
    fn prose_keeps_its_lines() {
        assert_eq!(prose("a\n\n\tb".into()), "a\n\n\tb");
        assert_eq!(prose("a\n\u{202e}b\r\n\t\u{1b}[1m".into()), "a\n\\u{202e}b\\r\n\t\\e[1m");
    }

    #[cfg(feature = "program")]
    #[test]
    fn a_long_value_shows_its_ends_its_length_and_its_digest() {
        let whole = Some("--full shows it");
        let long = format!("{}{}{}", "a".repeat(600), "é".repeat(1_101), "z".repeat(300));
        let shown = value(&long, whole);
        let digest = crate::digest::sha256(long.as_bytes());
        let expected = format!(
            "{} … (3102 bytes in all, SHA-256 {digest}; --full shows it) … {}",
            "a".repeat(600),
            "z".repeat(300)
        );
        assert_eq!(shown, expected);
        assert_eq!(value(&long, None), long);
        let most = "é".repeat(2_000);
        assert_eq!(value(&most, whole), most);
        // In JSON what is said of it stands outside the quotation marks.
        let json = serde_json::json!({"b": long, "c": "\"", "n": 1}).to_string();
        let laid = indent_values(&json, whole);
        assert!(
            laid.contains("a\" … (3102 bytes in all, SHA-256 ") && laid.contains("; --full shows it) … \"z"),
            "{laid}"
        );
        assert!(laid.contains("\"c\": \"\\\"\"") && laid.contains("\"n\": 1"), "{laid}");
        assert_eq!(indent_values(&json, None), indent(&json));
    }

    #[test]
    fn json_is_laid_out_without_being_read() {
        let json = r#"{"n":9007199254740993,"e":{},"l":[1,{"a":"x,\"}"}],"z":[ ]}"#;
        let expected = "{\n  \"n\": 9007199254740993,\n  \"e\": {},\n  \"l\": [\n    1,\n    {\n      \"a\": \"x,\\\"}\"\n    }\n  ],\n  \"z\": []\n}";
        assert_eq!(indent(json), expected);
        assert_eq!(indent("{\"a\":\"\u{202e}\"}"), "{\n  \"a\": \"\\u{202e}\"\n}");
        assert_eq!(indent("{\"a"), "{\n  \"a");
        assert_eq!(indent("]]"), "\n]\n]");
    }

    #[test]
    fn a_token_is_masked_wherever_it_stands() {
        let token = "cfm_abcdefghijklmnopqrstuvwx";
        assert_eq!(mask(&format!("{token}{token} and cfm_ itself")), "cfm_…cfm_… and cfm_ itself");
        assert_eq!(mask("cfm_ABCDEFGHIJKLMNOP!"), "cfm_…!");
    }

    #[test]
    fn a_shell_reads_back_what_was_quoted() {
        assert_eq!(shell("a/b-c"), "a/b-c");
        assert_eq!(shell(""), "''");
        assert_eq!(shell(r#"{"it's":1}"#), r#"'{"it'\''s":1}'"#);
    }

    #[test]
    fn sizes_are_exact() {
        assert_eq!(bytes(0), "0 bytes");
        assert_eq!(bytes(262_144), "256 KiB");
        assert_eq!(bytes(262_145), "262145 bytes");
    }
}
