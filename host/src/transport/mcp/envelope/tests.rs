#![allow(clippy::unwrap_used, clippy::panic)]

use super::{Flaw, INVALID_PARAMS, INVALID_REQUEST, Line, PARSE_ERROR, id_of, read};
use rmcp::model::RequestId;

#[track_caller]
fn refused(line: impl AsRef<[u8]>, code: i32, id: Option<RequestId>) {
    let line = line.as_ref();
    match read(line) {
        Err(flaw) => {
            assert_eq!((flaw.code, &flaw.id), (code, &id), "{}: {}", String::from_utf8_lossy(line), flaw.message);
            assert!(flaw.message.contains(": "), "says what to do: {}", flaw.message);
        }
        Ok(read) => panic!("{}: {read:?}", String::from_utf8_lossy(line)),
    }
}

/// Reads a call whose `params` are these.
#[track_caller]
fn arguments(params: &str, expected: &str) {
    let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#);
    match read(line.as_bytes()) {
        Ok(Line::Call { call, .. }) => assert_eq!(call.arguments, expected),
        other => panic!("{params}: {other:?}"),
    }
}

fn one() -> Option<RequestId> {
    Some(RequestId::Number(1))
}

#[test]
fn what_is_no_json_is_a_parse_error_under_the_id_that_could_be_read() {
    for line in ["hello", "{", "{]", "\"", "{\"jsonrpc\":\"2.0\",\"id\":", "nul", "{'id':1}", "+1", "\u{0}"] {
        refused(line, PARSE_ERROR, None);
    }
    refused(r#"{"jsonrpc":"2.0","id":1,"method":"ping""#, PARSE_ERROR, one());
    refused(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}}"#, PARSE_ERROR, one());
    refused(r#"{"jsonrpc":"2.0","id":1,"method":"ping"} {"x":1}"#, PARSE_ERROR, one());
    refused(r#"{"id":1,"params":{"a":01}}"#, PARSE_ERROR, one());
    refused(r#"{"id":1,"params":"a\q"}"#, PARSE_ERROR, one());
    refused("{\"id\":1,\"params\":\"tab\there\"}", PARSE_ERROR, one());
    refused(b"{\"id\":1,\"method\":\"\xff\"}", PARSE_ERROR, one());
    refused(b"\xff{\"id\":1}", PARSE_ERROR, None);
    refused(b"{\"id\":1\xff2}", PARSE_ERROR, None);
    refused(b"{\"id\":\"a\",\"x\":\"\xed\xa0\x80\"}", PARSE_ERROR, Some(RequestId::String("a".into())));
}

#[test]
fn a_number_that_was_cut_is_no_id() {
    assert_eq!(id_of(r#"{"id":12"#), None);
    assert_eq!(id_of(r#"{"id":12,"#), Some(RequestId::Number(12)));
    assert_eq!(id_of(r#"{"method":"a","id":12,"params"#), Some(RequestId::Number(12)));
    assert_eq!(id_of(r#"{"method":{"id":3},"x"#), None);
}

#[test]
fn json_that_is_no_message_is_an_invalid_request() {
    for line in [
        "1",
        "null",
        "\"a\"",
        "[]",
        "[1]",
        "{}",
        r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#,
        r#"{"id":null,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1e2,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":9223372036854775808,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":"\ud800","method":"ping"}"#,
        r#"{"jsonrpc":"2.0"}"#,
    ] {
        refused(line, INVALID_REQUEST, None);
    }
    let long = "x".repeat(257);
    refused(format!(r#"{{"jsonrpc":"2.0","id":"{long}","method":"ping"}}"#), INVALID_REQUEST, None);
    for line in [
        r#"{"id":1,"method":"ping"}"#,
        r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#,
        r#"{"jsonrpc":2.0,"id":1,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":7}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"\udc00"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"ping","error":{}}"#,
    ] {
        refused(line, INVALID_REQUEST, one());
    }
}

#[test]
fn a_key_that_stands_twice_is_refused_however_it_is_spelled() {
    let call = r#""jsonrpc":"2.0","id":1,"method":"tools/call""#;
    for rest in [
        r#""params":{"name":"a"},"params":{"name":"b"}"#,
        r#""params":{"name":"a"},"p\u0061rams":{"name":"b"}"#,
        r#""params":{"name":"a","name":"b"}"#,
        r#""params":{"name":"a","n\u0061me":"a"}"#,
        r#""params":{"name":"a","arguments":{"x":1},"arguments":{"x":2}}"#,
        r#""params":{"name":"a","arguments":{"x":1},"\u0061rguments":{"x":1}}"#,
        r#""params":{"name":"a","arguments":null,"arguments":{"x":2}}"#,
        r#""params":{"name":"a","_meta":{},"_meta":{}}"#,
        r#""params":{"name":"a","more":1,"mor\u0065":1}"#,
        r#""params":{"name":"a"},"method":"ping""#,
        r#""more":1,"more":1"#,
    ] {
        refused(format!("{{{call},{rest}}}"), INVALID_REQUEST, one());
    }
    refused(r#"{"jsonrpc":"2.0","method":"ping","id":1,"id":2}"#, INVALID_REQUEST, one());
    refused(
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"a","cursor":"b"}}"#,
        INVALID_REQUEST,
        one(),
    );
}

#[test]
fn params_that_do_not_fit_are_invalid_params() {
    for params in [
        "[]",
        "1",
        "\"a\"",
        "{}",
        r#"{"name":1}"#,
        r#"{"name":null}"#,
        r#"{"name":["a"]}"#,
        r#"{"arguments":{}}"#,
        r#"{"name":"\ud800"}"#,
        "null",
    ] {
        let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#);
        refused(line, INVALID_PARAMS, one());
    }
    refused(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#, INVALID_PARAMS, one());
    let name = "x".repeat(1025);
    let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{name}"}}}}"#);
    refused(line, INVALID_PARAMS, one());
}

#[test]
fn arguments_stay_the_text_that_was_sent() {
    arguments(r#"{"name":"a"}"#, "null");
    arguments(r#"{"name":"a","arguments":null}"#, "null");
    let deep = format!("{}{}", "[".repeat(130), "]".repeat(130));
    let deeper = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for text in [
        "{}",
        "[]",
        "7",
        "\"text\"",
        r#"{"b":1, "a" : 2}"#,
        r#"{"n":9007199254740993,"m":1e400,"o":-0,"p":6.20}"#,
        r#"{"a":1,"a":2,"\u0061":3}"#,
        r#"{"s":"\ud800"}"#,
        r#"{"arguments":{"name":"x"},"name":"y"}"#,
        &deep,
        &deeper,
    ] {
        arguments(&format!(r#"{{"name":"a","arguments": {text} }}"#), text);
        arguments(&format!(r#"{{"arguments":{text},"task":{{}},"name":"a"}}"#), text);
    }
}

#[test]
fn other_lines_are_told_apart() {
    assert!(matches!(read(b" \t\r"), Ok(Line::Blank)));
    assert!(matches!(read(b""), Ok(Line::Blank)));
    assert!(matches!(read(br#" {"jsonrpc":"2.0","method":"x"} "#), Ok(Line::Notification)));
    assert!(matches!(read(br#"{"jsonrpc":"2.0","id":1,"result":{}}"#), Ok(Line::Response)));
    assert!(matches!(read(br#"{"jsonrpc":"2.0","id":1,"error":{}}"#), Ok(Line::Response)));
    match read(br#"{"jsonrpc":"2.0","id":"\u0061","method":"pi\u006eg","params":null,"more":[{}]}"#) {
        Ok(Line::Request { id, method }) => assert_eq!((id, method.as_str()), (RequestId::String("a".into()), "ping")),
        other => panic!("{other:?}"),
    }
}

#[test]
fn no_flaw_repeats_what_may_be_a_token() {
    let token = "cfm_abcdefghijklmnopqrstuvwx";
    for line in [
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"a","arguments":{{"confirm_token":"{token}"}}"#
        ),
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":"{token}"}}"#),
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":{{"a":"{token}"}}}}}}"#),
    ] {
        let Err(Flaw { message, .. }) = read(line.as_bytes()) else { panic!("{line}") };
        assert!(!message.contains("cfm_"), "{message}");
    }
}
