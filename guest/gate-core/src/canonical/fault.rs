//! What can be wrong with a text, and the sentence that says so. No sentence holds more of the text than a short key.

use alloc::format;
use alloc::string::{String, ToString};

use super::Limits;
use super::reader::Rules;

/// What is wrong, and where in the text.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) at: usize,
    pub(super) what: What,
}

#[derive(Debug)]
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
    Control(u8),
    Escape,
    LoneSurrogate,
    /// With the key, where it is short and plain.
    Duplicate(Option<String>),
    Token,
    /// The reader contradicts itself: refuse.
    Defect,
}

impl Fault {
    pub(super) fn new(at: usize, what: What) -> Self {
        Self { at, what }
    }

    pub(super) fn text(&self, limits: &Limits, rules: Rules<'_>) -> String {
        const STRICT: &str = "send strict JSON (RFC 8259)";
        let at = self.at;
        let Limits { max_bytes, max_depth, max_number, max_exponent } = limits;
        match &self.what {
            What::TooLong { bytes } => format!("the arguments are {bytes} bytes long: at most {max_bytes} are allowed"),
            What::TooLongCanonical { bytes } => {
                format!("the arguments are {bytes} bytes long in canonical form: at most {max_bytes} are allowed")
            }
            What::Empty => match rules {
                Rules::Arguments { .. } => "the text is empty: send {} for no arguments".to_string(),
                Rules::AsSent => "the text is empty: send one JSON value".to_string(),
            },
            What::ByteOrderMark => format!("byte order mark at byte {at}: send the text without it"),
            What::NotAnObject => format!("no object at byte {at}: send one JSON object, or null for no arguments"),
            What::End => format!("the text ends too early, at byte {at}: send the whole JSON text"),
            What::ValueExpected => format!("a value is expected at byte {at}: {STRICT}"),
            What::KeyExpected => format!("a key in double quotes is expected at byte {at}: {STRICT}"),
            What::ColonExpected => format!("a colon is expected at byte {at}: {STRICT}"),
            What::CommaOrBraceExpected => format!("a comma or }} is expected at byte {at}: {STRICT}"),
            What::CommaOrBracketExpected => format!("a comma or ] is expected at byte {at}: {STRICT}"),
            What::TextBehind => format!("text behind the value at byte {at}: send one JSON value and nothing else"),
            What::TooDeep => format!("nested more than {max_depth} deep at byte {at}: send it flatter"),
            What::DigitExpected => format!("a digit is expected at byte {at}: {STRICT}"),
            What::LeadingZero => format!("a number starts with a spare zero at byte {at}: send it without"),
            What::NumberTooLong { characters } => {
                format!("the number at byte {at} has {characters} characters: at most {max_number} are allowed")
            }
            What::NumberTooLongCanonical { characters } => format!(
                "the number at byte {at} has {characters} characters in canonical form: at most {max_number} are allowed"
            ),
            What::Exponent => {
                format!(
                    "the number at byte {at} has an exponent beyond {max_exponent}: send a number of less magnitude"
                )
            }
            What::ExponentCanonical => format!(
                "the number at byte {at} has an exponent beyond {max_exponent} in canonical form: send a number of less magnitude"
            ),
            What::Control(byte) => format!("a control character in a string at byte {at}: write it as \\u{byte:04x}"),
            What::Escape => format!(
                "an unknown escape at byte {at}: use \\\" \\\\ \\/ \\b \\f \\n \\r \\t or \\u and four hexadecimal digits"
            ),
            What::LoneSurrogate => format!("a lone surrogate at byte {at}: send the whole character"),
            What::Duplicate(Some(key)) => {
                format!("the key \"{key}\" is in its object a second time at byte {at}: send each key once")
            }
            What::Duplicate(None) => {
                format!("the key at byte {at} is in its object a second time: send each key once")
            }
            What::Token => match rules {
                Rules::Arguments { confirm: Some(name) } => {
                    format!("a token in the text at byte {at}: a token belongs only in {name}, at top level")
                }
                _ => format!("a token in the text at byte {at}: it does not belong there"),
            },
            What::Defect => format!("the reader could not go on at byte {at}: report this text to its makers"),
        }
    }
}

/// A key for a sentence, where it is short, plain and nothing of a token.
pub(super) fn plain_key(key: &str) -> Option<String> {
    let plain = |byte| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\');
    let shown = key.len() <= 64 && key.bytes().all(plain) && !key.contains(super::text::TOKEN_PREFIX);
    shown.then(|| key.to_string())
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
        format!("{confirm_parameter} {what}: pass the token exactly as it was given, or leave it out for a new preview")
    }
}
