//! The host's examples run to their end and show what they say.

use std::path::Path;
use std::process::Command;

#[track_caller]
fn check(name: &str, arguments: &[&Path], shows: &[&str]) {
    let program = counterfoil_tests::example(name);
    let ran = Command::new(&program).args(arguments).output().unwrap();
    let shown = String::from_utf8(ran.stdout).unwrap();
    assert!(ran.status.success(), "{shown}{}", String::from_utf8_lossy(&ran.stderr));
    let mut rest = shown.as_str();
    for part in shows {
        let at = rest.find(part).unwrap_or_else(|| panic!("{part:?} is not shown, or not in its place:\n{shown}"));
        rest = &rest[at + part.len()..];
    }
}

#[test]
fn native_functions_stand_under_the_contract() {
    check(
        "native",
        &[],
        &[
            "2 open orders",
            "Will cancel order 7 and refund 12.50.",
            "params_changed",
            "Order 7 cancelled",
            "Order 7 cancelled",
            "\"reason\":\"expired\"",
            "1 open orders",
        ],
    );
}

#[test]
fn a_plug_in_stands_under_the_contract() {
    check(
        "plugins",
        &[&counterfoil_tests::component("files")],
        &[
            "delete_file",
            "two steps",
            "all the figures of May",
            "confirmation_required",
            "is there: true",
            "is there: false",
        ],
    );
}
