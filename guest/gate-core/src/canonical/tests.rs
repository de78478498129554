//! A table for each rule, on both sides of it. `tests/canonical` of this crate compares the reader with a slow model and
//! bounds the time of hostile shapes.

#![allow(clippy::unwrap_used, clippy::panic)]

mod numbers;
mod objects;
mod strings;
mod tokens;

use alloc::format;
use alloc::string::{String, ToString};

use super::*;

const TOKEN: &str = "cfm_abcdefghijklmnopqrstuv27";

fn read_default(arguments: &str) -> Result<Request, ArgumentsError> {
    read(arguments, "confirm_token", &Limits::default())
}

/// The canonical form of arguments without a token.
#[track_caller]
fn check(arguments: &str, expected: &str) {
    check_within(&Limits::default(), arguments, expected);
}

#[track_caller]
fn check_within(limits: &Limits, arguments: &str, expected: &str) {
    let request = Request { token: None, arguments: expected.to_string() };
    assert_eq!(read(arguments, "confirm_token", limits), Ok(request));
    assert!(is_canonical(expected, limits), "the canonical form is canonical");
    assert_eq!(is_canonical(arguments, limits), arguments == expected);
    assert_eq!(compact(expected, limits).unwrap().text, expected, "the canonical form has no white space");
}

/// The canonical form of one value.
#[track_caller]
fn check_value(value: &str, expected: &str) {
    check(&format!("{{\"a\":{value}}}"), &format!("{{\"a\":{expected}}}"));
}

#[track_caller]
fn check_refused(arguments: &str, expected: &str) {
    check_refused_within(&Limits::default(), arguments, expected);
}

#[track_caller]
fn check_refused_within(limits: &Limits, arguments: &str, expected: &str) {
    assert_eq!(read(arguments, "confirm_token", limits), Err(ArgumentsError::InvalidArguments(expected.to_string())));
    assert!(!is_canonical(arguments, limits));
}

#[track_caller]
fn check_token(arguments: &str, token: Option<&str>, expected: &str) {
    let request = Request { token: token.map(ToString::to_string), arguments: expected.to_string() };
    assert_eq!(read_default(arguments), Ok(request));
}

#[test]
fn no_arguments_have_one_form() {
    check("{}", "{}");
    check("null", "{}");
    check(" \t\n\r{ \t\n\r} \t\n\r", "{}");
    check(" null ", "{}");
    check_token(r#"{"confirm_token":null}"#, None, "{}");
}

#[test]
fn top_level_is_an_object_or_null() {
    for text in ["[]", "[1", "\"a\"", "true", "false", "0", "-1", "\"null\""] {
        check_refused(text, "no object at byte 0: send one JSON object, or null for no arguments");
    }
    check_refused(" []", "no object at byte 1: send one JSON object, or null for no arguments");
    check_refused("", "the text is empty: send {} for no arguments");
    check_refused(" \n", "the text is empty: send {} for no arguments");
    check_refused("nul", "a value is expected at byte 0: send strict JSON (RFC 8259)");
    check_refused("NULL", "a value is expected at byte 0: send strict JSON (RFC 8259)");
    check_refused("}", "a value is expected at byte 0: send strict JSON (RFC 8259)");
    check_refused("\u{feff}{}", "byte order mark at byte 0: send the text without it");
    check_refused("{}\u{feff}", "text behind the value at byte 2: send one JSON value and nothing else");
    check_refused("{}{}", "text behind the value at byte 2: send one JSON value and nothing else");
    check_refused("{} ,", "text behind the value at byte 3: send one JSON value and nothing else");
    check_refused("null null", "text behind the value at byte 5: send one JSON value and nothing else");
    check_refused("nullx", "text behind the value at byte 4: send one JSON value and nothing else");
    check_refused("{}\0", "text behind the value at byte 2: send one JSON value and nothing else");
}

#[test]
fn grammar_is_that_of_rfc_8259() {
    check(r#"{"a":[],"b":{},"c":[true,false,null,[[]]]}"#, r#"{"a":[],"b":{},"c":[true,false,null,[[]]]}"#);
    check("{ \"a\" : [ 1 , 2 ] }", r#"{"a":[1,2]}"#);
    let strict = "send strict JSON (RFC 8259)";
    for (text, expected) in [
        ("{\"a\":1,}", "a key in double quotes is expected at byte 7"),
        ("{,}", "a key in double quotes is expected at byte 1"),
        ("{a:1}", "a key in double quotes is expected at byte 1"),
        ("{'a':1}", "a key in double quotes is expected at byte 1"),
        ("{1:1}", "a key in double quotes is expected at byte 1"),
        ("{null:1}", "a key in double quotes is expected at byte 1"),
        ("{/**/}", "a key in double quotes is expected at byte 1"),
        ("{\"a\" 1}", "a colon is expected at byte 5"),
        ("{\"a\"}", "a colon is expected at byte 4"),
        ("{\"a\",1}", "a colon is expected at byte 4"),
        ("{\"a\":}", "a value is expected at byte 5"),
        ("{\"a\":,}", "a value is expected at byte 5"),
        ("{\"a\"::1}", "a value is expected at byte 5"),
        ("{\"a\":tru}", "a value is expected at byte 5"),
        ("{\"a\":True}", "a value is expected at byte 5"),
        ("{\"a\":NaN}", "a value is expected at byte 5"),
        ("{\"a\":Infinity}", "a value is expected at byte 5"),
        ("{\"a\":undefined}", "a value is expected at byte 5"),
        ("{\"a\":'b'}", "a value is expected at byte 5"),
        ("{\"a\":\u{a0}1}", "a value is expected at byte 5"),
        ("{\"a\":\u{c}1}", "a value is expected at byte 5"),
        ("{\"a\":[1,]}", "a value is expected at byte 8"),
        ("{\"a\":[,1]}", "a value is expected at byte 6"),
        ("{\"a\":[}", "a value is expected at byte 6"),
        ("{\"a\":1 \"b\":2}", "a comma or } is expected at byte 7"),
        ("{\"a\":1]", "a comma or } is expected at byte 6"),
        ("{\"a\":truex}", "a comma or } is expected at byte 9"),
        ("{\"a\":1//\n}", "a comma or } is expected at byte 6"),
        ("{\"a\":[1 2]}", "a comma or ] is expected at byte 8"),
        ("{\"a\":[1}", "a comma or ] is expected at byte 7"),
        ("{\"a\":[1:2]}", "a comma or ] is expected at byte 7"),
    ] {
        check_refused(text, &format!("{expected}: {strict}"));
    }
    let text = r#"{"a":[1,-2.5e3,"b\u0041"],"c":{"d":true}}"#;
    for (end, _) in text.char_indices().skip(1) {
        let cut = text.get(..end).unwrap();
        let Err(ArgumentsError::InvalidArguments(said)) = read_default(cut) else { panic!("{cut} is not whole") };
        let early = format!("the text ends too early, at byte {end}: send the whole JSON text");
        assert!(said == early || cut.ends_with('t') || cut.ends_with("tr") || cut.ends_with("tru"), "{cut}: {said}");
    }
}

#[test]
fn bytes_are_limited_as_sent_and_in_canonical_form() {
    let limits = Limits { max_bytes: 9, ..Limits::default() };
    check_within(&limits, r#"{"a":"b"}"#, r#"{"a":"b"}"#);
    check_within(&limits, " {     } ", "{}");
    check_within(&limits, r#"{"a":1e2}"#, r#"{"a":100}"#);
    check_within(&limits, "{\"a\":\"\u{62}\"}", r#"{"a":"b"}"#);
    check_refused_within(&limits, " {      } ", "the arguments are 10 bytes long: at most 9 are allowed");
    check_refused_within(&limits, "{\"a\":\"\u{e9}\"}", "the arguments are 10 bytes long: at most 9 are allowed");
    check_refused_within(
        &limits,
        r#"{"a":1e3}"#,
        "the arguments are 10 bytes long in canonical form: at most 9 are allowed",
    );
    let size = |bytes: usize| format!("{{\"a\":\"{}\"}}", "x".repeat(bytes - 8));
    check(&size(262_144), &size(262_144));
    check_refused(&size(262_145), "the arguments are 262145 bytes long: at most 262144 are allowed");
    let arguments = format!("{{\"a\":[{}1]}}", "1e20,".repeat(50_000));
    check_refused(&arguments, "the arguments are 1100009 bytes long in canonical form: at most 262144 are allowed");
}

#[test]
fn what_is_taken_out_counts_as_sent_only() {
    let limits = Limits { max_bytes: 60, ..Limits::default() };
    let arguments = format!("{{\"a\":1,\"confirm_token\":\"{TOKEN}\"}}");
    assert_eq!(arguments.len(), 54);
    let request = read(&arguments, "confirm_token", &limits).unwrap();
    assert_eq!(request.arguments, r#"{"a":1}"#);
    let limits = Limits { max_bytes: 53, ..limits };
    let too_long = "the arguments are 54 bytes long: at most 53 are allowed".to_string();
    assert_eq!(read(&arguments, "confirm_token", &limits), Err(ArgumentsError::InvalidArguments(too_long)));
}

#[test]
fn canonical_is_only_what_read_returns() {
    let limits = Limits::default();
    assert!(is_canonical("{}", &limits));
    assert!(is_canonical(r#"{"confirm_token":1}"#, &limits));
    for text in [
        "",
        "null",
        "[]",
        " {}",
        "{} ",
        r#"{"a":1.0}"#,
        r#"{"b":1,"a":2}"#,
        r#"{"a":"\/"}"#,
        r#"{"a":"\u001F"}"#,
        r#"{"a":1e21}"#,
    ] {
        assert!(!is_canonical(text, &limits), "{text}");
    }
    assert!(!is_canonical(&format!("{{\"a\":\"{TOKEN}\"}}"), &limits));
    assert!(!is_canonical(r#"{"a":[]}"#, &Limits { max_depth: 1, ..limits }));
}

#[track_caller]
fn check_compact(text: &str, expected: &str, keys: Option<&[&str]>) {
    let keys = keys.map(|keys| keys.iter().map(ToString::to_string).collect::<Vec<String>>());
    assert_eq!(compact(text, &Limits::default()), Ok(Compact { text: expected.to_string(), keys }));
}

#[test]
fn compact_keeps_order_and_spelling() {
    check_compact(" null ", "null", None);
    check_compact("[ 1.0 , -0, 1E5 ]", "[1.0,-0,1E5]", None);
    check_compact(r#" "a\u0041 \/" "#, r#""a\u0041 \/""#, None);
    check_compact(" 6.20", "6.20", None);
    check_compact("{ }", "{}", Some(&[]));
    check_compact(
        r#"{ "b" : 1 , "\u0061" : { "z" : 1 , "y" : 2 } }"#,
        r#"{"b":1,"\u0061":{"z":1,"y":2}}"#,
        Some(&["b", "a"]),
    );
    check_compact(
        r#"{"a":{"c":1},"confirm_token":2}"#,
        r#"{"a":{"c":1},"confirm_token":2}"#,
        Some(&["a", "confirm_token"]),
    );
    let text = format!("{{\"a\":\"{TOKEN}\"}}");
    check_compact(&text, &text, Some(&["a"]));
    let long = format!("[\"{}\"]", "x".repeat(300_000));
    check_compact(&long, &long, None);
    // As sent, not in canonical form.
    let number = "7".repeat(1024);
    check_compact(&number, &number, None);
    check_compact("10e9999", "10e9999", None);
    // Keys are those of the top level.
    check_compact(r#"[{"a":1},{"b":2}]"#, r#"[{"a":1},{"b":2}]"#, None);
}

#[test]
fn compact_is_as_strict() {
    for (text, expected) in [
        ("", "the text is empty: send one JSON value"),
        ("\u{feff}1", "byte order mark at byte 0: send the text without it"),
        ("1 2", "text behind the value at byte 2: send one JSON value and nothing else"),
        (r#"[{"a":1,"\u0061":2}]"#, "the key \"a\" is in its object a second time at byte 8: send each key once"),
        (r#"[{"b":1,"a":1,"b":2}]"#, "the key \"b\" is in its object a second time at byte 14: send each key once"),
        (r#""\ud800""#, "a lone surrogate at byte 1: send the whole character"),
        ("[1,]", "a value is expected at byte 3: send strict JSON (RFC 8259)"),
        ("01", "a number starts with a spare zero at byte 0: send it without"),
        ("1e10000", "the number at byte 0 has an exponent beyond 9999: send a number of less magnitude"),
    ] {
        assert_eq!(compact(text, &Limits::default()), Err(expected.to_string()));
    }
    let arrays = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    assert_eq!(compact(&arrays(64), &Limits::default()).unwrap().text, arrays(64));
    assert_eq!(
        compact(&arrays(65), &Limits::default()),
        Err("nested more than 64 deep at byte 64: send it flatter".to_string())
    );
    assert_eq!(
        compact(&"7".repeat(1025), &Limits::default()),
        Err("the number at byte 0 has 1025 characters: at most 1024 are allowed".to_string())
    );
}
