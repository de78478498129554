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
        let Self { at, what, key } = self;
        let named = |sentence, name: &str| fill(sentence, &[name, &decimal(*at as u64)]);
        let expected = |what| named("% is expected at byte %: send strict JSON (RFC 8259)", what);
        let (most_bytes, most_characters) = (limits.max_bytes as usize, limits.max_number as usize);
        let (sentence, [first, second, third]) = match *what {
            What::TooLong { bytes } => {
                ("the arguments are % bytes long: at most % are allowed", [bytes, most_bytes, 0])
            }
            What::TooLongCanonical { bytes } => {
                ("the arguments are % bytes long in canonical form: at most % are allowed", [bytes, most_bytes, 0])
            }
            What::Empty => match rules {
                Rules::Arguments { .. } => ("the text is empty: send {} for no arguments", [0; 3]),
                Rules::AsSent => ("the text is empty: send one JSON value", [0; 3]),
            },
            What::ByteOrderMark => ("byte order mark at byte %: send the text without it", [*at; 3]),
            What::NotAnObject => ("no object at byte %: send one JSON object, or null for no arguments", [*at; 3]),
            What::End => ("the text ends too early, at byte %: send the whole JSON text", [*at; 3]),
            What::ValueExpected => return expected("a value"),
            What::KeyExpected => return expected("a key in double quotes"),
            What::ColonExpected => return expected("a colon"),
            What::CommaOrBraceExpected => return expected("a comma or }"),
            What::CommaOrBracketExpected => return expected("a comma or ]"),
            What::TextBehind => ("text behind the value at byte %: send one JSON value and nothing else", [*at; 3]),
            What::TooDeep => {
                ("nested more than % deep at byte %: send it flatter", [limits.max_depth as usize, *at, 0])
            }
            What::DigitExpected => return expected("a digit"),
            What::LeadingZero => ("a number starts with a spare zero at byte %: send it without", [*at; 3]),
            What::NumberTooLong { characters } => {
                ("the number at byte % has % characters: at most % are allowed", [*at, characters, most_characters])
            }
            What::NumberTooLongCanonical { characters } => (
                "the number at byte % has % characters in canonical form: at most % are allowed",
                [*at, characters, most_characters],
            ),
            What::Exponent => (
                "the number at byte % has an exponent beyond %: send a number of less magnitude",
                [*at, limits.max_exponent as usize, 0],
            ),
            What::ExponentCanonical => (
                "the number at byte % has an exponent beyond % in canonical form: send a number of less magnitude",
                [*at, limits.max_exponent as usize, 0],
            ),
            What::Control { byte } => {
                let sentence = "a control character in a string at byte %: write it as \\u00%";
                return fill(sentence, &[&decimal(*at as u64), &hex(&[byte as u8])]);
            }
            What::Escape => (
                "an unknown escape at byte %: use \\\" \\\\ \\/ \\b \\f \\n \\r \\t or \\u and four hexadecimal digits",
                [*at; 3],
            ),
            What::LoneSurrogate => ("a lone surrogate at byte %: send the whole character", [*at; 3]),
            What::Duplicate => match key {
                Some(key) => {
                    return named("the key \"%\" is in its object a second time at byte %: send each key once", key);
                }
                None => ("the key at byte % is in its object a second time: send each key once", [*at; 3]),
            },
            What::Token => match rules {
                Rules::Arguments { confirm: Some(name) } => {
                    let sentence = "a token in the text at byte %: a token belongs only in %, at top level";
                    return fill(sentence, &[&decimal(*at as u64), name]);
                }
                _ => ("a token in the text at byte %: it does not belong there", [*at; 3]),
            },
            What::Defect => ("the reader could not go on at byte %: report this text to its makers", [*at; 3]),
        };
        fill(sentence, &[first, second, third].map(|number| decimal(number as u64)).each_ref().map(String::as_str))
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
