//! Goes through a JSON text beside the marks of a schema. Copies what is no secret byte for byte: no number is read.

use super::MASK;
use super::marks::{Marks, Place};

/// Deepest value that is looked into: the schema check refuses deeper ones.
const DEPTH: usize = 128;

/// An object without its secrets; `None`: it has none.
pub(super) fn masked(marks: &Marks, text: &str) -> Option<String> {
    let mut walk = Walk { marks, text, at: 0, copied: 0, masked: String::new() };
    let top = marks.top();
    // The names at the top stay, so that arguments are an object still.
    let within = if marks.is_secret(&top) { Within::Secret } else { Within::Place(&top) };
    walk.space();
    if walk.next() != Some(b'{') || walk.value(&within, 0).is_none() || walk.end().is_none() {
        // Nobody can tell where the secrets are in what is no object.
        return Some(format!("\"{MASK}\""));
    }
    (walk.copied > 0).then(|| {
        walk.masked.push_str(text.get(walk.copied..).unwrap_or_default());
        walk.masked
    })
}

/// What is known of the members or items of a value.
enum Within<'a> {
    /// The schema has a word for each.
    Place(&'a Place),
    /// Each is a secret by itself.
    Secret,
    /// Each is part of one.
    Taken,
}

struct Walk<'a> {
    marks: &'a Marks,
    text: &'a str,
    at: usize,
    /// Up to where the text is in `masked` already.
    copied: usize,
    masked: String,
}

impl<'a> Walk<'a> {
    /// Passes over one value. Here and below `None` says that the text is no JSON.
    fn value(&mut self, within: &Within<'_>, depth: usize) -> Option<()> {
        match self.next()? {
            _ if depth > DEPTH => None,
            b'{' => self.each(b'}', |walk, _| {
                let name: String = serde_json::from_str(walk.string()?).ok()?;
                walk.space();
                walk.take(b':')?;
                walk.space();
                walk.inner(within, depth, |marks, place| marks.member(place, &name))
            }),
            b'[' => self.each(b']', |walk, number| walk.inner(within, depth, |marks, place| marks.item(place, number))),
            b'"' => self.string().map(|_| ()),
            _ => {
                let start = self.at;
                self.pass(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
                (self.at > start).then_some(())
            }
        }
    }

    /// Passes over a member or an item, and takes it out if it is a secret.
    fn inner(&mut self, within: &Within<'_>, depth: usize, step: impl FnOnce(&Marks, &Place) -> Place) -> Option<()> {
        match within {
            Within::Taken => return self.value(&Within::Taken, depth + 1),
            Within::Secret => {}
            Within::Place(place) => {
                let place = step(self.marks, place);
                if !self.marks.is_secret(&place) {
                    return self.value(&Within::Place(&place), depth + 1);
                }
            }
        }
        let start = self.at;
        self.value(&Within::Taken, depth + 1)?;
        self.masked.push_str(self.text.get(self.copied..start)?);
        self.masked.push('"');
        self.masked.push_str(MASK);
        self.masked.push('"');
        self.copied = self.at;
        Some(())
    }

    /// Passes over an object or an array.
    fn each(&mut self, end: u8, mut one: impl FnMut(&mut Self, usize) -> Option<()>) -> Option<()> {
        self.at += 1;
        self.space();
        if self.take(end).is_some() {
            return Some(());
        }
        for number in 0.. {
            self.space();
            one(self, number)?;
            self.space();
            if self.take(b',').is_none() {
                break;
            }
        }
        self.take(end)
    }

    /// Passes over a string and returns it as it is written.
    fn string(&mut self) -> Option<&'a str> {
        let start = self.at;
        self.take(b'"')?;
        loop {
            self.pass(|byte| byte != b'"' && byte != b'\\');
            if self.take(b'"').is_some() {
                return self.text.get(start..self.at);
            }
            self.take(b'\\')?;
            self.next()?;
            self.at += 1;
        }
    }

    fn space(&mut self) {
        self.pass(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
    }

    fn pass(&mut self, what: impl Fn(u8) -> bool) {
        while self.next().is_some_and(&what) {
            self.at += 1;
        }
    }

    fn take(&mut self, byte: u8) -> Option<()> {
        (self.next()? == byte).then(|| self.at += 1)
    }

    fn next(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn end(&mut self) -> Option<()> {
        self.space();
        (self.at == self.text.len()).then_some(())
    }
}
