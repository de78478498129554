//! Mutations of a text. Some are slips that an operator makes, which state nothing else; the others are anything at all.

use super::dice::Dice;
use std::ops::Range;

/// What a mutation may have changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A name of a key or a table was misspelt, or stands twice; the header of a table is gone, so that its entries are
    /// another's; lines ran together. No value was touched, no whole entry taken away.
    Slip,
    /// Anything.
    Anything,
}

/// Letters that look like others.
const ALIKE: [(char, char); 6] = [('a', 'а'), ('e', 'е'), ('l', 'I'), ('o', '0'), ('i', 'ı'), ('s', 'ѕ')];

/// One mutation of a text.
pub fn mutated(text: &str, dice: &mut Dice) -> (Kind, Vec<u8>) {
    if dice.below(2) == 0 {
        let slip = match dice.below(10) {
            0 => header(text, dice),
            1 => joined(text, dice),
            _ => name(text, dice),
        };
        (Kind::Slip, slip.into_bytes())
    } else {
        let mut bytes = text.as_bytes().to_vec();
        for _ in 0..=dice.below(3) {
            bytes = anything(&bytes, dice);
        }
        (Kind::Anything, bytes)
    }
}

/// Where the names stand: those of tables, and what comes before `=` on a line or in an inline table.
fn names(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let from = start;
        start += line.len();
        if line.starts_with('[') {
            let inner = line.trim_end().trim_matches(['[', ']']);
            let at = from + line.find(inner).unwrap();
            let mut part = at;
            for word in inner.split('.') {
                found.push(part..part + word.len());
                part += word.len() + 1;
            }
            continue;
        }
        let mut quoted = false;
        let mut word = None;
        for (at, c) in line.char_indices() {
            match c {
                '"' => quoted = !quoted,
                '=' if !quoted => found.extend(word.take()),
                c if !quoted && (c.is_alphanumeric() || c == '_' || c == '-') => {
                    let begun = word.take().filter(|range: &Range<usize>| range.end == from + at);
                    word = Some(begun.map_or(from + at, |range| range.start)..from + at + c.len_utf8());
                }
                _ => {}
            }
        }
    }
    found
}

/// A slip in one name.
fn name(text: &str, dice: &mut Dice) -> String {
    let names = names(text);
    let range = dice.one(&names).clone();
    let word = &text[range.clone()];
    let at = dice.below(word.len());
    let (head, tail) = (&word[..at], &word[at..]);
    let (first, rest) = tail.split_at(1);
    let slip = match dice.below(9) {
        0 => format!("{head}{rest}"),
        1 => format!("{head}{first}{first}{rest}"),
        2 => format!("{rest}{first}{head}"),
        3 => word.to_uppercase(),
        4 => format!("{head}{}{rest}", first.to_uppercase()),
        5 => word.replace('_', "-"),
        6 => {
            let (plain, alike) = dice.one(&ALIKE);
            word.replacen(*plain, &alike.to_string(), 1)
        }
        7 => format!("\"{word}\""),
        // The whole line again, with a slip in it: two of a kind, of which one must not win unseen.
        _ => {
            let from = text[..range.start].rfind('\n').map_or(0, |at| at + 1);
            let to = text[range.end..].find('\n').map_or(text.len(), |at| range.end + at + 1);
            return format!("{}{}{}", &text[..to], &text[from..to], &text[to..]);
        }
    };
    format!("{}{slip}{}", &text[..range.start], &text[range.end..])
}

/// A header of a table is gone, and its entries are the table's before it.
fn header(text: &str, dice: &mut Dice) -> String {
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    let headers: Vec<usize> = (0..lines.len()).filter(|at| lines[*at].starts_with('[')).collect();
    lines.remove(*dice.one(&headers));
    lines.concat()
}

/// The end of a line is gone.
fn joined(text: &str, dice: &mut Dice) -> String {
    let ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
    let at = *dice.one(&ends);
    format!("{}{}", &text[..at], &text[at + 1..])
}

/// Anything at all.
fn anything(bytes: &[u8], dice: &mut Dice) -> Vec<u8> {
    const WORDS: [&str; 24] = [
        "0",
        "-1",
        "4294967296",
        "18446744073709551616",
        "1e3",
        "true",
        "\"\"",
        "\"*\"",
        "\"/\"",
        "\"..\"",
        "[]",
        "{}",
        "nan",
        "\"10y\"",
        "\"1M\"",
        "\"999 GiB\"",
        "\"read-write\"",
        "\"safe\"",
        "3",
        "\u{feff}",
        "\r\n",
        "\0",
        "#",
        "'''",
    ];
    let text = String::from_utf8_lossy(bytes).into_owned();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let at = dice.below(bytes.len());
    match dice.below(12) {
        0 => splice(bytes, at..at + 1, &[bytes.get(at).copied().unwrap_or(0) ^ (1 << dice.below(8))]),
        1 => splice(bytes, at..at, &[dice.below(256) as u8]),
        2 => splice(bytes, at..at + 1 + dice.below(4), &[]),
        3 => splice(bytes, at..at, dice.one(&WORDS).as_bytes()),
        // What stands behind `=` becomes something else.
        4 => {
            let values: Vec<usize> =
                bytes.iter().enumerate().filter(|(_, b)| **b == b'=').map(|(at, _)| at + 1).collect();
            let from = *dice.one(&values);
            let to =
                bytes[from..].iter().position(|b| matches!(b, b',' | b'}' | b'\n')).map_or(bytes.len(), |n| from + n);
            splice(bytes, from..to, dice.one(&WORDS).as_bytes())
        }
        5 => {
            let digits: Vec<usize> =
                bytes.iter().enumerate().filter(|(_, b)| b.is_ascii_digit()).map(|(at, _)| at).collect();
            let at = *dice.one(&digits);
            splice(bytes, at..at + 1, format!("{}", dice.below(1000)).as_bytes())
        }
        6 => {
            let (one, other) = (dice.below(lines.len()), dice.below(lines.len()));
            let mut lines = lines;
            lines.swap(one, other);
            lines.concat().into_bytes()
        }
        7 => {
            let mut lines = lines;
            let line = *dice.one(&lines);
            lines.insert(dice.below(lines.len()), line);
            lines.concat().into_bytes()
        }
        8 => {
            let mut lines = lines;
            lines.remove(dice.below(lines.len()));
            lines.concat().into_bytes()
        }
        9 => text.replacen('\n', "", 1 + dice.below(3)).into_bytes(),
        10 => splice(bytes, at..at, "[".repeat(1 + dice.below(600)).as_bytes()),
        _ => splice(bytes, at..at, "a".repeat(1 + dice.below(70_000)).as_bytes()),
    }
}

fn splice(bytes: &[u8], range: Range<usize>, with: &[u8]) -> Vec<u8> {
    let end = range.end.min(bytes.len());
    let start = range.start.min(end);
    [&bytes[..start], with, &bytes[end..]].concat()
}

#[test]
fn the_names_of_a_text_are_found_where_they_stand() {
    let text = "[gate]\nttl = \"5m = 3\"\n[[plugins.files.dirs]]\nx = { host = \"a\", guest = 3 }\n";
    let found: Vec<&str> = names(text).into_iter().map(|range| &text[range]).collect();
    assert_eq!(found, ["gate", "ttl", "plugins", "files", "dirs", "x", "host", "guest"]);
}
