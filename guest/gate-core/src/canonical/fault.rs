//! What can be wrong with a text, and the sentence that says so. No sentence holds more of the text than a short key.

use alloc::boxed::Box;
use alloc::string::String;

use super::Limits;
use super::reader::Rules;
use super::text::TOKEN_PREFIX;
use crate::digest::hex;
use crate::prose::{decimal, fill, say};

/// What is wrong, and where in the text.
#[derive(Debug)]
pub(super) struct Fault {
    at: usize,
    what: What,
    /// Of a duplicate: the key, where it is short and plain.
    key: Option<String>,
}

/// Stops the reader. In a box, so that the many places that can find a fault return one word.
pub(super) type Stop = Box<Fault>;

#[derive(Clone, Copy, Debug)]
pub(super) enum What {
    TooLong {
        bytes: usize,
    },
    TooLongCanonical {
        bytes: usize,
    },
    Empty,
    ByteOrderMark,
    NotAnObject,
    End,
    ValueExpected,
    KeyExpected,
    ColonExpected,
    CommaOrBraceExpected,
    CommaOrBracketExpected,
    TextBehind,
    TooDeep,
    DigitExpected,
    LeadingZero,
    NumberTooLong {
        characters: usize,
    },
    NumberTooLongCanonical {
        characters: usize,
    },
    Exponent,
    ExponentCanonical,
    Control {
        byte: usize,
    },
    Escape,
    LoneSurrogate,
    Duplicate,
    Token,
    /// The reader contradicts itself: refuse.
    Defect,
}

impl Fault {
    #[cold]
    #[inline(never)]
    pub(super) fn new(at: usize, what: What) -> Stop {
        Box::new(Self { at, what, key: None })
    }

    /// A key that is in its object a second time.
    pub(super) fn duplicate(at: usize, key: &str) -> Stop {
        let mut stop = Self::new(at, What::Duplicate);
        stop.key = plain_key(key);
        stop
    }

    pub(super) fn text(&self, limits: &Limits, rules: Rules<'_>) -> String {
        const STRICT: &str = "send strict JSON (RFC 8259)";
        let number = |number: usize| decimal(number as u64);
        let at = number(self.at);
        let bytes = decimal(limits.max_bytes.into());
        let characters = decimal(limits.max_number.into());
        let exponent = decimal(limits.max_exponent.into());
        let expected = |what| fill("% is expected at byte %: %", &[what, &at, STRICT]);
        let here = |sentence| fill(sentence, &[&at]);
        match self.what {
            What::TooLong { bytes: sent } => {
                fill("the arguments are % bytes long: at most % are allowed", &[&number(sent), &bytes])
            }
            What::TooLongCanonical { bytes: written } => fill(
                "the arguments are % bytes long in canonical form: at most % are allowed",
                &[&number(written), &bytes],
            ),
            What::Empty => say(match rules {
                Rules::Arguments { .. } => "the text is empty: send {} for no arguments",
                Rules::AsSent => "the text is empty: send one JSON value",
            }),
            What::ByteOrderMark => here("byte order mark at byte %: send the text without it"),
            What::NotAnObject => here("no object at byte %: send one JSON object, or null for no arguments"),
            What::End => here("the text ends too early, at byte %: send the whole JSON text"),
            What::ValueExpected => expected("a value"),
            What::KeyExpected => expected("a key in double quotes"),
            What::ColonExpected => expected("a colon"),
            What::CommaOrBraceExpected => expected("a comma or }"),
            What::CommaOrBracketExpected => expected("a comma or ]"),
            What::TextBehind => here("text behind the value at byte %: send one JSON value and nothing else"),
            What::TooDeep => {
                fill("nested more than % deep at byte %: send it flatter", &[&decimal(limits.max_depth.into()), &at])
            }
            What::DigitExpected => expected("a digit"),
            What::LeadingZero => here("a number starts with a spare zero at byte %: send it without"),
            What::NumberTooLong { characters: sent } => {
                fill("the number at byte % has % characters: at most % are allowed", &[&at, &number(sent), &characters])
            }
            What::NumberTooLongCanonical { characters: written } => fill(
                "the number at byte % has % characters in canonical form: at most % are allowed",
                &[&at, &number(written), &characters],
            ),
            What::Exponent => fill(
                "the number at byte % has an exponent beyond %: send a number of less magnitude",
                &[&at, &exponent],
            ),
            What::ExponentCanonical => fill(
                "the number at byte % has an exponent beyond % in canonical form: send a number of less magnitude",
                &[&at, &exponent],
            ),
            What::Control { byte } => {
                fill("a control character in a string at byte %: write it as \\u00%", &[&at, &hex(&[byte as u8])])
            }
            What::Escape => here(
                "an unknown escape at byte %: use \\\" \\\\ \\/ \\b \\f \\n \\r \\t or \\u and four hexadecimal digits",
            ),
            What::LoneSurrogate => here("a lone surrogate at byte %: send the whole character"),
            What::Duplicate => match &self.key {
                Some(key) => {
                    fill("the key \"%\" is in its object a second time at byte %: send each key once", &[key, &at])
                }
                None => here("the key at byte % is in its object a second time: send each key once"),
            },
            What::Token => match rules {
                Rules::Arguments { confirm: Some(name) } => {
                    fill("a token in the text at byte %: a token belongs only in %, at top level", &[&at, name])
                }
                _ => here("a token in the text at byte %: it does not belong there"),
            },
            What::Defect => here("the reader could not go on at byte %: report this text to its makers"),
        }
    }
}

/// A key for a sentence, where it is short, plain and nothing of a token.
fn plain_key(key: &str) -> Option<String> {
    let plain = |byte| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\');
    let shown = key.len() <= 64
        && key.bytes().all(plain)
        && !key.as_bytes().windows(TOKEN_PREFIX.len()).any(|part| part == TOKEN_PREFIX.as_bytes());
    shown.then(|| say(key))
}

/// What was given as the confirm parameter.
#[derive(Clone, Copy, Debug)]
pub(super) enum Malformed {
    NotAString,
    NotAToken,
}

impl Malformed {
    pub(super) fn text(self, confirm_parameter: &str) -> String {
        let what = match self {
            Self::NotAString => "is no string",
            Self::NotAToken => "holds no token",
        };
        fill(
            "% %: pass the token exactly as it was given, or leave it out for a new preview",
            &[confirm_parameter, what],
        )
    }
}
