//! Whatever is sent, reader and model give the same answer, and what the reader returns is a fixed point.

use counterfoil_gate_core::canonical::{ArgumentsError, Limits, Request, compact, is_canonical, read};
use proptest::prelude::*;

use super::model::{self, Answer, Value};
use super::spelling::Speller;
use super::values::object;

const CONFIRM: &str = "confirm_token";

fn answer(text: &str) -> Answer {
    match read(text, CONFIRM, &Limits::default()) {
        Ok(Request { token, arguments }) => Answer::Read { token, arguments },
        Err(ArgumentsError::MalformedToken(_)) => Answer::MalformedToken,
        Err(ArgumentsError::InvalidArguments(_)) => Answer::InvalidArguments,
    }
}

fn check(text: &str) -> Result<(), TestCaseError> {
    let answer = answer(text);
    prop_assert_eq!(&answer, &model::read(text, CONFIRM), "{}", text);
    if let Answer::Read { arguments, .. } = answer {
        prop_assert!(is_canonical(&arguments, &Limits::default()), "{}", arguments);
        let again = self::answer(&arguments);
        prop_assert_eq!(again, Answer::Read { token: None, arguments: arguments.clone() });
        let compacted = compact(text, &Limits::default()).expect("is as strict as read, not more");
        prop_assert_eq!(self::answer(&compacted.text), self::answer(text));
    }
    Ok(())
}

/// Pieces of JSON and near-JSON.
fn piece() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"",
        "\"a\"",
        "\"\\u0061\"",
        "\"b\":",
        "\"\\ud800\"",
        "\\u001",
        "0",
        "1",
        "-",
        ".5",
        "e1",
        "E+22",
        "e-9",
        "null",
        "true",
        "fals",
        " ",
        "\n",
        "\u{c}",
        "\u{feff}",
        "\u{e000}",
        "\u{10000}",
        "\\",
        "/",
        "confirm_token",
        "cfm_abcdefghijklmnopqrstuv27",
    ])
}

/// `PROPTEST_CASES`, for long runs; enough for every day otherwise.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(1500)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases()) })]

    #[test]
    fn a_spelled_object_reads_as_the_model_says(value in object(), seed in 1_u64..) {
        check(&Speller { seed }.spell(&value))?;
    }

    #[test]
    fn two_spellings_of_one_object_are_one_text(value in object(), one in 1_u64.., other in 1_u64..) {
        let one = answer(&Speller { seed: one }.spell(&value));
        prop_assert_eq!(&one, &answer(&Speller { seed: other }.spell(&value)));
        if let (Answer::Read { arguments, .. }, Value::Object(mut members)) = (one, value) {
            members.remove(&CONFIRM.encode_utf16().collect::<Vec<_>>());
            prop_assert_eq!(arguments, model::write(&Value::Object(members)));
        }
    }

    #[test]
    fn a_damaged_text_gets_the_answer_of_the_model(value in object(), seed in 1_u64.., pieces in prop::collection::vec(piece(), 1..3)) {
        let mut speller = Speller { seed };
        let mut text: Vec<char> = speller.spell(&value).chars().collect();
        for piece in pieces {
            let start = speller.choose(text.len() + 1);
            let end = (start + speller.choose(3)).min(text.len());
            text.splice(start..end, piece.chars());
        }
        check(&text.into_iter().collect::<String>())?;
    }

    #[test]
    fn pieces_of_json_get_the_answer_of_the_model(pieces in prop::collection::vec(piece(), 0..12)) {
        check(&pieces.concat())?;
        check(&format!("{{\"a\":{}}}", pieces.concat()))?;
    }

    #[test]
    fn numbers_within_tight_limits_stay_readable(
        text in "-?(0|[1-9][0-9]{0,24})(\\.[0-9]{1,12})?([eE][+-]?[0-9]{1,2})?",
        max_number in 1_u32..40,
        max_exponent in 1_u32..40,
        max_bytes in 6_u32..50,
    ) {
        let limits = Limits { max_bytes, max_number, max_exponent, ..Limits::default() };
        if let Ok(request) = read(&format!("{{\"a\":{text}}}"), CONFIRM, &limits) {
            prop_assert!(is_canonical(&request.arguments, &limits), "{} {}", text, request.arguments);
        }
    }
}
