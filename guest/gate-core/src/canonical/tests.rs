#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

extern crate std;

use alloc::format;
use alloc::string::{String, ToString};

use super::*;

const TOKEN: &str = "cfm_abcdefghijklmnopqrstuv27";

#[track_caller]
fn check(arguments: &str, expected: &str) {
    let request = read(arguments, "confirm_token", &Limits::default()).unwrap();
    assert_eq!(request.arguments, expected);
    assert!(is_canonical(&request.arguments, &Limits::default()));
}

#[test]
fn smoke() {
    check("null", "{}");
    check(
        r#" {"b":[1,{"z":1,"a":6.20}],"a":62e-1,"confirm_token":null, "":-0} "#,
        r#"{"":0,"a":6.2,"b":[1,{"a":6.2,"z":1}]}"#,
    );
    let r = read(
        &format!(r#"{{"b":[1,{{"z":1,"a":6.20}}],"a":62e-1,"confirm_token":"{TOKEN}", "":-0}} "#),
        "confirm_token",
        &Limits::default(),
    )
    .unwrap();
    assert_eq!(r.token.unwrap(), TOKEN);
    assert_eq!(compact(r#" [ 1.0 , "\u0041" ]"#, &Limits::default()).unwrap().text, r#"[1.0,"\u0041"]"#.to_string());
    let _ = String::new();
}
