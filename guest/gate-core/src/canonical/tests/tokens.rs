//! The confirm parameter, and tokens where none belong.

use alloc::format;
use alloc::string::ToString;

use super::*;

#[track_caller]
fn check_malformed(value: &str, expected: &str) {
    let advice = "pass the token exactly as it was given, or leave it out for a new preview";
    let expected = format!("confirm_token {expected}: {advice}");
    let arguments = format!("{{\"a\":1,\"confirm_token\":{value}}}");
    assert_eq!(read_default(&arguments), Err(ArgumentsError::MalformedToken(expected)));
}

#[test]
fn confirm_parameter_is_taken_out() {
    let with = |rest: &str| format!("{{{}}}", rest.replace("TOKEN", &format!("\"confirm_token\":\"{TOKEN}\"")));
    check_token(&with(r#"TOKEN"#), Some(TOKEN), "{}");
    check_token(&with(r#"TOKEN,"b":1,"a":2"#), Some(TOKEN), r#"{"a":2,"b":1}"#);
    check_token(&with(r#""b":1,TOKEN,"a":2"#), Some(TOKEN), r#"{"a":2,"b":1}"#);
    check_token(&with(r#""b":1,"a":2 , TOKEN "#), Some(TOKEN), r#"{"a":2,"b":1}"#);
    check_token(&with(r#""a":1,TOKEN,"d":{"z":1,"y":2}"#), Some(TOKEN), r#"{"a":1,"d":{"y":2,"z":1}}"#);
    check_token(&with(r#""confirm_tokens":1,TOKEN"#), Some(TOKEN), r#"{"confirm_tokens":1}"#);
    // Spelled with escapes, key and value.
    check_token(
        &with(r#""c\u006fnfirm\u005ftoken":"cfm\u005fabcdefghijklmnopqrstuv27","a":1"#),
        Some(TOKEN),
        r#"{"a":1}"#,
    );
    // Absent.
    check_token(r#"{"confirm_token":"","a":1}"#, None, r#"{"a":1}"#);
    check_token(r#"{"a":1,"confirm_token": null }"#, None, r#"{"a":1}"#);
    // Another name.
    let request = read(
        &format!("{{\"_confirmation_token\":\"{TOKEN}\",\"confirm_token\":1}}"),
        "_confirmation_token",
        &Limits::default(),
    );
    assert_eq!(
        request.unwrap(),
        Request { token: Some(TOKEN.to_string()), arguments: r#"{"confirm_token":1}"#.to_string() }
    );
    // Not at top level.
    check_token(
        r#"{"a":{"confirm_token":1},"b":[{"confirm_token":null}]}"#,
        None,
        r#"{"a":{"confirm_token":1},"b":[{"confirm_token":null}]}"#,
    );
    check_token(r#"{"confirm_token":null,"a":{"confirm_token":""}}"#, None, r#"{"a":{"confirm_token":""}}"#);
    // Given twice.
    let twice =
        |at| format!("the key \"confirm_token\" is in its object a second time at byte {at}: send each key once");
    check_refused(&with("TOKEN,TOKEN"), &twice(48));
    check_refused(r#"{"confirm_token":null,"a":1,"confirm_token":""}"#, &twice(28));
    check_refused(r#"{"confirm_token":1,"confirm\u005ftoken":2}"#, &twice(19));
}

#[test]
fn confirm_parameter_has_to_hold_a_token() {
    for value in
        ["0", "true", "false", "[]", "{}", r#"["cfm_abcdefghijklmnopqrstuv27"]"#, r#"{"b":1,"a":{"d":1,"c":2}}"#]
    {
        check_malformed(value, "is no string");
    }
    for value in [
        "null",
        "none",
        " ",
        "cfm_",
        "cfm_abcdefghijklmnopqrstuv2",
        "cfm_abcdefghijklmnopqrstuv277",
        " cfm_abcdefghijklmnopqrstuv27",
        "cfm_abcdefghijklmnopqrstuv27 ",
        "CFM_abcdefghijklmnopqrstuv27",
        "cfm_ABCDEFGHIJKLMNOPQRSTUV27",
        "cfm_abcdefghijklmnopqrstuv28",
        "cfm_abcdefghijklmnopqrstuv21",
        "cfm-abcdefghijklmnopqrstuv27",
        "apr_abcdefghijklmnopqrstuv27",
        "\\u0000",
        "\u{fb01}",
    ] {
        check_malformed(&format!("\"{value}\""), "holds no token");
    }
    // What is wrong with the text comes first, and inside the parameter's value too.
    check_refused(r#"{"confirm_token":"no","a":01}"#, "a number starts with a spare zero at byte 26: send it without");
    check_refused(
        r#"{"confirm_token":{"a":1,"a":2}}"#,
        "the key \"a\" is in its object a second time at byte 24: send each key once",
    );
    check_refused(r#"{"confirm_token":"\ud800"}"#, "a lone surrogate at byte 18: send the whole character");
}

#[test]
fn tokens_belong_nowhere_else() {
    let found = |at| format!("a token in the text at byte {at}: a token belongs only in confirm_token, at top level");
    check_refused(&format!("{{\"a\":\"{TOKEN}\"}}"), &found(5));
    check_refused(&format!("{{\"a\":\"use {TOKEN}, please\"}}"), &found(5));
    check_refused(&format!("{{\"a\":\"{TOKEN}22222\"}}"), &found(5));
    check_refused(&format!("{{\"a\":\"cfm_{TOKEN}\"}}"), &found(5));
    check_refused(&format!("{{\"a\":\"cfm_aaaa{TOKEN}\"}}"), &found(5));
    check_refused(&format!("{{\"a\":\"\u{e9}{TOKEN}\u{e9}\"}}"), &found(5));
    check_refused(&format!("{{\"a\":[0,[\"{TOKEN}\"]]}}"), &found(9));
    check_refused(&format!("{{\"{TOKEN}\":1}}"), &found(1));
    check_refused(&format!("{{\"a\":{{\"confirm_token\":\"{TOKEN}\"}}}}"), &found(22));
    check_refused(&format!("{{\"confirm_token\":\"{TOKEN}\",\"a\":\"{TOKEN}\"}}"), &found(52));
    check_refused(r#"{"a":"\u0063fm_abcdefghijklmnopqrstuv2\u0037"}"#, &found(5));
    check_refused(r#"{"a":"\\u001cfm_abcdefghijklmnopqrstuv27"}"#, &found(5));
    check_refused(r#"{"a":"\\\\\\u001cfm_abcdefghijklmnopqrstuv27"}"#, &found(5));
    check_refused(r#"{"a":"\ncfm_abcdefghijklmnopqrstuv27\n"}"#, &found(5));
    check_refused(&format!("{{\"a\":\"{}{TOKEN}{}\"}}", "_".repeat(50), "-".repeat(50)), &found(5));
    for other in [
        "cfm_abcdefghijklmnopqrstuv2",
        "cfm_abcdefghijklmnopqrstuv2 7",
        "cfm abcdefghijklmnopqrstuv27",
        "Cfm_abcdefghijklmnopqrstuv27",
        "cfm_abcdefghijklmnopqrstuv20",
        "cfm_aBcdefghijklmnopqrstuv27",
        "cfmabcdefghijklmnopqrstuv2727272727",
        "afm_abcdefghijklmnopqrstuv27",
        "cfm__abcdefghijklmnopqrstuv27",
        "cfm_\u{e9}abcdefghijklmnopqrstuv27",
    ] {
        check_value(&format!("\"{other}\""), &format!("\"{other}\""));
    }
    // The end of an escape is no letter, however many escaped backslashes stand before it.
    check_value(r#""\u001cfm_abcdefghijklmnopqrstuv27""#, r#""\u001cfm_abcdefghijklmnopqrstuv27""#);
    check_value(r#""\\\u001cfm_abcdefghijklmnopqrstuv27""#, r#""\\\u001cfm_abcdefghijklmnopqrstuv27""#);
}

#[test]
fn tokens_are_found_at_every_place() {
    for before in 0..60 {
        for filler in ["x", "_", " ", "cfm_", "\u{e9}"] {
            let text = format!("{}{TOKEN}", filler.repeat(before));
            assert!(text::contains_token(text.as_bytes()), "{text}");
            let text = text.replace("27", "28");
            assert!(!text::contains_token(text.as_bytes()), "{text}");
        }
    }
}

#[test]
fn token_syntax_is_exact() {
    assert!(is_token(TOKEN));
    assert!(is_token("cfm_aaaaaaaaaaaaaaaaaaaaaaaa"));
    assert!(is_token("cfm_234567zzzzzzzzzzzzzzzzzz"));
    for text in [
        "",
        "cfm_",
        "cfm_aaaaaaaaaaaaaaaaaaaaaaa",
        "cfm_aaaaaaaaaaaaaaaaaaaaaaaaa",
        "cfm_aaaaaaaaaaaaaaaaaaaaaaa1",
        "cfm_aaaaaaaaaaaaaaaaaaaaaaaA",
        "cfm_aaaaaaaaaaaaaaaaaaaaaa\u{e9}",
    ] {
        assert!(!is_token(text), "{text}");
    }
}

#[test]
fn no_answer_shows_a_token() {
    let arguments = format!("{{\"confirm_token\":\"{TOKEN}\",\"a\":1}}");
    let request = read_default(&arguments).unwrap();
    assert_eq!(format!("{request:?}"), r#"Request { token: "given", arguments: "{\"a\":1}" }"#);
    for text in [
        format!("{{\"{TOKEN}\":1,\"{TOKEN}\":2}}"),
        format!("{{\"a\":\"{TOKEN}\"}}"),
        format!("{{\"confirm_token\":\"{TOKEN}2\"}}"),
        format!("{{\"confirm_token\":\"{TOKEN}\",\"confirm_token\":\"{TOKEN}\"}}"),
        format!("{{\"confirm_token\":[\"{TOKEN}\"]}}"),
        format!("{{\"confirm_token\":{{\"{TOKEN}\":1,\"{TOKEN}\":1}}}}"),
        format!("{{\"confirm_token\":{TOKEN}}}"),
    ] {
        let said = format!("{:?}", read_default(&text).unwrap_err());
        assert!(!said.contains("cfm_"), "{said}");
        assert!(said.len() < 250, "{said}");
    }
    assert!(!compact(&format!("{{\"{TOKEN}\":1,\"{TOKEN}\":2}}"), &Limits::default()).unwrap_err().contains("cfm_"));
}
