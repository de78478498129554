//! Takes secrets out of what a tool says. A plan, an outcome or an error may repeat what the arguments hold; nobody is shown
//! it and nothing keeps it.
//!
//! A secret of [`LONG`] characters and more is found wherever it stands in a text; a shorter one as a word of its own, since
//! it may well be part of others; one of a single character, or two, only where it is the whole text. What a tool makes of a
//! secret (a part, a digest, another encoding) cannot be known.

use super::MASK;
use super::scan::Scan;
use aho_corasick::{AhoCorasick, MatchKind};
use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};

/// Characters from which on a secret stands for itself anywhere.
const LONG: usize = 6;
/// Characters from which on it is told apart as a word.
const WORD: usize = 3;
/// Characters of a line of a longer secret (a key in several lines) that is looked for by itself.
const LINE: usize = 16;

/// Secrets that were taken out of arguments. No `Debug`.
pub(crate) struct Taken {
    whole: BTreeSet<String>,
    /// `None`: they could not be made, so nothing is told at all.
    finders: Option<Finders>,
}

struct Finders {
    long: AhoCorasick,
    words: AhoCorasick,
}

impl Taken {
    /// Strings as they read, numbers as they are written.
    pub(super) fn new(values: impl IntoIterator<Item = String>) -> Self {
        let whole: BTreeSet<String> = values.into_iter().filter(|value| !value.is_empty()).collect();
        let mut forms = BTreeSet::new();
        for value in &whole {
            forms.insert(Cow::Borrowed(value.trim()));
            // As it stands in JSON that is itself a text.
            forms.insert(Cow::Owned(quoted(value).trim_matches('"').to_owned()));
            forms.extend(value.lines().map(str::trim).filter(|line| longer(line, LINE)).map(Cow::Borrowed));
        }
        let (long, short): (Vec<_>, Vec<_>) =
            forms.into_iter().filter(|form| longer(form, WORD)).partition(|form| longer(form, LONG));
        let long = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(bytes(&long));
        let finders = long.and_then(|long| Ok(Finders { long, words: AhoCorasick::new(bytes(&short))? })).ok();
        Self { whole, finders }
    }

    /// Nobody knows which: nothing is told at all.
    pub(super) fn unknown() -> Self {
        Self { whole: BTreeSet::new(), finders: None }
    }

    /// The text without secrets.
    pub(crate) fn out_of<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let Some(finders) = self.finders.as_ref().filter(|_| !self.whole.contains(text)) else {
            return Cow::Borrowed(MASK);
        };
        let bounded = |start: usize, end: usize| {
            let before = text.get(..start).and_then(|before| before.chars().next_back());
            let after = text.get(end..).and_then(|after| after.chars().next());
            ![before, after].into_iter().flatten().any(char::is_alphanumeric)
        };
        let words = finders.words.find_overlapping_iter(text).map(|found| (found.start(), found.end()));
        let mut found: Vec<(usize, usize)> = words.filter(|(start, end)| bounded(*start, *end)).collect();
        found.extend(finders.long.find_iter(text).map(|found| (found.start(), found.end())));
        if found.is_empty() {
            return Cow::Borrowed(text);
        }
        found.sort_unstable();
        let (mut out, mut copied) = (String::with_capacity(text.len()), 0);
        for (start, end) in found {
            // One that begins inside another goes with it.
            if start >= copied {
                out.push_str(text.get(copied..start).unwrap_or_default());
                out.push_str(MASK);
            }
            copied = copied.max(end);
        }
        out.push_str(text.get(copied..).unwrap_or_default());
        Cow::Owned(out)
    }

    /// A text that was cut, without secrets and without what may be the beginning of one at its end.
    pub(crate) fn out_of_cut(&self, text: &str) -> String {
        let text = self.out_of(text);
        let begun = |value: &String| {
            let ends = value.char_indices().map(|(at, c)| at + c.len_utf8()).take_while(|end| *end <= text.len());
            ends.filter(|end| value.get(..*end).is_some_and(|start| text.ends_with(start))).last()
        };
        match self.whole.iter().filter_map(begun).max() {
            Some(begun) => format!("{}{MASK}", text.get(..text.len() - begun).unwrap_or_default()),
            None => text.into_owned(),
        }
    }

    /// A JSON text without secrets, in names and values, at any depth; the rest byte for byte. What is no JSON is a text.
    pub(crate) fn out_of_json<'t>(&self, json: &'t str) -> Cow<'t, str> {
        match self.edited(json) {
            Some(Edited { copied: 0, .. }) => Cow::Borrowed(json),
            Some(Edited { mut out, copied }) => {
                out.push_str(json.get(copied..).unwrap_or_default());
                Cow::Owned(out)
            }
            None => self.out_of(json),
        }
    }

    fn edited(&self, json: &str) -> Option<Edited> {
        let mut edited = Edited { out: String::new(), copied: 0 };
        // The names of each object around this place that stand for secrets.
        let mut names: Vec<HashSet<String>> = Vec::new();
        let mut scan = Scan::new(json);
        loop {
            scan.space();
            let start = scan.at;
            let Some(byte) = scan.next() else { return Some(edited) };
            let clean = match byte {
                b'"' => {
                    let string = scan.string()?;
                    let end = scan.at;
                    let mut clean = self.out_of(&string).into_owned();
                    scan.space();
                    let is_name = scan.next() == Some(b':');
                    scan.at = end;
                    if clean == string {
                        continue;
                    }
                    if is_name && let Some(names) = names.last_mut() {
                        // Two secrets are still two names.
                        while !names.insert(clean.clone()) {
                            clean = format!("{MASK} {}", names.len() + 1);
                        }
                    }
                    quoted(&clean)
                }
                b'0'..=b'9' | b'-' => {
                    let number = scan.word()?;
                    if !self.is_in(number) || !longer(number, WORD) {
                        continue;
                    }
                    quoted(MASK)
                }
                letter if letter.is_ascii_alphabetic() => {
                    if !["true", "false", "null"].contains(&scan.word()?) {
                        return None;
                    }
                    continue;
                }
                other => {
                    match other {
                        b'{' => names.push(HashSet::new()),
                        b'}' => {
                            names.pop();
                        }
                        _ => {}
                    }
                    scan.at += 1;
                    if !other.is_ascii() {
                        return None;
                    }
                    continue;
                }
            };
            edited.out.push_str(json.get(edited.copied..start)?);
            edited.out.push_str(&clean);
            edited.copied = scan.at;
        }
    }

    /// Whether a text holds one that is long enough not to be there by chance.
    pub(crate) fn is_in(&self, text: &str) -> bool {
        self.whole.contains(text) || self.finders.as_ref().is_none_or(|finders| finders.long.is_match(text))
    }
}

/// A text on its way, and up to where the original is in it.
struct Edited {
    out: String,
    copied: usize,
}

fn longer(text: &str, characters: usize) -> bool {
    text.chars().nth(characters - 1).is_some()
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn bytes<'f>(forms: &'f [Cow<'_, str>]) -> impl Iterator<Item = &'f [u8]> {
    forms.iter().map(|form| form.as_bytes())
}
