//! Canonical arguments: whatever is sent, the reader answers as the model does, its answer reads as itself, and no spelling
//! of a value gives another answer. Limits only refuse.

use counterfoil_gate_core::canonical::{ArgumentsError, Limits, Request, compact, is_canonical, read, write_string};
use model::{Answer, Value};
use serde_json::value::RawValue;
use spelling::Speller;
use std::collections::BTreeSet;

#[allow(dead_code, reason = "its own tests use more of it")]
#[path = "../../../guest/gate-core/tests/canonical/model.rs"]
mod model;
#[path = "../../../guest/gate-core/tests/canonical/spelling.rs"]
mod spelling;

/// The usual one, and one that is easy to hit.
const CONFIRM: [&str; 2] = ["confirm_token", "a"];
/// No limits but that of exponents, which the model has as well.
const WIDE: Limits = Limits { max_bytes: u32::MAX, max_depth: u32::MAX, max_number: u32::MAX, max_exponent: 9_999 };
/// Within reach of short texts.
const TIGHT: Limits = Limits { max_bytes: 60, max_depth: 3, max_number: 6, max_exponent: 12 };
/// The model calls itself for each level, and moves a number's point one place at a time.
const MODEL: (usize, usize) = (256, 4096);

/// Holds one text to all of that. Says what it was.
pub fn check(bytes: &[u8]) -> &'static str {
    let Ok(text) = std::str::from_utf8(bytes) else { return "not UTF-8" };
    quoted(text);
    let value = modelled(text);
    for confirm in CONFIRM {
        one(text, confirm, value.as_ref());
    }
    compacted(text, value.as_ref());
    match answer(text, CONFIRM[0], &WIDE) {
        Answer::Read { token: Some(_), .. } => "with a token",
        Answer::Read { token: None, .. } => "without a token",
        Answer::MalformedToken => "with a malformed token",
        Answer::InvalidArguments => "invalid",
    }
}

fn answer(text: &str, confirm: &str, limits: &Limits) -> Answer {
    match read(text, confirm, limits) {
        Ok(Request { token, arguments }) => Answer::Read { token, arguments },
        Err(ArgumentsError::MalformedToken(_)) => Answer::MalformedToken,
        Err(ArgumentsError::InvalidArguments(_)) => Answer::InvalidArguments,
    }
}

/// What the model makes of a text: its value, or that it is none. Nothing where the model would not come to an end.
fn modelled(text: &str) -> Option<Option<Value>> {
    let levels = text.bytes().filter(|byte| matches!(byte, b'{' | b'[')).count();
    (levels <= MODEL.0 && text.len() <= MODEL.1).then(|| model::parse(text))
}

fn one(text: &str, confirm: &str, value: Option<&Option<Value>>) {
    let found = answer(text, confirm, &WIDE);
    if let Some(value) = value {
        if value.as_ref().is_some_and(is_beyond) {
            assert_eq!(found, Answer::InvalidArguments, "a number beyond the limit of exponents");
        } else {
            assert_eq!(found, model::read(text, confirm), "the reader, the model");
            if let Some(value @ Value::Object(_)) = value {
                let mut speller = Speller { seed: seed(text) };
                for _ in 0..2 {
                    let spelled = speller.spell(value);
                    assert_eq!(answer(&spelled, confirm, &WIDE), found, "spelled as {spelled}");
                }
            }
        }
    }
    if let Answer::Read { arguments, .. } = &found {
        assert!(is_canonical(arguments, &WIDE), "{arguments}");
        let itself = Answer::Read { token: None, arguments: arguments.clone() };
        assert_eq!(answer(arguments, confirm, &WIDE), itself, "read again");
    }
    for limits in [Limits::default(), TIGHT] {
        let limited = answer(text, confirm, &limits);
        if limited != Answer::InvalidArguments {
            assert_eq!(limited, found, "a limit refuses and changes nothing");
        }
        if let Answer::Read { arguments, .. } = &limited {
            assert!(is_canonical(arguments, &limits), "{arguments} is within the limits in which it was read");
        }
    }
}

/// What is kept as it was spelled: strict, and still the same to the reader.
fn compacted(text: &str, value: Option<&Option<Value>>) {
    let found = compact(text, &WIDE);
    if let Some(value) = value.filter(|value| !value.as_ref().is_some_and(is_beyond)) {
        assert_eq!(found.is_ok(), value.is_some(), "{found:?}");
        if let (Ok(found), Some(value)) = (&found, value) {
            let keys = found.keys.as_ref().map(|keys| keys.iter().map(|key| key.encode_utf16().collect()).collect());
            let expected: Option<BTreeSet<Vec<u16>>> =
                if let Value::Object(members) = value { Some(members.keys().cloned().collect()) } else { None };
            assert_eq!(keys, expected, "the keys at top level");
        }
    }
    match found {
        Ok(found) => {
            assert!(serde_json::from_str::<&RawValue>(text).is_ok(), "others read it, too");
            let again = compact(&found.text, &WIDE).map(|again| (again.text, again.keys));
            assert_eq!(again, Ok((found.text.clone(), found.keys)), "compacted again");
            for confirm in CONFIRM {
                assert_eq!(answer(&found.text, confirm, &WIDE), answer(text, confirm, &WIDE), "of what was compacted");
            }
        }
        Err(_) => {
            for confirm in CONFIRM {
                assert_eq!(answer(text, confirm, &WIDE), Answer::InvalidArguments, "it is as strict as the reader");
            }
        }
    }
}

/// Any text as a JSON string is that text again.
fn quoted(text: &str) {
    let mut literal = String::new();
    write_string(&mut literal, text);
    assert_eq!(serde_json::from_str::<String>(&literal).ok().as_deref(), Some(text), "{literal}");
}

/// Whether a number in it has an exponent, in canonical form, that the reader refuses and the model knows nothing of.
fn is_beyond(value: &Value) -> bool {
    match value {
        Value::Word(_) | Value::Text(_) => false,
        Value::Number { .. } => {
            let written = model::write(value);
            let exponent = written.split_once('e').and_then(|(_, exponent)| exponent.parse::<i64>().ok());
            exponent.is_some_and(|exponent| exponent.unsigned_abs() > u64::from(WIDE.max_exponent))
        }
        Value::List(items) => items.iter().any(is_beyond),
        Value::Object(members) => members.values().any(is_beyond),
    }
}

/// Never zero, of which nothing random comes.
fn seed(text: &str) -> u64 {
    text.bytes().fold(0x9e37_79b9_7f4a_7c15, |seed: u64, byte| (seed ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
        | 1
}
