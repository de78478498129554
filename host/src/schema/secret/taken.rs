//! Takes secrets out of what a tool says. A plan, an outcome or an error may repeat what the arguments hold, or a variable of
//! its plug-in; nobody is shown it and nothing keeps it.
//!
//! A secret of [`LONG`] characters and more is found wherever it stands in a text, and so is each such line of one in several
//! lines; a shorter one as a word of its own, since it may well be part of others; one of a single character, or two, only
//! where it is the whole text. What a tool makes of a secret (a part, a digest, another encoding) cannot be known.

use super::MASK;
use super::scan::Scan;
use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Characters from which on a secret stands for itself anywhere.
const LONG: usize = 6;
/// Characters from which on it is told apart as a word.
const WORD: usize = 3;

/// Secrets, and what stands in their place. No `Debug`.
pub(crate) struct Taken {
    whole: BTreeMap<String, usize>,
    /// Every spelling that is looked for.
    forms: Vec<Form>,
    /// What stands for each; one at least.
    signs: Vec<Cow<'static, str>>,
    /// `None`: they could not be made, so nothing is told at all.
    finders: Option<Finders>,
}

/// A spelling of a secret, and which sign stands for it.
type Form = (String, usize);

struct Finders {
    /// By the number of the form.
    long: AhoCorasick,
    words: AhoCorasick,
}

impl Taken {
    /// Of arguments: strings as they read, numbers as they are written.
    pub(super) fn new(values: impl IntoIterator<Item = String>) -> Self {
        let whole = values.into_iter().filter(|value| !value.is_empty()).map(|value| (value, 0)).collect();
        Self::of(whole, vec![Cow::Borrowed(MASK)], WORD)
    }

    /// Of variables: `[NAME]` stands for the value. Many a variable is no secret, so only long ones are looked for.
    pub(crate) fn named<'v>(variables: impl IntoIterator<Item = (&'v str, &'v str)>) -> Self {
        let (mut whole, mut signs) = (BTreeMap::new(), vec![Cow::Borrowed(MASK)]);
        for (name, value) in variables {
            if longer(value, LONG) {
                whole.entry(value.to_owned()).or_insert(signs.len());
                signs.push(Cow::Owned(format!("[{name}]")));
            }
        }
        Self::of(whole, signs, LONG)
    }

    fn of(whole: BTreeMap<String, usize>, signs: Vec<Cow<'static, str>>, shortest: usize) -> Self {
        let mut forms = BTreeMap::new();
        let mut lines = BTreeSet::new();
        for (value, sign) in &whole {
            forms.entry(value.trim().to_owned()).or_insert(*sign);
            // As it stands in JSON that is itself a text.
            forms.entry(quoted(value).trim_matches('"').to_owned()).or_insert(*sign);
            // Of a key in several lines each is part of the secret.
            lines.extend(value.lines().map(|line| (line.trim(), *sign)).filter(|(line, _)| longer(line, LONG)));
        }
        for (line, sign) in lines {
            forms.entry(line.to_owned()).or_insert(sign);
        }
        let (mut forms, short): (Vec<Form>, Vec<Form>) =
            forms.into_iter().filter(|(form, _)| longer(form, shortest)).partition(|(form, _)| longer(form, LONG));
        // A DFA would be looked up faster, but one of a long secret that repeats itself takes its length squared to build.
        let finder = |match_kind, forms: &[Form]| {
            let kind = Some(AhoCorasickKind::ContiguousNFA);
            AhoCorasick::builder().kind(kind).match_kind(match_kind).build(bytes(forms))
        };
        let long = finder(MatchKind::LeftmostLongest, &forms);
        let finders = long.and_then(|long| Ok(Finders { long, words: finder(MatchKind::Standard, &short)? })).ok();
        forms.extend(short);
        Self { whole, forms, signs, finders }
    }

    fn sign(&self, number: usize) -> &str {
        self.signs.get(number).map_or(MASK, |sign| sign)
    }

    /// The text without secrets.
    pub(crate) fn out_of<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let Some(finders) = &self.finders else { return Cow::Borrowed(MASK) };
        if let Some(sign) = self.whole.get(text) {
            return Cow::Owned(self.sign(*sign).to_owned());
        }
        let bounded = |start: usize, end: usize| {
            let before = text.get(..start).and_then(|before| before.chars().next_back());
            let after = text.get(end..).and_then(|after| after.chars().next());
            ![before, after].into_iter().flatten().any(char::is_alphanumeric)
        };
        // Words are of arguments, which have one sign.
        let words = finders.words.find_overlapping_iter(text).map(|found| (found.start(), found.end(), 0));
        let mut found: Vec<_> = words.filter(|(start, end, _)| bounded(*start, *end)).collect();
        found.extend(finders.long.find_iter(text).map(|found| {
            let form = self.forms.get(found.pattern().as_usize());
            (found.start(), found.end(), form.map_or(0, |(_, sign)| *sign))
        }));
        if found.is_empty() {
            return Cow::Borrowed(text);
        }
        found.sort_unstable();
        let (mut out, mut copied) = (String::with_capacity(text.len()), 0);
        for (start, end, sign) in found {
            // One that begins inside another goes with it.
            if start >= copied {
                out.push_str(text.get(copied..start).unwrap_or_default());
                out.push_str(self.sign(sign));
            }
            copied = copied.max(end);
        }
        out.push_str(text.get(copied..).unwrap_or_default());
        Cow::Owned(out)
    }

    /// How many bytes at the end of a text that was cut may be the beginning of a secret.
    pub(crate) fn begun(&self, text: &str) -> usize {
        let all = self.forms.iter().map(|(form, _)| form).chain(self.whole.keys());
        all.map(|secret| begun(secret, text)).max().unwrap_or(0)
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
                    let Some(sign) = self.number(number) else { continue };
                    quoted(sign)
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

    /// What stands for a number that is one, or has one in it. One of a digit or two is everywhere.
    fn number(&self, number: &str) -> Option<&str> {
        let long = |finders: &Finders| match finders.long.find(number) {
            Some(found) => self.forms.get(found.pattern().as_usize()).map(|(_, sign)| *sign),
            None => None,
        };
        let whole = self.whole.get(number).copied().filter(|_| longer(number, WORD));
        whole.or_else(|| self.finders.as_ref().map_or(Some(0), long)).map(|sign| self.sign(sign))
    }

    /// Whether a text holds one, as a text or as JSON.
    pub(crate) fn is_in(&self, text: &str) -> bool {
        self.out_of(text) != text || self.out_of_json(text) != text
    }
}

/// How many bytes at the end of a text are the beginning of this secret. Looks at each byte of it a few times at most.
fn begun(secret: &str, text: &str) -> usize {
    let secret = secret.as_bytes();
    let end = text.as_bytes().get(text.len().saturating_sub(secret.len())..).unwrap_or_default();
    let is = |at: usize, byte: u8| secret.get(at) == Some(&byte);
    // For each beginning: the longest shorter one that it ends with (Knuth, Morris and Pratt).
    let mut shorter: Vec<usize> = Vec::with_capacity(secret.len());
    let step = |shorter: &[usize], mut long: usize, byte: u8| {
        while long > 0 && !is(long, byte) {
            long = shorter.get(long - 1).copied().unwrap_or(0);
        }
        if is(long, byte) { long + 1 } else { 0 }
    };
    for (at, byte) in secret.iter().enumerate() {
        let before = shorter.last().copied().unwrap_or(0);
        let next = if at == 0 { 0 } else { step(&shorter, before, *byte) };
        shorter.push(next);
    }
    end.iter().fold(0, |long, byte| step(&shorter, long, *byte))
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

fn bytes(forms: &[Form]) -> impl Iterator<Item = &[u8]> {
    forms.iter().map(|(form, _)| form.as_bytes())
}
