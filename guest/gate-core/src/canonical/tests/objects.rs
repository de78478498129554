//! Keys, their order and equality; nesting.

use alloc::format;

use super::*;

#[test]
fn keys_are_in_utf16_order() {
    check(r#"{"b":1,"a":2,"":3}"#, r#"{"":3,"a":2,"b":1}"#);
    check(r#"{"aa":1,"a":2,"b":3,"B":4,"1":5,"10":6,"2":7}"#, r#"{"1":5,"10":6,"2":7,"B":4,"a":2,"aa":1,"b":3}"#);
    // Below the surrogates, surrogates, above: code point order would put U+E000 first.
    check("{\"\u{e000}\":1,\"\u{10000}\":2,\"\u{d7ff}\":3}", "{\"\u{d7ff}\":3,\"\u{10000}\":2,\"\u{e000}\":1}");
    check("{\"\u{ffff}\":1,\"\u{10ffff}\":2}", "{\"\u{10ffff}\":2,\"\u{ffff}\":1}");
    check("{\"\u{fb33}\":1,\"\u{1f600}\":2,\"\u{f000}\":3}", "{\"\u{1f600}\":2,\"\u{f000}\":3,\"\u{fb33}\":1}");
    check("{\"\u{1f601}\":1,\"\u{1f600}\":2,\"\u{10ffff}\":3}", "{\"\u{1f600}\":2,\"\u{1f601}\":1,\"\u{10ffff}\":3}");
    check("{\"p\u{e000}\":1,\"p\u{10000}\":2,\"p\":3}", "{\"p\":3,\"p\u{10000}\":2,\"p\u{e000}\":1}");
    check(
        "{\"longer than 8\u{e000}\":1,\"longer than 8\u{10000}\":2}",
        "{\"longer than 8\u{10000}\":2,\"longer than 8\u{e000}\":1}",
    );
    // By what the keys are, not by how they are spelled.
    check(r#"{"b":1,"\u0061":2}"#, r#"{"a":2,"b":1}"#);
    check(r#"{"!":1,"\n":2,"\\":3,"\"":4,"A":5}"#, r#"{"\n":2,"!":1,"\"":4,"A":5,"\\":3}"#);
    check(r#"{"\ue000":1,"\ud800\udc00":2}"#, "{\"\u{10000}\":2,\"\u{e000}\":1}");
    // The example of RFC 8785, 3.2.3.
    check(
        r#"{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One","\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}"#,
        "{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\u{80}\":\"Control\",\"\u{f6}\":\"Latin Small Letter O With Diaeresis\",\"\u{20ac}\":\"Euro Sign\",\"\u{1f600}\":\"Emoji: Grinning Face\",\"\u{fb33}\":\"Hebrew Letter Dalet With Dagesh\"}",
    );
}

#[test]
fn members_are_sorted_at_every_depth_and_array_items_are_not() {
    check(
        r#"{"b":{"d":1,"c":2},"a":[{"z":1,"y":{"b":1,"a":2}},0]}"#,
        r#"{"a":[{"y":{"a":2,"b":1},"z":1},0],"b":{"c":2,"d":1}}"#,
    );
    check(
        r#"{"a":[3,1,2],"b":[{"b":1,"a":1},{"a":2,"b":2},{"b":3,"a":3}]}"#,
        r#"{"a":[3,1,2],"b":[{"a":1,"b":1},{"a":2,"b":2},{"a":3,"b":3}]}"#,
    );
    check(
        r#"{"c":{"b":{"b":{"b":1,"a":2},"a":3},"a":4},"a":{"z":1,"a":{"z":1,"a":2}}}"#,
        r#"{"a":{"a":{"a":2,"z":1},"z":1},"c":{"a":4,"b":{"a":3,"b":{"a":2,"b":1}}}}"#,
    );
}

#[test]
fn equal_keys_are_refused_after_unescaping() {
    let twice = |key, at| format!("the key \"{key}\" is in its object a second time at byte {at}: send each key once");
    check_refused(r#"{"a":1,"a":1}"#, &twice("a", 7));
    check_refused(r#"{"path":1,"p\u0061th":2}"#, &twice("path", 10));
    check_refused(r#"{"p\u0061th":1,"path":2}"#, &twice("path", 15));
    check_refused(r#"{"b":1,"c":{"a":1,"b":2,"a":3}}"#, &twice("a", 24));
    check_refused(r#"{"b":1,"a":2,"b":3,"a":4}"#, &twice("a", 19));
    check_refused(r#"{"":1,"":1}"#, &twice("", 6));
    check_refused(r#"{"a b":1,"a b":1}"#, &twice("a b", 9));
    let unnamed = |at| format!("the key at byte {at} is in its object a second time: send each key once");
    check_refused(r#"{"/\n":1,"\/\u000A":2}"#, &unnamed(9));
    check_refused("{\"\u{e9}\":1,\"\\u00e9\":1}", &unnamed(8));
    check_refused("{\"\u{1f600}\":1,\"\\ud83d\\uDE00\":1}", &unnamed(10));
    let long = "k".repeat(65);
    check_refused(&format!("{{\"{long}\":1,\"{long}\":2}}"), &unnamed(71));
    // Not equal: composed and decomposed, case, the same key in another object.
    check("{\"e\u{301}\":1,\"\u{e9}\":2}", "{\"e\u{301}\":1,\"\u{e9}\":2}");
    check(r#"{"A":1,"a":2}"#, r#"{"A":1,"a":2}"#);
    check(r#"{"a":{"a":{"a":1}},"b":{"a":1}}"#, r#"{"a":{"a":{"a":1}},"b":{"a":1}}"#);
    check(r#"{"a\\u0062":1,"ab":2}"#, r#"{"a\\u0062":1,"ab":2}"#);
}

#[test]
fn objects_that_other_parsers_read_as_numbers_stay_objects() {
    check(r#"{"$serde_json::private::Number":"1"}"#, r#"{"$serde_json::private::Number":"1"}"#);
    check(r#"{"a":{"$serde_json::private::RawValue":"[1 ]"}}"#, r#"{"a":{"$serde_json::private::RawValue":"[1 ]"}}"#);
    check(r#"{"__proto__":{"a":1},"constructor":2}"#, r#"{"__proto__":{"a":1},"constructor":2}"#);
}

#[test]
fn depth_is_limited() {
    let arrays = |depth: usize| format!("{{\"a\":{}{}}}", "[".repeat(depth - 1), "]".repeat(depth - 1));
    let objects = |depth: usize| format!("{}{{}}{}", "{\"a\":".repeat(depth - 1), "}".repeat(depth - 1));
    check(&arrays(64), &arrays(64));
    check(&objects(64), &objects(64));
    check_refused(&arrays(65), "nested more than 64 deep at byte 68: send it flatter");
    check_refused(&objects(65), "nested more than 64 deep at byte 320: send it flatter");
    let limits = Limits { max_depth: 1, ..Limits::default() };
    check_within(&limits, r#"{"a":1}"#, r#"{"a":1}"#);
    check_refused_within(&limits, r#"{"a":[]}"#, "nested more than 1 deep at byte 5: send it flatter");
    // Side by side is not deep.
    let wide = format!("{{\"a\":[{}{{}}]}}", "[],{},".repeat(500));
    check(&wide, &wide);
    // Unbalanced brackets do no harm.
    check_refused(&"[".repeat(200_000), "no object at byte 0: send one JSON object, or null for no arguments");
    check_refused(&"{\"\":".repeat(50_000), "nested more than 64 deep at byte 256: send it flatter");
}
